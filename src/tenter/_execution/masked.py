"""resize of arrays with missing values. With m one where a value is there and 0 elsewhere, and A the maps of all axes,
the result is A(x m) / A(m): weights are normalized over the values that are there. A(m) is the valid share of an
output."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays import blocks, limits
from tenter._arrays.arguments import array, describe, flag
from tenter._arrays.dtypes import DTYPES, is_numeric
from tenter._arrays.errors import refuse
from tenter._arrays.foreign import class_name
from tenter._arrays.layout import resized_order
from tenter._arrays.library import dtype_name, of, on_device, surely
from tenter._arrays.types import Array
from tenter._execution import calls, chunks, executor, fill_value, into, missing
from tenter._plans.plan import CallPlan, plan
from tenter._rules.axis_rule import NEAREST
from tenter._specs import resize_arguments
from tenter._specs.resize import Resize
from tenter._specs.resize_arguments import Arguments

# Modes without negative weights: a share is then the part of the weight that valid values have.
POSITIVE = frozenset((*NEAREST, "linear", "area", "overlap", "box", "hamming", "bspline", "gaussian"))
# Elsewhere values that are there may cancel out. Half of the weight bounds what a division by the share adds.
LEAST = 0.5
# How far rounding moves a sum of weights.
ROUNDING = 1e-5

Sum = Callable[[Any, Any], Any]


class Gaps(NamedTuple):
    """Arguments of a call, as they were given."""

    where: Any = None
    skipna: Any = False
    min_valid: Any = None


class Rule(NamedTuple):
    """What is done with gaps.

    skipna: whether NaN is one
    above: outputs with a share above it are valid
    fill: what others become
    value: the fill value of edges that read it; None where no edge does
    copies: whether each output is one input
    only_values: whether nobody asks which outputs are valid
    """

    skipna: bool
    above: float
    fill: Any
    value: Any
    copies: bool
    only_values: bool


class Shares(NamedTuple):
    """there: which outputs are valid
    divisor: the valid share of weight of these
    """

    there: Any
    divisor: Any


def is_masked(x: Any) -> bool:
    return isinstance(x, np.ma.MaskedArray)


def perform(x: Any, given: Arguments, gaps: Gaps, out: Any) -> Any:
    """Returns the result of a call with gaps. A masked array gives one."""
    if not is_masked(x):
        made = resized(array("x", x), given, gaps, out)[0]
        return made if out is None else calls.copied(made, out)
    if out is not None:
        refuse(TypeError, "out", f"none for {class_name(type(x))}", describe(out))
    data, valid = np.asarray(x), ~np.ma.getmaskarray(x)
    where = checked(gaps.where, data)
    made, there = resized(data, given, gaps._replace(where=valid if where is None else valid & where), None, False)
    return np.ma.MaskedArray(made, np.broadcast_to(~there, made.shape), fill_value=x.fill_value)


def resized(x: Any, given: Arguments, gaps: Gaps, out: Any = None, only_values: bool = True) -> tuple[Any, Any]:
    """Returns the result, and which outputs are valid; None for all, or maybe if only values are wanted."""
    where = checked(gaps.where, x)
    flag("skipna", gaps.skipna)
    least = _share(gaps)
    has_nan = dtype_name(x) in DTYPES and DTYPES[dtype_name(x)].kind in "fc"
    spec, flipped = resize_arguments.checked(x, given, fills=not has_nan)
    if out is not None:
        into.check(out, x, spec.shape_out(tuple(x.shape)))
    mask = None if where is None else laid_out(where, x, spec.axes)
    if flipped:
        runs = executor.of(x)
        x, mask = runs.flip(x, flipped), None if mask is None else runs.flip(mask, flipped)
    rule = rule_of(spec, has_nan, bool(gaps.skipna), least, given.value)._replace(only_values=only_values)

    plans: dict[Any, CallPlan] = {}  # of blocks, of which all but the last are alike

    def summed(x: Any, value: Any) -> Any:
        if value is None or (value == 0 and is_numeric(dtype_name(x))):
            if not isinstance(x, np.ndarray):
                return calls.execute(x, spec)
            key = x.dtype, x.shape, x.strides
            if key not in plans:
                plans[key] = plan(x, spec)
            return executor.of(x).execute(x, plans[key])
        return fill_value.resized(x, spec, value)

    if mask is None and not rule.skipna:
        return summed(x, rule.value), None
    if isinstance(x, np.ndarray):
        return _of_numpy(x, mask, spec, summed, rule)
    its = of(x)
    if its.PACKAGE != "torch" or not its.is_ordinary(x) or on_device(x) or dtype_name(x) in ("bfloat16", "complex32"):
        return whole(x, mask, None, summed, rule)
    if x.requires_grad:  # NumPy arrays would end PyTorch's graph
        return whole(x, mask, None, summed, rule)
    y, there = _of_numpy(its.to_numpy(x), None if mask is None else its.to_numpy(mask), spec, summed, rule)
    return its.from_numpy(y, x), there


def rule_of(spec: Resize, has_nan: bool, skipna: bool, least: float | None, value: Any) -> Rule:
    """least: `min_valid`"""
    kinds = [rule.kind for rule in spec.rules]
    if least is None:
        least = 0.0 if all(isinstance(kind, str) and kind in POSITIVE for kind in kinds) else LEAST
    return Rule(
        skipna and has_nan,
        max(least - ROUNDING, 0.0),
        math.nan if has_nan else value,
        value if any(rule.edge in ("constant", "extrapolate") for rule in spec.rules) else None,
        all(kind in NEAREST for kind in kinds),
        True,
    )


def _share(gaps: Gaps) -> float | None:
    """Returns the checked `min_valid`."""
    share = gaps.min_valid
    if share is None:
        return None
    if gaps.where is None and not gaps.skipna:
        refuse(ValueError, "min_valid", "none without where or skipna", describe(share))
    if isinstance(share, (bool, np.bool_)) or not isinstance(share, (int, float, np.integer, np.floating)):
        refuse(TypeError, "min_valid", "a number from 0 to 1", describe(share))
    if not 0 <= share <= 1:
        refuse(ValueError, "min_valid", "a number from 0 to 1", describe(share))
    return float(share)


def checked(where: Any, x: Any) -> Any:
    """Returns a mask that is an array of x's library."""
    if where is None:
        return None
    if is_masked(where):
        refuse(TypeError, "where", "a plain array of bools", class_name(type(where)))
    where = array("where", where)
    if dtype_name(where) != "bool":
        refuse(TypeError, "where", "bools, True where x is valid", describe(where))
    if isinstance(where, np.ndarray):
        where = where if isinstance(x, np.ndarray) else of(x).from_numpy(where.copy(), x)
    elif of(where) is not of(x):
        refuse(TypeError, "where", f"an array of {of(x).PACKAGE} or NumPy, as x is", class_name(type(where)))
    elif (on := getattr(where, "device", None)) != getattr(x, "device", None) and not of(x).traced(x):
        refuse(TypeError, "where", f"one on {x.device}", f"one on {on}")
    fits = where.ndim <= x.ndim and not any(
        surely(n != 1) and surely(n != m) for n, m in zip(reversed(where.shape), reversed(x.shape))
    )
    if not fits:
        refuse(ValueError, "where", f"a shape that broadcasts to x's, {tuple(x.shape)}", f"{tuple(where.shape)}")
    return where


