"""Arrays by the Array API standard: every operation gives what it gives for NumPy arrays, on the array's own device, by
standard functions alone (array-api-strict has no others)."""

from __future__ import annotations

from functools import partial

import array_api_strict as xp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tenter
from cases import MAPS, OPS, OpCase, values
from sweeps import in_one_test, sampled

DTYPES = ["float32", "float64", "uint8", "int16", "int64", "uint64", "complex64", "complex128", "bool"]
DEVICES = [xp.Device(name) for name in ("CPU_DEVICE", "device1", "no_float64")]


def exact(case: OpCase) -> bool:
    return not case.op.startswith(("interp", "resize")) or case.kwargs["mode"].startswith("nearest")


def same(got: np.ndarray, want: np.ndarray, is_exact: bool, tolerance: float = 1e-5) -> None:
    """Equal bits, or what float32 rounds: of integers one unit at a tie, of larger ones their last bits."""
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    if is_exact:
        np.testing.assert_array_equal(got, want)
        return
    wide = complex if want.dtype.kind == "c" else float
    largest = np.abs(want.astype(wide)).max(initial=1.0)
    unit = 1.0 if want.dtype.kind in "iu" else 0.0
    error = np.abs(got.astype(wide) - want.astype(wide)).max(initial=0.0)
    assert error <= unit + tolerance * largest * (want.dtype.itemsize > 2 or not unit)


def numbers_for(case: OpCase) -> list[str]:
    return DTYPES if exact(case) else DTYPES[:-1]


@in_one_test("case", sampled(OPS, 8), ids=lambda c: f"{c.op}-{c.shape}-{c.args}{c.kwargs}")
def test_operations_give_what_they_give_for_numpy(case: OpCase) -> None:
    f = getattr(tenter, case.op)
    for dtype in numbers_for(case):
        x = values(case.shape, dtype)
        want = f(x, *case.args, **case.kwargs)
        got = f(xp.asarray(x), *case.args, **case.kwargs)
        assert isinstance(got, type(xp.asarray(x)))
        same(np.from_dlpack(got), want, exact(case), 1e-12 if dtype in ("float64", "complex128") else 1e-5)


@in_one_test("case", sampled(MAPS, 6, lambda c: c.name))
def test_maps_and_their_transposes_give_what_they_give_for_numpy(case) -> None:
    for m in (case.map, case.map.T):
        for dtype in ("float64", "int32", "complex64"):
            x = values((2, m.n_in, 3), dtype)
            same(np.from_dlpack(m.apply(xp.asarray(x), 1)), m.apply(x, 1), isinstance(m, tenter.maps.Copy))


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("case", sampled(OPS, 90), ids=lambda c: f"{c.op}-{c.shape}-{c.args}{c.kwargs}")
def test_results_are_on_the_array_s_device(case: OpCase, device) -> None:
    x = values(case.shape, "float32")
    f = getattr(tenter, case.op)
    got = f(xp.asarray(x, device=device), *case.args, **case.kwargs)
    assert got.device == device and got.dtype == xp.float32
    host = xp.asarray(got, device=DEVICES[0])
    same(np.from_dlpack(host), f(x, *case.args, **case.kwargs), exact(case))


def test_8_bit_pictures_have_numpy_s_bits() -> None:
    for size in ((5, 20), (17, 9), (11, 13)):
        for how in ({}, {"like": "pillow"}, {"mode": "cubic"}, {"mode": "lanczos"}, {"edge": "wrap"}):
            x = values((11, 13, 3), "uint8")
            given = {"axes": (0, 1), "antialias": True, **how}
            got = tenter.resize(xp.asarray(x), size, **given)
            same(np.from_dlpack(got), tenter.resize(x, size, **given), "edge" not in how)
    rgba = values((9, 7, 4), "uint8")
    resized = partial(tenter.image.resize, size=(5, 5), alpha=True)
    same(np.from_dlpack(resized(xp.asarray(rgba))), resized(rgba), True)


