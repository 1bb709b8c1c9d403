"""8-bit values in integers: bit for bit Pillow's, on every instruction set, in every layout, tile, band and thread."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

import pillow_oracle
import tenter
from sweeps import sampled
from tenter import _native
from tenter._specs.resize_arguments import Arguments, checked
from tenter.maps import Window

PIL = pytest.importorskip("PIL.Image")
RESAMPLING = {"box": "BOX", "linear": "BILINEAR", "hamming": "HAMMING", "cubic": "BICUBIC", "lanczos": "LANCZOS",
              "nearest": "NEAREST"}  # fmt: skip
PILLOW_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
Pixels = np.ndarray[Any, np.dtype[np.uint8]]


def picture(rng: np.random.Generator, shape: tuple[int, ...]) -> Pixels:
    """Noise, or noise of black and white, which overshoots."""
    x = rng.integers(0, 256, shape, dtype=np.uint8)
    return x if rng.random() < 0.7 else ((x > 127) * 255).astype(np.uint8)


def by_pillow(x: Pixels, size: tuple[int, int], mode: str, box: Any = None) -> Pixels:
    """Each channel by itself, so that no alpha is taken into account."""
    planes = np.atleast_3d(x).transpose(2, 0, 1)
    given = None if box is None else (box[1][0], box[0][0], box[1][1], box[0][1])
    method = getattr(PIL.Resampling, RESAMPLING[mode])
    made = [np.asarray(PIL.fromarray(np.ascontiguousarray(p)).resize(size[::-1], method, given)) for p in planes]
    return np.stack(made, -1).reshape(*size, *x.shape[2:])


def a_box(rng: np.random.Generator, n: int) -> tuple[float, float]:
    a, b = np.sort(rng.random(2) * n)
    if rng.random() < 0.3:
        a, b = np.floor(a), np.ceil(b)
    return (float(a), float(b)) if b > a else (0.0, float(n))


@pytest.mark.parametrize("seed", sampled(range(60), 20))
def test_pixels_are_pillows(seed):
    """Fifty pictures of a seed, of any size up and down, some from a box, some long."""
    rng = np.random.default_rng(seed)
    for k in range(50):
        h, w, a, b = (int(n) for n in rng.integers(1, 90, 4))
        if k % 10 == 0:
            h, w = (h, w * 40) if rng.random() < 0.5 else (h * 40, w)
        mode, channels = str(rng.choice(list(RESAMPLING))), int(rng.integers(1, 5))
        x = picture(rng, (h, w) if channels == 1 else (h, w, channels))
        box = (a_box(rng, h), a_box(rng, w)) if rng.random() < 0.4 else None
        got = tenter.resize(x, (a, b), axes=(0, 1), mode=mode, like="pillow", box=box)
        np.testing.assert_array_equal(got, by_pillow(x, (a, b), mode, box), err_msg=f"{x.shape} {a, b} {mode} {box}")


@pytest.mark.parametrize("seed", sampled(range(20), 10))
def test_alpha_is_pillows(seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        h, w, a, b = (int(n) for n in rng.integers(1, 60, 4))
        size = (h if rng.random() < 0.1 else a, w if rng.random() < 0.1 else b)
        channels, mode = int(rng.choice([2, 4])), str(rng.choice(list(pillow_oracle.FILTERS)))
        x = picture(rng, (h, w, channels))
        if rng.random() < 0.3:
            x[..., -1] //= 40
        image = PIL.frombytes(PILLOW_MODES[channels], (w, h), x.tobytes())
        theirs = np.asarray(image.resize(size[::-1], getattr(PIL.Resampling, RESAMPLING[mode])))
        note = f"{x.shape} {size} {mode}"
        np.testing.assert_array_equal(tenter.image.resize(x, size, mode=mode, alpha=True), theirs, err_msg=note)
        np.testing.assert_array_equal(pillow_oracle.resize_weighed(x, size, mode), theirs, err_msg=note)


@pytest.mark.parametrize("mode", [m for m in RESAMPLING if m not in ("box", "hamming", "nearest")])
def test_antialiased_interpolation_is_pillows(mode):
    """Which PyTorch follows, to within a unit or two."""
    rng = np.random.default_rng(0)
    name = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    for h, w, a, b in ((40, 50, 17, 23), (40, 50, 77, 60), (90, 20, 30, 20), (33, 1, 1, 33)):
        x = picture(rng, (h, w, 3))
        want = by_pillow(x, (a, b), mode)
        tensor = torch.from_numpy(x).permute(2, 0, 1)[None]
        for form in (tensor, tensor.contiguous()):
            got = tenter.interpolate(form, (a, b), mode=name, antialias=True)[0].permute(1, 2, 0).numpy()
            np.testing.assert_array_equal(got, want)
        got = tenter.resize(x, (a, b), axes=(0, 1), mode="catmull-rom" if mode == "cubic" else mode, antialias=True)
        np.testing.assert_array_equal(got, want)


# Height, width, output: one row, fewer and more than a vector's lanes, tails of every kind, both orders of axes.
SIZES = [(1, 70, 1, 33), (70, 1, 33, 1), (17, 300, 9, 64), (33, 61, 80, 90), (150, 13, 20, 12), (16, 260, 16, 100),
         (35, 40, 12, 40), (64, 64, 65, 63)]  # fmt: skip


@cache
def expected(channels: int, k: int, mode: str) -> tuple[Pixels, Pixels, Pixels | None]:
    """A picture, the same resized, and with alpha."""
    h, w, a, b = SIZES[k]
    x = picture(np.random.default_rng(k), (h, w, channels) if channels else (h, w))
    weighed = pillow_oracle.resize_weighed(x, (a, b), mode) if channels in (2, 4) else None
    return x, pillow_oracle.resize(x, (a, b), mode), weighed


@pytest.mark.parametrize("how", ["as it is", "small tiles", "many bands", "past the caches"])
@pytest.mark.parametrize("channels", [0, 1, 2, 3, 4, 5, 17, 70])
def test_every_level_sums_the_same(channels, how, level, monkeypatch):
    if how == "small tiles":
        monkeypatch.setattr(_native.tuning, "byte_tile_bytes", 700)
    elif how == "many bands":
        monkeypatch.setattr(_native.tuning, "byte_chunk_bytes", 1)
        monkeypatch.setattr(_native.tuning, "parallel_bytes", 0)
    elif how == "past the caches":
        monkeypatch.setattr(_native.tuning, "guard_blocks", True)
        monkeypatch.setattr(_native.tuning, "stream_bytes", 0)
    for k, size in enumerate(SIZES):
        for mode in ("linear", "lanczos"):
            x, want, weighed = expected(channels, k, mode)
            got = tenter.resize(x, size[2:], axes=(0, 1), mode=mode, like="pillow")
            np.testing.assert_array_equal(got, want, err_msg=f"{size} {mode}")
            if weighed is not None:
                got = tenter.image.resize(x, size[2:], mode=mode, alpha=True)
                np.testing.assert_array_equal(got, weighed, err_msg=f"{size} {mode}")


@pytest.mark.parametrize("way", ["contiguous", "gaps", "reversed"])
@pytest.mark.parametrize("width", [*range(1, 18), 23, 24, 25, 31, 32, 33])
def test_narrow_rows_are_columns_of_wide_ones(width, way, level):
    """Rows that do not fill a vector are summed in blocks, and whole rows at a time where the memory allows it."""
    rng = np.random.default_rng(width)
    for n, n_out, mode in ((1, 4, "linear"), (3, 20, "cubic"), (7, 2, "box"), (150, 61, "lanczos"), (90, 91, "cubic")):
        wide = picture(rng, (n, 80))
        x = {"contiguous": wide[:, :width].copy(), "gaps": wide[:, :width], "reversed": wide[::-1, :width]}[way]
        want = tenter.resize(wide[::-1].copy() if way == "reversed" else wide, n_out, axes=0, mode=mode, like="pillow")
        got = tenter.resize(x, n_out, axes=0, mode=mode, like="pillow")
        np.testing.assert_array_equal(got, want[:, :width], err_msg=f"{n} {n_out} {mode}")


@pytest.mark.parametrize("channels", [1, 2, 3, 5, 9])
@pytest.mark.parametrize(
    "size", [(300, 5, 120, 2), (300, 2, 500, 7), (90, 1, 200, 4), (300, 16, 500, 3), (99, 4, 40, 9)]
)
def test_rows_that_are_narrow_between_two_axes(size, channels, level):
    x = picture(np.random.default_rng(channels), (*size[:2], channels))
    for mode in ("linear", "lanczos"):
        got = tenter.resize(x, size[2:], axes=(0, 1), mode=mode, like="pillow")
        np.testing.assert_array_equal(got, pillow_oracle.resize(x, size[2:], mode), err_msg=mode)


def test_windows_longer_than_a_tile(level, monkeypatch):
    monkeypatch.setattr(_native.tuning, "byte_tile_bytes", 1)
    rng = np.random.default_rng(0)
    for channels in (1, 2, 3, 4):
        x = picture(rng, (19, 400, channels))
        got = tenter.resize(x, (19, 3), axes=(0, 1), mode="cubic", like="pillow")
        np.testing.assert_array_equal(got, pillow_oracle.resize(x, (19, 3), "cubic"))


def layouts(x: Pixels) -> dict[str, Pixels]:
    wide = np.full((2 * x.shape[0], 3 * x.shape[1], 2 * x.shape[2]), 77, np.uint8)
    wide[::2, ::3, 1::2] = x
    read_only = x.copy()
    read_only.flags.writeable = False
    return {
        "gaps": wide[::2, ::3, 1::2],
        "turned round": np.ascontiguousarray(x[::-1, ::-1, ::-1])[::-1, ::-1, ::-1],
        "rows in reverse": np.ascontiguousarray(x[::-1])[::-1],
        "Fortran": np.asfortranarray(x),
        "planes": np.ascontiguousarray(x.transpose(2, 0, 1)).transpose(1, 2, 0),
        "transposed": np.ascontiguousarray(x.transpose(1, 0, 2)).transpose(1, 0, 2),
        "channels between": np.ascontiguousarray(x.transpose(0, 2, 1)).transpose(0, 2, 1),
        "read-only": read_only,
    }


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 6])
def test_every_layout_gives_the_same(channels):
    rng = np.random.default_rng(channels)
    x = picture(rng, (45, 30, channels))
    for a, b in ((20, 17), (60, 70), (10, 29), (45, 12), (13, 30)):
        want = pillow_oracle.resize(x, (a, b), "cubic")
        for name, y in layouts(x).items():
            got = tenter.resize(y, (a, b), axes=(0, 1), mode="cubic", like="pillow")
            np.testing.assert_array_equal(got, want, err_msg=f"{name} {a, b}")
            if channels in (2, 4):
                weighed = pillow_oracle.resize_weighed(x, (a, b), "cubic")
                got = tenter.image.resize(y, (a, b), mode="cubic", alpha=True)
                np.testing.assert_array_equal(got, weighed, err_msg=name)
            along = tenter.resize(y, a, axes=0, mode="cubic", like="pillow")
            np.testing.assert_array_equal(along, pillow_oracle.resize(x, (a, 30), "cubic"), err_msg=name)
            along = tenter.resize(y, b, axes=1, mode="cubic", like="pillow")
            np.testing.assert_array_equal(along, pillow_oracle.resize(x, (45, b), "cubic"), err_msg=name)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_number_of_threads_gives_the_same(threads, monkeypatch):
    monkeypatch.setattr(_native.tuning, "parallel_bytes", 0)
    before = tenter.get_num_threads()
    x = picture(np.random.default_rng(0), (2, 300, 64, 3))
    try:
        tenter.set_num_threads(threads)
        got = tenter.resize(x, (90, 50), axes=(1, 2), mode="lanczos", like="pillow")
    finally:
        tenter.set_num_threads(before)
    for each, given in zip(got, x):
        np.testing.assert_array_equal(each, pillow_oracle.resize(given, (90, 50), "lanczos"))


def maps_of(x: Any, **how: Any) -> list[Any]:
    spec, _ = checked(x, Arguments(**how))
    return [m for _, m in spec.maps(x.shape, x.dtype.name, False)]


def test_maps_say_what_is_summed():
    """Their weights are the integers that are multiplied, so a product by `dense()` before rounding is the result."""
    x = picture(np.random.default_rng(0), (30, 41))
    (m,) = maps_of(x, size=13, axes=0, mode="lanczos", like="pillow")
    units = m.dense() * 2**22
    assert np.array_equal(units, np.rint(units))
    sums = np.rint(m.dense() @ x * 2**22).astype(np.int64)
    want = np.clip((sums + (1 << 21)) >> 22, 0, 255)
    assert np.array_equal(tenter.resize(x, 13, axes=0, mode="lanczos", like="pillow"), want)
    (same,) = maps_of(x.astype(np.float64), size=13, axes=0, mode="lanczos", like="pillow")
    assert 0 < np.abs(same.dense() - m.dense()).max() < 2**-22  # of floats they are not rounded


# Rules that Pillow does not have, held in 8 bits between two axes all the same: within a unit for each axis.
@pytest.mark.parametrize(
    "how",
    [
        {"mode": "mitchell", "like": "pillow"},
        {"mode": "lanczos5", "like": "pillow"},
        {"mode": "linear", "like": "pillow", "edge": "reflect"},
        {"mode": "cubic", "like": "pillow", "edge": "wrap"},
        {"mode": "cubic", "like": "torch", "antialias": True, "align": "align_corners"},
        {"mode": "cubic", "like": "pillow", "box": ((30, 2), (1, 30))},
    ],
)
def test_other_rules_in_8_bits(how):
    x = picture(np.random.default_rng(1), (31, 31))
    got = tenter.resize(x, (12, 40), **how)
    want = x.astype(float)
    for axis, n in ((0, 12), (1, 40)):  # Pillow's order for these lengths
        along = {**how, "box": [how["box"][axis]]} if "box" in how else how
        want = np.clip(tenter.resize(want, n, axes=axis, **along), 0, 255)
    assert got.dtype == np.uint8
    assert np.abs(got - want).max() <= 1.6


def test_weights_too_large_for_integers():
    """A user's filter whose sums would not fit 32 bits is computed in floats."""
    steep = tenter.filters.Filter(lambda d: np.where(np.abs(d) < 0.5, 400.0, -133.0) * (np.abs(d) < 2), 2.0)
    x = picture(np.random.default_rng(0), (20, 20))
    maps = maps_of(x, size=(33, 33), mode=steep, like="pillow")
    assert all(isinstance(m, Window) and not m._form.has_bytes for m in maps)
    got = tenter.resize(x, (33, 33), mode=steep, like="pillow")
    truth = np.clip(maps[1].dense() @ x.T.astype(float), 0, 255)
    truth = np.clip(maps[0].dense() @ truth.T, 0, 255)
    assert np.abs(got - truth).max() <= 0.51
