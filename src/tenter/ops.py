"""repeat, tile and expand: the whole array several times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tenter._arrays.arguments import MISSING, array, error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import of
from tenter._arrays.names import show_signature, take_other_names
from tenter._execution import calls, executor, repeated
from tenter._execution.calls import FIND, unknown
from tenter._execution.executor import VIEW
from tenter._specs.repeat_arguments import expanded_shape, refuse_axis, refuse_counts, repeat_sizes, tile_sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tenter._arrays.signatures import AnyArray, Element, Held, Nested, Other, Sizes, Tensor


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
    """Repeats the whole array, sizes[k] times along each dim.

    The rule is `torch.Tensor.repeat`'s. `numpy.repeat` is `repeat_interleave` here.

    Parameters
    ----------
    x : array
        Any shape and dtype.
    *sizes : int
        How many times, at least one number per dim of x, one by one or as one tuple. More numbers than dims add dims in
        front. Of an array that is no tensor, one tuple of as many numbers as it has elements is refused, as NumPy reads
        it as a count for each element.
    out : array, optional
        Memory for the result, which is also returned: an array or tensor of x's library, dtype and device with the
        result's shape, such as a memory map. No gradient may be recorded. Invalid calls leave it as is.
    **other
        PyTorch's `input` for x, `repeats` for sizes; `sizes` by its name.

    Returns
    -------
    array
        A new array of x's library and dtype.

    Raises
    ------
    TypeError
        If sizes are not ints, or axis or dim is given.
    ValueError
        If there are too few sizes, or negative ones.
    MemoryError
        If the result is larger than the machine's memory.

    See Also
    --------
    repeat_interleave : Repeats each element.
    tile : The same, with ones for missing numbers.
    expand : A view that looks repeated.

    Notes
    -----
    Gradients, in PyTorch and JAX, are sums over the copies.

    Examples
    --------
    >>> repeat([1, 2, 3], 2)
    array([1, 2, 3, 1, 2, 3])
    >>> repeat(np.array([[1, 2], [3, 4]]), 2, 3).shape
    (4, 6)
    """
    try:
        if other:
            refuse_axis("repeat", other)
            x, given = take_other_names(repeat, other, input=("x", x), sizes=("sizes", sizes), repeats=("sizes", sizes))
            sizes = sizes if given is sizes else (given,)
        given = sizes[0] if len(sizes) == 1 and type(sizes[0]) is tuple else sizes
        if len(sizes) == 1 and type(sizes[0]) is not int and type(x) is np.ndarray:  # before the core takes the call
            refuse_counts("numpy", x.shape, sizes)
        if out is None:
            find = FIND.get(type(x), unknown)
            # A call with a star takes a tenth longer.
            cached = find("repeat", x, given[0]) if len(given) == 1 else find("repeat", x, *given)
        else:
            cached = calls.cached_into("repeat", x, out, *given)
        if cached is not None:
            return cached
        x = array("x", x)
        refuse_counts(of(x).PACKAGE, x.shape, sizes)
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
    """Repeats the whole array, dims[k] times along each dim, with ones for missing numbers.

    The rule is `torch.tile`'s and `numpy.tile`'s: ones are put in front of the shorter of x's shape and dims.

    Parameters
    ----------
    x : array
        Any shape and dtype.
    *dims : int
        How many times, from 0 on: one int, one tuple, or one by one.
    out : array, optional
        Memory for the result, which is also returned: an array or tensor of x's library, dtype and device with the
        result's shape, such as a memory map. No gradient may be recorded. Invalid calls leave it as is.
    **other
        PyTorch's `input` for x; `dims` by its name.

    Returns
    -------
    array
        A new array of x's library and dtype.

    Raises
    ------
    TypeError
        If dims are not ints.
    ValueError
        If dims are negative.
    MemoryError
        If the result is larger than the machine's memory.

    See Also
    --------
    repeat : Takes a number for every dim.
    tenter.numpy.tile : With NumPy's arguments.

    Notes
    -----
    Gradients, in PyTorch and JAX, are sums over the copies.

    Examples
    --------
    >>> tile(np.array([[1, 2], [3, 4]]), 2)
    array([[1, 2, 1, 2],
           [3, 4, 3, 4]])
    """
    try:
        if other:
            refuse_axis("tile", other)
            x, given = take_other_names(tile, other, input=("x", x), dims=("dims", dims))
            dims = given if type(given) is tuple else (given,)
        elif not dims and x is not MISSING:
            refuse(TypeError, "dims", "how many times to repeat x along each dim", "none")
        given = dims[0] if len(dims) == 1 and type(dims[0]) is tuple else dims
        if out is None:
            find = FIND.get(type(x), unknown)
            # A call with a star takes a tenth longer.
            cached = find("tile", x, given[0]) if len(given) == 1 else find("tile", x, *given)
        else:
            cached = calls.cached_into("tile", x, out, *given)
        if cached is not None:
            return cached
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
    """A view of x with dims of length 1 stretched to sizes; it needs no memory.

    The rule is `torch.Tensor.expand`'s. The view of a NumPy array is read-only, like `numpy.broadcast_to`'s.

    Parameters
    ----------
    x : array
        Any shape and dtype.
    *sizes : int
        The result's shape, one by one or as one tuple; -1 keeps a length. More sizes than dims add dims in front.
    **other
        PyTorch's `input` for x, `size` for sizes; `sizes` by its name.

    Returns
    -------
    array
        A view of x. Writing into a tensor's view writes into all elements that share the memory.

    Raises
    ------
    TypeError
        If sizes are not ints.
    ValueError
        If there are fewer sizes than dims, a -1 in front of x's dims, or a dim that is neither 1 nor its size.

    See Also
    --------
    repeat : The same values in a new array.

    Examples
    --------
    >>> expand(np.array([[1], [2]]), -1, 3)
    array([[1, 1, 1],
           [2, 2, 2]])
    """
    if not other and (make := VIEW.get(type(x))) is not None and (view := make(x, sizes)) is not None:
        return view
    try:
        if other:
            x, given = take_other_names(expand, other, input=("x", x), sizes=("sizes", sizes), size=("sizes", sizes))
            sizes = sizes if given is sizes else (given,)
        x = array("x", x)
        return executor.of(x).expand(x, expanded_shape("sizes", sizes, x))
    except Refusal as refusal:
        raise error(refusal, "expand", x, *sizes, **other) from None


for _function in (repeat, tile, expand):
    show_signature(_function)
