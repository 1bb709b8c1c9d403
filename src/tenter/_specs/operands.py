"""Specifications from the operands of PyTorch's operators, which a graph's author may write by hand. The same checks
run for memory, for shapes alone and under vmap. What the public functions pass has been checked before.

Each operation has a pair: for x of a shape, and for a gradient of a shape together with the shape of x. Sizes may be
symbols. The kernels check what is not known while tracing.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tenter._arrays.dtypes import is_numeric
from tenter._arrays.errors import refuse
from tenter._arrays.library import surely
from tenter._rules.axis_rule import NEAREST, read, user_filters
from tenter._rules.rounding import OF_CALLS
from tenter._specs.applied import Applied
from tenter._specs.repeat import Repeat, RepeatCounts
from tenter._specs.resize import KINDS, Interpolate, Resize
from tenter.maps import AxisMap
from tenter.maps._kinds import only_copies
from tenter.maps._written import read as read_map

Shape = tuple[Any, ...]


def repeat(shape: Shape, dtype: str, sizes: Sequence[int], each: bool) -> Repeat:
    if len(sizes) != len(shape) or any(surely(r < 0) for r in sizes):
        refuse(ValueError, "sizes", f"{len(shape)} sizes >= 0, one per dim", f"{list(sizes)}")
    return Repeat(tuple(sizes), each)


def repeat_adjoint(
    shape: Shape, dtype: str, n_in: Sequence[int], sizes: Sequence[int], each: bool
) -> tuple[Repeat, Shape]:
    """n_in: x's shape. The lengths of dims that do not change are not used, because a gradient may be a shard."""
    spec = repeat(shape, dtype, sizes, each)
    if len(n_in) != len(shape) or any(surely(n < 0) for n in n_in):
        refuse(ValueError, "n_in", f"{len(shape)} lengths", f"{list(n_in)}")
    for n, m, r in zip(shape, n_in, sizes):
        if surely(r != 1) and surely(m * r != n):
            refuse(ValueError, "n_in", f"lengths that are {list(shape)} times {list(sizes)}", f"{list(n_in)}")
    return spec, tuple(n if surely(r == 1) else m for n, m, r in zip(shape, n_in, sizes))


def repeat_counts(shape: Shape, dtype: str, offsets: Any, dim: int, n_out: Any) -> RepeatCounts:
    _check_offsets(shape, offsets, dim)
    if surely(offsets.shape[0] != shape[dim] + 1):
        refuse(ValueError, "offsets", f"{shape[dim] + 1} prefix sums", f"{offsets.shape[0]}")
    if surely(n_out < 0):
        refuse(ValueError, "n_out", "a length >= 0", f"{n_out}")
    return RepeatCounts(offsets, dim, n_out)


def repeat_counts_adjoint(shape: Shape, dtype: str, offsets: Any, dim: int) -> tuple[RepeatCounts, Shape]:
    _check_offsets(shape, offsets, dim)
    return RepeatCounts(offsets, dim, shape[dim]), (*shape[:dim], offsets.shape[0] - 1, *shape[dim + 1 :])


def _check_offsets(shape: Shape, offsets: Any, dim: int) -> None:
    if not 0 <= dim < len(shape):
        refuse(IndexError, "dim", f"a dim of a {len(shape)}-d tensor, from 0 to {len(shape) - 1}", f"{dim}")
    check_int64(offsets)
    if len(offsets.shape) != 1 or surely(offsets.shape[0] < 1):
        refuse(ValueError, "offsets", "1-D prefix sums in int64, from 0", _described(offsets))


def check_int64(offsets: Any) -> None:
    if str(offsets.dtype) != "torch.int64":
        refuse(ValueError, "offsets", "prefix sums in int64", _described(offsets))


def _described(offsets: Any) -> str:
    return f"{str(offsets.dtype).removeprefix('torch.')}{list(offsets.shape)}"


def interpolate(shape: Shape, dtype: str, size: Sequence[int], *how: Any) -> Interpolate:
    return _interpolate(shape, shape[2:], dtype, size, *how)


def interpolate_adjoint(shape: Shape, dtype: str, n_in: Sequence[int], *how: Any) -> tuple[Interpolate, Shape]:
    return _interpolate(shape, n_in, dtype, shape[2:], *how), (*shape[:2], *n_in)


def _interpolate(
    shape: Shape, n_in: Sequence[int], dtype: str, size: Sequence[int], scales: Sequence[float] | None, kind: str,
    *flags: bool,
) -> Interpolate:  # fmt: skip
    n = len(shape) - 2
    if not 1 <= n <= 3 or len(size) != n or len(n_in) != n or any(surely(m < 1) for m in (*size, *n_in)):
        got = f"{list(n_in)} to {list(size)} for {len(shape)} dims"
        refuse(ValueError, "size", "1 to 3 sizes > 0, one per spatial dim > 0", got)
    if scales:
        if len(scales) != n or not all(0 < s < math.inf for s in scales):
            refuse(ValueError, "scales", f"{n} finite numbers above 0", f"{list(scales)}")
        # Equal to floor(n_in * scale), up to the rounding of tracers. Of symbols the kernels ask, as each question here
        # would become a condition of the traced code.
        known = all(type(m) is int for m in (*n_in, *size))
        if known and any(
            surely(m * s + 1e-6 < o) or surely(m * s - 1e-6 >= o + 1) for m, o, s in zip(n_in, size, scales)
        ):
            refuse(ValueError, "scales", f"those of {list(n_in)} to {list(size)}", f"{list(scales)}")
    if kind not in KINDS.values():
        refuse(ValueError, "kind", f"one of {', '.join(sorted(set(KINDS.values())))}", repr(kind))
    spec = Interpolate(tuple(size), tuple(scales) if scales else None, kind, *flags)
    if kind == "lanczos" and not spec.antialias:
        refuse(ValueError, "antialias", "True, which lanczos needs", "False")
    if kind not in NEAREST and not is_numeric(dtype):
        refuse(TypeError, "x", f"numbers for {kind}", dtype)
    return spec


