"""Many images of a few values each, rows and blocks: what they give is what each gives alone, bit for bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenter
from maps_of import planned, resample
from tenter import _native
from tenter.maps import Copy

DTYPES = ("float32", "float64", "float16", "uint8", "int16")
KINDS = ("linear", "cubic", "area")
ONE_AXIS = [(n, m, inner) for n, m in ((1, 3), (2, 1), (3, 2), (5, 8), (9, 4), (16, 7), (18, 30), (40, 64), (64, 3))
            for inner in (1, 2, 7) if n * inner <= 64 and m * inner <= 64]  # fmt: skip
TWO_AXES = [((2, 2), (1, 1)), ((3, 5), (7, 2)), ((8, 8), (4, 4)), ((4, 3), (9, 1)), ((1, 20), (3, 13))]
THREE_AXES = [((2, 2, 2), (1, 1, 1)), ((2, 3, 4), (5, 2, 1)), ((4, 1, 3), (2, 5, 6))]
COUNT = 37


def images(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    x = np.random.default_rng(sum(shape)).standard_normal((COUNT, *shape)) * 50
    x = np.clip(x, 0, 200).astype(dtype) if dtype == "uint8" else x.astype(dtype)
    if x.dtype.kind == "f":
        x[3], x[5, ..., :1], x[8] = np.inf, np.nan, -0.0
    return x


def same(x: np.ndarray, maps, note) -> None:
    got, alone = planned(x, maps).run(x), planned(x[:1], maps)
    for k in range(len(x)):
        assert got[k].tobytes() == alone.run(x[k : k + 1])[0].tobytes(), (note, k)


def layouts(x: np.ndarray):
    wide = np.zeros((COUNT + 3, *(n + 2 for n in x.shape[1:])), x.dtype)
    part = wide[(slice(2, -1), *[slice(1, -1)] * (x.ndim - 1))]
    part[...] = x
    turned = np.ascontiguousarray(x[:, ::-1, ::-1] if x.ndim > 2 else x[:, ::-1])
    return {
        "contiguous": x, "part": part, "from the end": turned[:, ::-1, ::-1] if x.ndim > 2 else turned[:, ::-1],
        "images last": np.ascontiguousarray(np.moveaxis(x, 0, -1)).transpose(x.ndim - 1, *range(x.ndim - 1)),
    }  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_one_axis(kind, dtype, level):
    for n, m, inner in ONE_AXIS:
        for a in (resample(kind, n, m), resample(kind, m, n).T):
            same(images((n, inner), dtype), ((1, a),), (n, m, inner))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["linear", "area"])
def test_images_of_several_axes(kind, dtype, level):
    for (shape, size), inner in itertools.product(TWO_AXES + THREE_AXES, (1, 2)):
        x = images((*shape, inner), dtype)
        maps = tuple((k + 1, resample(kind, n, m)) for k, (n, m) in enumerate(zip(shape, size)))
        for name, laid in layouts(x).items():
            same(laid, maps, (shape, size, inner, name))


def antialiased(x: np.ndarray, size: tuple[int, ...], mode: str) -> np.ndarray:
    return tenter.resize(x, size, axes=tuple(range(1, 1 + len(size))), mode=mode, like="pillow")


@pytest.mark.parametrize("mode", ["linear", "lanczos"])
def test_antialiased_bytes(mode, level):
    cases = [((n, inner), (m,)) for n, m, inner in ONE_AXIS]
    cases += [((*shape, inner), size) for (shape, size), inner in itertools.product(TWO_AXES, (1, 3))]
    cases += [
        ((100, 1), (40,)),
        ((144, 1, 1), (300, 2)),
        ((3, 90), (2, 31)),
        ((300, 7), (409, 10)),
        ((511, 8), (90, 3)),
    ]
    for shape, size in cases:
        x = np.random.default_rng(sum(shape)).integers(0, 2, (COUNT, *shape)).astype(np.uint8) * 255
        for name, laid in layouts(x).items():
            got = antialiased(laid, size, mode)
            for k in range(COUNT):
                alone = antialiased(x[k : k + 1], size, mode)[0]
                np.testing.assert_array_equal(got[k], alone, err_msg=f"{shape} {size} {name} {k}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_images_at_any_strides(dtype, level):
    """Expanded, in another order, and rows of some images only."""
    x = np.random.default_rng(0).integers(0, 200, (6, 9, 8, 7)).astype(dtype)
    views = (
        x, x[:, :1].repeat(9, 1)[:, ::3], np.broadcast_to(x[:, :1], x.shape), np.broadcast_to(x[:1], x.shape), x[::2],
        x[:, ::2], x[:, 1:], x.transpose(1, 0, 2, 3), x.transpose(0, 1, 3, 2), np.broadcast_to(x[:, :, :1], x.shape),
        x[..., 2:5], x[:, :, 1:3], x[:, ::-1], x[..., ::2], np.broadcast_to(x[:1, :1], x.shape),
    )  # fmt: skip
    for k, view in enumerate(views):
        n_row, n_column = view.shape[2:]
        for maps in (
            ((3, resample("linear", n_column, 3)),),
            ((3, resample("area", n_column, 9)),),
            ((2, resample("linear", n_row, 2)), (3, resample("linear", n_column, 4))),
            ((2, resample("area", n_row, 1)),),
        ):
            plain = view.copy()
            want = planned(plain, maps).run(plain)
            assert planned(view, maps).run(view).tobytes() == want.tobytes(), (k, maps)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_sums_of_unlike_lengths_in_short_rows(dtype, level):
    for counts in ([0, 3, 1], [1, 1, 0, 2], [20, 0, 7], [1] * 30):
        a = Copy.repeats(counts).T
        same(images((sum(counts), 2), dtype), ((1, a),), counts)


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_small_images_past_the_caches_and_in_many_tasks(dtype, level, monkeypatch):
    for name, value in (("staging_bytes", 500), ("task_bytes", 2000), ("parallel_bytes", 1)):
        monkeypatch.setattr(_native.tuning, name, value)
    for shape, size in TWO_AXES:
        x = np.concatenate([images(shape, dtype)] * 9)
        maps = tuple((k + 1, resample("linear", n, m)) for k, (n, m) in enumerate(zip(shape, size)))
        plan = planned(x, maps)
        alone = planned(x[:1], maps)
        want = np.concatenate([alone.run(x[k : k + 1]) for k in range(len(x))])
        assert plan.run(x).tobytes() == want.tobytes()
        for at in (0, 4):
            room = np.full(want.nbytes + 192, 0xA5, np.uint8)
            start = -room.ctypes.data % 64 + at
            plan.steps.run(x.ctypes.data, room.ctypes.data + start, True)
            assert room[start : start + want.nbytes].tobytes() == want.tobytes(), (shape, at)
            assert (room[:start] == 0xA5).all() and (room[start + want.nbytes :] == 0xA5).all()


@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128", "S3", "V6"])
def test_copies_of_many_small_blocks(dtype, level):
    x = np.random.default_rng(0).integers(0, 256, 60 * 5 * 6 * np.dtype(dtype).itemsize).astype(np.uint8)
    x = x.view(dtype).reshape(60, 5, 6)
    counts = (
        Copy.repeats([0, 2, 1, 0, 3]),
        Copy.repeats([1, 0, 0, 9, 1, 2]),
        Copy.repeat_each(5, 3),
        Copy.repeat_each(6, 1),
    )
    nearest = (resample("nearest", 5, 1), resample("nearest", 6, 4), resample("nearest-exact", 5, 8))
    cases = [((1, m),) for m in (*counts[::2], *nearest[::2])] + [((2, m),) for m in (*counts[1::2], nearest[1])]
    cases += [((1, counts[0]), (2, counts[1])), ((1, nearest[0]), (2, nearest[1])), ((1, counts[2]), (2, nearest[1]))]
    for maps in cases:
        for name, laid in layouts(x[:COUNT]).items():
            got = planned(laid, maps).run(laid)
            want = laid
            for axis, m in maps:
                want = np.take(want, m.index(), axis)
            assert got.tobytes() == want.tobytes(), (maps, name)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_one_output_of_an_axis_is_a_slice(axis):
    x = np.arange(2000.0).reshape(10, 20, 10)[:, ::2, 1:]
    got = tenter.resize(x, 1, axes=(axis,), mode="nearest")
    assert any(np.array_equal(got, np.take(x, [k], axis)) for k in range(x.shape[axis]))
