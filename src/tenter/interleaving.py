"""repeat_interleave: each element several times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tenter import _native
from tenter._arrays.arguments import MISSING, array, describe, dim as one_dim, error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import dtype_name, is_array, of, on_device, traced
from tenter._arrays.names import show_signature, take_other_names
from tenter._execution import calls, executor, into, repeated
from tenter._execution.calls import FIND, unknown
from tenter._rules.rounding import ONCE
from tenter._specs import counts
from tenter._specs.applied import AppliedMaps
from tenter._specs.repeat import RepeatCounts, every
from tenter._specs.spec import Spec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tenter._arrays.signatures import AnyArray, Counts, Element, Held, Index, Nested, Other, Tensor


# fmt: off
@overload
def repeat_interleave(x: NDArray[Element], repeats: Counts, dim: Index = None, *, axis: Index = None,
    output_size: Index = None, out: NDArray[Element] | None = None) -> NDArray[Element]: ...
@overload
def repeat_interleave(x: Nested, repeats: Counts, dim: Index = None, *, axis: Index = None, output_size: Index = None,
    out: NDArray[Any] | None = None) -> NDArray[Any]: ...
@overload
def repeat_interleave(x: Other, repeats: Counts, dim: Index = None, *, axis: Index = None, output_size: Index = None,
    out: Other | None = None) -> Other: ...
@overload
def repeat_interleave(x: Tensor, repeats: Counts, dim: Index = None, *, axis: Index = None, output_size: Index = None,
    out: Tensor | None = None) -> Tensor: ...
@overload
def repeat_interleave(x: Held, repeats: Counts, dim: Index = None, *, axis: Index = None, output_size: Index = None,
    out: NDArray[Any] | None = None) -> NDArray[Any]: ...
@overload
def repeat_interleave(*, input: AnyArray, repeats: Counts, dim: Index = None, axis: Index = None,
    output_size: Index = None, out: AnyArray | None = None) -> AnyArray: ...
@overload
def repeat_interleave(repeats: NDArray[np.int32], /, *, output_size: Index = None,
    out: NDArray[np.int32] | None = None) -> NDArray[np.int32]: ...
@overload
def repeat_interleave(repeats: NDArray[np.integer[Any]] | Nested, /, *, output_size: Index = None,
    out: NDArray[np.int64] | None = None) -> NDArray[np.int64]: ...
@overload
def repeat_interleave(repeats: Other, /, *, output_size: Index = None, out: Other | None = None) -> Other: ...
@overload
def repeat_interleave(repeats: Tensor, /, *, output_size: Index = None, out: Tensor | None = None) -> Tensor: ...
@overload
def repeat_interleave(repeats: Held, /, *, output_size: Index = None,
    out: NDArray[np.int64] | None = None) -> NDArray[np.int64]: ...
# fmt: on
def repeat_interleave(
    x: Any = MISSING,
    repeats: Counts = MISSING,
    dim: Index = None,
    too_many: Any = None,
    output_size: Index = None,
    out: Any = None,
    **other: Any,
) -> Any:
    """Repeats each element along a dim: element i appears repeats[i] times in a row.

    The rule is `torch.repeat_interleave`'s, which is `numpy.repeat`'s.

    Parameters
    ----------
    x : array
        Any shape and dtype; a list or number becomes a NumPy array.
    repeats : int, array of ints, or dict
        How many times each element is repeated: one number for all, or one per position of dim. Any sequence or array
        of ints, also a Series or an array of pyarrow. If it is the only argument, it takes x's place (see Returns). A
        dict has these for several dims, {dim: repeats}, which are repeated in one pass over memory.
    dim : int, optional
        From -x.ndim to x.ndim - 1. None flattens x. A 0-d x counts as one element.
    output_size : int, optional
        The sum of repeats, if it is known: it is verified. With repeats on a CUDA device, the call then does not wait
        for the device.
    out : array, optional
        Memory for the result, which is also returned: an array or tensor of x's library, dtype and device with the
        result's shape, such as a memory map. No gradient may be recorded. Invalid calls leave it as is.
    **other
        PyTorch's `input` for x, NumPy's `axis` for dim.

    Returns
    -------
    array
        A new array of x's library and dtype; its length along dim is the sum of repeats. With repeats alone, 1-D: the
        position of the count that each output belongs to, int64 (int32 for int32 counts).

    Raises
    ------
    TypeError
        If repeats are bools or floats.
    ValueError
        If repeats are negative, too many or too few, or their sum is above 2**63 - 1 or is not output_size.
    IndexError
        If there is no such dim.
    MemoryError
        If the result is larger than the machine's memory.

    See Also
    --------
    repeat : Repeats the whole array.
    tenter.ragged.repeat_padded : With other counts for each row of a batch.
    tenter.numpy.repeat : With NumPy's arguments.

    Notes
    -----
    Gradients, in PyTorch and JAX, are segment sums, the same bits for any number of threads.

    Examples
    --------
    >>> y = np.array([[1, 2], [3, 4]])
    >>> repeat_interleave(y, 2)
    array([1, 1, 2, 2, 3, 3, 4, 4])
    >>> repeat_interleave(y, [1, 2], dim=0)
    array([[1, 2],
           [3, 4],
           [3, 4]])
    >>> repeat_interleave(y, {0: 2, 1: [1, 2]})
    array([[1, 2, 2],
           [1, 2, 2],
           [3, 4, 4],
           [3, 4, 4]])
    >>> repeat_interleave([1, 2, 3])
    array([0, 1, 1, 2, 2, 2])
    """
    try:
        if other or too_many is not None:
            x, dim = take_other_names(repeat_interleave, other, too_many, input=("x", x), axis=("dim", dim))
        if out is None:
            cached = FIND.get(type(x), unknown)("repeat_interleave", x, repeats, dim, output_size)
        else:
            cached = calls.cached_into("repeat_interleave", x, out, repeats, dim, output_size)
        if cached is not None:
            return cached
        if x is MISSING:
            x, repeats = repeats, MISSING
        if repeats is MISSING and x is not MISSING:
            return _positions(x, dim, output_size, out)
        x = array("x", x)
        if isinstance(dim, (list, tuple)) and all(type(d) is int for d in dim):
            each = describe(dict.fromkeys(dim, repeats))
            refuse(TypeError, "dim", "an int", f"{describe(dim)} (did you mean repeats={each}?)")
        if isinstance(repeats, dict):
            return _along_several(x, repeats, dim, output_size, out)
        flat, axis = repeated.along(x, "dim", dim)
        spec = _counted(flat, repeats, axis, dim is None, output_size)
        return calls.perform("repeat_interleave", x, (repeats, dim, output_size), flat, spec, out)
    except Refusal as refusal:
        shown = {"repeats": x} if repeats is MISSING else {"x": x, "repeats": repeats}
        how = {"dim": dim, "output_size": output_size, "out": out, **other}
        raise error(refusal, "repeat_interleave", **shown, **how) from None


def _along_several(x: Any, repeats: dict[Any, Any], dim: Any, output_size: Any, out: Any) -> Any:
    """repeat_interleave of several dims. Where a graph is recorded, or the library has no maps of several axes, one
    after the other."""
    for name, value in (("dim", dim), ("output_size", output_size)):
        if value is not None:
            refuse(ValueError, name, "None, as repeats is a dict of dims", describe(value))
    by_dim: dict[int, Any] = {}
    for key, each in repeats.items():
        if isinstance(key, str):
            refuse(TypeError, "repeats", "dims that are ints, such as {0: 2, 1: 3}", describe(repeats))
        axis = one_dim("repeats", key, x.ndim)
        if axis in by_dim:
            refuse(ValueError, "repeats", "each dim once", describe(repeats))
        by_dim[axis] = each
    if not by_dim:
        once = (1,) * x.ndim
        front, spec = repeated.as_a_whole(x, "repeats", once)
        return calls.perform("repeat", x, once, front, spec, out)
    if of(x).PACKAGE not in ("numpy", "torch") or any(traced(a) or on_device(a) for a in (x, *by_dim.values())):
        for axis, each in by_dim.items():
            x = repeat_interleave(x, each, axis)
        return x if out is None else calls.copied(x, out)
    specs = [_counted(x, each, axis, False, None) for axis, each in sorted(by_dim.items())]
    shape, dtype = tuple(x.shape), dtype_name(x)
    return calls.execute(x, AppliedMaps(tuple(m for s in specs for m in s.maps(shape, dtype, False)), ONCE), out)


def _counted(x: Any, repeats: Any, axis: int, flat: bool, output_size: Any) -> Spec:
    n = x.shape[axis]
    repeats = counts.unwrapped("repeats", repeats, n)
    if is_array(repeats) and of(repeats).PACKAGE == "dask.array":  # how long the result is, is known by them alone
        repeats = of(repeats).to_numpy(repeats)
    recorded_counts = (traced(repeats) or on_device(repeats)) and not isinstance(x, np.ndarray)
    if traced(x) or recorded_counts:
        if is_array(repeats) or isinstance(repeats, (list, tuple)):
            return executor.of(x).traced_counts(x, repeats, axis, output_size)
        return every(x.ndim, axis, counts.one_for_all(repeats, n, output_size))
    spec = counts.checked(repeats, n, None if flat else axis, output_size).spec(x.ndim, axis)
    if isinstance(spec, RepeatCounts):
        return spec._replace(offsets=executor.of(x).place_offsets(spec.offsets, x))
    return spec


def _positions(repeats: Any, dim: Any, output_size: Any, out: Any) -> Any:
    """repeat_interleave of one argument."""
    if dim is not None and getattr(repeats, "ndim", 1) != 1:
        refuse(TypeError, "repeats", f"counts, as dim={describe(dim)} is given", "none")
    if out is not None and dim is None:
        written = into.by_core(lambda room: _native.ragged_row_ids(repeats, output_size, room), out)
        if written is not None:
            return written
    repeats = counts.unwrapped("repeats", repeats)
    if traced(repeats) or on_device(repeats):
        found = executor.of(repeats).traced_positions(repeats, dim, output_size)
        return found if out is None else calls.copied_indices(found, out)
    values = counts.count_array("repeats", repeats)
    counts.check_alone("repeats", values.ndim, dim)
    offsets = counts.offsets("repeats", values)
    counts.check_total(int(offsets[-1]), output_size)
    int32 = is_array(repeats) and values.dtype == np.int32
    positions: Any = np.arange(len(values), dtype=np.int32 if int32 else np.int64)
    if is_array(repeats):
        positions = of(repeats).from_numpy(positions, repeats)
    found = calls.execute(positions, RepeatCounts(offsets, 0, int(offsets[-1])))
    return found if out is None else calls.copied_indices(found, out)


show_signature(repeat_interleave)
