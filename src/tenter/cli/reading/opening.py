"""Open an image file: its type by its first bytes, how it was encoded, and its images one after another."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tenter.cli.first_bytes import HEAD, type_of_head
from tenter.cli.formats import EXIF, PROFILE, XMP, holds_one, register
from tenter.cli.kept import xmp
from tenter.cli.kept.metadata import DESCRIPTION, SUBFILES, describes_stack, read_metadata
from tenter.cli.kept.stated import unknown_chunks, with_stated
from tenter.cli.not_read import RAW, UNREAD
from tenter.cli.picture import ByteOrder, Origin, Picture
from tenter.cli.reading import deep, pillow, psd, tiff
from tenter.cli.reading.unread import of_heif, of_jpeg, of_tiff
from tenter.cli.refusal import Refusal, first_line, require
from tenter.cli.sizes import check_fits
from tenter.cli.streams import quiet

if TYPE_CHECKING:
    from PIL import Image

#: the parts of a file that are not read, as they are named in the summary
FURTHER, SMALLER, DEPTH = "further images of the file", "smaller copies of the image", "bits beyond 8 per channel"
SUBFILE_TYPE, REDUCED, PAGE, PAGE_NUMBER, DNG_VERSION = 254, 1, 2, 297, 50706
STAND_IN = "still image that stands for the animation"
STACK = "description of the stack"
#: types whose images are not an animation; one of them is the image: as Pillow names them, and as `formats` does
STILL, ONE = ("MPO", "HEIF", "PSD"), ("JPEG", "HEIF", "PSD")
#: types of which `How.narrow` says how they are read
NARROWED = ("AVIF", "PPM")
#: what files begin with if they carry something that Pillow does not read
MARKS = {
    "JPEG2000": {b"JpgTiffExif->JP2": EXIF, bytes.fromhex("be7acfcb97a942e89c71999491e3afac"): XMP},
    "GIF": {b"XMP DataXMP": XMP, b"ICCRGBG1012": PROFILE},
}


class How(NamedTuple):
    """frame: the one image to read, None for all. keep: which of the kinds palette and bilevel are not to be made
    colors and gray. max_pixels: None for Pillow's limit. reduction: given the stored size and the orientation, by how
    much the decoder of a JPEG may shrink it: 1, 2, 4 or 8. narrow: whether the colors of AVIF and PNM, which may have
    more bits, are wanted as 8 bits. to: the type that is written, "" for an array."""

    frame: int | None = None
    keep: frozenset[str] = frozenset()
    max_pixels: int | None = None
    reduction: Callable[[tuple[int, int], int], int] = lambda *_: 1
    narrow: bool = False
    to: str = "TIFF"

    @property
    def alone(self) -> bool:
        """Whether one image is wanted."""
        return self.frame is not None or holds_one(self.to)


DEFAULT = How()


class Opened(NamedTuple):
    """The properties that all images of a file share, and the images, decoded one at a time."""

    origin: Origin
    pictures: Iterable[Picture]


#: images that were decoded, and how
Decoded = list[tuple[How, Opened]]


@contextlib.contextmanager
def opened(path: Path, how: How = DEFAULT) -> Iterator[Opened]:
    """Open a file for reading at its full depth."""
    with begun(path, how) as (image, file, type_):
        with named(path):
            origin = _origin(image, file, type_, how.narrow)
            which = chosen(image, file, how)
            if how.frame is None:
                origin = origin._replace(unread=tuple(dict.fromkeys((*origin.unread, *_left(image, file, how, which)))))
        yield Opened(origin._replace(frames=len(which)), _pictures(path, image, file, which, how))


@contextlib.contextmanager
def opened_once(path: Path, how: How, decoded: Decoded) -> Iterator[Opened]:
    """As `opened`; an image that is alone in its file is decoded once for all that want the same pixels of it.
    `decoded` is empty at first."""
    for before, found in decoded:
        if _fits(found, before, how):
            yield found
            return
    with opened(path, how) as (origin, pictures):
        alone = origin.frames == 1 and not {FURTHER, STAND_IN} & set(origin.unread)
        if not alone and origin.type not in ONE:
            yield Opened(origin, pictures)  # which would take much memory at once
            return
        found = Opened(origin, tuple(pictures))
    decoded.append((how, found))
    yield found


def _fits(found: Opened, before: How, how: How) -> bool:
    """Whether what was decoded in one way is what another would give."""
    if (before.frame, before.keep) != (how.frame, how.keep):
        return False
    if found.origin.type == "JPEG":
        (picture,) = found.pictures
        return picture.reduced == how.reduction(picture.size, picture.metadata.orientation)
    return before.narrow == how.narrow or found.origin.type not in NARROWED


@contextlib.contextmanager
def begun(path: Path, how: How) -> Iterator[tuple[Image.Image | None, BinaryIO, str]]:
    """Pillow's image (only its header has been read), the file and its type. The image is None for a TIFF
    that Pillow does not open."""
    require("PIL")
    with open(path, "rb") as file:
        type_ = type_of_head(file.read(HEAD), str(path))
        file.seek(0)
        with contextlib.ExitStack() as closing:
            with named(path), allowed_pixels(how.max_pixels):
                check_fits(os.fstat(file.fileno()).st_size, "the file")
                image = _open(file, type_)
                if image is not None:
                    closing.enter_context(image)
                    _check_size(image)
            yield image, file, type_


def _open(file: BinaryIO, type_: str) -> Image.Image | None:
    from PIL import Image, UnidentifiedImageError

    register(type_)
    if type_ == "PSD":
        psd.check_head(file)
    try:
        image = Image.open(file, formats=(type_,))
        if type_ == "PSD":
            psd.prepare(image)
    except UnidentifiedImageError:
        if type_ == "TIFF":
            return None
        raise Refusal(f"is not a {type_} image of a kind that can be read") from None
    if _is_raw(getattr(image, "tag_v2", {})):
        raise Refusal(UNREAD[RAW].said)
    return image


def _pictures(path: Path, image: Image.Image | None, file: BinaryIO, which: list[int], how: How) -> Iterator[Picture]:
    for index in which:
        with named(path), allowed_pixels(how.max_pixels):  # Pillow 12 looks when it decodes too
            picture = _read(image, file, index, how)
        yield picture


def _read(image: Image.Image | None, file: BinaryIO, index: int, how: How) -> Picture:
    if image is None:
        return tiff.read_whole(file, index)
    if image.format not in STILL and getattr(image, "n_frames", 1) > 1:
        try:
            image.seek(index)
        except (SyntaxError, OSError):
            if image.format != "TIFF":
                raise
            return tiff.read_whole(file, index)  # a page that Pillow does not open
        _check_size(image)
    metadata = with_stated(read_metadata(image), image, file, deep.head_of(file))
    if image.format not in ("TIFF", *STILL) and getattr(image, "n_frames", 1) > 1:
        frame = pillow.read_frame(image, file, metadata)
        return pillow.without_full_alpha(frame) if how.alone else frame
    reduced = how.reduction((image.height, image.width), metadata.orientation) if image.format in ("JPEG", "MPO") else 1
    picture = pillow.read(image, file, metadata, how.keep, how.narrow, reduced)
    return psd.without_white(picture, file) if image.format == "PSD" and picture.kind == "RGBA" else picture


def _is_raw(tags: Any) -> bool:
    """Whether a TIFF is a camera's raw file: it says so, or begins with a small copy of an image that is elsewhere."""
    return DNG_VERSION in tags or (tags.get(SUBFILE_TYPE, 0) & REDUCED and SUBFILES in tags)


