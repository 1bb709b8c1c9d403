"""Values at the edges of rules: cut overshoot, large counts, references to objects, maps of numbers and bools."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch

import tenter
from tenter._execution import calls, fill_value
from tenter._plans import cache, specializations
from tenter._specs import resize_arguments
from tenter.maps import Copy


@pytest.mark.parametrize(
    "dtype, shape, mode",
    [
        ("int16", (1, 1, 12, 12), "bicubic"),
        ("uint16", (1, 1, 12, 12), "lanczos"),
        ("uint8", (1, 1, 5, 12, 12), "lanczos"),
    ],
)
def test_only_images_of_eight_bits_are_cut_between_axes(dtype, shape, mode):
    info = np.iinfo(dtype)
    x = np.random.default_rng(0).choice([info.min, info.max], shape).astype(dtype)
    size = tuple(n + 19 for n in shape[2:])
    got = tenter.interpolate(x, size, mode=mode, antialias=True)
    want = tenter.interpolate(x.astype(np.float64), size, mode=mode, antialias=True)
    assert np.abs(got.astype(float) - np.clip(np.rint(want), info.min, info.max)).max() <= 1


def test_unsigned_counts():
    for dtype, big in (("uint8", 200), ("uint16", 40_000), ("uint32", 2**31 + 5), ("uint64", 2**40)):
        got = tenter.repeat_interleave(np.zeros((3, 0)), np.array([1, big, 2], dtype), 0)
        assert got.shape == (big + 3, 0)


def test_objects_are_counted():
    thing = object()
    x = np.array([thing, None], object)
    before = sys.getrefcount(thing)
    y = tenter.repeat_interleave(x, 5, 0)
    assert sys.getrefcount(thing) == before + 5
    del y
    assert sys.getrefcount(thing) == before
    y = tenter.tile(x, 3)
    assert sys.getrefcount(thing) == before + 3 and y[2] is thing


def test_apply_to_a_number_and_to_bools():
    assert Copy.repeat_each(1, 3).apply(np.array(2.5), 0).tolist() == [2.5] * 3
    assert Copy.repeat_each(1, 3).apply(torch.tensor(2.5), -1).tolist() == [2.5] * 3
    for x in (np.zeros((2, 3), bool), torch.zeros(2, 3, dtype=torch.bool)):
        with pytest.raises(TypeError, match="x: expected numbers, to take sums of, got bool"):
            Copy.repeat_each(1, 3).T.apply(x, 1)


@pytest.mark.parametrize("edge", ["constant", "extrapolate"])
@pytest.mark.parametrize("mode", ["cubic", "nearest"])
def test_a_recorded_result_with_a_value_has_the_layout_of_x(edge, mode):
    """From the first call on, which the core does not plan."""
    x = torch.randn(8, 9, requires_grad=True)
    how = {"mode": mode, "edge": edge, "value": 7, "box": [(-2.0, 9.0), (1.0, 11.0)]}
    for _ in range(3):
        assert tenter.resize(x.T, (5, 7), **how).stride() == (1, 5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "float16", "uint8", "int64"])
@pytest.mark.parametrize("edge, value", [("constant", 3), ("constant", 0), ("extrapolate", 3)])
@pytest.mark.parametrize(
    "modes",
    ["linear", ("nearest", "linear", "cubic"), ("area", "nearest-exact", "nearest"), ("linear", "cubic", "nearest")],
)
def test_the_core_adds_a_value_along_any_axes_in_any_order(dtype, edge, value, modes, monkeypatch):
    """With the bits of the definition, which multiplies the weights of axes in their order."""
    box = ((-0.3, 3.45), (-0.2, 4.15), (-0.15, 5.35), (-0.35, 2.2))
    for order in ((0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)):
        n_axes = 4 if modes == "linear" else 3
        scale = 99 if "int" in dtype else 0.01  # so that last bits of weights are last bits of results
        x = (np.random.default_rng(0).random((3, 4, 5, 2)) * scale).astype(dtype)
        x = np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order))
        how = resize_arguments.Arguments(
            size=(11, 12, 13, 7)[:n_axes],
            axes=tuple(range(n_axes)),
            mode=modes,
            edge=edge,
            value=value,
            box=box[:n_axes],
        )
        spec, _ = resize_arguments.checked(x, how)
        want = fill_value.resized(x, spec, value) if value else calls.execute(x, spec)
        cache.plans.clear(), specializations.native.clear()
        with monkeypatch.context() as patch:
            patch.setattr(calls, "plan", None)
            patch.setattr(fill_value, "resized", lambda *of: pytest.fail("planned by Python"))
            got = tenter.resize(x, **how._asdict())
        assert got.dtype == want.dtype and got.tobytes() == want.tobytes()
