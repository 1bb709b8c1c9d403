"""Models of Hugging Face's transformers, forward and backward, in plain PyTorch and under tenter.torch.accelerate().

    pip install "tenter[models]"
    python examples/transformers_models.py [--seconds S]

Each model is built from a small config with random weights (nothing is downloaded) and runs twice on the CPU in float32:
as it is, and, unchanged, under accelerate(). The table says what tenter served, the largest difference between the two
runs in any output or gradient, and the median times of runs that alternate. Where tenter interpolates, the two may round
differently: both are then compared with a float64 run. Copies only leave nothing to round in the forward pass.

Of grouped keys and values: Llama's own code repeats them by expand and reshape, which is none of the functions that
accelerate() serves. So there are three models of its family: Llama with an attention that calls repeat_interleave, put
in by transformers' AttentionInterface; DiffLlama, whose values go through Tensor.repeat; and Qwen3-Next, whose grouped
queries and keys go through Tensor.repeat_interleave. The last two are as transformers ships them.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
import transformers as hf

import tenter.torch

LIMIT = 1e-4  # float32 rounding, grown through the layers: what tenter's differences have to stay below
# Weights of the usual 0.02 let next to nothing through an untrained model: gradients would be rounding.
RANGE = dict(initializer_range=0.1)
VIT = dict(hidden_size=192, intermediate_size=384, num_hidden_layers=4, num_attention_heads=3) | RANGE
TEXT = dict(hidden_size=256, intermediate_size=512, num_hidden_layers=4, num_attention_heads=8, vocab_size=512)


@dataclass
class Example:
    name: str
    serves: str  # what the report has to show
    build: Callable[[], tuple[torch.nn.Module, dict[str, Any]]]  # the model and its inputs


EXAMPLES: list[Example] = []


def example(name: str, serves: str) -> Callable:
    return lambda build: EXAMPLES.append(Example(name, serves, build)) or build


@example("SegFormer", "interpolate")
def segformer():
    """Bilinear: four stages to one size, then 150 channels of logits to the size of the labels."""
    model = hf.SegformerForSemanticSegmentation(hf.SegformerConfig(**RANGE, num_labels=150))
    return model, {"pixel_values": torch.randn(1, 3, 256, 256), "labels": torch.randint(150, (1, 256, 256))}


@example("ViT", "interpolate")
def vit():
    """Bicubic: position embeddings of 28 x 28 patches for an image of 20 x 30."""
    model = hf.ViTModel(hf.ViTConfig(**VIT, image_size=224, patch_size=8))
    return model, {"pixel_values": torch.randn(1, 3, 160, 240), "interpolate_pos_encoding": True}


@example("DINOv2, registers", "interpolate")
def dinov2():
    """Antialiased bicubic: position embeddings of 37 x 37 patches for an image of 16 x 20."""
    model = hf.Dinov2WithRegistersModel(hf.Dinov2WithRegistersConfig(**VIT, image_size=518, patch_size=14))
    return model, {"pixel_values": torch.randn(1, 3, 224, 280)}


@example("DINOv3", "tile")
def dinov3():
    """Tensor.tile of the angles of its rotary position embeddings."""
    model = hf.DINOv3ViTModel(hf.DINOv3ViTConfig(**VIT, image_size=224, patch_size=16))
    return model, {"pixel_values": torch.randn(1, 3, 224, 224)}


@example("DPT", "interpolate")
def dpt():
    """Bilinear with aligned corners, by F.interpolate with scale_factor=2 and by nn.Upsample."""
    sizes = dict(backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[32, 64, 96, 96], fusion_hidden_size=64)
    model = hf.DPTForDepthEstimation(hf.DPTConfig(**VIT, **sizes, image_size=224, patch_size=16))
    return model, {"pixel_values": torch.randn(1, 3, 224, 224)}


@example("SAM", "repeat_interleave")
def sam():
    """An image's embedding once per prompt, 32 of them, by repeat_interleave; tokens by repeat."""
    image, hidden = dict(image_size=256, patch_size=16), dict(hidden_size=64, mlp_dim=128, num_attention_heads=4)
    config = hf.SamConfig(
        vision_config=dict(**image, **hidden, **RANGE, num_hidden_layers=2, output_channels=64, num_pos_feats=32),
        prompt_encoder_config=dict(**image, hidden_size=64),
        mask_decoder_config=dict(**hidden, iou_head_hidden_dim=64),
        **RANGE,
    )
    return hf.SamModel(config), {
        "pixel_values": torch.randn(1, 3, 256, 256),
        "input_points": 256 * torch.rand(1, 32, 1, 2),
    }