def laid_out(where: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Returns the mask with x's dims: of x's lengths along axes, elsewhere maybe of length 1."""
    runs = executor.of(x)
    shape = (*(1,) * (x.ndim - where.ndim), *where.shape)
    wanted = tuple(x.shape[d] if d in axes else n for d, n in enumerate(shape))
    where = runs.reshape(where, shape)
    return where if tuple(shape) == wanted else runs.expand(where, wanted)


def _of_numpy(x: Array, mask: Array | None, spec: Resize, summed: Sum, rule: Rule) -> tuple[Array, Array | None]:
    is_plain = rule.only_values and not rule.copies and rule.value is None
    if is_plain and x.dtype in missing.DTYPES and x.size and math.prod(spec.shape_out(x.shape)):
        return missing.resized(x, mask, spec, rule.skipna, rule.above), None
    return _by_blocks(x, mask, spec, summed, rule)


def _by_blocks(x: Array, mask: Array | None, spec: Resize, summed: Sum, rule: Rule) -> tuple[Array, Array | None]:
    """Fills, resizes and divides blocks of the slowest dim that fit in the caches, if that dim is not resized."""
    order = resized_order(x.shape, x.strides, spec.axes, False)
    slow = next((d for d in order if x.shape[d] > 1), 0)
    shape = spec.shape_out(x.shape)
    n_bytes = 8 * max(x.size, math.prod(shape))
    if slow in spec.axes or n_bytes <= chunks.BYTES:
        return whole(x, mask, None, summed, rule)
    limits.memory(shape, x.itemsize)
    back = np.argsort(order).tolist()
    y: Array = blocks.empty(tuple(shape[d] for d in order), x.dtype)[0].transpose(back)
    same = mask is None or mask.shape[slow] == 1  # the mask of all blocks
    alike = same and not rule.skipna and not rule.copies
    shares = _shares(x, mask, summed, rule) if alike else None
    there = None
    for some in chunks.lengths(x.shape[slow], n_bytes):
        place = chunks.along(slow, some)
        y[place], here = whole(x[place], mask if mask is None or same else mask[place], shares, summed, rule)
        if here is None:
            continue
        if there is None:
            n = 1 if alike else x.shape[slow]
            there = np.empty((*here.shape[:slow], n, *here.shape[slow + 1 :]), np.bool_)
        there[place] = here
    return y, there


def whole(x: Any, mask: Any, shares: Shares | None, summed: Sum, rule: Rule) -> tuple[Any, Any]:
    """Returns a result, and which outputs are valid if that is asked for.

    shares: those of the mask, if they are known
    summed(x, fill value of the padding): the sums of x by the maps
    """
    runs = executor.of(x)
    if rule.only_values and not rule.copies and _by_nan(x, rule):
        wide = runs.widened(x) if DTYPES[dtype_name(x)].narrow else x
        if wide.dtype in missing.DTYPES:
            return runs.rounded(_by_core(wide, mask, shares, summed, rule), x), None
    valid = mask
    if rule.skipna:
        there = x == x
        valid = there if mask is None else there & mask
    if rule.copies:
        there, _ = _shares(x, valid, summed, rule)
        return runs.filled(summed(x, rule.value), there, rule.fill), there
    wide = runs.widened(x) if DTYPES[dtype_name(x)].narrow else x
    values = summed(runs.zeroed(wide, valid), rule.value)
    there, divisor = _shares(x, valid, summed, rule) if shares is None else shares
    y = runs.rounded(runs.over(values, divisor), x)
    return (y if _by_nan(x, rule) else runs.filled(y, there, rule.fill)), there


def _by_core(x: Array, mask: Array | None, shares: Shares | None, summed: Sum, rule: Rule) -> Any:
    """As `whole`, for floats."""
    values, ones = missing.filled(x, mask, rule.skipna, shares is None)
    sums = summed(values, rule.value)
    if shares is not None:
        return executor.of(x).over(sums, shares.divisor)
    return missing.divided(sums, summed(ones, None if rule.value is None else 1), rule.above)


def _by_nan(x: Any, rule: Rule) -> bool:
    """Whether dividing by NaN makes outputs NaN, which takes no pass of its own and has no gradient."""
    return isinstance(x, np.ndarray) and math.isnan(rule.fill)


def _shares(x: Any, valid: Any, summed: Sum, rule: Rule) -> Shares:
    """Returns the shares of a mask. An edge that reads `value` reads a valid one."""
    name = dtype_name(x)
    if rule.copies:  # some positions depend on the dtype
        dtype = name if name in ("float64", "uint8") else "float32"
    else:
        dtype = "float32" if DTYPES[name].sums == "float32" and DTYPES[name].kind in "fc" else "float64"
    runs = executor.of(x)
    share = summed(runs.cast(valid, dtype), None if rule.value is None else 1)
    there = share > rule.above
    return Shares(there, share if rule.copies else runs.filled(share, there, math.nan if _by_nan(x, rule) else 1))
