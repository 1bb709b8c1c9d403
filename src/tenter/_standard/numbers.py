"""The dtypes in which arrays of the Array API are summed, and the conversion back."""

from typing import Any

import numpy as np

from tenter._arrays.dtypes import DTYPES
from tenter._arrays.standard_arrays import dtype_name, from_numpy, made_beside, namespace


def has(x: Any, name: str) -> bool:
    """True if x's device has a dtype."""
    xp = namespace(x)
    info = getattr(xp, "__array_namespace_info__", None)
    if info is None:
        return hasattr(xp, name)
    return name in made_beside(x, info().dtypes, kind=None)


def summed_in(x: Any, weighted: bool) -> Any:
    """Returns the dtype in which x's elements (or their real and imaginary parts) are summed. weighted: with fractions
    as weights."""
    xp, of = namespace(x), DTYPES.get(dtype_name(x))
    if not weighted and (of is None or of.kind in "iu"):  # bool too
        return xp.int64 if has(x, "int64") else xp.int32
    assert of is not None
    wide = of.sums != "float32" and has(x, "float64")
    return xp.float64 if wide else xp.float32


def is_complex(x: Any) -> bool:
    of = DTYPES.get(dtype_name(x))
    return of is not None and of.kind == "c"


def joined(real: Any, imaginary: Any) -> Any:
    """Returns complex numbers from their parts."""
    return real + imaginary * 1j


def into(y: Any, like: Any) -> Any:
    """Returns sums in the dtype of `like`. Integers are rounded half to even and saturated; unweighted 64-bit sums
    wrap."""
    xp, of = namespace(y), DTYPES.get(dtype_name(like))
    if y.dtype == like.dtype:
        return y
    if of is None or of.kind not in "iu":
        return xp.astype(y, like.dtype)
    info = np.iinfo(of.name)  # MLX's has no bits
    if xp.isdtype(y.dtype, "integral"):
        if info.bits >= np.iinfo(dtype_name(y)).bits:
            return xp.astype(y, like.dtype)
        return xp.astype(xp.clip(y, int(info.min), int(info.max)), like.dtype)
    y = xp.round(y)
    if info.bits <= 16:  # every float type can represent their bounds
        y = xp.where(xp.isnan(y), xp.zeros_like(y), y)
        return xp.astype(xp.clip(y, float(info.min), float(info.max)), like.dtype)
    over, under = y >= float(info.max), y <= float(info.min)
    inside = xp.astype(xp.where(over | under | xp.isnan(y), xp.zeros_like(y), y), like.dtype)
    most, least = (from_numpy(np.asarray(bound, of.name), y) for bound in (info.max, info.min))
    return xp.where(over, most, xp.where(under, least, inside))
