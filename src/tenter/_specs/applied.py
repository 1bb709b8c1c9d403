"""Maps applied by themselves, checked."""

from typing import Any, NamedTuple, NoReturn

from tenter._arrays.errors import refuse
from tenter._arrays.layout import Order, resized_order
from tenter._rules.rounding import ONCE, by_axis, of_dtype
from tenter._specs.spec import ImageOrder, Maps, Shape
from tenter.maps import AxisMap
from tenter.maps._written import written


class Applied(NamedTuple):
    """`map` along `axis`."""

    axis: int
    map: AxisMap

    def shape_out(self, shape: Shape) -> Shape:
        return (*shape[: self.axis], self.map.n_out, *shape[self.axis + 1 :])

    def maps(self, shape: Shape, dtype: str, on_device: bool) -> Maps:
        return ((self.axis, self.map),)

    def batch_dims(self, ndim: int) -> list[int]:
        return [d for d in range(ndim) if d != self.axis]

    def order(self, shape: Shape, strides: Shape, image_order: ImageOrder, rounding: str) -> Order:
        return tuple(range(len(shape)))

    def rounding_of(self, dtype: str) -> str:
        return ONCE

    def batched(self) -> "Applied":
        return Applied(self.axis + 1, self.map)

    def operands(self) -> tuple[Any, ...]:
        return self.axis, written(self.map)

    def adjoint_operands(self, shape: Shape) -> tuple[Any, ...]:
        return self.operands()


class AppliedMaps(NamedTuple):
    """Maps along some axes, ascending, of arrays that are not traced. There is no operator for several maps at once.

    rounding: of 8-bit integers
    by_memory: the result has x's memory order, as in `resize`, and sums are taken in that order
    lengths: of the whole array along these axes, if x is a part of it
    """

    applied: Maps
    rounding: str
    by_memory: bool = False
    lengths: tuple[int, ...] = ()

    def shape_out(self, shape: Shape) -> Shape:
        after = dict(self.applied)
        return tuple([after[d].n_out if d in after else n for d, n in enumerate(shape)])

    def maps(self, shape: Shape, dtype: str, on_device: bool) -> Maps:
        return self.applied

    def batch_dims(self, ndim: int) -> list[int]:
        return [d for d in range(ndim) if d not in dict(self.applied)]

    def order(self, shape: Shape, strides: Shape, image_order: ImageOrder, rounding: str) -> Order:
        if not self.by_memory:
            return tuple(range(len(shape)))
        axes = [axis for axis, _ in self.applied]
        whole = dict(enumerate(shape)) | dict(zip(axes, self.lengths))
        return resized_order(shape, strides, axes, by_axis(rounding), list(whole.values()))

    def rounding_of(self, dtype: str) -> str:
        return of_dtype(self.rounding, dtype)

    def batched(self) -> NoReturn:
        raise AssertionError("maps on several axes are never traced")

    def operands(self) -> NoReturn:
        refuse(TypeError, "grad", "a plain tensor, where several maps were applied at once", "one that is traced")

    def adjoint_operands(self, shape: Shape) -> NoReturn:
        self.operands()
