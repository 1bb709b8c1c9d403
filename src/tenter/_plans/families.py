"""Calls of `resize` and `interpolate` that differ from an earlier one by sizes alone, as those of an augmentation do:
what follows from no size is checked and settled once for all of them."""

from collections.abc import Hashable
from typing import Any, NamedTuple

from tenter._arrays.library import of
from tenter._rules import torch_quirks
from tenter._rules.axis_rule import NEAREST, AxisRule
from tenter._specs import eight_bits, interpolate_arguments, resize_arguments
from tenter._specs.axis_maps import new_axis_map
from tenter._specs.resize import Interpolate, Resize
from tenter._specs.spec import Maps, Shape, Spec


class Family(NamedTuple):
    """spec: of the first call. axes: those resized. rules: how, for arrays on the host; None where lengths decide."""

    spec: Resize | Interpolate
    axes: tuple[int, ...]
    rules: tuple[AxisRule, ...] | None


families: dict[Hashable, Family] = {}
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
    sizes = size if type(size) is tuple else (size,) * len(family.axes)
    elements = 1
    for n in shape:
        elements *= n
    for axis, n in zip(family.axes, sizes):
        if n < 1 or not shape[axis]:
            return None
        elements *= n
    if not 0 < elements < MOST_ELEMENTS:
        return None
    return family, family.spec._replace(size=sizes)


def remember(call: str, x: Any, args: tuple[Any, ...], arg_types: tuple[type, ...], spec: Spec) -> None:
    """Of a checked call with plain constants as arguments."""
    if isinstance(spec, Interpolate):
        alone, resized = interpolate_arguments.by_size_alone(spec, *args[:2]), spec.resize()
    elif isinstance(spec, Resize):
        alone, resized = resize_arguments.by_size_alone(x.ndim, spec, *args[:9]), spec
    else:
        return
    if not alone:
        return
    if len(families) >= MOST:
        families.clear()
    families[key(call, x, args, arg_types)] = Family(spec, resized.axes, _settled(spec, resized, x))


def _settled(spec: Resize | Interpolate, resized: Resize, x: Any) -> tuple[AxisRule, ...] | None:
    library = of(x)
    if library.device(x) is not None or any(rule.kind in NEAREST for rule in resized.rules):
        return None
    dtype = library.dtype_name(x)
    # Any lengths do: without a scale or a nearest kind, rules do not depend on them, up to LONGEST.
    lengths = sizes = (1,) * len(resized.axes)
    rules = torch_quirks.settled(resized.rules, lengths, sizes, dtype, False)
    return eight_bits.settled(rules, lengths, sizes) if spec.saturates(dtype) else rules


def maps(family: Family, spec: Spec, shape: Shape, dtype: str, on_device: bool) -> Maps:
    """The maps of one of the family's specifications."""
    if family.rules is None or any(shape[axis] > LONGEST for axis in family.axes):
        return spec.maps(shape, dtype, on_device)
    after, ruled = spec.shape_out(shape), zip(family.axes, family.rules)
    return tuple([(axis, new_axis_map(rule, shape[axis], after[axis])) for axis, rule in ruled])
