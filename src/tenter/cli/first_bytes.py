"""The type of a file that is read, by its first bytes; and the name of the file that is made of it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tenter.cli.formats import FORMATS, HEIF, HEIF_ENDINGS, NEEDS_HEIF, READ, TYPES
from tenter.cli.refusal import Refusal

#: types that are read and not written
ONLY_READ = {
    "PSD": rb"8BPS\0\x01",
    "ICNS": rb"icns",
    "CUR": rb"\0\0\x02\0[^\0]\0",  # TGA may begin with the first four bytes
    "XPM": rb"/\* XPM \*/",
    "SUN": rb"\x59\xa6\x6a\x95",
}
#: what is refused by its name: a pattern of the first bytes
REFUSED = {
    "a raw file of a camera": rb"II\*\0.{4}CR|FUJIFILMCCD-RAW|IIU\0|IIR[OS]|MMOR|.{4}ftypcrx |FOVb|\0MRM",
    "a JPEG XL image": rb"\xff\x0a|\0\0\0\x0cJXL \r\n\x87\n",
    "a JPEG XR image": rb"II\xbc",
    "an OpenEXR image": rb"v/1\x01",
    "a Radiance HDR image": rb"#\?R",
    "a large Photoshop document (PSB)": rb"8BPS\0\x02",
    "a GIMP document": rb"gimp xcf",
    "an animated cursor": rb"RIFF.{4}ACON",
    "a FITS file": rb"SIMPLE  =",
    "a DICOM file": rb".{128}DICM",
    "an HDF5 file": rb"\x89HDF\r\n\x1a\n",
    "a PDF document": rb"%PDF-",
    "a PostScript document": rb"%!PS|\xc5\xd0\xd3\xc6",
    "an SVG drawing": rb"\s*(?:<\?xml.*?)?(?:<!--.*?)?<svg",
    "a video": rb".{4}ftyp(?:mp4|iso|qt  |M4V|3gp)|\x1a\x45\xdf\xa3|RIFF.{4}AVI ",
}
#: endings of raw files of cameras that begin as TIFF does
RAW = {
    ".dng", ".nef", ".nrw", ".arw", ".sr2", ".srf", ".pef", ".srw", ".3fr", ".fff", ".iiq", ".kdc", ".dcr", ".erf",
    ".mef", ".mos", ".rwl", ".gpr", ".raw",
}  # fmt: skip
#: how many bytes `type_of` reads
HEAD = 256
#: what a .npy file begins with
NPY = b"\x93NUMPY"
_BEGINS = {name: re.compile(format_.begins, re.DOTALL) for name, format_ in TYPES.items()}
_BEGINS |= {name: re.compile(begins, re.DOTALL) for name, begins in ONLY_READ.items()}


def type_of(head: bytes, name: str) -> str | None:
    """The type of a file that begins with these bytes, or None if they are of no image that is read."""
    for type_, begins in _BEGINS.items():
        if begins.match(head):
            return type_
    return "TGA" if Path(name).suffix.lower() == ".tga" else None


def type_of_input(path: Path, name: str) -> str:
    """The type of a file that is read, by its first bytes; "" for an array. `name` is what messages call it."""
    with open(path, "rb") as file:
        return type_of_head(file.read(HEAD), name)


def type_of_head(head: bytes, name: str) -> str:
    """As `type_of_input`, of the first bytes."""
    if head.startswith(NPY) or Path(name).suffix.lower() == ".npy":
        return type_of(head, name) or ""  # what is named as an array and is none, its reader refuses
    type_ = type_of(head, name)
    if type_ is not None:
        return type_
    if re.match(HEIF, head, re.DOTALL):
        raise Refusal(f"{name}: {NEEDS_HEIF}")
    for what, begins in REFUSED.items():
        if re.match(begins, head, re.DOTALL):
            raise Refusal(f"{name}: is {what}, which is not read")
    raise Refusal(f"{name}: is not an image that can be read")


def is_image(path: str) -> bool:
    """Whether a file of a folder is taken for an image: by its ending, or, if that is of no type, by its first
    bytes."""
    ending = Path(path).suffix.lower()
    if ending in FORMATS or ending in READ:
        return True
    if ending in RAW or ending == ".npy" or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return type_of(file.read(HEAD), path) is not None
    except OSError:
        return False


def ending_of_output(source: Path, name: str) -> str:
    """The ending of a file that is made of an input of this name, in the input's type where that is written."""
    ending = Path(name).suffix.lower()
    if ending in FORMATS or ending == ".npy":
        return Path(name).suffix
    if ending in READ:
        return READ[ending]
    type_ = type_of_input(source, name)
    return TYPES[type_].endings[0] if type_ in TYPES else ".png" if type_ else ".npy"


def with_ending(name: str, ending: str) -> str:
    """A name with this ending in place of one of an image's or array's; at the end of a name that has none."""
    path = Path(name)
    suffix = path.suffix.lower()
    known = suffix in FORMATS or suffix in READ or suffix in HEIF_ENDINGS or suffix == ".npy"
    return str(path.with_suffix(ending)) if known else name + ending
