"""Runs plans on NumPy arrays."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NoReturn

import numpy as np

from tenter import _native
from tenter._arrays import blocks, limits
from tenter._arrays.dtypes import NUMBERS
from tenter._arrays.numpy_arrays import address
from tenter._arrays.types import Array
from tenter._plans import reference
from tenter._plans.plan import CallPlan, plan_adjoint, same_maps
from tenter._ragged import segmented
from tenter._rules.filters import NOTHING
from tenter._specs.segments import Segments
from tenter._specs.spec import Spec

# max_work of np.shares_memory, for arrays whose elements are interleaved.
SEARCH = 1000
BOOL_CODE = 6  # DLPack's code of bool, which the core uses


def _register() -> None:
    # By letter, because NumPy has two dtypes for some ints.
    found = map(np.dtype, "?bBhHiIlLqQefdFD")
    dtypes = tuple((d, BOOL_CODE if d.kind == "b" else 0, 0, NUMBERS.get(d.name, -1), d.itemsize) for d in found)
    probe = np.zeros((3, 4), np.int16)[:, ::-2]
    as_read = probe, address(probe), probe.shape, probe.strides, probe.dtype
    _native.register_numpy(np.ndarray, dtypes, as_read, large_empty, _table_of_functions())


def _table_of_functions() -> Any:
    """NumPy's C functions in a capsule, at the place that extension modules import it from; None if it is not there."""
    core = "core" if np.lib.NumpyVersion(np.__version__) < "2.0.0" else "_core"
    return getattr(import_module(f"numpy.{core}.multiarray"), "_ARRAY_API", None)


def run(x: Array, plan: CallPlan) -> Array:
    if plan.steps is None:
        # Kernels sum native bytes only.
        if not x.dtype.isnative and not x.dtype.hasobject and x.dtype.char not in "gG":
            native = x.astype(x.dtype.newbyteorder("="))
            swapped: Array = run(native, same_maps(plan, native)).astype(x.dtype)
            return swapped
        return through_reference(x.reshape(plan.shape), lambda values: reference.run(values, plan.maps))
    y, target, past_caches = large_empty(x, plan.shape_out, plan.order)
    plan.steps.run(address(x), target, past_caches)
    return y


execute = run_read = run


def execute_adjoint(g: Array, spec: Spec, shape: tuple[int, ...]) -> Array:
    return run(g, plan_adjoint(g, spec, shape))


def through_reference(x: Array, f: Callable[[Array], Array]) -> Array:
    """Applies f to x's values in native byte order."""
    if x.dtype.isnative or x.dtype.hasobject:
        return f(x)
    swapped: Array = f(x.astype(x.dtype.newbyteorder("="))).astype(x.dtype)
    return swapped


def dispatched(x: Array, *how: Any) -> NoReturn:
    raise AssertionError("NumPy arrays are never traced")


traced_counts = traced_positions = dispatched


def traced_value(x: Array, spec: Spec, value: Any) -> None:
    return None


traced_labels = traced_value


def large_empty(x: Array, shape: tuple[int, ...], order: tuple[int, ...] | None = None) -> tuple[Array, int, bool]:
    """Allocates a result of x's dtype. Returns the array, its address, and whether streaming stores should write it.
    order: the dims from slowest to fastest in memory."""
    y, at, past_caches = blocks.empty(shape if order is None else tuple([shape[d] for d in order]), x.dtype)
    return y if order is None else y.transpose(np.argsort(order)), at, past_caches


_register()
cached, expand_fast = _native.cached_call, _native.expand_view


def place_offsets(offsets: Array, x: Array) -> Array:
    return offsets


def flat(x: Array) -> Array:
    return x.reshape(-1)


def reshape(x: Array, shape: tuple[int, ...]) -> Array:
    return x.reshape(shape)


def expand(x: Array, shape: tuple[int, ...]) -> Array:
    """Returns a read-only view."""
    return np.broadcast_to(x, shape)


def writable(out: Any) -> Array | None:
    # The core declines elements that share memory.
    return np.asarray(out) if type(out) in (np.ndarray, np.memmap) and out.flags.writeable else None


def write(x: Array, plan: CallPlan, out: Array) -> bool:
    if plan.steps is None or not can_write(out if plan.order is None else out.transpose(plan.order), x):
        return False
    plan.steps.run_whole(address(x), address(out), blocks.streams(plan.n_bytes))
    return True


def can_write(out: Array, x: Array) -> bool:
    """True if kernels that read x can write to `out`: contiguous, of x's dtype, and not overlapping x."""
    return out.dtype == x.dtype and out.flags.c_contiguous and out.flags.aligned and disjoint(x, out)


