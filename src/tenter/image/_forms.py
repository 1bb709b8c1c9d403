"""Images in other forms than one (H, W, C) array: axes in another order, batches, Pillow's images, lists of these."""

import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tenter._arrays import arguments, pillow_images
from tenter._arrays.arguments import describe
from tenter._arrays.errors import refuse
from tenter._arrays.library import dtype_name, is_array, of
from tenter._execution import calls
from tenter._rules.presets import convention
from tenter._specs import picture_sizes
from tenter._specs.model_sizes import OF_MODELS
from tenter._specs.modes import AFTER_DECODERS, NO_ANTIALIAS
from tenter._specs.picture_sizes import Fill, Fit
from tenter._specs.placement import placed

LAYOUTS = ("HWC", "CHW", "NHWC", "NCHW", "HW", "NHW")


def check(layout: Any) -> None:
    word = layout.upper().replace(" ", "").replace("B", "N") if isinstance(layout, str) else ""
    if word in LAYOUTS and word != layout:
        refuse(ValueError, "layout", f"one of {', '.join(LAYOUTS)}", f"{layout!r} (did you mean {word!r}?)")
    arguments.one_of("layout", layout, LAYOUTS)


def one(x: Any, layout: str) -> tuple[Any, tuple[int, int]]:
    """The first image of a batch as (H, W) or (H, W, C), and the axes of height and width."""
    if x.ndim != len(layout):
        refuse(ValueError, "x", f"shape ({', '.join(layout)}), as layout says", f"{tuple(x.shape)}")
    y = _turned(x, layout)
    if layout[0] == "N":
        y = y[0, ...] if x.shape[0] else np.broadcast_to(np.zeros((), np.uint8), tuple(y.shape[1:]))
    return y, (layout.index("H"), layout.index("W"))


def each(resize: Callable[..., Any], x: Any, layout: str, out: Any, how: dict[str, Any]) -> Any:
    """The images resized one by one, for colors that are mixed with others of their pixel; in the same layout."""
    y = _turned(x, layout)
    pictures = [y[k, ...] for k in range(x.shape[0])] if layout[0] == "N" else [y]
    found = [of(x).to_numpy(resize(picture, **how)) for picture in pictures]
    made = np.stack(found) if layout[0] == "N" else found[0]
    back = [_order(layout).index(axis) for axis in range(len(layout))]
    result = of(x).from_numpy(np.ascontiguousarray(made.transpose(back)), x)
    return result if out is None else calls.copied(result, out)


def _order(layout: str) -> list[int]:
    return [layout.index(letter) for letter in "NHWC" if letter in layout]


def _turned(x: Any, layout: str) -> Any:
    """A view with the axes N, H, W, C in this order."""
    order = _order(layout)
    if order == list(range(len(order))):
        return x
    if of(x).PACKAGE == "torch":
        return x.permute(order)
    return x.transpose(order) if hasattr(x, "transpose") else x.__array_namespace__().permute_dims(x, tuple(order))


def is_many(pixels: Any) -> bool:
    """Whether it is a list of images, not of numbers or rows."""
    if not isinstance(pixels, (list, tuple)) or not pixels:
        return False
    return pillow_images.is_image(pixels[0]) or (is_array(pixels[0]) and getattr(pixels[0], "ndim", 0) >= 2)


def of_pillow(resize: Callable[..., Any], image: Any, layout: Any, out: Any, how: dict[str, Any]) -> Any:
    """Pillow's image, as an image of its mode."""
    for name, value in (("layout", layout), ("out", out)):
        if value is not None:
            refuse(TypeError, name, "None for an image of Pillow (np.asarray(image) is (H, W, C))", describe(value))
    _refuse_signed(image, how["size"])
    return pillow_images.image_of(resize(pillow_images.array_of(image), **of_mode(image, how)), image)


def drafted(x: Any, size: Any, given: dict[str, Any]) -> tuple[Any, Any]:
    """Pillow's images that are not decoded yet, decoded smaller where an antialiasing filter makes them smaller still;
    and the box of each that is the whole image then, None for all: the last pixel may stand for fewer than others."""
    wide = given["antialias"] or (given["antialias"] is None and convention(given["like"]).antialias)
    if not wide or given["mode"] not in AFTER_DECODERS or given["scale"] is not None or given["box"] is not None:
        return x, None
    if isinstance(size, OF_MODELS):  # whose sides are rounded from those of the whole image
        return x, None
    if is_many(x):
        each = [drafted(image, size, given) for image in x]
        return [image for image, _ in each], [box for _, box in each]
    if not pillow_images.is_image(x):
        return x, None
    what, sides = picture_sizes.wanted(size), (x.height, x.width)
    rows, columns = spans = (Fraction(0), Fraction(sides[0])), (Fraction(0), Fraction(sides[1]))
    to: tuple[int, ...]
    if what is not None:
        place = placed(what, spans)
        to, (rows, columns) = place.resized, place.box
    elif len(to := arguments.sizes("size", [size], least=1)) != 2:
        return x, None  # which is refused later
    image, by = pillow_images.drafted(x, min((rows[1] - rows[0]) / to[0], (columns[1] - columns[0]) / to[1]))
    divides = sides[0] % by == sides[1] % by == 0
    return image, None if divides else tuple((0, Fraction(side, by)) for side in sides)


