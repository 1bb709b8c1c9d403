"""Dtypes by the standard: in which sums are taken, and the way back."""

from typing import Any

from tenter._arrays.dtypes import DTYPES
from tenter._arrays.standard_arrays import dtype_name, namespace


def has(x: Any, name: str) -> bool:
    """True if x's device has a dtype."""
    xp = namespace(x)
    info = getattr(xp, "__array_namespace_info__", None)
    if info is None:
        return hasattr(xp, name)
    return name in info().dtypes(device=device_of(x), kind=None)


def device_of(x: Any) -> Any:
    """None for arrays that have none, as those that are traced."""
    return getattr(x, "device", None)


def summed_in(x: Any, weighted: bool) -> Any:
    """The dtype in which sums of x's elements, or of their parts, are taken; weighted: by fractions."""
    xp, of = namespace(x), DTYPES.get(dtype_name(x))
    if not weighted and (of is None or of.kind in "iu"):  # of bool too
        return xp.int64 if has(x, "int64") else xp.int32
    assert of is not None
    wide = of.sums != "float32" and has(x, "float64")
    return xp.float64 if wide else xp.float32


def is_complex(x: Any) -> bool:
    of = DTYPES.get(dtype_name(x))
    return of is not None and of.kind == "c"


def joined(real: Any, imaginary: Any) -> Any:
    """Complex numbers of their parts."""
    return real + imaginary * 1j


def into(y: Any, like: Any) -> Any:
    """Sums in like's dtype; integers are rounded half to even and saturated, whole ones of 64 bits wrap."""
    xp, of = namespace(y), DTYPES.get(dtype_name(like))
    if y.dtype == like.dtype:
        return y
    if of is None or of.kind not in "iu":
        return xp.astype(y, like.dtype)
    info = xp.iinfo(like.dtype)
    if xp.isdtype(y.dtype, "integral"):
        if info.bits >= xp.iinfo(y.dtype).bits:
            return xp.astype(y, like.dtype)
        return xp.astype(xp.clip(y, int(info.min), int(info.max)), like.dtype)
    y = xp.round(y)
    if info.bits <= 16:  # whose bounds any float has
        y = xp.where(xp.isnan(y), xp.zeros_like(y), y)
        return xp.astype(xp.clip(y, float(info.min), float(info.max)), like.dtype)
    over, under = y >= float(info.max), y <= float(info.min)
    inside = xp.astype(xp.where(over | under | xp.isnan(y), xp.zeros_like(y), y), like.dtype)
    most, least = (xp.full_like(inside, int(bound)) for bound in (info.max, info.min))
    return xp.where(over, most, xp.where(under, least, inside))
