"""Dask arrays cut anywhere, and comparisons of bits."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import strategies as st

from cases import values
from tenter._dask import chunks


@st.composite
def cut(draw: Any, n: int) -> tuple[int, ...]:
    """n positions in chunks of any lengths, some of them empty."""
    ends = sorted(draw(st.lists(st.integers(0, n), max_size=4)))
    return tuple(b - a for a, b in zip([0, *ends], [*ends, n]))


def chunked(draw: Any, x: np.ndarray) -> da.Array:
    return da.from_array(x, chunks=tuple(draw(cut(n)) for n in x.shape))


def in_pieces(x: np.ndarray, seed: int) -> da.Array:
    """The same by a seed."""
    rng = np.random.default_rng(seed)
    ends = [np.sort(rng.integers(0, n + 1, 3)) for n in x.shape]
    return da.from_array(x, chunks=tuple(tuple(np.diff([0, *e, n]).tolist()) for e, n in zip(ends, x.shape)))


def computed(y: Any) -> np.ndarray:
    with dask.config.set(scheduler="sync"):
        found = y.compute()
    assert isinstance(y, da.Array) and found.shape == y.shape and found.dtype == y.dtype
    return found


def same_bits(y: Any, want: np.ndarray) -> None:
    got = computed(y)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if got.dtype.kind in "gGO" or got.dtype.itemsize in (16, 32):  # padded, or objects
        np.testing.assert_array_equal(got, want)
    else:
        assert got.tobytes() == np.ascontiguousarray(want).tobytes()


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch):
    """Chunks of small arrays stay short."""
    monkeypatch.setattr(chunks, "LEAST", 1)


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    plain = {">f4": "float32", "longdouble": "float64"}.get(dtype, dtype)
    return values(shape, plain, seed).astype(dtype)
