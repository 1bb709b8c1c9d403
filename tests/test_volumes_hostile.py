"""Arrays on disk from strangers: a command stays in its folders, ends, takes bounded memory, and says which file is bad."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import pickle
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
from tenter.cli.main import main
from tenter.cli.volumes import inflating, job, mark, zarrs
from volume_helpers import _as_a_process_of_its_own, elements, hidden, noise, started, tree, volume, zarr  # noqa: F401

numcodecs = pytest.importorskip("numcodecs")
HALF = ["resize", "in.zarr", "out.zarr", "--scale", "0.5", "--axes", "0,1", "--mode", "area", "--threads", "1"]
PYRAMID = ["pyramid", "group.zarr", "--levels", "1", "--threads", "1"]
STEPS = {"coordinateTransformations": [{"type": "scale", "scale": [1.0, 1.0]}]}


def group(*paths: str, first: str | None = None, name: str = "group.zarr") -> None:
    """An OME-Zarr group whose metadata names these levels, of which the first is there."""
    axes = [{"name": n, "type": "space"} for n in "yx"]
    entry = {"axes": axes, "datasets": [{"path": path, **STEPS} for path in paths]}
    made = zarr.create_group(name, attributes={"ome": {"version": "0.5", "multiscales": [entry]}})
    made.create_array(first or paths[0], data=noise((16, 16), "uint8"), chunks=(4, 4))


def victim(name: str = "victim") -> dict[str, bytes]:
    """A folder of somebody else's: a zarr array with a note."""
    volume(name, (8, 8), "uint8", chunks=(4, 4))
    Path(name, "note").write_text("mine")
    return tree(name)


# ---- folders


def shipped_link(name: str) -> None:
    Path("group.zarr", name).symlink_to("../victim")


def shipped_folder(name: str) -> None:
    """A working folder of a job that says that all is made."""
    part = Path("group.zarr", name)
    part.mkdir()
    (part / "finished").touch()
    (part / "result").symlink_to("../../victim")
    (part / "job").write_text(json.dumps({"command": "pyramid"}))


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("ship", [shipped_link, shipped_folder])
def test_a_working_folder_from_elsewhere_is_left_alone(ship: Callable[[str], None], force: list[str]) -> None:
    held = victim()
    group("0")
    ship(".pyramid.tenter-part")
    before = os.lstat("group.zarr/.pyramid.tenter-part")
    assert main([*PYRAMID, *force]) == 0
    assert tree("victim") == held and np.array_equal(elements("victim"), noise((8, 8), "uint8"))
    assert os.lstat("group.zarr/.pyramid.tenter-part") == before
    assert elements("group.zarr/1").shape == (8, 8)


@pytest.mark.parametrize("ship", [shipped_link, shipped_folder])
def test_even_one_of_the_right_name_leads_nowhere(
    capsys: pytest.CaptureFixture[str], ship: Callable[[str], None]
) -> None:
    held = victim()
    group("0")
    part = job.working_folder(Path("group.zarr/pyramid"), Path("group.zarr"))
    ship(part.name)
    for force in ([], ["--force"]):
        assert "no command makes such a file in a working folder" in refused(capsys, *PYRAMID, *force)
    assert tree("victim") == held
    part.unlink() if part.is_symlink() else shutil.rmtree(part)
    assert main(PYRAMID) == 0 and tree("victim") == held


def test_names_of_working_folders_follow_from_a_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = {}
    for state in ("a", "b"):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / state))
        names[state] = {job.working_folder(Path(name)).name for name in ("x.zarr", "./x.zarr", "y.zarr")}
        assert len(names[state]) == 2 == len({job.working_folder(Path(name)).name for name in ("x.zarr", "y.zarr")})
        key = tmp_path / state / "tenter" / "key"
        assert len(key.read_bytes()) == mark.KEY_BYTES and key.parent.stat().st_mode & 0o077 == 0
    assert not names["a"] & names["b"]
    Path("link").symlink_to(".")
    assert job.working_folder(Path("link/y.zarr")).name in names["b"]


