"""Images whose colors are weighted by alpha, or averaged in linear light."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tenter import resampling
from tenter._arrays.errors import refuse
from tenter._arrays.library import dtype_name
from tenter._arrays.types import Array
from tenter._execution import chunks, premultiplied
from tenter._rules import filters, srgb
from tenter._rules.presets import convention, with_antialias
from tenter._specs import resize_arguments

PICTURES = ("uint8", "uint16", "float16", "float32", "float64")
#: where less alpha than this is left of an image of floats, nothing is seen: half a step of 16 bits
UNSEEN = 2.0**-17
#: numbers prepared at a time
CHUNK = 1 << 16


def check(x: Any) -> None:
    name = dtype_name(x)
    if name not in PICTURES:
        expected = "uint8, uint16 or floats for linear_light and for alpha (alpha=False says that there is none)"
        refuse(TypeError, "x", expected, name)
    if getattr(x, "requires_grad", False):
        refuse(TypeError, "x", "no gradient, as alpha and linear_light have none (call detach())", "a leaf of one")


def check_range(x: Array, has_alpha: bool) -> None:
    """Refuses floats that are no sRGB values, whose light would be that of other colors. NaN stays NaN."""
    colors = x[..., :-1] if has_alpha else x
    if x.dtype.kind != "f" or not colors.size:
        return
    least, greatest = np.fmin.reduce(colors, None), np.fmax.reduce(colors, None)
    if least < 0 or greatest > 1:
        refuse(ValueError, "x", "floats from 0 to 1 for linear_light", f"{float(least):g} to {float(greatest):g}")


def each(mode: Any) -> list[Any]:
    return list(mode) if isinstance(mode, (list, tuple)) and not isinstance(mode, filters.Filter) else [mode]


def is_constant_outside(like: Any) -> bool:
    """Whether a convention fills the outside of the image with a color."""
    return "constant" in [with_antialias(convention(like).edge, wide) for wide in (False, True)]


def full(x: Any) -> float:
    name = dtype_name(x)
    return float(np.iinfo(name).max) if name in ("uint8", "uint16") else 1.0


def mixed(
    x: Array, has_alpha: bool, premultiply: bool, light: bool, size: Any, given: dict[str, Any], room: Array | None
) -> Array:
    stack = x[..., None] if x.ndim == 2 else x
    real = "float64" if x.dtype.itemsize == 8 else "float32"

    def prepare(some: Array, work: Array) -> Array:
        if premultiply and not light and premultiplied.multiplied(some, work):
            return work
        return _prepared(some, work, has_alpha, premultiply, light)

    def finish(values: Array, place: tuple[slice, ...] = ()) -> Array:
        if (
            premultiply
            and not light
            and (found := premultiplied.divided(values, x.dtype, _unseen(x.dtype))) is not None
        ):
            return found
        return _finished(values, x.dtype, has_alpha, premultiply, light)

    if _is_small(stack, size, given):  # then resize knows calls like this one
        work = prepare(stack, np.empty_like(stack, dtype=real))
        found = finish(resampling.resize(work, size, axes=(0, 1), **given))
        return found[..., 0] if x.ndim == 2 else found
    like = np.broadcast_to(np.zeros((), real), stack.shape)
    spec, flipped = resize_arguments.checked(like, resize_arguments.Arguments(size, axes=(0, 1), **given))
    stack = np.flip(stack, flipped)
    if premultiply and not light:
        at_once = premultiplied.resized_as_floats(stack, spec, real, _unseen(x.dtype), room)
        if at_once is not None:
            return at_once
    found = chunks.resized(stack, spec, real, prepare, finish)
    return found[..., 0] if x.ndim == 2 else found


def in_eight_bits(x: Array, size: Any, given: dict[str, Any], room: Array | None) -> Array | None:
    """In 8 bits, as Pillow, where the conventions are its own; None elsewhere."""
    if x.shape[2] not in (2, 4):
        return None
    spec, flipped = resize_arguments.checked(x, resize_arguments.Arguments(size, axes=(0, 1), **given))
    return premultiplied.resized(np.flip(x, flipped), spec, room)


def _is_small(stack: Array, size: Any, given: dict[str, Any]) -> bool:
    """True if an image and its result, as floats, are one chunk."""
    each = size if type(size) is tuple and len(size) == 2 else (size, size)
    if any(type(n) is not int for n in each) or convention(given["like"]).aspect_ratio != "stretch":
        return False
    height, width, channels = stack.shape
    return bool(8 * channels * max(height * width, each[0] * each[1]) <= chunks.BYTES)


def _unseen(dtype: np.dtype[Any]) -> float:
    """The most alpha whose color cannot be seen, and would be noise: what is rounded to 0."""
    return 0.5 if dtype.kind == "u" else UNSEEN


def _finished(values: Array, dtype: np.dtype[Any], has_alpha: bool, premultiply: bool, light: bool) -> Array:
    """Elements of a dtype from the floats that were mixed, which may be changed."""
    y = np.empty_like(values, dtype)
    for some in _in_cache(values):
        y[some] = _finished_rows(values[some], dtype, has_alpha, premultiply, light)
    return y


def _in_cache(stack: Array) -> Iterator[slice]:
    """A few rows at a time."""
    height, width, channels = stack.shape
    step = max(1, CHUNK // max(1, width * channels))
    return (slice(top, top + step) for top in range(0, height, step))


def _finished_rows(out: Array, dtype: np.dtype[Any], has_alpha: bool, premultiply: bool, light: bool) -> Array:
    whole = dtype.kind == "u"
    full = np.iinfo(dtype).max if whole else 1.0
    if premultiply:
        seen = out[..., -1:] > _unseen(dtype)
        out[..., :-1] = np.divide(out[..., :-1], out[..., -1:], out=np.zeros_like(out[..., :-1]), where=seen)
    if light:
        colors = slice(-1) if has_alpha else slice(None)
        out[..., colors] = srgb.encoded(out[..., colors]) * full
    if whole:
        np.clip(np.rint(out, out=out), 0, full, out=out)
    return out


def _prepared(stack: Array, work: Array, has_alpha: bool, premultiply: bool, light: bool) -> Array:
    """The floats to mix, in work: light if asked for, weighted if asked for, alpha as it is."""
    whole = stack.dtype.kind == "u"
    for some in _in_cache(stack):
        given, made = stack[some], work[some]
        if light:
            made[...] = srgb.table(stack.dtype.name).take(given) if whole else srgb.decoded(given.astype(work.dtype))
            if has_alpha:
                made[..., -1] = given[..., -1]
        else:
            made[...] = given
        if premultiply:
            for c in range(stack.shape[2] - 1):  # one at a time, as loops over three elements are slow
                made[..., c] *= made[..., -1]
    return work
