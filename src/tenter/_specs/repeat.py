"""repeat, tile and repeat_interleave, checked."""

from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.layout import Order
from tenter._rules.rounding import ONCE
from tenter._specs.spec import ImageOrder, Maps, Shape
from tenter.maps import Copy
from tenter.maps._counts import CountCopy
from tenter.maps._values import trusted


class Repeat(NamedTuple):
    """Repeats each dim d `sizes[d]` times: each element in a row, or the whole dim as often."""

    sizes: tuple[int, ...]
    each: bool

    def shape_out(self, shape: Shape) -> Shape:
        return tuple(n * r for n, r in zip(shape, self.sizes))

    def maps(self, shape: Shape, dtype: str, on_device: bool) -> Maps:
        make = Copy.repeat_each if self.each else Copy.tile
        return tuple((axis, make(n, r)) for axis, (n, r) in enumerate(zip(shape, self.sizes)) if r != 1)

    def batch_dims(self, ndim: int) -> list[int]:
        return [d for d, r in enumerate(self.sizes) if r == 1]

    def order(self, shape: Shape, strides: Shape, image_order: ImageOrder, rounding: str) -> Order:
        return tuple(range(len(shape)))  # contiguous, as in PyTorch

    def rounding_of(self, dtype: str) -> str:
        return ONCE

    def batched(self) -> "Repeat":
        return Repeat((1, *self.sizes), self.each)

    def operands(self) -> tuple[Any, ...]:
        return self.sizes, self.each

    def adjoint_operands(self, shape: Shape) -> tuple[Any, ...]:
        return shape, self.sizes, self.each


class RepeatCounts(NamedTuple):
    """Repeats position i of dim `offsets[i + 1] - offsets[i]` times; `n_out` is `offsets[-1]`. offsets: a NumPy array
    for host memory, or a tensor."""

    offsets: Any
    dim: int
    n_out: int

    def shape_out(self, shape: Shape) -> Shape:
        return (*shape[: self.dim], self.n_out, *shape[self.dim + 1 :])

    def maps(self, shape: Shape, dtype: str, on_device: bool) -> Maps:
        if not isinstance(self.offsets, np.ndarray):
            return ((self.dim, CountCopy(shape[self.dim], self.n_out)),)
        n_in, n_out = len(self.offsets) - 1, int(self.offsets[-1])
        return ((self.dim, trusted(Copy, n_in=n_in, n_out=n_out, repeat=None, offsets=self.offsets, block=1)),)

    def batch_dims(self, ndim: int) -> list[int]:
        return [d for d in range(ndim) if d != self.dim]

    def order(self, shape: Shape, strides: Shape, image_order: ImageOrder, rounding: str) -> Order:
        return tuple(range(len(shape)))

    def rounding_of(self, dtype: str) -> str:
        return ONCE

    def batched(self) -> "RepeatCounts":
        return self._replace(dim=self.dim + 1)

    def operands(self) -> tuple[Any, ...]:
        return tuple(self)

    def adjoint_operands(self, shape: Shape) -> tuple[Any, ...]:
        return self.offsets, self.dim


def every(ndim: int, dim: int, each: int) -> Repeat:
    """Returns the repeat of each position of one dim, `each` times in a row."""
    return Repeat(tuple([each if d == dim else 1 for d in range(ndim)]), True)
