"""Arrays on disk: a result made in blocks has the bits of the result in memory, however it is cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import tenter
from cases import values
from sweeps import sampled
from tenter._parts.boxes import computed, extents, reads
from tenter._specs.modes import MODES
from tenter.cli.volumes import arrays, blocks

DTYPES = ("uint8", "int8", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64", "bool")
NEAREST = ("nearest", "nearest-exact")
LIKES = ("torch", "pillow", "opencv", "scipy", "onnx", "jax", "tensorflow", "skimage")


class Held:
    """An array in memory as what is on disk."""

    def __init__(self, x: Any) -> None:
        self.shape, self.dtype = x.shape, x.dtype


def in_blocks(op: Any, x: Any, block: Any) -> Any:
    y = np.empty(op.shape_out, op.dtype)
    seen = np.zeros(op.shape_out, int)
    for box in blocks.boxes(op.shape_out, block):
        at = reads(op, box)
        part = computed(op, box, np.ascontiguousarray(x[tuple(slice(*pair) for pair in at)]))
        assert part.shape == extents(box) and part.dtype == op.dtype
        y[tuple(slice(*pair) for pair in box)] = part
        seen[tuple(slice(*pair) for pair in box)] += 1
    assert np.all(seen == 1)
    return y


@st.composite
def cases(draw: Any) -> Any:
    ndim = draw(st.integers(1, 4))
    shape = tuple(draw(st.lists(st.integers(1, 24 if ndim < 4 else 9), min_size=ndim, max_size=ndim)))
    axes = draw(st.lists(st.sampled_from(range(ndim)), min_size=1, max_size=ndim, unique=True))
    size = tuple(draw(st.integers(1, 30 if ndim < 4 else 10)) for _ in axes)
    mode = draw(st.sampled_from(MODES))
    dtype = draw(st.sampled_from(DTYPES if mode in NEAREST else DTYPES[:-1]))
    antialias = None if mode in (*NEAREST, "area") else draw(st.sampled_from((None, True, False)))
    like = draw(st.sampled_from(LIKES))
    block = tuple(draw(st.integers(1, 12)) for _ in shape)
    return shape, axes, size, mode, dtype, antialias, like, block, draw(st.integers(0, 9))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_blocks_have_the_bits_of_the_whole(case: Any) -> None:
    shape, axes, size, mode, dtype, antialias, like, block, seed = case
    check(shape, axes, size, {"mode": mode, "antialias": antialias, "like": like}, dtype, block, seed)


def check(shape: Any, axes: Any, size: Any, given: Any, dtype: str, block: Any, seed: int) -> None:
    x = values(shape, dtype, seed)
    try:
        whole = tenter.resize(x, size, axes=axes, **given)
    except (TypeError, ValueError) as refused:
        with pytest.raises(type(refused)):
            arrays.resized(Held(x), axes, size, given)
        return
    found = in_blocks(arrays.resized(Held(x), axes, size, given)[0], x, block)
    assert found.dtype == whole.dtype and found.tobytes() == np.ascontiguousarray(whole).tobytes()


# What random cases are rarely: three axes at once, strong shrinking, long axes, whose maps have no tables, sums that
# overflow 8 bits between two axes, channels inside and outside of the resized axes.
@pytest.mark.parametrize("dtype", sampled(["float32", "uint8", "float64"], every=3))
@pytest.mark.parametrize(
    ("shape", "axes", "size", "block"),
    [
        ((40, 44, 48), (0, 1, 2), (13, 20, 31), (5, 7, 16)),
        ((40, 44, 48), (0, 1, 2), (3, 50, 97), (2, 16, 40)),
        ((90, 80), (0, 1), (4, 5), (3, 2)),
        ((64, 70, 3), (0, 1), (33, 90), (8, 64)),
        ((3, 64, 70), (1, 2), (33, 90), (2, 16, 30)),
        ((2, 90_000), (1,), (70_000,), (1, 9_999)),
        ((90_000,), (0,), (400_000,), (65_537,)),
        ((300_000,), (0,), (70_001,), (7_000,)),
    ],
)
@pytest.mark.parametrize("mode", ["linear", "cubic", "area", "lanczos", "nearest-exact"])
def test_shapes_that_hurt(shape: Any, axes: Any, size: Any, block: Any, mode: str, dtype: str) -> None:
    block = block + shape[len(block) :]
    for antialias in (None,) if mode in ("area", "nearest-exact") else (True, False):
        check(shape, axes, size, {"mode": mode, "antialias": antialias}, dtype, block, 0)


def test_a_block_reads_what_its_maps_read() -> None:
    op = arrays.resized(Held(np.zeros((100, 100), "f4")), [0, 1], (50, 50), {"mode": "area"})[0]
    assert reads(op, ((10, 20), (0, 50))) == ((20, 40), (0, 100))
