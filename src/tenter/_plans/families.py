"""Calls of `resize` and `interpolate` that differ from an earlier one by sizes alone, as those of an augmentation do:
what follows from no size is checked and settled once for all of them.

Where the core has all that such calls take, and an array's dims lie to each other as in an earlier call, it plans and
runs them by itself (`native`, native/families.cpp).
"""

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from tenter import _native, filters
from tenter._arrays.dtypes import DTYPES, NUMBERS
from tenter._arrays.layout import Layout, Order, channels_last
from tenter._arrays.library import of
from tenter._kernels.cpu import ACCUMULATE
from tenter._plans.cache import first_time
from tenter._rules import taps, torch_quirks
from tenter._rules.axis_rule import NEAREST, AxisRule
from tenter._rules.edges import PERIODIC
from tenter._rules.picking import LINE
from tenter._specs import eight_bits, interpolate_arguments, resize_arguments
from tenter._specs.axis_maps import new_axis_map
from tenter._specs.resize import Interpolate, Resize
from tenter._specs.spec import Maps, Shape, Spec
from tenter.geometry import TIES


class Family(NamedTuple):
    """spec: of the first call. axes: those resized. rules: how, for arrays on the host; None where lengths decide."""

    spec: Resize | Interpolate
    axes: tuple[int, ...]
    rules: tuple[AxisRule, ...] | None


families: dict[Hashable, Family] = {}
native: dict[bytes, _native.Family | None] = {}  # by native/lookup.cpp's keys
_native.set_up_families(native, first_time, (np.integer, np.floating))
MOST = 1024
# Elements of arrays beyond which sizes are left to the checks, and lengths beyond which rules are.
MOST_ELEMENTS, LONGEST = 1 << 48, eight_bits.LONGEST


def key(call: str, x: Any, args: tuple[Any, ...], arg_types: tuple[type, ...]) -> Hashable:
    """args: those after x, the size first. arg_types: of all values in them."""
    return call, type(x), x.dtype, x.ndim, args[1:], arg_types


def found(of_key: Hashable, shape: Shape, size: Any) -> tuple[Family, Resize | Interpolate] | None:
    """The family, and the specification with this size; None where there is none, or all is to be checked."""
    family = families.get(of_key)
    if family is None:
        return None
    spec = with_size(family, size)
    elements = 1
    for n in shape:
        elements *= n
    for axis, n in zip(family.axes, spec.size):
        if n < 1 or not shape[axis]:
            return None
        elements *= n
    if not 0 < elements < MOST_ELEMENTS:
        return None
    return family, spec


def with_size(family: Family, size: Any) -> Resize | Interpolate:
    """The specification of a call of the family. size: an int, or one for each axis."""
    return family.spec._replace(size=size if type(size) is tuple else (size,) * len(family.axes))


def remember(
    call: str, x: Any, args: tuple[Any, ...], arg_types: tuple[type, ...] | None, spec: Spec, order: Order | None,
    turned: Any = None,
) -> None:  # fmt: skip
    """Of a checked call, that Python planned. arg_types: None of a call whose arguments may change, or are not known to
    be plain constants, which the core then looks at. turned: x with the axes reversed whose boxes are. The core alone
    makes such calls, and those in which boxes or strides decide."""
    if arg_types is None and _native.family_key(call, x, *args) is None:
        return
    if isinstance(spec, Interpolate):
        by_size, resized = interpolate_arguments.by_size_alone(spec, *args[:2]), spec.resize()
        alone = not interpolate_arguments.strides_decide(spec)
    elif isinstance(spec, Resize):
        by_size, resized = resize_arguments.by_size_alone(x.ndim, spec, *args[:9]), spec
        alone = args[8] is None
    else:
        return
    if not by_size:
        return
    family = Family(spec, resized.axes, _settled(spec, resized, x))
    if alone and arg_types is not None:
        if len(families) >= MOST:
            families.clear()
        families[key(call, x, args, arg_types)] = family
    if not alone:
        remember_native(call, x, args, family, order, x if turned is None else turned)


def _settled(spec: Resize | Interpolate, resized: Resize, x: Any) -> tuple[AxisRule, ...] | None:
    library = of(x)
    near = any(rule.kind in NEAREST for rule in resized.rules)
    if library.device(x) is not None or (near and len(resized.axes) > 1):
        return None
    dtype = library.dtype_name(x)
    # Any lengths do: without a scale or nearest kinds of several axes, rules do not depend on them, up to LONGEST, nor
    # on where a box within the axis lies.
    lengths = sizes = (1,) * len(resized.axes)
    rules = torch_quirks.settled(_placed(resized.rules), lengths, sizes, dtype, False)
    return eight_bits.settled(rules, lengths, sizes) if spec.saturates(dtype) else rules


def _placed(rules: tuple[AxisRule, ...]) -> tuple[AxisRule, ...]:
    return tuple([rule if rule.box is None else rule._replace(box=("0", "1/2")) for rule in rules])


