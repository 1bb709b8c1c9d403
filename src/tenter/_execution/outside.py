"""resize with a `value` for what lies outside the input: it has the weight that the rows of the maps lack."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tenter import _native
from tenter._arrays.dtypes import DTYPES
from tenter._arrays.library import OUTLINE, dtype_name, of, on_device
from tenter._execution import bands, executor, into
from tenter._execution.bands import Place
from tenter._execution.calls import by_core, copied, execute
from tenter._execution.parts.work import of_value
from tenter._plans import families
from tenter._specs.resize import Resize
from tenter._specs.resize_arguments import Arguments


def perform(call: str, x: Any, args: Arguments, turned: Any, spec: Resize, out: Any) -> Any:
    """The result of a checked call with a value past the edges. turned: x with the axes reversed whose boxes are."""
    value = args.value
    if type(x) in executor.EXACT and not of(x).recorded(x) and _native.family_key(call, x, *args) is not None:
        element = executor.of_segments(x).element(x, value)
        if out is not None:
            into.check(out, x, spec.shape_out(tuple(x.shape)))
        learned = families.remember(call, x, args, spec, turned, element, resized)
        if learned and (made := by_core(call, x, args, out)) is not None:
            return made
    return resized(turned, spec, value) if out is None else written(turned, spec, value, out)


def written(x: Any, spec: Resize, value: Any, out: Any) -> Any:
    """out, with the result in it."""
    shape, runs = tuple(x.shape), executor.of(x)
    into.check(out, x, spec.shape_out(shape))
    if of(x).recorded(x) or on_device(x) or not runs.apart(x, out) or 0 in shape or 0 in out.shape:
        return copied(resized(x, spec, value), out)
    work = of_value(spec, shape, x[(slice(0, 0),) * x.ndim], value, runs)
    into.fill(x, work, spec.order(shape, of(x).strides(x), of(x).image_order, work.saturate), out)
    return out


def resized(x: Any, spec: Resize, value: Any) -> Any:
    runs = executor.of(x)
    if of(x).PACKAGE == OUTLINE:
        return runs.record(x, spec)
    if (made := runs.record_value(x, spec, value)) is not None:
        return made
    inside = _inside(x, spec)
    if spec.is_all_or_nothing:
        y = execute(x, spec.replicated())
        return _in_bands(y, spec.axes[0], lambda part, place: runs.filled(part, inside(place) > 0.5, value))
    name = dtype_name(x)
    dtype = DTYPES[name]
    if not dtype.narrow or of(x).recorded(x) or on_device(x) or name in ("bfloat16", "complex32"):
        y = execute(runs.widened(x) if dtype.narrow else x, spec)
        if dtype.narrow:
            return runs.shifted(y, 1 - inside(()), value, x)
        return _in_bands(y, spec.axes[0], lambda part, place: runs.shifted(part, 1 - inside(place), value, x))
    is_small = 8 * max(math.prod(x.shape), math.prod(spec.shape_out(tuple(x.shape)))) <= bands.BYTES
    if is_small or getattr(x, "requires_grad", False):  # arrays of NumPy would end the graph
        return runs.shifted(execute(runs.widened(x), spec), 1 - inside(()), value, x)
    if not isinstance(x, np.ndarray):
        return of(x).from_numpy(resized(of(x).to_numpy(x), spec, value), x)
    return bands.resized(
        x, spec, "float64" if dtype.kind in "iu" else "float32", lambda some, work: np.copyto(work, some),
        lambda values, place: runs.shifted(values, 1 - inside(place), value, x),
    )  # fmt: skip


def _inside(x: Any, spec: Resize) -> Callable[[Place], Any]:
    """The weight that inputs have in a part of the result: one but for outputs that read past an edge."""
    runs = executor.of(x)
    weights = {axis: execute(runs.ones(x, x.shape[axis]), one) for axis, one in spec.alone().items()}

    def inside(place: Place) -> Any:
        found: Any = 1.0
        for axis, weight in weights.items():
            some = weight[place[axis]] if axis < len(place) else weight
            found = found * runs.reshape(some, tuple(-1 if d == axis else 1 for d in range(x.ndim)))
        return found

    return inside


def _in_bands(y: Any, axis: int, change: Callable[[Any, Place], Any]) -> Any:
    """Fresh y changed a band at a time; all at once where gradients flow, or values are not there yet."""
    if of(y).recorded(y) or getattr(y, "requires_grad", False) or not y.shape[axis]:
        return change(y, ())
    for some in bands.lengths(y.shape[axis], 8 * math.prod(y.shape)):
        place = bands.along(axis, some)
        at = (*place, ...)
        part = y[at]
        changed = change(part, place)
        if changed is not part:
            y[at] = changed
    return y
