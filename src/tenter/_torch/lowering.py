"""Expressions in Inductor's language, from what outputs read along each axis. This file and `inductor.py` contain all
of Inductor's names. Both are imported after Inductor."""

import math
from typing import Any, NamedTuple, cast

import numpy as np
import sympy  # type: ignore[import-untyped]
import torch
from torch import Tensor
from torch._inductor import ir
from torch._inductor.virtualized import V, ops
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._sympy.functions import FloorDiv, ModularIndexing

from tenter._torch.expressions import AxisExpression, Formula

Loader = Any  # from index expressions to a value in Inductor's language


class Axis(NamedTuple):
    """What outputs read along an axis, with tables as constants of the graph."""

    reads: AxisExpression
    inputs: Loader | None
    weight: Loader | None
    empty: Loader | None


def expression(x: Any, found: tuple[AxisExpression, ...], like: Tensor) -> Any:
    """Returns the sum, over all taps of all axes, of weights times elements of x. It is taken as in the kernels: in the
    accumulator's dtype, along the last axis first, in ascending order of inputs, with fused multiply-add. like: a
    tensor with the result's shape and dtype."""
    device, dtype = x.get_device(), like.dtype
    taps = math.prod(r.taps for r in found)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    converts = taps > 1 and dtype != wide
    # Inductor then stores what is costly to compute. Otherwise it would compute it for every reader.
    x.mark_reuse(max(taps, 4))
    load = x.make_loader()
    axes = [_axis(r, length(like.shape[r.axis]), device, wide) for r in found]
    divided = {a.reads.axis for a in axes if a.inputs is None and cast(Formula, a.reads.inputs).divides}

    def value(at: tuple[Any, ...], rest: list[Axis]) -> Any:
        if not rest:
            return ops.to_dtype(load(at), wide) if converts else load(at)
        first, *others = rest
        d = first.reads.axis
        o = at[d]
        total = None
        for tap in range(first.reads.taps):
            term = value((*at[:d], _input(first, o, tap), *at[d + 1 :]), others)
            total = _plus(total, term, None if first.weight is None else first.weight([sympy.Integer(tap), o]))
        return total if first.empty is None else ops.where(first.empty([o]), ops.constant(0.0, wide), total)

    def inner(at: Any) -> Any:
        found = value(tuple(_one_term(o, d in divided) for d, o in enumerate(at)), axes)
        return ops.to_dtype(found, dtype) if converts else found

    return ir.Pointwise.create(device=device, dtype=dtype, inner_fn=inner, ranges=[length(n) for n in like.shape])


def length(n: Any) -> Any:
    return n.node.expr if isinstance(n, torch.SymInt) else sympy.Integer(n)


def _one_term(o: Any, divided: bool) -> Any:
    """Returns an index of outputs as one term if a quotient of it could be negative. Code after this, such as flip, may
    ask for output n - 1 - i. Inductor takes multiples of the divisor out of a quotient:

        (2 n - 1 - i) // 2 = n + (-1 - i) // 2

    If x is a view, which takes its index modulo n, Inductor then leaves n out, because it sees no minus sign. In C the
    remainder of a negative number is negative: a read before the array. Inductor takes nothing out of an absolute
    value. A sum of terms that are not negative, as from a loop without such code, stays as it is."""
    if not divided and not o.has(FloorDiv, ModularIndexing):
        return o
    return o if all(term.is_nonnegative for term in sympy.Add.make_args(o)) else sympy.Abs(o)


def _plus(total: Any, term: Any, weight: Any) -> Any:
    if weight is None:
        return term if total is None else ops.add(total, term)
    if total is None:
        return ops.mul(term, weight)
    return ops.fma(term, weight, total) if hasattr(ops, "fma") else ops.add(total, ops.mul(term, weight))


def _input(axis: Axis, o: Any, tap: int) -> Any:
    formula, n_in = axis.reads.inputs, length(axis.reads.n_in)
    if axis.inputs is not None:
        return ops.indirect_indexing(axis.inputs([sympy.Integer(tap), o]), n_in, check=False, wrap_neg=False)
    assert isinstance(formula, Formula)
    if formula.modulo is not None:
        o = ModularIndexing(o, 1, length(formula.modulo))
    return FloorDiv(o, formula.divide) * formula.times + tap * length(formula.each) + formula.first


def _axis(r: AxisExpression, n_out: Any, device: torch.device, wide: torch.dtype) -> Axis:
    inputs = r.inputs
    # Inductor's loops for a processor would divide for every element, which takes longer than reading a table.
    if isinstance(inputs, Formula) and inputs.divides and device.type == "cpu" and inputs.known and n_out.is_Integer:
        inputs = inputs.table(int(n_out))
    return Axis(
        r,
        None if isinstance(inputs, Formula) else _table(inputs, torch.int32, device),
        None if r.weight is None else _table(r.weight, wide, device),
        None if r.empty is None else _table(r.empty, torch.bool, device),
    )


def _table(values: Any, dtype: torch.dtype, device: torch.device) -> Loader:
    with _disable_current_modes():
        table = torch.from_numpy(np.array(values)).to(device, dtype)
    return V.graph.add_tensor_constant(table).make_loader()