def disjoint(x: Array, out: Array) -> bool:
    if not np.may_share_memory(x, out):
        return True
    try:
        return not np.shares_memory(x, out, max_work=SEARCH)  # type: ignore[arg-type]  # accepts any int
    except np.exceptions.TooHardError:
        return False


def wrote(out: Array) -> None:
    pass


def copy_into(out: Array, result: Array) -> None:
    out[...] = result


def flip(x: Array, axes: tuple[int, ...]) -> Array:
    return np.flip(x, axes)


def ones(x: Array, n: int) -> Array:
    return np.ones(n)


def filled(x: Array, inside: Array, value: Any) -> Array:
    np.copyto(x, _element(value, x), where=~inside)
    return x


def element(x: Array, value: Any) -> bytes:
    return _element(value, x).tobytes()


def shifted(x: Array, outside: Array, value: Any, like: Array) -> Array:
    by = np.multiply(outside, value, out=np.zeros(outside.shape, np.result_type(type(value), np.float64)),
                     where=np.abs(outside) > NOTHING)  # fmt: skip
    np.add(x, by, out=x, casting="same_kind")
    return rounded(x, like)


def rounded(x: Array, like: Array) -> Array:
    if like.dtype.kind not in "iu":
        return x.astype(like.dtype, copy=False)
    y = np.empty_like(x, like.dtype)
    y[...] = reference.into(x, like.dtype.newbyteorder("="))
    return y


def widened(x: Array) -> Array:
    return x.astype(np.float32 if x.dtype.kind == "f" else np.float64)


def cast(x: Array, dtype: str) -> Array:
    return x.astype(dtype)


def zeroed(x: Array, valid: Array) -> Array:
    y = np.zeros_like(x, subok=False)
    np.copyto(y, x, where=valid)
    return y


def over(x: Array, y: Array) -> Array:
    with np.errstate(all="ignore"):
        found: Array = np.divide(x, y, out=x)
    return found


def narrowed(x: Array, like: Array) -> Array:
    return x.astype(like.dtype, copy=False)


def divided(x: Array, lengths: Array, dim: int) -> Array:
    by = np.maximum(lengths, 1).astype(x.real.dtype)
    found: Array = np.divide(x, by.reshape(-1, *(1,) * (x.ndim - dim - 1)), out=x)
    return found


def detached(x: Array) -> Array:
    return x


def ratio(x: Array, y: Array) -> Array:
    found: Array = np.divide(x, y, out=y)
    return found


def exponential(x: Array) -> Array:
    found: Array = np.exp(x, out=x)
    return found


def exponentials(x: Array, shift: Array) -> Array:
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf
        np.subtract(x, shift, out=shift)
        found: Array = np.exp(shift, out=shift)
    return found


# ---- segments

tracing: Any = None


def pad(x: Array, s: Segments, length: int, value: Any) -> Array:
    if x.dtype.hasobject:
        y = np.full((s.n, length, *x.shape[1:]), value, x.dtype)
        y[segmented.mask(s, length)] = x
        return y
    return segmented.pad(_contiguous(x), s, length, _element(value, x), large_empty)  # type: ignore[no-any-return]


def _element(value: Any, x: Array) -> Array:
    """Returns a value as an element of x's dtype. For text, 0 is the empty string. For floats, 0 keeps its sign."""
    nothing = value == 0 and x.dtype.kind not in "fc"
    found: Array = np.zeros((), x.dtype) if nothing else np.asarray(value, x.dtype)
    return found


def _contiguous(x: Array) -> Array:
    if not x.flags.c_contiguous:
        limits.memory(x.shape, x.itemsize, "x as a contiguous copy")
    return np.ascontiguousarray(x)


def unpad(x: Array, s: Segments) -> Array:
    if x.dtype.hasobject:
        return x[segmented.mask(s, x.shape[1])]
    return segmented.unpad(_contiguous(x), s, large_empty)  # type: ignore[no-any-return]


def repeat_padded(x: Array, s: Segments, each: Segments, length: int, value: Any) -> Array:
    if x.dtype.hasobject:
        return pad(np.repeat(x.reshape(s.n, *x.shape[2:]), s.lengths, 0), each, length, value)
    element = _element(value, x)
    found: Array = segmented.repeat_padded(_contiguous(x), s.offsets, length, element, large_empty)
    return found


def extremes(x: Array, s: Segments, dim: int, largest: bool) -> Array:
    native = np.ascontiguousarray(x, x.dtype.newbyteorder("="))
    found = segmented.extremes(native, s, dim, largest, False, large_empty)[0]
    return found.astype(x.dtype, copy=False)  # type: ignore[no-any-return]
