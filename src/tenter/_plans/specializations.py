"""Calls of `resize` and `interpolate` that differ from an earlier call only in sizes, as in an augmentation. Everything
that does not depend on sizes is checked and decided once. Then the core plans and runs these calls
(native/calls/specialization.cpp)."""

from collections.abc import Callable
from typing import Any, NamedTuple

from tenter import _native
from tenter._arrays.dtypes import DTYPES, NUMBERS, OPAQUE, PARTS
from tenter._arrays.layout import Layout, Order
from tenter._arrays.library import of
from tenter._rules import filters
from tenter._rules.axis_rule import NEAREST, AxisRule
from tenter._rules.presets import convention
from tenter._rules.rounding import KEPT, ONCE
from tenter._specs import interpolate_arguments, resize_arguments
from tenter._specs.axis_maps import KINDS, in_core
from tenter._specs.resize import Interpolate, Resize
from tenter._specs.spec import Shape, Spec


class Specialization(NamedTuple):
    """What calls that differ only in sizes have in common.

    spec: the first call's
    axes: the resized axes
    length_rounding: how lengths are rounded that scales give
    policy: the aspect_ratio of Convention
    at: the result of resize_arguments.order_of_axes
    value: the fill value; None without one
    element: the fill value as the bytes of an array's element
    resized: called with (array, specification, value) to add a fill value that the core does not add
    """

    spec: Resize | Interpolate
    axes: tuple[int, ...]
    length_rounding: str
    policy: str = "stretch"
    at: tuple[int, ...] | None = None
    value: float | None = None
    element: bytes = b""
    resized: Callable[[Any, Resize, float], Any] | None = None


native: dict[bytes, _native.Specialization | None] = {}  # by the keys of native/calls/lookup.cpp
MOST = 1024
# How outputs in the padding get the fill value (native/plan/fill_value.hpp).
NO_FILL, ADDED, FILLED = _native.WORDS["fill"]


def specification(
    specialization: Specialization, size: Shape, shape: Shape, scale: Any, box: Any, channels_last: bool
) -> tuple[Resize | Interpolate, tuple[int, ...]]:
    """Returns the specification of a call with a recorded gradient, and the axes to flip before. scale, box: the call's
    arguments."""
    if isinstance(specialization.spec, Resize):
        scale, box = (resize_arguments.by_dims(values, specialization.at) for values in (scale, box))
        return resize_arguments.with_lengths(specialization.spec, size, shape, scale, box)
    return interpolate_arguments.with_lengths(specialization.spec, size, scale, channels_last), ()


def store(
    call: str, x: Any, args: tuple[Any, ...], spec: Spec, like: Any, element: bytes = b"",
    resized: Callable[[Any, Resize, float], Any] | None = None,
) -> bool:  # fmt: skip
    """Stores the specialization of a checked call. Returns whether the core has it now.

    like: x, flipped along the axes whose boxes are reversed
    element, resized: as in `Specialization`, if there is a fill value
    """
    if not isinstance(spec, (Interpolate, Resize)):
        return False
    of_key = _native.Specialization.key(call, x, *args)
    if of_key is None or of_key in native:
        return False
    library = of(x)
    if isinstance(spec, Interpolate):
        resize = spec.resize()
        specialization = Specialization(spec, resize.axes, "floor")
    else:
        assert isinstance(args, resize_arguments.Arguments)
        value = args.value if resized is not None else None
        if not isinstance(value, (int, float, type(None))) or resize_arguments.checks_each_size(x, args.axes):
            return False
        how = convention(args.like)
        at = resize_arguments.order_of_axes(x.ndim, args.axes)
        value = None if value is None else float(value)
        specialization = Specialization(
            spec, spec.axes, how.length_rounding, how.aspect_ratio, at, value, element, resized
        )
    rounding = _rounding(specialization, library.dtype_name(x))
    order = spec.order(tuple(like.shape), library.strides(like), library.image_order, rounding)
    _store(of_key, like, specialization, None if order == tuple(range(x.ndim)) else order, False)
    return native.get(of_key) is not None  # another thread may have evicted it


def store_gradients(g: Any, call: _native.RecordedCall, specialization: Specialization, spec: Spec) -> bool:
    """Stores the specialization for gradients of g's layout. Returns whether the core has it now."""
    of_key = call.specialization_key(g)
    if of_key is None or of_key in native:
        return False
    library = of(g)
    order = spec.order(tuple(g.shape), library.strides(g), library.image_order, ONCE)
    _store(of_key, g, specialization, None if order == tuple(range(g.ndim)) else order, True)
    return native.get(of_key) is not None  # another thread may have evicted it


def _store(of_key: bytes, like: Any, specialization: Specialization, order: Order | None, transposed: bool) -> None:
    if of_key in native:
        return
    for oldest in list(native)[: max(0, len(native) - MOST + 1)]:
        native.pop(oldest, None)
    native[of_key] = _in_core(of(like).layout(like), specialization, order, transposed)


class CoreAxis(NamedTuple):
    """How the core resamples one axis.

    follows: True if positions follow the call's scale, False if they follow its sizes
    weight_rule: the rule that gives the weight of inputs, for a fill value; None if it is `rule`
    """

    dim: int
    rule: _native.AxisRule
    follows: bool
    weight_rule: _native.AxisRule | None


