"""SciPy's own dialect: `scipy.ndimage.zoom`, `spline_filter` and `spline_filter1d`, argument for argument.

Arrays of every library that tenter takes go in, and have gradients where these have them. SciPy is not imported.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tenter import resampling
from tenter._arrays.arguments import MISSING, array, describe, dim, error, flag, one_of
from tenter._arrays.dtypes import DTYPES, is_numeric
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import dtype_name
from tenter._rules import splines
from tenter._rules.filters import Filter
from tenter._rules.geometry import is_real, plain
from tenter._specs.fill_value import holds
from tenter._specs.spline_maps import coefficients

__all__ = ["spline_filter", "spline_filter1d", "zoom"]

# SciPy's modes. Its wrap repeats the axis without its last sample, and differs from mirror outside of the axis only.
MODES = {"mirror": "reflect", "grid-mirror": "symmetric", "reflect": "symmetric", "grid-wrap": "wrap",
         "nearest": "replicate", "constant": "extrapolate", "grid-constant": "constant", "wrap": "reflect"}  # fmt: skip
# The edges by which SciPy computes the coefficients of a whole array.
_FILTERED = dict.fromkeys(MODES, "reflect") | {"reflect": "symmetric", "grid-mirror": "symmetric",
             "nearest": "symmetric", "grid-wrap": "wrap"}  # fmt: skip
# Splines of coefficients: the values of B-splines.
_KERNELS = {n: Filter(partial(splines.kernel, n), (n + 1) / 2, True) for n in splines.ORDERS.values()}


def zoom(
    input: Any, zoom: float | Sequence[float], output: Any = None, order: int = 3, mode: str = "constant",
    cval: float = 0.0, prefilter: bool = True, *, grid_mode: bool = False,
) -> Any:  # fmt: skip
    """Resizes all axes by splines: `scipy.ndimage.zoom`, faster, and with gradients.

    Parameters
    ----------
    input : array
        Numbers, of any library.
    zoom : float or sequence of floats
        Output / input, for all axes or for each. Lengths are rounded to even.
    output : dtype or numpy.ndarray, optional
        The dtype of the result, or where it goes; for arrays of NumPy. None: input's dtype.
    order : int, default 3
        Of the spline, from 0 to 5.
    mode : str, default "constant"
        What is read outside of the axes: "mirror", "reflect" (or "grid-mirror"), "nearest", "constant",
        "grid-constant", "wrap" or "grid-wrap".
    cval : float, default 0.0
        The value outside, for "constant" and "grid-constant".
    prefilter : bool, default True
        False if input holds coefficients, as `spline_filter` makes them.
    grid_mode : bool, default False
        True aligns the edges of pixels, False the centers of the corner pixels.

    Returns
    -------
    array
        Of input's library.

    Raises
    ------
    TypeError, ValueError
        If an argument is none of these; also for mode="wrap" with grid_mode=True, and for modes "nearest" and
        "constant" with grid_mode=True and prefilter=False: tenter has no such positions.

    See Also
    --------
    tenter.resize : Has more modes, sizes and boxes.

    Notes
    -----
    Values differ from SciPy's by rounding errors, and in five cases: a last row is never `cval`, or the first row for
    "wrap", because of a rounding error of its position; integers halfway between two are rounded to the even one; an
    axis of few samples with mode="reflect" gets exact coefficients; complex numbers have a grid_mode; an infinity or
    NaN spoils some 25 samples around it, not the whole axis.

    Examples
    --------
    >>> zoom(np.array([0.0, 1.0, 0.0]), 2, order=1)
    array([0. , 0.4, 0.8, 0.8, 0.4, 0. ])
    """
    try:
        x = native(array("input", input))
        _check(x, order, 0, mode)
        flag("prefilter", prefilter)
        flag("grid_mode", grid_mode)
        size = _size(x, zoom)
        how = _how(order, mode, cval, bool(prefilter) or order < 2, bool(grid_mode))
        if "value" in how and order > 1 and DTYPES[dtype_name(x)].kind in "iu" and is_real(cval):
            how["value"] = int(cval)  # SciPy pads integers by integers
            if not holds(dtype_name(x), how["value"]):
                refuse(ValueError, "cval", f"a value of {dtype_name(x)}", describe(cval))
        work, out, dtype = _output(x, output, size, how.get("value", 0))
    except Refusal as refusal:
        named = {"mode": mode, "cval": cval, "prefilter": prefilter, "grid_mode": grid_mode}
        raise error(refusal, "scipy.zoom", input, zoom, output, order, **named) from None
    axes = tuple(range(x.ndim))
    return _into(resampling.resize(work, size, axes=axes, antialias=False, **how) if axes else work, out, dtype)


def spline_filter(input: Any, order: int = 3, output: Any = np.float64, mode: str = "mirror") -> Any:
    """The coefficients of a spline through all samples: `scipy.ndimage.spline_filter`, with gradients.

    Parameters
    ----------
    input : array
        Numbers, of any library.
    order : int, default 3
        Of the spline, from 2 to 5.
    output : dtype or numpy.ndarray, default float64
        The dtype of the result, or where it goes. Other libraries than NumPy have their own dtype: float64 stands for
        input's dtype there.
    mode : str, default "mirror"
        What continues the axes: a mode of `zoom`.

    Returns
    -------
    array
        Of input's library and shape.

    Raises
    ------
    TypeError, ValueError
        If an argument is none of these.

    See Also
    --------
    zoom : Takes coefficients with prefilter=False.

    Examples
    --------
    >>> spline_filter(np.array([0.0, 1.0, 0.0])).round(2)
    array([-1.,  2., -1.])
    """
    return _filtered("spline_filter", 2, input, order, MISSING, output, mode)


def spline_filter1d(
    input: Any, order: int = 3, axis: int = -1, output: Any = np.float64, mode: str = "mirror"
) -> Any:  # fmt: skip
    """The coefficients of splines along one axis: `scipy.ndimage.spline_filter1d`, with gradients.

    Parameters
    ----------
    input : array
        Numbers, of any library.
    order : int, default 3
        Of the spline, from 0 to 5. Orders 0 and 1 have the samples as coefficients.
    axis : int, default -1
        The axis.
    output, mode
        As for `spline_filter`.

    Returns
    -------
    array
        Of input's library and shape.

    Raises
    ------
    TypeError, ValueError, IndexError
        If an argument is none of these.

    See Also
    --------
    spline_filter : Along all axes.

    Examples
    --------
    >>> spline_filter1d(np.array([0.0, 1.0, 0.0])).round(2)
    array([-1.,  2., -1.])
    """
    return _filtered("spline_filter1d", 0, input, order, axis, output, mode)


def _check(x: Any, order: Any, least: int, mode: Any) -> None:
    check_order(order, least)
    one_of("mode", mode, tuple(MODES))
    if not is_numeric(name := dtype_name(x)):
        refuse(TypeError, "input", "numbers", name)


def check_order(order: Any, least: int = 0) -> None:
    if not isinstance(order, (int, np.integer)) or isinstance(order, bool) or not least <= order <= 5:
        refuse(ValueError, "order", f"an int from {least} to 5", describe(order))


def native(x: Any) -> Any:
    """x in the machine's order of bytes, which SciPy's results have."""
    return x.astype(x.dtype.newbyteorder("="), copy=False) if isinstance(x, np.ndarray) else x


def _size(x: Any, factors: Any) -> tuple[int, ...]:
    several = isinstance(factors, (tuple, list, np.ndarray))
    each = list(factors) if several else [factors] * x.ndim
    if not all(is_real(f) for f in each) or not (several or is_real(factors)):
        refuse(TypeError, "zoom", "a number, or one for each axis", describe(factors))
    if len(each) != x.ndim:
        refuse(ValueError, "zoom", f"{x.ndim} numbers, one for each axis", str(len(each)))
    if not all(0 <= float(plain(f)) < math.inf for f in each):
        refuse(ValueError, "zoom", "finite numbers of at least 0", describe(factors))
    return tuple(round(n * float(plain(f))) for n, f in zip(x.shape, each))


def _how(order: int, mode: str, cval: Any, filtered: bool, grid_mode: bool) -> dict[str, Any]:
    """The arguments of `resize`."""
    if grid_mode and mode == "wrap":
        refuse(ValueError, "mode", "'grid-wrap' with grid_mode=True", "'wrap', which leaves the last sample out")
    if grid_mode and not filtered and mode in ("nearest", "constant"):
        refuse(ValueError, "mode", "another with grid_mode=True and prefilter=False", describe(mode))
    edge = MODES[mode]
    if edge == "extrapolate" and not grid_mode:  # all positions are inside of the axis
        edge = "reflect"
    how = of_order(order, edge, cval, grid_mode)
    return how if filtered else {**how, "mode": _KERNELS[order], "like": None}


def of_order(order: int, edge: str, value: Any, centered: bool) -> dict[str, Any]:
    """The arguments of `resize` for a spline of SciPy's. centered: the edges of pixels are aligned."""
    names = {0: "nearest-exact" if centered else "nearest", 1: "linear"}
    how: dict[str, Any] = {"mode": names.get(order, f"spline{order}"), "like": "scipy", "edge": edge}
    if order:
        how["align"] = "half_pixel" if centered else "align_corners"
    return {**how, "value": value} if edge in ("constant", "extrapolate") else how


