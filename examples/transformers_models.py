"""Models of Hugging Face's transformers, forward and backward, in plain PyTorch and under tenter.torch.accelerate().

    pip install ".[models]"
    python examples/transformers_models.py [--seconds S]

Each model is built from a small config with random weights (nothing is downloaded). It runs on the CPU in float32, in
plain PyTorch and then under accelerate(). The table shows which calls tenter computed, the largest difference between
the two runs in any output or gradient, and the median times of a forward and backward pass. If tenter interpolates,
the two runs may round differently, so both are also compared with a float64 run; if it only copies, only sums of
gradients may differ. These functions take a visible part of the time of SegFormer and DPT, and at most a few percent
of that of the other models.

Grouped keys and values: Llama's own code repeats them by expand and reshape, which accelerate() does not replace. So
there are three other models with grouped keys: Llama with an attention that calls repeat_interleave, registered in
transformers' AttentionInterface; DiffLlama, which calls Tensor.repeat on values; and Qwen3-Next, which calls
Tensor.repeat_interleave on queries and keys. The last two are unchanged models of transformers.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

try:
    import torch
    import transformers as hf

    import tenter.torch
except ModuleNotFoundError as missing:
    sys.exit(f'transformers_models.py: {missing.name} is not installed: pip install ".[models]"')

LIMIT = 1e-4  # of differences: float32 rounding, amplified by the layers
# With the usual range of 0.02, signals vanish in untrained layers, and gradients would be lost in rounding.
RANGE = {"initializer_range": 0.1}
VIT = {"hidden_size": 192, "intermediate_size": 384, "num_hidden_layers": 4, "num_attention_heads": 3, **RANGE}
TEXT = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8}


@dataclass
class Example:
    name: str
    function: str  # which the report must show
    make: Callable[[], tuple[torch.nn.Module, dict[str, Any]]]  # the model and its inputs


EXAMPLES: list[Example] = []


def example(name: str, function: str) -> Callable:
    return lambda make: EXAMPLES.append(Example(name, function, make))


@example("SegFormer", "interpolate")
def _():
    """Bilinear: four stages to one size, then 150 channels of logits to the size of the labels."""
    model = hf.SegformerForSemanticSegmentation(hf.SegformerConfig(**RANGE, num_labels=150))
    return model, {"pixel_values": torch.randn(1, 3, 256, 256), "labels": torch.randint(150, (1, 256, 256))}


@example("ViT", "interpolate")
def _():
    """Bicubic: position embeddings of 28 x 28 patches for an image of 20 x 30."""
    model = hf.ViTModel(hf.ViTConfig(**VIT, image_size=224, patch_size=8))
    return model, {"pixel_values": torch.randn(1, 3, 160, 240), "interpolate_pos_encoding": True}


@example("DINOv2, registers", "interpolate")
def _():
    """Bicubic with antialias: position embeddings of 37 x 37 patches for an image of 16 x 20."""
    model = hf.Dinov2WithRegistersModel(hf.Dinov2WithRegistersConfig(**VIT, image_size=518, patch_size=14))
    return model, {"pixel_values": torch.randn(1, 3, 224, 280)}


@example("DINOv3", "tile")
def _():
    """Tensor.tile of the angles of rotary position embeddings."""
    return hf.DINOv3ViTModel(hf.DINOv3ViTConfig(**VIT)), {"pixel_values": torch.randn(1, 3, 224, 224)}


@example("DPT", "interpolate")
def _():
    """Bilinear with aligned corners, by F.interpolate with a scale and by nn.Upsample."""
    neck = {"backbone_out_indices": [0, 1, 2, 3], "neck_hidden_sizes": [32, 64, 96, 96], "fusion_hidden_size": 64}
    model = hf.DPTForDepthEstimation(hf.DPTConfig(**VIT, **neck, image_size=224, patch_size=16))
    return model, {"pixel_values": torch.randn(1, 3, 224, 224)}


@example("SAM", "repeat_interleave")
def _():
    """An image's embedding once per prompt, 32 of them, by repeat_interleave; tokens by repeat."""
    image, layers = {"image_size": 256, "patch_size": 16}, {"hidden_size": 64, "mlp_dim": 128, "num_attention_heads": 4}
    config = hf.SamConfig(
        vision_config={**image, **layers, **RANGE, "num_hidden_layers": 2, "output_channels": 64, "num_pos_feats": 32},
        prompt_encoder_config={**image, "hidden_size": 64},
        mask_decoder_config={**layers, "iou_head_hidden_dim": 64},
        **RANGE,
    )
    points = 256 * torch.rand(1, 32, 1, 2)
    return hf.SamModel(config), {"pixel_values": torch.randn(1, 3, 256, 256), "input_points": points}


