"""The types of image files: their endings and first bytes, what each holds and carries."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import NamedTuple

from tenter.cli.refusal import Refusal

EXIF, XMP, IPTC, PROFILE, DPI = "EXIF", "XMP", "IPTC", "color profile", "resolution"
COMMENT, TEXT, THUMBNAIL = "comment", "PNG text", "thumbnail"
COLOR = ("gray", "RGB")
ALPHA = (*COLOR, "gray+alpha", "RGBA")
INDEXED, CLEAR_PALETTE = ("palette", "bilevel"), "palette with clear colors"


class Format(NamedTuple):
    """endings: the endings of names. first: for each way to begin, what is at which byte. kinds: those of 8 bits per
    channel that are written without loss of a channel; deep: those of uint16. carries: the metadata that is written.
    frames: whether a file holds several images. longest: the longest side, in pixels."""

    endings: tuple[str, ...]
    first: tuple[tuple[int, bytes], ...]
    kinds: tuple[str, ...]
    deep: tuple[str, ...] = ()
    carries: tuple[str, ...] = ()
    frames: bool = False
    longest: int = 2**31 - 1


TYPES = {
    "PNG": Format(
        (".png", ".apng"), ((0, b"\x89PNG\r\n\x1a\n"),), (*ALPHA, *INDEXED, CLEAR_PALETTE), ALPHA,
        (EXIF, XMP, PROFILE, DPI, COMMENT, TEXT, THUMBNAIL), frames=True),
    "JPEG": Format(
        (".jpg", ".jpeg", ".jpe", ".jfif"), ((0, b"\xff\xd8\xff"),), (*COLOR, "CMYK"), (),
        (EXIF, XMP, IPTC, PROFILE, DPI, COMMENT, THUMBNAIL), longest=65500),
    "TIFF": Format(
        (".tif", ".tiff"), ((0, b"II*\0"), (0, b"MM\0*"), (0, b"II+\0"), (0, b"MM\0+")),
        (*ALPHA, "CMYK", "channels", *INDEXED), (*ALPHA, "CMYK", "channels"),
        (EXIF, XMP, IPTC, PROFILE, DPI), frames=True),
    "WEBP": Format(
        (".webp",), ((8, b"WEBP"),), ALPHA, (), (EXIF, XMP, PROFILE, THUMBNAIL), frames=True, longest=16383),
    "AVIF": Format(
        (".avif", ".avifs"), ((4, b"ftypavif"), (4, b"ftypavis"), (4, b"ftypmif1"), (4, b"ftypmsf1")),
        ALPHA, (), (EXIF, XMP, PROFILE, THUMBNAIL), frames=True, longest=65536),
    "JPEG2000": Format(
        (".jp2", ".j2k", ".jpx", ".j2c", ".jpc"), ((0, b"\0\0\0\x0cjP  \r\n\x87\n"), (0, b"\xff\x4f\xff\x51")),
        (*ALPHA, "CMYK"), ALPHA, (COMMENT,)),
    "GIF": Format(
        (".gif",), ((0, b"GIF87a"), (0, b"GIF89a")), (*ALPHA, *INDEXED, CLEAR_PALETTE), (), (COMMENT,),
        frames=True, longest=65535),
    "BMP": Format((".bmp", ".dib"), ((0, b"BM"),), (*COLOR, *INDEXED), (), (DPI,)),
    "PPM": Format(
        (".ppm", ".pgm", ".pbm", ".pnm", ".pfm"), tuple((0, b"P%c" % n) for n in b"123456f"),
        (*COLOR, "bilevel"), COLOR),
    "PCX": Format((".pcx",), ((0, b"\x0a\x05"), (0, b"\x0a\x03"), (0, b"\x0a\x02")), (*COLOR, *INDEXED), longest=65535),
    "SGI": Format((".sgi", ".rgb", ".rgba", ".bw"), ((0, b"\x01\xda"),), (*COLOR, "RGBA"), longest=65535),
    "TGA": Format((".tga",), (), (*ALPHA, *INDEXED), longest=65535),  # no signature
    "QOI": Format((".qoi",), ((0, b"qoif"),), (*COLOR, "RGBA")),
    "DDS": Format((".dds",), ((0, b"DDS "),), ALPHA),
    "ICO": Format((".ico",), ((0, b"\0\0\1\0"),), (*ALPHA, *INDEXED), longest=256),
}  # fmt: skip
#: HEIC, which pillow-heif reads and writes if it is installed
HEIF_ENDINGS = (".heic", ".heif", ".hif")
if importlib.util.find_spec("pillow_heif") is not None:
    marks = tuple((4, b"ftyp" + brand) for brand in (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx"))
    TYPES["HEIF"] = Format(HEIF_ENDINGS, marks, ALPHA, (), (EXIF, XMP, PROFILE, THUMBNAIL), longest=16384)
#: what is put around a file of another ending
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
#: what to do about types that are not read or written
UNREAD = {
    ending: text
    for endings, text in {
        ".nii .nii.gz": "NIfTI is not read: nibabel gives its array, numpy.save makes it .npy",
        ".dcm .dicom": "DICOM is not read: pydicom gives its array, numpy.save makes it .npy",
        ".mha .mhd .nrrd": "is not read: SimpleITK gives its array, numpy.save makes it .npy",
        ".h5 .hdf5": "HDF5 is not read: h5py gives its arrays, numpy.save makes one .npy",
        ".npz": "holds several arrays: numpy.load gives them, numpy.save makes one .npy",
        ".jxl": "JPEG XL is not read or written: `djxl in.jxl out.png` and `cjxl in.png out.jxl` of libjxl convert it",
        ".svg .svgz .svg.gz": "SVG has no pixels: `rsvg-convert -w 800 in.svg -o out.png` draws it",
        ".pdf": "PDF has pages, not images: `pdftoppm -png -r 150 in.pdf page` draws them",
        ".psd .xcf": "is a file of layers, which is not read: ImageMagick's `convert in.psd[0] out.png` merges them",
        ".exr .hdr": "is not read: ImageMagick's `convert` makes it a TIFF",
        ".cr2 .cr3 .nef .arw .dng .raf .orf .rw2": "is a raw file of a camera: `darktable-cli in.nef out.tif` or "
        "`dcraw -T` develops it",
        ".mov .mp4 .m4v .avi .mkv .webm": "is a video: `ffmpeg -i in.mp4 -vf scale=800:-2 out.mp4` resizes it",
    }.items()
    for ending in endings.split()
}
#: the type of each ending
FORMATS = {ending: name for name, format_ in TYPES.items() for ending in format_.endings}
#: endings of JPEG 2000 without a container, which says that colors are CMYK
CODESTREAMS = (".j2k", ".j2c", ".jpc")
#: how many bytes `type_of` reads
HEAD = 16
#: how a type is called where not by its name
SHOWN = {"WEBP": "WebP", "JPEG2000": "JPEG 2000", "HEIF": "HEIC"}


def type_of(head: bytes, name: str) -> str | None:
    """The type of a file that begins with these bytes, or None if they are of no image that is read."""
    for type_, format_ in TYPES.items():
        if any(head[at : at + len(mark)] == mark for at, mark in format_.first):
            return None if type_ == "WEBP" and head[:4] != b"RIFF" else type_
    return "TGA" if Path(name).suffix.lower() == ".tga" else None


def holds_one(type_: str) -> bool:
    """Whether a file of this type, or an array, holds one image alone."""
    return not (type_ and TYPES[type_].frames)


def register(type_: str) -> None:
    """Make Pillow know a type that another package reads and writes."""
    if type_ == "HEIF":
        import pillow_heif

        pillow_heif.register_heif_opener()


def ending_of(path: str) -> str:
    """The ending of a file's name in lower case; of a compressed file with the one before it, such as .nii.gz."""
    *_, before, last = ("", "", *(suffix.lower() for suffix in Path(path).suffixes))
    return before + last if last in COMPRESSED else last


def is_npy(path: str) -> bool:
    """Whether a file name ends in .npy. Refuse an ending that is neither .npy nor of an image."""
    ending = ending_of(path)
    if ending in HEIF_ENDINGS and ending not in FORMATS:
        raise Refusal(f"{path}: pillow-heif is needed for HEIC and is not installed: pip install pillow-heif")
    if ending != ".npy" and ending not in FORMATS:
        check_known(path)
        raise Refusal(f"{path}: unknown file type {ending or '(none)'!r}; known are .npy {' '.join(FORMATS)}")
    return ending == ".npy"


def check_known(path: str) -> None:
    """Refuse a type that is known not to be read, with what to do about it."""
    ending = ending_of(path)
    if text := UNREAD.get(ending):
        raise Refusal(f"{path}: {text}")
    if ending.endswith(COMPRESSED):
        raise Refusal(f"{path}: is compressed; the file within it may be one that is read")


def shown(type_: str) -> str:
    """The name of a type in messages."""
    return SHOWN.get(type_, type_)
