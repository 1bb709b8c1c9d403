"""An array with its dims in another order."""

from __future__ import annotations

import math

import numpy as np

from tenter._arrays.types import Array
from tenter._parts.boxes import Box, extents
from tenter.cli.volumes.stored import Stored, Writable


class Ordered:
    """order: for each dim, the one of `stored` that it is."""

    def __init__(self, stored: Stored, order: tuple[int, ...]) -> None:
        self.of, self.order, self.name, self.dtype = stored, order, stored.name, stored.dtype
        self.shape, self.unit = (tuple(of[axis] for axis in order) for of in (stored.shape, stored.unit))
        self.chunk, self.largest = stored.chunk and tuple(stored.chunk[axis] for axis in order), stored.largest

    def read(self, box: Box) -> Array:
        return np.ascontiguousarray(self.of.read(self._back(box)).transpose(self.order))

    def files(self, box: Box) -> set[str]:
        return self.of.files(self._back(box))

    def reading(self, box: Box) -> int:
        return self.of.reading(self._back(box)) + math.prod(extents(box)) * self.dtype.itemsize

    def _back(self, box: Box) -> Box:
        return tuple(box[k] for k in np.argsort(self.order))


class OrderedTarget(Ordered):
    """One that is written."""

    def __init__(self, target: Writable, order: tuple[int, ...]) -> None:
        super().__init__(target, order)
        self._to = target

    def write(self, box: Box, values: Array) -> None:
        self._to.write(self._back(box), np.ascontiguousarray(values.transpose(np.argsort(self.order))))

    def writing(self) -> int:
        return self._to.writing() + math.prod(self.unit) * self.dtype.itemsize


def ordered(stored: Stored, order: tuple[int, ...]) -> Stored:
    """The array with its dims in an order, which may be its own."""
    return stored if order == tuple(range(len(order))) else Ordered(stored, order)


def turned(stored: Stored) -> Stored:
    """The array with its dims reversed."""
    return ordered(stored, _reversed(stored))


def turned_target(target: Writable) -> Writable:
    """An array that is written, with its dims reversed."""
    return OrderedTarget(target, _reversed(target))


def _reversed(stored: Stored) -> tuple[int, ...]:
    return tuple(range(len(stored.shape)))[::-1]
