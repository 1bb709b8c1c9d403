"""`tenter.image.resize`: what alpha and light change, and that nothing else does."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import pillow_oracle
import tenter
from sweeps import in_one_test
from tenter import _native, conventions, filters
from tenter._execution import chunks, premultiplied
from tenter.image import Fill, resize

Pixels = np.ndarray[Any, Any]

DTYPES = (np.uint8, np.uint16, np.float16, np.float32, np.float64)
SIZES = ((5, 9), (30, 21), (17, 40), (8, 8))
FULL = {np.uint8: 255, np.uint16: 65535}


def picture(channels: int, dtype: Any, opaque: bool = False) -> Pixels:
    values = np.random.default_rng(channels).random((17, 21, channels))
    if opaque and channels in (2, 4):
        values[..., -1] = 1
    full = FULL.get(dtype, 1)
    return (values * full).round().astype(dtype) if full > 1 else values.astype(dtype)


def encoded(light: Any) -> Any:
    light = np.asarray(light, np.float64)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 0) ** (1 / 2.4) - 0.055)


def decoded(srgb: Any) -> Any:
    srgb = np.asarray(srgb, np.float64)
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


# ---- where neither applies it is tenter.resize


@in_one_test("dtype", DTYPES)
@in_one_test("channels", [1, 2, 3, 4, 5])
@in_one_test("like", ["torch", "pillow", "opencv"])
def test_opaque_is_plain(dtype: Any, channels: int, like: str) -> None:
    x, alpha = picture(channels, dtype, opaque=True), channels in (2, 4)
    for size in SIZES:
        for mode in ("linear", "cubic", "lanczos", "area"):
            how = {"mode": mode, "like": like, "antialias": None if mode == "area" else like != "opencv"}
            same = tenter.resize(x, size, axes=(0, 1), **how)
            np.testing.assert_array_equal(resize(x, size, alpha=alpha, **how), same)
            np.testing.assert_array_equal(resize(x[..., 0], size, **how), tenter.resize(x[..., 0], size, **how))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", ["nearest", "nearest-exact"]])
def test_nearest_kinds_mix_nothing(dtype: Any, mode: Any) -> None:
    x = picture(4, dtype)
    for size in SIZES:
        same = tenter.resize(x, size, axes=(0, 1), mode=mode)
        np.testing.assert_array_equal(resize(x, size, mode=mode, linear_light=True), same)


@pytest.mark.parametrize("off", [{"alpha": False}, {"alpha": "premultiplied"}])
def test_each_can_be_turned_off(off: dict[str, Any]) -> None:
    x = picture(4, np.uint8)
    same = tenter.resize(x, (8, 8), axes=(0, 1), mode="lanczos")
    np.testing.assert_array_equal(resize(x, (8, 8), **off), same)


def test_arguments_are_those_of_resize() -> None:
    x = picture(3, np.uint8)
    how: dict[str, Any] = {
        "scale": Fraction(1, 2), "mode": filters.cubic(-0.6), "antialias": False, "like": conventions.Convention.of("onnx", align="align_corners", edge="reflect"), "box": [(2, 9.5), None],
    }  # fmt: skip
    np.testing.assert_array_equal(resize(x, **how), tenter.resize(x, axes=(0, 1), **how))
    hat = filters.Filter(lambda d: np.maximum(0, 1 - np.abs(d)), 1.0)
    same = tenter.resize(x, (5, 5), axes=(0, 1), mode=hat)
    np.testing.assert_array_equal(resize(x, (5, 5), mode=hat), same)


# ---- alpha


@in_one_test("dtype", DTYPES)
@in_one_test("mode", ["linear", "cubic", "lanczos", "area", "mitchell"])
@in_one_test("linear_light", [False, True])
def test_what_cannot_be_seen_colours_nothing(dtype: Any, mode: str, linear_light: bool) -> None:
    full = FULL.get(dtype, 1)
    x = np.zeros((16, 16, 4), dtype)
    x[:, :7] = (full, 0, 0, full)
    x[:, 7:] = (0, full, 0, 0)
    for size in (6, 40):
        out = resize(x, (size, size), mode=mode, linear_light=linear_light, alpha=True)
        seen = out[..., 3] > 0.02 * full
        assert seen.any() and (~seen).any() and out.dtype == dtype
        np.testing.assert_allclose(out[seen][:, 0].astype(np.float64), full, rtol=2e-3 if dtype == np.float16 else 1e-6)
        assert out[..., 1].max() == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [2, 4])
@pytest.mark.parametrize("linear_light", [False, True])
def test_colours_are_weighted_means(dtype: Any, channels: int, linear_light: bool) -> None:
    x, full = picture(channels, dtype), FULL.get(dtype, 1)
    v = x.astype(np.float64) / full
    into, back = (decoded, encoded) if linear_light else (np.asarray, np.asarray)
    alpha = tenter.resize(v[..., -1:], (6, 8), axes=(0, 1))
    mixed = tenter.resize(into(v[..., :-1]) * v[..., -1:], (6, 8), axes=(0, 1))
    expected = np.concatenate((back(mixed / alpha), alpha), axis=-1) * full
    out = resize(x, (6, 8), mode="linear", linear_light=linear_light, alpha=True)
    if dtype == np.uint8 and not linear_light:  # in 8 bits, which leave less of a color the less alpha it has
        np.testing.assert_array_equal(out, pillow_oracle.resize_weighed(x, (6, 8), "linear"))
        return
    tolerance = {np.uint8: 0.501, np.uint16: 0.55, np.float16: 6e-4, np.float32: 1e-6, np.float64: 1e-14}[dtype]
    np.testing.assert_allclose(out, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [2, 4])
def test_alpha_in_the_core_is_that_of_numpy(dtype: Any, channels: int, level: str, monkeypatch: Any) -> None:
    """Products, quotients, and whether all alpha is full: bit for bit."""
    x = picture(channels, dtype)
    x[3:9, 2:9, -1] = 0
    opaque = picture(channels, dtype, opaque=True)
    faint = opaque.copy()
    faint[-1, -1, -1] = 0
    calls = [(y, size) for y in (x, opaque, faint) for size in ((6, 8), (23, 40), (17, 5))]
    got = [resize(y, size, mode="cubic", like="opencv", alpha=True) for y, size in calls]
    monkeypatch.setattr(premultiplied, "_is_pixels", lambda *of: False)
    for (y, size), found in zip(calls, got):
        np.testing.assert_array_equal(found, resize(y, size, mode="cubic", like="opencv", alpha=True))
    assert all((a != b).any() for a, b in zip(got[3:6], got[6:]))


@pytest.mark.parametrize("dtype", [np.uint16, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("channels", [2, 4])
def test_one_call_has_the_bits_of_three(dtype: Any, channels: int, level: str, monkeypatch: Any) -> None:
    """Weighted, resized and divided by the core at once, in either order of axes, in bands narrower than a row, on any
    number of threads; and where that cannot be, in bands by themselves."""
    x = picture(channels, dtype)
    x[3:9, 2:9, -1] = 0
    calls: list[tuple[Any, Any, dict[str, Any]]] = [
        (x, (6, 8), {"mode": "lanczos3"}),
        (x, (23, 40), {"mode": "cubic"}),
        (x, (40, 5), {}),
        (x, (3, 50), {"mode": "mitchell"}),
        (x, (1, 1), {"mode": "area"}),
        (x, (4, 3), {"antialias": False}),
        (x[::-1], (7, 9), {}),
        (x[:, ::-1], (5, 7), {}),
        (x[:, ::-1], (50, 60), {}),
        (x[:, ::2], (5, 7), {}),
        (x.swapaxes(0, 1), (5, 7), {}),
        (np.repeat(x, 9, 1), (9, 20), {}),
        (x, (5, 7), {"box": ((1.5, 8), (9, 2))}),
        (x, (len(x), 7), {}),
    ]
    want = [resize(y, size, alpha=True, **how) for y, size, how in calls]  # small, by three calls
    monkeypatch.setattr(chunks, "BYTES", 0)
    monkeypatch.setattr(_native.tuning, "parallel_bytes", 0)
    at_once = []
    found = premultiplied.resized_as_floats
    monkeypatch.setattr(premultiplied, "resized_as_floats", lambda *of: at_once.append(found(*of)) or at_once[-1])
    for row_chunk_bytes in (1, 192 << 10):
        monkeypatch.setattr(_native.tuning, "row_chunk_bytes", row_chunk_bytes)
        for (y, size, how), three in zip(calls, want):
            out = np.full_like(three, 1)
            np.testing.assert_array_equal(resize(y, size, alpha=True, **how), three)
            np.testing.assert_array_equal(resize(y, size, alpha=True, out=out, **how), three)
    assert sum(each is not None for each in at_once) > 20


def test_nothing_seen_is_nothing() -> None:
    x = picture(4, np.uint8)
    x[..., 3] = 0
    assert not resize(x, (8, 8), alpha=True).any()


def test_any_last_channel_can_be_alpha() -> None:
    x = picture(3, np.uint8)
    x[..., :-1] = 77
    x[:, 8:, :-1] = 200
    x[:, 8:, -1] = 0
    out = resize(x, (6, 6), mode="linear", alpha=True)
    assert set(np.unique(out[..., :-1][out[..., -1] > 0])) == {77}


def test_around_an_opaque_picture_nothing_is_seen() -> None:
    x = np.full((4, 4, 4), 255, np.uint8)
    black = conventions.Convention.of("pillow", edge="constant")
    out = resize(x, (6, 6), box=[(-1.5, 5), (-1.5, 5)], like=black, antialias=False, alpha=True)
    partly = out[..., 3] > 0
    assert partly.any() and out[..., 3].min() < 255
    assert (out[partly][:, :3] == 255).all()


# ---- light


@pytest.mark.parametrize(("dtype", "plain", "light"), [(np.uint8, 128, 188), (np.uint16, 32768, 48192)])
def test_a_checkerboard_from_afar(dtype: Any, plain: int, light: int) -> None:
    board = (np.indices((8, 8)).sum(0) % 2 * FULL[dtype]).astype(dtype)
    assert round(FULL[dtype] * float(encoded(0.5))) == light
    for x in (board, board[..., None].repeat(3, 2)):
        assert set(resize(x, (2, 2), mode="area").ravel()) == {plain}
        assert set(resize(x, (2, 2), mode="area", linear_light=True).ravel()) == {light}


def test_a_checkerboard_of_floats() -> None:
    board = np.indices((8, 8)).sum(0) % 2
    for dtype, close in ((np.float16, 5e-4), (np.float32, 1e-7), (np.float64, 1e-15)):
        out = resize(board.astype(dtype), (1, 1), mode="area", linear_light=True)
        assert out.dtype == dtype and abs(out.item() - float(encoded(0.5))) <= close


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_one_colour_stays(dtype: Any) -> None:
    """Every value of the dtype, in a column of its own that is made longer."""
    x = np.arange(FULL[dtype] + 1, dtype=dtype)[:, None]
    for y in (x, np.stack([x, x, x, np.full_like(x, 7)], -1)):
        out = resize(y, (len(x), 3), mode="cubic", linear_light=True, alpha=y.ndim == 3)
        np.testing.assert_array_equal(out, np.repeat(y, 3, axis=1))


@pytest.mark.parametrize("channels", [2, 4])
@pytest.mark.parametrize("opaque", [False, True])
@pytest.mark.parametrize("how", [True, "premultiplied"])
def test_alpha_is_no_light(channels: int, opaque: bool, how: Any) -> None:
    x = picture(channels, np.float32, opaque)
    alpha = tenter.resize(x[..., -1], (6, 8), mode="lanczos")
    out = resize(x, (6, 8), linear_light=True, alpha=how)
    np.testing.assert_array_equal(out[..., -1], alpha)


@pytest.mark.parametrize(
    ("values", "found"), [([-0.5, 1.0], "-0.5 to 1"), ([0, 255], "0 to 255"), ([np.nan, 2], "2 to 2")]
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_that_are_no_srgb_values_have_no_light(values: Any, found: str, dtype: Any) -> None:
    x = np.array([values], dtype)
    with pytest.raises(ValueError, match=f"^x: expected floats from 0 to 1 for linear_light, got {found}"):
        resize(x, (2, 3), linear_light=True)
    resize(x, (2, 3))
    rgba = np.stack([0 * x, 0 * x, 0 * x, x], -1)  # alpha is no light
    if not np.isnan(values[0]):
        resize(rgba, (2, 3), linear_light=True, alpha=True)


def test_light_of_nan_is_nan_where_it_is() -> None:
    x = np.array([[0.5, np.nan, 0.25]])
    found = resize(x, (2, 3), linear_light=True, mode="nearest-exact")
    np.testing.assert_array_equal(found, x.repeat(2, 0))
    assert np.isnan(resize(x, (2, 3), linear_light=True)).any()


# ---- kinds of arrays, and what is refused


def test_layouts_and_byte_orders() -> None:
    x = picture(4, np.uint16)
    expected = resize(x, (6, 6), linear_light=True, alpha=True)
    for y in (np.asfortranarray(x), x.astype(">u2"), x[::-1][::-1], np.repeat(x, 2, 1)[:, ::2]):
        np.testing.assert_array_equal(resize(y, (6, 6), linear_light=True, alpha=True), expected)
    x = picture(4, np.float64)
    expected = resize(x, (6, 6), linear_light=True, alpha=True)
    np.testing.assert_array_equal(resize(x.astype(">f8"), (6, 6), linear_light=True, alpha=True), expected)
    assert all(resize(x.astype(">f8"), (6, 6), alpha=alpha).dtype == ">f8" for alpha in (False, True))
    x = picture(4, np.uint16)
    assert resize(np.asfortranarray(x), (6, 6), alpha=True).flags.f_contiguous
    assert resize(x, (6, 6), alpha=True).flags.c_contiguous
    x = picture(4, np.uint8)
    assert resize(x.tolist(), (3, 3), alpha=False).dtype == np.int64


def test_the_input_is_left_alone() -> None:
    x = picture(4, np.float32)
    before = x.copy()
    resize(x, (6, 6), linear_light=True, alpha=True)
    np.testing.assert_array_equal(x, before)


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    for dtype in (np.uint8, np.float32):
        x = picture(4, dtype)
        out = resize(torch.from_numpy(x), (6, 6), linear_light=True, alpha=True)
        assert isinstance(out, torch.Tensor)
        np.testing.assert_array_equal(out.numpy(), resize(x, (6, 6), linear_light=True, alpha=True))
        np.testing.assert_array_equal(
            resize(torch.from_numpy(x), Fill(6), alpha=True).numpy(), resize(x, Fill(6), alpha=True)
        )
    x = torch.rand(5, 5, 3, requires_grad=True)
    resize(x, (3, 3)).sum().backward()
    assert x.grad is not None
    with pytest.raises(TypeError, match="x: expected no gradient"):
        resize(x, (3, 3), linear_light=True)


@pytest.mark.parametrize(
    ("kind", "message", "pixels", "how"),
    [
        (ValueError, "x: expected shape", np.ones(3, np.uint8), {}),
        (ValueError, "x: expected shape", np.ones((3, 3, 3, 3), np.uint8), {}),
        (TypeError, "x: expected an array", None, {}),
        (TypeError, "x: expected uint8, uint16 or floats", np.ones((3, 3, 4), np.int32), {"alpha": True}),
        (TypeError, "x: expected uint8, uint16 or floats", np.ones((3, 3), np.int32), {"linear_light": True}),
        (TypeError, "axes: expected none", np.ones((3, 3), np.uint8), {"axes": (0, 1)}),
        (TypeError, "alpha: expected a bool, 'premultiplied' or None", np.ones((3, 3), np.uint8), {"alpha": "yes"}),
        (ValueError, "alpha: expected False", np.ones((3, 3), np.uint8), {"alpha": True}),
        (TypeError, "linear_light: expected a bool", np.ones((3, 3), np.uint8), {"linear_light": 1}),
        (ValueError, "like: expected one of", np.ones((3, 3), np.uint8), {"like": "photoshop"}),
        (ValueError, "mode: expected one of", np.ones((3, 3), np.uint8), {"mode": "best"}),
        (ValueError, "size: expected", np.ones((3, 3), np.uint8), {"scale": 2}),
        (ValueError, "alpha: expected True if the last of four channels", np.ones((3, 3, 4), np.uint8), {}),
        (ValueError, "alpha: expected True if the last of four channels", np.ones((3, 3, 4)), {"linear_light": True}),
    ],
)  # fmt: skip
def test_refusals(kind: type[Exception], message: str, pixels: Any, how: dict[str, Any]) -> None:
    with pytest.raises(kind, match=f"^{message}"):
        resize(pixels, (2, 2), **how)


def test_a_convention_of_ones_own() -> None:
    x = picture(3, np.uint8)
    own = conventions.PRESETS["pillow"]._replace(antialias=False)
    np.testing.assert_array_equal(resize(x, (6, 6), like=own), resize(x, (6, 6), mode="linear", antialias=False))
