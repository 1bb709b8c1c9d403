"""Arrays on disk: a chunk that several blocks read is decoded once."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside  # noqa: F401
from sweeps import sampled
from tenter._parts.boxes import extents, reads
from tenter.cli.main import main
from tenter.cli.volumes import zarrs
from tenter.cli.volumes.arrays import resized
from tenter.cli.volumes.blocks import boxes
from tenter.cli.volumes.shared import SharedChunks, along, kept_chunks
from volume_helpers import _as_a_process_of_its_own, elements, noise, volume, zarr  # noqa: F401

#: Arguments of a resize: halves, thirds, the same size, larger, and pixels past the edge that are far away.
CALLS = {
    "area": ((7, 13, 9), {"mode": "area"}),
    "cubic": ((11, 9, 31), {"mode": "cubic", "antialias": True}),
    "larger": ((50, 26, 64), {"mode": "linear"}),
    "periodic": ((30, 13, 10), {"mode": "linear", "edge": "wrap"}),
    "descending": ((10, 26, 20), {"mode": "cubic", "box": ((2.5, 19), (0, 26), (30, 1))}),
}


class Counting:
    """An array in memory whose chunks count how often they are decoded."""

    name, largest = "counting", 0

    def __init__(self, x: Any, chunk: tuple[int, ...]) -> None:
        self.x, self.chunk, self.unit = x, chunk, chunk
        self.shape, self.dtype = x.shape, x.dtype
        self.decoded: Counter[tuple[int, ...]] = Counter()

    def files(self, box: Any) -> set[str]:
        return set(map(str, chunks_of(box, self.chunk)))

    def read(self, box: Any) -> Any:
        self.decoded.update(chunks_of(box, self.chunk))
        return self.x[tuple(slice(lo, hi) for lo, hi in box)].copy()


def chunks_of(box: Any, chunk: tuple[int, ...]) -> Any:
    return itertools.product(*(range(lo // c, -(-hi // c)) for (lo, hi), c in zip(box, chunk)))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("first, block", sampled(itertools.product(range(4), [(5, 6, 7), (16, 3, 64), (2, 50, 9)]), 5))
def test_blocks_read_their_elements_and_share_from_an_axis_on(name: str, first: int, block: tuple[int, ...]) -> None:
    source = Counting(noise((21, 26, 31)), (8, 5, 4))
    size, given = CALLS[name]
    op = resized(source, [0, 1, 2], size, given)[0]  # type: ignore[arg-type]
    block = tuple(map(min, block, op.shape_out))
    shared, most = SharedChunks(source, op, block, first), kept_chunks(along(op, source.chunk, block), first)  # type: ignore[arg-type]
    want: Counter[tuple[int, ...]] = Counter()
    read_by: dict[Any, set[Any]] = {}
    for box in boxes(op.shape_out, block):
        read = reads(op, box)
        got, files = shared.read(shared.claim(box, read))
        assert files == source.files(read)
        assert got.shape == extents(read) and np.array_equal(got, source.x[tuple(slice(lo, hi) for lo, hi in read)])
        assert len(shared._kept) <= most
        here = tuple(lo for lo, _ in box[:first]) if first < 3 else box
        for at in chunks_of(read, source.chunk):
            read_by.setdefault(at, set()).add(here)
    want.update({at: len(places) for at, places in read_by.items()})
    assert source.decoded == want and not shared._kept


@pytest.mark.parametrize(
    "how, threads", sampled(itertools.product([{"shards": (16, 16, 16)}, {}, {"zarr_format": 2}], [3, 1]), 6)
)
@pytest.mark.parametrize("command", sampled([(c,) for c in [
    ["resize", "in.zarr", "out.zarr", "--scale", "0.7", "--axes", "0,1,2", "--mode", "linear", "--chunks", "4,4,4"],
    ["repeat", "in.zarr", "out.zarr", "--repeats", "3", "--dim", "1"],
    ["pyramid", "in.zarr", "out.zarr", "--factor", "3", "--mode", "linear"],
]], 2))  # fmt: skip
def test_a_command_decodes_no_chunk_twice(
    monkeypatch: pytest.MonkeyPatch, command: list[str], how: dict[str, Any], threads: int
) -> None:
    volume("in.zarr", **how)
    read, decoded = zarrs.ZarrArray.read, Counter[Any]()

    def counted(self: Any, box: Any) -> Any:
        decoded.update((self.name, at) for at in chunks_of(box, self.chunk))
        return read(self, box)

    monkeypatch.setattr(zarrs.ZarrArray, "read", counted)
    assert main([*command, "--threads", str(threads)]) == 0
    assert len(decoded) >= 48 and set(decoded.values()) == {1}


@pytest.mark.parametrize("limit", sampled(["202MiB", "1GiB"], 2))
def test_bits_do_not_depend_on_what_is_shared(limit: str) -> None:
    x = volume("in.zarr", (60, 200, 200), "float32", chunks=(20, 50, 50))
    args = ["resize", "in.zarr", "out.zarr", "--scale", "0.6", "--axes", "0,1,2", "--mode", "cubic"]
    assert main([*args, "--memory-limit", limit, "--threads", "3"]) == 0
    want = tenter.resize(x, (36, 120, 120), axes=(0, 1, 2), mode="cubic", antialias=True)
    assert elements("out.zarr").tobytes() == want.tobytes()


def test_threads_that_wait_for_a_chunk_end_with_the_one_that_cannot_read_it(capsys: pytest.CaptureFixture[str]) -> None:
    volume("in.zarr")
    Path("in.zarr/c/1/1/1").write_bytes(b"\xff" * 9)
    args = ["--scale", "0.7", "--axes", "0,1,2", "--mode", "linear", "--chunks", "4,4,4", "--threads", "4"]
    assert main(["resize", "in.zarr", "out.zarr", *args]) == 2
    assert capsys.readouterr().err.startswith("tenter: in.zarr/c/1/1/1: cannot be read")
