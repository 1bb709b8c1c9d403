"""Arrays on disk: a job that is killed is finished by the same command, and a result is whole or not there."""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside, in_child, killed_at, refused  # noqa: F401
from sweeps import sampled
from tenter.cli.main import main
from tenter.cli.volumes import job, zarrs
from volume_helpers import _as_a_process_of_its_own, elements, hidden, started, tree, volume, zarr  # noqa: F401

#: Python's audit events of operations on files; they are raised before the operation.
STEPS = {"open", "os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "shutil.rmtree"}
SHRINK = ["--scale", "0.5", "--axes", "0,1", "--mode", "area"]


# ---- killed


def made(args: list[str], name: str) -> Any:
    """What a command makes that is not disturbed."""
    assert main(args) == 0
    found = tree(name) if Path(name).is_dir() else Path(name).read_bytes()
    shutil.rmtree(name) if Path(name).is_dir() else Path(name).unlink()
    return found


KILLED = [("resize", "out.zarr", []), ("resize", "out.npy", []), ("pyramid", "out.zarr", []),
          ("resize", "out.zarr", ["--force"])]  # fmt: skip


@pytest.mark.parametrize("first, killed", sampled(itertools.product(range(1, 24), KILLED), 92))
def test_killed_at_any_step(first: int, killed: tuple[str, str, list[str]]) -> None:
    name, output, force = killed
    volume("in.zarr", (12, 12), chunks=(4, 4))
    args = [name, "in.zarr", output, *(SHRINK if name == "resize" else ["--factor", "2"]), "--threads", "1"]
    whole, old = made(args, output), None
    codes = []
    for step in range(first, 1000, 23):
        if force:
            volume(output, (3,), chunks=(2,), overwrite=True)
            old = tree(output)
        codes.append(in_child([*args, *force], killed_at(STEPS, step)))
        there = tree(output) if Path(output).is_dir() else Path(output).read_bytes() if Path(output).exists() else None
        # A folder takes the place of another in two steps, between which there is none.
        assert there in (whole, old, None), step
        if there != whole or hidden():
            # Of a process that was ended while it removed its working folder, the result is there already.
            assert main([*args, *force]) == 0 or there == whole
        assert (tree(output) if Path(output).is_dir() else Path(output).read_bytes()) == whole and not hidden(), step
        shutil.rmtree(output) if Path(output).is_dir() else Path(output).unlink()
        if codes[-1] == 0:
            break
    assert len(codes) > 1 and codes == [-signal.SIGKILL] * (len(codes) - 1) + [0]


@pytest.mark.slow
@pytest.mark.parametrize("first", sampled(range(1, 24), 23))
def test_levels_within_a_group_when_killed(first: int) -> None:
    volume("full.zarr", (12, 12), chunks=(4, 4))
    assert main(["pyramid", "full.zarr", "group.zarr"]) == 0
    args = ["pyramid", "in.zarr", "--force", "--mode", "linear", "--threads", "1"]
    shutil.copytree("group.zarr", "in.zarr")
    assert main(args) == 0
    whole = tree("in.zarr")
    assert whole != tree("group.zarr")
    for step in range(first, 1000, 23):
        shutil.rmtree("in.zarr")
        shutil.copytree("group.zarr", "in.zarr")
        code = in_child(args, killed_at(STEPS, step))
        assert np.array_equal(elements("in.zarr/0"), elements("full.zarr"))
        if code:
            assert main(args) == 0
        assert tree("in.zarr") == whole, step
        if code == 0:
            break
    assert step > 40


@pytest.mark.slow
def test_what_is_done_is_not_done_again(capsys: pytest.CaptureFixture[str]) -> None:
    x = volume("in.zarr", (64, 64), chunks=(4, 4))
    args = ["resize", "in.zarr", "out.zarr", *SHRINK, "--threads", "2"]
    slow = "import time\nfrom tenter.cli.volumes import zarrs\nwrite = zarrs.ZarrArray.write\n"
    slow += "zarrs.ZarrArray.write = lambda *a: (time.sleep(0.05), write(*a))[1]"
    process = started(args, slow)
    journal = job.working_folder(Path("out.zarr")) / "journal"
    while not journal.exists() or journal.read_text().count("\n0 ") < 3:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    assert process.communicate(timeout=60)[1] == ""
    assert not Path("out.zarr").exists()
    assert main([*args, "--memory-limit", "1GiB"]) == 0
    said = capsys.readouterr().out
    there = int(said.split("; ")[1].split()[0])
    assert 3 <= there < 8 and "of 8 blocks were there" in said
    assert np.array_equal(elements("out.zarr"), tenter.resize(x, (32, 32), mode="area"))


def test_interrupted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, answers_interrupts: None
) -> None:
    volume("in.zarr", (16, 16), chunks=(4, 4))
    write, calls = zarrs.ZarrArray.write, []

    def pressed(*args: Any) -> None:
        calls.append(args)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        write(*args)

    monkeypatch.setattr(zarrs.ZarrArray, "write", pressed)
    args = ["resize", "in.zarr", "out.zarr", *SHRINK, "--threads", "1"]
    assert main(args) == 130
    assert "the same command continues" in capsys.readouterr().err and not Path("out.zarr").exists()
    assert main(args) == 0
    assert "; 2 of 4 blocks were there" in capsys.readouterr().out


