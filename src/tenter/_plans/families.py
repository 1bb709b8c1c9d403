"""Calls of `resize` and `interpolate` that differ from an earlier one by sizes alone, as those of an augmentation do:
what follows from no size is checked and settled once for all of them, and the core plans and runs them
(native/families.cpp).
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tenter import _native
from tenter._arrays.dtypes import DTYPES, NUMBERS, OPAQUE, PARTS
from tenter._arrays.layout import Layout, Order
from tenter._arrays.library import of
from tenter._rules.axis_rule import NEAREST, AxisRule
from tenter._specs import interpolate_arguments, resize_arguments
from tenter._specs.axis_maps import KINDS, in_core
from tenter._specs.resize import Interpolate, Resize
from tenter._specs.spec import Shape, Spec


class Family(NamedTuple):
    """spec: of the first call. axes: those resized. rounding: of lengths by scales. policy: by which sizes are fitted.
    at: of resize_arguments.places. value, element: what lies past the edges, as a number and as the bytes of an array's
    element; None of a call without. resized: what adds it where the core does not, to (array, specification, value), as
    such calls have no plan."""

    spec: Resize | Interpolate
    axes: tuple[int, ...]
    rounding: str
    policy: str = "stretch"
    at: tuple[int, ...] | None = None
    value: float | None = None
    element: bytes = b""
    resized: Callable[[Any, Resize, float], Any] | None = None


native: dict[bytes, _native.Family | None] = {}  # by native/lookup.cpp's keys
_native.set_up_families(native, tuple({np.dtype(letter).type for letter in "bBhHiIlLqQefdg"}), Fraction)
MOST = 1024
# What is done about outputs past the edges (native/outside.hpp).
KEPT, ADDED, FILLED = _native.WORDS["outside"]


def specification(
    family: Family, size: Shape, shape: Shape, scale: Any, box: Any, channels_last: bool
) -> tuple[Resize | Interpolate, tuple[int, ...]]:
    """That of a call with a gradient recorded, of whose operands these are, and the axes to reverse before. scale, box:
    as it had them."""
    if isinstance(family.spec, Resize):
        scale, box = (resize_arguments.by_dims(values, family.at) for values in (scale, box))
        return resize_arguments.with_lengths(family.spec, size, shape, scale, box)
    return interpolate_arguments.with_lengths(family.spec, size, scale, channels_last), ()


def remember(
    call: str, x: Any, args: tuple[Any, ...], spec: Spec, lies: Any, element: bytes = b"",
    resized: Callable[[Any, Resize, float], Any] | None = None,
) -> bool:  # fmt: skip
    """Of a checked call; whether the core now has its family. lies: x, or x with the axes reversed whose boxes are.
    element, resized: of Family, where there is a value past the edges."""
    if not isinstance(spec, (Interpolate, Resize)):
        return False
    of_key = _native.family_key(call, x, *args)
    if of_key is None or of_key in native:
        return False
    library = of(x)
    saturates = spec.saturates(library.dtype_name(x))
    if isinstance(spec, Interpolate):
        assert isinstance(args, interpolate_arguments.Arguments)
        if not interpolate_arguments.by_size_alone(spec, args.size, args.scale_factor):
            return False
        resize = spec.resize()
        family = Family(spec, resize.axes, "floor")
    else:
        assert isinstance(args, resize_arguments.Arguments)
        value = args.value if resized is not None else None
        by_size = resize_arguments.by_size_alone(spec, args.size, args.scale)
        if not by_size or not isinstance(value, (int, float, type(None))):
            return False
        rounding = resize_arguments.rounding_of(args.like, args.rounding)
        at = resize_arguments.places(x.ndim, args.axes)
        value = None if value is None else float(value)
        family = Family(spec, spec.axes, rounding, args.policy, at, value, element, resized)
        saturates = saturates and (value is None or spec.is_all_or_nothing)  # else integers are summed as floats
    order = spec.order(tuple(lies.shape), library.strides(lies), library.image_order, saturates)
    _keep(of_key, lies, family, None if order == tuple(range(x.ndim)) else order, False)
    return native[of_key] is not None


def remember_gradients(g: Any, call: _native.RecordedCall, family: Family, spec: Spec) -> bool:
    """Of gradients of a family's calls that lie as g does; whether the core now has their family."""
    of_key = _native.gradients_family_key(g, call)
    if of_key is None or of_key in native:
        return False
    library = of(g)
    order = spec.order(tuple(g.shape), library.strides(g), library.image_order, False)
    _keep(of_key, g, family, None if order == tuple(range(g.ndim)) else order, True)
    return native[of_key] is not None


