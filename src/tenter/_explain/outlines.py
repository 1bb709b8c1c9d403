"""Arrays of which the shape, the strides and the dtype are known: what `explain` passes to an operation in place of an
array, so that the operation's own checks say what it would do.

This module is their library (`_arrays/library.py`): they are recorded, as arrays are whose values come later.
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
    """The shape and dtype of an array that need not exist, to be explained in its place.

    lengths: one by one, or as one tuple. dtype: a dtype of NumPy or PyTorch, or its name. Raises TypeError for lengths
    that are not ints and for unknown dtypes, ValueError for negative lengths.

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
    if name in ("bfloat16", "complex32"):  # which NumPy lacks
        return name, 2 if name == "bfloat16" else 4
    try:
        found = np.dtype(name if isinstance(dtype, str) or str(dtype).startswith("torch.") else dtype)
    except TypeError:
        refuse(TypeError, "dtype", f"a dtype, such as {', '.join(list(DTYPES)[:5])}", repr(dtype))
    return numpy_arrays.dtype_name(np.empty(0, found)), found.itemsize


class Outline(NamedTuple):
    """its: the library whose rules hold. dtype: its name there, which `lies` has for kernels. held: the array itself,
    None of a `Shape`. given: what it was made of. flat: whether it is flattened. turned: axes that are reversed. made:
    of a result, what it is made of and how."""

    shape: tuple[int, ...]
    lies: Layout
    its: Library
    dtype: str
    held: Any = None
    given: Any = None
    flat: bool = False
    turned: tuple[int, ...] = ()
    made: "Made | None" = None

    @property
    def ndim(self) -> int:
        return len(self.shape)


class Made(NamedTuple):
    """x: the input as the specification takes it, flattened perhaps. spec: None for a view."""

    x: Outline
    spec: Any
    shape_out: tuple[int, ...]


def outline(x: Any) -> Any:
    """The outline of an array, a list or a `Shape`; what is none of these as it is, for the operation to refuse."""
    if isinstance(x, Shape):
        return Outline(x.lengths, _contiguous(x.lengths, x.dtype, x.itemsize), _NUMPY, x.dtype)
    try:
        held = array("x", x)
    except Refusal:
        return x
    its = library.of(held)
    shape = tuple(held.shape)
    if its.PACKAGE in ("numpy", "torch") and its.unservable(held) is None:
        lies = its.layout(held)
    else:
        lies = _contiguous(shape, its.dtype_name(held), its.itemsize(held))
    return Outline(shape, lies, its, its.dtype_name(held), held, x)


def reshaped(x: Outline, shape: tuple[int, ...], strides: tuple[int, ...] | None) -> Outline:
    """strides: None for a contiguous copy."""
    if strides is None:
        return x._replace(shape=shape, lies=_contiguous(shape, x.lies.dtype, x.lies.itemsize, x.lies.device))
    return x._replace(shape=shape, lies=x.lies._replace(shape=shape, strides=strides))


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


def plain(x: Outline) -> bool:
    return False


def recorded(x: Outline) -> bool:
    return True


symbolic = plain


def device(x: Outline) -> str | None:
    return x.lies.device


def dtype_name(x: Outline) -> str:
    return x.dtype


def itemsize(x: Outline) -> int:
    return x.lies.itemsize


def strides(x: Outline) -> tuple[int, ...]:
    return x.lies.strides


def layout(x: Outline) -> Layout:
    return x.lies


def place(x: Outline) -> tuple[Any, ...]:
    return x.lies


def image_order(shape: tuple[int, ...], strides: tuple[int, ...]) -> Order:
    return numpy_arrays.image_order(shape, strides)


def to_numpy(x: Outline) -> Array:
    """The values that it stands for, read on the host."""
    held = x.held.cpu() if x.lies.device is not None else x.held
    return x.its.to_numpy(held)