@pytest.mark.parametrize("state", ["/dev/null", "cut"])
def test_without_a_key_nothing_is_kept(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, answers_interrupts: None, state: str
) -> None:
    Path("cut/tenter").mkdir(parents=True)
    Path("cut/tenter/key").write_bytes(b"short")
    monkeypatch.setenv("XDG_STATE_HOME", os.path.abspath(state))
    volume("in.zarr", (16, 16), chunks=(4, 4))
    write, calls = zarrs.ZarrArray.write, []

    def pressed(*args: Any) -> None:
        write(*args)
        calls.append(args)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(zarrs.ZarrArray, "write", pressed)
        assert main(HALF) == 130
    said = capsys.readouterr().err
    assert "interrupted; nothing is kept (" in said and f"{state}/tenter" in said and "continues" not in said
    assert not hidden() and main(HALF) == 0 and not hidden()


# ---- paths from metadata

OUTSIDE = {"up": "../victim", "far": "0/../../victim", "absolute": "/tmp/victim", "link": "1", "empty": "", "dot": "./1"}


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("path", OUTSIDE)
def test_levels_lie_in_their_group(capsys: pytest.CaptureFixture[str], path: str, force: list[str]) -> None:
    held = victim()
    group("0", OUTSIDE[path])
    if path == "link":
        Path("group.zarr/1").symlink_to("../victim")
    said = refused(capsys, *PYRAMID, *force)
    assert ("a link leads out of group.zarr" if path == "link" else "expected a path below its own folder") in said
    assert tree("victim") == held and not hidden()


@pytest.mark.parametrize("path", OUTSIDE)
def test_an_array_outside_of_its_group_is_not_read(capsys: pytest.CaptureFixture[str], path: str) -> None:
    victim()
    group(OUTSIDE[path], first="0")
    if path == "link":
        Path("group.zarr/1").symlink_to("../victim")
    resize = ["resize", "group.zarr", *HALF[2:]]
    for args in (resize, ["pyramid", "group.zarr"], ["pyramid", "group.zarr", "out.zarr"]):
        said = refused(capsys, *args)
        assert ("a link leads out of group.zarr" if path == "link" else "expected a path below its own folder") in said


@pytest.mark.parametrize("paths", [("0", "0"), ("0", "0/c"), ("0", "1", "1"), ("a/b", "a"), ("0", "1/x", "1")])
def test_levels_are_apart(capsys: pytest.CaptureFixture[str], paths: tuple[str, ...]) -> None:
    group(*paths)
    before = tree("group.zarr")
    assert "expected levels apart from each other" in refused(capsys, *PYRAMID, "--force")
    assert tree("group.zarr") == before


@pytest.mark.parametrize("there", ["file", "folder", "group"])
def test_only_arrays_are_replaced(capsys: pytest.CaptureFixture[str], there: str) -> None:
    group("0", "labels")
    if there == "group":
        zarr.create_group("group.zarr/labels")
    elif there == "folder":
        Path("group.zarr/labels").mkdir()
    else:
        Path("group.zarr/labels").write_text("mine")
    assert "group.zarr/labels: exists and is not a zarr array" in refused(capsys, *PYRAMID, "--force")


@pytest.mark.parametrize("paths", [("multiscale/0", "multiscale/1"), ("a/b/s0", "a/b/s1", "a/old"), ("full", "half")])
def test_nested_levels_are_replaced(paths: tuple[str, ...]) -> None:
    group(*paths)
    for path in paths[1:]:
        zarr.create_array(f"group.zarr/{path}", data=noise((3, 3), "uint8"))
    assert main([*PYRAMID, "--force"]) == 0 and not hidden()
    held = zarr.open_group("group.zarr").attrs["ome"]["multiscales"][0]["datasets"]
    names = [level["path"] for level in held]
    assert names[0] == paths[0] and len(names) == 2 and os.path.dirname(names[1]) == os.path.dirname(paths[0])
    assert elements(f"group.zarr/{names[1]}").shape == (8, 8)
    assert all(path in names or not Path("group.zarr", path).exists() for path in paths)
    assert main([*PYRAMID, "--force", "--mode", "linear"]) == 0 and not hidden()


def test_metadata_of_a_group_is_not_written_through_a_link(capsys: pytest.CaptureFixture[str]) -> None:
    group("0")
    shutil.move("group.zarr/zarr.json", "outside.json")
    held = Path("outside.json").read_bytes()
    Path("group.zarr/zarr.json").symlink_to("../outside.json")
    assert "a link leads out of group.zarr" in refused(capsys, *PYRAMID)
    assert Path("outside.json").read_bytes() == held


