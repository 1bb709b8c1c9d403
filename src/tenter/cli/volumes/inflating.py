"""Decoders of chunks that stop at what a chunk may have: a file of a mebibyte can decode to a gibibyte."""

from __future__ import annotations

import bz2
import contextlib
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from tenter.cli.refusal import Refusal
from tenter.cli.volumes.memory import in_words

#: zlib's number for a stream in gzip's frame.
_GZIP = 31
_ZSTD_MAGIC, _ZSTD_BLOCK = 0xFD2FB528, 1 << 17
#: Bytes of the size in the head of a zstd frame, by its flag.
_ZSTD_SIZES = (0, 2, 4, 8)


@contextlib.contextmanager
def bounded(most: int) -> Iterator[None]:
    """Meanwhile, no decoder of numcodecs, which zarr uses, makes more than so many bytes of a chunk.

    numcodecs has no argument for a bound, and zarr passes none, so its functions are replaced.
    """
    import numcodecs

    bounds = {
        "GZip": lambda codec, decode: _streams(lambda: zlib.decompressobj(_GZIP), most),
        "Zlib": lambda codec, decode: _streams(zlib.decompressobj, most),
        "BZ2": lambda codec, decode: _streams(bz2.BZ2Decompressor, most),
        "LZMA": lambda codec, decode: _streams(lambda: lzma.LZMADecompressor(codec.format, None, codec.filters), most),
        "Blosc": lambda codec, decode: _as_it_says(decode, _blosc, most),
        "LZ4": lambda codec, decode: _as_it_says(decode, _lz4, most),
        "Zstd": lambda codec, decode: _as_it_says(decode, _zstd, most),
    }
    classes = {name: getattr(numcodecs, name) for name in bounds if hasattr(numcodecs, name)}
    before = {name: one.decode for name, one in classes.items()}
    for name, one in classes.items():
        one.decode = _method(bounds[name], before[name])
    try:
        yield
    finally:
        for name, one in classes.items():
            one.decode = before[name]


def _method(bound: Callable[[Any, Any], Callable[[Any], Any]], decode: Any) -> Any:
    def method(codec: Any, buf: Any, out: Any = None) -> Any:
        from numcodecs.compat import ensure_contiguous_ndarray, ndarray_copy

        data = memoryview(ensure_contiguous_ndarray(buf)).cast("B")
        found = bound(codec, lambda: decode(codec, buf))(data)
        return found if out is None else ndarray_copy(found, out)

    return method


def _streams(make: Callable[[], Any], most: int) -> Callable[[Any], bytes]:
    """Decode one stream after the other, as Python's own functions do."""

    def decode(data: Any) -> bytes:
        found = b""
        while len(data):
            decoder = make()
            found += decoder.decompress(data, most + 1 - len(found))
            _check(len(found), most)
            if not decoder.eof:
                raise Refusal("it is cut off")
            data = decoder.unused_data.lstrip(b"\0")
        return found

    return decode


def _as_it_says(decode: Callable[[], Any], size: Callable[[Any], int], most: int) -> Callable[[Any], Any]:
    """Decode data whose head says how much it makes; decoders keep to what it says."""

    def checked(data: Any) -> Any:
        _check(size(data), most)
        return decode()

    return checked


def _check(n: int, most: int) -> None:
    if n > most:
        raise Refusal(f"it decodes to more than {in_words(most)}, the most for its elements")


def _blosc(data: Any) -> int:
    if int.from_bytes(data[12:16], "little") != len(data):  # Blosc does not see this
        raise Refusal("its length is not the one that it was written with")
    return int.from_bytes(data[4:8], "little")


def _lz4(data: Any) -> int:
    return int.from_bytes(data[:4], "little")


def _zstd(data: Any) -> int:
    """The size that a frame says, else the most that its blocks hold. numcodecs has no function of zstd for it."""
    total = at = 0
    while len(data) - at > 5 and int.from_bytes(data[at : at + 4], "little") == _ZSTD_MAGIC:
        head = data[at + 4]
        single, flag = head >> 5 & 1, head >> 6
        at += 5 + (not single) + (0, 1, 2, 4)[head & 3]
        width = _ZSTD_SIZES[flag] or single
        said = int.from_bytes(data[at : at + width], "little") + 256 * (width == 2)
        at += width
        held, at = _zstd_blocks(data, at)
        at += 4 * (head >> 2 & 1)  # a checksum
        total += said if width else held
    return total


def _zstd_blocks(data: Any, at: int) -> tuple[int, int]:
    """The most that the blocks of a frame hold, and where they end."""
    held, is_last = 0, 0
    while not is_last and at + 3 <= len(data):
        block = int.from_bytes(data[at : at + 3], "little")
        is_last, kind, n = block & 1, block >> 1 & 3, block >> 3
        held += n if kind < 2 else _ZSTD_BLOCK  # raw, one byte over and over, compressed
        at += 3 + (1 if kind == 1 else n)
    return held, at
