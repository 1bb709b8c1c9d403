"""Arrays that are known by shape, strides and dtype only. `explain` passes them to an operation in place of an array,
so that the operation's own checks say what it would do.

This module is their library (`_arrays/library.py`). They count as traced, because their values are not known.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from tenter._arrays import library, numpy_arrays
from tenter._arrays.arguments import array, sizes
from tenter._arrays.dtypes import DTYPES
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.layout import Layout, Order
from tenter._arrays.library import Library
from tenter._arrays.types import Array

PACKAGE = library.OUTLINE


class Shape:
    """The shape and dtype of an array, to explain a call without the array.

    Parameters
    ----------
    *lengths : int
        One by one, or as one tuple.
    dtype : dtype, default "float32"
        A dtype of NumPy or PyTorch, or its name.

    Raises
    ------
    TypeError
        If lengths are not ints, or the dtype is unknown.
    ValueError
        If lengths are negative.

    See Also
    --------
    explain : Takes one for x.

    Examples
    --------
    >>> Shape(480, 640, 3, dtype="uint8")
    Shape(480, 640, 3, dtype='uint8')
    """

    def __init__(self, *lengths: SupportsIndex | Sequence[SupportsIndex], dtype: Any = "float32") -> None:
        try:
            self.lengths = sizes("lengths", lengths)
            self.dtype, self.itemsize = _named(dtype)
        except Refusal as refusal:
            kind, message = refusal.args
            raise kind(f"{message}\n  in Shape({', '.join([*map(repr, lengths), f'dtype={dtype!r}'])})") from None

    def __repr__(self) -> str:
        return f"Shape({', '.join([*map(str, self.lengths), f'dtype={self.dtype!r}'])})"


def _named(dtype: Any) -> tuple[str, int]:
    name = dtype if isinstance(dtype, str) else str(dtype).removeprefix("torch.")
    if name in ("bfloat16", "complex32"):  # NumPy lacks them
        return name, 2 if name == "bfloat16" else 4
    try:
        found = np.dtype(name if isinstance(dtype, str) or str(dtype).startswith("torch.") else dtype)
    except TypeError:
        refuse(TypeError, "dtype", f"a dtype, such as {', '.join(list(DTYPES)[:5])}", repr(dtype))
    return numpy_arrays.dtype_name(np.empty(0, found)), found.itemsize


class Outline(NamedTuple):
    """An array known by its shape, strides and dtype.

    memory_layout: the shape, strides and dtype as kernels see them
    its: the library whose rules apply
    dtype: the library's name of the dtype; the layout has the kernels' name
    held: the array itself; None for a `Shape`
    given: what the array was made from
    flat: the array is flattened
    flipped: axes that are reversed
    made: for a result, how it is made
    """

    shape: tuple[int, ...]
    memory_layout: Layout
    its: Library
    dtype: str
    held: Any = None
    given: Any = None
    flat: bool = False
    flipped: tuple[int, ...] = ()
    made: "Made | None" = None

    @property
    def ndim(self) -> int:
        return len(self.shape)


class Made(NamedTuple):
    """How a result is made.

    x: the input as the specification takes it, maybe flattened
    spec: None for a view
    """

    x: Outline
    spec: Any
    shape_out: tuple[int, ...]


def outline(x: Any) -> Any:
    """Returns the outline of an array, a list or a `Shape`. Anything else is returned unchanged, for the operation to
    refuse."""
    if isinstance(x, Shape):
        return Outline(x.lengths, _contiguous(x.lengths, x.dtype, x.itemsize), _NUMPY, x.dtype)
    try:
        held = array("x", x)
    except Refusal:
        return x
    its = library.of(held)
    shape = tuple(held.shape)
    if its.PACKAGE in ("numpy", "torch") and its.unservable(held) is None:
        memory_layout = its.layout(held)
    else:
        memory_layout = _contiguous(shape, its.dtype_name(held), its.itemsize(held))
    return Outline(shape, memory_layout, its, its.dtype_name(held), held, x)


def reshaped(x: Outline, shape: tuple[int, ...], strides: tuple[int, ...] | None) -> Outline:
    """Returns an outline in another shape. strides: None for a contiguous copy."""
    if strides is None:
        return x._replace(
            shape=shape,
            memory_layout=_contiguous(shape, x.memory_layout.dtype, x.memory_layout.itemsize, x.memory_layout.device),
        )
    return x._replace(shape=shape, memory_layout=x.memory_layout._replace(shape=shape, strides=strides))


def _contiguous(shape: tuple[int, ...], dtype: str, itemsize: int, device: str | None = None) -> Layout:
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return Layout(shape, tuple(reversed(strides)), dtype, itemsize, device)


_NUMPY: Any = numpy_arrays

# ---- the library

TYPES: tuple[type, ...] = (Outline,)


def _nothing(x: Outline) -> None:
    return None


problem = short = unservable = unwritable = differentiated = _nothing


def unreadable(x: Outline) -> str | None:
    return "a shape, which has no values" if x.held is None else None


def is_ordinary(x: Outline) -> bool:
    return False


def traced(x: Outline) -> bool:
    return True


def device(x: Outline) -> str | None:
    return x.memory_layout.device


def dtype_name(x: Outline) -> str:
    return x.dtype


def itemsize(x: Outline) -> int:
    return x.memory_layout.itemsize


def strides(x: Outline) -> tuple[int, ...]:
    return x.memory_layout.strides


def layout(x: Outline) -> Layout:
    return x.memory_layout


def place(x: Outline) -> tuple[Any, ...]:
    return x.memory_layout


def image_order(shape: tuple[int, ...], strides: tuple[int, ...]) -> Order:
    return numpy_arrays.image_order(shape, strides)


def to_numpy(x: Outline) -> Array:
    """Returns the values of the array that the outline stands for."""
    held = x.held.cpu() if x.memory_layout.device is not None else x.held
    return x.its.to_numpy(held)
