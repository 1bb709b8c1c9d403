"""What the metadata of arrays on disk may say: an error names the file, and nothing is left."""

from __future__ import annotations

import json
import pickle
import struct
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import _inside, refused  # noqa: F401
from tenter._arrays.oldest_versions import older
from volume_helpers import HALF, _as_a_process_of_its_own, volume, zarr  # noqa: F401

V2 = {"shape": "shape", "chunks": "chunks", "dtype": "dtype"}
V3 = {"shape": "shape", "chunks": "chunk_grid.configuration.chunk_shape", "dtype": "data_type"}
#: What is said, and what the error says of it. zarr 3.4 takes a chunk length of 0 for 1, which no chunk has.
SAYS: list[tuple[str, Any, Any]] = [
    ("chunks", [0, 4], ("expected chunks with at least one element, got chunks (0, 4)", "cannot be read")),
    ("chunks", [-1, 4], ""), ("chunks", [4], ""), ("chunks", [4, 4, 4], ""), ("chunks", "x", ""),
    ("chunks", [1.5, 4], ""), ("chunks", [2**40, 2**40], "--memory-limit"), ("chunks", [2**70, 4], "--memory-limit"),
    ("shape", [-8, 8], ""), ("shape", [8], ""), ("shape", [0, 8], "at least one element"), ("shape", "8", ""),
    ("shape", [8.5, 8], ""), ("shape", [2**62, 2**62], "fewer than 2^63 bytes"), ("shape", [2**70, 8], "2^63 bytes"),
    ("shape", None, ""), ("shape", [1] * 65, ""), ("dtype", "|V0", ""), ("dtype", "|O", ""), ("dtype", "<U4", ""),
    ("dtype", "float7", ""), ("dtype", 5, ""), ("dtype", [["a", "<i4"]], ""), ("dtype", "|S0", ""),
    ("fill_value", "x", ""), ("fill_value", [1], ""), ("fill_value", 300, ""),
]  # fmt: skip


@pytest.mark.parametrize("format_", [2, 3])
@pytest.mark.parametrize(
    ("field", "value", "expected"), [(f, v, e if isinstance(e, tuple) else (e,)) for f, v, e in SAYS]
)
def test_what_metadata_may_say(
    capsys: pytest.CaptureFixture[str], format_: int, field: str, value: Any, expected: tuple[str, ...]
) -> None:
    volume("in.zarr", (8, 8), "uint8", chunks=(4, 4), zarr_format=format_)
    file = Path("in.zarr/.zarray" if format_ == 2 else "in.zarr/zarr.json")
    held = at = json.loads(file.read_text())
    *outer, last = (V2 if format_ == 2 else V3).get(field, field).split(".")
    for key in outer:
        at = at[key]
    at[last] = value
    file.write_text(json.dumps(held))
    if value == 300 and format_ == 2 and older(zarr.__version__, (3, 1)):
        pytest.skip("zarr 3.0 takes 300 for 44")
    said = refused(capsys, *HALF)
    assert (
        ("in.zarr" in said or "of out.zarr" in said) and any(e in said for e in expected) and "continues" not in said
    ), said


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