def test_files_of_others_in_a_group_stay() -> None:
    group("0")
    Path("group.zarr/mine.partial").write_text("mine")
    assert main(PYRAMID) == 0 and Path("group.zarr/mine.partial").read_text() == "mine"


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


@pytest.mark.parametrize("place", CHUNKS)
@pytest.mark.parametrize("stored", [{}, {"zarr_format": 2}, {"shards": (8, 8)}])
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
    slow = "import os, signal, time\nfrom tenter.cli.volumes import zarrs\nread = zarrs.ZarrArray.read\n"
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

BOMB = 64 << 20


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


@pytest.mark.parametrize("n", [1, 5, 255, 256, 300, 65791, 65792, 300_000])
@pytest.mark.parametrize("name", ENCODED)
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
            with inflating.bounded(most), pytest.raises(Exception):  # noqa: B017, PT011
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


# ---- what metadata says

V2 = {"shape": "shape", "chunks": "chunks", "dtype": "dtype"}
V3 = {"shape": "shape", "chunks": "chunk_grid.configuration.chunk_shape", "dtype": "data_type"}
#: What is said, and what the error says of it.
SAYS: list[tuple[str, Any, str]] = [
    ("chunks", [0, 4], "expected chunks with at least one element, got chunks (0, 4)"),
    ("chunks", [-1, 4], ""), ("chunks", [4], ""), ("chunks", [4, 4, 4], ""), ("chunks", "x", ""),
    ("chunks", [1.5, 4], ""), ("chunks", [2**40, 2**40], "--memory-limit"), ("chunks", [2**70, 4], "--memory-limit"),
    ("shape", [-8, 8], ""), ("shape", [8], ""), ("shape", [0, 8], "at least one element"), ("shape", "8", ""),
    ("shape", [8.5, 8], ""), ("shape", [2**62, 2**62], "fewer than 2^63 bytes"), ("shape", [2**70, 8], "2^63 bytes"),
    ("shape", None, ""), ("shape", [1] * 65, ""), ("dtype", "|V0", ""), ("dtype", "|O", ""), ("dtype", "<U4", ""),
    ("dtype", "float7", ""), ("dtype", 5, ""), ("dtype", [["a", "<i4"]], ""), ("dtype", "|S0", ""),
    ("fill_value", "x", ""), ("fill_value", [1], ""), ("fill_value", 300, ""),
]  # fmt: skip


@pytest.mark.parametrize("format_", [2, 3])
@pytest.mark.parametrize(("field", "value", "expected"), SAYS)
def test_what_metadata_may_say(
    capsys: pytest.CaptureFixture[str], format_: int, field: str, value: Any, expected: str
) -> None:
    volume("in.zarr", (8, 8), "uint8", chunks=(4, 4), zarr_format=format_)
    file = Path("in.zarr/.zarray" if format_ == 2 else "in.zarr/zarr.json")
    held = at = json.loads(file.read_text())
    *outer, last = (V2 if format_ == 2 else V3).get(field, field).split(".")
    for key in outer:
        at = at[key]
    at[last] = value
    file.write_text(json.dumps(held))
    said = refused(capsys, *HALF)
    assert ("in.zarr" in said or "of out.zarr" in said) and expected in said and "continues" not in said, said


def test_dims_beyond_numpy_s(capsys: pytest.CaptureFixture[str]) -> None:
    volume("in.zarr", (8, 8), "uint8", chunks=(4, 4), zarr_format=2)
    held = json.loads(Path("in.zarr/.zarray").read_text())
    Path("in.zarr/.zarray").write_text(json.dumps({**held, "shape": [1] * 65, "chunks": [1] * 65}))
    assert "in.zarr" in (said := refused(capsys, *HALF)) and "continues" not in said


@pytest.mark.parametrize("text", ["", "[]", "{", "null", "[" * 100_000, '{"zarr_format": 4}', "9" * 9999, "\0", "\xff"])
@pytest.mark.parametrize("file", [".zarray", "zarr.json"])
def test_metadata_that_is_none(capsys: pytest.CaptureFixture[str], file: str, text: str) -> None:
    volume("in.zarr", (8, 8), "uint8", chunks=(4, 4), zarr_format=2 if file == ".zarray" else 3)
    Path("in.zarr", file).write_bytes(text.encode("latin1"))
    assert refused(capsys, *HALF).startswith("tenter: in.zarr: ")


