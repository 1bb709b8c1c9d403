"""All ways to resize but PyTorch's `interpolate` have one set of rules: the same bits, the same defaults, and where a call
can be read in two ways, an error with both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tenter
from error_helpers import refused
from sweeps import sampled
from tenter import lazy
from tenter.cli.main import main
from tenter.torch import transforms

RNG = np.random.default_rng(0)
MODES = ("linear", "cubic", "lanczos", "nearest-exact", "area")
SIZES = (((40, 30), (13, 17)), ((9, 31), (24, 70)), ((33, 20), (50, 7)), ((20, 20), (20, 20)), ((5, 7), (1, 1)))
#: torchvision's words, for the modes that it has.
INTERPOLATION = {"linear": "bilinear", "cubic": "bicubic", "lanczos": "lanczos", "nearest-exact": "nearest-exact"}


def pixels(shape: tuple[int, ...], dtype: str) -> Any:
    values = RNG.random(shape)
    return (values * 255).astype(dtype) if dtype[0] in "ui" else values.astype(dtype)


def flags(mode: str) -> dict[str, bool]:
    return {} if mode in ("nearest-exact", "area") else {"antialias": False}


def in_dask(x: Any, size: Any, **how: Any) -> Any:
    dask_array = pytest.importorskip("dask.array")
    return np.asarray(tenter.resize(dask_array.from_array(x, chunks=(8, 9, 3)), size, axes=(0, 1), **how))


ENTRIES = {
    "lazy": lambda x, size, **how: lazy.resize(x, size, axes=(0, 1), **how).materialize(),
    "Dask": in_dask,
    "image.resize": tenter.image.resize,
    "image.resize of planes": lambda x, size, **how: tenter.image.resize(
        np.ascontiguousarray(x.transpose(2, 0, 1)), size, layout="CHW", **how
    ).transpose(1, 2, 0),
    "a tensor": lambda x, size, **how: tenter.resize(torch.from_numpy(x), size, axes=(0, 1), **how).numpy(),
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_entries_of_arrays_give_the_same_bits_with_and_without_antialias(entry: str, dtype: str) -> None:
    for (height, width), size in SIZES:
        x = pixels((height, width, 3), dtype)
        for mode in MODES:
            for how in ({}, flags(mode)):
                want = tenter.resize(x, size, axes=(0, 1), mode=mode, **how)
                found = ENTRIES[entry](x, size, mode=mode, **how)
                if entry == "image.resize of planes" and dtype == "float32":  # sums of floats go in the order of memory
                    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)
                else:
                    np.testing.assert_array_equal(found, want, err_msg=f"{mode} {how} {(height, width)} {size}")


@pytest.mark.parametrize("n", sampled([*range(40, 400)], 36))
def test_entries_of_arrays_give_the_same_bits_for_random_calls(n: int) -> None:
    """n: a seed."""
    r = np.random.default_rng(n)
    shape, size = tuple(map(int, r.integers(1, 60, 2))), tuple(map(int, r.integers(1, 60, 2)))
    dtype = str(r.choice(["uint8", "int8", "uint16", "int32", "float16", "float32", "float64"]))
    x = pixels((*shape, int(r.choice([1, 3, 5]))), dtype)
    mode = str(r.choice([*MODES, "mitchell", "lanczos2", "nearest"]))
    how = dict(
        r.choice([{}, {"like": "pillow"}, {"like": "torch", "antialias": False}, {"like": "opencv", "antialias": True}])
    )
    if mode.startswith(("nearest", "area")):
        how.pop("antialias", None)
    if r.random() < 0.5:
        spans = [sorted(map(float, r.uniform(0, side, 2).round(1))) for side in shape]
        how["box"] = tuple((a, b) if b > a else None for a, b in spans)
    want = tenter.resize(x, size, axes=(0, 1), mode=mode, **how)
    for name, entry in ENTRIES.items():
        found = entry(x, size, mode=mode, **how, **({"alpha": False} if "image" in name else {}))
        if name == "image.resize of planes" and dtype[0] == "f":
            np.testing.assert_allclose(
                found, want, rtol=1e-2 if dtype == "float16" else 1e-5, atol=1e-2 if dtype == "float16" else 1e-6
            )
        else:
            np.testing.assert_array_equal(found, want, err_msg=f"{name} {mode} {how} {shape} {size} {dtype}")


@pytest.mark.parametrize("kind", ["array", "tensor", "Pillow"])
@pytest.mark.parametrize("mode", INTERPOLATION)
def test_transforms_give_the_same_bits_and_antialias_is_turned_off_for_every_kind_of_image(
    kind: str, mode: str
) -> None:
    image = pytest.importorskip("PIL.Image")
    for (height, width), size in SIZES:
        x = pixels((height, width, 3), "uint8")
        for how in ({}, flags(mode)):
            transform = transforms.Resize(size, interpolation=INTERPOLATION[mode], **how)
            if kind == "array":
                found = transform(x)
            elif kind == "tensor":
                found = transform(torch.from_numpy(x).permute(2, 0, 1)).permute(1, 2, 0).numpy()
            else:
                found = np.asarray(transform(image.fromarray(x)))
            want = tenter.resize(x, size, axes=(0, 1), mode=mode, **how)
            np.testing.assert_array_equal(found, want, err_msg=f"{mode} {how} {size}")


def test_the_command_gives_the_same_bits(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    given, made = tmp_path / "x.png", tmp_path / "y.png"
    for (height, width), size in SIZES:
        x = pixels((height, width, 3), "uint8")
        image.fromarray(x).save(given)
        np.save(tmp_path / "x.npy", x)
        words = ["--size", f"{size[1]}x{size[0]}", "--force"]
        assert main(["resize", str(given), str(made), *words]) == 0
        np.testing.assert_array_equal(np.asarray(image.open(made)), tenter.image.resize(x, size))
        for mode in MODES:
            for how in ({}, flags(mode)):
                more = ["--no-antialias"] if how else []
                assert main(["resize", str(given), str(made), *words, "--mode", mode, *more]) == 0
                want = tenter.resize(x, size, axes=(0, 1), mode=mode, **how)
                np.testing.assert_array_equal(np.asarray(image.open(made)), want)
        along = ["--axes", "0", "1", "--size", str(size[0]), str(size[1]), "--force"]
        assert main(["resize", str(tmp_path / "x.npy"), str(tmp_path / "y.npy"), *along]) == 0
        np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), tenter.resize(x, size, axes=(0, 1)))


@pytest.mark.parametrize("mode", [m for m in tenter._specs.modes.MODES if m not in ("bspline", "mitchell")])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint16"])
def test_where_an_axis_grows_antialias_changes_nothing(mode: str, dtype: str) -> None:
    if mode in tenter._specs.modes.NO_ANTIALIAS:
        return
    x = pixels((11, 13), dtype)
    for how in ({"size": (11, 40)}, {"size": (23, 13)}, {"scale": 1.7}, {"size": (30, 30), "align": "align_corners"}):
        wide, sharp = (tenter.resize(x, mode=mode, antialias=antialias, **how) for antialias in (True, False))
        np.testing.assert_allclose(wide, sharp, rtol=0 if dtype == "uint16" else 4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("like", ["torch", "opencv", "onnx", "tensorflow", "scipy", "pillow", "jax", "skimage"])
def test_a_library_that_is_named_takes_its_own_default(like: str) -> None:
    x = pixels((40, 30), "float32")
    wide = like in ("pillow", "jax", "skimage")
    want = tenter.resize(x, (13, 17), like=like, antialias=wide)
    np.testing.assert_array_equal(tenter.resize(x, (13, 17), like=like), want)
    np.testing.assert_array_equal(tenter.image.resize(x, (13, 17), like=like), want)
    assert not np.array_equal(tenter.resize(x, (13, 17), like=like, antialias=not wide), want)


def test_lanczos_never_aliases_silently() -> None:
    x = pixels((40, 30), "float32")
    for call in (tenter.resize, tenter.image.resize, lazy.resize):
        for mode in ("lanczos", "lanczos2", "lanczos5"):
            for like in ("torch", "opencv", "onnx", "tensorflow"):
                refused(
                    lambda c=call, m=mode, k=like: c(x, (13, 17), mode=m, like=k),
                    "antialias",
                    ValueError,
                    ["True or False"],
                )
                call(x, (13, 17), mode=mode, like=like, antialias=False)
    plain = tenter.resize(x, (13, 17), mode="lanczos")
    assert np.array_equal(plain, tenter.resize(x, (13, 17), mode="lanczos", antialias=True))


PHOTO, WAVES, STAINS = pixels((48, 64, 3), "uint8"), pixels((4, 100), "float32"), pixels((20, 30, 4), "uint16")
#: Calls that can be read in two ways: what the message names first, and what it offers.
ASKED: list[tuple[Any, str, list[str]]] = [
    (lambda: tenter.resize(WAVES, 50), "size", ["size=(50, 50) for all", "axes=-1 for the last axis alone"]),
    (lambda: tenter.resize(WAVES, [50]), "size", ["2 lengths, one per axis, got 1"]),
    (lambda: tenter.resize(PHOTO, 24, axes=(0, 1)), "size", ["size=(24, 24) for all", "Fit or Fill of tenter.image"]),
    (lambda: lazy.resize(WAVES, 50), "size", ["size=(50, 50) for all"]),
    (lambda: tenter.resize(torch.from_numpy(WAVES), 50), "size", ["size=(50, 50) for all"]),
    (lambda: tenter.resize(PHOTO, (24, 32, 4)), "axes", ["axes=(0, 1) and size=(24, 32)", "axes=(0, 1, 2)"]),
    (lambda: tenter.resize(PHOTO.transpose(2, 0, 1), (1, 24, 32)), "axes", ["axes=(1, 2) and size=(24, 32)"]),
    (lambda: tenter.image.resize(PHOTO, 256), "size", ["(256, None) for the shorter side", "Fit(256)", "Fill(256)", "(256, 256)"]),
    (lambda: tenter.image.resize(PHOTO.transpose(1, 0, 2), 256), "size", ["(None, 256) for the shorter side"]),
    (lambda: tenter.image.resize(STAINS, (10, 10)), "alpha", ["True if the last of four channels is alpha", "False if all are data"]),
    (lambda: tenter.image.resize(STAINS.astype(np.uint8), (10, 10)), "alpha", ["True if", "False if"]),
    (lambda: tenter.image.resize(torch.zeros(4, 20, 30), (10, 10), layout="CHW"), "alpha", ["True if", "False if"]),
    (lambda: tenter.image.resize(PHOTO, (8, 8), box=(10, 20, 30, 40)), "box", ["((10, 30), (20, 40)) for (top, left, bottom, right)", "((20, 40), (10, 30)) for Pillow's"]),
    (lambda: tenter.resize(PHOTO, (8, 8), axes=(0, 1), box=(10, 20, 30, 40)), "box", ["((10, 30), (20, 40)) for (top"]),
    (lambda: tenter.image.resize(PHOTO * 1.0, (8, 8), linear_light=True), "x", ["floats from 0 to 1 for linear_light, got 0 to 25"]),
    (lambda: tenter.repeat(np.array([10, 20]), [1, 2]), "sizes", ["tile(x, (1, 2)) for the whole array", "repeat_interleave(x, [1, 2]) for each element"]),
    (lambda: tenter.repeat(np.array([10, 20]), repeats=(1, 2)), "sizes", ["repeat_interleave(x, [1, 2])"]),
    (lambda: tenter.repeat([10, 20], (1, 2)), "sizes", ["repeat_interleave(x, [1, 2])"]),
    (lambda: lazy.repeat(np.array([10, 20]), [1, 2]), "sizes", ["repeat_interleave(x, [1, 2])"]),
    (lambda: tenter.repeat(np.array([10, 20]), [3]), "sizes", ["tile(x, 3) for the whole array", "repeat_interleave(x, [3])"]),
    (lambda: lazy.repeat(np.array([10, 20]), (3,)), "sizes", ["repeat_interleave(x, [3])"]),
    (lambda: tenter.resize(WAVES, (2, 50), align="corners"), "align", ["here it is 'align_corners'"]),
    (lambda: tenter.resize(WAVES, (2, 50), align="center"), "align", ["here it is 'half_pixel'"]),
]  # fmt: skip


def others() -> dict[str, Any]:
    """The array [10, 20] of libraries other than NumPy and PyTorch."""
    import array_api_strict
    import dask.array
    import jax.numpy

    return {
        "JAX": jax.numpy.asarray([10, 20]),
        "Dask": dask.array.asarray(np.array([10, 20])),
        "Array API": array_api_strict.asarray([10, 20]),
    }


def test_one_size_is_no_sequence_of_counts() -> None:
    """In any form that an int may have."""
    row = np.array([1, 2])
    for size in (3, np.uint32(3), np.int8(3), np.array(3)):
        assert tenter.repeat(row, size).tolist() == tenter.tile(row, size).tolist() == [1, 2] * 3, repr(size)


@pytest.mark.parametrize("library", ["JAX", "Dask", "Array API"])
def test_sizes_that_numpy_would_read_as_counts_are_refused_for_arrays_of_each_library(library: str) -> None:
    x = others()[library]
    for given in ([1, 2], (1, 2), np.array([1, 2])):
        for call in (lambda g=given: tenter.repeat(x, g), lambda g=given: tenter.repeat(x, repeats=g)):
            refused(call, "sizes", ValueError, ["repeat_interleave(x, [1, 2])", "tile(x, (1, 2))"])
        assert tuple(tenter.tile(x, given).shape) == (1, 4)
    assert tuple(tenter.repeat(x, 1, 2).shape) == (1, 4) and tuple(tenter.repeat(x, (2, 1, 2)).shape) == (2, 1, 4)


#: Calls like those above that cannot be misread.
RIGHT = [
    *[lambda n=n: tenter.resize(PHOTO, (n, 32, 3)) for n in (24, 25, 26)],
    *[lambda n=n: tenter.resize(PHOTO.transpose(2, 0, 1), (3, n, 32)) for n in (24, 25, 26)],
    *[lambda n=n: tenter.resize(WAVES, n, axes=1) for n in (50, 51, 52)],
    *[lambda n=n: tenter.resize(WAVES, (n, 50)) for n in (2, 3, 5)],
    *[lambda n=n: tenter.image.resize(STAINS, (n, 10), alpha=False) for n in (8, 9, 11)],
    lambda: tenter.repeat(np.array([10, 20]), 1, 2),
]


@pytest.mark.parametrize("row", range(len(ASKED)))
def test_a_call_that_can_be_read_in_two_ways_asks(row: int) -> None:
    call, argument, offers = ASKED[row]
    refused(call, argument, ValueError, offers)
    for right in RIGHT:
        right()
    refused(call, argument, ValueError, offers)  # the second call does not take what others of its kind left


def test_the_calls_that_are_offered_are_calls() -> None:
    assert tenter.resize(WAVES, 50, axes=-1).shape == (4, 50)
    assert tenter.resize(PHOTO, (24, 32, 3)).shape == (24, 32, 3)  # channels stay
    assert tenter.resize(PHOTO, (24, 32, 4), axes=(0, 1, 2)).shape == (24, 32, 4)
    assert tenter.image.resize(PHOTO, (24, None)).shape == (24, 32, 3)
    assert tenter.image.resize(STAINS, (10, 10), mode="nearest-exact").shape == (10, 10, 4)  # which weights nothing
    assert tenter.repeat(np.array([10, 20]), 1, 2).tolist() == tenter.tile(np.array([10, 20]), (1, 2)).tolist()
    assert tenter.repeat(torch.tensor([10, 20]), [1, 2]).tolist() == [[10, 20, 10, 20]]  # a tensor's own repeat
    assert tenter.repeat(np.ones((2, 2)), (2, 3)).shape == (4, 6)


def test_a_mirrored_part_is_the_part_mirrored() -> None:
    part = tenter.image.resize(PHOTO, (9, 9), box=((3.5, 30), (10, 50.25)))
    mirrored = tenter.image.resize(PHOTO[:, ::-1].copy(), (9, 9), box=((3.5, 30), (64 - 10, 64 - 50.25)))
    np.testing.assert_array_equal(mirrored, part)


# ---- several dims at once


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex64", "bool"])
def test_repeats_of_several_dims_are_those_of_one_after_the_other(library: str, dtype: str) -> None:
    x = np.random.default_rng(0).integers(0, 2, (3, 4, 5)).astype(dtype)
    given = (
        x
        if library == "numpy"
        else torch.from_numpy(x)
        if library == "torch"
        else pytest.importorskip("jax").numpy.asarray(x)
    )
    for by_dim in (
        {0: 2, 1: [1, 0, 2, 3]},
        {-1: 3, 0: [0, 0, 0]},
        {2: 1},
        {},
        {1: np.int64(2), 2: np.arange(5), 0: 4},
        {0: 2, 1: 2},
    ):
        want = x
        for axis, counts in by_dim.items():
            want = np.repeat(want, counts, axis)
        for _ in range(3):
            found = tenter.repeat_interleave(given, by_dim)
            assert type(found) is type(given) and np.array_equal(np.asarray(found), want)
        if library != "jax":
            out = np.empty(want.shape, dtype) if library == "numpy" else torch.empty(want.shape, dtype=given.dtype)
            assert tenter.repeat_interleave(given, by_dim, out=out) is out and np.array_equal(np.asarray(out), want)


def test_repeats_of_several_dims_have_gradients() -> None:
    x = torch.rand(3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: tenter.repeat_interleave(x, {0: [1, 0, 2], 1: 3}), x)


@pytest.mark.parametrize(("by_dim", "more", "error", "argument"), [
    ({0: 2, -2: 1}, {}, ValueError, "repeats"), ({5: 2}, {}, IndexError, "repeats"), ({"a": 2}, {}, TypeError, "repeats"),
    ({0: 1.5}, {}, TypeError, "repeats"), ({0: [1, 2, 3]}, {}, ValueError, "repeats"), ({0: -1}, {}, ValueError, "repeats"),
    ({0: 2}, {"dim": 0}, ValueError, "dim"), ({0: 2}, {"output_size": 4}, ValueError, "output_size"), ({0: 2**31, 1: 2**31}, {}, MemoryError, "result"),
])  # fmt: skip
def test_wrong_repeats_of_several_dims_are_refused(by_dim: Any, more: Any, error: type, argument: str) -> None:
    for x in (np.ones((2, 2)), torch.ones(2, 2)):
        refused(lambda x=x: tenter.repeat_interleave(x, by_dim, **more), argument, error, [])


@pytest.mark.parametrize(("reps", "axis", "all_reps"), [
    (3, -1, (1, 1, 3)), ((2, 3), (0, 2), (2, 1, 3)), (2, (0, 1), (2, 2, 1)), ([0], [1], (1, 0, 1)), (np.int64(2), np.int64(1), (1, 2, 1)),
])  # fmt: skip
def test_tile_along_axes_is_tile_with_ones(reps: Any, axis: Any, all_reps: tuple[int, ...]) -> None:
    x = np.arange(24).reshape(2, 3, 4)
    for given in (x, x.tolist(), np.ma.masked_less(x, 5), np.array(x, "O")):
        want = np.tile(given, all_reps)
        found = tenter.numpy.tile(given, reps, axis=axis)
        assert type(found) is type(want) and np.array_equal(found, want)
    for wrong in ((9,), (0, 0)):
        refused(lambda w=wrong: tenter.numpy.tile(x, 2, axis=w), "axis", (ValueError, IndexError), [])
    refused(lambda: tenter.numpy.tile(x, (1, 2, 3), axis=(0, 1)), "reps", ValueError, ["2, one each"])
