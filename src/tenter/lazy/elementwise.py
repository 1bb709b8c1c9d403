"""Elementwise functions, applied to the inputs of the maps in place of their outputs.

`f(A x) = A f(x)` for every f if A copies, and for linear f if A sums. Operands must agree along each dim: all operands
stretched along it have the same map there, and the others have length 1. Dims along which they do not agree are
materialized, and the others stay.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tenter._arrays.library import is_array
from tenter.lazy.rows import column_sums, copies, keeps_constants, same
from tenter.lazy.stretched import Stretched, applied, is_float, like_tuple, stand_in, stretched, whole
from tenter.maps import AxisMap, Copy

# Names of linear functions of NumPy, PyTorch and the operators: of one operand; sums and differences; products with
# something not stretched; quotients by something not stretched.
LINEAR = frozenset(("negative", "neg", "positive", "pos", "conj", "conjugate", "clone", "copy", "detach"))
SUMS = frozenset(("add", "sub", "subtract"))
PRODUCTS = frozenset(("mul", "multiply"))
QUOTIENTS = frozenset(("div", "divide", "true_divide", "truediv"))
# NumPy's elementwise functions that are not ufuncs; casts.
NUMPY = frozenset(
    ("where", "clip", "round", "around", "real", "imag", "angle", "isclose", "nan_to_num", "sinc", "copy")
)
CASTS = frozenset(("astype", "to", "type", "float", "double", "half", "bfloat16", "int", "long", "short", "bool"))
OPERATORS = frozenset((
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.lt, operator.le, operator.eq,
    operator.ne, operator.gt, operator.ge, operator.neg, operator.pos, operator.abs, operator.invert, divmod,
))  # fmt: skip

# Says why a map with weights must be applied before a function, given the map and the operands that it stretches.
Why = Callable[[AxisMap, list[int]], str | None]


def elementwise(name: str, f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], notes: list[str]) -> Any:
    """Returns f's result or results, each a `Stretched`; None if f does not do what its name says. notes: receives a
    line for each dim that is materialized."""
    given = [*args, *kwargs.values()]
    at = [k for k, value in enumerate(given) if isinstance(value, Stretched) or is_array(value)]
    operands = [value if isinstance(value := given[k], Stretched) else whole(value) for k in at]
    others = [value for k, value in enumerate(given) if k not in at]

    def why(m: AxisMap, mapped: list[int]) -> str | None:
        if not all(is_float(operands[k].base) for k in mapped):
            return "weighted sums of integers are rounded"
        if name in CASTS:
            return None if is_float(result_of_one(f, operands, given, kwargs)) else "the cast is not linear"
        if kwargs:
            return f"{name} with {', '.join(kwargs)} need not be linear"
        return linear_in(name, m, mapped, operands, others, at)

    try:
        shape = np.broadcast_shapes(*[s.shape for s in operands])
    except ValueError:
        _raise_its_error(f, given, kwargs)
        return None
    bases, maps = aligned(operands, shape, why, notes)
    for k, base in zip(at, bases):
        given[k] = base
    try:
        found = _called(f, given, kwargs)
    except (RuntimeError, ValueError, ArithmeticError):
        if not any(m is not None and not np.all(column_sums(m)) for m in maps):
            raise
        return None  # the error may come from an input that no output reads
    return _stretched_results(found, bases, maps)


def _called(f: Callable[..., Any], values: list[Any], kwargs: dict[str, Any]) -> Any:
    """Calls f with the values in place of its arguments. The last ones are those of kwargs."""
    n = len(values) - len(kwargs)
    return f(*values[:n], **dict(zip(kwargs, values[n:])))


def _raise_its_error(f: Callable[..., Any], values: list[Any], kwargs: dict[str, Any]) -> None:
    """Calls f so that the library raises its own error for these shapes."""
    _called(f, [stand_in(value) if isinstance(value, Stretched) else value for value in values], kwargs)


def _stretched_results(found: Any, bases: list[Any], maps: list[AxisMap | None]) -> Any:
    """Returns the results with their maps; None if one does not have the shape to which the arrays broadcast."""
    small = np.broadcast_shapes(*[tuple(b.shape) for b in bases])
    results = found if isinstance(found, tuple) else (found,)
    if any(tuple(getattr(y, "shape", ())) != small for y in results):
        return None
    made = [stretched(y, maps) for y in results]
    return like_tuple(found, made) if isinstance(found, tuple) else made[0]


def result_of_one(f: Callable[..., Any], operands: list[Stretched], given: list[Any], kwargs: dict[str, Any]) -> Any:
    """Returns f of no elements, which has the result's dtype."""
    empty = operands[0].base[(slice(0, 0),) * operands[0].base.ndim]
    n = len(given) - len(kwargs)
    return f(empty, *given[1:n], **kwargs)


