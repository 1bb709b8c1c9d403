"""What a compiled expression reads along an axis: an input and a weight for each tap, from the maps that kernels use.

Inputs are a formula if lengths may be symbols, or if the kernels need no table either. Otherwise they are a table
(`maps/_tap_table.py`).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays import torch_private
from tenter._arrays.types import Floats, Ints
from tenter._rules.axis_rule import NEAREST, AxisRule
from tenter._specs.applied import Applied
from tenter._specs.repeat import Repeat, RepeatCounts
from tenter._specs.resize import Interpolate, Resize
from tenter._specs.spec import Shape, Spec
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._tap_table import tap_table

# With more taps an expression reads more than it saves.
MOST_TAPS = 16
LONGEST = 1 << 15


class Formula(NamedTuple):
    """Tap t of output o reads input (o % modulo)

    divide * times + t * each + first.
    """

    modulo: Any = None
    divide: int = 1
    times: int = 1
    each: Any = 0
    first: int = 0

    @property
    def divides(self) -> bool:
        return self.divide != 1 or self.modulo is not None

    @property
    def known(self) -> bool:
        """True if it contains no symbol."""
        return self.each == 0 and (self.modulo is None or type(self.modulo) is int)

    def table(self, n_out: int) -> Ints:
        """Returns the inputs of one tap."""
        o = np.arange(n_out)
        o = o if self.modulo is None else o % self.modulo
        return np.asarray(o // self.divide * self.times + self.first)[None]


class AxisExpression(NamedTuple):
    """What outputs read along an axis.

    inputs: a formula, or a table with one row for each tap
    weight: a table with one row for each tap; None if all weights are one
    empty: which outputs read nothing; None if all read something
    """

    axis: int
    n_in: Any
    taps: int
    inputs: Formula | Ints
    weight: Floats | None = None
    empty: Any = None


def reads(spec: Spec, shape: Shape, transposed: bool, dtype: str, on_device: bool) -> tuple[AxisExpression, ...] | None:
    """Returns what the outputs of a specification, or of its adjoint, read along each axis that changes. None if only
    the kernels can compute them. shape: the input's; lengths may be symbols."""
    if isinstance(spec, RepeatCounts) or any(type(n) is int and n == 0 for n in shape):
        return None
    found: list[AxisExpression | None]
    if isinstance(spec, Repeat):
        if any(type(r) is not int or r < 1 for r in spec.sizes):
            return None
        found = [_repeated(d, n, r, spec.each, transposed) for d, (n, r) in enumerate(zip(shape, spec.sizes)) if r != 1]
    elif isinstance(spec, Applied):
        found = [_applied(spec.axis, spec.map.T if transposed else spec.map)]
    else:
        resize = spec.resize() if isinstance(spec, Interpolate) else spec
        if not isinstance(resize, Resize):
            return None
        found = _resized(resize, shape, transposed, dtype, on_device)
    known = tuple(r for r in found if r is not None)
    return None if len(known) < len(found) or math.prod(r.taps for r in known) > MOST_TAPS else known


def _applied(axis: int, m: AxisMap) -> AxisExpression | None:
    return _of_map(axis, m) if 0 < m.n_in <= LONGEST and 0 < m.n_out <= LONGEST and m.block == 1 else None


def _resized(spec: Resize, shape: Shape, transposed: bool, dtype: str, on_device: bool) -> list[Any]:
    lengths = [shape[a] for a in spec.axes]
    if not all(type(n) is int for n in (*lengths, *spec.size)):
        some = zip(spec.axes, spec.rules, lengths, spec.size)
        return [_multiplied(a, rule, n_in, n_out, transposed) for a, rule, n_in, n_out in some]
    if not all(0 < n <= LONGEST for n in (*lengths, *spec.size)):
        return [None]
    maps = spec.maps(shape, dtype, on_device)
    return [_of_map(a, m.T if transposed else m) for a, m in maps]


def _repeated(axis: int, n: Any, r: int, each: bool, transposed: bool) -> AxisExpression:
    if transposed:
        return AxisExpression(axis, n * r, r, Formula(times=r, each=1) if each else Formula(each=n))
    return AxisExpression(axis, n, 1, Formula(divide=r) if each else Formula(modulo=n))


def _multiplied(axis: int, rule: AxisRule, n_in: Any, n_out: Any, transposed: bool) -> AxisExpression | None:
    """Nearest kinds that enlarge by a power of two a length that is a symbol. The arithmetic is exact, also in all of
    PyTorch's kernels."""
    if rule.kind not in NEAREST or rule.box is not None:
        return None
    aligned = rule.align, rule.tie, rule.edge
    repeats = aligned in (("asymmetric", "floor", "replicate"), ("half_pixel", "prefer_ceil", "replicate"))
    if not (rule.arithmetic.startswith("torch") or (rule.arithmetic == "exact" and repeats)):
        return None
    for r in (2, 4, 8):
        if rule.scale in (None, str(r)) and torch_private.statically(n_out == n_in * r):
            return _repeated(axis, n_in, r, True, transposed)
    return None


def _of_map(axis: int, m: AxisMap) -> AxisExpression | None:
    if isinstance(m, Copy):
        return _repeated(axis, m.n_in, m.repeat, True, False) if m.repeat is not None else _indexed(axis, m, m.index())
    if isinstance(m, Gather):
        return _indexed(axis, m, m.index) if m.picks else None
    return _summed(axis, m) if m.width is None else _repeated(axis, m.n_out, m.width, True, True)


def _indexed(axis: int, m: Copy | Gather, index: Ints) -> AxisExpression:
    first, step = int(index[0]), int(index[1] - index[0]) if len(index) > 1 else 1
    if np.array_equal(index, first + step * np.arange(len(index))):
        return AxisExpression(axis, m.n_in, 1, Formula(times=step, first=first))
    return AxisExpression(axis, m.n_in, 1, index[None])


def _summed(axis: int, m: Window) -> AxisExpression | None:
    taps = int(np.diff(m.rows()[1]).max())
    if not 0 < taps <= MOST_TAPS:
        return None
    table = tap_table(m)
    empty = table.n_taps == 0
    return AxisExpression(
        axis=axis,
        n_in=m.n_in,
        taps=taps,
        inputs=table.inputs,
        weight=table.weight,
        empty=empty if empty.any() else None,
    )
