"""The command line: an output is complete or absent, at whatever moment the process is killed or the disk or folder fails."""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import Image, _inside, in_child, killed_at, noise, refused  # noqa: F401
from sweeps import sampled
from tenter.cli import output
from tenter.cli.main import main

#: Python's audit events of operations on files; they are raised before the operation.
STEPS = {"open", "os.link", "os.rename", "os.remove", "os.chown", "os.chmod", "fcntl.flock"}


def left_over() -> list[Path]:
    return list(Path().rglob(".tenter-*"))


def without(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """Simulate a file system without hard links, or without hard links and renameat2."""

    def no(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    if missing:
        monkeypatch.setattr(os, "link", no)
    if missing == "links and renameat2":
        from tenter.cli import place

        monkeypatch.setattr(place, "_rename_new", lambda *_: False)


MISSING = ["", "links", "links and renameat2"]
missing = pytest.mark.parametrize("missing", MISSING)

# ---- killed


@pytest.mark.parametrize("missing, force", sampled(itertools.product(MISSING, [["--force"], []]), 6))
def test_killed_at_any_step(monkeypatch: pytest.MonkeyPatch, missing: str, force: list[str]) -> None:
    assert main(["resize", "in.png", "whole.png", "--scale", "2"]) == 0  # and every module is imported
    whole = Path("whole.png").read_bytes()
    args = ["resize", "in.png", "out.png", "--scale", "2"]
    without(monkeypatch, missing)
    codes = []
    for step in range(1, 40):
        Path("out.png").write_text("old") if force else Path("out.png").unlink(missing_ok=True)
        codes.append(in_child([*args, *force], killed_at(STEPS, step)))
        there = Path("out.png").read_bytes() if Path("out.png").exists() else None
        assert there in (whole, b"old" if force else None), step
        assert main([*args, *(force or ["--skip-existing"])]) == 0
        assert Path("out.png").read_bytes() == whole and not left_over(), step
        if codes[-1] == 0:
            break
    assert len(codes) > 5 and codes == [-signal.SIGKILL] * (len(codes) - 1) + [0]


def test_leftovers_of_a_folder_go_and_what_is_being_written_stays() -> None:
    Path("photos").mkdir()
    noise().save("photos/a.png")
    Path("out").mkdir()
    Path("out/.tenter-123-0a.tmp").write_text("of a killed process")
    Path("out/.tenter-dir.tmp").mkdir()
    Path("out/.tenter-link.tmp").symlink_to("../in.png")

    def write(file: Any) -> None:
        assert main(["resize", "photos", "out/", "--scale", "2"]) == 0
        assert len([path for path in left_over() if path.is_file() and not path.is_symlink()]) == 1
        file.write(b"whole")

    output.write_beside(Path("out/b.png").resolve(), False, write)
    assert Path("out/b.png").read_bytes() == b"whole"
    assert sorted(os.listdir("out")) == [".tenter-dir.tmp", ".tenter-link.tmp", "a.png", "b.png"]
    assert Path("in.png").exists()


def test_a_file_taken_for_a_leftover_before_it_is_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    lock, calls = output.fcntl.flock, []

    def late(file: Any, how: int) -> None:
        calls.append(how)
        if len(calls) == 1:
            output.remove_leftovers(Path())
            assert not left_over()
        lock(file, how)

    monkeypatch.setattr(output.fcntl, "flock", late)
    output.write_beside(Path("out.npy").resolve(), False, lambda file: file.write(b"whole") and None)
    assert Path("out.npy").read_bytes() == b"whole" and not left_over()


@pytest.mark.slow
def test_workers_whose_starter_is_killed_end_with_whole_files() -> None:
    Path("many").mkdir()
    Image.effect_noise((300, 300), 90).convert("RGB").save("many/0.png")
    for k in range(1, 60):
        os.link("many/0.png", f"many/{k}.png")
    args = ["resize", "many", "out/", "--scale", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tenter.cli.main", *args, "--jobs", "2"], stderr=subprocess.PIPE, start_new_session=True
    )
    while len(list(Path().glob("out/*.png"))) < 2:
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    assert process.communicate(timeout=60)[1] == b""
    with pytest.raises(ProcessLookupError):
        for _ in range(500):
            os.killpg(process.pid, 0)
            time.sleep(0.02)
    assert 2 <= len(os.listdir("out")) < 60 and not left_over()
    for name in os.listdir("out"):
        Image.open(f"out/{name}").load()


# ---- existing files


@missing
def test_a_file_that_appears_meanwhile_is_kept(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    without(monkeypatch, missing)
    target = output.check_output("out.npy", None, force=False)

    def write(file: Any) -> None:
        file.write(b"ours")
        target.write_bytes(b"theirs")

    with pytest.raises(output.Refusal, match="appeared"):
        output.write_beside(target, False, write)
    assert target.read_bytes() == b"theirs"
    assert sorted(os.listdir()) == ["in.npy", "in.png", "out.npy"]


@missing
def test_a_folder_without_hard_links(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    without(monkeypatch, missing)
    assert main(["resize", "in.png", "out.png", "--scale", "2"]) == 0
    assert Image.open("out.png").size == (20, 24)
    assert sorted(os.listdir()) == ["in.npy", "in.png", "out.png"]


def test_a_link_to_nothing_is_followed_only_by_force(capsys: pytest.CaptureFixture[str]) -> None:
    os.symlink("elsewhere.png", "out.png")
    assert "is a link" in refused(capsys, "resize", "in.png", "out.png", "--scale", 2)
    assert "is a link" in refused(capsys, "resize", "in.png", "out.png", "--scale", 2, "--skip-existing")
    assert main(["resize", "in.png", "out.png", "--scale", "2", "--force"]) == 0
    assert Path("out.png").is_symlink() and Image.open("elsewhere.png").size == (20, 24)


def permissions(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666])
def test_force_keeps_permissions(mode: int) -> None:
    Path("out.npy").touch()
    os.chmod("out.npy", mode)
    assert main(["resize", "in.npy", "out.npy", "--scale", "2", "--force"]) == 0
    assert permissions("out.npy") == mode and np.load("out.npy").shape == (6, 8)


def test_what_replaces_a_private_file_is_private_while_it_is_written() -> None:
    Path("out.npy").touch(0o600)
    seen = []
    output.write_beside(Path("out.npy").resolve(), True, lambda _: seen.extend(map(permissions, left_over())))
    assert seen == [0o600]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_force_keeps_the_owner() -> None:
    Path("out.npy").touch()
    os.chown("out.npy", 4321, 4322)
    assert main(["resize", "in.npy", "out.npy", "--scale", "2", "--force"]) == 0
    assert (os.stat("out.npy").st_uid, os.stat("out.npy").st_gid) == (4321, 4322)


def test_what_a_group_might_do_another_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def no(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    Path("out.npy").touch()
    os.chmod("out.npy", 0o664)
    monkeypatch.setattr(os, "fchown", no)
    assert main(["resize", "in.npy", "out.npy", "--scale", "2", "--force"]) == 0
    assert permissions("out.npy") == 0o604


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="access lists are read as Linux has them")
def test_force_keeps_an_access_list() -> None:
    # version 2; owner rw, user 4321 r, group none, mask r, others none
    entries = [(1, 6, -1), (2, 4, 4321), (4, 0, -1), (16, 4, -1), (32, 0, -1)]
    packed = struct.pack("<L", 2) + b"".join(struct.pack("<HHl", *entry) for entry in entries)
    Path("out.npy").touch()
    try:
        os.setxattr("out.npy", output.ACCESS_LIST, packed)
    except OSError:
        pytest.skip("no access lists in this folder")
    assert main(["resize", "in.npy", "out.npy", "--scale", "2", "--force"]) == 0
    assert os.getxattr("out.npy", output.ACCESS_LIST) == packed and permissions("out.npy") == 0o640


# ---- a full disk, a folder that disappears


@pytest.mark.parametrize(
    "name, force", sampled(itertools.product(["out.png", "out.jpg", "out.tif", "out.npy"], [[], ["--force"]]), 3)
)
def test_a_full_disk(capfd: pytest.CaptureFixture[str], name: str, force: list[str]) -> None:
    args = ["resize", "in.png", name, "--size", "30x30"]
    assert main(args) == 0
    whole = Path(name).stat().st_size
    for size in (whole - 1, whole // 2, 200):
        Path(name).write_text("old") if force else Path(name).unlink(missing_ok=True)
        code = in_child([*args, *force], lambda size=size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
        said = capfd.readouterr().err
        assert code == 2 and said.startswith("tenter: ") and said.count("\n") == 1 and name in said, said
        assert Path(name).read_text() == "old" if force else not Path(name).exists()
        assert not left_over()


def test_a_folder_that_goes_meanwhile(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    Path("out").mkdir()
    monkeypatch.setattr(np, "save", lambda *_, **__: shutil.rmtree("out"))
    assert main(["resize", "in.npy", "out/a.npy", "--scale", "2"]) == 2
    said = capsys.readouterr().err
    assert said.endswith("out/a.npy: No such file or directory\n") and said.count("\n") == 1
    assert not Path("out").exists()