class CoreSpecialization(NamedTuple):
    """What the core reads to make its `Specialization` (native/calls/specialization.hpp).

    axes: in ascending order of dims
    at, length_rounding, policy: as in `Specialization`
    order: the dims of the result from slowest to fastest in memory; None if it is contiguous
    sums, input: the core's numbers of the dtype in which sums are taken, and of the arrays' dtype
    is_complex: True for complex numbers, whose parts are summed
    rounding: how sums are rounded
    fill: NO_FILL, ADDED or FILLED
    planner: plans calls in Python
    """

    axes: tuple[CoreAxis, ...]
    at: tuple[int, ...] | None
    ndim: int
    order: Order | None
    length_rounding: str
    policy: str
    strides_decide: bool
    transposed: bool
    sums: int
    input: int
    is_complex: bool
    rounding: str
    doubles: bool
    fill: str
    value: float
    element: bytes
    planner: Specialization


class _Summed(NamedTuple):
    """How the arrays of a specialization are summed.

    kind: NO_FILL, ADDED or FILLED
    weight_rules: for each axis, the rule that gives the weight of inputs, if it is not the axis's own
    number: the core's number of the dtype in which sums are taken; -1 if there are no sums
    """

    kind: str
    rules: tuple[AxisRule, ...]
    weight_rules: tuple[_native.AxisRule | None, ...]
    number: int
    rounding: str


def _in_core(x: Layout, of: Specialization, order: Order | None, transposed: bool) -> _native.Specialization | None:
    """Returns the core's form of a specialization; None if Python must handle such calls."""
    spec, axes = of.spec, of.axes
    number = NUMBERS.get(PARTS.get(x.dtype, x.dtype), -1)
    if x.dtype == OPAQUE or len(axes) < 1 or (transposed and number < 0):
        return None
    how = _summed(x, of, number, transposed)
    if how is None:
        return None
    copies = _n_nearest(how.rules) == len(axes) and not transposed
    ruled = [_ruled(rule) for rule in how.rules]
    core_axes = tuple(
        [
            CoreAxis(dim, native_rule, rule.scale is not None, weight_rule)
            for dim, native_rule, rule, weight_rule in zip(axes, ruled, how.rules, how.weight_rules)
            if native_rule is not None
        ]
    )
    if len(core_axes) < len(axes) or (number < 0 and not copies):
        return None
    made = CoreSpecialization(
        axes=core_axes,
        at=of.at,
        ndim=len(x.shape),
        order=order,
        length_rounding=of.length_rounding,
        policy=of.policy,
        strides_decide=isinstance(spec, Interpolate) and interpolate_arguments.strides_decide(spec),
        transposed=transposed,
        sums=how.number,
        input=number,
        is_complex=x.dtype in PARTS and not copies,
        rounding=ONCE if copies else how.rounding,
        doubles=x.dtype == "float64",
        fill=how.kind,
        value=of.value or 0.0,
        element=of.element or bytes(16),
        planner=of,
    )
    return _native.Specialization(made)


def _summed(x: Layout, of: Specialization, number: int, transposed: bool) -> _Summed | None:
    spec = of.spec
    rules = (spec.resize() if isinstance(spec, Interpolate) else spec).rules
    n_nearest, rounding = _n_nearest(rules), ONCE if transposed else _rounding(of, x.dtype)
    unfilled = _Summed(NO_FILL, rules, (None,) * len(rules), number, rounding)
    if transposed:
        return unfilled
    if n_nearest == len(rules):
        fills = any(rule.edge in ("constant", "extrapolate") for rule in rules)
        return unfilled._replace(kind=FILLED) if fills else unfilled
    if of.value is None:
        return unfilled
    assert isinstance(spec, Resize)
    if spec.is_all_or_nothing:
        weight_rules = tuple([None if rule.kind in NEAREST else _ruled(rule) for rule in rules])
        if None in [weight for rule, weight in zip(rules, weight_rules) if rule.kind not in NEAREST]:
            return None
        # Nearest modes find out by themselves which outputs have no input.
        inside = [rule if rule.kind in NEAREST else rule._replace(edge="replicate") for rule in rules]
        return _Summed(FILLED, tuple(inside), weight_rules, number, rounding)
    if number < 0:
        return None
    if DTYPES[x.dtype].kind in "iu":  # integers are rounded after the value is added
        return unfilled._replace(kind=ADDED, number=NUMBERS["float64"])
    return unfilled._replace(kind=ADDED)


def _rounding(of: Specialization, dtype: str) -> str:
    """Returns how sums are rounded. A fill value is added to those of partial outputs, before they are rounded."""
    spec = of.spec
    added = of.value is not None and isinstance(spec, Resize) and not spec.is_all_or_nothing
    return KEPT if added else spec.rounding_of(dtype)


def _n_nearest(rules: tuple[AxisRule, ...]) -> int:
    return sum([rule.kind in NEAREST for rule in rules])


def _ruled(rule: AxisRule) -> _native.AxisRule | None:
    """Returns the core's form of a rule; None if the rule calls Python functions."""
    if rule.kind == "gaussian" or rule.kind not in KINDS:
        return None
    # The core finds out for each call whether channels are last in memory.
    made, filter_ = in_core(rule._replace(arithmetic="torch") if rule.arithmetic == "torch-direct" else rule)
    return made if filter_ is None or filters.in_core(filter_) else None
