"""tenter's layers beside torch.nn's of the same names: results, representations, what may be done with both."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch import nn

from error_helpers import refused
from tenter import torch as ours

LAYERS = [
    ("Upsample", {"scale_factor": 2}, (2, 3, 5)),
    ("Upsample", {"size": 7, "mode": "linear"}, (2, 3, 5)),
    ("Upsample", {"size": (7, 4), "mode": "bilinear", "align_corners": True}, (2, 3, 5, 6)),
    ("Upsample", {"scale_factor": (1.5, 2), "mode": "bicubic"}, (1, 2, 5, 6)),
    ("Upsample", {"scale_factor": 1.7, "mode": "bilinear", "recompute_scale_factor": True}, (1, 2, 5, 6)),
    ("Upsample", {"size": (2, 3, 4), "mode": "trilinear"}, (1, 2, 4, 5, 6)),
    ("Upsample", {"size": 3, "mode": "area"}, (1, 2, 5, 6)),
    ("Upsample", {"scale_factor": 1.5, "mode": "nearest-exact"}, (1, 2, 5, 6)),
    ("UpsamplingNearest2d", {"size": (3, 9)}, (1, 2, 5, 6)),
    ("UpsamplingBilinear2d", {"scale_factor": 2}, (1, 2, 5, 6)),
]
every_layer = pytest.mark.parametrize("name, how, shape", LAYERS)


@every_layer
def test_values_gradients_and_words_are_those_of_torch_nn(name, how, shape):
    layer, theirs = getattr(ours, name)(**how), getattr(nn, name)(**how)
    x = torch.rand(shape, requires_grad=True)
    got, want = layer(x), theirs(x)
    assert got.shape == want.shape and torch.allclose(got, want, atol=1e-6)
    (slope,), (expected) = torch.autograd.grad((got * got).sum(), x), torch.autograd.grad((want * want).sum(), x)
    assert torch.allclose(slope, expected[0], atol=1e-5)
    assert repr(layer) == repr(theirs) and isinstance(layer, nn.Upsample)
    assert not layer.state_dict() and not [*layer.parameters()] and not [*layer.buffers()]


@every_layer
def test_layers_are_tenters_until_torch_jit_reads_them(name, how, shape):
    layer, x = getattr(ours, name)(**how), torch.rand(shape)
    graph = torch.export.export(layer, (x,))
    names = {str(node.target).split(".")[0] for node in graph.graph.nodes if node.op == "call_function"}
    assert names == {"tenter"} and torch.equal(graph.module()(x), layer(x))
    for other in (pickle.loads(pickle.dumps(layer)), copy.deepcopy(layer)):
        assert torch.equal(other(x), layer(x)) and repr(other) == repr(layer)
    for read in (torch.jit.script(layer), torch.jit.trace(layer, x)):
        assert torch.allclose(read(x), layer(x), atol=1e-6)


def test_layers_are_compiled_as_the_function():
    layer, x = ours.Upsample(scale_factor=2, mode="bilinear"), torch.rand(1, 2, 5, 6)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(x), layer(x))


@pytest.mark.parametrize("name, how, argument, error, word", [
    ("Upsample", {}, "size", ValueError, "neither"),
    ("Upsample", {"size": 3, "scale_factor": 2}, "size", ValueError, "not both"),
    ("Upsample", {"scale_factor": "bilinear"}, "scale_factor", TypeError, "did you mean mode='bilinear'?"),
    ("Upsample", {"size": "bilinear"}, "size", TypeError, "did you mean mode='bilinear'?"),
    ("Upsample", {"scale_factor": 2, "mode": "bilnear"}, "mode", ValueError, "did you mean 'bilinear'?"),
    ("Upsample", {"scale_factor": 2, "mode": "lanczos"}, "mode", ValueError, "bicubic"),
    ("Upsample", {"scale_factor": 2, "align_corners": False}, "align_corners", ValueError, "no corners"),
    ("Upsample", {"scale_factor": 2, "mode": "bilinear", "align_corners": "yes"}, "align_corners", TypeError, "a bool"),
    ("Upsample", {"size": 3, "recompute_scale_factor": True}, "recompute_scale_factor", ValueError, "scale_factor to recompute from"),
    ("Upsample", {"scale": 2}, "scale", TypeError, "did you mean scale_factor=2?"),
    ("Upsample", {"scale_factor": 2, "antialias": True}, "antialias", TypeError, "no argument of this name"),
    ("UpsamplingNearest2d", {"scale_factor": 2, "mode": "bicubic"}, "mode", TypeError, "did you mean Upsample(..., mode='bicubic')?"),
    ("UpsamplingBilinear2d", {"size": 3, "align_corners": False}, "align_corners", TypeError, "did you mean Upsample(..., align_corners=False)?"),
    ("UpsamplingBilinear2d", {"scale": 2}, "scale", TypeError, "did you mean scale_factor=2?"),
    ("UpsamplingNearest2d", {}, "size", ValueError, "neither"),
    ("UpsamplingNearest2d", {"size": 0}, "size", ValueError, ">= 1"),
    ("UpsamplingBilinear2d", {"scale_factor": -1}, "scale_factor", ValueError, "above 0"),
])  # fmt: skip
def test_wrong_arguments_are_refused_when_a_layer_is_made(name, how, argument, error, word):
    refused(lambda: getattr(ours, name)(**how), argument, error, [word], rf"tenter\.torch\.{name}")


def test_an_input_of_the_wrong_rank_is_refused_by_name():
    layer = ours.Upsample(scale_factor=2, mode="bilinear")
    refused(lambda: layer(torch.rand(3, 4, 5)), "mode", ValueError, ["trilinear 5-d", "'bilinear'"], "interpolate")


@pytest.mark.parametrize(
    "name, hint",
    [
        ("upsample", "did you mean 'Upsample'?"),
        ("Resize", "did you mean transforms.Resize?"),
        ("interpolate", "did you mean tenter.interpolate?"),
    ],
)
def test_a_name_that_is_not_there_gets_the_closest(name, hint):
    with pytest.raises(AttributeError) as found:
        getattr(ours, name)
    assert hint in str(found.value)
    with pytest.raises(ImportError) as found:
        exec(f"from tenter.torch import {name}")
    assert hint in str(found.value)


@pytest.mark.parametrize("layer, argument, given", [
    (ours.UpsamplingNearest2d, "mode", (None, 2, "nearest")),
    (ours.UpsamplingBilinear2d, "mode", (None, 2, "bilinear", True)),
    (ours.Upsample, "antialias", (None, 2, "bilinear", False, None, True)),
])  # fmt: skip
def test_arguments_after_the_last_are_refused_by_the_name_they_would_have(layer, argument, given):
    refused(
        lambda: layer(*given), argument, TypeError, ["no argument of this name"], rf"tenter\.torch\.{layer.__name__}"
    )
