"""Lazy arrays to and from Apache Arrow's run-end-encoded arrays, without the copies."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

import tenter
from error_helpers import refused
from tenter import lazy
from tenter.lazy import LazyArray

pa = pytest.importorskip("pyarrow")
DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "datetime64[s]",
    "timedelta64[ms]",
]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=9), st.sampled_from(DTYPES), st.integers(0, 20), st.integers(0, 20))
def test_round_trips(counts, dtype, lo, hi):
    x = (np.arange(len(counts)) * 7 % 5).astype(dtype)
    s, twin = lazy.repeat_interleave(x, np.array(counts, np.int64), 0), np.repeat(x, counts)
    a = lazy.to_arrow(s)
    a.validate(full=True)
    assert pa.types.is_run_end_encoded(a.type) and len(a) == len(s) and len(a.values) == np.count_nonzero(counts)
    assert np.array_equal(a.to_numpy(zero_copy_only=False) if len(a) else twin, twin)
    back = lazy.from_arrow(a)
    assert isinstance(back, LazyArray) and back.dtype == x.dtype and np.array_equal(back, twin)
    part = lazy.from_arrow(a[lo : lo + hi])  # an offset into the same runs
    assert np.array_equal(part, twin[lo : lo + hi]) and part.base.size <= max(len(a.values), 0)
    assert lazy.to_arrow(part).to_pylist() == a[lo : lo + hi].to_pylist()


def test_nothing_is_expanded():
    n = 1 << 50
    a = pa.RunEndEncodedArray.from_arrays(pa.array([n, 2 * n], pa.int64()), pa.array([1.5, 2.5]))
    s = lazy.from_arrow(a)
    assert len(s) == 2 * n and s.sum() == 4 * n and s[n] == 2.5 and s[n - 1] == 1.5
    doubled = lazy.to_arrow(s[n - 3 : n + 2] * 2)
    assert doubled.to_pylist() == [3.0] * 3 + [5.0] * 2 and doubled.run_ends.to_pylist() == [3, 5]
    assert lazy.to_arrow(s).run_ends.type == pa.int64() and doubled.run_ends.type == pa.int32()
    address = a.values.buffers()[1].address
    assert s.base.__array_interface__["data"][0] == address and lazy.to_arrow(s).values.buffers()[1].address == address


def test_other_ways_in_and_out():
    s = lazy.repeat_interleave(torch.tensor([1.0, 2.0]), [2, 1])
    assert pa.array(s).to_pylist() == [1.0, 1.0, 2.0] and pa.types.is_run_end_encoded(pa.array(s).type)
    assert lazy.to_arrow(lazy.tile(torch.tensor([3]), 1)).to_pylist() == [3]
    assert lazy.to_arrow(lazy.repeat_interleave([1, 2], 3)).run_ends.to_pylist() == [3, 6]
    assert lazy.to_arrow(lazy.resize(np.arange(4.0), 7, mode="nearest")).to_pylist() == [0, 0, 1, 1, 2, 2, 3]
    for kind in (pa.int16(), pa.int32(), pa.int64()):
        a = pa.RunEndEncodedArray.from_arrays(pa.array([1, 4], kind), pa.array([7, 8]))
        assert np.asarray(lazy.from_arrow(a)).tolist() == [7, 8, 8, 8]
    assert np.asarray(lazy.from_arrow(pa.chunked_array([a]))).tolist() == [7, 8, 8, 8]
    words = lazy.from_arrow(pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"]))
    assert words.tolist() == ["a", "a", "b"] and lazy.to_arrow(words).to_pylist() == ["a", "a", "b"]
    t = lazy.repeat_interleave(torch.ones(2, requires_grad=True), [1, 2])
    assert lazy.to_arrow(t).to_pylist() == [1, 1, 1]


ERRORS = [
    (lambda: lazy.to_arrow(lazy.repeat_interleave(np.ones((2, 2)), 2, 0)), "s", ValueError, "one dim"),
    (lambda: lazy.to_arrow(lazy.tile(np.ones(3), 2)), "s", ValueError, "by repeat_interleave"),
    (lambda: lazy.to_arrow(lazy.resize(np.ones(3), 5)), "s", ValueError, "by repeat_interleave"),
    (lambda: lazy.to_arrow(lazy.repeat_interleave(torch.ones(3, dtype=torch.bfloat16), 2)), "s", TypeError, "bfloat16"),
    (lambda: lazy.to_arrow(lazy.repeat_interleave(torch.ones(3, device="meta"), 2)), "s", TypeError, "meta"),
    (lambda: lazy.to_arrow(lazy.repeat_interleave(np.ones(3, complex), 2)), "s", TypeError, "complex128"),
    (lambda: lazy.to_arrow([1, 2]), "s", TypeError, "a lazy array"),
    (lambda: lazy.from_arrow([1, 2]), "a", TypeError, "list"),
    (lambda: lazy.from_arrow(pa.array([1, 2])), "a", TypeError, "int64"),
    (lambda: lazy.from_arrow(pa.RunEndEncodedArray.from_arrays([1, 2], [None, 2])), "a", ValueError, "nulls"),
    (lambda: lazy.from_arrow(pa.chunked_array([pa.RunEndEncodedArray.from_arrays([1], [2])] * 2)), "a", TypeError, "chunk"),
]  # fmt: skip


@pytest.mark.parametrize("call, argument, error, words", ERRORS)
def test_errors(call, argument, error, words):
    refused(call, argument, error, [words], r"lazy\.\w+")


def test_without_pyarrow_the_error_is_python_s(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError):
        tenter.lazy.to_arrow(lazy.tile([1], 2))