def repeating_attention(module, query, key, value, mask, scaling, **_):
    key, value = (torch.repeat_interleave(t, module.num_key_value_groups, dim=1) for t in (key, value))
    # transformers does not make a mask for an attention that it does not know
    attention = torch.nn.functional.scaled_dot_product_attention(query, key, value, scale=scaling, is_causal=True)
    return attention.transpose(1, 2), None


def with_text(model: torch.nn.Module) -> tuple[torch.nn.Module, dict[str, Any]]:
    tokens = torch.randint(256, (2, 256))
    return model, {"input_ids": tokens, "labels": tokens, "use_cache": False}


@example("Llama, attention put in", "repeat_interleave")
def _():
    """Two heads of keys and values for eight of queries."""
    hf.AttentionInterface.register("repeating", repeating_attention)
    config = hf.LlamaConfig(**TEXT, vocab_size=256, num_key_value_heads=2, attn_implementation="repeating")
    return with_text(hf.LlamaForCausalLM(config))


@example("DiffLlama", "repeat")
def _():
    """Either half of the values twice."""
    return with_text(hf.DiffLlamaForCausalLM(hf.DiffLlamaConfig(**TEXT, vocab_size=256, num_key_value_heads=2)))


@example("Qwen3-Next", "repeat_interleave")
def _():
    """Linear attention with two heads of queries and keys for eight of values, in three layers of four."""
    heads = {"linear_num_key_heads": 2, "linear_num_value_heads": 8, "num_key_value_heads": 2, "head_dim": 32}
    sizes = {"linear_key_head_dim": 32, "linear_value_head_dim": 32, "num_experts": 0, "mlp_only_layers": [0, 1, 2, 3]}
    return with_text(hf.Qwen3NextForCausalLM(hf.Qwen3NextConfig(**TEXT, **heads, **sizes, vocab_size=256)))


@example("FastSpeech2Conformer", "repeat_interleave")
def _():
    """Text to speech: each phoneme's state for as many frames as it lasts. Durations are given in training."""
    layers = {"encoder_layers": 2, "decoder_layers": 2, "encoder_linear_units": 256, "decoder_linear_units": 256}
    model = hf.FastSpeech2ConformerModel(hf.FastSpeech2ConformerConfig(**layers, hidden_size=128))
    durations = torch.randint(1, 9, (2, 60))
    return model, {
        "input_ids": torch.randint(1, 70, (2, 60)),
        "duration_labels": durations,
        "pitch_labels": torch.randn(2, 60, 1),
        "energy_labels": torch.randn(2, 60, 1),
        "spectrogram_labels": torch.randn(2, int(durations.sum(1).max()), 80),
    }


def build(example: Example) -> tuple[torch.nn.Module, dict[str, Any]]:
    hf.logging.set_verbosity_error()
    torch.manual_seed(0)
    model, inputs = example.make()
    return model.train("duration_labels" in inputs), inputs


def floating(values: dict[str, Any]) -> dict[str, torch.Tensor]:
    return {k: v for k, v in values.items() if isinstance(v, torch.Tensor) and v.is_floating_point()}


