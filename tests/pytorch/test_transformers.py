"""Models of transformers under accelerate(): outputs and gradients as in plain PyTorch, and computed by tenter."""

from __future__ import annotations

import sys

import pytest

from roots import ROOT

pytest.importorskip("transformers")
pytest.importorskip("torch")
sys.path.append(str(ROOT / "examples"))

import transformers_models as models


@pytest.mark.parametrize("example", models.EXAMPLES, ids=lambda example: example.name)
def test_model(example):
    result = models.compare(*models.build(example))
    assert result.agrees(), result
    assert result.computed.get(example.function, 0) > 0, result
    assert not result.fallbacks, result


def test_own_attention_of_llama_calls_no_function_of_ours():
    """It repeats keys and values by expand and reshape, as the example says."""
    import transformers as hf

    config = hf.LlamaConfig(**models.TEXT, vocab_size=256, num_key_value_heads=2)
    result = models.compare(*models.with_text(hf.LlamaForCausalLM(config)))
    assert not any(result.computed.values()) and not any(result.fallbacks.values())
    assert result.difference == 0
