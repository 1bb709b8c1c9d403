"""resize with a fill value. Where the rows of the maps sum to less than one, the fill value has the weight that is
missing."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tenter import _native
from tenter._arrays.dtypes import DTYPES
from tenter._arrays.library import OUTLINE, dtype_name, of, on_device
from tenter._execution import chunks, executor, into
from tenter._execution.calls import by_core, copied, execute
from tenter._execution.chunks import Place
from tenter._plans import specializations
from tenter._specs.applied import Applied
from tenter._specs.resize import Resize
from tenter._specs.resize_arguments import Arguments
from tenter.maps import AxisMap


def perform(call: str, x: Any, args: Arguments, flipped: Any, spec: Resize, out: Any) -> Any:
    """Returns the result of a checked call with a fill value. flipped: x, flipped along the axes whose boxes are
    reversed."""
    value = args.value
    if out is not None:
        into.check(out, x, spec.shape_out(tuple(x.shape)))
    if type(x) in executor.EXACT and not of(x).traced(x) and _native.Specialization.key(call, x, *args) is not None:
        element = executor.of_segments(x).element(x, value)
        is_new = specializations.store(call, x, args, spec, flipped, element, resized)
        if is_new and (made := by_core(call, x, args, out)) is not None:
            return made
    made = resized(flipped, spec, value)
    return made if out is None else copied(made, out)


def resized(x: Any, spec: Resize, value: Any) -> Any:
    runs = executor.of(x)
    if of(x).PACKAGE == OUTLINE:
        return runs.dispatched(x, spec)
    if (made := runs.traced_value(x, spec, value)) is not None:
        return made
    inside = _inside(x, spec)
    if spec.is_all_or_nothing:
        y = execute(x, spec.replicated())
        return _by_chunks(y, spec.axes[0], lambda chunk, place: runs.filled(chunk, inside(place) > 0.5, value))
    name = dtype_name(x)
    dtype = DTYPES[name]
    if not dtype.narrow or of(x).traced(x) or on_device(x) or name in ("bfloat16", "complex32"):
        y = execute(runs.widened(x) if dtype.narrow else x, spec)
        if dtype.narrow:
            return runs.shifted(y, 1 - inside(()), value, x)
        return _by_chunks(y, spec.axes[0], lambda chunk, place: runs.shifted(chunk, 1 - inside(place), value, x))
    is_small = 8 * max(math.prod(x.shape), math.prod(spec.shape_out(tuple(x.shape)))) <= chunks.BYTES
    if is_small or getattr(x, "requires_grad", False):  # NumPy arrays would end PyTorch's graph
        return runs.shifted(execute(runs.widened(x), spec), 1 - inside(()), value, x)
    if not isinstance(x, np.ndarray):
        return of(x).from_numpy(resized(of(x).to_numpy(x), spec, value), x)
    return chunks.resized(
        x, spec, "float64" if dtype.kind in "iu" else "float32", lambda some, work: np.copyto(work, some),
        lambda values, place: runs.shifted(values, 1 - inside(place), value, x),
    )  # fmt: skip


def filled(y: Any, x: Any, axis: int, outside: AxisMap, value: Any) -> Any:
    """Returns a fresh y, with the value at positions of an axis that a map of x gives a weight. y was made of x."""
    runs = executor.of(y)
    found = execute(runs.ones(x, outside.n_in), Applied(0, outside))
    shape = tuple(-1 if d == axis else 1 for d in range(y.ndim))

    def change(chunk: Any, place: Place) -> Any:
        here = found[place[axis]] if axis < len(place) else found
        return runs.filled(chunk, runs.reshape(here, shape) < 0.5, value)

    return _by_chunks(y, axis, change)


def _inside(x: Any, spec: Resize) -> Callable[[Place], Any]:
    """Returns a function of a chunk's place in the result, which gives the weight of inputs in each output there. The
    weight is one unless an output reads past an edge."""
    runs = executor.of(x)
    weights = {axis: execute(runs.ones(x, x.shape[axis]), one) for axis, one in spec.alone().items()}

    def inside(place: Place) -> Any:
        found: Any = 1.0
        for axis, weight in weights.items():
            some = weight[place[axis]] if axis < len(place) else weight
            found = found * runs.reshape(some, tuple(-1 if d == axis else 1 for d in range(x.ndim)))
        return found

    return inside


def _by_chunks(y: Any, axis: int, change: Callable[[Any, Place], Any]) -> Any:
    """Changes a fresh y chunk by chunk. All of y is changed at once if a gradient is recorded or y is traced."""
    if of(y).traced(y) or getattr(y, "requires_grad", False) or not y.shape[axis]:
        return change(y, ())
    for some in chunks.lengths(y.shape[axis], 8 * math.prod(y.shape)):
        place = chunks.along(axis, some)
        at = (*place, ...)
        chunk = y[at]
        changed = change(chunk, place)
        if changed is not chunk:
            y[at] = changed
    return y
