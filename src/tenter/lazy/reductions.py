"""Sums, means, extremes, any and all, on the inputs of the maps.

Along a stretched dim, a sum weights each input by the sum of its column, which is its count for copies. The largest of
copies is the largest input that is copied at least once. Other dims are reduced first, as by an elementwise function:
always past copies, and past sums if the reduction is linear.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tenter._arrays.dtypes import is_numeric
from tenter._arrays.library import dtype_name, of
from tenter._arrays.types import Array
from tenter.lazy.rows import column_sums, copies
from tenter.lazy.stretched import Stretched, applied, beside, cast, is_float, stretched, taken

SUMS = frozenset(("sum", "mean"))
LARGEST = {"max": True, "amax": True, "min": False, "amin": False}
TRUTH = frozenset(("any", "all"))
# Arguments after the array, in order. PyTorch's max and min of one dim are left out, as they also return positions.
PARAMETERS = {
    ("numpy", "sums"): ("axis", "dtype", "out", "keepdims"),
    ("numpy", "others"): ("axis", "out", "keepdims"),
    ("torch", "sums"): ("axis", "keepdims"),
    ("torch", "others"): ("axis", "keepdims"),
}
ALIASES = {"dim": "axis", "keepdim": "keepdims"}


def is_reduction(name: str) -> bool:
    return name in SUMS or name in LARGEST or name in TRUTH


def reduction(
    name: str, f: Callable[..., Any], s: Stretched, args: Sequence[Any], kwargs: dict[str, Any], notes: list[str]
) -> Stretched | None:
    """Returns the reduced array. None if it must be materialized: for empty arrays, dtypes without sums, and rare
    arguments."""
    package = of(s.base).PACKAGE
    parameters = PARAMETERS[package, "sums" if name in SUMS else "others"]
    how = dict(zip(parameters, args)) | {ALIASES.get(word, word): value for word, value in kwargs.items()}
    axis = how.get("axis")
    if len(args) > len(parameters) or how.keys() - {"axis", "dtype", "keepdims"} or 0 in s.shape or axis == ():
        return None
    if package == "torch" and name in ("max", "min") and axis is not None:
        return None
    tried = f(s.base[(slice(0, 1),) * s.base.ndim], *args, **kwargs)  # gives the library's dtype or its error
    dims = list(range(s.base.ndim))
    if axis is not None:
        dims = sorted({int(d) % s.base.ndim for d in (axis if isinstance(axis, (tuple, list)) else (axis,))})
    keep = bool(how.get("keepdims", False))
    if name not in SUMS:
        notes.append(f"reads {math.prod(s.base.shape):,} in place of {s.size:,}")
        return _extreme(name, s, dims, keep, notes)
    like = np.asarray(tried) if package == "numpy" else tried
    if not (is_numeric(dtype_name(like)) and (is_numeric(dtype_name(s.base)) or dtype_name(s.base) == "bool")):
        return None
    if not is_float(like) and name == "mean":
        return None
    notes.append(f"reads {math.prod(s.base.shape):,} in place of {s.size:,}")
    return _sum(s, dims, keep, like, name == "mean", notes)


def _sum(s: Stretched, dims: list[int], keep: bool, like: Any, mean: bool, notes: list[str]) -> Stretched:
    """Returns sums in the dtype of `like`. Floats are summed in single precision at least, integers modulo 2^bits."""
    if not (is_float(s.base) and is_float(like)):
        s = _without_weights(s, notes, "interpolated integers are rounded before they are summed")
    n_out = math.prod(s.shape[d] for d in dims)
    maps = _left(s, dims, keep)
    factor, weights = 1, []
    for d in dims:
        sums = column_sums(m) if (m := s.maps[d]) is not None else 1
        if isinstance(sums, int):
            factor *= sums
            continue
        if not sums.all():  # an input that no output reads may be infinite
            read = np.flatnonzero(sums)
            s, sums = Stretched(taken(s, d, read), s.maps), sums[read]
        weights.append(sums.reshape([-1 if k == d else 1 for k in range(s.base.ndim)]))
    work = work_dtype(like)
    total = cast(s.base, work)
    for column in weights:
        total = total * cast(beside(column, s.base), work)
    total = total.sum(axis=tuple(dims), keepdims=keep, dtype=work)
    if factor != 1:
        of_all = np.asarray(float(factor)) if is_float(like) else np.asarray(factor % 2**64, np.uint64).astype(np.int64)
        # NumPy's scalars warn on overflow, its arrays do not.
        total = (np.asarray(total) if isinstance(s.base, np.ndarray) else total) * cast(beside(of_all, s.base), work)
    return stretched(cast(total / n_out if mean else total, like.dtype), maps)


def _extreme(name: str, s: Stretched, dims: list[int], keep: bool, notes: list[str]) -> Stretched:
    s = _without_weights(s, notes, f"{name} is not linear, and the map interpolates")
    maps = _left(s, dims, keep)
    counts: dict[int, Array] = {}
    for d in dims:
        sums = column_sums(m) if (m := s.maps[d]) is not None else 1
        if not isinstance(sums, int):
            copied = np.flatnonzero(sums)
            counts[d] = sums[copied].reshape([-1 if k == d else 1 for k in range(s.base.ndim)])
            if len(copied) < len(sums):
                s = Stretched(taken(s, d, copied), s.maps)
    if isinstance(s.base, np.ndarray):
        return stretched(getattr(np, name)(s.base, axis=tuple(dims), keepdims=keep), maps)
    from tenter.lazy import tensors

    weights = [beside(column, s.base) for column in counts.values()]
    return stretched(tensors.extreme(name, s.base, tuple(dims), keep, weights), maps)


def _without_weights(s: Stretched, notes: list[str], reason: str) -> Stretched:
    """Applies the maps that sum."""
    dims = [d for d in s.stretched_dims if not copies(s.maps[d])]
    notes.extend(f"dim {d} is materialized: {reason}" for d in dims)
    return applied(s, dims)


def _left(s: Stretched, dims: list[int], keep: bool) -> list[Any]:
    """Returns the maps of the dims that a reduction leaves."""
    return [None if d in dims else m for d, m in enumerate(s.maps) if keep or d not in dims]


def work_dtype(like: Any) -> Any:
    """Returns the dtype in which sums are taken."""
    if not is_float(like):
        return like.dtype
    if isinstance(like, np.ndarray):
        return np.result_type(like.dtype, np.float32)
    from tenter.lazy import tensors

    return tensors.at_least_single(like.dtype)
