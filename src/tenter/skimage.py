"""scikit-image's own dialect: `skimage.transform.resize` and `rescale`, argument for argument.

Arrays of every library that tenter takes go in, and have gradients where these have them. scikit-image is not imported.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tenter import resampling
from tenter._arrays import library
from tenter._arrays.arguments import array, describe, dim, error, flag, one_of, several
from tenter._arrays.dtypes import DTYPES
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import dtype_name
from tenter._arrays.standard_arrays import namespace
from tenter._execution import executor
from tenter._rules.geometry import is_real, plain
from tenter._specs.spline_maps import blurred
from tenter._standard.numbers import has
from tenter.scipy import check_order, native, of_order

__all__ = ["rescale", "resize"]

# scikit-image's modes, which are NumPy's of `pad`.
MODES = {"constant": "constant", "edge": "replicate", "symmetric": "symmetric", "reflect": "reflect", "wrap": "wrap"}
_SIGMA = "anti_aliasing_sigma"
_NO_BLUR = 1e-15  # SciPy leaves out the Gaussians of smaller deviations


def resize(
    image: Any, output_shape: Sequence[int], order: int | None = None, mode: str = "reflect", cval: float = 0,
    clip: bool = True, preserve_range: bool = False, anti_aliasing: bool | None = None,
    anti_aliasing_sigma: float | Sequence[float] | None = None,
) -> Any:  # fmt: skip
    """Resizes an image by splines, after a Gaussian where it shrinks: `skimage.transform.resize`, faster, and with
    gradients.

    Parameters
    ----------
    image : array
        Real numbers or bools, of any library.
    output_shape : sequence of ints
        The length of each axis. One less than image has: the last axis keeps its length. More: axes of length 1 are
        added behind.
    order : int, optional
        Of the spline, from 0 to 5. None: 1, and 0 for bools, which have no other.
    mode : str, default "reflect"
        What is read outside of the image: "constant", "edge", "symmetric", "reflect" or "wrap", as in `numpy.pad`.
    cval : float, default 0
        The value outside, for "constant".
    clip : bool, default True
        Whether the result is clipped to the range of image.
    preserve_range : bool, default False
        False scales integers so that the largest of their dtype is 1.
    anti_aliasing : bool, optional
        Whether a Gaussian blurs the image before an axis shrinks. None: yes, except for bools, and integers with
        order=0.
    anti_aliasing_sigma : float or sequence of floats, optional
        The deviation of the Gaussian, for all axes or for each. None: (s - 1) / 2 where an axis shrinks by s.

    Returns
    -------
    array
        Of image's library. float32 for floats of 16 and 32 bits, and image's dtype for order=0; else float64, which is
        JAX's float32 unless it has 64 bits.

    Raises
    ------
    TypeError, ValueError
        If an argument is none of these; also for integers with order=0 and anti_aliasing=True, where scikit-image
        truncates after each axis.

    See Also
    --------
    rescale : By factors.
    tenter.resize : Keeps dtypes, and has more modes and boxes.

    Notes
    -----
    Values differ from scikit-image's by rounding errors, and where tenter.scipy.zoom's differ from SciPy's. The range
    of image and the values of clip have gradients, too.

    Examples
    --------
    >>> resize(np.array([[0.0, 1.0], [2.0, 3.0]]), (1, 4), order=1, anti_aliasing=False)
    array([[1.25, 1.25, 1.75, 1.75]])
    >>> resize(np.array([0, 51, 255], np.uint8), (3,))
    array([0. , 0.2, 1. ])
    """
    try:
        x = native(array("image", image))
        lengths = _lengths("output_shape", output_shape)
        if len(lengths) == x.ndim - 1:
            lengths.append(x.shape[-1])
        if len(lengths) < x.ndim:
            refuse(ValueError, "output_shape", f"{x.ndim} lengths, or {x.ndim - 1}", str(len(lengths)))
        if len(lengths) > x.ndim:
            x = executor.of(x).reshape(x, (*x.shape, *[1] * (len(lengths) - x.ndim)))
        sigma = None if anti_aliasing_sigma is None else _numbers(_SIGMA, anti_aliasing_sigma, len(lengths))
        return _resized(x, lengths, order, mode, cval, clip, preserve_range, anti_aliasing, sigma)
    except Refusal as refusal:
        named = {
            "order": order, "mode": mode, "cval": cval, "clip": clip, "preserve_range": preserve_range,
            "anti_aliasing": anti_aliasing, "anti_aliasing_sigma": anti_aliasing_sigma,
        }  # fmt: skip
        raise error(refusal, "skimage.resize", image, output_shape, **named) from None


def rescale(
    image: Any, scale: float | Sequence[float], order: int | None = None, mode: str = "reflect", cval: float = 0,
    clip: bool = True, preserve_range: bool = False, anti_aliasing: bool | None = None,
    anti_aliasing_sigma: float | Sequence[float] | None = None, *, channel_axis: int | None = None,
) -> Any:  # fmt: skip
    """Resizes an image by factors: `skimage.transform.rescale`, faster, and with gradients.

    Parameters
    ----------
    image : array
        Real numbers or bools, of any library.
    scale : float or sequence of floats
        Output / input, for all axes or for each, except for the channels. Lengths are rounded to even, and at least 1.
    order, mode, cval, clip, preserve_range, anti_aliasing, anti_aliasing_sigma
        As for `resize`. Deviations for each axis have that of the channels last.
    channel_axis : int, optional
        The axis of the channels, which keeps its length. None: no axis is one.

    Returns
    -------
    array
        As of `resize`.

    Raises
    ------
    TypeError, ValueError, IndexError
        As `resize`, and if there is no such axis.

    See Also
    --------
    resize : To given lengths.

    Examples
    --------
    >>> rescale(np.zeros((20, 30, 3)), 0.25, channel_axis=-1).shape
    (5, 8, 3)
    """
    try:
        x = native(array("image", image))
        channels = None if channel_axis is None else dim("channel_axis", channel_axis, x.ndim)
        axes = [axis for axis in range(x.ndim) if axis != channels]
        lengths = list(x.shape)
        for axis, factor in zip(axes, _numbers("scale", scale, len(axes))):
            lengths[axis] = max(round(factor * x.shape[axis]), 1)
        sigma = None if anti_aliasing_sigma is None else _numbers(_SIGMA, anti_aliasing_sigma, x.ndim)
        if sigma and channels is not None:
            sigma.insert(channels, sigma.pop())
        return _resized(x, lengths, order, mode, cval, clip, preserve_range, anti_aliasing, sigma)
    except Refusal as refusal:
        named = {
            "order": order, "mode": mode, "cval": cval, "clip": clip, "preserve_range": preserve_range,
            "anti_aliasing": anti_aliasing, "anti_aliasing_sigma": anti_aliasing_sigma, "channel_axis": channel_axis,
        }  # fmt: skip
        raise error(refusal, "skimage.rescale", image, scale, **named) from None


def _lengths(name: str, given: Any) -> list[int]:
    values = several(name, given)
    if values is None or not all(is_real(v) for v in values):
        refuse(TypeError, name, "a length for each axis", describe(given))
    if not all(0 <= v < math.inf and v == int(v) for v in values):
        refuse(ValueError, name, "whole lengths of at least 0", describe(given))
    return [int(v) for v in values]


def _numbers(name: str, given: Any, n: int) -> list[float]:
    """A number for each of n axes, of one for all or for each."""
    values = several(name, given)
    each = [given] * n if values is None else list(values) * n if len(values) == 1 else list(values)
    if not all(is_real(v) for v in each):
        refuse(TypeError, name, "a number, or one for each axis", describe(given))
    if len(each) != n:
        refuse(ValueError, name, f"a number, or {n}, one for each axis", describe(given))
    if not all(0 <= float(plain(v)) < math.inf for v in each):
        refuse(ValueError, name, "finite numbers of at least 0", describe(given))
    return [float(plain(v)) for v in each]


def _resized(
    x: Any, size: list[int], order: Any, mode: Any, cval: Any, clip: Any, preserve_range: Any, anti_aliasing: Any,
    sigma: list[float] | None,
) -> Any:  # fmt: skip
    """sigma: deviations of a Gaussian, if they are given."""
    if not x.ndim:
        line = executor.of(x).reshape(x, (1,))
        made = _resized(line, [1], order, mode, cval, clip, preserve_range, anti_aliasing, sigma)
        return executor.of(x).reshape(made, ())
    name = dtype_name(x)
    is_float = name in DTYPES and DTYPES[name].kind == "f"
    if order is not None:
        check_order(order)
        if name == "bool" and order:
            refuse(ValueError, "order", "0 or None for bools", describe(order))
    _check(x, size, mode, cval)
    flag("clip", clip)
    flag("preserve_range", preserve_range)
    flag("anti_aliasing", anti_aliasing, optional=True)
    shrinks = any(m < n for n, m in zip(x.shape, size))
    copies = not is_float and (name == "bool" or order == 0)
    wide = bool(shrinks and not copies if anti_aliasing is None else anti_aliasing)
    usual = [max(0.0, (n / m - 1) / 2) if m else 0.0 for n, m in zip(x.shape, size)]
    blurs = wide and any(s > _NO_BLUR for s in sigma or usual)
    if copies and (blurs or (wide and name == "bool")):
        why = "scikit-image refuses it" if name == "bool" else "scikit-image truncates after each axis"
        refuse(ValueError, "anti_aliasing", f"False or None for {name} with order=0, as {why}", "True")
    order = int(name != "bool") if order is None else int(order)
    edge, axes = MODES[mode], tuple(range(x.ndim))
    how = {**of_order(order, edge, 0, True), "like": "skimage", "antialias": False}
    if copies:
        return resampling.resize(x, size, axes=axes, **how)
    work = x = _float(x, bool(preserve_range))
    # What lacks cval has 0 outside.
    moved = float(plain(cval)) if mode == "constant" and (order or blurs) else 0.0
    if moved:
        work = work - moved
    if blurs and sigma is None and order:
        how["antialias"] = True
    elif blurs:
        for axis, s in enumerate(sigma or usual):
            if s > _NO_BLUR:
                work = blurred(work.shape[axis], s, edge).apply(work, axis)
    made = resampling.resize(work, size, axes=axes, **how)
    if moved:
        made = made + moved
    if not (clip and (order or blurs) and math.prod(made.shape)):
        return made
    return _clipped(made, x, float(plain(cval)) if mode == "constant" else None)


def _check(x: Any, size: list[int], mode: Any, cval: Any) -> None:
    name = dtype_name(x)
    if name != "bool" and (name not in DTYPES or DTYPES[name].kind == "c"):
        refuse(TypeError, "image", "real numbers or bools", name)
    if any(not n and m for n, m in zip(x.shape, size)):
        refuse(ValueError, "image", "axes of at least 1 to resize", f"shape {tuple(x.shape)}")
    one_of("mode", mode, tuple(MODES))
    if not is_real(cval):
        refuse(TypeError, "cval", "a number", describe(cval))
    if mode == "constant" and not abs(plain(cval)) < math.inf:
        refuse(ValueError, "cval", "a finite number", describe(cval))


# ---- numbers, element by element


def _functions(x: Any) -> Any:
    """The module of x's library that has `minimum`, `where` and the like."""
    package = library.of(x).PACKAGE
    return sys.modules[package] if package in _WITH_DOUBLES else namespace(x)


