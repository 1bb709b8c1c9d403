"""Pictures: `tenter.resize` that takes alpha and light into account.

Colors are weighted by alpha, as they are seen, and sRGB's steps are even to the eye, not in light. So a picture's
numbers are changed before they are averaged, and the averages changed back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from tenter import filters, resampling
from tenter._arrays.arguments import MISSING, array, describe, error, flag, output
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import dtype_name, of
from tenter._arrays.names import show_signature, take_other_names
from tenter._arrays.standard_arrays import is_standard
from tenter._arrays.types import Array
from tenter._execution import bands, calls, executor, weighed
from tenter._rules import srgb
from tenter._rules.axis_rule import NEAREST
from tenter._specs import lengths, picture_arguments, picture_sizes, resize_arguments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tenter._arrays.signatures import (
        Align,
        Box,
        Edge,
        Element,
        Gravity,
        Held,
        Like,
        Mode,
        ModeName,
        Nested,
        Numbers,
        Other,
        PictureRule,
        Policy,
        Rounding,
        Sizes,
        Tensor,
        Tie,
        Unpack,
    )
    from tenter._rules.presets import Convention
    from tenter.filters import Filter

__all__ = ["resize"]

PICTURES = ("uint8", "uint16", "float16", "float32", "float64")
#: where less alpha than this is left of a picture of floats, nothing is seen: half a step of 16 bits
UNSEEN = 2.0**-17
#: numbers prepared at a time
BAND = 1 << 16


# fmt: off
@overload
def resize(pixels: NDArray[Element], size: Sizes | None = None, *, out: NDArray[Element] | None = None,
    **how: Unpack[PictureRule]) -> NDArray[Element]: ...
@overload
def resize(pixels: Nested, size: Sizes | None = None, *, out: NDArray[Any] | None = None,
    **how: Unpack[PictureRule]) -> NDArray[Any]: ...
@overload
def resize(pixels: Other, size: Sizes | None = None, *, out: Other | None = None,
    **how: Unpack[PictureRule]) -> Other: ...
@overload
def resize(pixels: Tensor, size: Sizes | None = None, *, out: Tensor | None = None,
    **how: Unpack[PictureRule]) -> Tensor: ...
@overload
def resize(pixels: Held, size: Sizes | None = None, *, out: NDArray[Any] | None = None,
    **how: Unpack[PictureRule]) -> NDArray[Any]: ...
# fmt: on
def resize(
    pixels: Any = MISSING,
    size: Sizes | None = None,
    too_many: Any = None,
    scale: Numbers | None = None,
    mode: ModeName | Filter | Sequence[Mode | Filter] | None = None,
    antialias: bool | None = None,
    like: Like | Convention = "pillow",
    box: Box | None = None,
    alpha: bool | None = None,
    premultiply: bool = True,
    linear_light: bool = False,
    labels: bool = False,
    fit: Sizes | None = None,
    fill: Sizes | None = None,
    long_edge: SupportsIndex | None = None,
    width: SupportsIndex | None = None,
    height: SupportsIndex | None = None,
    enlarge: bool = False,
    gravity: Gravity | None = None,
    rounding: Rounding | None = None,
    policy: Policy = "stretch",
    align: Align | None = None,
    tie: Tie | None = None,
    cubic: float | None = None,
    edge: Edge | None = None,
    value: complex = 0,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """Resizes a picture, its colors weighted by alpha and, if asked, in linear light.

    pixels: (H, W) or (H, W, C) of uint8, uint16 or floats, whose white and full alpha are 1. Other dtypes, and tensors
        with gradients, are served where nothing below applies.
    size: (height, width), or one number for both; or scale. mode, antialias, like, box, rounding, policy, align, tie,
        cubic, edge, value: as `tenter.resize` has them, box as ((top, bottom), (left, right)).
    alpha: whether the last channel is alpha. None: it is if there are four; two may be a flow or a complex number, so
        gray with alpha needs True. None also expects at most four channels, and refuses what looks like (C, H, W).
    labels: the pixels are labels (classes, instances, indices of a palette), which must not be mixed: each output takes
        the nearest one, by mode "nearest-exact".
    premultiply: weight colors by alpha, so that unseen pixels do not tint their neighbors. Where no alpha is left
        the color is 0.
    out: where to write the result, as `tenter.resize` has it.
    linear_light: decode sRGB (IEC 61966-2-1) to light before and encode it after; alpha is left as it is. Values beyond
        0 and 1 are decoded as their opposites are.
    fit, fill, long_edge, width, height: in place of size or scale, a size that keeps the ratio of the sides. fit:
        (height, width) to lie within; long_edge: the longer side at most; neither enlarges without enlarge=True. width,
        height: that side. The other side is rounded to the nearest int, halves up, and is at least 1. fill: (height,
        width) to cover, of which the middle is kept, or the part at gravity ("north" to "northwest"), cut in exact
        fractions of a pixel and resized at once. With box they are of the box.
    Nearest kinds mix nothing, so both are off for them. Returns fresh memory of pixels' kind and dtype, computed in
    float32 (float64 of float64) and rounded once, uint8 with alpha as in Pillow, bit for bit. Where neither applies,
    or alpha is full everywhere and light is not asked for, the same bits as `tenter.resize`.

    Raises TypeError and ValueError naming the argument, MemoryError for a result larger than the machine.

    >>> red_beside_unseen_green = np.array([[[255, 0, 0, 255], [0, 255, 0, 0]]], np.uint8)
    >>> resize(red_beside_unseen_green, 1).tolist()
    [[[255, 0, 0, 128]]]
    >>> black_and_white = np.array([[0, 255], [255, 0]], np.uint8)
    >>> resize(black_and_white, 1).item(), resize(black_and_white, 1, linear_light=True).item()
    (128, 188)
    >>> photo = np.zeros((3000, 4000, 3), np.uint8)
    >>> [resize(photo, **size).shape[:2] for size in ({"fit": (800, 800)}, {"fill": (400, 400)}, {"height": 100})]
    [(600, 800), (400, 400), (100, 133)]
    """
    given: dict[str, Any] = {
        "scale": scale, "mode": mode, "antialias": antialias, "like": like, "rounding": rounding, "policy": policy,
        "box": box, "align": align, "tie": tie, "cubic": cubic, "edge": edge, "value": value,
    }  # fmt: skip
    policies = {"fit": fit, "fill": fill, "long_edge": long_edge, "width": width, "height": height}
    asked = size
    try:
        if no_other or too_many is not None:
            picture_arguments.refuse_axes(no_other, too_many)
            take_other_names(resize, no_other, too_many)
        x = array("pixels", pixels)
        has_alpha = picture_arguments.has_alpha(x, size, alpha)
        flag("premultiply", premultiply)
        flag("linear_light", linear_light)
        mode = given["mode"] = picture_arguments.mode(mode, labels)
        stretches = all(v is None for v in (*policies.values(), gravity)) and enlarge is False
        if not stretches and (what := picture_sizes.wanted(policies, enlarge, gravity)) is not None:
            size, given["box"] = _placed_in(x, what, size, given)
        mixes = not all(m in NEAREST for m in _each(mode))
        weigh, light = mixes and premultiply and has_alpha, mixes and linear_light
        if weigh or light:
            _check_mixing(x, value)
            if is_standard(x) and (unknown := of(x).unreadable(x)):
                refuse(TypeError, "pixels", "a picture whose values are known, to mix them", unknown)
            if of(x).PACKAGE == "dask.array":
                expected = "a picture in memory, where alpha or light is mixed (x.compute(); alpha=False mixes none)"
                refuse(TypeError, "pixels", expected, "a Dask array")
        if out is not None:
            spec, _ = resize_arguments.checked(x, resize_arguments.Arguments(size, axes=(0, 1), **given))
            output(out, x, spec.shape_out(tuple(x.shape)))
        on_host = of(x).device(x) is None
        if weigh and not light and on_host and x.ndim == 3 and dtype_name(x) == "uint8":
            room = _room(x, out)
            found = _weighed(of(x).to_numpy(x), size, given, room)
            if found is not None:
                return _placed(found, x, out, room)
        if weigh and edge != "constant":  # what that puts around a picture is unseen
            full = _full(x)
            weigh = not (weighed.is_alpha(of(x).to_numpy(x), full) if on_host else bool((x[..., -1] == full).all()))
        if not (weigh or light):
            return resampling.resize(x, size, axes=(0, 1), out=out, **given)
        room = _room(x, out)
        return _placed(_mixed(of(x).to_numpy(x), has_alpha, weigh, light, size, given, room), x, out, room)
    except Refusal as refusal:
        shown: dict[str, Any] = {"alpha": alpha, "premultiply": premultiply, "linear_light": linear_light}
        shown |= {"labels": labels or None, **given, "box": box, **policies, "enlarge": enlarge or None}
        shown |= {"gravity": gravity, **no_other}
        for name, usual in (("policy", "stretch"), ("value", 0)):
            if type(shown[name]) is type(usual) and shown[name] == usual:
                del shown[name]
        raise error(refusal, "image.resize", pixels=pixels, size=asked, **shown, out=out) from None


show_signature(resize)


def _placed_in(x: Any, what: picture_sizes.Wanted, size: Any, given: dict[str, Any]) -> tuple[Any, Any]:
    """The size that a picture is given, and the box that is resized."""
    for name, value, none in (("size", size, None), ("scale", given["scale"], None), ("policy", "stretch", "stretch")):
        if given.get(name, value) != none:
            refuse(ValueError, name, f"one of size, scale, {', '.join(picture_sizes.POLICIES)}", "two of them")
    if 0 in x.shape[:2]:
        refuse(ValueError, "pixels", "at least one pixel, to keep the ratio of the sides", f"shape {tuple(x.shape)}")
    spans = lengths.boxes(given["box"], 2)
    rows, columns = (span or (Fraction(0), Fraction(n)) for span, n in zip(spans, x.shape[:2]))
    return picture_sizes.placed(what, (rows, columns))


def _room(x: Any, out: Any) -> Array | None:
    """out as an array of NumPy's, if it may be written to while x is read."""
    return (
        of(out).to_numpy(out) if out is not None and of(x).device(x) is None and executor.of(x).apart(x, out) else None
    )


