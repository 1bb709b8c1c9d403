"""Images: `tenter.resize` along height and width, with alpha and in linear light.

Colors are weighted by alpha, because alpha says how visible a color is. sRGB values are spaced evenly for the eye, not
in proportion to light, so linear light decodes them before it averages, and encodes the averages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from tenter._arrays import pillow_images
from tenter._arrays.arguments import MISSING, did_you_mean, error, flag
from tenter._arrays.elsewhere import PART_RESIZED
from tenter._arrays.errors import Refusal
from tenter._arrays.library import is_array
from tenter._arrays.names import show_signature, take_other_names, unknown
from tenter._specs import picture_arguments
from tenter._specs.model_sizes import Budget as Budget, Tiles as Tiles
from tenter._specs.picture_sizes import Fill as Fill, Fit as Fit
from tenter._specs.placement import Placement as Placement
from tenter.image import _forms, _one

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tenter._arrays.signatures import (
        Box,
        Element,
        Held,
        Layout,
        Like,
        Mode,
        ModeName,
        Nested,
        Numbers,
        Other,
        PillowImage,
        Tensor,
        Unpack,
    )
    from tenter._rules.filters import Filter
    from tenter._rules.presets import Convention
    from tenter._specs.signatures import PictureRule, PictureSize

__all__ = ["Budget", "Fill", "Fit", "Placement", "Tiles", "resize"]


# fmt: off
@overload
def resize(x: NDArray[Element], size: PictureSize | None = None, *, out: NDArray[Element] | None = None,
    **how: Unpack[PictureRule]) -> NDArray[Element]: ...
@overload
def resize(x: PillowImage, size: PictureSize | None = None, **how: Unpack[PictureRule]) -> PillowImage: ...
@overload
def resize(x: list[Tensor], size: PictureSize | None = None, *, out: Tensor | None = None,
    **how: Unpack[PictureRule]) -> Tensor: ...
@overload
def resize(x: Nested, size: PictureSize | None = None, *, out: NDArray[Any] | None = None,
    **how: Unpack[PictureRule]) -> NDArray[Any]: ...
@overload
def resize(x: Other, size: PictureSize | None = None, *, out: Other | None = None,
    **how: Unpack[PictureRule]) -> Other: ...
@overload
def resize(x: Tensor, size: PictureSize | None = None, *, out: Tensor | None = None,
    **how: Unpack[PictureRule]) -> Tensor: ...
@overload
def resize(x: Held, size: PictureSize | None = None, *, out: NDArray[Any] | None = None,
    **how: Unpack[PictureRule]) -> NDArray[Any]: ...
# fmt: on
def resize(
    x: Any = MISSING,
    size: PictureSize | None = None,
    too_many: Any = None,
    scale: Numbers | None = None,
    mode: ModeName | Filter | Sequence[Mode | Filter] | None = None,
    antialias: bool | None = None,
    like: Like | Convention | None = None,
    box: Box | None = None,
    alpha: bool | Literal["premultiplied"] | None = None,
    linear_light: bool = False,
    labels: bool = False,
    layout: Layout | None = None,
    out: Any = None,
    draft: bool = False,
    **no_other: Any,
) -> Any:
    """Resizes images: with Pillow's lanczos, antialiased where it shrinks, and with alpha where the image has it.

    `alpha` weights the colors; `linear_light` averages light instead of sRGB values. Without these it is
    `tenter.resize` along height and width. An array of four channels has alpha only where `alpha` says so.

    Parameters
    ----------
    x : array, Pillow image or list of these
        (H, W) or (H, W, C), or as layout says. With alpha or linear light: uint8, uint16 or floats, whose white and
        full alpha are 1; else any dtype, gradients included. A list of images of any sizes gives one array (N, H, W,
        C).
    size : (int, int), Fit, Fill or Budget, optional
        (height, width) in pixels. (height, None) and (None, width) keep the ratio of the sides; `Fit` gives the largest
        size within a height and width, and pads it if it says so; `Fill` fills them and crops; `Budget` is a number of
        pixels, `Tiles` a grid of tiles.
    scale : float or Fraction, optional
        Output / input, in place of size.
    mode : str, Filter or list of these, optional
        As for `tenter.resize`: "linear", "cubic" (the default of Pillow's own `resize`), "lanczos", "area",
        "nearest-exact" (for labels, which must not be mixed). None: "lanczos", and "linear" with `like` or `labels`.
    antialias : bool, optional
        Whether the filter widens when shrinking. None: yes, and with `like` as that library does. Modes "area" and
        nearest refuse True.
    like : str or Convention, optional
        The library whose rules apply, as for `tenter.resize`. Its fields also set align and edge.
    box : ((top, bottom), (left, right)), optional
        The part to resize, in pixels, fractions allowed. Sizes that keep the ratio keep that of the box. Ends in
        reversed order mirror the image.
    alpha : bool or "premultiplied", optional
        Whether the last channel is alpha and weights the colors, so that transparent pixels do not tint their
        neighbors. None: as the mode of a Pillow image says; of an array it has none, and four channels, which may be
        RGBA or four stains, are refused. False treats all channels alike, and allows any number. "premultiplied":
        colors are already multiplied by alpha.
    linear_light : bool, default False
        Whether sRGB values (IEC 61966-2-1) are decoded to linear light before and encoded after; alpha is not. Floats
        must be within 0 and 1.
    labels : bool, default False
        Whether x holds labels, as for `tenter.resize`. No channel is alpha then.
    layout : {"HWC", "CHW", "NHWC", "NCHW", "HW", "NHW"}, optional
        The axes of x, and of the result. None: HW or HWC.
    out : array, optional
        Where to write the result, as for `tenter.resize`.
    draft : bool, default False
        Whether a JPEG that Pillow has opened and not decoded yet is decoded at 1/2, 1/4 or 1/8 of its size, where an
        antialiasing filter still shrinks by 2 then, as `thumbnail` of Pillow does. It takes a fraction of the time;
        photographs differ by a level or two in the mean, and by up to 12. The image itself stays undecoded. Ignored
        for arrays, and with scale, box, a Budget, Tiles or linear light.

    Returns
    -------
    array or Pillow image
        A new array of x's kind and dtype, or an image of the mode of x. Computed in float32 (float64 for float64) and
        rounded once; uint8 with alpha is bit-identical to Pillow's.

    Raises
    ------
    TypeError
        If an argument has the wrong type, or belongs to `tenter.resize` only.
    ValueError
        If an argument has a value that is not allowed, or x is not an image (channels first need layout="CHW").
    MemoryError
        If the result is larger than the machine's memory.

    See Also
    --------
    tenter.resize : Any axes, any edge, gradients.
    tenter.torch.transforms.Resize : The same for data loaders.

    Notes
    -----
    The EXIF orientation of a Pillow image is not applied. `PIL.ImageOps.exif_transpose` turns the result, or the image,
    which decodes it whole.

    Examples
    --------
    A red pixel next to a transparent green one, and black next to white:

    >>> resize(np.array([[[255, 0, 0, 255], [0, 255, 0, 0]]], np.uint8), (1, 1), alpha=True).tolist()
    [[[255, 0, 0, 128]]]
    >>> board = np.array([[0, 255], [255, 0]], np.uint8)
    >>> resize(board, (1, 1)).item(), resize(board, (1, 1), linear_light=True).item()
    (128, 188)

    A part of an image, mirrored:

    >>> resize(np.arange(16, dtype=np.uint8).reshape(4, 4), (1, 2), box=((0, 2), (3, 1)), mode="linear")
    array([[5, 4]], dtype=uint8)

    Sizes that keep the ratio, a batch, and a list:

    >>> photo = np.zeros((3000, 4000, 3), np.uint8)
    >>> [resize(photo, size).shape[:2] for size in (Fit(800), Fill(400), (100, None))]
    [(600, 800), (400, 400), (100, 133)]
    >>> resize(np.zeros((2, 3, 30, 40), np.uint8), (15, 20), layout="NCHW").shape
    (2, 3, 15, 20)
    >>> resize([photo, photo[:100]], (15, 20)).shape
    (2, 15, 20, 3)
    """
    given: dict[str, Any] = {"scale": scale, "mode": mode, "antialias": antialias, "like": like, "box": box}
    usual = picture_arguments.usual_mode(like, labels) if mode is None else mode
    how = {"alpha": alpha, "linear_light": linear_light, "labels": labels, **given, "mode": usual}
    try:
        if no_other or too_many is not None:
            picture_arguments.refuse_others(no_other, too_many)
            take_other_names(resize, no_other, too_many)
        flag("draft", draft)
        flag("labels", labels)
        boxes = None
        if draft and not linear_light and not labels:
            x, boxes = _forms.drafted(x, size, {**given, "mode": usual})
        if layout is not None or not is_array(x):
            if _forms.is_many(x):
                return _forms.many(resize, x, size, layout, out, how, boxes)
            if pillow_images.is_image(x):
                return _forms.of_pillow(resize, x, layout, out, {**how, "size": size, "box": boxes or box})
        return _one.resized(resize, x, size, layout, out, how)
    except Refusal as refusal:
        shown: dict[str, Any] = {"alpha": alpha, "linear_light": linear_light or None, **given}
        shown["labels"] = labels or None
        shown["draft"] = draft or None
        shown |= {"layout": layout, **no_other}
        raise error(refusal, "image.resize", x=x, size=size, **shown, out=out) from None


show_signature(resize)


#: What other libraries' functions are here.
_ELSEWHERE = {
    **dict.fromkeys(("crop_resize", "resized_crop", "crop"), PART_RESIZED),
    "reduce": "image.resize(x, size, mode='area')",
    **dict.fromkeys(("thumbnail", "contain"), "image.resize(x, image.Fit(size))"),
    **dict.fromkeys(("pad", "letterbox"), "image.resize(x, image.Fit(size, enlarge=True, pad=0))"),
    **dict.fromkeys(("fit", "cover"), "image.resize(x, image.Fill(size)), which crops"),
    **dict.fromkeys(("rescale", "zoom", "scale"), "image.resize(x, scale=...)"),
    **dict.fromkeys(("open", "imread", "Image"), "PIL.Image, whose images image.resize takes"),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    meant = _ELSEWHERE.get(name)
    raise unknown(__name__, name, f" (did you mean {meant}?)" if meant else did_you_mean(name, __all__))


def __dir__() -> list[str]:
    return __all__
