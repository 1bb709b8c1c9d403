"""Arrays on disk: an input that changes while a job on it is interrupted, or runs, never gives a mixture of two inputs."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import _inside, in_child  # noqa: F401
from sweeps import sampled
from tenter.cli.main import main
from tenter.cli.volumes import npy, zarrs
from volume_helpers import _as_a_process_of_its_own, hidden, noise, tree, zarr  # noqa: F401

tifffile = pytest.importorskip("tifffile")
RESIZE = ["--scale", "0.7", "--axes", "0,1,2", "--mode", "linear", "--threads", "1"]
SHAPE = (24, 24, 24)
WORKING = shutil.ignore_patterns(".*.tenter-part")


def other(seed: int = 1) -> Any:
    return np.random.default_rng(seed).integers(0, 1 << 16, SHAPE, np.uint16)


class Input:
    """An array on disk. how: the options of a zarr array; None for a single file. group: whether it is a level of one."""

    def __init__(self, name: str, how: dict[str, Any] | None = None, group: bool = False) -> None:
        self.name, self.how, self.group = name, how, group
        self.array = f"{name}/0" if group else name

    def make(self, x: Any, name: str = "") -> None:
        name = name or self.array
        if self.how is not None:
            zarr.create_array(name, data=x, overwrite=True, **{"chunks": (8, 8, 8), "compressors": None, **self.how})
        elif name.endswith(".npy"):
            np.save(name, x)
        else:
            compression = "zlib" if name.startswith("pages") else None
            tifffile.imwrite(name, x, compression=compression, metadata={"axes": "ZYX"}, imagej=not compression)

    def chunk(self, last: bool) -> Path:
        """The file of the first or the last chunk."""
        files = sorted(path for path in Path(self.array).rglob("*") if path.name[-1].isdigit() and path.is_file())
        return files[-1 if last else 0]


def a_chunk_that_was_read(of: Input) -> None:
    zarr.open_array(of.array)[:8, :8, :8] = 7


def a_chunk_that_was_not_read(of: Input) -> None:
    zarr.open_array(of.array)[-8:, -8:, -8:] = 7


def all_chunks_in_place(of: Input) -> None:
    zarr.open_array(of.array)[...] = other()


def made_again(of: Input) -> None:
    of.make(other())


def removed_and_made_again(of: Input) -> None:
    shutil.rmtree(of.array)
    of.make(other())


def a_chunk_removed(of: Input) -> None:
    of.chunk(last=False).unlink()


def chunks_swapped(of: Input) -> None:
    first, last = of.chunk(last=False), of.chunk(last=True)
    os.rename(first, "held")
    os.rename(last, first)
    os.rename("held", last)


def copied_in_another_order(of: Input) -> None:
    shutil.move(of.array, "held")
    for path in sorted(Path("held").rglob("*"), reverse=True):
        if path.is_file():
            (to := Path(of.array, path.relative_to("held"))).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to)


def replaced_by_an_older_one(of: Input) -> None:
    shutil.rmtree(of.array)
    os.rename("older", of.array)


def rewritten_in_place(of: Input) -> None:
    held = Path(of.array).read_bytes()
    Path("new").mkdir()
    of.make(other(), f"new/{of.array}")
    new = Path("new", of.array).read_bytes()
    Path(of.array).write_bytes(new)
    assert len(new) == len(held) or of.array.startswith("pages")


#: What can happen to the two kinds of inputs.
CHUNKED: list[Callable[[Input], None]] = [
    a_chunk_that_was_read, a_chunk_that_was_not_read, all_chunks_in_place, made_again, removed_and_made_again,
    a_chunk_removed, chunks_swapped, copied_in_another_order, replaced_by_an_older_one,
]  # fmt: skip
SINGLE: list[Callable[[Input], None]] = [rewritten_in_place, made_again]
INPUTS = {
    "v3": Input("in.zarr", {}), "v2": Input("in.zarr", {"zarr_format": 2}), "group": Input("in.zarr", {}, True),
    "shards": Input("in.zarr", {"shards": (16, 16, 16)}),
    "compressed": Input("in.zarr", {"compressors": zarr.codecs.ZstdCodec()}),
    ".npy": Input("in.npy"), "TIFF": Input("in.tif"), "pages": Input("pages.tif"),
}  # fmt: skip
COMMANDS = {
    "resize": ["resize", "IN", "out.zarr", *RESIZE, "--chunks", "6,6,6"],
    "pyramid": ["pyramid", "IN", "out.zarr", "--threads", "1", "--chunks", "8,8,8"],
    "to .npy": ["resize", "IN", "out.npy", *RESIZE], "within": ["pyramid", "IN", "--threads", "1", "--levels", "2"],
}  # fmt: skip
CASES = [
    (name, command, change, timed)
    for name, command in itertools.product(INPUTS, COMMANDS)
    for change in (CHUNKED if INPUTS[name].how is not None else SINGLE)
    for timed in (True, False)
    if not ((command == "within" and name != "group") or (command == "to .npy" and name in ("TIFF", "pages")))
]


def times(folder: str) -> dict[Path, int]:
    files = [Path(folder), *Path(folder).rglob("*")]
    return {path: path.stat().st_mtime_ns for path in files if path.is_file()}


def killed_at_block(number: int) -> Callable[[], None]:
    """A function that makes the process kill itself before it writes a block, from 0 on."""

    def prepare() -> None:
        left = number
        for kind in (zarrs.ZarrArray, npy.NpyFile):

            def write(self: Any, *args: Any, before: Any = kind.write) -> None:
                nonlocal left
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
                before(self, *args)

            kind.write = write  # type: ignore[method-assign]

    return prepare


def result(of: Input, args: list[str]) -> Any:
    """What a command has made."""
    found = args[2] if args[2].startswith("out") else of.name
    return tree(found) if Path(found).is_dir() else Path(found).read_bytes()


def started_anew(of: Input, args: list[str]) -> Any:
    """What the command makes in a folder where no job was interrupted."""
    where = Path("anew")
    where.mkdir()
    shutil.copytree(of.name, where / of.name, ignore=WORKING) if Path(of.name).is_dir() else shutil.copy(of.name, where)
    os.chdir(where)
    assert main(args) == 0
    made = result(of, args)
    os.chdir("..")
    shutil.rmtree(where)
    return made


def laid_down(of: Input) -> None:
    if of.group:
        axes = [{"name": name, "type": "space"} for name in "zyx"]
        level = {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1.0, 1.0, 1.0]}]}
        said = {"ome": {"version": "0.5", "multiscales": [{"axes": axes, "datasets": [level]}]}}
        zarr.create_group(of.name, attributes=said)
    of.make(noise(SHAPE))


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that small arrays have several."""
    monkeypatch.setattr("tenter.cli.volumes.blocks._larger", lambda *_: None)
    monkeypatch.setattr("tenter.cli.volumes.npy.UNIT_BYTES", 1024)


