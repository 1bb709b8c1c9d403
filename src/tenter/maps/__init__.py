"""Axis maps: every operation here is a sparse matrix along one axis, `y[o] = sum_i A[o, i] * x[i]`.
Provisional: they may change before 1.0.

A map is an immutable value. `A.T` is its gradient, `A.dense()` its matrix, `A.reads(lo, hi)` the inputs that a slice of
outputs needs, and `A.apply(x, axis)` runs it on an array or tensor. The matrix is never formed to be applied.

Maps have the algebra of matrices: `B @ A` is the map that applies `A`, then `B`; `A @ x` applies one to a vector, or
along the last but one axis of an array, as NumPy's matmul does; `A + B`, `2 * A`, and `A[lo:hi]` for some of the rows.
The result is a `Copy` if it can be, else a `Window`, else a `Gather`. `A.to_scipy()`, `Window.from_scipy(matrix)` and
`Gather.from_scipy(matrix)` exchange matrices with `scipy.sparse`.

>>> halves = Window(4, 2, start=[0, 2], offset=[0, 2, 4], weight=[0.5, 0.5, 0.5, 0.5])
>>> halves @ Copy.repeat_each(2, 2)
Copy(2 -> 2: o // 1)
>>> (2 * halves)[1:] @ np.arange(4.0)
array([5.])

Three kinds, by what a row of the matrix holds: `Copy` one 1; `Window` weights for adjacent inputs; `Gather` weights for
any inputs. `block` makes the map one of whole blocks: `A` with `block=b` is the Kronecker product of `A` with the
identity of size `b`, so a tile is one block copied `r` times. `from_coordinates` makes the map between axes whose
positions are given.
"""

import importlib

from tenter.maps import _algebra, _transposed
from tenter.maps._coordinates import from_coordinates
from tenter.maps._copy import Copy
from tenter.maps._gather import Gather
from tenter.maps._operators import Operators
from tenter.maps._window import Window

__all__ = ["AxisMap", "Copy", "Gather", "Window", "from_coordinates"]

AxisMap = Copy | Window | Gather

Copy.T = property(_transposed.of_copy)  # type: ignore[assignment]
Window.T = property(_transposed.of_window)  # type: ignore[assignment]
Window.from_scipy = classmethod(_algebra.from_scipy)  # type: ignore[assignment]
Gather.from_scipy = classmethod(_algebra.from_scipy)  # type: ignore[assignment]
for _name, _function in (
    ("__matmul__", _algebra.matmul),
    ("__add__", _algebra.add),
    ("__mul__", _algebra.times),
    ("__rmul__", _algebra.times),
    ("__getitem__", _algebra.item),
    ("to_scipy", _algebra.to_scipy),
):
    setattr(Operators, _name, _function)


def _html_of(self: AxisMap) -> str:
    """Imports the drawing code only when a drawing is asked for. Most programs draw nothing."""
    words: str = importlib.import_module("tenter.maps._html").html_of(self)
    return words


for _kind in (Copy, Window, Gather):
    _kind._repr_html_ = _html_of  # type: ignore[union-attr]


def __dir__() -> list[str]:
    return __all__
