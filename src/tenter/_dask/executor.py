"""Dask's executor. Calls add tasks to the graph. The tasks make chunks by the kernels for NumPy arrays."""

import math
import uuid
from collections.abc import Iterable
from typing import Any, NoReturn

import dask.array as da
import numpy as np
from dask.base import tokenize

from tenter._arrays import limits
from tenter._dask.graph import lazy
from tenter._execution import numpy_executor
from tenter._parts import work
from tenter._specs import counts as counts_spec
from tenter._specs.applied import Applied
from tenter._specs.repeat import RepeatCounts, every
from tenter._specs.resize import Resize
from tenter._specs.spec import Spec
from tenter._standard.executor import (
    cached as cached,
    disjoint as disjoint,
    execute as execute,
    expand_fast as expand_fast,
    place_offsets as place_offsets,
    run as run,
    run_read as run_read,
    writable as writable,
    write as write,
    wrote as wrote,
)
from tenter.maps import Copy


def dispatched(x: Any, spec: Spec) -> Any:
    _check_memory(x, spec)
    return lazy(x, work.of_call(spec, x.shape, x.dtype), tokenize(x.name, *_named(spec)))


def traced_value(x: Any, spec: Resize, value: Any) -> Any:
    _check_memory(x, spec)
    return lazy(x, work.of_value(spec, x.shape, np.empty(0, x.dtype), value), tokenize(x.name, *_named(spec), value))


def traced_labels(x: Any, spec: Resize, outside: int | None) -> Any:
    _check_memory(x, spec)
    name = tokenize(x.name, "labels", *_named(spec), outside)
    return lazy(x, work.of_labels(spec, x.shape, x.dtype, outside), name)


def _check_memory(x: Any, spec: Spec) -> None:
    """Checks the result's size. It need not fit in memory."""
    limits.addressable("result", spec.shape_out(x.shape), x.dtype.itemsize)


def _named(spec: Spec) -> tuple[Any, ...]:
    """Returns what the names of a call's tasks depend on."""
    if not isinstance(spec, Applied):
        return type(spec).__name__, *spec  # type: ignore[misc]  # a tuple
    m = spec.map
    by_rule = getattr(m, "_is_computed", False) or (isinstance(m, Copy) and m._core is not None)
    return "Applied", spec.axis, uuid.uuid4().hex if by_rule else m.__reduce__()  # avoids making tables only for a name


def traced_counts(x: Any, repeats: Any, dim: int, output_size: Any) -> Spec:
    """Returns the specification for counts. They decide the result's length, so counts in a Dask array are computed
    now."""
    n = x.shape[dim]
    found = counts_spec.checked(repeats, n, dim, output_size)
    if found.offsets is None:
        return every(x.ndim, dim, found.total(1))
    return RepeatCounts(found.offsets, dim, found.total(n))


def traced_positions(repeats: Any, dim: Any, output_size: Any) -> Any:
    counts_spec.check_alone("repeats", repeats.ndim, dim)
    values = counts_spec.count_array("repeats", repeats)
    offsets = counts_spec.offsets("repeats", values)
    counts_spec.check_total(int(offsets[-1]), output_size)
    positions = da.arange(len(values), chunks=repeats.chunks, dtype=np.int32 if values.dtype == np.int32 else np.int64)
    return dispatched(positions, RepeatCounts(offsets, 0, int(offsets[-1])))


def flat(x: Any) -> Any:
    return reshape(x, (x.size,))


def reshape(x: Any, shape: tuple[int, ...]) -> Any:
    return _filled(x, range(x.ndim)).reshape(shape) if x.size else da.zeros(shape, dtype=x.dtype, chunks=shape)


def flip(x: Any, axes: tuple[int, ...]) -> Any:
    return da.flip(_filled(x, axes), axes)


def _filled(x: Any, axes: Iterable[int]) -> Any:
    """Returns x without empty chunks along axes. Dask's flip loses chunks before an empty one, and its reshape
    sometimes fails."""
    full = {d: tuple([n for n in x.chunks[d] if n]) or (0,) for d in axes if 0 in x.chunks[d]}
    return x.rechunk(full)


def expand(x: Any, shape: tuple[int, ...]) -> Any:
    """Returns views of x's chunks. New dims and dims of length 1 are cut so that chunks have Dask's usual size."""
    front = len(shape) - x.ndim
    stays = [d >= front and shape[d] == x.shape[d - front] for d in range(len(shape))]
    new = "auto" if math.prod(shape) else -1
    wanted = tuple([x.chunks[d - front] if stays[d] else new for d in range(len(shape))])
    chunks = da.core.normalize_chunks(wanted, shape, dtype=x.dtype)
    return x if all(stays) else da.broadcast_to(x, shape, chunks=chunks)


def ones(x: Any, n: int) -> Any:
    return da.ones(n, chunks=-1)


def filled(x: Any, inside: Any, value: Any) -> Any:
    return da.where(inside, x, np.asarray(value, x.dtype))


def widened(x: Any) -> Any:
    return x.astype(np.float32 if x.dtype.kind == "f" else np.float64)


def rounded(x: Any, like: Any) -> Any:
    dtype = np.empty(0, like.dtype)
    return x.map_blocks(lambda block: numpy_executor.rounded(block.copy(), dtype), dtype=like.dtype)


def cast(x: Any, dtype: str) -> Any:
    return x.astype(dtype)


def zeroed(x: Any, valid: Any) -> Any:
    return filled(x, valid, 0)


def over(x: Any, y: Any) -> Any:
    return x / y


def _never(*how: Any) -> NoReturn:
    raise AssertionError("Dask's results are never written to, and `traced_value` has the padding")


copy_into = shifted = _never
