"""What every specification says of itself: a checked call in plain values, without its array.

Shapes are not part of it, so one value serves every array of that rank. Under PyTorch's compiler sizes may be symbols.
"""

from collections.abc import Callable
from typing import Any, Protocol

from tenter._arrays.layout import Order

Shape = tuple[int, ...]
Maps = tuple[tuple[int, Any], ...]  # (axis, map), ascending; Runs for counts that are on a device
ImageOrder = Callable[[Shape, Shape], Order]  # Library.image_order


class Spec(Protocol):
    def shape_out(self, shape: Shape) -> Shape:
        """The result's shape."""

    def maps(self, shape: Shape, dtype: str, on_device: bool) -> Maps:
        """The map of each axis that changes, for an array of that shape; on_device: by PyTorch's rules for CUDA."""

    def kept(self, ndim: int) -> list[int]:
        """Dims that the operation leaves alone, which shards may cut."""

    def order(self, shape: Shape, strides: Shape, image_order: ImageOrder, saturate: bool) -> Order:
        """The result's dims from slowest to fastest, for an input of that shape and strides."""

    def saturates(self, dtype: str) -> bool:
        """Whether 8-bit integers are rounded to 8 bits after each axis."""

    def batched(self) -> Any:
        """The same specification with one more dim in front, which it leaves alone."""

    def operands(self) -> tuple[Any, ...]:
        """What PyTorch's operator carries of it; `operands.py` reads it back."""

    def adjoint_operands(self, shape: Shape) -> tuple[Any, ...]:
        """What the adjoint operator carries, whose result has the shape of the operation's input."""
