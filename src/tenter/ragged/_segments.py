"""Reductions of the positions of each row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tenter import _native
from tenter._arrays.arguments import MISSING, dim as one_dim, error, numpy_or_torch
from tenter._arrays.errors import Refusal
from tenter._arrays.library import traced
from tenter._arrays.names import misnamed, show_signature
from tenter._execution import executor, reduced, rows_into
from tenter._execution.calls import copied, written
from tenter.lazy import LazyArray
from tenter.ragged import _signatures as signatures
from tenter.ragged._given import described, held
from tenter.ragged._plan import Plan

if TYPE_CHECKING:
    from tenter.ragged._signatures import Lengths


def _quick_softmax(x: Any, lengths: Any, dim: Any) -> Any:
    y = _native.segment_less_max(x, lengths, dim)
    return None if y is None else _native.segment_share(executor.of_segments(y).exponential(y), lengths, dim)


# From arguments to result by the core alone, of plain arrays and tensors on the host; None for all others.
QUICK = {
    "sum": _native.segment_sum,
    "mean": _native.segment_mean,
    "max": _native.segment_max,
    "min": _native.segment_min,
    "softmax": _quick_softmax,
}

# Values whose result is made and copied to `out` in less time than it takes to plan how they are written there.
FEW = 1 << 12


@signatures.reduction
def segment_sum(
    x: Any = MISSING,
    lengths: Lengths = MISSING,
    dim: int = 0,
    too_many: Any = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """The sum of each row's positions along dim: the transpose of repeating, and its gradient.

    x: array or tensor of numbers of any shape; its length along dim is the sum of the lengths. lengths: n integers >=
    0, or a Plan. Returns x's dtype, with n in place of that length; an empty row's sum is 0. Sums of integers are
    exact and saturated (64-bit ones wrap), of half types taken in float32. out: where to write the result, as
    `tenter.resize` has it.

    The gradient repeats: each position gets its row's. (`np.add.reduceat`, `index_add`, `scatter_add`,
    `torch.segment_reduce`, which differ for empty rows.)

    >>> segment_sum([1, 2, 3, 4, 5], [2, 0, 3])
    array([ 3,  0, 12])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.segment_sum", segment_sum, no_other, too_many, x=x, lengths=lengths, dim=dim)
    return _reduced("sum", x, lengths, dim, out)


@signatures.reduction
def segment_mean(
    x: Any = MISSING,
    lengths: Lengths = MISSING,
    dim: int = 0,
    too_many: Any = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """The mean of each row's positions along dim; 0 of an empty row.

    x: floats or complex numbers, lengths, dim and out as for `segment_sum`. Returns x's dtype.

    >>> segment_mean([1.0, 2.0, 3.0, 4.0, 5.0], [2, 0, 3])
    array([1.5, 0. , 4. ])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.segment_mean", segment_mean, no_other, too_many, x=x, lengths=lengths, dim=dim)
    return _reduced("mean", x, lengths, dim, out)


@signatures.reduction
def segment_max(
    x: Any = MISSING,
    lengths: Lengths = MISSING,
    dim: int = 0,
    too_many: Any = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """The largest of each row's values along dim; of an empty row -inf, or the least number of an integer dtype.

    x: integers or floats of up to 64 bits, lengths, dim and out as for `segment_sum`. NaN is larger than all else.
    Returns x's dtype. The gradient goes to the first of the largest values, as PyTorch's `max` along a dim has it. -0.0
    is less than 0.0; in PyTorch's transforms and compiled code, where PyTorch's `max` runs, they are equal.

    >>> segment_max([1.0, 2.0, 5.0, 4.0, 3.0], [2, 0, 3])
    array([  2., -inf,   5.])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.segment_max", segment_max, no_other, too_many, x=x, lengths=lengths, dim=dim)
    return _reduced("max", x, lengths, dim, out)


@signatures.reduction
def segment_min(
    x: Any = MISSING,
    lengths: Lengths = MISSING,
    dim: int = 0,
    too_many: Any = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """The smallest of each row's values along dim; of an empty row inf, or the largest number of an integer dtype.

    x, lengths, dim and out as for `segment_max`. NaN is smaller than all else. The gradient goes to the first of the
    smallest.

    >>> segment_min([1.0, 2.0, 5.0, 4.0, 3.0], [2, 0, 3])
    array([ 1., inf,  3.])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.segment_min", segment_min, no_other, too_many, x=x, lengths=lengths, dim=dim)
    return _reduced("min", x, lengths, dim, out)


@signatures.reduction
def segment_softmax(
    x: Any = MISSING,
    lengths: Lengths = MISSING,
    dim: int = 0,
    too_many: Any = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """exp(x) over its sum within each row along dim: x's shape, each row's values add up to 1.

    x: floats, lengths, dim and out as for `segment_sum`. Half types are computed in float32. A row of -inf gives NaN,
    as PyTorch's `softmax` does. Known from attention over the edges of each node of a graph.

    >>> segment_softmax([5.0, 5.0, 7.0], [2, 0, 1])
    array([0.5, 0.5, 1. ])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.segment_softmax", segment_softmax, no_other, too_many, x=x, lengths=lengths, dim=dim)
    return _reduced("softmax", x, lengths, dim, out)


def _reduced(how: str, x: Any, lengths: Any, dim: Any, out: Any) -> Any:
    if out is None and not traced() and (found := QUICK[how](x, lengths, dim)) is not None:
        return found
    if isinstance(x, LazyArray):
        if how == "sum" and out is None:
            return x.segment_sum(lengths.map if isinstance(lengths, Plan) else lengths, dim)
        x = x.materialize()
    try:
        x = numpy_or_torch("x", x)
        if out is not None:
            if not traced() and math.prod(x.shape) <= FEW and (found := QUICK[how](x, lengths, dim)) is not None:
                return copied(found, out)
            found = rows_into.reduce(how, x, held(lengths), dim, out)
            return written(found, out, lambda: _reduced(how, x, lengths, dim, None))
        positions = x.shape[one_dim("dim", dim, x.ndim)] if x.ndim else None
        return reduced.reduce(how, x, described(f"ragged.segment_{how}", lengths, positions), dim)
    except Refusal as refusal:
        raise error(refusal, f"ragged.segment_{how}", x, lengths=lengths, dim=dim, out=out) from None


for _function in (segment_sum, segment_mean, segment_max, segment_min, segment_softmax):
    show_signature(_function)
