"""The executor of arrays that follow the Array API standard."""

from typing import Any, NoReturn

import numpy as np

from tenter._arrays import limits
from tenter._arrays.library import dtype_name
from tenter._arrays.standard_arrays import (
    itemsize,
    made_beside,
    namespace,
    on_host,
)
from tenter._arrays.types import Array
from tenter._plans.plan import CallPlan
from tenter._rules.filters import NOTHING
from tenter._specs import counts as counts_spec
from tenter._specs.repeat import RepeatCounts
from tenter._specs.spec import Spec
from tenter._standard import numbers
from tenter._standard.along import table
from tenter._standard.apply import applied


def dispatched(x: Any, spec: Spec) -> Any:
    check_memory(spec.shape_out(tuple(x.shape)), x)
    name = dtype_name(x)
    return fresh(applied(x, spec.maps(tuple(x.shape), name, False), spec.rounding_of(name)), x)


def traced_value(x: Any, spec: Spec, value: Any) -> None:
    return None


traced_labels = traced_value


def fresh(y: Any, x: Any) -> Any:
    """Returns y in memory that x does not share. If only lengths of 1 were stretched, y may be a view of x."""
    may_be_view = y.ndim == x.ndim and all(n in (1, m) for n, m in zip(x.shape, y.shape))
    return made_beside(x, namespace(x).asarray, y, copy=True) if may_be_view else y


def check_memory(shape: tuple[int, ...], x: Any) -> None:
    if on_host(x):
        limits.memory(shape, itemsize(x))
    else:
        limits.addressable("result", shape, itemsize(x))


def traced_counts(x: Any, repeats: Any, dim: int, output_size: Any) -> RepeatCounts:
    n = x.shape[dim]
    found = counts_spec.checked(repeats, n, dim, output_size)
    offsets = np.arange(n + 1) * found.total(1) if found.offsets is None else found.offsets
    return RepeatCounts(offsets, dim, found.total(n))


def traced_positions(repeats: Any, dim: Any, output_size: Any) -> Any:
    counts_spec.check_alone("repeats", repeats.ndim, dim)
    offsets = counts_spec.offsets("repeats", counts_spec.count_array("repeats", repeats))
    counts_spec.check_total(int(offsets[-1]), output_size)
    return dispatched(positions(repeats), RepeatCounts(offsets, 0, int(offsets[-1])))


def positions(repeats: Any) -> Any:
    int32 = dtype_name(repeats) == "int32" or not numbers.has(repeats, "int64")
    return table(repeats, np.arange(repeats.shape[0], dtype=np.int32 if int32 else np.int64))


def reshape(x: Any, shape: tuple[int, ...]) -> Any:
    return namespace(x).reshape(x, shape)


def flat(x: Any) -> Any:
    return reshape(x, (-1,))


def expand(x: Any, shape: tuple[int, ...]) -> Any:
    return namespace(x).broadcast_to(x, shape)


def write(x: Any, plan: CallPlan, out: Any) -> bool:
    return False


def disjoint(x: Any, out: Any) -> bool:
    return False


def wrote(out: Any) -> None:
    pass


def copy_into(out: Any, result: Any) -> None:
    out[...] = result


def flip(x: Any, axes: tuple[int, ...]) -> Any:
    return namespace(x).flip(x, axis=axes)


def ones(x: Any, n: int) -> Any:
    wide = np.float64 if numbers.has(x, "float64") else np.float32
    return table(x, np.ones(n, wide))


def filled(x: Any, inside: Any, value: Any) -> Any:
    xp = namespace(x)
    return xp.where(inside, x, xp.full_like(x, value))


def shifted(x: Any, outside: Any, value: Any, like: Any) -> Any:
    xp = namespace(x)
    by = xp.where(xp.abs(outside) > NOTHING, outside, xp.zeros_like(outside)) * value
    return numbers.into(xp.astype(x + by, x.dtype), like)


def widened(x: Any) -> Any:
    return namespace(x).astype(x, numbers.summed_in(x, True))


def rounded(x: Any, like: Any) -> Any:
    return numbers.into(x, like)


def cast(x: Any, dtype: str) -> Any:
    xp = namespace(x)
    return xp.astype(x, getattr(xp, dtype if numbers.has(x, dtype) else "float32"))


def zeroed(x: Any, valid: Any) -> Any:
    return filled(x, valid, 0)


def over(x: Any, y: Any) -> Any:
    return x / y


def run(x: Any, plan: CallPlan) -> NoReturn:
    raise AssertionError("arrays by the Array API have no plans")


run_read = execute = run


def writable(out: Any) -> None:
    return None


def cached(call: str, x: Any, *args: Any) -> None:
    return None


def place_offsets(offsets: Array, x: Any) -> Array:
    return offsets


def expand_fast(x: Any, sizes: tuple[Any, ...]) -> None:
    return None