def _origin(image: Image.Image | None, file: BinaryIO, type_: str, narrow: bool) -> Origin:
    if image is None:
        order = _byteorder(deep.head_of(file))
        return Origin(type_, byteorder=order, compressed=tiff.is_compressed(file))
    info, head = image.info, deep.head_of(file)
    unread = [DEPTH] if deep.less_deep(image, head, narrow) else []
    unread += [name for mark, name in MARKS.get(type_, {}).items() if mark in head]
    if describes_stack(getattr(image, "tag_v2", {}).get(DESCRIPTION)):
        unread.append(STACK)
    packet = info.get("xmp") or b""
    unread += xmp.parts(packet.encode() if isinstance(packet, str) else packet)
    if type_ in ("JPEG", "TIFF"):
        unread += of_jpeg(image) if type_ == "JPEG" else of_tiff(getattr(image, "tag_v2", ()))
    if type_ == "HEIF":
        unread += of_heif(info)
    if type_ == "PSD":
        unread += psd.unread(image, file)
    elif image.format in STILL and getattr(image, "n_frames", 1) > 1:
        unread.append(FURTHER)
    if type_ == "PNG":
        unread += unknown_chunks(file)
    if int(info.get("bit_depth", 8)) > 8:  # of HEIC
        unread.append(DEPTH)
    if _smaller(image, head, type_):
        unread.append(SMALLER)
    compressed = type_ != "TIFF" or info.get("compression") != "raw"
    origin = Origin(type_, unread=tuple(unread), byteorder=_byteorder(head), compressed=compressed)
    if type_ == "JPEG":
        return _of_jpeg(origin, image)
    lossless = type_ == "WEBP" and b"VP8L" in head
    return origin._replace(
        plays=_plays(type_, info), lossless=lossless, first_apart=bool(getattr(image, "default_image", False))
    )


def _of_jpeg(origin: Origin, image: Image.Image) -> Origin:
    from PIL.JpegImagePlugin import get_sampling

    sampling = get_sampling(image) if image.format == "JPEG" else _sampling_of_mpo(image)
    tables, progressive = getattr(image, "quantization", None), bool(image.info.get("progressive"))
    return origin._replace(tables=tables, layers=len(image.getbands()), subsampling=sampling, progressive=progressive)