def step(model: torch.nn.Module, inputs: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Forward and backward: every output, and the gradient of every parameter and floating point input."""
    torch.manual_seed(0)  # the same dropout each time
    model.zero_grad()
    leaves = {k: v.detach().requires_grad_() for k, v in floating(inputs).items()}
    outputs = floating(model(**inputs | leaves))
    # For models without a loss, a sum with fixed random weights: the plain sum of a layer norm's outputs is constant.
    loss = outputs["loss"] if "loss" in outputs else sum((v * noise(v)).sum() for v in outputs.values())
    loss.backward()
    gradients = {f"gradient of {k}": v.grad for k, v in (*model.named_parameters(), *leaves.items())}
    # Softmax ignores a constant that is added to all keys: the exact gradient of a key's bias is zero.
    gradients = {k: v for k, v in gradients.items() if v is not None and not k.endswith(("k_proj.bias", "key.bias"))}
    return {k: v.detach() for k, v in outputs.items()} | gradients


def noise(like: torch.Tensor) -> torch.Tensor:
    return torch.randn(like.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(like.dtype)


def difference(got: dict[str, torch.Tensor], want: dict[str, torch.Tensor]) -> float:
    """The largest difference in any tensor, as a part of that tensor's largest element."""
    assert got.keys() == want.keys()
    tensors = [(got[k], v) for k, v in want.items() if v.numel()]
    return max(float((g - w).abs().max() / w.abs().max().clamp(min=1e-30)) for g, w in tensors)


@dataclass
class Comparison:
    computed: dict[str, int]
    fallbacks: dict[str, dict[str, int]]
    difference: float
    truth: tuple[float, float] | None  # PyTorch's and tenter's difference from a float64 run

    def agrees(self) -> bool:
        return self.difference < LIMIT and (self.truth is None or self.truth[1] < 2 * self.truth[0])


def compare(model: torch.nn.Module, inputs: dict[str, Any]) -> Comparison:
    plain, truth = step(model, inputs), None
    with tenter.torch.accelerate() as report:
        accelerated = step(model, inputs)
    if "interpolate" in report.computed:
        doubles = {k: v.double() for k, v in floating(inputs).items()}
        exact = step(copy.deepcopy(model).double(), inputs | doubles)
        truth = difference(plain, exact), difference(accelerated, exact)
    return Comparison(dict(report.computed), dict(report.fallbacks), difference(accelerated, plain), truth)


def times(model: torch.nn.Module, inputs: dict[str, Any], seconds: float) -> tuple[float, float]:
    """Median milliseconds of a step, plain and accelerated: the two alternate, as the speed of a machine drifts."""
    taken: dict[Callable, list[float]] = {contextlib.nullcontext: [], tenter.torch.accelerate: []}
    end = time.perf_counter() + seconds
    while len(taken[contextlib.nullcontext]) < 3 or time.perf_counter() < end:
        for context, times in taken.items():
            with context():
                start = time.perf_counter()
                step(model, inputs)
                times.append(1e3 * (time.perf_counter() - start))
    plain, accelerated = map(statistics.median, taken.values())
    return plain, accelerated


def main() -> int:
    parser = argparse.ArgumentParser(description="Models of transformers, in plain PyTorch and under accelerate().")
    parser.add_argument("--seconds", type=float, default=2.0, help="for the times of each model (default 2)")
    seconds = parser.parse_args().seconds
    row, wrong = "{:24}{:>10}{:>19}{:>9}{:>9}  {}", []
    print(row.format("", "", "off float64:", "", "", ""))
    print(row.format("model", "difference", "PyTorch, tenter", "plain ms", "tenter", "calls of tenter"))
    for example in EXAMPLES:
        model, inputs = build(example)
        result = compare(model, inputs)
        plain, accelerated = times(model, inputs, seconds)
        truth = ", ".join(f"{t:.1e}" for t in result.truth) if result.truth else ""
        calls = ", ".join(f"{name} {count}" for name, count in result.computed.items())
        others = "".join(f"; {name} by PyTorch: {', '.join(reasons)}" for name, reasons in result.fallbacks.items())
        print(
            row.format(
                example.name, f"{result.difference:.1e}", truth, f"{plain:.1f}", f"{accelerated:.1f}", calls + others
            )
        )
        if not result.agrees() or example.function not in result.computed:
            wrong.append(example.name)
    print(f"Different, or not computed by tenter: {', '.join(wrong)}" if wrong else f"All agree within {LIMIT}.")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