def remember_native(call: str, x: Any, args: tuple[Any, ...], family: Family, order: Order | None, lies: Any) -> None:
    """Of a call that Python planned. order: the result's, which follows from how the dims of `lies` lie to each other,
    which is x or x turned."""
    of_key = _native.family_key(call, x, *args)
    if of_key is not None:
        _keep(of_key, lies, family, order, False)


def remember_gradients(g: Any, call: _native.RecordedCall, family: Family, order: Order | None) -> None:
    """Of gradients of a family's calls, planned by Python."""
    of_key = _native.gradients_family_key(g, call)
    if of_key is not None:
        _keep(of_key, g, family, order, True)


def _keep(of_key: bytes, lies: Any, family: Family, order: Order | None, transposed: bool) -> None:
    if of_key in native:
        return
    if len(native) >= MOST:
        native.clear()
    native[of_key] = _in_core(of(lies).layout(lies), family, order, transposed)


def _in_core(x: Layout, family: Family, order: Order | None, transposed: bool) -> _native.Family | None:
    """None where the core leaves such calls to Python."""
    spec, axes, ndim = family.spec, family.axes, len(x.shape)
    if x.dtype not in NUMBERS or len(axes) > 3:
        return None
    rules = family.rules if family.rules is not None else _each_alone(spec, x.dtype)
    saturates = spec.saturates(x.dtype)
    ruled = tuple(zip(axes, rules))
    wholes = tuple((axis, m) for axis, rule in ruled if not saturates and (m := _whole(rule)) is not None)
    pillows = tuple((axis, *f) for axis, rule in ruled if saturates and (f := _pillow(rule)) is not None)
    picks = tuple((axis, *p) for axis, rule in ruled if (p := _pick(rule)) is not None)
    if len(axes) not in (len(wholes), len(pillows), len(picks)):
        return None
    placed = tuple(range(ndim)) if order is None else order
    last = None  # `passes.fill` then asks for the channels
    if ndim > 2 and placed[1] not in axes:
        last = channels_last([x.shape[d] for d in placed], [x.strides[d] for d in placed])
    together = last is not None and last != tuple(range(ndim))
    strides_decide = isinstance(spec, Interpolate) and interpolate_arguments.strides_decide(spec)
    return _native.Family(
        wholes, pillows, picks, ACCUMULATE[DTYPES[x.dtype].sums], ndim, order, together, strides_decide,
        transposed, family,
    )  # fmt: skip


def _each_alone(spec: Resize | Interpolate, dtype: str) -> tuple[AxisRule, ...]:
    """Rules of nearest kinds, of which the core decides by lengths and strides whether they are those of each axis
    alone."""
    rules = (spec.resize() if isinstance(spec, Interpolate) else spec).rules
    return tuple([torch_quirks.settled((_by_axis(rule),), (1,), (1,), dtype, False)[0] for rule in _placed(rules)])


def _by_axis(rule: AxisRule) -> AxisRule:
    return rule._replace(arithmetic="torch") if rule.arithmetic == "torch-direct" else rule


def _whole(rule: AxisRule) -> _native.WholeAxis | None:
    """What `axis_maps` makes the map of an axis by, if it is one of the core's alone."""
    kind = str(rule.kind)
    if rule.arithmetic != "exact" or rule.scale is not None or rule.edge in PERIODIC:
        return None
    if kind == "area" and rule.box is None:
        return taps.TOUCHED_AXIS
    if kind in ("area", "overlap"):
        return taps.overlapped_axis(rule)
    if kind == "cubic":
        return taps.whole_axis(rule, filters.keys(rule.cubic))
    return taps.whole_axis(rule, filters.NAMED[kind]) if kind in filters.NAMED else None


def _pillow(rule: AxisRule) -> tuple[int, float] | None:
    """Pillow's number of a filter, and its support."""
    if rule.arithmetic != "pillow" or rule.kind in NEAREST:
        return None
    return eight_bits.FILTERS[str(rule.kind)]


def _pick(rule: AxisRule) -> tuple[int, bool, bool, bool, int] | None:
    """The formula of inputs that outputs take, whether its step is a float32, and where a line's positions lie."""
    if rule.kind not in NEAREST or rule.scale is not None:
        return None
    if rule.arithmetic == "exact":
        if rule.align not in taps.WHOLE or rule.edge in (*PERIODIC, "constant", "extrapolate"):
            return None
        return (LINE, False, *taps.WHOLE[rule.align], TIES.index(rule.tie))
    if rule.box is not None or not rule.arithmetic.startswith("separable"):
        return None
    formula, real = torch_quirks.separable(rule.kind == "nearest-exact", rule.arithmetic)
    return formula, real is np.float32, False, False, 0


def maps(family: Family, spec: Spec, shape: Shape, dtype: str, on_device: bool) -> Maps:
    """The maps of one of the family's specifications."""
    if family.rules is None or any(shape[axis] > LONGEST for axis in family.axes):
        return spec.maps(shape, dtype, on_device)
    after, ruled = spec.shape_out(shape), zip(family.axes, family.rules)
    return tuple([(axis, new_axis_map(rule, shape[axis], after[axis])) for axis, rule in ruled])