def repeating_attention(module, query, key, value, attention_mask, scaling, **_):
    """Attention with grouped keys and values; causal, as no mask is made for an attention transformers does not know."""
    key, value = (torch.repeat_interleave(t, module.num_key_value_groups, dim=1) for t in (key, value))
    return F.scaled_dot_product_attention(query, key, value, scale=scaling, is_causal=True).transpose(1, 2), None


def text(model: torch.nn.Module, length: int) -> tuple[torch.nn.Module, dict[str, Any]]:
    tokens = torch.randint(TEXT["vocab_size"], (2, length))
    return model, {"input_ids": tokens, "labels": tokens, "use_cache": False}


@example("Llama, attention put in", "repeat_interleave")
def llama():
    """Two heads of keys and values for eight of queries."""
    hf.AttentionInterface.register("repeating", repeating_attention)
    config = hf.LlamaConfig(**TEXT, num_key_value_heads=2, attn_implementation="repeating")
    return text(hf.LlamaForCausalLM(config), 256)


@example("DiffLlama", "repeat")
def diffllama():
    """Each half of the values twice."""
    return text(hf.DiffLlamaForCausalLM(hf.DiffLlamaConfig(**TEXT, num_key_value_heads=2)), 256)


@example("Qwen3-Next", "repeat_interleave")
def qwen3_next():
    """Three layers of linear attention, two heads of queries and keys for eight of values."""
    linear = dict(linear_num_key_heads=2, linear_num_value_heads=8, linear_key_head_dim=32, linear_value_head_dim=32)
    dense = dict(num_experts=0, mlp_only_layers=[0, 1, 2, 3])
    config = hf.Qwen3NextConfig(**TEXT, **linear, **dense, num_key_value_heads=2, head_dim=32)
    return text(hf.Qwen3NextForCausalLM(config), 256)


@example("FastSpeech2Conformer", "repeat_interleave")
def fastspeech2():
    """Text to speech: each phoneme's state for as many frames as it lasts. Training, as durations are labels there."""
    units = ("encoder_linear_units", "decoder_linear_units", "speech_decoder_postnet_units")
    sizes = dict(hidden_size=128, encoder_layers=2, decoder_layers=2) | dict.fromkeys(units, 256)
    model = hf.FastSpeech2ConformerModel(hf.FastSpeech2ConformerConfig(**sizes)).train()
    phonemes, durations = torch.randint(1, 70, (2, 60)), torch.randint(1, 9, (2, 60))
    return model, {
        "input_ids": phonemes,
        "duration_labels": durations,
        "pitch_labels": torch.randn(2, 60, 1),
        "energy_labels": torch.randn(2, 60, 1),
        "spectrogram_labels": torch.randn(2, int(durations.sum(1).max()), 80),
    }


def build(example: Example) -> tuple[torch.nn.Module, dict[str, Any]]:
    torch.manual_seed(0)
    model, inputs = example.build()
    return model.train("duration_labels" in inputs), inputs