def test_more_chunks_than_memory_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    zarr.create_array("in.zarr", shape=(1 << 28, 8), chunks=(1, 1), dtype="u1", compressors=None)
    said = refused(capsys, *HALF[:3], "--scale", 1, "--axes", "0,1", "--mode", "nearest", "--memory-limit", "1GiB")
    assert "out.zarr: would have 2147483648 chunks" in said


@pytest.mark.parametrize("where", ["filters", "compressor"])
def test_pickles_are_not_read(capsys: pytest.CaptureFixture[str], where: str) -> None:
    volume("in.zarr", (4, 4), "uint8", chunks=(4, 4), zarr_format=2, compressors=None)
    held = json.loads(Path("in.zarr/.zarray").read_text())
    held[where] = [{"id": "pickle"}] if where == "filters" else {"id": "pickle"}
    Path("in.zarr/.zarray").write_text(json.dumps(held))
    Path("in.zarr/0.0").write_bytes(pickle.dumps(Opened()))
    refused(capsys, *HALF)
    assert not Path("opened").exists()


class Opened:
    def __reduce__(self) -> Any:
        return Path.touch, (Path("opened"),)


def head(shape: str = "(8, 8)", descr: str = "'|u1'", order: str = "False") -> bytes:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()


#: The head of a .npy file, the file's version, and what the error says.
HEADS: dict[str, tuple[bytes, int, str]] = {
    "negative": (head("(-8, 8)"), 1, "shape (-8, 8)|negative dimensions"),
    "two negative": (head("(-8, -8)"), 1, "shape (-8, -8)|negative dimensions"),
    "nothing": (head(descr="'|V0'"), 1, "of |V0|got void"), "no text": (head(descr="'<U0'"), 1, "of <U0|got str"),
    "version 9": (head(), 9, "version 1 or 2, got 9.0|not (9, 0)"),
    "65 dims": (head(f"({'1,' * 63}8,8)"), 1, "currently 64, found 65|32, found 65|must be"),
    "huge": (head(f"({2**62}, {2**62})"), 1, "truncated or damaged"),
    "beyond": (head(f"({2**64}, {2**64})"), 1, "truncated or damaged"),
    "fraction": (head("(8.0, 8)"), 1, "shape is not valid"),
    "objects": (head(descr="'|O'"), 1, "pickled Python objects"),
    "fields": (head(descr="[('a', '|u1')]"), 1, "expected numbers for mode 'area'"),
    "a call": (head(descr="__import__('os').mkdir('opened')"), 1, "truncated or damaged: malformed"),
    "deep": (b"(" * 5000, 1, "truncated or damaged"), "long": (head() + b" " * 60000, 1, "truncated or damaged"),
    "none": (b"", 1, "truncated or damaged"), "not a bool": (head(order="5"), 1, "not a valid bool"),
}  # fmt: skip


@pytest.mark.parametrize("by", [["--axes", "0,1", "--threads", "1"], ["--axes", "0", "1"]])
@pytest.mark.parametrize("name", HEADS)
def test_what_the_head_of_a_npy_file_may_say(capsys: pytest.CaptureFixture[str], name: str, by: list[str]) -> None:
    held, version, expected = HEADS[name]
    length = struct.pack("<H" if version == 1 else "<I", len(held))
    Path("x.npy").write_bytes(b"\x93NUMPY" + bytes([version, 0]) + length + held + bytes(64))
    said = refused(capsys, "resize", "x.npy", "y.npy", "--size", "4", "4", "--mode", "area", *by)
    assert said.startswith("tenter: x.npy: ") and any(part in said for part in expected.split("|")), said
    assert not Path("opened").exists() and "continues" not in said


def test_npy_files_of_version_3_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.npy").write_bytes(b"\x93NUMPY\x03\0" + struct.pack("<I", len(head())) + head() + bytes(64))
    said = refused(capsys, "resize", "x.npy", "y.zarr", "--size", "4", "4", "--axes", "0,1")
    assert "x.npy: is truncated or damaged: expected a .npy file of version 1 or 2, got 3.0" in said
