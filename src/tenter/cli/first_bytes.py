"""The type of a file that is read, by its first bytes; and the name of the file that is made of it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tenter.cli.formats import FORMATS, HEIF, HEIF_ENDINGS, NEEDS_HEIF, READ, TYPES
from tenter.cli.not_read import RAW, UNREAD, check_known
from tenter.cli.refusal import Refusal

#: types that are read and not written
ONLY_READ = {
    "PSD": rb"8BPS\0\x01",
    "ICNS": rb"icns",
    "CUR": rb"\0\0\x02\0[^\0]\0",  # TGA may begin with the first four bytes
    "XPM": rb"/\* XPM \*/",
    "SUN": rb"\x59\xa6\x6a\x95",
}
#: how many bytes `type_of_head` looks at: a mark of NIfTI is at 344
HEAD = 352
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
    check_known(name, head)
    raise Refusal(f"{name}: is not an image that can be read")


def is_image(path: str) -> bool:
    """Whether a file of a folder is taken for an image: by its ending, or, if that is of no type, by its first
    bytes."""
    ending = Path(path).suffix.lower()
    if ending in FORMATS or ending in READ:
        return True
    if ending in UNREAD[RAW].endings or ending == ".npy" or not os.path.isfile(path):
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


def split_ending(name: str) -> tuple[str, str]:
    """A name without the ending of an image or array, and that ending; the whole name if it has none."""
    path = Path(name)
    suffix = path.suffix.lower()
    known = suffix in FORMATS or suffix in READ or suffix in HEIF_ENDINGS or suffix == ".npy"
    return (path.stem, path.suffix) if known else (name, "")
