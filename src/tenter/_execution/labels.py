"""resize of labels: arguments are checked, and arrays of each library are read and made."""

from typing import Any

import numpy as np

from tenter._arrays import limits
from tenter._arrays.dtypes import DTYPES
from tenter._arrays.errors import refuse
from tenter._arrays.layout import resized_order
from tenter._arrays.library import OUTLINE, dtype_name, of
from tenter._arrays.types import Array
from tenter._execution import calls, election, executor, into, numpy_executor
from tenter._specs import resize_arguments
from tenter._specs.fill_value import check_value
from tenter._specs.resize import Resize
from tenter.maps._kinds import changing


def resized(x: Any, given: resize_arguments.Arguments, out: Any) -> Any:
    """Returns the labels of a call with these arguments."""
    shape = tuple(x.shape)
    spec, flipped = checked(x, given._replace(value=0))
    if of(x).PACKAGE == OUTLINE:
        refuse(ValueError, "labels", "False for explain, which shows how numbers are resized", "True")
    if problem := of(x).unreadable(x):
        refuse(TypeError, "x", "labels that the host can read, as they decide what is computed", problem)
    check_value(given.value, x, spec.reads_outside)
    outside = int(given.value.real) if spec.reads_outside else None
    shape_out = spec.shape_out(shape)
    if out is not None:
        into.check(out, x, shape_out)
    runs = executor.of(x)
    if flipped:
        x = runs.flip(x, flipped)
    if (made := runs.traced_labels(x, spec, outside)) is not None:
        return made
    limits.memory(shape_out, of(x).itemsize(x))
    if out is not None and runs.disjoint(x, out):
        _elect_in_order(of(x).to_numpy(x), spec, outside, of(out).to_numpy(out))
        runs.wrote(out)
        return out
    made = of(x).from_numpy(_elect_in_order(of(x).to_numpy(x), spec, outside), x)
    return made if out is None else calls.copied(made, out)


def checked(x: Any, given: resize_arguments.Arguments) -> tuple[Resize, tuple[int, ...]]:
    """Returns what a call does to the one-hot arrays of x, and the axes to reverse before. Refuses what holds no
    labels."""
    name = dtype_name(x)
    if name != "bool" and (name not in DTYPES or DTYPES[name].kind not in "iu"):
        refuse(TypeError, "x", "integers or bools with labels=True", name)
    return resize_arguments.checked(np.broadcast_to(np.float32(0), tuple(x.shape)), given)


def _elect_in_order(x: Array, spec: Resize, outside: Any, y: Array | None = None) -> Array:
    """Returns y with the result, or the result in fresh memory, with x's order of axes."""
    order = resized_order(x.shape, x.strides, spec.axes, False)
    if y is None:
        y = numpy_executor.large_empty(x, spec.shape_out(x.shape), order)[0]
    maps = {order.index(axis): m for axis, m in changing(spec.maps(x.shape, "float32", False))}
    election.elect(x.transpose(order), maps, maps, outside, y.transpose(order))
    return y