def check_continued(
    capsys: pytest.CaptureFixture[str],
    of: Input,
    words: list[str],
    change: Callable[[Input], None],
    at: int,
    timed: bool,
) -> None:
    """Kill a job before a block, change its input, and continue. timed: whether files get their old times back."""
    args = [of.name if word == "IN" else word for word in words]
    if change is replaced_by_an_older_one:
        of.make(other(), "older")
    laid_down(of)
    before = times(of.name)
    code = in_child(args, killed_at_block(at))
    assert code == -signal.SIGKILL and hidden()
    change(of)
    for path, mtime in before.items():
        if timed and path.exists():
            os.utime(path, ns=(mtime, mtime))
    want = started_anew(of, args)
    capsys.readouterr()
    code = main(args)
    said = capsys.readouterr()
    assert code == 0 and result(of, args) == want and not hidden(of.name), said.err


@pytest.mark.parametrize(
    ("number", "name", "command", "change", "timed"), sampled([(k, *case) for k, case in enumerate(CASES)], 53)
)
def test_a_killed_job_is_continued_with_the_input_as_it_is_now(
    capsys: pytest.CaptureFixture[str], number: int, name: str, command: str, change: Any, timed: bool
) -> None:
    at = int(np.random.default_rng(number).integers(1, 8))
    check_continued(capsys, INPUTS[name], COMMANDS[command], change, at, timed)


def test_what_was_made_of_chunks_that_did_not_change_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    of = INPUTS["v3"]
    args = [of.name if word == "IN" else word for word in COMMANDS["resize"]]
    laid_down(of)
    assert in_child(args, killed_at_block(6)) == -signal.SIGKILL
    a_chunk_that_was_not_read(of)
    assert main(args) == 0 and "; 6 of 27 blocks were there" in capsys.readouterr().out


@pytest.mark.parametrize("name", sampled(["v3", "shards", ".npy", "pages"], 2))
def test_an_input_that_changes_while_it_is_read_is_an_error_and_then_read_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    of = INPUTS[name]
    args = [of.name if word == "IN" else word for word in COMMANDS["resize"]]
    laid_down(of)
    write, count = zarrs.ZarrArray.write, itertools.count()

    def changing(*given: Any) -> None:
        if next(count) == 5:
            (a_chunk_that_was_read if of.how is not None else rewritten_in_place)(of)
        write(*given)

    monkeypatch.setattr(zarrs.ZarrArray, "write", changing)
    assert main(args) == 2
    said = capsys.readouterr().err
    # What is left of a compressed page cannot be decoded.
    assert said.startswith(f"tenter: {of.name}: changed while it was read") or name == "pages"
    assert said.count("\n") == 1
    assert not Path("out.zarr").exists()
    want = started_anew(of, args)
    assert main(args) == 0 and result(of, args) == want and not hidden()


def test_a_result_of_an_input_that_changed_after_it_was_made_is_not_put_in_place(
    capsys: pytest.CaptureFixture[str],
) -> None:
    of = INPUTS["v3"]
    args = [of.name if word == "IN" else word for word in COMMANDS["resize"]]
    laid_down(of)

    def prepare() -> None:
        from tenter.cli.volumes import arrays

        arrays.put_in_place = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment]

    assert in_child(args, prepare) == -signal.SIGKILL
    a_chunk_that_was_read(of)
    want = started_anew(of, args)
    capsys.readouterr()
    assert main(args) == 2 and "its input changed after it was made" in capsys.readouterr().err
    assert main([*args, "--force"]) == 0 and result(of, args) == want and not hidden()


def test_attributes_are_of_the_input_as_it_is_now(capsys: pytest.CaptureFixture[str]) -> None:
    for format_ in (2, 3):
        of = Input(f"in{format_}.zarr", {"zarr_format": format_})
        args = ["resize", of.name, f"out{format_}.zarr", *RESIZE]
        laid_down(of)
        assert in_child(args, killed_at_block(3)) == -signal.SIGKILL
        zarr.open_array(of.name).attrs["site"] = "B"
        assert main(args) == 2 and "of another input" in capsys.readouterr().err
        assert main([*args, "--force"]) == 0 and zarr.open_array(args[2]).attrs["site"] == "B"