def _output(x: Any, output: Any, size: tuple[int, ...], value: Any = 0) -> tuple[Any, Any, Any]:
    """The array to resize, where the result goes, and its dtype if it is another. value: what is outside."""
    is_held = not is_real(value) or holds(dtype_name(x), value)
    if output is None and is_held:
        return x, None, None
    if not isinstance(x, np.ndarray) and not is_held:
        refuse(ValueError, "cval", f"a value of {dtype_name(x)}", describe(value))
    if not isinstance(x, np.ndarray):
        refuse(TypeError, "output", "None for arrays of other libraries than NumPy", describe(output))
    out = output if isinstance(output, np.ndarray) else None
    if out is not None and out.shape != size:
        refuse(ValueError, "output", f"an array of shape {size}", f"shape {out.shape}")
    try:
        dtype = x.dtype if output is None else np.dtype(output.dtype if out is not None else output)
    except TypeError:
        refuse(TypeError, "output", "a dtype, or an array", describe(output))
    if dtype.name not in DTYPES:
        refuse(TypeError, "output", "a dtype of numbers", dtype.name)
    if x.dtype.kind == "c" and dtype.kind != "c":
        refuse(ValueError, "output", "a complex dtype for complex input", dtype.name)
    if dtype == x.dtype and is_held:
        return x, out, None
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64), out, dtype