def _smaller(image: Image.Image, head: bytes, type_: str) -> bool:
    """Whether a file has smaller copies of its image."""
    sizes = getattr(getattr(image, "ico", None), "entry", ()) if type_ != "ICNS" else image.info.get("sizes", ())
    is_known = SUBFILES in getattr(image, "tag_v2", {}) or bool(image.info.get("thumbnails"))  # the latter of HEIC
    return is_known or len(sizes) > 1 or (type_ == "CUR" and head[4:6] != b"\1\0")


def _byteorder(head: bytes) -> ByteOrder:
    """The byte order of a TIFF; for other files that of most machines."""
    return ">" if head[:2] == b"MM" else "<"


def _sampling_of_mpo(image: Any) -> int:
    """What get_sampling says of a JPEG, for the first image of several."""
    from PIL import JpegImagePlugin

    if image.layers != 3:
        return -1
    found: int = JpegImagePlugin.samplings.get(sum((tuple(layer[1:3]) for layer in image.layer), ()), -1)
    return found


def _plays(type_: str, info: dict[Any, Any]) -> int:
    """How often an animation plays; 0 without end. GIF says how often it plays again."""
    loop = info.get("loop")
    if type_ == "GIF":
        return 1 if loop is None else int(loop) and int(loop) + 1
    return int(loop or 0)


def chosen(image: Image.Image | None, file: BinaryIO, how: How) -> list[int]:
    """The numbers of the images to read."""
    count = tiff.count_pages(file) if image is None else 1 if image.format in STILL else getattr(image, "n_frames", 1)
    frame = how.frame
    if frame is not None:
        if not -count <= frame < count:
            raise Refusal(f"--frame: expected {-count} to {count - 1}, as there are {count} images, got {frame}")
        return [frame % count]
    if how.alone:
        return [0]
    if image is None or image.format != "TIFF" or count == 1:
        # The still image of a PNG stands for the animation where that is not played, and is none of its frames.
        return list(range(int(getattr(image, "default_image", False) and how.to != "PNG"), count))
    # Pages that say that they are smaller copies of others would become pages of the same size.
    pages = [index for index in range(count) if index == 0 or not _reduced(image, index)]
    return pages if how.to == "TIFF" or not _is_document(image, pages) else pages[:1]


def _left(image: Image.Image | None, file: BinaryIO, how: How, which: list[int]) -> Iterator[str]:
    """Which images of a file are not read, as the summary names them."""
    count = 1 if image is None or image.format in STILL else getattr(image, "n_frames", 1)
    is_tiff = image is None or image.format == "TIFF"
    if len(which) < len(chosen(image, file, how._replace(to="TIFF" if is_tiff else "PNG"))):
        yield STAND_IN if which[0] else FURTHER
    elif is_tiff and len(which) < count:
        yield SMALLER


def _is_document(image: Image.Image, pages: list[int]) -> bool:
    """Whether pages of a TIFF are no frames of an animation: they differ in size, or say that they are pages."""
    sizes = set()
    for index in pages:
        try:
            image.seek(index)
        except (SyntaxError, OSError):
            return True  # a page that Pillow does not open
        tags = getattr(image, "tag_v2", {})
        if tags.get(SUBFILE_TYPE, 0) & PAGE or PAGE_NUMBER in tags:
            return True
        sizes.add(image.size)
    return len(sizes) > 1


def _reduced(image: Image.Image, index: int) -> bool:
    try:
        image.seek(index)
    except (SyntaxError, OSError):
        return False
    return bool(getattr(image, "tag_v2", {}).get(SUBFILE_TYPE, 0) & REDUCED)


def _check_size(image: Image.Image) -> None:
    """Refuse an image that is larger than memory, before it is decoded."""
    width, height = image.size
    check_fits(width * height * (1 if image.mode in ("1", "L", "P") else 4), f"an image of {width} x {height}")


@contextlib.contextmanager
def allowed_pixels(count: int | None) -> Iterator[None]:
    """Let Pillow open images of so many pixels; None for its own limit, beyond which it suspects an attack."""
    from PIL import Image

    before = Image.MAX_IMAGE_PIXELS
    try:
        if count is not None:
            # Pillow warns at this number, and refuses more than twice as many.
            Image.MAX_IMAGE_PIXELS = Fraction(count, 2)  # type: ignore[assignment]
        yield
    finally:
        Image.MAX_IMAGE_PIXELS = before


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """Name the file in what goes wrong while it is decoded, and print nothing else."""
    from PIL import Image

    try:
        with warnings.catch_warnings(), quiet():
            # Pillow warns about large images and unusual tags; it raises for images that are far too large.
            warnings.simplefilter("ignore")
            yield
    except Image.DecompressionBombError as error:
        raise Refusal(f"{path}: {str(error).rstrip('.')}; --max-pixels allows more") from error
    except Refusal as error:
        raise Refusal(f"{path}: {error}") from error
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno:  # of the system: those of Pillow have no number
            raise OSError(error.errno, error.strerror, str(path)) from error
        # On damaged files, the decoders raise a dozen types of exceptions, such as struct.error and KeyError.
        raise Refusal(f"{path}: is truncated or damaged: {first_line(error)}") from error
