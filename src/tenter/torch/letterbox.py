"""Images of any ratio of sides in one height and width: resized, with padding around them."""

from collections.abc import Sequence
from typing import Any, NoReturn

import torch

from tenter._arrays import arguments
from tenter._arrays.arguments import MISSING
from tenter._specs.picture_sizes import Fit, check_gravity, checked_pad
from tenter.torch.parts import Place, of_image
from tenter.torch.samples import transformed
from tenter.torch.transform_arguments import checked, made, pair


class Letterbox(torch.nn.Module):
    """Resizes images to the largest size within a height and width, and pads them to it, as detectors read them.

    It takes what `Resize` takes. Boxes and points move with their image.

    Parameters
    ----------
    size : int or (int, int)
        (height, width) of the result in pixels, or one number for both.
    interpolation, antialias
        As for `Resize`.
    pad : number or sequence of numbers, default 0
        The value of padding, or one for each channel, before scaling and normalizing.
    mask_pad : int, default 0
        The value of padding of masks.
    enlarge : bool, default True
        Whether smaller images are enlarged. If False, they keep their size.
    gravity : str, default "center"
        Where the image lies: "center", "north", "south", "east", "west", "northeast", "northwest", "southeast" or
        "southwest".
    dtype, mean, std, masks
        As for `Resize`.

    Raises
    ------
    TypeError, ValueError
        When the transform is made, naming the argument. When it is called: if the image's dtype does not have the value
        of padding.

    See Also
    --------
    tenter.image.Fit : The same for arrays.
    Thumbnail : Without padding.

    Notes
    -----
    Sizes, places and 8-bit values are those of Pillow's `ImageOps.pad`. `fit` is the transform's `Fit`:
    `fit.place(height, width).back(boxes)` gives boxes of the result in pixels of an image of that size.

    Examples
    --------
    >>> import torch
    >>> letterbox = Letterbox(640, pad=114, dtype=torch.float32)
    >>> letterbox(torch.zeros(3, 480, 320, dtype=torch.uint8)).shape
    torch.Size([3, 640, 640])
    >>> letterbox.fit.place(480, 320).back(torch.tensor([[106.0, 0.0, 533.0, 640.0]])).tolist()
    [[0.0, 0.0, 320.0, 480.0]]
    """

    def __init__(
        self,
        size: int | Sequence[int] = MISSING,
        interpolation: Any = "bilinear",
        antialias: bool | None = True,
        *too_many: NoReturn,
        pad: float | Sequence[float] = 0,
        mask_pad: int = 0,
        enlarge: bool = True,
        gravity: str = "center",
        dtype: torch.dtype | None = None,
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
        masks: str | int | Sequence[str | int] | None = None,
        **no_other: NoReturn,
    ) -> None:
        super().__init__()
        with checked(
            self, too_many, no_other, size=size, interpolation=interpolation, antialias=antialias, pad=pad,
            mask_pad=mask_pad, enlarge=enlarge, gravity=gravity, dtype=dtype, mean=mean, std=std, masks=masks,
        ):  # fmt: skip
            sides = pair("size", size)
            arguments.flag("enlarge", enlarge)
            check_gravity(gravity)
            self.fit = Fit(sides, bool(enlarge), checked_pad(pad), gravity)
            beside = arguments.integer("mask_pad", mask_pad, "an int")
            self.made = made(interpolation, antialias, dtype, mean, std, masks)._replace(
                pad=self.fit.pad, mask_pad=beside
            )

    def forward(self, *inputs: Any) -> Any:
        return transformed(self, inputs)

    def _place(self, height: int, width: int) -> Place:
        return of_image(self.fit.place(height, width), height, width)

    def extra_repr(self) -> str:
        fit = self.fit
        return f"size={fit.size}, pad={fit.pad}, enlarge={fit.enlarge}, gravity={fit.gravity}, {self.made}"