# Of other libraries some devices have no float64.
_WITH_DOUBLES = ("numpy", "torch", "dask.array")


def _float(x: Any, preserve_range: bool) -> Any:
    """x as floats: scikit-image's `img_as_float`, unless its range is kept."""
    dtype, xp = DTYPES[dtype_name(x)], _functions(x)
    if dtype.kind == "f" and dtype.name not in ("float16", "bfloat16"):
        return x
    is_wide = dtype.kind != "f" and (library.of(x).PACKAGE in _WITH_DOUBLES or has(x, "float64"))
    convert = getattr(x, "to", None) or getattr(x, "astype", None) or partial(xp.astype, x)
    made = convert(xp.float64 if is_wide else xp.float32)
    if dtype.kind == "f" or preserve_range:
        return made
    made = made * (1 / dtype.largest)
    return xp.maximum(made, xp.full_like(made, -1)) if dtype.kind == "i" else made


def _clipped(y: Any, x: Any, cval: float | None) -> Any:
    """y within the range of x, or of x and cval if it is in the range of y."""
    xp = _functions(x)
    least, most = _range(x)
    if cval is not None:
        lower, upper = _range(y)
        is_met = (lower <= cval) & (upper >= cval)
        least = xp.where(is_met & (least > cval), xp.full_like(least, cval), least)
        most = xp.where(is_met & (most < cval), xp.full_like(most, cval), most)
    if isinstance(y, np.ndarray):
        return np.clip(y, least, most, out=y)
    return xp.maximum(xp.minimum(y, most), least)


def _range(x: Any) -> tuple[Any, Any]:
    """The least and the largest number except for NaN."""
    if isinstance(x, np.ndarray):
        return np.fmin.reduce(x, axis=None), np.fmax.reduce(x, axis=None)
    xp = _functions(x)
    nan, none = xp.isnan(x), xp.full_like(x, math.inf)
    return xp.min(xp.where(nan, none, x)), xp.max(xp.where(nan, -none, x))
