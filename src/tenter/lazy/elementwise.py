"""Functions of elements, on the inputs of the maps instead of their outputs.

`f(A x) = A f(x)` for every f where A copies, and for linear f where it weighs. Operands must agree along each dim: all
that are stretched along it by the same map, the others of length 1. Where they do not, that dim is materialized, and
the others stay.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tenter._arrays.library import is_array
from tenter.lazy.rows import column_sums, copies, keeps_constants, same
from tenter.lazy.stretched import Stretched, applied, is_float, stand_in, stretched, whole
from tenter.maps import AxisMap, Copy

# Names of NumPy's, PyTorch's and the operators' functions that are linear: of one operand; sums and differences;
# products with what is not stretched; quotients by it.
LINEAR = frozenset(("negative", "neg", "positive", "pos", "conj", "conjugate", "clone", "copy", "detach"))
SUMS = frozenset(("add", "sub", "subtract"))
PRODUCTS = frozenset(("mul", "multiply"))
QUOTIENTS = frozenset(("div", "divide", "true_divide", "truediv"))
# NumPy's functions of elements that are not ufuncs; and casts.
NUMPY = frozenset(
    ("where", "clip", "round", "around", "real", "imag", "angle", "isclose", "nan_to_num", "sinc", "copy")
)
CASTS = frozenset(("astype", "to", "type", "float", "double", "half", "bfloat16", "int", "long", "short", "bool"))
OPERATORS = frozenset((
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.lt, operator.le, operator.eq,
    operator.ne, operator.gt, operator.ge, operator.neg, operator.pos, operator.abs, operator.invert, divmod,
))  # fmt: skip

# Why a map that weighs does not go past a function: of the map, and of which operands it stretches.
Why = Callable[[AxisMap, list[int]], str | None]


def elementwise(name: str, f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], notes: list[str]) -> Any:
    """f's result or results, each a `Stretched`; None where f is not what its name says. notes: gets a line for each
    dim that is materialized."""
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
    except ValueError:  # for the library's own error
        stand_ins = [stand_in(value) if isinstance(value, Stretched) else value for value in given]
        f(*stand_ins[: len(args)], **dict(zip(kwargs, stand_ins[len(args) :])))
        return None
    bases, maps = aligned(operands, shape, why, notes)
    for k, base in zip(at, bases):
        given[k] = base
    try:
        found = f(*given[: len(args)], **dict(zip(kwargs, given[len(args) :])))
    except (RuntimeError, ValueError, ArithmeticError):
        if not any(m is not None and not np.all(column_sums(m)) for m in maps):
            raise
        return None  # as it may be of an input that no output reads
    small = np.broadcast_shapes(*[tuple(b.shape) for b in bases])
    results = found if isinstance(found, tuple) else (found,)
    if any(tuple(getattr(y, "shape", ())) != small for y in results):
        return None
    made = tuple(stretched(y, maps) for y in results)
    return made if isinstance(found, tuple) else made[0]


def result_of_one(f: Callable[..., Any], operands: list[Stretched], given: list[Any], kwargs: dict[str, Any]) -> Any:
    """f of no elements, which tells the result's dtype."""
    empty = operands[0].base[(slice(0, 0),) * operands[0].base.ndim]
    n = len(given) - len(kwargs)
    return f(empty, *given[1:n], **kwargs)


def linear_in(
    name: str, m: AxisMap, mapped: list[int], operands: list[Stretched], others: list[Any], at: list[int]
) -> str | None:
    """Why a function is not linear in the operands that a map weighs; None where it is. at: the operands' places."""
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
    return f"{name} is not linear, and the map weighs its inputs"


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
    """Arrays that broadcast to the small side of an operation whose result has that shape, and the maps of its dims."""
    operands = list(operands)
    while True:
        maps, to_apply, kept = _agreed(operands, shape, why, notes)
        if not any(to_apply):
            return [s.base for s in kept], maps
        # Values that are rounded may have been weighed along more dims than these, so the rest is looked at again.
        operands = [applied(s, dims) for s, dims in zip(operands, to_apply)]


def _agreed(
    operands: list[Stretched], shape: Sequence[int], why: Why, notes: list[str]
) -> tuple[list[AxisMap | None], list[set[int]], list[Stretched]]:
    """The result's maps; which dims of each operand must be applied before; operands without the maps of dims along
    which all outputs read one input, as these broadcast."""
    maps: list[AxisMap | None] = [None] * len(shape)
    to_apply: list[set[int]] = [set() for _ in operands]
    kept = [list(s.maps) for s in operands]
    for d, length in enumerate(shape):
        mapped: list[tuple[int, int, AxisMap]] = []
        full = spread = False
        for k, s in enumerate(operands):
            axis = d - len(shape) + len(s.maps)
            m = s.maps[axis] if axis >= 0 else None
            if m is None:
                full |= axis >= 0 and s.base.shape[axis] != 1
            elif isinstance(m, Copy) and m.n_in == 1:
                kept[k][axis], spread = None, True
            elif m.n_out == 1 != length:
                to_apply[k].add(axis)
            else:
                mapped.append((k, axis, m))
        if mapped:
            m = mapped[0][2]
            reason = None
            if full:
                reason = "an operand as long is not stretched"
            elif not all(same(m, other) for _, _, other in mapped):
                reason = "the operands are stretched by unlike maps"
            elif not copies(m):
                reason = why(m, [k for k, _, _ in mapped])
            if reason is None:
                maps[d] = m
            else:
                notes.append(f"dim {d} is materialized: {reason}")
                for k, axis, _ in mapped:
                    to_apply[k].add(axis)
        elif spread and not full:
            maps[d] = Copy.every(1, length)
    return maps, to_apply, [Stretched(s.base, tuple(m), s.summing) for s, m in zip(operands, kept)]


def is_elementwise(name: str, f: Any, args: Sequence[Any], kwargs: dict[str, Any], package: str) -> bool:
    """True if f is a function of elements, by what its library says of it."""
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