def _placed(found: Array, x: Any, out: Any, room: Array | None) -> Any:
    """A result as an array of x's library, or in out. room: out, if found lies there already."""
    if found is room:
        executor.of(x).wrote(out)
        return out
    made = of(x).from_numpy(found, x)
    return made if out is None else calls.copied(made, out)


def _check_mixing(x: Any, value: Any) -> None:
    name = dtype_name(x)
    if name not in PICTURES:
        expected = "uint8, uint16 or floats for linear_light and for alpha (alpha=False says that there is none)"
        refuse(TypeError, "pixels", expected, name)
    if value != 0:
        refuse(ValueError, "value", "0 where alpha or light is mixed", describe(value))
    if getattr(x, "requires_grad", False):
        refuse(TypeError, "pixels", "no gradient where alpha or light is mixed (call detach())", "a leaf of one")


def _each(mode: Any) -> list[Any]:
    return list(mode) if isinstance(mode, (list, tuple)) and not isinstance(mode, filters.Filter) else [mode]


def _full(x: Any) -> float:
    name = dtype_name(x)
    return float(np.iinfo(name).max) if name in ("uint8", "uint16") else 1.0


def _mixed(
    x: Array, has_alpha: bool, weigh: bool, light: bool, size: Any, given: dict[str, Any], room: Array | None
) -> Array:
    stack = x[..., None] if x.ndim == 2 else x
    real = "float64" if x.dtype.itemsize == 8 else "float32"

    def prepare(some: Array, work: Array) -> Array:
        if weigh and not light and weighed.multiplied(some, work):
            return work
        return _prepared(some, work, has_alpha, weigh, light)

    def finish(values: Array, place: tuple[slice, ...] = ()) -> Array:
        if weigh and not light and (found := weighed.divided(values, x.dtype, _unseen(x.dtype))) is not None:
            return found
        return _finished(values, x.dtype, has_alpha, weigh, light)

    if _is_small(stack, size, given):  # then resize knows calls like this one
        work = prepare(stack, np.empty_like(stack, dtype=real))
        found = finish(resampling.resize(work, size, axes=(0, 1), **given))
        return found[..., 0] if x.ndim == 2 else found
    like = np.broadcast_to(np.zeros((), real), stack.shape)
    spec, turned = resize_arguments.checked(like, resize_arguments.Arguments(size, axes=(0, 1), **given))
    stack, out = np.flip(stack, turned), None if room is None else room[..., None] if x.ndim == 2 else room
    at_once = weighed.resized_as_floats(stack, spec, real, _unseen(x.dtype), out) if weigh and not light else None
    found = bands.resized(stack, spec, real, prepare, finish, out) if at_once is None else at_once
    return (found[..., 0] if x.ndim == 2 else found) if room is None else room


