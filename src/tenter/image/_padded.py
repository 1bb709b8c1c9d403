"""Images among padding: they are resized into their place in the result, so that it is written once."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tenter import resampling
from tenter._arrays.arguments import describe, output
from tenter._arrays.errors import refuse
from tenter._arrays.layout import resized_order
from tenter._arrays.library import dtype_name, of
from tenter._execution import executor
from tenter._rules.presets import Convention
from tenter._specs.fill_value import holds
from tenter._specs.placement import Rows

#: beside the image is the fill value
OUTSIDE = Convention.of(edge="constant")


def check(name: str, value: Any, x: Any, channel: int | None, has_alpha: bool) -> Any:
    """The value of padding, one for all channels or one for each. name: of its argument. channel: the dim of channels,
    None if there is none. has_alpha: whether the last one is alpha."""
    n = 1 if channel is None else x.shape[channel]
    each = value if isinstance(value, tuple) else (value,)
    if len(each) not in (1, n):
        refuse(ValueError, name, f"1 number, or {n}, as the image has {n} channel{'s' * (n != 1)}", str(len(each)))
    if has_alpha and len(each) == 1 and each[0] != 0:
        refuse(ValueError, name, f"{n} numbers, the last one alpha, or 0, which is transparent", describe(value))
    for number in each:
        if not holds(dtype_name(x), number):
            refuse(ValueError, name, f"values of {dtype_name(x)}", describe(number))
    return each[0] if len(set(each)) == 1 else each


def around(
    x: Any,
    size: tuple[int, int],
    inside: tuple[Rows, Rows],
    axes: tuple[int, int],
    channel: int | None,
    value: Any,
    resize: Callable[[Any], Any],
    out: Any = None,
) -> Any:
    """Returns an image among padding. inside: its rows and columns in the result, which has the height and width
    `size`; where these reach beyond the result, that is a part of the image, resized with the rest. axes: of these,
    from the first dim on. value: as `check` returns it. resize: makes the image, in the memory that it is given or,
    given None, in its own."""
    (top, bottom), (left, right) = inside
    if top < 0 or left < 0 or bottom > size[0] or right > size[1]:
        return resize(None)[_at(x.ndim, axes, slice(-top, size[0] - top), slice(-left, size[1] - left))]
    shape = list(x.shape)
    shape[axes[0]], shape[axes[1]] = size
    if out is not None:
        output(out, x, tuple(shape))
    elif not _is_in_memory(x):
        return _beside(resize(None), size, inside, axes, channel, value)
    else:
        integers = dtype_name(x).lstrip("u").startswith("int")
        out = executor.of_segments(x).large_empty(
            x, tuple(shape), resized_order(x.shape, of(x).strides(x), axes, integers)
        )[0]
    resize(
        out[_at(x.ndim, axes, slice(top, bottom), slice(left, right))]
    )  # which refuses an `out` before it is written
    filling = value if not isinstance(value, tuple) else _along(out, value, channel)
    for rows, columns in (
        (slice(None, top), slice(None)),
        (slice(bottom, None), slice(None)),
        (slice(top, bottom), slice(None, left)),
        (slice(top, bottom), slice(right, None)),
    ):
        out[_at(x.ndim, axes, rows, columns)] = filling
    return out


def _is_in_memory(x: Any) -> bool:
    """Whether parts of a result may be written one after the other."""
    library = of(x)
    written = library.PACKAGE in ("numpy", "torch") and not library.traced(x) and not library.differentiated(x)
    return written and library.device(x) is None


def _beside(
    y: Any, size: tuple[int, int], inside: tuple[Rows, Rows], axes: tuple[int, int], channel: int | None, value: Any
) -> Any:
    """The same for an image that is there, by pixels next to it."""
    if isinstance(value, tuple):
        assert channel is not None
        each = [y[_at(y.ndim, (channel,), slice(c, c + 1))] for c in range(len(value))]
        return _joined([_beside(x, size, inside, axes, channel, v) for x, v in zip(each, value)], channel)
    box = tuple((-begin, side - begin) for (begin, _), side in zip(inside, size))
    return resampling.resize(y, size, axes=axes, mode="nearest-exact", like=OUTSIDE, box=box, value=value)


def _joined(parts: list[Any], axis: int) -> Any:
    package = of(parts[0]).PACKAGE
    if package in ("torch", "dask.array"):
        return sys.modules[package].concatenate(parts, axis)
    return parts[0].__array_namespace__().concat(parts, axis=axis)


def _at(ndim: int, axes: tuple[int, ...], *parts: slice) -> tuple[slice, ...]:
    each = dict(zip(axes, parts))
    return tuple(each.get(d, slice(None)) for d in range(ndim))


def _along(out: Any, value: tuple[Any, ...], channel: int | None) -> Any:
    """One number for each channel, to be broadcast to `out`."""
    assert channel is not None
    numbers = out.new_tensor(value) if of(out).PACKAGE == "torch" else np.array(value, out.dtype)
    return numbers.reshape(len(value), *(1,) * (out.ndim - 1 - channel))
