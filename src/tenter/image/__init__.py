"""Pictures: `tenter.resize` that takes alpha and light into account.

Colors are weighted by alpha, as they are seen, and sRGB's steps are even to the eye, not in light. So a picture's
numbers are changed before they are averaged, and the averages changed back.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from tenter import resampling
from tenter._arrays import pillow_images
from tenter._arrays.arguments import MISSING, array, describe, error, flag, output
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import dtype_name, is_array, of
from tenter._arrays.names import parameters, show_signature, take_other_names
from tenter._arrays.standard_arrays import is_standard
from tenter._arrays.types import Array
from tenter._execution import calls, executor, weighed
from tenter._rules.axis_rule import NEAREST
from tenter._specs import lengths, picture_arguments, picture_sizes, resize_arguments
from tenter.image import _forms, _mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tenter._arrays.signatures import (
        Align,
        Box,
        Edge,
        Element,
        Gravity,
        Held,
        Layout,
        Like,
        Mode,
        ModeName,
        Nested,
        Numbers,
        Other,
        PartRule,
        PictureRule,
        PillowImage,
        Policy,
        Rounding,
        Sizes,
        Tensor,
        Tie,
        Unpack,
    )
    from tenter._rules.presets import Convention
    from tenter.filters import Filter

__all__ = ["crop_resize", "resize"]


# fmt: off
@overload
def resize(pixels: NDArray[Element], size: Sizes | None = None, *, out: NDArray[Element] | None = None,
    **how: Unpack[PictureRule]) -> NDArray[Element]: ...
@overload
def resize(pixels: PillowImage, size: Sizes | None = None, **how: Unpack[PictureRule]) -> PillowImage: ...
@overload
def resize(pixels: list[Tensor], size: Sizes | None = None, *, out: Tensor | None = None,
    **how: Unpack[PictureRule]) -> Tensor: ...
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
    layout: Layout | None = None,
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
        with gradients, are served where nothing below applies. An image of Pillow's gives an image of its mode. A list
        of pictures of any sizes gives one array (N, H, W, C), for size or fill.
    layout: the axes of an array: HWC, CHW, NHWC, NCHW, HW or NHW; the result has the same. None: HW or HWC.
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
    >>> resize(np.zeros((2, 3, 30, 40), np.uint8), (15, 20), layout="NCHW").shape
    (2, 3, 15, 20)
    >>> resize([photo, photo[:100]], (15, 20)).shape
    (2, 15, 20, 3)
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
        if layout is not None or not is_array(pixels):
            how = {"alpha": alpha, "premultiply": premultiply, "linear_light": linear_light, "labels": labels, **given}
            how |= {**policies, "enlarge": enlarge, "gravity": gravity}
            if _forms.is_many(pixels):
                return _forms.many(resize, pixels, size, layout, out, how)
            if pillow_images.is_image(pixels):
                return _forms.of_pillow(resize, pixels, layout, out, {**how, "size": size})
        whole = x = array("pixels", pixels)
        axes = (0, 1)
        if layout is not None:
            _forms.check(layout)
            x, axes = _forms.one(whole, layout)
            how["alpha"] = alpha = ("C" in layout and x.shape[2] == 4) if alpha is None else alpha
        has_alpha = picture_arguments.has_alpha(x, size, alpha)
        flag("premultiply", premultiply)
        flag("linear_light", linear_light)
        mode = given["mode"] = picture_arguments.mode(mode, labels)
        stretches = all(v is None for v in (*policies.values(), gravity)) and enlarge is False
        if not stretches and (what := picture_sizes.wanted(policies, enlarge, gravity)) is not None:
            size, given["box"] = _placed_in(x, what, size, given)
        mixes = not all(m in NEAREST for m in _mixed.each(mode))
        weigh, light = mixes and premultiply and has_alpha, mixes and linear_light
        if layout is not None:
            if not (weigh or light) or 0 in whole.shape:
                return resampling.resize(whole, size, axes=axes, out=out, **given)
            return _forms.each(resize, whole, layout, out, {**how, "size": asked})
        if weigh or light:
            _mixed.check(x, value)
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
            found = _mixed.in_eight_bits(of(x).to_numpy(x), size, given, room)
            if found is not None:
                return _placed(found, x, out, room)
        if weigh and edge != "constant":  # what that puts around a picture is unseen
            full = _mixed.full(x)
            weigh = not (weighed.is_alpha(of(x).to_numpy(x), full) if on_host else bool((x[..., -1] == full).all()))
        if not (weigh or light):
            return resampling.resize(x, size, axes=(0, 1), out=out, **given)
        room = _room(x, out)
        return _placed(_mixed.mixed(of(x).to_numpy(x), has_alpha, weigh, light, size, given, room), x, out, room)
    except Refusal as refusal:
        shown: dict[str, Any] = {"alpha": alpha, "premultiply": premultiply, "linear_light": linear_light}
        shown |= {"labels": labels or None, **given, "box": box, **policies, "enlarge": enlarge or None}
        shown |= {"gravity": gravity, "layout": layout, **no_other}
        for name, usual in (("policy", "stretch"), ("value", 0)):
            if type(shown[name]) is type(usual) and shown[name] == usual:
                del shown[name]
        raise error(refusal, "image.resize", pixels=pixels, size=asked, **shown, out=out) from None


show_signature(resize)
_NAMES = frozenset(parameters(resize))


# fmt: off
@overload
def crop_resize(pixels: NDArray[Element], box: Sequence[float | Fraction], size: Sizes, *, flip: bool = False,
    out: NDArray[Element] | None = None, **how: Unpack[PartRule]) -> NDArray[Element]: ...
@overload
def crop_resize(pixels: PillowImage, box: Sequence[float | Fraction], size: Sizes, *, flip: bool = False,
    **how: Unpack[PartRule]) -> PillowImage: ...
@overload
def crop_resize(pixels: Tensor, box: Sequence[float | Fraction], size: Sizes, *, flip: bool = False,
    out: Tensor | None = None, **how: Unpack[PartRule]) -> Tensor: ...
@overload
def crop_resize(pixels: Other, box: Sequence[float | Fraction], size: Sizes, *, flip: bool = False,
    out: Other | None = None, **how: Unpack[PartRule]) -> Other: ...
# fmt: on
def crop_resize(pixels: Any, box: Sequence[float | Fraction], size: Sizes, *, flip: bool = False, **how: Any) -> Any:
    """Resizes a part of a picture, which may begin and end within pixels, and mirrors it if asked.

    box: (top, left, height, width) of the part in pixels, fractions allowed. size: (height, width) of the result.
    flip: whether columns are reversed. how: the other arguments of `resize`, but for its box and other sizes.
    Pixels around the part are read where the filter reaches them, as with the box of Pillow's `Image.resize`.

    Raises TypeError and ValueError naming the argument.

    >>> crop_resize(np.arange(16, dtype=np.uint8).reshape(4, 4), (0.5, 1, 2, 2), (1, 2), flip=True, antialias=False)
    array([[6, 5]], dtype=uint8)
    """
    try:
        take_other_names(resize, {name: value for name, value in how.items() if name not in _NAMES})
        flag("flip", flip)
        for name in ("box", "scale", *picture_sizes.POLICIES):
            if name in how:
                refuse(TypeError, name, "no argument of this name, as box and size say it", describe(how[name]))
        sides = _forms.part(box)
    except Refusal as refusal:
        raise error(refusal, "image.crop_resize", pixels=pixels, box=box, size=size, flip=flip or None, **how) from None
    top, left, height, width = sides
    columns = (left + width, left) if flip else (left, left + width)
    return resize(pixels, size, box=((top, top + height), columns), **how)


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
