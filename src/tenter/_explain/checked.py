"""Runs an operation's own checks on the outline of its input, and gets the specification that it would carry out.

This module is the outlines' executor (`_execution/executor.py`), as far as checks need one. It records what is asked of
it.
"""

import sys
from collections.abc import Callable
from typing import Any, cast

import numpy as np

import tenter.numpy as numpy_dialect
from tenter import interleaving, interpolation, ops, resampling
from tenter._arrays import library
from tenter._arrays.arguments import describe, did_you_mean, error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.layout import merged
from tenter._arrays.library import is_array, on_device
from tenter._execution import executor
from tenter._explain import outlines
from tenter._explain.outlines import Made, Outline, outline, reshaped
from tenter._specs import counts
from tenter._specs.repeat import Repeat, RepeatCounts
from tenter._specs.repeat_arguments import ones_in_front
from tenter._specs.spec import Spec

# The operations that can be explained, by their names in messages.
OPERATIONS: dict[str, Callable[..., Any]] = {
    "repeat_interleave": interleaving.repeat_interleave,
    "repeat": ops.repeat,
    "tile": ops.tile,
    "expand": ops.expand,
    "interpolate": interpolation.interpolate,
    "resize": resampling.resize,
    "numpy.repeat": numpy_dialect.repeat,
    "numpy.tile": numpy_dialect.tile,
}
# Names of the first argument.
FIRST = ("x", "input", "a", "A")


def name_of(operation: Any) -> str:
    """Returns the name of an operation that can be explained."""
    for name, function in OPERATIONS.items():
        if operation is function:
            return name
    known = f"one of tenter's {', '.join(OPERATIONS)}, or a lazy array"
    return refuse(TypeError, "operation", known, f"{called(operation)}{_ours(operation)}")


def called(operation: Any) -> str:
    """Returns an operation's name as errors show it."""
    name, module = getattr(operation, "__name__", None), getattr(operation, "__module__", None)
    return f"{module}.{name}" if name and module else describe(operation)


def _ours(operation: Any) -> str:
    """Returns tenter's function in place of another library's."""
    name = str(getattr(operation, "__name__", operation))
    if str(getattr(operation, "__module__", "")).startswith("numpy"):
        name = f"numpy.{name}"
    return f" (did you mean tenter.{name}?)" if name in OPERATIONS else did_you_mean(name, tuple(OPERATIONS))


def checked(name: str, args: tuple[Any, ...], how: dict[str, Any]) -> tuple[Outline, Made]:
    """Returns the outline of x, and what the operation makes of it. Raises the operation's own errors."""
    args, how, x = _with_outline(name, args, how)
    if how.get("out") is not None:
        how = {k: v for k, v in how.items() if k != "out"}
    result = _in_numpys_dialect(name, x, args, how) if name.startswith("numpy.") else OPERATIONS[name](*args, **how)
    # for example because a wrong first argument was not refused
    if not isinstance(result, Outline) or result.made is None:
        raise TypeError(f"x: expected an array, a list or a tenter.Shape, got {describe(x)}\n  in explain")
    return x, result.made


def _with_outline(name: str, args: tuple[Any, ...], how: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    if args:
        x = outline(args[0])
        return (x, *args[1:]), how, x
    first = [word for word in FIRST if word in how] or (["repeats"] if name == "repeat_interleave" else [])
    for word in first:
        if word in how:
            x = outline(how[word])
            return args, {**how, word: x}, x
    return args, how, None


def _in_numpys_dialect(name: str, x: Any, args: tuple[Any, ...], how: dict[str, Any]) -> Any:
    """Runs tenter's checks for a call of `tenter.numpy`. NumPy's errors would otherwise say what is wrong."""
    specs: dict[str, Callable[..., tuple[Any, Spec]]] = {
        "numpy.repeat": numpy_dialect.repeat_spec,
        "numpy.tile": numpy_dialect.tile_spec,
    }
    try:
        if not isinstance(x, Outline):
            refuse(TypeError, "a" if name == "numpy.repeat" else "A", "an array or a list of numbers", describe(x))
        flat, spec = specs[name](*args, **how)
    except Refusal as refusal:
        raise error(refusal, name, *args, **how) from None
    return dispatched(flat, spec)


# ---- the executor


def dispatched(x: Outline, spec: Spec) -> Outline:
    shape = spec.shape_out(x.shape)
    return reshaped(x, shape, None)._replace(made=Made(x, spec, shape))


def traced_counts(x: Outline, repeats: Any, dim: int, output_size: Any) -> Spec:
    if on_device(repeats):
        repeats = library.of(repeats).to_numpy(repeats.cpu())
    return counts.checked(repeats, x.shape[dim], None if x.flat else dim, output_size).spec(x.ndim, dim)


def traced_positions(repeats: Outline, dim: Any, output_size: Any) -> Outline:
    given: Any = repeats if repeats.held is None else counts.unwrapped("repeats", repeats.given)
    values = counts.count_array("repeats", library.of(given).to_numpy(given.cpu()) if on_device(given) else given)
    counts.check_alone("repeats", values.ndim, dim)
    offsets = counts.offsets("repeats", values)
    counts.check_total(int(offsets[-1]), output_size)
    x = outline(outlines.Shape(len(values), dtype="int32" if is_array(given) and values.dtype == np.int32 else "int64"))
    return dispatched(x, RepeatCounts(offsets, 0, int(offsets[-1])))


def flat(x: Outline) -> Outline:
    n = 1
    for length in x.shape:
        n *= length
    walked = merged(list(zip(x.shape, x.memory_layout.strides)))
    one = x._replace(flat=True)
    return reshaped(one, (n,), (walked[0][1] if walked else x.memory_layout.itemsize,) if len(walked) < 2 else None)


def reshape(x: Outline, shape: tuple[int, ...]) -> Outline:
    """Returns an outline with dims of length 1 in front."""
    return reshaped(x, shape, (x.memory_layout.itemsize,) * (len(shape) - x.ndim) + x.memory_layout.strides)


def flip(x: Outline, axes: tuple[int, ...]) -> Outline:
    flipped = x._replace(flipped=axes)
    if x.its.PACKAGE != "numpy":
        return reshaped(flipped, x.shape, None)
    return reshaped(flipped, x.shape, tuple([-s if d in axes else s for d, s in enumerate(x.memory_layout.strides)]))


def expand_fast(x: Outline, sizes: tuple[Any, ...]) -> None:
    return None


def expand(x: Outline, shape: tuple[int, ...]) -> Outline:
    front = reshape(x, ones_in_front(x.shape, len(shape))) if len(shape) > x.ndim else x
    # A dim of length 1 that is stretched is a map that repeats one element.
    each = tuple([n if m == 1 else 1 for n, m in zip(shape, front.shape)])
    return reshaped(x, shape, None)._replace(made=Made(front, Repeat(each, False), shape))


library.add(cast(Any, outlines))
executor.add(cast(Any, sys.modules[__name__]), outlines.PACKAGE)
