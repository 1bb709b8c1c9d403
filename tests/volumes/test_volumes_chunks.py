"""Chunks from strangers: a command reads files of the array alone, ends, and takes bounded memory."""

from __future__ import annotations

import bz2
import gzip
import itertools
import lzma
import os
import shutil
import signal
import socket
import struct
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import _inside, in_child, refused  # noqa: F401
from sweeps import in_one_test, sampled
from tenter.cli.main import main
from tenter.cli.volumes import inflating
from volume_helpers import HALF, _as_a_process_of_its_own, elements, hidden, noise, started, volume, zarr  # noqa: F401

numcodecs = pytest.importorskip("numcodecs")


# ---- chunks


def fifo(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def secret(path: Path) -> None:
    Path("secret").write_bytes(bytes(16))
    path.symlink_to(os.path.abspath("secret"))


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


#: What stands in the place of a chunk, and what the error says of it.
CHUNKS = {Path.mkdir: "is not a regular file", fifo: "is not a regular file", a_socket: "is not a regular file",
          device: "a link leads out of in.zarr, to /dev/zero", secret: "a link leads out of in.zarr, to /",
          huge: "holds 1099511627776 bytes, more than"}  # fmt: skip


def ended(args: list[str]) -> int:
    """Of a process of its own, as one that waits for a FIFO cannot be ended otherwise."""
    return in_child(args, lambda: (signal.signal(signal.SIGALRM, signal.SIG_DFL), signal.alarm(60)))


@pytest.mark.parametrize(
    "stored, place", sampled(itertools.product([{}, {"zarr_format": 2}, {"shards": (8, 8)}], CHUNKS), 4)
)
def test_chunks_are_regular_files(capfd: pytest.CaptureFixture[str], stored: dict[str, Any], place: Any) -> None:
    volume("in.zarr", (16, 16), "uint8", chunks=(4, 4), compressors=None, **stored)
    chunk = Path("in.zarr/0.0" if "zarr_format" in stored else "in.zarr/c/0/0")
    chunk.unlink()
    place(chunk)
    assert ended(HALF) == 2
    said = capfd.readouterr().err
    assert said.startswith(f"tenter: {chunk}: cannot be read") and said.count("\n") == 1, said
    assert CHUNKS[place] in said and "continues" not in said
    assert not Path("out.zarr").exists() and not hidden()


@pytest.mark.parametrize("name", [".zattrs", ".zarray"])
def test_metadata_is_in_regular_files(capfd: pytest.CaptureFixture[str], name: str) -> None:
    volume("in.zarr", (16, 16), "uint8", chunks=(4, 4), zarr_format=2)
    Path("in.zarr", name).unlink()
    os.mkfifo(Path("in.zarr", name))
    assert ended(HALF) == 2
    said = capfd.readouterr().err
    assert said.startswith("tenter: in.zarr: ") and said.count("\n") == 1, said


def test_links_within_an_array_are_followed() -> None:
    x = volume("in.zarr", (16, 16), "uint8", chunks=(4, 4))
    shutil.move("in.zarr/c/0/0", "in.zarr/kept")
    Path("in.zarr/c/0/0").symlink_to("../../kept")
    shutil.move("in.zarr", "elsewhere.zarr")
    Path("in.zarr").symlink_to("elsewhere.zarr")
    assert main([*HALF[:3], "--scale", "1", *HALF[5:]]) == 0 and np.array_equal(elements("out.zarr"), x)


def test_an_interrupt_does_not_wait_for_a_block() -> None:
    volume("in.zarr", (16, 16), "uint8", chunks=(4, 4))
    slow = "import os, signal, sys, time\nfrom tenter.cli.volumes import zarrs\nread = zarrs.ZarrArray.read\n"
    slow += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    slow += "zarrs.ZarrArray.read = lambda *a: (os.kill(os.getpid(), signal.SIGINT), time.sleep(3600))\n"
    slow += "from tenter.cli import main as program\n"
    slow += f"sys.argv = ['tenter', *{HALF!r}]\nprogram.run()\n"
    child = started(HALF, slow)
    try:
        said = child.communicate(timeout=100)[1]
    finally:
        child.kill()
    assert child.returncode == 130 and said == "tenter: interrupted; the same command continues\n"
    assert main(HALF) == 0 and not hidden()


# ---- bombs

BOMB = 16 << 20


def zstd_without_size(data: bytes) -> bytes:
    """A frame of blocks of one byte over and over, whose head does not say how much they make."""
    frame = (0xFD2FB528).to_bytes(4, "little") + bytes([0, 0x50])
    for at in range(0, len(data), 1 << 17):
        n = len(data[at : at + (1 << 17)])
        frame += (n << 3 | 1 << 1 | (at + n == len(data))).to_bytes(3, "little") + data[at : at + 1]
    return frame


def zstd_with_a_lie(data: bytes) -> bytes:
    """Two frames, of which the first says a small size."""
    return bytes(numcodecs.Zstd().encode(data[:16])) + bytes(numcodecs.Zstd().encode(data))


ENCODED: dict[str, tuple[Any, Callable[[bytes], bytes]]] = {
    "gzip": (numcodecs.GZip(), lambda data: gzip.compress(data, 1)),
    "gzip in parts": (numcodecs.GZip(), lambda data: gzip.compress(data[:7]) + gzip.compress(data[7:], 1) + bytes(5)),
    "zlib": (numcodecs.Zlib(), lambda data: zlib.compress(data, 1)),
    "bz2": (numcodecs.BZ2(), bz2.compress),
    "lzma": (numcodecs.LZMA(), lambda data: lzma.compress(data, preset=0)),
    "zstd": (numcodecs.Zstd(), lambda data: bytes(numcodecs.Zstd().encode(data))),
    "zstd without size": (numcodecs.Zstd(), zstd_without_size),
    "zstd twice": (numcodecs.Zstd(), zstd_with_a_lie),
    "lz4": (numcodecs.LZ4(), lambda data: bytes(numcodecs.LZ4().encode(data))),
    "blosc": (numcodecs.Blosc(), lambda data: bytes(numcodecs.Blosc().encode(data))),
}


@pytest.mark.parametrize("name", ENCODED)
def test_decoders_stop_at_their_bound(name: str) -> None:
    codec, encode = ENCODED[name]
    bomb = encode(bytes(BOMB))
    assert len(bomb) < BOMB // 50
    tracemalloc.start()
    try:
        with inflating.bounded(1 << 20), pytest.raises(Exception, match="more than 1 MiB, the most for its elements"):
            codec.decode(bomb)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


@in_one_test("n", [1, 5, 255, 256, 300, 65791, 65792, 300_000])
@in_one_test("name", ENCODED)
def test_bounded_decoders_give_what_the_others_give(name: str, n: int) -> None:
    codec, encode = ENCODED[name]
    data = bytes(n) if "size" in name else noise((n,), "uint8").tobytes()
    encoded = encode(data)
    want = data if name != "zstd twice" else data[:16] + data
    most = len(want) + (1 << 17 if "size" in name else 0)
    with inflating.bounded(most):
        assert bytes(codec.decode(encoded)) == want
        out = np.empty(len(want), np.uint8)
        codec.decode(encoded, out)
        assert out.tobytes() == want
    with inflating.bounded(n - 1), pytest.raises(Exception, match="the most for its elements"):
        codec.decode(encoded)
    assert "size" in name or "twice" in name or bytes(codec.decode(encoded)) == want  # as before
    if name in ("gzip", "zlib", "bz2", "lzma", "blosc"):
        for cut in (encoded[:-1], encoded[: len(encoded) // 2]):
            with inflating.bounded(most), pytest.raises(Exception):  # noqa: B017
                codec.decode(cut)


@pytest.mark.parametrize("stored", [
    {"compressors": zarr.codecs.GzipCodec()}, {"compressors": zarr.codecs.ZstdCodec()},
    {"compressors": zarr.codecs.BloscCodec()}, {"compressors": zarr.codecs.GzipCodec(), "shards": (8, 8)},
    {"compressors": numcodecs.Zlib(), "zarr_format": 2}, {"compressors": numcodecs.LZ4(), "zarr_format": 2},
    {"compressors": numcodecs.BZ2(), "zarr_format": 2}, {"compressors": numcodecs.LZMA(), "zarr_format": 2},
])  # fmt: skip
def test_a_bomb_is_refused_by_its_chunk(capsys: pytest.CaptureFixture[str], stored: dict[str, Any]) -> None:
    codec = type(stored["compressors"]).__name__.lower().removesuffix("codec")
    bomb = ENCODED[codec][1](bytes(BOMB))
    volume("in.zarr", (16, 16), "uint8", chunks=(4, 4), **stored)
    chunk = Path("in.zarr/0.0" if "zarr_format" in stored else "in.zarr/c/0/0")
    if "shards" in stored:
        held = bomb + b"".join(struct.pack("<QQ", 0, len(bomb)) for _ in range(4))
        bomb = held + zarr_crc(held[len(bomb) :])
    chunk.write_bytes(bomb)
    said = refused(capsys, *HALF)
    assert said.startswith(f"tenter: {chunk}: cannot be read") and "the most for its elements" in said
    assert not hidden()


def zarr_crc(data: bytes) -> bytes:
    return bytes(numcodecs.CRC32C().encode(data))[-4:]
