"""repeat_interleave, repeat, tile and expand: check the arguments, build a map for each axis, apply them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tenter._arrays.arguments import MISSING, array, error
from tenter._arrays.errors import Refusal
from tenter._arrays.library import is_array, of, on_device, recorded, symbolic
from tenter._arrays.names import show_signature, take_other_names
from tenter._execution import calls, executor, indices_into, repeated, repeats_into
from tenter._execution.calls import FIND, unknown
from tenter._execution.executor import EXACT
from tenter._specs import counts
from tenter._specs.repeat import RepeatCounts, every
from tenter._specs.repeat_arguments import expanded_shape, refuse_axis, repeat_sizes, tile_sizes
from tenter._specs.spec import Spec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tenter._arrays.signatures import AnyArray, Counts, Element, Held, Index, Nested, Other, Sizes, Tensor


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
    """Repeats each element along dim: element i appears repeats[i] times in a row.

    Meaning and names of `torch.repeat_interleave`, which is `numpy.repeat`.

    x: array or tensor of any shape and dtype; a list or number is taken as a NumPy array.
    repeats: an int, or integers: one for all, or one per position of dim (synonyms: counts, lengths, durations). Array,
        tensor, list, tuple, range, or what holds an array: a Series, an array of pyarrow.
    dim: from -x.ndim to x.ndim - 1; None flattens x and gives a 1-D result. A 0-d x counts as one element.
    output_size: the sum of the counts if known; verified.
    out: where to write the result, as `resize` has it. other: PyTorch's `input` for x, NumPy's `axis` for dim.
    Returns fresh memory of x's kind and dtype, its length along dim the sum of the counts. With one argument, which
    is then the repeats and 1-D: the position of the count that each output belongs to, int64 (int32 for int32 counts,
    as PyTorch).

    Raises TypeError for counts that are bools or floats, ValueError for negative counts, for a wrong number of them,
    for a sum past int64 or unlike output_size, IndexError for dim, MemoryError for a result larger than the machine.
    Gradients on PyTorch are segment sums.

    >>> y = np.array([[1, 2], [3, 4]])
    >>> repeat_interleave(y, 2)
    array([1, 1, 2, 2, 3, 3, 4, 4])
    >>> repeat_interleave(y, [1, 2], dim=0)
    array([[1, 2],
           [3, 4],
           [3, 4]])
    >>> repeat_interleave([1, 2, 3])
    array([0, 1, 1, 2, 2, 2])
    """
    try:
        if other or too_many is not None:
            x, dim = take_other_names(repeat_interleave, other, too_many, input=("x", x), axis=("dim", dim))
        if out is None:
            known = FIND.get(type(x), unknown)("repeat_interleave", x, repeats, dim, output_size)
            if known is None and type(repeats) in EXACT:
                known = calls.many_counts(x, repeats, dim, output_size)
        else:
            known = calls.known_into("repeat_interleave", x, out, repeats, dim, output_size)
        if known is not None:
            return known
        if x is MISSING:
            x, repeats = repeats, MISSING
        if repeats is MISSING and x is not MISSING:
            return _positions(x, dim, output_size, out)
        x = array("x", x)
        if out is not None and (written := repeats_into.write(x, repeats, dim, output_size, out)) is not None:
            return written
        flat, axis = repeated.along(x, "dim", dim)
        spec = _counted(flat, repeats, axis, dim is None, output_size)
        return calls.perform("repeat_interleave", x, (repeats, dim, output_size), flat, spec, out)
    except Refusal as refusal:
        shown = {"repeats": x} if repeats is MISSING else {"x": x, "repeats": repeats}
        how = {"dim": dim, "output_size": output_size, "out": out, **other}
        raise error(refusal, "repeat_interleave", **shown, **how) from None


def _counted(x: Any, repeats: Any, axis: int, flat: bool, output_size: Any) -> Spec:
    n = x.shape[axis]
    repeats = counts.unwrapped("repeats", repeats, n)
    if is_array(repeats) and of(repeats).PACKAGE == "dask.array":  # how long the result is, is known by them alone
        repeats = of(repeats).to_numpy(repeats)
    recorded_counts = (recorded(repeats) or on_device(repeats)) and not isinstance(x, np.ndarray)
    if recorded(x) or recorded_counts:
        if is_array(repeats) or isinstance(repeats, (list, tuple)):
            return executor.of(x).record_counts(x, repeats, axis, output_size)
        return every(x.ndim, axis, counts.one_for_all(repeats, n, output_size, symbolic(x)))
    spec = counts.checked(repeats, n, None if flat else axis, output_size).spec(x.ndim, axis)
    if isinstance(spec, RepeatCounts):
        return spec._replace(offsets=executor.of(x).place_offsets(spec.offsets, x))
    return spec


def _positions(repeats: Any, dim: Any, output_size: Any, out: Any) -> Any:
    """repeat_interleave of one argument."""
    repeats = counts.unwrapped("repeats", repeats)
    if recorded(repeats) or on_device(repeats):
        found = executor.of(repeats).record_positions(repeats, dim, output_size)
        return found if out is None else calls.copied(found, out)
    values = counts.count_array("repeats", repeats)
    counts.check_alone("repeats", values.ndim, dim)
    if out is not None and (rows := repeats_into.readable(repeats, output_size, out)) is not None:
        return indices_into.write_row_ids(rows, out)
    offsets = counts.offsets("repeats", values)
    counts.check_total(int(offsets[-1]), output_size)
    int32 = is_array(repeats) and values.dtype == np.int32
    positions: Any = np.arange(len(values), dtype=np.int32 if int32 else np.int64)
    if is_array(repeats):
        positions = of(repeats).from_numpy(positions, repeats)
    return calls.execute(positions, RepeatCounts(offsets, 0, int(offsets[-1])), out)


# fmt: off
@overload
def repeat(x: NDArray[Element], *each: Sizes, sizes: Sizes = ..., repeats: Sizes = ...,
    out: NDArray[Element] | None = None) -> NDArray[Element]: ...
@overload
def repeat(x: Nested, *each: Sizes, sizes: Sizes = ..., repeats: Sizes = ...,
    out: NDArray[Any] | None = None) -> NDArray[Any]: ...
@overload
def repeat(x: Other, *each: Sizes, sizes: Sizes = ..., repeats: Sizes = ..., out: Other | None = None) -> Other: ...
@overload
def repeat(x: Tensor, *each: Sizes, sizes: Sizes = ..., repeats: Sizes = ...,
    out: Tensor | None = None) -> Tensor: ...
@overload
def repeat(x: Held, *each: Sizes, sizes: Sizes = ..., repeats: Sizes = ...,
    out: NDArray[Any] | None = None) -> NDArray[Any]: ...
@overload
def repeat(*, input: AnyArray, sizes: Sizes = ..., repeats: Sizes = ..., out: AnyArray | None = None) -> AnyArray: ...
# fmt: on
def repeat(x: Any = MISSING, *sizes: Sizes, out: Any = None, **other: Any) -> Any:
    """Repeats the whole array, sizes[k] times along each dim; more sizes than dims put dims in front.

    Meaning of `torch.Tensor.repeat`. (`numpy.repeat` is `repeat_interleave` here.)

    x: array or tensor of any shape and dtype. sizes: ints >= 0, one by one or as one tuple, at least one per dim of x.
    out: where to write the result, as `resize` has it. other: PyTorch's `input` for x, `repeats` for sizes; `sizes` by
        its name.
    Returns fresh memory of x's kind and dtype.

    Raises TypeError for sizes that are not ints and for axis= or dim=, ValueError for too few or negative sizes,
    MemoryError for a result larger than the machine. Gradients on PyTorch are sums over the repeats.

    >>> repeat([1, 2, 3], 2)
    array([1, 2, 3, 1, 2, 3])
    >>> repeat(np.array([[1, 2], [3, 4]]), 2, 3).shape
    (4, 6)
    """
    try:
        if other:
            refuse_axis(other)
            x, given = take_other_names(repeat, other, input=("x", x), sizes=("sizes", sizes), repeats=("sizes", sizes))
            sizes = given if type(given) is tuple else (given,)
        given = sizes[0] if len(sizes) == 1 and type(sizes[0]) is tuple else sizes
        if out is None:
            find = FIND.get(type(x), unknown)
            # A call with a star takes a tenth longer.
            known = find("repeat", x, given[0]) if len(given) == 1 else find("repeat", x, *given)
        else:
            known = calls.known_into("repeat", x, out, *given)
        if known is not None:
            return known
        x = array("x", x)
        front, spec = repeated.as_a_whole(x, "sizes", repeat_sizes("sizes", sizes, x.ndim))
        return calls.perform("repeat", x, given, front, spec, out)
    except Refusal as refusal:
        raise error(refusal, "repeat", x, *sizes, out=out, **other) from None


# fmt: off
@overload
def tile(x: NDArray[Element], *each: Sizes, dims: Sizes = ...,
    out: NDArray[Element] | None = None) -> NDArray[Element]: ...
@overload
def tile(x: Nested, *each: Sizes, dims: Sizes = ..., out: NDArray[Any] | None = None) -> NDArray[Any]: ...
@overload
def tile(x: Other, *each: Sizes, dims: Sizes = ..., out: Other | None = None) -> Other: ...
@overload
def tile(x: Tensor, *each: Sizes, dims: Sizes = ..., out: Tensor | None = None) -> Tensor: ...
@overload
def tile(x: Held, *each: Sizes, dims: Sizes = ..., out: NDArray[Any] | None = None) -> NDArray[Any]: ...
@overload
def tile(*, input: AnyArray, dims: Sizes = ..., out: AnyArray | None = None) -> AnyArray: ...
# fmt: on
def tile(x: Any = MISSING, *dims: Sizes, out: Any = None, **other: Any) -> Any:
    """Repeats the whole array, dims[k] times along each dim, ones being put in front of the shorter of shape and dims.

    Meaning of `torch.tile` and `numpy.tile`.

    x: array or tensor of any shape and dtype. dims: ints >= 0, as one int, one tuple, or one by one.
    out: where to write the result, as `resize` has it. other: PyTorch's `input` for x; `dims` by its name.
    Returns fresh memory of x's kind and dtype.

    Raises TypeError for dims that are not ints, ValueError for negative ones, MemoryError for a result larger than the
    machine. Gradients on PyTorch are sums over the repeats.

    >>> tile(np.array([[1, 2], [3, 4]]), 2)
    array([[1, 2, 1, 2],
           [3, 4, 3, 4]])
    """
    try:
        if other:
            x, given = take_other_names(tile, other, input=("x", x), dims=("dims", dims))
            dims = given if type(given) is tuple else (given,)
        given = dims[0] if len(dims) == 1 and type(dims[0]) is tuple else dims
        if out is None:
            find = FIND.get(type(x), unknown)
            # A call with a star takes a tenth longer.
            known = find("tile", x, given[0]) if len(given) == 1 else find("tile", x, *given)
        else:
            known = calls.known_into("tile", x, out, *given)
        if known is not None:
            return known
        x = array("x", x)
        front, spec = repeated.as_a_whole(x, "dims", tile_sizes("dims", dims, x.ndim))
        return calls.perform("tile", x, given, front, spec, out)
    except Refusal as refusal:
        raise error(refusal, "tile", x, *dims, out=out, **other) from None


# fmt: off
@overload
def expand(x: NDArray[Element], *each: Sizes, size: Sizes = ..., sizes: Sizes = ...) -> NDArray[Element]: ...
@overload
def expand(x: Nested, *each: Sizes, size: Sizes = ..., sizes: Sizes = ...) -> NDArray[Any]: ...
@overload
def expand(x: Other, *each: Sizes, size: Sizes = ..., sizes: Sizes = ...) -> Other: ...
@overload
def expand(x: Tensor, *each: Sizes, size: Sizes = ..., sizes: Sizes = ...) -> Tensor: ...
@overload
def expand(x: Held, *each: Sizes, size: Sizes = ..., sizes: Sizes = ...) -> NDArray[Any]: ...
@overload
def expand(*, input: AnyArray, size: Sizes = ..., sizes: Sizes = ...) -> AnyArray: ...
# fmt: on
def expand(x: Any = MISSING, *sizes: Sizes, **other: Any) -> Any:
    """A view of x with dims of length 1 stretched to sizes, at no cost in memory; spare sizes put dims in front.

    Meaning of `torch.Tensor.expand`; on NumPy the view is `numpy.broadcast_to`'s, read-only.

    x: array or tensor of any shape and dtype. sizes: ints >= 0, one by one or as one tuple; -1 keeps a size.
    other: PyTorch's `input` for x, `size` for sizes; `sizes` by its name.

    Raises TypeError for sizes that are not ints, ValueError for fewer sizes than dims, for a -1 in front of x's dims
    and for a dim that is neither 1 nor its size.

    >>> expand(np.array([[1], [2]]), -1, 3)
    array([[1, 1, 1],
           [2, 2, 2]])
    """
    runs = EXACT.get(type(x))
    if runs is not None and not other and (view := runs.expand_fast(x, sizes)) is not None:
        return view
    try:
        if other:
            x, given = take_other_names(expand, other, input=("x", x), sizes=("sizes", sizes), size=("sizes", sizes))
            sizes = given if type(given) is tuple else (given,)
        x = array("x", x)
        return executor.of(x).expand(x, expanded_shape("sizes", sizes, x))
    except Refusal as refusal:
        raise error(refusal, "expand", x, *sizes, **other) from None


show_signature(repeat_interleave)