# ---- other jobs


def left_unfinished() -> list[str]:
    volume("in.zarr", (16, 16), chunks=(4, 4), compressors=None)
    args = ["resize", "in.zarr", "out.zarr", *SHRINK, "--threads", "1"]
    chunk = Path("in.zarr/c/3/3")
    held = chunk.read_bytes()
    chunk.write_bytes(held[:7])
    assert main(args) == 2
    chunk.write_bytes(held)
    return args


def test_a_job_of_other_arguments_is_not_continued(capsys: pytest.CaptureFixture[str]) -> None:
    args = left_unfinished()
    capsys.readouterr()
    other = [arg.replace("area", "nearest") for arg in args]
    assert "a job of other arguments or of another input was not finished" in refused(capsys, *other)
    assert main([*other, "--force"]) == 0
    assert np.array_equal(elements("out.zarr"), elements("in.zarr")[::2, ::2]) and not hidden()


def test_two_processes(capsys: pytest.CaptureFixture[str]) -> None:
    args = left_unfinished()
    capsys.readouterr()
    lock = os.open(job.working_folder(Path("out.zarr")), os.O_RDONLY)
    job.fcntl.flock(lock, job.fcntl.LOCK_EX)
    assert "out.zarr: another process is making it" in refused(capsys, *args)
    os.close(lock)
    assert main(args) == 0


def test_what_the_journal_trusts() -> None:
    Path("part").mkdir()
    made = job.Job(Path("part"), {}, 0)

    def done(text: str) -> list[int]:
        Path("part/journal").write_text(text)
        return sorted(k for ((lo, hi),), source in made.done(0) if source == "a" for k in range(lo, hi))

    now = job._boot()
    assert done(f"\nboot {now}\n0 0:2 of a .\n0 4:5 of a .\n") == [0, 1, 4]
    assert done(f"\nboot {now}\n0 0:2 of a .\n0 4:5 of a\n") == [0, 1]
    assert done(f"\nboot {now}\n0 0:2 of a .\n0 4:") == [0, 1]
    assert done(f"\nboot {now}\n0 0:2 of a .\n0 4:\nboot {now}\n0 7:9 of a .\n") == [0, 1, 7, 8]
    # Of an earlier boot, what was on the disk for certain.
    assert done(f"\nboot x\n0 0:2 of a .\nkept x\n0 4:5 of a .\n\nboot {now}\n0 8:9 of a .\n") == [0, 1, 8]
    assert done("\nboot x\n0 0:2 of a .\n") == []


# ---- disks and chunks that fail


@pytest.mark.parametrize("name", ["out.zarr", "out.npy"])
def test_a_full_disk(capfd: pytest.CaptureFixture[str], name: str) -> None:
    x = volume("in.zarr", (128, 128), chunks=(64, 64), compressors=None)
    args = ["resize", "in.zarr", name, "--scale", "2", "--axes", "0,1", "--mode", "nearest"]
    code = in_child(args, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)))
    said = capfd.readouterr().err
    assert code == 2 and said.count("\n") == 1 and "File too large" in said, said
    assert "out.zarr/c/" in said if name == "out.zarr" else said.startswith("tenter: out.npy: ")
    assert not Path(name).exists() and not [path for path in hidden() if path.endswith(".partial")]
    assert main(args) == 0
    got = elements(name) if name == "out.zarr" else np.load(name)
    assert np.array_equal(got, np.repeat(np.repeat(x, 2, 0), 2, 1)) and not hidden()


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    path.unlink()
    if how == "loop":
        path.symlink_to(path.name)
    else:
        path.write_bytes({"short": data[:-5], "garbage": b"\xff" * len(data), "empty": b""}[how])


CHUNKS = [
    {}, {"compressors": zarr.codecs.BloscCodec()}, {"compressors": zarr.codecs.GzipCodec()},
    {"shards": (8, 8)}, {"zarr_format": 2},
]  # fmt: skip


@pytest.mark.parametrize("how, stored", sampled(itertools.product(["short", "garbage", "empty", "loop"], CHUNKS), 3))
def test_a_chunk_that_cannot_be_read_is_named(capsys: pytest.CaptureFixture[str], stored: Any, how: str) -> None:
    x = volume("in.zarr", (16, 16), "float32", chunks=(4, 4), **stored)
    chunk = Path("in.zarr") / ("1.1" if "zarr_format" in stored else "c/1/1")
    shutil.copytree("in.zarr", "sound.zarr")
    damage(chunk, how)
    args = ["resize", "in.zarr", "out.zarr", *SHRINK]
    assert main(args) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"tenter: {chunk}: cannot be read") and said.count("\n") == 1, said
    assert not Path("out.zarr").exists()
    chunk.unlink()
    shutil.copy(Path("sound.zarr") / chunk.relative_to("in.zarr"), chunk)
    assert main(args) == 0
    assert np.array_equal(elements("out.zarr"), tenter.resize(x, (8, 8), mode="area")) and not hidden()
