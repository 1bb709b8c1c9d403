"""Dask arrays: every operation gives the bits that it gives for the whole array in memory, however the array is cut; what
a chunk reads; how many tasks there are."""

from __future__ import annotations

import subprocess
import sys

import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tenter
from cases import MAPS, OPS, MapCase, OpCase
from dask_helpers import chunked, computed, in_pieces, numbers, same_bits, short_chunks  # noqa: F401
from resize_oracle import EDGES
from sweeps import sampled
from tenter.maps import Copy

DTYPES = ["float32", "uint8", "int64", "complex64", "float16", "uint16", "float64", ">f4", "longdouble"]
MODES = ["nearest", "nearest-exact", "linear", "cubic", "lanczos", "area", "box", "hamming", "mitchell", "bspline"]
LIKES = ["torch", "pillow", "opencv", "onnx", "jax", "tensorflow", "skimage", "scipy"]


# ---- the same bits


@pytest.mark.parametrize("case", sampled(OPS, 24), ids=lambda c: f"{c.op}-{c.shape}-{c.args}{c.kwargs}")
def test_operations_have_the_bits_of_the_whole(case: OpCase) -> None:
    f = getattr(tenter, case.op)
    for seed, dtype in enumerate(DTYPES[:2]):
        x = numbers(case.shape, dtype)
        same_bits(f(in_pieces(x, seed), *case.args, **case.kwargs), f(x, *case.args, **case.kwargs))


@pytest.mark.parametrize("case", sampled(MAPS, 12, always=lambda c: not c.name[-1].isdigit()), ids=lambda c: c.name)
def test_maps_and_their_transposes_have_the_bits_of_the_whole(case: MapCase) -> None:
    for m in (case.map, case.map.T):
        for seed, dtype in enumerate(("float32", "int32")):
            x = numbers((2, m.n_in, 3), dtype)
            same_bits(m.apply(in_pieces(x, seed), 1), m.apply(x, 1))


def resized_in_pieces(data: st.DataObject) -> None:
    """Any axes, conventions and chunks."""
    shape = data.draw(st.lists(st.integers(1, 24), min_size=1, max_size=4).map(tuple))
    axes = sorted(data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1, max_size=3)))
    size = tuple(data.draw(st.integers(1, 40)) for _ in axes)
    x = numbers(shape, data.draw(st.sampled_from(DTYPES)))
    one = st.sampled_from(MODES)
    how = {
        "axes": tuple(axes), "mode": data.draw(one | st.tuples(*(one for _ in axes)).map(list)),
        "like": data.draw(st.sampled_from(LIKES)), "antialias": data.draw(st.sampled_from([None, True, False])),
        "edge": data.draw(st.sampled_from([None, *EDGES])),
    }  # fmt: skip
    if data.draw(st.booleans()):
        ends = st.tuples(st.floats(-3, 27, width=16), st.floats(-3, 27, width=16)).filter(
            lambda e: abs(e[0] - e[1]) > 0.5
        )
        how["box"] = [data.draw(ends | st.none()) for _ in axes]
    if how["edge"] in ("constant", "extrapolate") and data.draw(st.booleans()):
        how["value"] = 3
    try:
        want = tenter.resize(x, size, **how)
    except (ValueError, TypeError) as refused:
        with pytest.raises(type(refused)):
            tenter.resize(chunked(data.draw, x), size, **how)
        return
    same_bits(tenter.resize(chunked(data.draw, x), size, **how), want)


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_resize_of_any_axes_by_any_convention_in_any_chunks(data):
    resized_in_pieces(data)


