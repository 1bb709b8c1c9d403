"""Pictures from strangers: what a head claims, and what a small part of a file would decode to, takes no memory."""

from __future__ import annotations

import itertools
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cli_helpers import _inside, refused  # noqa: F401
from tenter.cli.main import main

tifffile = pytest.importorskip("tifffile")
BOMB = zlib.compress(bytes(80 << 20), 1)
ROWS = zlib.compress(bytes((1 + 30) * 10))
HUGE = 2**31 - 1


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int = 10, height: int = 10, rows: bytes = ROWS, more: bytes = b"") -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = chunk(b"IHDR", head) + more + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def tiff(
    width: int = 10, height: int = 10, kind: int = 1, data: bytes = bytes(100), n: int = 0, after: int = 0
) -> bytes:
    begin = 8 + 2 + 9 * 12 + 4
    tags = {256: width, 257: height, 258: 8, 259: kind, 262: 1, 273: begin, 277: 1, 278: height, 279: n or len(data)}
    held = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    return b"II*\0" + struct.pack("<IH", 8, 9) + held + struct.pack("<I", after) + data


def entities(root: str) -> bytes:
    """Ten of ten of ten, nine times."""
    names = "abcdefghij"
    rules = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in itertools.pairwise(names))
    return (
        f'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaaaaaaaa">{rules}]><{root}>&j;</{root.split()[0]}>'.encode()
    )


def ome(path: str) -> bytes:
    """A stack of two planes, of which the second is in another file."""
    Path("sub").mkdir()
    tifffile.imwrite("secret.tif", np.full((10, 10), 77, "u1"), metadata=None)
    planes = "".join(
        f'<TiffData IFD="0" FirstZ="{z}" PlaneCount="1"><UUID FileName="{name}">urn:uuid:{z}</UUID></TiffData>'
        for z, name in enumerate(("x.ome.tif", path))
    )
    sizes = 'DimensionOrder="XYZCT" Type="uint8" SizeX="10" SizeY="10" SizeC="1" SizeZ="2" SizeT="1"'
    namespace = 'xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" UUID="urn:uuid:0"'
    text = f'<OME {namespace}><Image ID="Image:0"><Pixels ID="p" {sizes}>{planes}</Pixels></Image></OME>'
    tifffile.imwrite("held.tif", np.zeros((10, 10), "u1"), description=text, metadata=None)
    return Path("held.tif").read_bytes()


#: A file's ending, its contents, and what the error says; None where a picture of zeros is read.
FILES: dict[str, tuple[str, Callable[[], bytes], str | None]] = {
    "more rows than it says": ("png", lambda: png(rows=BOMB), None),
    "huge": ("png", lambda: png(HUGE, HUGE), "exceeds limit"),
    "large and empty": ("png", lambda: png(13000, 13000), "is truncated or damaged"),
    "no width": ("png", lambda: png(0, 10), "is not a PNG image"),
    "a text": ("png", lambda: png(more=chunk(b"zTXt", b"Comment\0\0" + BOMB)), "too large"),
    "XMP": ("png", lambda: png(more=chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + BOMB)), "too large"),
    "a profile": ("png", lambda: png(more=chunk(b"iCCP", b"p\0\0" + BOMB)), "too large"),
    "XMP of entities": ("png", lambda: png(more=chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0"
                                                      + entities('x:xmpmeta xmlns:x="adobe:ns:meta/"'))), None),
    "more of a strip": ("tif", lambda: tiff(kind=8, data=BOMB), None),
    "huge, one strip": ("tif", lambda: tiff(HUGE, HUGE), "exceeds limit"),
    "a strip beyond the end": ("tif", lambda: tiff(n=2**32 - 1), None),
    "pages in a circle": ("tif", lambda: tiff(after=8), None),
    "a plane elsewhere": ("ome.tif", lambda: ome("../secret.tif"), None),
    "a plane beside it": ("ome.tif", lambda: ome("secret.tif"), None),
    "negative": ("ppm", lambda: b"P6\n-5 5\n255\n", "is not an image"),
    "digits": ("ppm", lambda: b"P3\n5 5\n255\n" + b"9" * 100_000, "is truncated or damaged"),
    "a canvas": ("gif", lambda: b"GIF89a" + struct.pack("<HH", 65535, 65535) + b"\0\0\0;", ""),
    "a huge icon": ("ico", lambda: struct.pack("<HHHBBBBHHII", 0, 1, 1, 10, 10, 0, 0, 1, 32, len(png(HUGE, HUGE)), 22)
                    + png(HUGE, HUGE), ""),
    "qoi": ("qoi", lambda: b"qoif" + struct.pack(">II", 2**31, 2**31) + b"\4\0" + bytes(20), "exceeds limit"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_what_a_picture_may_say(capsys: pytest.CaptureFixture[str], name: str) -> None:
    ending, make, said = FILES[name]
    data = make()
    Path(f"x.{ending}").write_bytes(data)
    args = ["resize", f"x.{ending}", "y.npy", "--size", "5x5"]
    if said is not None:
        error = refused(capsys, *args)
        assert f"x.{ending}: " in error and said in error
        return
    assert main(args) == 0
    assert not np.load("y.npy").any() and np.load("y.npy").shape[:2] == (5, 5)