@pytest.mark.parametrize("dtype", ["float32", "uint8", "int64"])
@pytest.mark.parametrize("edge, value", [("constant", 7), ("extrapolate", 7), ("constant", 0), ("reflect", 0)])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_what_lies_past_the_edges(dtype: str, edge: str, value: int, mode: str) -> None:
    x = values((6, 5), dtype)
    given = {"size": (7, 4), "box": [(-2, 5), (4, -1)], "edge": edge, "value": value, "mode": mode}
    same(np.from_dlpack(tenter.resize(xp.asarray(x), **given)), tenter.resize(x, **given), mode == "nearest")


def test_what_lies_beside_a_window_does_not_spread() -> None:
    x = np.zeros((3, 40), np.float32)
    x[1, 7], x[2, 20] = np.inf, np.nan
    for m in (tenter.axis_map(40, 90, "cubic"), tenter.axis_map(40, 7, "lanczos", antialias=True),
              tenter.axis_map(40, 3, "area"), tenter.maps.Copy.repeats([1, 0, 30, 2, 7]).T):  # fmt: skip
        np.testing.assert_array_equal(np.from_dlpack(m.apply(xp.asarray(x), 1)), m.apply(x, 1))


def test_counts_of_any_kind() -> None:
    x, counts = xp.asarray([1.0, 2.0, 3.0]), [1, 0, 2]
    for these in (counts, np.array(counts), xp.asarray(counts), xp.asarray(counts, dtype=xp.uint8)):
        assert np.from_dlpack(tenter.repeat_interleave(x, these, 0)).tolist() == [1, 3, 3]
        assert tenter.repeat_interleave(np.array([1.0, 2.0, 3.0]), these, 0).tolist() == [1, 3, 3]
    assert np.from_dlpack(tenter.repeat_interleave(xp.asarray(counts))).tolist() == [0, 2, 2]
    assert tenter.repeat_interleave(xp.asarray(counts, dtype=xp.int32)).dtype == xp.int32
    assert tenter.tile(x, xp.asarray([2, 2])).shape == (2, 6)


def test_a_sum_of_runs_of_unlike_lengths_takes_memory_for_its_taps_alone() -> None:
    """Padded to the longest run, these would be 10^10."""
    counts = np.ones(100_000, np.int64)
    counts[7] = 100_000
    m = tenter.maps.Copy.repeats(counts).T
    x = np.arange(m.n_in) % 5
    np.testing.assert_array_equal(np.from_dlpack(m.apply(xp.asarray(x), 0)), m.apply(x, 0))


