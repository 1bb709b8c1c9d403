"""The types of image files: their endings and first bytes, what each holds and carries."""

from __future__ import annotations

import importlib.util
from typing import NamedTuple

from tenter.cli.not_read import check_known, ending_of
from tenter.cli.refusal import Refusal

EXIF, XMP, IPTC, PROFILE, DPI = "EXIF", "XMP", "IPTC", "color profile", "resolution"
COMMENT, TEXT, THUMBNAIL = "comment", "PNG text", "thumbnail"
COLOR = ("gray", "RGB")
ALPHA = (*COLOR, "gray+alpha", "RGBA")
INDEXED, CLEAR_PALETTE = ("palette", "bilevel"), "palette with clear colors"


class Format(NamedTuple):
    """endings: the endings of names. begins: a pattern of the first bytes. kinds: those of 8 bits per
    channel that are written without loss of a channel; deep: those of uint16. carries: the metadata that is written.
    frames: whether a file holds several images. longest: the longest side, in pixels."""

    endings: tuple[str, ...]
    begins: bytes
    kinds: tuple[str, ...]
    deep: tuple[str, ...] = ()
    carries: tuple[str, ...] = ()
    frames: bool = False
    longest: int = 2**31 - 1


#: what the box `ftyp` says of a file whose first brand is that of any codec
ANY_CODEC = rb".{4}ftyp(?:mif1|msf1|miaf).{4}(?:.{4})*?"
TYPES = {
    "PNG": Format(
        (".png", ".apng"), rb"\x89PNG\r\n\x1a\n", (*ALPHA, *INDEXED, CLEAR_PALETTE), ALPHA,
        (EXIF, XMP, PROFILE, DPI, COMMENT, TEXT, THUMBNAIL), frames=True),
    "JPEG": Format(
        (".jpg", ".jpeg", ".jpe", ".jfif"), rb"\xff\xd8\xff", (*COLOR, "CMYK"), (),
        (EXIF, XMP, IPTC, PROFILE, DPI, COMMENT, THUMBNAIL), longest=65500),
    "TIFF": Format(
        (".tif", ".tiff"), rb"(?:II[*+]\0|MM\0[*+])(?!.{4}CR)",  # which raw files of Canon have there
        (*ALPHA, "CMYK", "channels", *INDEXED), (*ALPHA, "CMYK", "channels"),
        (EXIF, XMP, IPTC, PROFILE, DPI), frames=True),
    "WEBP": Format(
        (".webp",), rb"RIFF.{4}WEBP", ALPHA, (), (EXIF, XMP, PROFILE, THUMBNAIL), frames=True, longest=16383),
    "AVIF": Format(
        (".avif", ".avifs"), rb".{4}ftypavi[fs]|" + ANY_CODEC + rb"avi[fs]",
        ALPHA, (), (EXIF, XMP, PROFILE, THUMBNAIL), frames=True, longest=65536),
    "JPEG2000": Format(
        (".jp2", ".j2k", ".jpx", ".j2c", ".jpc"), rb"\0\0\0\x0cjP  \r\n\x87\n|\xff\x4f\xff\x51",
        (*ALPHA, "CMYK"), ALPHA, (COMMENT,)),
    "GIF": Format(
        (".gif",), rb"GIF8[79]a", (*ALPHA, *INDEXED, CLEAR_PALETTE), (), (COMMENT,), frames=True, longest=65535),
    # Two letters are no proof: the length of the next header is one that there is.
    "BMP": Format(
        (".bmp", ".dib"), rb"BM.{12}[\x0c\x10\x28\x34\x38\x40\x6c\x7c]\0\0\0", (*COLOR, *INDEXED), (), (DPI,)),
    "PPM": Format(
        (".ppm", ".pgm", ".pbm", ".pnm", ".pfm"), rb"P[1-6f](?:\s*#|\s+\d)", (*COLOR, "bilevel"), COLOR),
    "PCX": Format(
        (".pcx",), rb"\x0a[\0\x02\x03\x05][\0\x01][\x01\x02\x04\x08]", (*COLOR, *INDEXED), longest=65535),
    "SGI": Format((".sgi", ".rgb", ".rgba", ".bw"), rb"\x01\xda[\0\x01][\x01\x02]", (*COLOR, "RGBA"), longest=65535),
    "TGA": Format((".tga",), rb"(?!)", (*ALPHA, *INDEXED), longest=65535),  # no signature
    "QOI": Format((".qoi",), rb"qoif", (*COLOR, "RGBA")),
    "DDS": Format((".dds",), rb"DDS ", ALPHA),
    "ICO": Format((".ico",), rb"\0\0\x01\0", (*ALPHA, *INDEXED), longest=256),
}  # fmt: skip
#: HEIC, which pillow-heif reads and writes if it is installed
NEEDS_HEIF = "pillow-heif is needed for HEIC and is not installed: pip install pillow-heif"
HEIF_ENDINGS = (".heic", ".heif", ".hif")
HEIF = rb".{4}ftyphe(?:i[cxms]|v[cxms])|" + ANY_CODEC + rb"he(?:i[cxms]|v[cxms])"
if importlib.util.find_spec("pillow_heif") is not None:
    TYPES["HEIF"] = Format(HEIF_ENDINGS, HEIF, ALPHA, (), (EXIF, XMP, PROFILE, THUMBNAIL), longest=16384)
#: the type of each ending that is written
FORMATS = {ending: name for name, format_ in TYPES.items() for ending in format_.endings}
#: endings that are read and not written, and one that is written in their place
READ = {".mpo": ".jpg", ".psd": ".png", ".icns": ".png", ".cur": ".png", ".xpm": ".png", ".ras": ".png"}
#: endings of JPEG 2000 without a container, which says that colors are CMYK
CODESTREAMS = (".j2k", ".j2c", ".jpc")
#: how a type is called where not by its name
SHOWN = {"WEBP": "WebP", "JPEG2000": "JPEG 2000", "HEIF": "HEIC"}


def holds_one(type_: str) -> bool:
    """Whether a file of this type, or an array, holds one image alone."""
    return not (type_ and TYPES[type_].frames)


def register(type_: str) -> None:
    """Make Pillow know a type that another package reads and writes."""
    if type_ == "HEIF":
        import pillow_heif

        pillow_heif.register_heif_opener()


def is_npy(output: str) -> bool:
    """Whether the name of an output ends in .npy. Refuse an ending that is neither .npy nor of an image."""
    ending = ending_of(output)
    if ending in READ:
        raise Refusal(f"{output}: {ending} is read and not written; {READ[ending]} is")
    if ending in HEIF_ENDINGS and ending not in FORMATS:
        raise Refusal(f"{output}: {NEEDS_HEIF}")
    if ending != ".npy" and ending not in FORMATS:
        check_known(output)
        raise Refusal(f"{output}: unknown file type {ending or '(none)'!r}; known are .npy {' '.join(FORMATS)}")
    return ending == ".npy"


def shown(type_: str) -> str:
    """The name of a type in messages."""
    return SHOWN.get(type_, type_)