def resize(shape: Shape, dtype: str, size: Sequence[int], axes: Sequence[int], rule: str, rounding: str) -> Resize:
    _check_axes(shape, axes)
    return _resize("size", size, [shape[a] for a in axes], size, dtype, axes, rule, rounding)


def resize_adjoint(
    shape: Shape, dtype: str, n_in: Sequence[int], axes: Sequence[int], rule: str, rounding: str
) -> tuple[Resize, Shape]:
    _check_axes(shape, axes)
    spec = _resize("n_in", n_in, n_in, [shape[a] for a in axes], dtype, axes, rule, rounding)
    return spec, spec._replace(size=tuple(n_in)).shape_out(shape)


def _check_axes(shape: Shape, axes: Sequence[int]) -> None:
    if list(axes) != sorted(set(axes)) or any(not 0 <= a < len(shape) for a in axes):
        refuse(ValueError, "axes", f"ascending dims of a {len(shape)}-d tensor", f"{list(axes)}")


def _resize(
    name: str, given: Sequence[int], n_in: Sequence[int], size: Sequence[int], dtype: str, axes: Sequence[int],
    rule: str, rounding: str,
) -> Resize:  # fmt: skip
    """given: the lengths in the operand `name`, which are n_in or size."""
    if rounding not in OF_CALLS:
        refuse(ValueError, "rounding", " or ".join(OF_CALLS), repr(rounding))
    rules = read(rule)
    user_filters(rules)  # refuses filters that no longer exist
    if len(given) != len(axes) or len(rules) != len(axes) or any(surely(n < 0) for n in given):
        got = f"{list(given)} and {len(rules)} rules"
        refuse(ValueError, name, f"{len(axes)} lengths >= 0 and rules, one per axis", got)
    if any(surely(m == 0) and surely(n != 0) for m, n in zip(n_in, size)):
        refuse(ValueError, "x", "axes of at least 1 to resize", f"{list(n_in)} to {list(size)}")
    if any(r.kind not in NEAREST for r in rules) and not is_numeric(dtype):
        refuse(TypeError, "x", "numbers to take sums of", dtype)
    return Resize(tuple(axes), tuple(size), rules, rounding)


def apply(shape: Shape, dtype: str, axis: int, map: str) -> Applied:
    m = read_map(map)
    return _applied(shape, dtype, axis, m, m.n_in)


def apply_adjoint(shape: Shape, dtype: str, axis: int, map: str) -> tuple[Applied, Shape]:
    m = read_map(map)
    return _applied(shape, dtype, axis, m, m.n_out), (*shape[:axis], m.n_in, *shape[axis + 1 :])


def _applied(shape: Shape, dtype: str, axis: int, m: AxisMap, length: int) -> Applied:
    _check_axes(shape, [axis])
    if surely(shape[axis] != length):
        refuse(ValueError, "x", f"length {length} along axis {axis}", f"{shape[axis]}")
    if not only_copies(m) and not is_numeric(dtype):
        refuse(TypeError, "x", "numbers, to take sums of", dtype)
    return Applied(axis, m)


class Operator(NamedTuple):
    """An operator's row.

    operands, adjoint_operands: what follows the tensor in the schemas
    read: returns the specification from a tensor's shape, its dtype and the operands
    read_adjoint: the same for a gradient; also returns the shape of the result
    """

    name: str
    operands: str
    adjoint_operands: str
    read: Callable[..., Any]
    read_adjoint: Callable[..., Any]


_HOW = "float[]? scales, str kind, bool align_corners, bool antialias, bool channels_last"
_RULE = "int[] axes, str rule, str rounding"  # rule: the text of axis_rule.written
# n_in: lengths of the input's dims.
OPERATORS: dict[type, Operator] = {
    Repeat: Operator(
        "repeat", "SymInt[] sizes, bool each", "SymInt[] n_in, SymInt[] sizes, bool each",
        repeat, repeat_adjoint,
    ),
    RepeatCounts: Operator(
        "repeat_counts", "Tensor offsets, int dim, SymInt n_out", "Tensor offsets, int dim",
        repeat_counts, repeat_counts_adjoint,
    ),
    Interpolate: Operator(
        "interpolate", f"SymInt[] size, {_HOW}", f"SymInt[] n_in, {_HOW}",
        interpolate, interpolate_adjoint,
    ),
    Resize: Operator(
        "resize", f"SymInt[] size, {_RULE}", f"SymInt[] n_in, {_RULE}", resize, resize_adjoint
    ),
    # map: the text of maps' `written`
    Applied: Operator("apply", "int axis, str map", "int axis, str map", apply, apply_adjoint),
}  # fmt: skip