def _keep(of_key: bytes, lies: Any, family: Family, order: Order | None, transposed: bool) -> None:
    if of_key in native:
        return
    for oldest in list(native)[: len(native) - MOST + 1]:
        native.pop(oldest, None)
    native[of_key] = _in_core(of(lies).layout(lies), family, order, transposed)


def _in_core(x: Layout, family: Family, order: Order | None, transposed: bool) -> _native.Family | None:
    """None where the core leaves such calls to Python."""
    spec, axes, ndim = family.spec, family.axes, len(x.shape)
    given = number = NUMBERS.get(PARTS.get(x.dtype, x.dtype), -1)
    if x.dtype == OPAQUE or len(axes) < 1 or ndim > _native.READ_DIMS or (transposed and number < 0):
        return None
    rules = (spec.resize() if isinstance(spec, Interpolate) else spec).rules
    has_value = family.value is not None and not transposed
    kind, in_bytes = KEPT, spec.saturates(x.dtype)
    weighs: tuple[_native.AxisRule | None, ...] = (None,) * len(axes)
    if any(rule.kind in NEAREST and rule.edge in ("constant", "extrapolate") for rule in rules) and not transposed:
        kind = FILLED
    elif has_value:
        assert isinstance(spec, Resize)
        kind = FILLED if spec.is_all_or_nothing else ADDED
        if kind == FILLED:
            weighs = tuple([None if rule.kind in NEAREST else _ruled(rule) for rule in rules])
            rules = spec.replicated().rules
            if None in weighs:
                return None
        elif x.dtype in PARTS or x.dtype not in NUMBERS:
            return None
        elif DTYPES[x.dtype].narrow:
            if DTYPES[x.dtype].kind not in "iu" or x.itemsize > 4:
                return None
            number, in_bytes = NUMBERS["float64"], False
    n_picks = sum([rule.kind in NEAREST for rule in rules])
    made: list[tuple[int, _native.AxisRule, bool, _native.AxisRule | None]] = []
    for axis, rule, weight in zip(axes, rules, weighs):
        if (core := _ruled(rule)) is None:
            return None
        made.append((axis, core, rule.scale is not None, weight))
    copies = n_picks == len(axes) and not transposed
    in_bytes, in_parts = in_bytes and not copies, x.dtype in PARTS and not copies
    if number < 0 and not copies:
        return None
    placed = tuple(range(ndim)) if order is None else order
    # Where outputs of some axes are inputs and others sums, nothing is added to both, and no input left out of either.
    outer = any(rule.kind in NEAREST and rule.edge in ("constant", "extrapolate") for rule in rules)
    if (0 < n_picks < len(axes) and (outer or kind != KEPT)) or (kind == ADDED and n_picks):
        return None
    # The core multiplies weights of inputs from slow to fast; by axes, of which two may be swapped, is what is meant.
    if kind == ADDED and (len(axes) > 3 or (len(axes) == 3 and [d for d in placed if d in axes][-1] != axes[-1])):
        return None
    strides_decide = isinstance(spec, Interpolate) and interpolate_arguments.strides_decide(spec)
    outside = (kind, family.value or 0.0, family.element or bytes(16), given)
    return _native.Family(
        tuple(made), (number, in_parts, in_bytes, x.dtype == "float64"), family.at, ndim, order,
        family.rounding, family.policy, strides_decide, transposed,
        outside, family,
    )  # fmt: skip


def _ruled(rule: AxisRule) -> _native.AxisRule | None:
    """The core's form of a rule; None of one that takes functions of Python."""
    if rule.kind == "gaussian" or rule.kind not in KINDS:
        return None
    # Whether channels lie last is known of each call.
    return in_core(rule._replace(arithmetic="torch") if rule.arithmetic == "torch-direct" else rule)[0]