@pytest.mark.slow
@settings(max_examples=3000, deadline=None)
@given(st.data())
def test_resize_of_any_axes_by_any_convention_in_any_chunks_many_times(data):
    resized_in_pieces(data)


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_repeats_in_any_chunks(data):
    x = numbers(data.draw(st.lists(st.integers(0, 12), min_size=1, max_size=3).map(tuple)), "int16")
    dim = data.draw(st.integers(-x.ndim, x.ndim - 1))
    d, n = chunked(data.draw, x), x.shape[dim]
    each = data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    want = np.repeat(x, each, dim)
    for counts in (each, np.array(each, "int32"), chunked(data.draw, np.array(each, "int64"))):
        same_bits(tenter.repeat_interleave(d, counts, dim), want)
    same_bits(tenter.numpy.repeat(d, each, dim), want)
    times = data.draw(st.integers(0, 4))
    same_bits(tenter.repeat_interleave(d, times), np.repeat(x, times))
    sizes = tuple(data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4)))
    for tile in (tenter.tile, tenter.numpy.tile):
        same_bits(tile(d, sizes), np.tile(x, sizes))
    wide = (data.draw(st.integers(0, 5)), *x.shape)
    same_bits(tenter.expand(d, wide), tenter.expand(x, wide))


LARGE = [
    ((300, 260), (190, 411), {"mode": "linear"}),
    ((900, 700), (11, 9), {"mode": "lanczos", "antialias": True}),
    ((2000, 30), (17, 30), {"mode": "cubic", "antialias": True}),
    ((70, 90, 80), (41, 110, 33), {"mode": "cubic"}),
    ((64, 70, 66), (31, 20, 97), {"mode": ["area", "linear", "lanczos"], "antialias": True}),
    ((400, 300), (150, 640), {"mode": "cubic", "edge": "wrap"}),
    ((200, 3, 180), (90, 200), {"axes": (0, 2), "antialias": True}),
    ((250, 220, 4), (610, 77), {"axes": (0, 1), "mode": "cubic", "antialias": True, "like": "pillow"}),
    ((300_000,), (275_625,), {"mode": "lanczos5", "antialias": True}),
    ((300_000,), (400_123,), {"mode": "nearest"}),
]