def _into(made: Any, out: Any, dtype: Any) -> Any:
    if dtype is not None and dtype.kind in "iu":
        limits = np.iinfo(dtype)
        made = np.clip(np.rint(made), limits.min, limits.max)
    if out is not None:
        np.copyto(out, made, casting="unsafe")
        return out
    return made if dtype is None else made.astype(dtype)


def _filtered(call: str, least: int, input: Any, order: Any, axis: Any, output: Any, mode: Any) -> Any:
    """The coefficients along an axis, or along all if none is given. least: of the orders that the call takes."""
    try:
        x = native(array("input", input))
        _check(x, order, least, mode)
        axes = range(x.ndim) if axis is MISSING else [dim("axis", axis, x.ndim)]
        work, out, dtype = x, None, None
        if isinstance(x, np.ndarray):
            is_complex = x.dtype.kind == "c" and output is np.float64
            work, out, dtype = _output(x, np.complex128 if is_complex else output, tuple(x.shape))
        elif output is not np.float64:
            refuse(TypeError, "output", "the default for arrays of other libraries than NumPy", describe(output))
    except Refusal as refusal:
        raise error(refusal, f"scipy.{call}", input, order, axis, output, mode) from None
    for axis in axes if order > 1 else ():
        if (n := work.shape[axis]) > 1:
            work = coefficients(int(order), n, _FILTERED[mode]).apply(work, axis)
    made = _into(work, out, dtype)
    return made.copy() if made is x and isinstance(x, np.ndarray) else made