def linear_in(
    name: str, m: AxisMap, mapped: list[int], operands: list[Stretched], others: list[Any], at: list[int]
) -> str | None:
    """Says why a function is not linear in the operands of a map with weights; None if it is.

    mapped: the operands that the map stretches
    others: arguments that are not arrays
    at: the operands' positions among the arguments
    """
    still = [s.base for k, s in enumerate(operands) if k not in mapped] + others
    if name in LINEAR:
        return None
    if name in SUMS:
        if not still:
            return None
        if not all(map(finite, still)):
            return "what is added is not finite"
        return None if keeps_constants(m) else "the weights of a row do not sum to one"
    if name in PRODUCTS or name in QUOTIENTS:
        if len(mapped) != 1 or (name in QUOTIENTS and at[mapped[0]] != 0):
            return "both operands are stretched" if len(mapped) > 1 else "the divisor is stretched"
        good = finite if name in PRODUCTS else divides
        return None if all(map(good, still)) else "a factor or divisor is 0, infinite or not a number"
    return f"{name} is not linear, and the map interpolates"


def finite(value: Any) -> bool:
    if is_array(value):
        if isinstance(value, np.ndarray):
            return value.dtype.kind in "biufc" and bool(np.isfinite(value).all())
        return bool(value.isfinite().all())
    return isinstance(value, int) or (isinstance(value, (float, complex, np.number)) and bool(np.isfinite(value)))


def divides(value: Any) -> bool:
    return finite(value) and bool((value != 0).all() if is_array(value) else value != 0)


def aligned(
    operands: list[Stretched], shape: Sequence[int], why: Why, notes: list[str]
) -> tuple[list[Any], list[AxisMap | None]]:
    """Returns arrays that broadcast to the small side of an operation, and the maps of the result's dims. shape: that
    of the result."""
    operands = list(operands)
    while True:
        maps, to_apply, left = _agreed(operands, shape, why, notes)
        if not any(to_apply):
            return [s.base for s in left], maps
        # `applied` may apply more dims than these at once, if values are rounded. So the rest is checked again.
        operands = [applied(s, dims) for s, dims in zip(operands, to_apply)]


def _agreed(
    operands: list[Stretched], shape: Sequence[int], why: Why, notes: list[str]
) -> tuple[list[AxisMap | None], list[set[int]], list[Stretched]]:
    """Returns the result's maps, the dims of each operand that must be applied first, and the operands. Operands lose
    maps that repeat one input, because such dims broadcast."""
    maps: list[AxisMap | None] = [None] * len(shape)
    to_apply: list[set[int]] = [set() for _ in operands]
    left = [list(s.maps) for s in operands]
    for d, length in enumerate(shape):
        mapped: list[tuple[int, int, AxisMap]] = []
        full = spread = False
        for k, s in enumerate(operands):
            axis = d - len(shape) + len(s.maps)
            m = s.maps[axis] if axis >= 0 else None
            if m is None:
                full |= axis >= 0 and s.base.shape[axis] != 1
            elif isinstance(m, Copy) and m.n_in == 1:
                left[k][axis], spread = None, True
            elif m.n_out == 1 != length:
                to_apply[k].add(axis)
            else:
                mapped.append((k, axis, m))
        if mapped:
            reason = _disagreement(mapped, full, why)
            if reason is None:
                maps[d] = mapped[0][2]
            else:
                notes.append(f"dim {d} is materialized: {reason}")
                for k, axis, _ in mapped:
                    to_apply[k].add(axis)
        elif spread and not full:
            maps[d] = Copy.repeat_each(1, length)
    return maps, to_apply, [Stretched(s.base, tuple(m), s.summing) for s, m in zip(operands, left)]


def _disagreement(mapped: list[tuple[int, int, AxisMap]], full: bool, why: Why) -> str | None:
    """Says why the maps of a dim must be applied first; None if they need not be. mapped: (operand, its dim, map).
    full: another operand has the full length without a map."""
    m = mapped[0][2]
    if full:
        return "an operand as long is not stretched"
    if not all(same(m, other) for _, _, other in mapped):
        return "the operands are stretched by different maps"
    return None if copies(m) else why(m, [k for k, _, _ in mapped])


def is_elementwise(name: str, f: Any, args: Sequence[Any], kwargs: dict[str, Any], package: str) -> bool:
    """True if f is elementwise, according to its library."""
    if "out" in kwargs or (isinstance(f, np.ufunc) and "where" in kwargs):
        return False
    if f in OPERATORS:
        return True
    if name in CASTS:
        return not any(is_array(value) for value in args[1:])
    if name == "where":
        return len(args) == 3
    if package == "numpy":
        return (isinstance(f, np.ufunc) and f.signature is None) or name in NUMPY
    from tenter.lazy import tensors

    return tensors.is_elementwise(name, args)
