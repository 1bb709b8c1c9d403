"""Colors that a file states by numbers in place of a profile: cICP, gAMA and cHRM of PNG, nclx of AVIF and HEIC."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from typing import Any, BinaryIO, cast

from tenter.cli.kept import icc
from tenter.cli.kept.metadata import Metadata

#: Chunks that say what the numbers of a PNG mean. The first of them that is there holds; gAMA and cHRM go together.
CICP, ICCP, SRGB, GAMMA, PRIMARIES = b"cICP", b"iCCP", b"sRGB", b"gAMA", b"cHRM"
MASTERING, LIGHT = b"mDCV", b"cLLI"
COLOR = (CICP, ICCP, SRGB, GAMMA, PRIMARIES, MASTERING, LIGHT)
#: chunks that are read elsewhere, or say how this file stores its pixels
OTHERS = {
    b"IHDR", b"PLTE", b"tRNS", b"pHYs", b"tEXt", b"zTXt", b"iTXt", b"eXIf", b"acTL", b"fcTL", b"fdAT",
    b"sBIT", b"hIST", b"sPLT", b"tIME", b"iDOT",
}  # fmt: skip
LONGEST = 1 << 26  # bytes of a chunk that is read
SIGNATURE, HEADER = 8, 33  # where the first chunk begins, and where it ends
#: x and y of white, red, green and blue, by their numbers in H.273
D65 = (0.3127, 0.329)
OF_SRGB = (*D65, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06)
BY_NUMBER = {
    1: OF_SRGB,
    5: (*D65, 0.64, 0.33, 0.29, 0.6, 0.15, 0.06),
    6: (*D65, 0.63, 0.34, 0.31, 0.595, 0.155, 0.07),
    7: (*D65, 0.63, 0.34, 0.31, 0.595, 0.155, 0.07),
    9: (*D65, 0.708, 0.292, 0.17, 0.797, 0.131, 0.046),
    11: (0.314, 0.351, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06),
    12: (*D65, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06),
}
SRGB_CURVE = icc.curve(2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
VIDEO_CURVE = icc.curve(1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081)
CURVES = {4: icc.curve(2.2), 5: icc.curve(2.8), 8: icc.curve(1.0), 13: SRGB_CURVE}
CURVES |= dict.fromkeys((1, 6, 14, 15), VIDEO_CURVE)
#: transfers that no profile of three curves holds
HDR = {16: "HDR colors (PQ)", 18: "HDR colors (HLG)"}
NO_PROFILE, MASTERED = "colors by cICP", "HDR mastering data"
#: gAMA by which PNG says sRGB to programs that know no better, in 1/100000; how near is near
GAMMA_OF_SRGB, NEAR, SAME_PRIMARIES = 45455, 500, 0.005
UNKNOWN = 2
GRAYS = ("1", "L", "LA", "I", "I;16")  # Pillow's modes


def chunks_of(file: BinaryIO) -> dict[bytes, bytes]:
    """The chunks of a PNG before its pixels, the first of each name; of those that say nothing of colors the name."""
    position, found = file.tell(), dict[bytes, bytes]()
    file.seek(SIGNATURE)
    while len(head := file.read(8)) == 8 and (name := head[4:]) not in (b"IDAT", b"IEND"):
        length = int.from_bytes(head[:4], "big")
        wanted = name in COLOR and name not in found and length <= LONGEST
        found.setdefault(name, file.read(length) if wanted else b"")
        file.seek(4 if wanted else length + 4, 1)
    file.seek(position)
    return found


def unknown_chunks(file: BinaryIO) -> list[str]:
    """Chunks of which nothing is kept, as the summary names them."""
    names = [name for name in chunks_of(file) if name not in OTHERS and name not in COLOR]
    return [{b"bKGD": "background color"}.get(name, f"PNG chunk {name.decode('latin-1')}") for name in names]


def with_stated(metadata: Metadata, image: Any, file: BinaryIO, head: bytes) -> Metadata:
    """The metadata with the profile that a file's numbers mean, and for PNG with the chunks as they are."""
    gray = image.mode in GRAYS
    if image.format == "PNG":
        return _of_png(metadata, gray, {name: data for name, data in chunks_of(file).items() if name in COLOR})
    at = head.find(b"colrnclx") + 8
    if image.format not in ("AVIF", "HEIF") or metadata.icc or at < 8 or len(head) < at + 7:
        return metadata
    primaries, transfer = struct.unpack_from(">HH", head, at)
    numbers = bytes((primaries & 255, transfer & 255, 0, 1))
    if names({CICP: numbers}):
        return replace(metadata, chunks={CICP: numbers})
    return replace(metadata, icc=_profile(numbers, gray))