def test_results_are_never_the_input() -> None:
    for x in (xp.asarray([1.0, 2.0, 3.0]), xp.asarray([1.0])):
        for f in (
            lambda x: tenter.tile(x, 1),
            lambda x: tenter.tile(x, 3),
            lambda x: tenter.repeat_interleave(x, 1, 0),
            lambda x: tenter.repeat_interleave(x, 2, 0),
            lambda x: tenter.resize(x, 3),
            lambda x: tenter.repeat(x, 1, 1),
        ):
            y = f(x)
            rest = [float(n) for n in xp.reshape(y, (-1,))[1:]]
            y[(0,) * y.ndim] = 9.0
            assert float(x[0]) == 1.0 and [float(n) for n in xp.reshape(y, (-1,))[1:]] == rest


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda x: tenter.repeat_interleave(x, [1, 2], 1), r"repeats: expected 3 counts, .*\n  in repeat_interleave\(x: "),
        (lambda x: tenter.repeat_interleave(x, 2, output_size=5), r"output_size: expected 12, the sum of the counts, got 5"),
        (lambda x: tenter.repeat_interleave(x, xp.asarray([1.0]), 1), "repeats: expected integer counts, got float64"),
        (lambda x: tenter.interpolate(x, 2), r"x: expected \(batch, channels,"),
        (lambda x: tenter.interpolate(xp.zeros((1, 1, 0)), 2), "x: expected spatial dims of at least 1"),
        (lambda x: tenter.resize(xp.asarray([True]), 3), "x: expected numbers for mode 'linear'"),
        (lambda x: tenter.tile(x, (2**40, 2**40)), r"dims: expected fewer than 2\*\*63 bytes"),
        (lambda x: tenter.tile(x, (2**20, 2**20)), "result: expected at most the machine's"),
        (lambda x: tenter.maps.Copy.repeat_each(4, 2).apply(x, 0), "x: expected length 4 along axis 0, got 2"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_two_lines(call, words: str) -> None:
    with pytest.raises((TypeError, ValueError, MemoryError), match=words) as caught:
        call(xp.zeros((2, 3)))
    assert str(caught.value).count("\n") == 1


# ---- what data-apis' conformance tests ask of a namespace's repeat, tile and broadcast_to


class Namespace:
    """One whose functions are tenter's."""

    @staticmethod
    def repeat(x, repeats, /, *, axis=None):
        return tenter.repeat_interleave(x, repeats, axis)

    @staticmethod
    def tile(x, repetitions, /):
        return tenter.tile(x, repetitions)

    @staticmethod
    def broadcast_to(x, /, shape):
        return tenter.expand(x, shape)


ALL_DTYPES = [*DTYPES, "int8", "int32", "uint16", "uint32"]
examples = settings(max_examples=60, deadline=None)
shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
hosts = st.sampled_from(DEVICES[:2])


@st.composite
def arrays(draw, shapes=shapes):
    """Of every dtype of the Array API's, with what floats have besides numbers."""
    x = values(draw(shapes), draw(st.sampled_from(ALL_DTYPES)))
    if x.dtype.kind in "fc" and x.size:
        x.reshape(-1)[draw(st.integers(0, x.size - 1))] = draw(st.sampled_from([np.nan, np.inf, -0.0]))
    return xp.asarray(x, device=draw(hosts))


def conforms(x, out, want) -> None:
    assert isinstance(out, type(x)) and out.dtype == x.dtype and out.device == x.device and out.shape == want.shape
    np.testing.assert_array_equal(host(out), want)


def host(x):
    return np.from_dlpack(xp.asarray(x, device=DEVICES[0]))


@examples
@given(x=arrays(), data=st.data())
def test_repeat_conforms(x, data) -> None:
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1) if x.ndim else st.none())
    n, count = x.size if axis is None else x.shape[axis], st.integers(0, 4)
    each = data.draw(count | st.lists(count, min_size=n, max_size=n) | st.lists(count, min_size=1, max_size=1))
    if isinstance(each, list):
        dtype = data.draw(st.sampled_from(["int64", "int32", "uint8", "uint64"]))
        given = xp.asarray(each, dtype=getattr(xp, dtype), device=x.device)
    else:
        given = each
    conforms(x, Namespace.repeat(x, given, axis=axis), np.repeat(host(x), each, axis))


@pytest.mark.parametrize("repeats", [-1, [1, -1], [1, 2, 3], [1.0, 2.0], [[1, 2]], [True, False]], ids=str)
def test_repeat_refuses_what_the_standard_does(repeats) -> None:
    given = xp.asarray(repeats) if isinstance(repeats, list) else repeats
    with pytest.raises((TypeError, ValueError)):
        Namespace.repeat(xp.asarray([1, 2]), given, axis=0)
    with pytest.raises(IndexError):
        Namespace.repeat(xp.asarray([1, 2]), 1, axis=1)


@examples
@given(x=arrays(), repetitions=st.lists(st.integers(0, 3), max_size=5).map(tuple))
def test_tile_conforms(x, repetitions) -> None:
    conforms(x, Namespace.tile(x, repetitions), np.tile(host(x), repetitions))


@examples
@given(x=arrays(), data=st.data())
def test_broadcast_to_conforms(x, data) -> None:
    front = data.draw(st.lists(st.integers(0, 3), max_size=2).map(tuple))
    wide = (*front, *(data.draw(st.integers(0, 4)) if n == 1 else n for n in x.shape))
    conforms(x, Namespace.broadcast_to(x, wide), np.broadcast_to(host(x), wide))
    if x.ndim and x.shape[0] > 1:
        with pytest.raises(ValueError):
            Namespace.broadcast_to(x, (x.shape[0] + 1, *x.shape[1:]))
