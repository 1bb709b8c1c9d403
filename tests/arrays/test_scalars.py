"""NumPy's integers are ints wherever one may stand: their products wrap, so sizes become Python's at the door."""

from __future__ import annotations

import fractions

import numpy as np
import pytest

import tenter
from sweeps import in_one_test
from tenter.maps import Copy, Gather, Window

INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.intp, np.longlong]


def Fraction(n, d):
    """Of NumPy's integers, where NumPy divides them as integers: version 1 makes floats of uint64."""
    return (
        fractions.Fraction(n, d)
        if np.lib.NumpyVersion(np.__version__) >= "2.0.0"
        else fractions.Fraction(int(n), int(d))
    )


def wrapped(kind, value):
    """value as a NumPy scalar, where it has room."""
    return kind(value) if np.iinfo(kind).min <= value <= np.iinfo(kind).max else value


def shown(x):
    return (x.dtype, x.tolist()) if isinstance(x, np.ndarray) else (repr(x), x)


def limit_and_back(n):
    before = tenter.memory.get_limit()
    try:
        tenter.memory.set_limit(n)
        return tenter.memory.get_limit()
    finally:
        tenter.memory.set_limit(before)


def threads_and_back(n):
    try:
        tenter.set_num_threads(n)
        return tenter.get_num_threads()
    finally:
        tenter.set_num_threads(None)


X, ROW = np.arange(6.0).reshape(2, 3), np.arange(120, dtype=np.uint8)
hat = lambda x: np.maximum(0.0, 1 - np.abs(x))
# Calls of w, which makes a scalar of an int; each with ints whose products do not fit their kind.
SCALARS = [
    lambda w: Copy.repeat_each(w(100), w(3)), lambda w: Copy.tile(w(100), w(3)), lambda w: Copy.repeat_each(w(100), w(3)).T,
    lambda w: Copy(w(50), w(100), w(2)), lambda w: Copy(w(40), w(120), None, [w(0), w(2), w(6)], w(20)),
    lambda w: Copy.repeats([w(100), w(100), w(120)]), lambda w: Copy.from_index([w(0), w(1), w(1)], w(100)),
    lambda w: Copy(w(2), w(100), offsets=[w(0), w(90), w(100)]),
    lambda w: Window(w(120), w(60), width=w(2)), lambda w: Window(w(120), w(60), width=w(2), block=w(1)).T,
    lambda w: Window(w(120), w(2), [w(0), w(60)], [w(0), w(60), w(120)]),
    lambda w: Gather(w(100), w(2), [w(0), w(1), w(2)], [w(99), w(0)], [w(1), w(2)]),
    lambda w: Copy.repeat_each(w(100), w(2)).reads(w(100), w(120)), lambda w: Copy.tile(w(50), w(3)).reads(w(60), w(120)),
    lambda w: Window(w(120), w(60), width=w(2)).reads(w(50), w(60)),
    lambda w: Gather(w(100), w(2), [0, 1, 2], [99, 0], [1, 2]).reads(w(0), w(2)),
    lambda w: Copy.repeat_each(w(120), w(100)).apply(ROW, w(0)).sum(), lambda w: Copy.repeat_each(w(3), w(100)).apply(X, w(-1)),
    lambda w: Window(w(120), w(60), width=w(2)).apply(np.ones((2, 120, 4)), w(1)),
    lambda w: tenter.repeat_interleave(ROW, w(100)).sum(), lambda w: tenter.repeat_interleave(X, w(100), w(-1), output_size=w(300)),
    lambda w: tenter.repeat_interleave(X, [w(100), w(2), w(0)], w(1), output_size=w(102)),
    lambda w: tenter.repeat_interleave([w(100), w(100), w(0)]), lambda w: tenter.repeat_interleave(X, (w(1), w(0)), w(0)),
    lambda w: tenter.repeat(X, w(100), w(3)), lambda w: tenter.repeat(X, (w(2), w(2), w(2))), lambda w: tenter.tile(X, w(100)),
    lambda w: tenter.tile(X, (w(2), w(1), w(100))), lambda w: tenter.expand(X[:, :1], w(-1), w(100)), lambda w: tenter.expand(X, (w(3), w(-1), w(3))),
    lambda w: tenter.interpolate(X[None], w(100), mode="linear"), lambda w: tenter.interpolate(X[None], (w(7),), mode="area"),
    lambda w: tenter.interpolate(X[None], scale_factor=w(50), mode="nearest"), lambda w: tenter.interpolate(X[None, None], (w(3), w(100)), mode="bicubic"),
    lambda w: tenter.resize(X[0], w(100)), lambda w: tenter.resize(X, (w(3), w(100))), lambda w: tenter.resize(X, w(100), axes=w(1)),
    lambda w: tenter.resize(X, [w(3), w(7)], axes=[w(-1), w(0)]), lambda w: tenter.resize(X, scale=w(50)), lambda w: tenter.resize(ROW, scale=Fraction(w(100), w(120))),
    lambda w: tenter.resize(X, scale=(w(2), w(3))), lambda w: tenter.resize(X, scale=Fraction(w(100), w(3))),
    lambda w: tenter.resize(X, (5, 5), mode=tenter.filters.cubic(w(-1))), lambda w: tenter.resize(X, (5, 5), edge="constant", value=w(100), box=((w(-100), w(100)), None)),
    lambda w: tenter.resize(ROW, 9, box=[(w(-128), w(127))], edge="wrap"), lambda w: tenter.resize(ROW, 9, box=[(Fraction(w(1), w(3)), w(100))]),
    lambda w: tenter.resize(ROW, w(30), mode=tenter.filters.Filter(hat, w(2))), lambda w: tenter.resize(ROW, w(30), mode=tenter.filters.Filter(hat, w(100)), antialias=True),
    lambda w: tenter.axis_map(w(100), w(120)), lambda w: tenter.axis_map(w(120), w(100), "area").T, lambda w: tenter.axis_map(w(100), w(120), "nearest"),
    lambda w: tenter.axis_map(w(100), w(120), "cubic", box=[(w(0), w(50))]).dense(),
    lambda w: tenter.conventions.compare("pillow", "opencv", n_in=w(100), n_out=w(3)),
    lambda w: tenter.geometry.Geometry(w(100), w(120)), lambda w: tenter.geometry.Geometry(w(100), w(120), "align_corners").index(),
    lambda w: tenter.geometry.Geometry(w(100), w(120), "asymmetric", Fraction(w(100), w(7)), (w(3), w(100))).nearest("floor"),
    lambda w: tenter.geometry.Geometry(w(100), w(120), scale=w(3)).edges()[0], lambda w: tenter.geometry.Geometry(w(100), w(120), box=(w(-100), w(100))),
    lambda w: limit_and_back(w(100)), lambda w: threads_and_back(w(3)),
    lambda w: tenter.image.resize(ROW.reshape(10, 12), tenter.image.Fit(w(100))), lambda w: tenter.image.resize(ROW.reshape(5, 6, 4), (w(9), w(7)), alpha=True), lambda w: tenter.image.resize(ROW.reshape(10, 12), scale=w(3)),
    lambda w: tenter.numpy.repeat(ROW, w(100)).sum(), lambda w: tenter.numpy.repeat(X, w(100), w(1)), lambda w: tenter.numpy.repeat(X, [w(1), w(2)], axis=w(0)),
    lambda w: tenter.numpy.tile(X, w(100)), lambda w: tenter.numpy.tile(X, (w(2), w(100))),
]  # fmt: skip


