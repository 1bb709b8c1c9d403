"""Transforms of images for training, called as torchvision's `transforms.v2` are and with their arguments.

Each crops, resizes and, if asked, flips, scales to floats and normalizes in one call.

Inputs are tensors (..., C, H, W), NumPy arrays (H, W) or (H, W, C), Pillow's images, torchvision's `Image`, `Video`,
`Mask`, `BoundingBoxes` and `KeyPoints`, and dicts, lists and tuples of these. All are taken from one place, at the same
positions. As in torchvision, where a sample has no image of Pillow's or torchvision's, its first plain tensor or array
is the image. Others are masks if `masks` names them, are refused if they have the image's size, and else are passed
through, as is everything that is no array.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from tenter._arrays import arguments
from tenter._arrays.arguments import MISSING, describe
from tenter._arrays.errors import refuse
from tenter._arrays.names import show_signature, unknown
from tenter._specs.placement import Wanted, placed
from tenter.torch.letterbox import Letterbox as Letterbox
from tenter.torch.parts import Place, of_image, random_part, shorter_side
from tenter.torch.patches import Patched as Patched, Patches as Patches
from tenter.torch.samples import transformed
from tenter.torch.transform_arguments import checked, made, pair, probability, span

__all__ = ["Letterbox", "Patched", "Patches", "RandomResizedCrop", "Resize", "ResizeCenterCrop", "Thumbnail"]

#: What are transforms of their own in torchvision.
ELSEWHERE = {
    "Compose": "torch.nn.Sequential and torchvision's Compose take these transforms",
    "CenterCrop": "ResizeCenterCrop resizes and crops",
    "Pad": "Letterbox resizes and pads",
    "Normalize": "the arguments mean and std of each transform normalize",
    "RandomHorizontalFlip": "the argument flip of RandomResizedCrop mirrors",
    "InterpolationMode": """interpolation="bicubic" and other words""",
    "functional": "tenter.resize and tenter.image.resize are functions",
    **dict.fromkeys(("PILToTensor", "ToDtype", "ToImage", "ToTensor"), "the argument dtype of each transform converts"),
}


class Resize(torch.nn.Module):
    """Resizes images: `torchvision.transforms.v2.Resize`.

    Takes tensors (..., C, H, W), NumPy arrays (H, W, C), Pillow images, torchvision's `Image`, `Video`, `Mask`,
    `BoundingBoxes` and `KeyPoints`, and dicts and tuples of these.

    Parameters
    ----------
    size : int, (int, int) or None
        (height, width) in pixels; or one number for the shorter side, which keeps the ratio of the sides. None:
        max_size is the longer side.
    interpolation : str, default "bilinear"
        "bilinear", "bicubic", "nearest", "nearest-exact", "lanczos", "box", "hamming", torchvision's
        `InterpolationMode` or Pillow's number. Masks take nearest-exact, and beside a nearest mode the same pixels.
    max_size : int, optional
        The most that the longer side may have, if size is one number.
    antialias : bool, default True
        Whether the filter widens when shrinking.
    dtype : torch.dtype, optional
        None keeps the kind and dtype. A dtype gives a tensor (..., C, H, W); a float one is scaled to 0..1.
    mean, std : sequence of floats, optional
        Normalize each channel after scaling; dtype is then float32 unless it is given.
    masks : str, int or sequence of these, optional
        Keys, or positions in the sample, of masks: tensors (..., H, W), arrays (H, W) or (H, W, C), Pillow images.
        (): other arrays are passed through. None: they are refused if they have the image's size.

    Raises
    ------
    TypeError, ValueError
        When the transform is made, naming the argument.

    See Also
    --------
    Thumbnail : The largest size within a height and width.
    ResizeCenterCrop : Resizes and crops in one step.

    Examples
    --------
    >>> import torch
    >>> Resize(8)(torch.zeros(3, 32, 48, dtype=torch.uint8)).shape
    torch.Size([3, 8, 12])
    """

    def __init__(
        self,
        size: int | Sequence[int] | None = MISSING,
        interpolation: Any = "bilinear",
        max_size: int | None = None,
        antialias: bool | None = True,
        *too_many: NoReturn,
        dtype: torch.dtype | None = None,
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
        masks: str | int | Sequence[str | int] | None = None,
        **no_other: NoReturn,
    ) -> None:
        super().__init__()
        with checked(
            self, too_many, no_other, size=size, interpolation=interpolation, max_size=max_size,
            antialias=antialias, dtype=dtype, mean=mean, std=std, masks=masks,
        ):  # fmt: skip
            self.size = None if size is None else arguments.sizes("size", [size], least=1)
            if self.size is None and max_size is None:
                refuse(ValueError, "size", "a size, or max_size", "neither")
            if self.size is not None and len(self.size) > 2:
                refuse(ValueError, "size", "(height, width), or one number", describe(size))
            if max_size is not None and self.size is not None and len(self.size) == 2:
                refuse(ValueError, "max_size", "None where size is (height, width)", describe(max_size))
            self.max_size = None if max_size is None else arguments.integer("max_size", max_size, "an int", 1)
            if self.size is not None and self.max_size is not None and self.max_size <= self.size[0]:
                refuse(ValueError, "max_size", f"an int above size, which is {self.size[0]}", describe(max_size))
            self.made = made(interpolation, antialias, dtype, mean, std, masks)

    def forward(self, *inputs: Any) -> Any:
        return transformed(self, inputs)

    def _place(self, height: int, width: int) -> Place:
        if self.size is not None and len(self.size) == 2:
            return Place(0, 0, height, width, (self.size[0], self.size[1]))
        side = None if self.size is None else self.size[0]
        return Place(0, 0, height, width, shorter_side(height, width, side, self.max_size))

    def extra_repr(self) -> str:
        return f"size={self.size}, max_size={self.max_size}, {self.made}"


class RandomResizedCrop(torch.nn.Module):
    """Resizes a random part of images: `torchvision.transforms.v2.RandomResizedCrop`.

    It takes what `Resize` takes.

    Parameters
    ----------
    size : int or (int, int)
        (height, width) in pixels, or one number for both.
    scale : (float, float), default (0.08, 1)
        The least and the greatest part of the area.
    ratio : (float, float), default (3/4, 4/3)
        The least and the greatest width / height of the part.
    interpolation, antialias
        As for `Resize`.
    flip : float, default 0
        The probability that columns are reversed, drawn after the part, like torchvision's `RandomHorizontalFlip`.
    dtype, mean, std, masks
        As for `Resize`.

    Raises
    ------
    TypeError, ValueError
        When the transform is made, naming the argument.

    See Also
    --------
    Resize : The whole image.
    tenter.image.resize : A part of your choice, its box.

    Notes
    -----
    The random numbers are PyTorch's, drawn in torchvision's order: equal seeds take equal parts.

    Examples
    --------
    >>> import torch
    >>> _ = torch.manual_seed(0)
    >>> crop = RandomResizedCrop(8, flip=0.5, mean=(0.5, 0.5, 0.5), std=(0.25, 0.25, 0.25))
    >>> crop(torch.zeros(3, 32, 48, dtype=torch.uint8)).unique()
    tensor([-2.])
    """

    def __init__(
        self,
        size: int | Sequence[int] = MISSING,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3 / 4, 4 / 3),
        interpolation: Any = "bilinear",
        antialias: bool | None = True,
        *too_many: NoReturn,
        flip: float = 0.0,
        dtype: torch.dtype | None = None,
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
        masks: str | int | Sequence[str | int] | None = None,
        **no_other: NoReturn,
    ) -> None:
        super().__init__()
        with checked(
            self, too_many, no_other, size=size, scale=scale, ratio=ratio, interpolation=interpolation, flip=flip,
            antialias=antialias, dtype=dtype, mean=mean, std=std, masks=masks,
        ):  # fmt: skip
            self.size = pair("size", size)
            self.scale, self.ratio = span("scale", scale, 1), span("ratio", ratio)
            self.flip = probability("flip", flip)
            self.made = made(interpolation, antialias, dtype, mean, std, masks)

    def forward(self, *inputs: Any) -> Any:
        return transformed(self, inputs)

    def _place(self, height: int, width: int) -> Place:
        part = random_part(height, width, self.scale, self.ratio)
        return Place(*part, self.size, self.flip > 0 and bool(torch.rand(1) < self.flip))

    def extra_repr(self) -> str:
        return f"size={self.size}, scale={self.scale}, ratio={self.ratio}, flip={self.flip}, {self.made}"


class ResizeCenterCrop(torch.nn.Module):
    """torchvision's `Resize(resize_size)` and `CenterCrop(crop_size)` in one step.

    Pixels that the crop would cut off are never computed. It takes what `Resize` takes.

    Parameters
    ----------
    crop_size : int or (int, int)
        (height, width) of the result in pixels, or one number for both.
    resize_size : int
        The shorter side before the crop.
    interpolation, antialias, dtype, mean, std, masks
        As for `Resize`.

    Raises
    ------
    TypeError, ValueError
        When the transform is made, naming the argument.

    See Also
    --------
    Resize : Without the crop.

    Examples
    --------
    >>> import torch
    >>> ResizeCenterCrop(224, 256)(torch.zeros(3, 480, 640, dtype=torch.uint8)).shape
    torch.Size([3, 224, 224])
    """

    def __init__(
        self,
        crop_size: int | Sequence[int] = MISSING,
        resize_size: int = 256,
        interpolation: Any = "bilinear",
        antialias: bool | None = True,
        *too_many: NoReturn,
        dtype: torch.dtype | None = None,
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
        masks: str | int | Sequence[str | int] | None = None,
        **no_other: NoReturn,
    ) -> None:
        super().__init__()
        with checked(
            self, too_many, no_other, crop_size=crop_size, resize_size=resize_size, interpolation=interpolation,
            antialias=antialias, dtype=dtype, mean=mean, std=std, masks=masks,
        ):  # fmt: skip
            self.crop_size = pair("crop_size", crop_size)
            self.resize_size = arguments.integer("resize_size", resize_size, "an int for the shorter side")
            if self.resize_size < max(self.crop_size):
                refuse(ValueError, "resize_size", f"at least crop_size, {max(self.crop_size)}", describe(resize_size))
            self.made = made(interpolation, antialias, dtype, mean, std, masks)

    def forward(self, *inputs: Any) -> Any:
        return transformed(self, inputs)

    def _place(self, height: int, width: int) -> Place:
        before = shorter_side(height, width, self.resize_size, None)
        each = [(Fraction(n, m), c, round((m - c) / 2)) for n, m, c in zip((height, width), before, self.crop_size)]
        (top, left), (rows, columns) = ([f * k for f, _, k in each], [f * c for f, c, _ in each])
        return Place(top, left, rows, columns, self.crop_size)

    def extra_repr(self) -> str:
        return f"crop_size={self.crop_size}, resize_size={self.resize_size}, {self.made}"


class Thumbnail(torch.nn.Module):
    """Shrinks images to the largest size within a height and width; smaller ones stay as they are.

    It takes what `Resize` takes.

    Parameters
    ----------
    size : int or (int, int)
        (height, width) in pixels, or one number for both.
    interpolation, antialias, dtype, mean, std, masks
        As for `Resize`.
    draft : bool, default False
        Whether a JPEG that Pillow has opened and not decoded yet is decoded at 1/2, 1/4 or 1/8 of its size, where the
        filter still shrinks by 2 then, as Pillow's `thumbnail` does. It takes a fraction of the time; photographs
        differ by a level or two in the mean, and by up to 12. The image itself stays undecoded.

    Raises
    ------
    TypeError, ValueError
        When the transform is made, naming the argument.

    See Also
    --------
    Resize : A size for the shorter side.
    tenter.image.Fit : The same for arrays.

    Notes
    -----
    The EXIF orientation is not applied, nor does Pillow's `thumbnail`. `PIL.ImageOps.exif_transpose` turns the result,
    or the image, which decodes it whole.

    Examples
    --------
    >>> import torch
    >>> Thumbnail(32)(torch.zeros(3, 480, 640, dtype=torch.uint8)).shape
    torch.Size([3, 24, 32])
    """

    def __init__(
        self,
        size: int | Sequence[int] = MISSING,
        interpolation: Any = "bilinear",
        antialias: bool | None = True,
        *too_many: NoReturn,
        dtype: torch.dtype | None = None,
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
        masks: str | int | Sequence[str | int] | None = None,
        draft: bool = False,
        **no_other: NoReturn,
    ) -> None:
        super().__init__()
        with checked(
            self, too_many, no_other, size=size, interpolation=interpolation,
            antialias=antialias, dtype=dtype, mean=mean, std=std, masks=masks,
            draft=draft,
        ):  # fmt: skip
            self.size = pair("size", size)
            arguments.flag("draft", draft)
            self.made = made(interpolation, antialias, dtype, mean, std, masks)._replace(draft=bool(draft))

    def forward(self, *inputs: Any) -> Any:
        return transformed(self, inputs)

    def _place(self, height: int, width: int) -> Place:
        spans = (Fraction(0), Fraction(height)), (Fraction(0), Fraction(width))
        return of_image(placed(Wanted(self.size), spans), height, width)

    def extra_repr(self) -> str:
        return f"size={self.size}, {self.made}"


for _transform in (Letterbox, Patches, Resize, RandomResizedCrop, ResizeCenterCrop, Thumbnail):
    show_signature(_transform.__init__)


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # which would take every name for one that there is

    def __getattr__(name: str) -> Any:
        others = f" ({', '.join(__all__)}; torchvision's take turns with them in its Compose)"
        hint = f" ({ELSEWHERE[name]})" if name in ELSEWHERE else arguments.did_you_mean(name, __all__) or others
        raise unknown(__name__, name, hint)
