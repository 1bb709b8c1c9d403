"""How files are encoded, as the command's options say."""

from __future__ import annotations

from typing import NamedTuple


class Encoding(NamedTuple):
    """None: the source's, or the type's default. strip: whether all that images carry is dropped. depth: 8 if 16 bits
    per channel are to be rounded to it. srgb: whether colors are converted to sRGB, which need no profile.
    as_stored: whether pixels stay turned as they are, where every program reads the tag that says how."""

    quality: int | None = None
    subsampling: str | None = None
    progressive: bool | None = None
    strip: bool = False
    as_stored: bool = False
    depth: int | None = None
    srgb: bool = False


def changes_file(encoding: Encoding) -> bool:
    """Whether a file is written anew although its pixels are what they were. Pixels say whether `depth` changes them,
    and `as_stored` changes nothing."""
    return encoding._replace(as_stored=False, depth=None) != Encoding()