def names(chunks: dict[bytes, bytes]) -> list[str]:
    """What of these chunks no profile holds."""
    found = []
    numbers = chunks.get(CICP, b"")
    if len(numbers) == 4 and not _is_plain(numbers):
        found = [HDR[numbers[1]]] if numbers[1] in HDR else [] if _profile(numbers, True) else [NO_PROFILE]
    return found + [MASTERED] * (MASTERING in chunks or LIGHT in chunks)


def _of_png(metadata: Metadata, gray: bool, chunks: dict[bytes, bytes]) -> Metadata:
    numbers = chunks.get(CICP, b"")
    if len(numbers) != 4:
        chunks.pop(CICP, None)
    if ICCP in chunks:
        chunks.pop(SRGB, None)
    if not chunks or set(chunks) == {ICCP}:
        return metadata
    if len(numbers) == 4:
        plain = _is_plain(numbers)
        found = None if plain else _profile(numbers, gray) or metadata.icc  # of HDR, the profile is what comes nearest
    elif ICCP in chunks:
        found = metadata.icc
    else:
        found = None if SRGB in chunks else _by_gamma(chunks.get(GAMMA, b""), chunks.get(PRIMARIES, b""), gray)
    return replace(metadata, icc=found, chunks=chunks)


def _is_plain(numbers: bytes) -> bool:
    """Whether these numbers mean what images without any statement mean."""
    primaries, transfer = numbers[:2]
    return primaries in (1, UNKNOWN) and transfer in (1, 6, 13, 14, 15, UNKNOWN) and numbers[3] == 1


def _profile(numbers: bytes, gray: bool) -> bytes | None:
    """The profile of cICP's numbers; None if they are those of sRGB, of HDR, or of video with its narrow range."""
    primaries, transfer, _, full = numbers
    primaries = 1 if primaries == UNKNOWN else primaries
    transfer = 13 if transfer == UNKNOWN else transfer
    if _is_plain(numbers) or primaries not in BY_NUMBER or transfer not in CURVES or full != 1:
        return None
    return _made(BY_NUMBER[primaries], CURVES[transfer], gray)


def _by_gamma(gamma: bytes, chromaticities: bytes, gray: bool) -> bytes | None:
    exponent = int.from_bytes(gamma, "big") if len(gamma) == 4 else 0
    primaries: icc.Primaries = OF_SRGB
    if len(chromaticities) == 32 and all(numbers := struct.unpack(">8L", chromaticities)):
        primaries = tuple(n / 100000 for n in numbers)
    near = all(abs(a - b) < SAME_PRIMARIES for a, b in zip(primaries, OF_SRGB))
    if near and (not exponent or abs(exponent - GAMMA_OF_SRGB) < NEAR):
        return None
    return _made(primaries, icc.curve(100000 / exponent) if exponent else SRGB_CURVE, gray)


def _made(primaries: icc.Primaries, tone: bytes, gray: bool) -> bytes:
    return icc.of_gray(tone) if gray else icc.of_colors(primaries, tone)


class WithChunks:
    """A file into which a PNG is written, with further chunks after its first one."""

    def __init__(self, file: BinaryIO, chunks: dict[bytes, bytes]) -> None:
        """Pass on what is written to `file`."""
        self.file, self.left = file, HEADER
        parts = [(len(data).to_bytes(4, "big"), name + data) for name, data in chunks.items()]
        self.chunks = b"".join(n + content + zlib.crc32(content).to_bytes(4, "big") for n, content in parts)

    def write(self, data: Any) -> int:
        """Write bytes, and the chunks once the first chunk is complete."""
        data = bytes(data)
        if 0 < self.left <= len(data):
            data = data[: self.left] + self.chunks + data[self.left :]
            self.left = 0
        elif self.left:
            self.left -= len(data)
        return self.file.write(data)

    def flush(self) -> None:
        """Flush the file."""
        self.file.flush()


def with_chunks(file: BinaryIO, metadata: Metadata) -> BinaryIO:
    """The file for a PNG that states its colors as these chunks do."""
    return cast("BinaryIO", WithChunks(file, metadata.chunks)) if metadata.chunks else file
