"""Color profiles made of primaries and a curve, where a file states these and has no profile."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

#: the white of profiles, and the eye's responses in which a white becomes another
D50 = np.array((0.9642, 1.0, 0.8249))
BRADFORD = np.array(((0.8951, 0.2664, -0.1614), (-0.7502, 1.7135, 0.0367), (0.0389, -0.0685, 1.0296)))
#: x and y of white, red, green and blue
Primaries = tuple[float, ...]
#: where tags begin in a profile; which tags are curves
HEAD, CURVES = 128, (b"rTRC", b"gTRC", b"bTRC")


def space_of(icc: bytes) -> str:
    """Of which numbers a profile speaks: GRAY, RGB, CMYK..."""
    return icc[16:20].decode("latin-1").strip()


def curve(*parameters: float) -> bytes:
    """A curve: of one parameter a power; of five the power, and a, b, c, d of (a x + b) ^ power, below d: c x."""
    numbers = struct.pack(f">{len(parameters)}l", *(round(p * 65536) for p in parameters))
    return b"para\0\0\0\0" + struct.pack(">HH", {1: 0, 5: 3}[len(parameters)], 0) + numbers


def of_colors(primaries: Primaries, tone: bytes) -> bytes:
    """A profile of RGB."""
    white, *corners = (np.array((x / y, 1, (1 - x - y) / y)) for x, y in zip(primaries[::2], primaries[1::2]))
    columns = np.stack(corners, 1)
    columns = columns * np.linalg.solve(columns, white)
    adapted = np.linalg.inv(BRADFORD) @ np.diag((BRADFORD @ D50) / (BRADFORD @ white)) @ BRADFORD
    tags = {b"wtpt": _xyz(D50), b"chad": b"sf32\0\0\0\0" + _fixed(adapted.ravel())}
    tags |= {name: _xyz(column) for name, column in zip((b"rXYZ", b"gXYZ", b"bXYZ"), (adapted @ columns).T)}
    return _profile(b"RGB ", tags | dict.fromkeys(CURVES, tone))


def of_gray(tone: bytes) -> bytes:
    """A profile of gray."""
    return _profile(b"GRAY", {b"wtpt": _xyz(D50), b"kTRC": tone})


def of_equal_colors(gray: bytes, primaries: Primaries) -> bytes | None:
    """A profile of RGB by which equal colors look as grays do by a profile of gray; None if that has no curve."""
    tone = _tags(gray).get(b"kTRC")
    return tone and of_colors(primaries, tone)


def _tags(icc: bytes) -> dict[bytes, bytes]:
    count = int.from_bytes(icc[HEAD : HEAD + 4], "big")
    rows = [icc[at : at + 12] for at in range(HEAD + 4, min(HEAD + 4 + 12 * count, len(icc)), 12)]
    places = [(row[:4], *struct.unpack(">LL", row[4:])) for row in rows if len(row) == 12]
    return {name: icc[at : at + length] for name, at, length in places}


def _profile(space: bytes, tags: dict[bytes, bytes]) -> bytes:
    words = {b"desc": _text("Colors as their file states them"), b"cprt": _text("No copyright, use freely")}
    table, body = b"", b""
    start = HEAD + 4 + 12 * (len(tags) + len(words))
    for name, value in (words | tags).items():
        table += name + struct.pack(">LL", start + len(body), len(value))
        body += value.ljust(-(-len(value) // 4) * 4, b"\0")
    head = struct.pack(
        ">L4xL4s4s4s6H4s", start + len(body), 0x04300000, b"mntr", space, b"XYZ ", 2000, 1, 1, 0, 0, 0, b"acsp"
    )
    head += bytes(28) + _fixed(D50)
    return head.ljust(HEAD, b"\0") + struct.pack(">L", len(tags) + len(words)) + table + body


def _fixed(numbers: npt.NDArray[np.float64]) -> bytes:
    return struct.pack(f">{len(numbers)}l", *(round(float(n) * 65536) for n in numbers))


def _xyz(numbers: npt.NDArray[np.float64]) -> bytes:
    return b"XYZ \0\0\0\0" + _fixed(numbers)


def _text(words: str) -> bytes:
    encoded = words.encode("utf-16-be")
    return b"mluc\0\0\0\0" + struct.pack(">LL4sLL", 1, 12, b"enUS", len(encoded), 28) + encoded
