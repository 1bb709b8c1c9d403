"""Pictures: read them from files, check that a file type can hold them, write them."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tenter.cli.metadata import Metadata, exif_block, read_metadata
from tenter.cli.png16 import write_png16
from tenter.cli.refusal import Refusal, first_line, require
from tenter.cli.sizes import check_fits
from tenter.cli.streams import quiet
from tenter.cli.tiff import write_tiff
from tenter.cli.unpack import unpack

if TYPE_CHECKING:
    from PIL import Image

Reduction = Callable[[tuple[int, int], int], int]
FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".tif": "TIFF", ".tiff": "TIFF"}
#: The kind of picture for each number of channels. CMYK is never inferred: its file must say so.
KINDS = {1: "gray", 2: "gray+alpha", 3: "RGB", 4: "RGBA"}
PILLOW_MODES = {"gray": "L", "gray+alpha": "LA", "RGB": "RGB", "RGBA": "RGBA", "CMYK": "CMYK"}


@dataclass
class Picture:
    """Stored pixels (H, W) or (H, W, C), the kind of picture, and the metadata of the file.

    size: the stored height and width; of a picture that was decoded at a reduced scale, these before that.
    reduced: how many of its pixels a decoded one stands for, along each axis.
    """

    pixels: npt.NDArray[Any]
    kind: str
    metadata: Metadata = field(default_factory=Metadata)
    size: tuple[int, int] = (0, 0)
    reduced: int = 1

    def __post_init__(self) -> None:
        if self.reduced == 1:
            self.size = (self.pixels.shape[0], self.pixels.shape[1])

    @property
    def alpha(self) -> bool:
        """Whether the last channel is alpha."""
        return self.kind in ("gray+alpha", "RGBA")


def is_npy(path: str) -> bool:
    """Whether a file name ends in .npy. Refuse an ending that is neither .npy nor of a picture."""
    suffix = Path(path).suffix.lower()
    if suffix != ".npy" and suffix not in FORMATS:
        raise Refusal(f"{path}: unknown file type {suffix or '(none)'!r}; known are .npy {' '.join(FORMATS)}")
    return suffix == ".npy"


def read_picture(path: Path, max_pixels: int | None = None, reduction: Reduction = lambda *_: 1) -> Picture:
    """Read a PNG, JPEG or TIFF file at its full depth.

    max_pixels: None for Pillow's limit. reduction: given the stored size and the orientation, by how much the decoder
    of a JPEG may shrink it: 1, 2, 4 or 8.
    """
    require("PIL")
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings(), quiet(), open(path, "rb") as file:
            # Pillow warns about large pictures and unusual tags; it raises for pictures that are far too large.
            warnings.simplefilter("ignore")
            # open() reads the header and the tags only.
            with allowed_pixels(max_pixels), Image.open(file, formats=("PNG", "JPEG", "TIFF")) as image:
                _check_size(image, os.fstat(file.fileno()).st_size)
                size = (image.height, image.width)
                frames = getattr(image, "n_frames", 1)
                if frames > 1:
                    raise Refusal(f"has {frames} frames; only single pictures are resized")
                metadata = read_metadata(image)
                reduced = reduction(size, metadata.orientation) if image.format == "JPEG" else 1
                if reduced > 1:
                    image.draft(None, (image.width // reduced, image.height // reduced))
                pixels, kind = unpack(image, file, metadata.orientation)
    except Image.DecompressionBombError as error:
        raise too_large(path, error) from error
    except Refusal as error:
        raise Refusal(f"{path}: {error}") from error
    except UnidentifiedImageError:
        raise Refusal(f"{path}: is not a PNG, JPEG or TIFF picture of a kind that can be read") from None
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno:  # of the system: those of Pillow have no number
            raise OSError(error.errno, error.strerror, str(path)) from error
        # On damaged files, the decoders raise a dozen types of exceptions, such as struct.error and KeyError.
        raise Refusal(f"{path}: is truncated or damaged: {first_line(error)}") from error
    return Picture(pixels, kind, metadata, size, reduced)


@contextlib.contextmanager
def allowed_pixels(count: int | None) -> Iterator[None]:
    """Let Pillow open pictures of so many pixels; None for its own limit, beyond which it suspects an attack."""
    from PIL import Image

    before = Image.MAX_IMAGE_PIXELS
    try:
        if count is not None:
            # Pillow warns at this number, and refuses more than twice as many.
            Image.MAX_IMAGE_PIXELS = Fraction(count, 2)  # type: ignore[assignment]
        yield
    finally:
        Image.MAX_IMAGE_PIXELS = before


def too_large(path: Path, error: Exception) -> Refusal:
    """What is said of a picture that Pillow has not opened because of its size."""
    return Refusal(f"{path}: {str(error).rstrip('.')}; --max-pixels allows more")


def _check_size(image: Image.Image, nbytes: int) -> None:
    """Refuse a picture that is larger than memory, before it is decoded."""
    width, height = image.size
    check_fits(nbytes, "the file")
    check_fits(width * height * (1 if image.mode in ("1", "L", "P") else 4), f"a picture of {height} x {width}")


def from_array(array: npt.NDArray[Any], path: str) -> Picture:
    """Make a picture of an (H, W) or (H, W, C) array."""
    channels = 1 if array.ndim == 2 else array.shape[-1]
    if channels not in KINDS:
        raise Refusal(f"{path}: a picture has 1 to 4 channels, got {channels} in an array of shape {array.shape}")
    return Picture(array[..., 0] if array.ndim == 3 and channels == 1 else array, KINDS[channels])


def check_format(picture: Picture, path: str, size: tuple[int, int]) -> None:
    """Refuse a file type that cannot hold the picture without loss of depth, alpha or channels."""
    format_ = FORMATS[Path(path).suffix.lower()]
    dtype = picture.pixels.dtype
    if format_ == "JPEG":
        if dtype != np.uint8:
            raise Refusal(f"{path}: JPEG holds 8 bits per channel, this picture is {dtype}; write .png, .tiff or .npy")
        if picture.alpha:
            raise Refusal(f"{path}: JPEG has no alpha channel, this picture is {picture.kind}; write .png or .tiff")
        if max(size) > 65500:
            raise Refusal(f"{path}: JPEG holds at most 65500 pixels a side, got {size[0]} x {size[1]}")
        return
    if format_ == "PNG" and picture.kind == "CMYK":
        raise Refusal(f"{path}: PNG has no CMYK; write .tiff or .jpg")
    if format_ == "PNG" and dtype not in (np.uint8, np.uint16):
        raise Refusal(f"{path}: PNG holds uint8 or uint16, this picture is {dtype}; write .tiff or .npy")
    if format_ == "TIFF" and picture.kind == "gray+alpha" and dtype == np.uint16:
        raise Refusal(f"{path}: few programs read a 16-bit gray TIFF with alpha; write .png or .npy")
    whole = dtype in (np.uint8, np.uint16)
    if not whole and (picture.kind != "gray" or dtype not in (np.int16, np.int32, np.uint32, np.float32)):
        what = "uint8 or uint16, or gray int16, int32, uint32 or float32"
        raise Refusal(f"{path}: TIFF is written as {what}, this picture is {dtype} {picture.kind}; write .npy")


def write_picture(file: BinaryIO, picture: Picture, format_: str, quality: int) -> None:
    """Write a picture that `check_format` has accepted."""
    require("PIL")
    from PIL import Image

    pixels, metadata = picture.pixels, picture.metadata
    try:
        if format_ == "TIFF":
            write_tiff(file, pixels, picture.kind, metadata)
        elif pixels.dtype == np.uint16:
            write_png16(file, pixels, metadata)
        else:
            height, width = pixels.shape[:2]
            image = Image.frombytes(PILLOW_MODES[picture.kind], (width, height), pixels.tobytes())
            options: dict[str, Any] = {"icc_profile": metadata.icc, "exif": exif_block(metadata)}
            if metadata.dpi:
                options["dpi"] = metadata.dpi
            if format_ == "JPEG":
                # No chroma subsampling, which would halve the color resolution.
                options |= {"quality": quality, "subsampling": 0}
            image.save(file, format_, **options)
    except (Refusal, OSError, MemoryError):
        raise
    except Exception as error:
        raise Refusal(f"cannot write this picture as {format_}: {first_line(error)}") from error