@pytest.mark.parametrize("shape, size, how", LARGE)
def test_kernels_of_larger_arrays(shape, size, how) -> None:
    for dtype in ("float32", "uint8", "int16"):
        x = numbers(shape, dtype)
        d = da.from_array(x, chunks=tuple(max(3, n // 3 + 1) for n in shape))
        same_bits(tenter.resize(d, size, **how), tenter.resize(x, size, **how))


@pytest.mark.parametrize("shape, size, cut", [
    ((50, 300), (200, 50), (1, 300)), ((300, 50), (50, 200), (300, 1)), ((50, 2, 300), (200, 2, 50), (1, 2, 300)),
    ((40, 50, 30), (60, 100, 10), (5, 10, 30)),
])  # fmt: skip
def test_axes_are_summed_in_the_order_of_the_whole(shape, size, cut) -> None:
    """Of which a part by itself would take another."""
    for dtype in ("float32", "uint8"):
        x = numbers(shape, dtype)
        how = {"mode": "cubic", "antialias": True}
        same_bits(tenter.resize(da.from_array(x, chunks=cut), size, **how), tenter.resize(x, size, **how))


@pytest.mark.parametrize("edge", ["wrap", "reflect"])
def test_chunks_leave_the_cached_map_of_the_whole_as_it_is(edge) -> None:
    """Chunks ask the map of the whole array for the order of sums. Calls in memory use the same map later."""
    x = numbers((2, 23, 31), "float32")
    how = {"mode": "cubic", "edge": edge, "axes": (1, 2)}
    for cut in ((2, 5, 31), (2, 23, 7), (1, 6, 9)):
        same_bits(tenter.resize(da.from_array(x, chunks=cut), (47, 60), **how), tenter.resize(x, (47, 60), **how))
    for dtype in ("float64", "int16"):  # the map of the calls above, in a new plan
        y = x.astype(dtype)
        each_axis = tenter.resize(
            tenter.resize(y.astype("float64"), (47,), **how | {"axes": 1}), (60,), **how | {"axes": 2}
        )
        np.testing.assert_allclose(tenter.resize(y, (47, 60), **how), each_axis, atol=1 if dtype == "int16" else 1e-12)


def test_infinite_values_stay_where_they_are() -> None:
    x = np.zeros((60, 40), np.float32)
    x[17, 7], x[31, 20] = np.inf, np.nan
    for how in ({"mode": "cubic"}, {"mode": "lanczos", "antialias": True}, {"mode": "area"}, {"edge": "wrap"}):
        same_bits(tenter.resize(da.from_array(x, chunks=7), (33, 90), **how), tenter.resize(x, (33, 90), **how))


def test_a_value_past_edges_that_nothing_reaches() -> None:
    for edge, mode in (("constant", "catmull-rom"), ("extrapolate", "linear"), ("constant", "nearest")):
        how = {"axes": (0,), "mode": mode, "edge": edge, "value": 3}
        for x in (numbers((4, 3), "uint8"), numbers((4, 3), "float32")):
            same_bits(tenter.resize(da.from_array(x, chunks=2), 4, **how), tenter.resize(x, 4, **how))


def test_one_element_without_dims() -> None:
    x = np.float32(3).reshape(())
    d = da.from_array(x, chunks=())
    same_bits(tenter.repeat(d), tenter.repeat(x))
    same_bits(tenter.tile(d, ()), tenter.tile(x, ()))


def test_any_elements_can_be_copied() -> None:
    for x in (np.array([["a", "bcd"], ["", "e"]]), np.array([[1, None], ["x", 2.5]], object), np.array([[True, False]]),
              np.arange(6).astype("M8[D]").reshape(2, 3), np.zeros((2, 3), [("a", "i4"), ("b", "f8")])):  # fmt: skip
        d = da.from_array(x, chunks=1)
        for f in (lambda x: tenter.repeat_interleave(x, 3, 1), lambda x: tenter.tile(x, (2, 2)),
                  lambda x: tenter.resize(x, (3, 4), mode="nearest")):  # fmt: skip
            np.testing.assert_array_equal(computed(f(d)), f(x))


def test_pictures_that_mix_nothing() -> None:
    x = numbers((30, 20, 3), "uint8")
    same_bits(tenter.image.resize(da.from_array(x, chunks=(7, 20, 3)), (11, 33)), tenter.image.resize(x, (11, 33)))


# ---- chunks and tasks


def tasks_of(y: da.Array, name: str) -> int:
    return sum(1 for key in dict(y.dask) if isinstance(key, tuple) and key[0].startswith(name))


@pytest.mark.parametrize("n", [20, 60])
def test_as_many_tasks_as_the_docs_say(n: int) -> None:
    """One for a chunk, one for each chunk of the input that it reads in part: of a whole chunk none."""
    d = da.zeros(n * 10, chunks=10)
    alone = {
        "whole chunks": (tenter.resize(d, n * 10, mode="linear"), 0),
        "half, by area": (tenter.resize(d, n * 5, mode="area"), 0),
        "half, by lines": (tenter.resize(d, n * 5, mode="linear", antialias=True), (n // 2 - 1) * 2),
        "twice, by lines": (tenter.resize(d, n * 20), 2 * (2 * n - 1)),
        "repeated": (tenter.repeat_interleave(d, 10), 10 * n),
        "tiled": (tenter.tile(d, 3), 0),
    }
    for name, (y, cuts) in alone.items():
        assert (name, tasks_of(y, "tenter-cut")) == (name, cuts)
        assert tasks_of(y, "tenter-") - cuts == y.npartitions
    for n_dims, most in ((2, 13), (3, 57)):
        y = tenter.resize(da.zeros((80,) * n_dims, chunks=10), (40,) * n_dims, antialias=True)
        assert tasks_of(y, "tenter-") <= most * y.npartitions
        assert tasks_of(y, "tenter-") - tasks_of(y, "tenter-cut") == y.npartitions


def test_chunks_are_about_as_long_as_the_input_s(monkeypatch) -> None:
    d = da.zeros((100, 90, 3), chunks=(20, 30, 3))
    assert tenter.resize(d, (50, 200), axes=(0, 1)).chunks == ((20, 20, 10), (30,) * 6 + (20,), (3,))
    assert tenter.repeat_interleave(d, 2, 0).chunks == ((20,) * 10, (30,) * 3, (3,))
    assert tenter.tile(d, (1, 2, 1)).chunks == ((20,) * 5, (30,) * 6, (3,))
    large = da.zeros((100_000, 100_000), chunks=1000, dtype="uint8")
    thumbnail = tenter.resize(large, (1000, 1000), mode="area")  # of which a chunk as long would read it all
    assert max(thumbnail.chunksize) < 200 and thumbnail.npartitions < 1000
    monkeypatch.undo()  # a chunk of an array that grows holds a MiB
    assert tenter.resize(da.zeros((4, 4)), (2000, 2000)).npartitions < 64
    assert tenter.tile(da.zeros(7), 10**6).npartitions < 100


# ---- what is refused


def test_what_is_refused_says_what_to_do() -> None:
    x = np.arange(12.0).reshape(3, 4)
    d = da.from_array(x, chunks=2)
    masked = d.map_blocks(np.ma.array)
    for call, kind, message in (
        (
            lambda: tenter.resize(d[d > 1], 3),
            TypeError,
            r"x: expected .*not known \(x.compute_chunk_sizes\(\) finds them\)",
        ),
        (lambda: tenter.resize(d, (2, 2), out=np.empty((2, 2))), TypeError, r"out: expected None .*dask.array.store"),
        (lambda: tenter.axis_map(3, 2).apply(d, 0, out=d), TypeError, r"out: expected None .*dask.array.store"),
        (lambda: tenter.tile(masked, 2), TypeError, r"x: expected .* chunks that are numpy.ma(.core)?.MaskedArray"),
        (
            lambda: tenter.repeat_interleave(d, da.zeros(3), 0),
            TypeError,
            "repeats: expected integer counts, got float64",
        ),
        (lambda: tenter.repeat_interleave(d, da.ones(2, dtype=int), 0), ValueError, "repeats: expected 3 counts"),
        (lambda: tenter.repeat_interleave(d, da.arange(3), 0, output_size=4), ValueError, "output_size: expected 3"),
        (
            lambda: tenter.image.resize(da.zeros((4, 4, 4), dtype="u1"), (2, 2), alpha=True),
            TypeError,
            "x: expected an image in memory",
        ),
        (lambda: tenter.lazy.tile(d, 2), TypeError, "x: expected a NumPy array or a tensor"),
    ):
        with pytest.raises(kind, match=rf"^{message}.*\n  in .*\)$"):
            call()


def test_counts_of_unknown_chunk_sizes_are_computed() -> None:
    x, counts = np.arange(6.0).reshape(3, 2), da.from_array(np.array([0, 1, 5, 2, 0, 3]), chunks=2)
    some = counts[counts > 1]
    for of in (x, da.from_array(x, chunks=1)):
        np.testing.assert_array_equal(np.asarray(tenter.repeat_interleave(of, some, 0)), np.repeat(x, [5, 2, 3], 0))
    alone = tenter.repeat_interleave(counts)
    assert isinstance(alone, da.Array) and computed(alone).tolist() == [1] + [2] * 5 + [3] * 2 + [5] * 3


def test_calls_alike_have_tasks_of_one_name() -> None:
    d = da.from_array(np.zeros((8, 8)), chunks=3)
    calls = [
        lambda: tenter.resize(d, (4, 4)), lambda: tenter.resize(d, (4, 5)), lambda: tenter.resize(d, (4, 4), mode="area"),
        lambda: tenter.tile(d, 2), lambda: tenter.repeat_interleave(d, 2, 0), lambda: tenter.repeat_interleave(d, [2] * 8, 0),
        lambda: tenter.resize(d, 4, axes=0, box=[(-2, 8)], edge="constant", value=1), lambda: Copy.repeat_each(8, 2).apply(d, 0),
        lambda: tenter.resize(d, 4, axes=0, box=[(-2, 8)], edge="constant", value=2),
    ]  # fmt: skip
    names = [f().name for f in calls]
    assert names == [f().name for f in calls] and len(set(names)) == len(names)


def test_dask_is_imported_by_its_users_alone() -> None:
    code = "import tenter, sys; tenter.tile([1, 2], 2); assert not {'dask', 'distributed'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True)
