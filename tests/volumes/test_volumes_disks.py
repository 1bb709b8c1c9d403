"""Arrays on disk: a disk that fails ends a command with one line, which names the file, and with nothing still running."""

from __future__ import annotations

import asyncio
import errno
import gc
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import _inside  # noqa: F401
from sweeps import in_one_test, sampled
from tenter.cli.main import main
from tenter.cli.volumes import npy
from volume_helpers import _as_a_process_of_its_own, elements, hidden, volume, zarr  # noqa: F401

FAILURES = [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EDQUOT, errno.EFBIG, errno.EROFS]
HOW: list[dict[str, Any]] = [{}, {"shards": (8, 8)}, {"zarr_format": 2}]
SHRINK = ["--scale", "0.5", "--axes", "0,1", "--mode", "area", "--threads", "2"]
COMMANDS = [["resize", "in.zarr", "out.zarr", *SHRINK], ["pyramid", "in.zarr", "out.zarr", "--factor", "2"]]


def still_running() -> list[Any]:
    """What a loop of zarr has not ended."""
    return [task for task in gc.get_objects() if issubclass(type(task), asyncio.Task) and not task.done()]


def failing(monkeypatch: pytest.MonkeyPatch, name: str, number: int, at: int) -> None:
    """Have a method of zarr's store fail from some call on."""
    call, count = getattr(zarr.storage.LocalStore, name), itertools.count()

    async def failed(*args: Any, **more: Any) -> Any:
        if (k := next(count)) >= at:
            await asyncio.sleep(0.02 * (k > at))  # the others are still running then
            raise OSError(number, os.strerror(number))
        return await call(*args, **more)

    monkeypatch.setattr(zarr.storage.LocalStore, name, failed)


@pytest.mark.parametrize(
    ("number", "how", "args", "at"), sampled(itertools.product(FAILURES, HOW, COMMANDS, [0, 1, 2, 4]), 29)
)
def test_a_chunk_that_cannot_be_written_is_one_line(
    capsys: pytest.CaptureFixture[str], number: int, how: Any, args: list[str], at: int
) -> None:
    x = volume("in.zarr", (32, 32), chunks=(4, 4), **how)
    with pytest.MonkeyPatch.context() as patch:
        failing(patch, "set", number, at)
        assert main(args) == 2
        said = capsys.readouterr().err
        assert re.match(rf"tenter: out\.zarr[\w./]*: {re.escape(os.strerror(number))}($|;)", said, re.M), said
        assert said.count("\n") == 1 and not still_running()
    assert not Path("out.zarr").exists() and not [path for path in hidden() if path.endswith(".partial")]
    assert main(args) == 0 and not hidden()
    made = elements("out.zarr" if args[0] == "resize" else "out.zarr/0")
    assert args[0] == "resize" or np.array_equal(made, x)


@pytest.mark.parametrize("number", sampled(FAILURES, 6))
def test_a_chunk_that_cannot_be_read_leaves_nothing_running(capsys: pytest.CaptureFixture[str], number: int) -> None:
    volume("in.zarr", (32, 32), chunks=(4, 4))
    with pytest.MonkeyPatch.context() as patch:
        failing(patch, "get", number, 20)
        assert main(COMMANDS[0]) == 2
        said = capsys.readouterr().err
        assert said.startswith("tenter: in.zarr/c/") and os.strerror(number) in said and said.count("\n") == 1, said
        assert not still_running()


def test_metadata_that_cannot_be_read_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    volume("in.zarr", (8, 8), chunks=(4, 4))
    with pytest.MonkeyPatch.context() as patch:
        failing(patch, "get", errno.EIO, 0)
        assert main(COMMANDS[0]) == 2
    assert re.fullmatch(r"tenter: in\.zarr/[.\w]+: Input/output error\n", capsys.readouterr().err)
    assert not still_running()


@in_one_test("name, call", [("in.npy", "preadv"), ("out.npy", "pwrite")])
def test_an_array_in_one_file_names_the_file_that_fails(
    name: str, call: str, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save("in.npy", np.zeros((64, 64), np.uint8))

    def failed(*_: Any) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(npy.os, call, failed)
        assert main(["resize", "in.npy", "out.npy", *SHRINK]) == 2
    assert capsys.readouterr().err == f"tenter: {name}: Input/output error\n"


@pytest.fixture
def small_disk() -> Iterator[Any]:
    """Makes a file system of so many KiB; needs root."""
    folder = Path("disk")
    folder.mkdir()

    def made(size: int) -> Path:
        run = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", folder]
        if sys.platform != "linux" or os.geteuid() or subprocess.run(run, capture_output=True, check=False).returncode:
            pytest.skip("cannot make a file system")
        return folder

    yield made
    if folder.is_mount():
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("size", [4, 12, 16, 40, 64, 100, 200, 500, 1000])
@pytest.mark.parametrize("command", ["resize", "pyramid"])
def test_a_disk_that_is_full_is_one_line_until_the_process_has_ended(small_disk: Any, size: int, command: str) -> None:
    volume("in.zarr", (64, 64, 64), chunks=(8, 8, 8), compressors=None)
    out = str(small_disk(size) / "v.zarr")
    more = ["--scale", "1.5", "--axes", "0,1,2", "--mode", "linear"] if command == "resize" else ["--factor", "2"]
    run = [sys.executable, "-m", "tenter.cli.main", command, "in.zarr", out, *more, "--threads", "4"]
    for _ in range(2):
        done = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
        said = done.stderr
        assert done.returncode == 2 and said.count("\n") == 1, said
        assert re.match(r"tenter: disk/v\.zarr[\w/.]*: No space left on device($|;)", said, re.M), said
        assert not Path(out).exists() and not [path for path in hidden("disk") if path.endswith(".partial")]
