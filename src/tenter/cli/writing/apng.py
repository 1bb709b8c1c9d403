"""Write animated PNG files, a frame at a time: each is encoded as a PNG, whose chunks are put in their place."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tenter.cli.kept.stated import HEADER
from tenter.cli.picture import Origin, Picture
from tenter.cli.refusal import Refusal
from tenter.cli.writing.frames import Box, box_of, merged
from tenter.cli.writing.pillow import CLEARED

MOST = 65535  # of the two numbers of a duration, which are a fraction of a second
Chunk = tuple[bytes, bytes]
Encode = Callable[[BinaryIO, Picture], None]


def write(file: BinaryIO, pictures: Iterator[Picture], origin: Origin, encode: Encode) -> None:
    """Write the frames as they are seen, where each differs from what the one before it leaves. encode: writes a PNG
    of one image. All have the same kind and dtype."""
    stand_in = next(pictures) if origin.first_apart else None
    frames = merged(pictures, _equal, _longer)
    first, second = next(frames), next(frames, None)
    if second is None and stand_in is None:
        encode(file, first)
        return
    whole = _encoded(stand_in or first, encode)
    file.write(whole[:HEADER])
    count_at = file.tell()
    file.write(_chunk(b"acTL", bytes(8)))
    before_pixels, pixels = _split(whole)
    file.write(b"".join(_chunk(*chunk) for chunk in before_pixels))
    number = 0  # of fcTL and fdAT, counted together
    if stand_in is not None:
        file.write(b"".join(_chunk(*chunk) for chunk in pixels))
    height, width = first.pixels.shape[:2]
    seen = None
    count = 0
    for frame in chain([first], [second] if second else [], frames):
        box = (0, 0, width, height) if seen is None else _changed(seen, frame.pixels)
        file.write(_chunk(b"fcTL", _control(number, box, frame)))
        number += 1
        if count or stand_in is not None:
            pixels = _split(_encoded(_part(frame, box), encode))[1]
        for _, data in pixels:
            if count or stand_in is not None:
                file.write(_chunk(b"fdAT", struct.pack(">L", number) + data))
                number += 1
            else:
                file.write(_chunk(b"IDAT", data))
        seen = frame.pixels
        if frame.disposal == CLEARED:
            left, top, right, bottom = box
            seen = seen.copy()
            seen[top:bottom, left:right] = 0
        count += 1
    file.write(_chunk(b"IEND", b""))
    end = file.tell()
    file.seek(count_at)
    file.write(_chunk(b"acTL", struct.pack(">LL", count, origin.plays)))
    file.seek(end)


def _equal(a: Picture, b: Picture) -> bool:
    fits = _delay(a.duration + b.duration).numerator <= MOST
    return fits and a.disposal == b.disposal and np.array_equal(a.pixels, b.pixels)


def _longer(a: Picture, b: Picture) -> Picture:
    return replace(a, duration=a.duration + b.duration)


def _delay(duration: float) -> Fraction:
    return Fraction(round(duration), 1000).limit_denominator(MOST)


def _control(number: int, box: Box, frame: Picture) -> bytes:
    left, top, right, bottom = box
    delay = _delay(frame.duration)
    if delay.numerator > MOST:
        raise Refusal(f"PNG holds frames of at most {MOST} seconds, this one lasts {frame.duration / 1000:g}")
    size, clears = (right - left, bottom - top), int(frame.disposal == CLEARED)
    return struct.pack(">5LHHBB", number, *size, left, top, delay.numerator, delay.denominator, clears, 0)


def _changed(seen: npt.NDArray[Any], pixels: npt.NDArray[Any]) -> Box:
    differ = (seen != pixels).reshape(len(pixels), -1)  # by rows of samples, as few channels are slow to walk
    columns = differ.any(0).reshape(pixels.shape[1], -1).any(1)
    return box_of(differ.any(1), columns)


def _part(frame: Picture, box: Box) -> Picture:
    left, top, right, bottom = box
    return Picture(np.ascontiguousarray(frame.pixels[top:bottom, left:right]), frame.kind)


def _encoded(picture: Picture, encode: Encode) -> bytes:
    file = io.BytesIO()
    encode(file, picture)
    return file.getvalue()


def _split(png: bytes) -> tuple[list[Chunk], list[Chunk]]:
    """The chunks between the header and the pixels, and those of the pixels."""
    before: list[Chunk] = []
    pixels: list[Chunk] = []
    at = HEADER
    while (name := png[at + 4 : at + 8]) != b"IEND":
        length = int.from_bytes(png[at : at + 4], "big")
        (pixels if name == b"IDAT" else before).append((name, png[at + 8 : at + 8 + length]))
        at += length + 12
    return before, pixels


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">L", len(data)) + name + data + struct.pack(">L", zlib.crc32(name + data))