# Those that are refused, for their sizes.
REFUSED = [
    lambda w: Window(w(4), w(130), width=w(2)), lambda w: Window(w(100), w(50), width=w(100)), lambda w: Copy(w(2), w(100), w(100)),
    lambda w: Copy.repeat_each(w(100), w(2)).reads(w(-1), w(2)), lambda w: Copy.repeat_each(w(50), w(2)).reads(w(3), w(101)),
    lambda w: tenter.resize(ROW, w(0), axes=w(1)), lambda w: tenter.resize(ROW, w(-1)),
    lambda w: tenter.interpolate(X[None], w(0)), lambda w: tenter.repeat_interleave(X, w(2), w(2)), lambda w: tenter.memory.set_limit(w(-1)),
    lambda w: tenter.set_num_threads(w(0)), lambda w: tenter.axis_map(w(0), w(3)), lambda w: tenter.geometry.Geometry(w(-1), w(3)),
    lambda w: tenter.expand(X, w(3), w(3)), lambda w: tenter.repeat(X, w(100)), lambda w: Copy.repeat_each(w(3), w(2)).apply(X, w(7)),
]  # fmt: skip


def said(call, w):
    with pytest.raises((ValueError, IndexError, TypeError)) as caught:
        call(w)
    return caught.type, str(caught.value).split("\n")[0]


@in_one_test("n", range(len(SCALARS)))
@pytest.mark.filterwarnings("error")
def test_scalars_of_numpy_are_ints(n):
    want = shown(SCALARS[n](int))
    for kind in INTEGERS:
        assert shown(SCALARS[n](lambda v: wrapped(kind, v))) == want, kind


@pytest.mark.parametrize("n", range(len(REFUSED)))
@pytest.mark.filterwarnings("error")
def test_what_is_refused_of_ints_is_of_scalars(n):
    want = said(REFUSED[n], int)
    for kind in INTEGERS:
        assert said(REFUSED[n], lambda v: wrapped(kind, v)) == want, kind


def test_sizes_that_do_not_fit_together_are_refused_for_what_they_are():
    with pytest.raises(ValueError, match="n_in == n_out \\* width"):
        Window(np.uint8(4), np.uint8(130), width=2)
    with pytest.raises(ValueError, match="n_in == n_out \\* width"):
        Window(np.int16(100), np.int16(50), width=np.int16(1312))
    assert Copy.repeat_each(np.uint8(200), 2).n_out == 400


@pytest.mark.parametrize("bad", [True, np.True_, 2.0, np.float64(2), "2", None, [2], np.array([2])], ids=repr)
def test_what_is_no_size(bad):
    for call in (
        lambda: Copy.repeat_each(bad, 2), lambda: Copy.repeat_each(2, bad), lambda: Copy.from_index([0], bad), lambda: Copy(2, 4, 2, block=bad),
        lambda: Window(bad, 1, width=2), lambda: Window(2, 1, width=bad), lambda: Gather(bad, 1, [0, 0], [], []),
        lambda: Copy.repeat_each(3, 2).reads(bad, 3), lambda: Copy.repeat_each(3, 2).reads(0, bad),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="axis map: expected"):
            call()
    if not isinstance(bad, np.ndarray):
        with pytest.raises(TypeError, match="n_in: expected"):
            tenter.geometry.Geometry(bad, 3)
    with pytest.raises(ValueError, match="align: expected"):
        tenter.geometry.Geometry(3, 3, "middle")