def _weighed(x: Array, size: Any, given: dict[str, Any], room: Array | None) -> Array | None:
    """In 8 bits, as Pillow, where the conventions are its own; None elsewhere."""
    if x.shape[2] not in (2, 4):
        return None
    spec, turned = resize_arguments.checked(x, resize_arguments.Arguments(size, axes=(0, 1), **given))
    return weighed.resized(np.flip(x, turned), spec, room)


def _is_small(stack: Array, size: Any, given: dict[str, Any]) -> bool:
    """True if a picture and its result, as floats, are one band."""
    each = size if type(size) is tuple and len(size) == 2 else (size, size)
    if any(type(n) is not int for n in each) or given["policy"] != "stretch":
        return False
    height, width, channels = stack.shape
    return bool(8 * channels * max(height * width, each[0] * each[1]) <= bands.BYTES)


def _unseen(dtype: np.dtype[Any]) -> float:
    """The most alpha whose color cannot be seen, and would be noise: what is rounded to 0."""
    return 0.5 if dtype.kind == "u" else UNSEEN


def _finished(values: Array, dtype: np.dtype[Any], has_alpha: bool, weigh: bool, light: bool) -> Array:
    """Elements of a dtype from the floats that were mixed, which may be changed."""
    y = np.empty_like(values, dtype)
    for some in _in_cache(values):
        y[some] = _finished_rows(values[some], dtype, has_alpha, weigh, light)
    return y


def _in_cache(stack: Array) -> Iterator[slice]:
    """A few rows at a time."""
    height, width, channels = stack.shape
    step = max(1, BAND // max(1, width * channels))
    return (slice(top, top + step) for top in range(0, height, step))


def _finished_rows(out: Array, dtype: np.dtype[Any], has_alpha: bool, weigh: bool, light: bool) -> Array:
    whole = dtype.kind == "u"
    full = np.iinfo(dtype).max if whole else 1.0
    if weigh:
        seen = out[..., -1:] > _unseen(dtype)
        out[..., :-1] = np.divide(out[..., :-1], out[..., -1:], out=np.zeros_like(out[..., :-1]), where=seen)
    if light:
        colors = slice(-1) if has_alpha else slice(None)
        out[..., colors] = srgb.encoded(out[..., colors]) * full
    if whole:
        np.clip(np.rint(out, out=out), 0, full, out=out)
    return out


def _prepared(stack: Array, work: Array, has_alpha: bool, weigh: bool, light: bool) -> Array:
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
        if weigh:
            for c in range(stack.shape[2] - 1):  # one at a time, as loops over three elements are slow
                made[..., c] *= made[..., -1]
    return work
