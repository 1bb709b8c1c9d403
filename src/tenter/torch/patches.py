"""Images as the patches that vision-language models read: each is resized as Pillow does, and its pixels are then
written in the order of the model."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import torch

from tenter import ops
from tenter._arrays import arguments, pillow_images, torch_tensors
from tenter._arrays.arguments import MISSING, describe, error
from tenter._arrays.errors import Refusal, refuse
from tenter._specs.picture_sizes import RULES, wanted
from tenter._specs.placement import placed, whole
from tenter._torch.run import large_empty
from tenter.torch import given_images, pixels
from tenter.torch.parts import Place, of_image
from tenter.torch.processors import configured
from tenter.torch.transform_arguments import called, checked, made, pair

if TYPE_CHECKING:
    from tenter._arrays.signatures import Sizes
    from tenter._specs.model_sizes import Budget, Tiles
    from tenter._specs.picture_sizes import Fill, Fit


class Patched(NamedTuple):
    """The patches of images, one image after the other.

    Parameters
    ----------
    patches : tensor (number of patches, values of a patch)
        An image's patches are in rows from the top, or in squares of merge x merge patches.
    grid : int64 tensor (number of images, 3)
        Of each image: groups of frames, rows of patches, columns of patches. Transformers call it `image_grid_thw`.
    cu_seqlens : int32 tensor
        Where the patches of each group of frames begin, an image's overview among them, and the number of all patches:
        what attention with unequal lengths takes.

    See Also
    --------
    Patches : Makes them.

    Examples
    --------
    >>> from tenter.torch.transforms import Patches
    >>> patches, grid, cu_seqlens = Patches((28, 56))([torch.zeros(3, 9, 9), torch.zeros(3, 20, 10)])
    >>> patches.shape, grid.tolist(), cu_seqlens.tolist()
    (torch.Size([16, 588]), [[1, 2, 4], [1, 2, 4]], [0, 8, 16])
    """

    patches: torch.Tensor
    grid: torch.Tensor
    cu_seqlens: torch.Tensor


class Planned(NamedTuple):
    """An image before it is resized: where it is taken, and its groups of frames, rows and columns of patches."""

    x: Any
    at: Place
    grid: tuple[int, int, int]
    is_overview: bool = False


class Patches(torch.nn.Module):
    """Resizes images, and cuts them into the patches that vision-language models read.

    Takes an image or a list of images of any sizes: tensors (C, H, W), NumPy arrays (H, W, C), Pillow images; and
    videos, which are tensors (T, C, H, W) or arrays (T, H, W, C). Gives `Patched`: the patches of all images, the grid
    of each, and where the patches of each begin.

    Parameters
    ----------
    size : (int, int), Budget, Tiles, Fit or Fill
        (height, width) in pixels, or a rule of `tenter.image` for the size of each image. Sides must be multiples of
        patch * merge.
    patch : int or (int, int), default 14
        The height and width of a patch in pixels.
    merge : int, default 1
        Patches of a square of merge x merge follow one another, as models with a merger read them.
    frames : int, default 1
        Frames in a patch. Those of an image are all the same; the last frame of a video is repeated until there are
        enough.
    channels_last : bool, default False
        Whether the values of a patch are (frames, rows, columns, channels), as in SigLIP 2. False: (channels, frames,
        rows, columns), as in Qwen2-VL.
    overview : {"first", "last"}, optional
        Adds the whole image in the size of a patch (of patch * merge) to the patches of its tiles. "first": before
        them, as in LLaVA-NeXT. "last": after them, if there are several, as in InternVL.
    interpolation : str, default "bicubic"
        "bilinear", "bicubic", "nearest", "nearest-exact", "lanczos", "box", "hamming", torchvision's
        `InterpolationMode` or Pillow's number.
    antialias : bool, default True
        Whether the filter widens when shrinking.
    dtype : torch.dtype, default torch.float32
        Floats are scaled to 0..1. torch.uint8 keeps the values of 8-bit images.
    mean, std : sequence of floats, optional
        Normalize each channel after scaling.

    Raises
    ------
    TypeError, ValueError
        When the transform is made, naming the argument. When it is called, naming the image by its position in the
        list.

    See Also
    --------
    Patches.of : From a processor of transformers.
    tenter.image.Budget : The sizes of Qwen2-VL and SigLIP 2.
    tenter.image.Tiles : The sizes of LLaVA-NeXT and InternVL.
    tenter.ragged.pad : Patches of unequal images in one padded batch.

    Notes
    -----
    The order of patches is that of transformers' processors of Qwen2-VL and SigLIP 2, and so are the 8-bit values.
    Pillow images that are not RGB are converted by `image.convert("RGB")`, as there; transparent pixels then show
    their color.

    Examples
    --------
    >>> from tenter.image import Budget
    >>> qwen = Patches(Budget(1280 * 28 * 28, 56 * 56, 28), merge=2, frames=2, mean=(0.5,) * 3, std=(0.25,) * 3)
    >>> patches, grid, _ = qwen(np.zeros((1512, 2016, 3), np.uint8))
    >>> patches.shape, grid.tolist()
    (torch.Size([4920, 1176]), [[1, 60, 82]])
    """

    def __init__(
        self,
        size: "Sizes | Budget | Tiles | Fit | Fill" = MISSING,
        patch: int | Sequence[int] = 14,
        *too_many: NoReturn,
        merge: int = 1,
        frames: int = 1,
        channels_last: bool = False,
        overview: str | None = None,
        interpolation: Any = "bicubic",
        antialias: bool | None = True,
        dtype: torch.dtype | None = torch.float32,
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
        **no_other: NoReturn,
    ) -> None:
        super().__init__()
        with checked(
            self, too_many, no_other, size=size, patch=patch, merge=merge, frames=frames, channels_last=channels_last,
            overview=overview, interpolation=interpolation, antialias=antialias, dtype=dtype, mean=mean, std=std,
        ):  # fmt: skip
            self.patch = pair("patch", patch)
            self.merge = arguments.integer("merge", merge, "an int", 1)
            self.frames = arguments.integer("frames", frames, "an int", 1)
            arguments.flag("channels_last", channels_last)
            self.channels_last = bool(channels_last)
            if dtype is None:
                refuse(TypeError, "dtype", "a dtype of PyTorch, such as torch.float32", "None")
            self.made = made(interpolation, antialias, dtype, mean, std, ())
            if not isinstance(size, RULES):
                sides = arguments.sizes("size", [size], least=1)
                if len(sides) != 2:
                    refuse(ValueError, "size", "(height, width), or a Budget, Tiles, Fit or Fill", describe(size))
                self._check_sides("size", sides)
                size = sides
            elif (pad := getattr(size, "pad", None)) is not None:
                self.made = self.made._replace(pad=pad)
            if overview is not None:
                arguments.one_of("overview", overview, ("first", "last"))
            self.overview = overview
            self.size: Any = size

    @classmethod
    def of(cls, processor: Any) -> "Patches":
        """The transform that does what an image processor of transformers does, with Pillow's pixels.

        Of models that read tiles or whole images, each of these is a patch: `patches.view(-1, 3, height, width)`.

        Parameters
        ----------
        processor : image processor of transformers
            A `Qwen2VLImageProcessor`, which Qwen2-VL, 2.5-VL and 3-VL have, a `GotOcr2ImageProcessor`, which InternVL
            has, or one of SigLIP, SigLIP 2, LLaVA-NeXT, Pixtral, Gemma 3 and CLIP; with any of its sizes, filters,
            means and standard deviations.

        Returns
        -------
        Patches
            Its `patches` and `grid` are the processor's `pixel_values` and `image_grid_thw`. Nothing is padded to the
            longest of a batch: `tenter.ragged.pad` does that.

        Raises
        ------
        TypeError
            If it is another processor: many of those for other models have rules of their own.
        ValueError
            If it does not resize, rescales to another range than 0..1, or crops in a way that `Patches` has not.

        Examples
        --------
        >>> class Qwen2VLImageProcessor:
        ...     patch_size, merge_size, temporal_patch_size, resample = 14, 2, 2, 3
        ...     size = {"shortest_edge": 3136, "longest_edge": 1003520}
        ...     do_resize, do_rescale, rescale_factor, do_normalize = True, True, 1 / 255, False
        >>> Patches.of(Qwen2VLImageProcessor()).merge
        2
        """
        try:
            return cls(**configured(processor))
        except Refusal as refusal:
            raise error(refusal, f"tenter.torch.transforms.{cls.__name__}.of", processor) from None

    def forward(self, images: Any) -> Patched:
        try:
            given = list(images) if isinstance(images, (list, tuple)) else [images]
            if not given:
                refuse(ValueError, "images", "at least one image", "an empty list")
            return self._written([self._planned(k, x, len(given)) for k, x in enumerate(given)])
        except Refusal as refusal:
            raise error(refusal, called(self), images=images) from None

    def _planned(self, k: int, x: Any, many: int) -> list[Planned]:
        """An image, and with an overview the whole of it before or after."""
        with given_images.at(k, many):
            x = given_images.picture(x)
            of_pillow = pillow_images.is_image(x)
            height, width = given_images.sides(x)
            if not height * width or 0 in getattr(x, "shape", ()):  # Pillow's images have none
                refuse(ValueError, "images", "images of at least one pixel", describe(x))
            spans = (Fraction(0), Fraction(height)), (Fraction(0), Fraction(width))
            what = wanted(self.size)
            at = of_image(whole(self.size, spans) if what is None else placed(what, spans), height, width)
            self._check_sides("images", at.size)
            at = at._replace(nearest="pillow" if of_pillow else "torch")
            frames = -(-x.shape[0] // self.frames) if given_images.is_video(x) else 1
            rows, columns = at.size[0] // self.patch[0], at.size[1] // self.patch[1]
            found = Planned(x, at, (frames, rows, columns))
            m = self.merge
            if self.overview is None or (self.overview == "last" and (rows, columns) == (m, m)):
                return [found]
            if given_images.is_video(x):
                refuse(ValueError, "images", "images where there is an overview", f"a video of shape {tuple(x.shape)}")
            if of_pillow:
                x = pillow_images.array_of(x)  # once for both
                found = found._replace(x=x)
            small = of_image(whole((self.patch[0] * m, self.patch[1] * m), spans), height, width)
            overview = Planned(x, small._replace(nearest=at.nearest), (1, m, m), is_overview=True)
            return [overview, found] if self.overview == "first" else [found, overview]

    def _check_sides(self, name: str, size: tuple[int, int]) -> None:
        each = [n * self.merge for n in self.patch]
        if any(n % m for n, m in zip(size, each)):
            expected = f"a height and a width that are multiples of {each[0]} and {each[1]}, as patch and merge say"
            refuse(ValueError, name, expected, f"{size[0]} x {size[1]} pixels")

    def _written(self, images: list[list[Planned]]) -> Patched:
        """Each image is resized right before its patches are written, while it is in the cache."""
        planned = [(k, each) for k, parts in enumerate(images) for each in parts]
        counts = [math.prod(each.grid) for _, each in planned]
        parts: list[torch.Tensor] = []
        room: torch.Tensor | None = None
        apart = len(planned) == 1 or _recorded([each for _, each in planned])
        for (k, each), n, end in zip(planned, counts, accumulate(counts)):
            with given_images.at(k, len(images)):
                cut, times = self._cut(each)
                shape = [n * times[d] for d, n in enumerate(cut.shape)]
                values = shape[5] * shape[6] * shape[7] * shape[8]
                if room is None and not apart:
                    shape_of_all, of_host = (sum(counts), values), cut.is_cpu and torch_tensors.bare(cut)
                    room = large_empty(cut, shape_of_all)[0] if of_host else cut.new_empty(shape_of_all)
                known = room if room is not None else parts[0] if parts else None
                if known is not None and (known.shape[1], known.device) != (values, cut.device):
                    expected = "images of one number of channels, on one device"
                    refuse(ValueError, "images", expected, f"{values} values in a patch, beside {known.shape[1]}")
                if room is None:
                    parts.append(ops.tile(cut, times).view(-1, values))
                else:
                    ops.tile(cut, times, out=room[end - n : end].view(shape))
        if room is None:
            room = parts[0] if len(parts) == 1 else torch.cat(parts)
        grids = [each.grid for _, each in planned if not each.is_overview]
        more = [self.merge**2 * (len(of_image) - 1) for of_image in images]
        ends = accumulate(n for (t, h, w), m in zip(grids, more) for n in repeat(h * w + m, t))
        return Patched(
            room,
            torch.tensor(grids, device=room.device),
            torch.tensor([0, *ends], dtype=torch.int32, device=room.device),
        )

    def _cut(self, planned: Planned) -> tuple[torch.Tensor, tuple[int, ...]]:
        """A view of the resized pixels with the axes of the result: groups of frames, rows and columns of squares, rows
        and columns in a square, then those of a patch; and how many times each axis is repeated."""
        x, at, (groups, rows, columns), _ = planned
        y = pixels.image(x, at, self.made)
        if y.ndim == 3:
            y = y[None]
        if rest := y.shape[0] > 1 and -y.shape[0] % self.frames:
            y = torch.cat([y, y[-1:].expand(rest, -1, -1, -1)])
        (height, width), m, frames = self.patch, self.merge, y.shape[0] // groups
        y = y.reshape(groups, frames, -1, rows // m, m, height, columns // m, m, width)
        order = (0, 3, 6, 4, 7, 1, 5, 8, 2) if self.channels_last else (0, 3, 6, 4, 7, 2, 1, 5, 8)
        times = tuple(self.frames // frames if d == 1 else 1 for d in order)
        return y.permute(order), times

    def extra_repr(self) -> str:
        return (
            f"size={self.size}, patch={self.patch}, merge={self.merge}, frames={self.frames}, "
            f"channels_last={self.channels_last}, overview={self.overview}, {self.made}"
        )


def _recorded(planned: list[Planned]) -> bool:
    """Whether a gradient or a graph is recorded, which writing to a part of an array is not."""
    return torch.compiler.is_compiling() or any(isinstance(p.x, torch.Tensor) and p.x.requires_grad for p in planned)
