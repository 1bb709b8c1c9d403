"""Read pages of TIFF files by tifffile: what Pillow does not hold, such as deep colors and channels of any number."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tenter.cli.kept.metadata import Metadata, of_tiff
from tenter.cli.picture import Picture
from tenter.cli.refusal import Refusal, require
from tenter.cli.sizes import check_fits

WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, SEPARATED = 0, 1, 2, 5
COLORS = {WHITE_IS_ZERO: 1, BLACK_IS_ZERO: 1, RGB: 3, SEPARATED: 4}
KINDS = {(1, False): "gray", (1, True): "gray+alpha", (3, False): "RGB", (3, True): "RGBA", (4, False): "CMYK"}
UNKNOWN, PREMULTIPLIED, ALPHA = 0, 1, 2
PER_INCH = {2: 1.0, 3: 2.54}
CHUNK = 1 << 18  # pixels divided at a time


def read_page(file: BinaryIO, index: int) -> tuple[npt.NDArray[Any], str]:
    """The stored pixels of a page, as (H, W) or (H, W, C), and their kind."""
    with opened(file) as tiff:
        return _pixels(tiff.pages[index])


def read_whole(file: BinaryIO, index: int) -> Picture:
    """A page that Pillow does not open, with its metadata."""
    with opened(file) as tiff:
        page = tiff.pages[index]
        return Picture(*_pixels(page), metadata_of(page, file))


def count_pages(file: BinaryIO) -> int:
    """How many pages a file has."""
    with opened(file) as tiff:
        return len(tiff.pages)


def is_compressed(file: BinaryIO) -> bool:
    """Whether the first page is."""
    with opened(file) as tiff:
        return int(tiff.pages[0].compression) != 1


def opened(file: BinaryIO) -> Any:
    """The file in tifffile's hands, which leave it open. It logs what is odd in a file, and goes on."""
    require("tifffile")
    import logging

    import tifffile

    logging.getLogger("tifffile").setLevel(logging.CRITICAL)
    file.seek(0)
    return tifffile.TiffFile(file, _multifile=False)


def metadata_of(page: Any, file: BinaryIO) -> Metadata:
    """The metadata of a page, whose tags Pillow reads."""
    from PIL import Image

    exif = Image.Exif()
    exif.endian, exif.bigtiff = page.parent.byteorder, page.parent.is_bigtiff
    if exif.bigtiff and exif.endian == ">":  # which Pillow does not read; of a few texts nothing is lost
        texts = {tag.code: tag.value for tag in page.tags if isinstance(tag.value, str)}
        return of_tiff(texts, page.iccprofile, None)
    exif.load_from_fp(file, page.offset)
    unit = PER_INCH.get(exif.get(296, 2))
    dpi = None if unit is None or 282 not in exif else tuple(float(exif[tag]) * unit for tag in (282, 283))
    return of_tiff(exif, exif.get(34675), dpi)


def check_whole(page: Any) -> None:
    """Refuse a page whose strips would end after its file: tifffile would leave zeros in their place."""
    size = page.parent.filehandle.size
    strips = zip(page.dataoffsets, page.databytecounts)
    if any(start <= 0 or length <= 0 or start + length > size for start, length in strips):
        raise Refusal("is truncated or damaged: its pixels are not all in the file")
    if not page.dataoffsets:
        raise Refusal("is truncated or damaged: it has no pixels")


def decoded(whole: Any, name: str) -> npt.NDArray[Any]:
    """The array of a page or series, in the machine's order of bytes."""
    try:
        array: npt.NDArray[Any] = whole.asarray(maxworkers=1)
    except ValueError as error:
        if "imagecodecs" not in str(error):
            raise
        raise Refusal(f"{name} needs imagecodecs to be read: pip install imagecodecs") from error
    return native(array)


def native(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array in the machine's order of bytes, in the same memory."""
    if array.dtype.isnative:
        return array
    if not array.flags.writeable:
        return array.astype(array.dtype.newbyteorder("="))
    swapped: npt.NDArray[Any] = array.byteswap(inplace=True).view(array.dtype.newbyteorder("="))
    return swapped


def full_range(pixels: npt.NDArray[Any], bits: int) -> npt.NDArray[Any]:
    """Values of fewer bits than their type has, 9 to 15 of 16 for instance, as values of all: white stays white."""
    full = np.iinfo(pixels.dtype).max
    if bits == pixels.dtype.itemsize * 8:
        return pixels
    found = np.empty_like(pixels)
    for top in range(len(pixels)):
        found[top] = np.rint(pixels[top] * (float(full) / ((1 << bits) - 1)))
    return found


def _pixels(page: Any) -> tuple[npt.NDArray[Any], str]:
    colors = COLORS.get(int(page.photometric))
    if colors is None:
        raise Refusal(f"is a deep TIFF of {page.photometric.name}, which is not supported; convert it to RGB first")
    if page.dtype is None or page.dtype.kind not in "uif" or page.imagedepth > 1:
        raise Refusal("is a TIFF of complex or volumetric samples, which is not supported")
    check_whole(page)
    check_fits(page.size * page.dtype.itemsize, f"an image of {page.imagewidth} x {page.imagelength}")
    pixels = decoded(page, f"compression {page.compression.name}")
    samples = page.samplesperpixel
    if page.planarconfig == 2 and samples > 1:  # a plane for each sample
        pixels = np.moveaxis(pixels.reshape((samples, *pixels.shape[-2:])), 0, -1)
    if pixels.dtype.kind == "u":
        pixels = full_range(pixels, int(page.bitspersample))
    if page.photometric == WHITE_IS_ZERO and pixels.dtype.kind in "ui":
        pixels = np.invert(pixels, out=pixels if pixels.flags.writeable else None)
    # Of a fourth channel without a word, as OpenCV writes it, Pillow too says that it is alpha.
    extra = [int(value) for value in page.extrasamples] or [ALPHA if colors == 3 else UNKNOWN] * (samples - colors)
    if samples - colors > 1 or (samples > colors and extra[0] == UNKNOWN) or (samples, colors) == (5, 4):
        return pixels, "channels"
    if samples > colors and extra[0] == PREMULTIPLIED:
        pixels = pixels if pixels.flags.writeable else pixels.copy()
        _divide(pixels)
    return pixels, KINDS[colors, samples > colors]


def _divide(pixels: npt.NDArray[Any]) -> None:
    """Make colors that are stored times alpha those without it, in place."""
    whole = pixels.dtype.kind == "u"
    full = float(np.iinfo(pixels.dtype).max) if whole else 1.0
    rows = max(1, CHUNK // pixels.shape[1])
    for top in range(0, len(pixels), rows):
        chunk = pixels[top : top + rows]
        alpha = chunk[..., -1:].astype(np.float64)
        colors = chunk[..., :-1] * full
        colors = np.divide(colors, alpha, out=np.zeros_like(colors), where=alpha > 0)
        chunk[..., :-1] = np.clip(np.rint(colors), 0, full) if whole else colors
