"""tenter.skimage: scikit-image's functions, argument for argument."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
from test_scipy import SHORTEST_REFLECTED

import tenter.skimage

transform = pytest.importorskip("skimage.transform")
MODES = list(tenter.skimage.MODES)
DTYPES = ("float64", "float32", "float16", "uint8", "int16", "int8", "uint32", "int64", "bool")


def image(r: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    x = 100 + 50 * r.standard_normal(shape)
    if dtype == "bool":
        return x > 100
    if dtype.startswith("float"):
        return (x / 200).astype(dtype)
    return (x - 100 if dtype.startswith("int") else x).clip(np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)


def called(seed: int) -> tuple[np.ndarray, list[Any], dict[str, Any]]:
    """An image, and arguments of one random call of either function, the last of which is the name."""
    r = np.random.default_rng(seed)
    ndim, order, mode = int(r.integers(1, 4)), r.choice([None, 0, 1, 2, 3, 4, 5]), str(r.choice(MODES))
    least = SHORTEST_REFLECTED if mode in ("symmetric", "edge") and (order or 0) > 1 else 1
    shape = tuple(map(int, r.integers(least, least + (70, 30, 10)[ndim - 1], ndim)))
    x = image(r, shape, str(r.choice(DTYPES)))
    how: dict[str, Any] = {"order": order, "mode": mode, "cval": float(r.choice([0, 0.25, 3]))}
    how |= {"clip": bool(r.integers(2)), "preserve_range": bool(r.integers(2))}
    how["anti_aliasing"] = [None, None, True, False][r.integers(4)]
    if r.random() < 0.3:
        how["anti_aliasing_sigma"] = [float(r.uniform(0, 3)), r.uniform(0, 3, ndim).tolist()][r.integers(2)]
    if r.random() < 0.7:
        size = tuple(map(int, r.integers(1, (90, 40, 24)[ndim - 1], ndim)))
        return x, [size[: ndim - (ndim > 1 and r.random() < 0.2)], "resize"], how
    channels = int(r.integers(-ndim, ndim)) if ndim > 1 and r.random() < 0.5 else None
    n = ndim - (channels is not None)
    factors = [float(r.uniform(0.2, 2.5)), r.uniform(0.2, 2.5, n).tolist()][r.integers(2)]
    return x, [factors, "rescale"], {**how, "channel_axis": channels}


def outcome(f: Any, *args: Any, **how: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*args, **how)
        except ValueError as error:
            return error


def check(seed: int) -> None:
    x, (size, name), how = called(seed)
    want = outcome(getattr(transform, name), x, size, **how)
    got = outcome(getattr(tenter.skimage, name), x, size, **how)
    if isinstance(got, ValueError) and "scikit-image truncates" in str(got):
        return
    assert isinstance(got, ValueError) == isinstance(want, ValueError), (seed, got, want)
    if isinstance(want, ValueError):
        return
    assert got.dtype == want.dtype and got.shape == want.shape, seed
    if want.dtype.kind != "f":
        assert np.array_equal(got, want), seed
        return
    floats = tenter.skimage._float(x, how["preserve_range"])
    reach = max(np.abs(floats).max(), how["cval"] if how["mode"] == "constant" else 0)
    apart = np.abs(got.astype(np.float64) - want).max()
    assert apart <= reach * (1e-12 if want.dtype == np.float64 else 1e-6), (seed, apart / reach)


def test_resize_and_rescale_have_scikit_images_values_and_dtypes():
    for seed in range(120):
        check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_resize_and_rescale_have_scikit_images_values_and_dtypes_in_many_calls(part):
    for seed in range(600 * part, 600 * (part + 1)):
        check(seed)


def test_functions_have_scikit_images_parameters():
    for name in tenter.skimage.__all__:
        ours, its = (inspect.signature(getattr(of, name)).parameters for of in (tenter.skimage, transform))
        assert [(p.name, p.default, p.kind) for p in ours.values()] == [
            (p.name, p.default, p.kind) for p in its.values()
        ]


def test_lengths_beyond_the_image_are_axes_of_their_own():
    x = np.random.default_rng(0).random((6, 5))
    want = transform.resize(x, (4, 9, 3), mode="edge")
    np.testing.assert_allclose(tenter.skimage.resize(x, (4, 9, 3), mode="edge"), want, rtol=0, atol=1e-13)
    np.testing.assert_allclose(tenter.skimage.resize(np.float64(2), (3,)), [2, 2, 2], rtol=1e-15)
    assert tenter.skimage.resize(np.zeros((0, 4)), (0, 3)).shape == (0, 3)
    for point in (np.array(7, np.uint8), np.array(0.5), np.array(True)):
        made = tenter.skimage.resize(point, ())
        assert made.shape == () and made.dtype == (bool if point.dtype == bool else float) and made is not point


def test_deviations_of_rescale_have_that_of_the_channels_last():
    x = np.random.default_rng(0).random((9, 20, 3))
    for channels in (0, 1, 2, -1):
        how = {"channel_axis": channels, "anti_aliasing_sigma": (0.5, 1.5, 2.5), "order": 2, "anti_aliasing": True}
        want = outcome(transform.rescale, x, (0.5, 0.4), **how)
        np.testing.assert_allclose(tenter.skimage.rescale(x, (0.5, 0.4), **how), want, rtol=0, atol=1e-12)


def test_nan_leaves_the_range_of_clip_and_cval_widens_it():
    x = np.random.default_rng(0).random(60)
    x[50] = np.nan
    for how in ({}, {"mode": "constant", "cval": 3}, {"mode": "constant", "cval": -3}):
        got = tenter.skimage.resize(x, (200,), order=3, **how)[:60]
        y = np.where(np.isnan(x), 0.5, x)
        np.testing.assert_allclose(got, transform.resize(y, (200,), order=3, **how)[:60], rtol=0, atol=1e-9)


CALLS = ({"order": 3}, {"order": 2, "mode": "constant", "cval": 0.5}, {"order": 1}, {"anti_aliasing_sigma": 0.7}, {"order": 0},
         {"order": 5, "clip": False, "mode": "wrap"})  # fmt: skip


def test_tensors_have_gradients_of_both_orders():
    torch = pytest.importorskip("torch")
    x = torch.tensor(np.random.default_rng(0).standard_normal((4, 3)), requires_grad=True)
    for how in CALLS[:4]:

        def f(x, how=how):
            return tenter.skimage.resize(x, (3, 4), **how)

        assert torch.autograd.gradcheck(f, x) and torch.autograd.gradgradcheck(f, x), how
        np.testing.assert_allclose(f(x).detach().numpy(), f(x.detach().numpy()), rtol=0, atol=1e-13)
    for dtype, want in ((torch.uint8, torch.float64), (torch.bfloat16, torch.float32), (torch.int8, torch.float64)):
        assert tenter.skimage.resize((10 * x).to(dtype), (3, 4)).dtype == want


def test_arrays_of_other_libraries_have_the_same_values():
    x = (255 * np.random.default_rng(0).random((9, 11))).astype(np.uint8)
    dask, jax = pytest.importorskip("dask.array"), pytest.importorskip("jax")
    strict = pytest.importorskip("array_api_strict")
    kinds = {"dask": lambda x: dask.from_array(x, chunks=(9, 6)), "standard": strict.asarray, "jax": jax.numpy.asarray}
    for y in (x, x.astype(np.float32) / 255, x.astype(np.int8)):
        for k, how in enumerate(CALLS):
            want = tenter.skimage.resize(y, (5, 14), **how)
            for kind, of in kinds.items():
                if kind == "jax" and (k or y.dtype != np.float32):  # each compiles anew
                    continue
                got = np.asarray(tenter.skimage.resize(of(y), (5, 14), **how))
                assert got.dtype == want.dtype or (kind == "jax" and got.dtype == np.float32)
                exact = got.dtype == np.float64
                np.testing.assert_allclose(got, want, rtol=0, atol=1e-13 if exact else 2e-6, err_msg=f"{kind} {how}")


@pytest.mark.slow
def test_compiled_code_of_jax_has_the_gradients_of_tensors():
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    x = np.random.default_rng(0).random((9, 11)).astype(np.float32)
    for how in CALLS:

        def total(x, how=how):
            return (tenter.skimage.resize(x, (5, 14), **how) ** 2).sum()

        t = torch.tensor(x, requires_grad=True)
        total(t).backward()
        np.testing.assert_allclose(jax.jit(jax.grad(total))(jax.numpy.asarray(x)), t.grad, rtol=0, atol=1e-4)


ZEROS = np.zeros((4, 5))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda f: f.resize(ZEROS, (2, 2), order=6), "order: expected an int from 0 to 5, got 6"),
        (lambda f: f.resize(ZEROS, (2, 2), order=1.5), "order: expected an int from 0 to 5, got 1.5"),
        (lambda f: f.resize(ZEROS > 0, (2, 2), order=1), "order: expected 0 or None for bools, got 1"),
        (lambda f: f.resize(ZEROS > 0, (2, 2), anti_aliasing=True), "anti_aliasing: expected False or None for bool"),
        (lambda f: f.resize(ZEROS.astype(int), (2, 2), 0, anti_aliasing=True), "as scikit-image truncates after each"),
        (lambda f: f.resize(ZEROS.astype(object), (2, 2)), "image: expected real numbers or bools, got object"),
        (lambda f: f.resize(ZEROS.astype(complex), (2, 2)), "image: expected real numbers or bools, got complex128"),
        (lambda f: f.resize(ZEROS[:0], (2, 2)), "image: expected axes of at least 1 to resize, got shape (0, 5)"),
        (lambda f: f.resize(ZEROS, 3), "output_shape: expected a length for each axis, got 3"),
        (lambda f: f.resize(ZEROS[None], (3,)), "output_shape: expected 3 lengths, or 2, got 1"),
        (lambda f: f.resize(ZEROS, (2.5, 2)), "output_shape: expected whole lengths of at least 0"),
        (lambda f: f.resize(ZEROS, (2, -2)), "output_shape: expected whole lengths of at least 0"),
        (lambda f: f.resize(ZEROS, (2, 2), mode="mirror"), "mode: expected one of constant, edge, symmetric, reflect"),
        (lambda f: f.resize(ZEROS, (2, 2), mode="constant", cval=np.nan), "cval: expected a finite number, got nan"),
        (lambda f: f.resize(ZEROS, (2, 2), clip=1), "clip: expected a bool, got 1"),
        (lambda f: f.resize(ZEROS, (2, 2), anti_aliasing_sigma=-1), "anti_aliasing_sigma: expected finite numbers"),
        (lambda f: f.resize(ZEROS, (2, 2), anti_aliasing_sigma=(1, 1, 1)), "expected a number, or 2, one for each axis"),
        (lambda f: f.rescale(ZEROS, None), "scale: expected a number, or one for each axis, got None"),
        (lambda f: f.rescale(ZEROS, (1, 2, 3)), "scale: expected a number, or 2, one for each axis"),
        (lambda f: f.rescale(ZEROS, 2, channel_axis=2), "channel_axis: expected a dim of a 2-d input"),
    ],
)  # fmt: skip
def test_what_scikit_image_does_not_take_is_refused(call, words):
    with pytest.raises((TypeError, ValueError, IndexError)) as refused:
        call(tenter.skimage)
    assert words in str(refused.value) and "\n  in skimage.re" in str(refused.value)
