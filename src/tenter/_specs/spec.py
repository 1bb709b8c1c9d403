"""The protocol of specifications. A specification is a checked call in plain values, without its array.

It contains no shapes, so one value describes every array of that rank. Under PyTorch's compiler, sizes may be symbols.
"""

from collections.abc import Callable
from typing import Any, Protocol

from tenter._arrays.layout import Order

Shape = tuple[int, ...]
Maps = tuple[tuple[int, Any], ...]  # (axis, map), ascending; CountCopy for counts on a device
ImageOrder = Callable[[Shape, Shape], Order]  # Library.image_order


class Spec(Protocol):
    def shape_out(self, shape: Shape) -> Shape:
        """Returns the result's shape."""

    def maps(self, shape: Shape, dtype: str, on_device: bool) -> Maps:
        """Returns the map of each axis that changes, for an array of that shape. on_device: PyTorch's rules for CUDA
        apply."""

    def batch_dims(self, ndim: int) -> list[int]:
        """Returns the dims that the operation does not change. They may be sharded."""

    def order(self, shape: Shape, strides: Shape, image_order: ImageOrder, rounding: str) -> Order:
        """Returns the result's dims from slowest to fastest, for an input of that shape and strides."""

    def rounding_of(self, dtype: str) -> str:
        """Returns how results of a dtype are rounded (`_rules/rounding.py`)."""

    def batched(self) -> Any:
        """Returns the specification with one more batch dim in front."""

    def operands(self) -> tuple[Any, ...]:
        """Returns the operands of PyTorch's operator. `operands.py` reads them back."""

    def adjoint_operands(self, shape: Shape) -> tuple[Any, ...]:
        """Returns the operands of the adjoint operator, whose result has the shape of the operation's input."""
