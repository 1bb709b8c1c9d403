"""Axis maps: every operation here is a sparse matrix along one axis, `y[o] = sum_i A[o, i] * x[i]`.

A map is an immutable value. `A.T` is its gradient, `A.dense()` its matrix, `A.reads(lo, hi)` the inputs that a slice of
outputs needs, and `A.apply(x, axis)` runs it on an array or tensor. The matrix is never formed to be applied.

Three kinds, by what a row of the matrix holds: `Copy` one 1; `Window` weights for adjacent inputs; `Gather` weights for
any inputs. `block` makes the map one of whole blocks: `A` with `block=b` is the Kronecker product of `A` with the
identity of size `b`, so a tile is one block copied `r` times.
"""

import importlib

from tenter.maps import _transposed
from tenter.maps._copy import Copy
from tenter.maps._gather import Gather
from tenter.maps._window import Window

__all__ = ["AxisMap", "Copy", "Gather", "Window"]

AxisMap = Copy | Window | Gather

Copy.T = property(_transposed.of_copy)  # type: ignore[assignment]
Window.T = property(_transposed.of_window)  # type: ignore[assignment]


def _html_of(self: AxisMap) -> str:
    """What draws is imported when it is asked for, as most programs draw nothing."""
    words: str = importlib.import_module("tenter.maps._html").html_of(self)
    return words


for _kind in (Copy, Window, Gather):
    _kind._repr_html_ = _html_of  # type: ignore[union-attr]
