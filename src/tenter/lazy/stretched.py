"""An array with maps that are not applied yet, as a plain value, and the functions that apply them."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.dtypes import DTYPES
from tenter._arrays.errors import refuse
from tenter._arrays.library import dtype_name, is_array, of
from tenter._arrays.types import Array
from tenter._execution import executor, into
from tenter._plans.plan import CallPlan, plan_part
from tenter._rules.rounding import ONCE, by_axis, of_dtype
from tenter.lazy.rows import copies, whole_of
from tenter.maps import AxisMap
from tenter.maps._kinds import changes

Maps = tuple[AxisMap | None, ...]


class Summing(NamedTuple):
    """How the operation that made the maps sums along several axes.

    rounding: of 8-bit integers
    by_memory: the axes are summed in the order of the dims in memory
    """

    rounding: str = ONCE
    by_memory: bool = False


USUAL = Summing()


class Stretched(NamedTuple):
    """An array with a map for each dim.

    base: an array or an ordinary tensor
    maps: one for each dim of base; None for dims that do not change
    """

    base: Any
    maps: Maps
    summing: Summing = USUAL

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple([n if m is None else m.n_out for n, m in zip(self.base.shape, self.maps)])

    @property
    def stretched_dims(self) -> list[int]:
        return [d for d, m in enumerate(self.maps) if m is not None]

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def stretched(base: Any, maps: Iterable[AxisMap | None], summing: Summing = USUAL) -> Stretched:
    """Returns a `Stretched` without maps that change nothing."""
    return Stretched(base, tuple([m if changes(m) else None for m in maps]), summing)


def whole(x: Any) -> Stretched:
    """Returns an array as a `Stretched` without maps."""
    return Stretched(x, (None,) * x.ndim)


def applied(s: Stretched, dims: Iterable[int]) -> Stretched:
    """Applies the maps of some dims. If values are rounded, all of their dims are applied at once, as in `resize`."""
    which = {d for d in dims if s.maps[d] is not None}
    if not which:
        return s
    if rounds(s.base) and any(not copies(s.maps[d]) for d in which):
        which |= {d for d in s.stretched_dims if not copies(s.maps[d])}
    if found := of(s.base).unservable(s.base):
        refuse(TypeError, "x", "an array or a plain tensor to apply maps to", found)
    x = of(s.base).resolve(s.base)
    made = executor.of(x).execute(x, _plan(x, s, sorted(which)))
    return Stretched(made, tuple([None if d in which else m for d, m in enumerate(s.maps)]), s.summing)


def materialized(s: Stretched) -> Any:
    """Returns the whole array, as a new one."""
    return fresh(applied(s, s.stretched_dims).base, s.base)


def written(s: Stretched, out: Any) -> Any:
    """Writes the whole array to `out` and returns it."""
    if found := of(s.base).unservable(s.base):
        refuse(TypeError, "s", "a lazy array of an array or a plain tensor", found)
    x = of(s.base).resolve(s.base)
    into.check(out, x, s.shape)
    return into.write(x, _plan(x, s, s.stretched_dims), out)


def _plan(x: Any, s: Stretched, dims: list[int]) -> CallPlan:
    """Returns the plan that applies maps to x, bit-identical to the operation, even if the array was sliced before."""
    maps: Any = tuple([(d, s.maps[d]) for d in dims])
    wholes = {d: whole_of(m) for d, m in maps} if any(whole_of(m) is not m for _, m in maps) else {}
    return plan_part(x, maps, wholes, of_dtype(s.summing.rounding, dtype_name(x)), s.summing.by_memory)


def stand_in(s: Stretched) -> Any:
    """Returns an array of the same shape and dtype with one element in memory. It is for checks, and for the library's
    errors."""
    return _one_element(s.base, s.shape)


def _one_element(like: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(like, np.ndarray):
        return np.broadcast_to(np.zeros((), like.dtype), shape)
    return like.new_zeros(()).expand(shape)


def rounds(x: Any) -> bool:
    """True if weighted sums of x's elements are rounded more often than their plain sums."""
    dtype = DTYPES.get(dtype_name(x))
    return dtype is None or dtype.narrow


def is_float(x: Any) -> bool:
    dtype = DTYPES.get(dtype_name(x))
    return dtype is not None and dtype.kind in "fc"


def fresh(y: Any, x: Any) -> Any:
    """Returns y in memory that x does not share. A result that is not lazy may be written to, and x must not change."""
    if isinstance(y, np.ndarray) and isinstance(x, np.ndarray):
        return y.copy() if np.may_share_memory(y, x) else y
    if not is_array(y) or isinstance(y, np.ndarray) or of(y).traced(y) or of(x).traced(x):
        return y
    return y.clone() if y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() else y


def taken(s: Stretched, dim: int, rows: Any) -> Any:
    """Returns rows of base along a dim. rows: a slice, or positions in a NumPy array."""
    return s.base[(slice(None),) * dim + (rows if isinstance(rows, slice) else beside(rows, s.base),)]


def beside(values: Array, x: Any) -> Any:
    """Returns a NumPy array as an array of x's library, on x's device."""
    return values if isinstance(x, np.ndarray) else of(x).from_numpy(values, x)


def cast(x: Any, dtype: Any) -> Any:
    """Returns x in a dtype of its library."""
    return x.to(dtype) if hasattr(x, "to") else x.astype(dtype, copy=False)


def like_tuple(results: Any, made: Iterable[Any]) -> Any:
    """Returns values in a tuple, list or named tuple of the same kind as f's results."""
    kind = type(results)
    return kind._make(made) if hasattr(kind, "_make") else kind(made)


def moved(f: Any, s: Stretched, args: Any, kwargs: Any) -> Stretched:
    """Applies a function that reorders dims or adds dims of length 1."""
    moved_one = f(_one_element(s.base, tuple(range(2, 2 + len(s.maps)))), *args, **kwargs)
    if by_axis(s.summing.rounding):  # the order of the axes matters
        s = applied(s, s.stretched_dims)
    maps = [None if n == 1 else s.maps[n - 2] for n in moved_one.shape]
    return Stretched(f(s.base, *args, **kwargs), tuple(maps), s.summing)