def of_mode(image: Any, how: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with what the image's mode says of alpha, and whether its values may be averaged."""
    alpha = image.mode in pillow_images.ALPHA if how["alpha"] is None else how["alpha"]
    if image.mode in pillow_images.LABELS and not how["labels"]:
        antialias = how["antialias"] if how["mode"] in NO_ANTIALIAS else None
        how = {**how, "mode": "nearest-exact", "antialias": antialias}
    return {**how, "alpha": alpha}


def _refuse_signed(image: Any, size: Any) -> None:
    if image.mode in pillow_images.SIGNED and getattr(size, "pad", None) is not None:
        refuse(ValueError, "pad", f"None for an image of mode {image.mode}", describe(size.pad))


def many(
    resize: Callable[..., Any], pixels: Any, size: Any, layout: Any, out: Any, how: dict[str, Any], boxes: Any = None
) -> Any:
    """Images of any sizes in one result (N, H, W, C), each written to its place. boxes: one for each; None for that of
    the call."""
    if how.get("where") is not None:
        refuse(TypeError, "where", "none for a list of images, each of which has its own", describe(how["where"]))
    if pillow_images.is_image(pixels[0]):
        _refuse_signed(pixels[0], size)
        arrays = _arrays_of(pixels)
        return _as_shown(many(resize, arrays, size, layout, out, of_mode(pixels[0], how), boxes), pixels[0])
    if layout is not None and (layout not in LAYOUTS or layout[0] == "N"):
        refuse(ValueError, "layout", "that of one image of the list: HWC, CHW or HW", repr(layout))
    height, width = _one_size(size, how["scale"])
    first = pixels[0]
    letters = layout or ("HWC" if first.ndim == 3 else "HW")
    _check_alike(pixels, letters)
    lengths = {"H": height, "W": width, "C": first.shape[letters.index("C")] if "C" in letters else 1}
    shape = (len(pixels), *(lengths[letter] for letter in letters))
    on_torch = of(first).PACKAGE == "torch"
    if on_torch and any(x.requires_grad for x in pixels):
        found = sys.modules["torch"].stack([resize(x, size, layout=layout, **how) for x in pixels])
        return found if out is None else calls.copied(found, out)
    if out is not None:
        arguments.output(out, first, shape)
    made = out
    if made is None:
        made = first.new_empty(shape) if on_torch else np.empty(shape, first.dtype)
    for x, place, box in zip(pixels, made, boxes or [None] * len(pixels)):
        resize(x, size, layout=layout, out=place, **(how if box is None else {**how, "box": box}))
    return made


def _arrays_of(images: Any) -> list[Any]:
    modes = {getattr(image, "mode", type(image).__name__) for image in images}
    if len(modes) > 1:
        refuse(ValueError, "x", "images of one mode", " and ".join(sorted(modes)))
    return [pillow_images.array_of(image) for image in images]


def _as_shown(found: Any, like: Any) -> Any:
    if like.mode in pillow_images.SIGNED:
        found[...] = pillow_images.shown(found, like)
    return found


def _one_size(size: Any, scale: Any) -> tuple[int, int]:
    """The height and width that all images of a list get."""
    expected = "one size for all images of a list"
    if scale is not None:
        refuse(ValueError, "scale", expected, "another for each")
    if size is None:
        refuse(ValueError, "size", expected, "none")
    is_rule = isinstance(size, Fill) or (isinstance(size, Fit) and size.pad is not None)
    if isinstance(size, (Fit, *OF_MODELS)) and not is_rule:
        refuse(ValueError, "size", "one size, a Fit with pad or a Fill for all images of a list", describe(size))
    sides = arguments.sizes("size", [size.size if is_rule else size], least=1)
    if len(sides) != 2 and not is_rule:
        refuse(ValueError, "size", "(height, width), or a Fill, for all images of a list", describe(size))
    return sides[0], sides[-1]


def _check_alike(pixels: Any, letters: str) -> None:
    """Refuses images that do not fit in one array, and those of other libraries."""
    kinds = {_kind(x, letters) for x in pixels}
    if len(kinds) > 1:
        expected = "images of one kind, dtype and number of channels"
        first = letters == "HWC" and {x.shape[0] for x in pixels if is_array(x) and x.ndim == 3}
        hint = '; layout="CHW" takes channels first' if first and len(first) == 1 and first <= {1, 3, 4} else ""
        refuse(ValueError, "x", expected + hint, " and ".join(sorted(kinds)))
    if of(pixels[0]).PACKAGE not in ("numpy", "torch"):
        refuse(TypeError, "x", "a list of NumPy arrays, tensors or images of Pillow", describe(pixels[0]))


def _kind(x: Any, letters: str) -> str:
    if not is_array(x):
        return describe(x)
    channels = f" of {x.shape[letters.index('C')]} channels" if "C" in letters and x.ndim == len(letters) else ""
    return f"{of(x).PACKAGE} {dtype_name(x)} {x.ndim}-d{channels}"