def floating(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def step(model: torch.nn.Module, inputs: dict[str, Any]) -> dict[str, torch.Tensor]:
    """One forward and backward: every output, and the gradient of every parameter and floating point input."""
    torch.manual_seed(0)  # the same dropout each time
    model.zero_grad()
    inputs = {k: v.detach().requires_grad_() if floating(v) else v for k, v in inputs.items()}
    outputs = {k: v for k, v in model(**inputs).items() if floating(v)}
    # Random weights where the model has no loss of its own: a layer norm's outputs, for one, have a constant sum.
    loss = outputs["loss"] if "loss" in outputs else sum((v * weights(v)).sum() for v in outputs.values())
    loss.backward()
    leaves = dict(model.named_parameters()) | {k: v for k, v in inputs.items() if floating(v)}
    gradients = {f"gradient of {k}": v.grad.clone() for k, v in leaves.items() if v.grad is not None}
    return {k: v.detach() for k, v in outputs.items()} | gradients


def weights(like: torch.Tensor) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(like.shape, generator=generator, dtype=torch.float64).to(like.dtype)


def difference(got: dict[str, torch.Tensor], want: dict[str, torch.Tensor]) -> float:
    """The largest difference in any tensor, relative to that tensor's largest element.

    Some gradients are zero but for rounding, a key's bias for one, as softmax ignores it. So a gradient counts as no
    smaller than 1e-4 of the model's largest.
    """
    assert got.keys() == want.keys()
    largest = {k: float(v.abs().max()) for k, v in want.items() if v.numel()}
    floor = 1e-4 * max(v for k, v in largest.items() if k.startswith("gradient"))
    sizes = {k: max(v, floor) if k.startswith("gradient") else v for k, v in largest.items()}
    return max(float((got[k] - want[k]).abs().max()) / sizes[k] for k in sizes)


@dataclass
class Comparison:
    served: dict[str, int]
    passed: dict[str, dict[str, int]]
    difference: float
    off_truth: tuple[float, float] | None  # from a float64 run: PyTorch's and tenter's difference

    @property
    def agrees(self) -> bool:
        return self.difference < LIMIT and (self.off_truth is None or self.off_truth[1] < 2 * self.off_truth[0])


def compare(example: Example, model: torch.nn.Module, inputs: dict[str, Any]) -> Comparison:
    plain = step(model, inputs)
    with tenter.torch.accelerate() as report:
        accelerated = step(model, inputs)
    off_truth = None
    if example.serves == "interpolate":
        doubles = {k: v.double() if floating(v) else v for k, v in inputs.items()}
        truth = step(copy.deepcopy(model).double(), doubles)
        off_truth = difference(plain, truth), difference(accelerated, truth)
    return Comparison(dict(report.served), dict(report.passed), difference(accelerated, plain), off_truth)


def times(model: torch.nn.Module, inputs: dict[str, Any], seconds: float) -> tuple[float, float]:
    """Median times of a step in plain PyTorch and under accelerate(), which alternate, as a machine's speed drifts."""
    contexts: tuple[Callable, ...] = (contextlib.nullcontext, tenter.torch.accelerate)
    taken: tuple[list[float], ...] = ([], [])
    end = time.perf_counter() + seconds
    while len(taken[1]) < 3 or time.perf_counter() < end:
        for context, list_of_times in zip(contexts, taken):
            with context():
                start = time.perf_counter()
                step(model, inputs)
                list_of_times.append(time.perf_counter() - start)
    return statistics.median(taken[0]), statistics.median(taken[1])


def main() -> int:
    parser = argparse.ArgumentParser(description="Models of transformers, in plain PyTorch and under accelerate().")
    parser.add_argument("--seconds", type=float, default=2.0, help="to spend on each model's times")
    seconds = parser.parse_args().seconds
    print(f"{'':24} {'off':>8} {'off float64':>16} {'ms':>13}\n{'model':24} {'PyTorch':>8} {'PyTorch':>8}", end="")
    print(f"{'tenter':>8} {'PyTorch':>7} {'tenter':>6}  served by tenter")
    wrong = []
    for example in EXAMPLES:
        model, inputs = build(example)
        result = compare(example, model, inputs)
        served = ", ".join(f"{count} {name}" for name, count in sorted(result.served.items()))
        passed = "".join(f"; passed: {reason}" for reasons in result.passed.values() for reason in reasons)
        truth = " ".join(f"{off:8.1e}" for off in result.off_truth) if result.off_truth else " " * 17
        ms = [1e3 * t for t in times(model, inputs, seconds)]
        print(f"{example.name:24} {result.difference:8.1e} {truth} {ms[0]:6.1f} {ms[1]:6.1f}  {served}{passed}")
        if not result.agrees or example.serves not in result.served:
            wrong.append(example.name)
    if wrong:
        print(f"different, or not served: {', '.join(wrong)}", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
