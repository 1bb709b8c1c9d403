"""The command line: links out of a folder, what a replaced file keeps, and what a run that fails leaves behind."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cli_helpers import Image, _inside, command, in_child, noise, ran, refused  # noqa: F401
from tenter.cli.main import main

NOBODY = 65534

# ---- links


@pytest.fixture
def linked() -> None:
    """photos/a.png and photos/sub/b.png; out/sub leads to elsewhere/."""
    for folder in ("photos/sub", "out", "elsewhere"):
        Path(folder).mkdir(parents=True)
    noise().save("photos/a.png")
    noise().save("photos/sub/b.png")
    Path("out/sub").symlink_to("../elsewhere")


@pytest.mark.usefixtures("linked")
def test_nothing_is_written_through_a_link_out_of_the_folder() -> None:
    run = ("resize", "photos", "out", "--scale", 0.5, "--recursive", "--jobs", 1)
    done = ran(*run)
    assert done.returncode == 2 and done.stdout == "" and os.listdir("out") == ["sub"]
    elsewhere = Path("elsewhere/b.png").resolve()
    said = f"tenter: out/sub/b.png: a link leads out of out, to {elsewhere}; --follow-links writes there\n"
    assert done.stderr == said and not os.listdir("elsewhere")
    assert ran(*run, "--follow-links").returncode == 0
    assert Image.open("elsewhere/b.png").size == (20, 20)


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize("more", [[], ["--force"], ["--dry-run"]])
def test_links_of_single_files(capsys: pytest.CaptureFixture[str], more: list[str]) -> None:
    Path("out/a.png").symlink_to("../in.png")
    Path("out/a.npy").symlink_to(Path("in.npy").resolve())
    for output in ("out/a.png", "out"):
        said = refused(capsys, "resize", "photos/a.png", output, "--scale", 2, *more)
        assert "out/a.png: a link leads out of out, to" in said
        assert main(["resize", "photos/a.png", output, "--scale", "2", "--skip-existing"]) == 0
        capsys.readouterr()
    if more == ["--force"]:
        assert "a link leads out of" in refused(capsys, "repeat", "in.npy", "out/a.npy", "--repeats", 2, *more)
        assert main(["repeat", "in.npy", "out/a.npy", "--repeats", "2", "--force", "--follow-links"]) == 0
        assert np.load("in.npy").shape == (24,)


@pytest.mark.usefixtures("linked")
def test_a_folder_that_is_a_link_itself_was_named() -> None:
    Path("way").symlink_to("elsewhere")
    assert main(["resize", "photos", "way", "--scale", "0.5", "--jobs", "1"]) == 0
    assert main(["resize", "photos/a.png", "way/one.png", "--scale", "0.5"]) == 0
    assert main(["resize", "photos/a.png", "out/sub/one.jpg", "--scale", "0.5"]) == 0
    assert sorted(os.listdir("elsewhere")) == ["a.png", "one.jpg", "one.png"]


# ---- what is replaced, what is left


def test_the_command_keeps_mode_and_owner_and_removes_leftovers() -> None:
    Path("out.png").write_text("old")
    os.chmod("out.png", 0o640)
    if os.geteuid() == 0:
        os.chown("out.png", 4321, 4322)
    Path(".tenter-0123456789abcdef.tmp").write_text("of a killed run")
    before = os.stat("out.png")
    assert ran("resize", "in.png", "out.png", "--scale", 2, "--force").returncode == 0
    after = os.stat("out.png")
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert Image.open("out.png").size == (20, 24) and not list(Path().glob(".tenter-*"))


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_no_empty_folder_remains(jobs: int) -> None:
    Path("photos/deep").mkdir(parents=True)
    for name in ("a.png", "b.png", "deep/c.png"):
        Path("photos", name).write_text("no picture" * 9)
    Path("kept").mkdir()
    run = ["resize", "photos", "--scale", "0.5", "--recursive", "--jobs", str(jobs)]
    assert main([*run, "new/"]) == 1 and not Path("new").exists()
    assert main([*run, "kept"]) == 1 and os.listdir("kept") == []
    noise().save("photos/good.png")
    assert main([*run, "new/"]) == 1 and os.listdir("new") == ["good.png"]


@pytest.mark.slow
def test_no_empty_file_remains_of_a_killed_run() -> None:
    Path("many").mkdir()
    Image.effect_noise((1500, 1500), 90).save("many/0.png")
    for k in range(1, 9):
        os.link("many/0.png", f"many/{k}.png")
    args = [sys.executable, "-m", "tenter.cli.main", "resize", "many", "out/", "--scale", "1.5", "--jobs", "1"]
    process = subprocess.Popen(args, stdout=subprocess.DEVNULL)
    while not list(Path().glob("out/.tenter-*")):
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    assert all(path.stat().st_size for path in Path("out").glob("[!.]*"))
    assert main(["resize", "many/0.png", "out/more.png", "--scale", "0.1"]) == 0
    assert not list(Path().glob("out/.tenter-*"))


# ---- a full disk, a folder that may not be written


@pytest.mark.parametrize("name", ["out.png", "out/"])
def test_a_full_disk_names_the_output(name: str) -> None:
    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = command("resize", "in.png", name, "--scale", 3, "--jobs", 1, preexec_fn=little_room)
    output = Path("out/in.png") if name == "out/" else Path(name)
    said = f"{output.resolve()}: File too large\n"
    assert done.stderr == f"tenter: {'in.png: ' if name == 'out/' else ''}{said}"
    assert done.returncode == (1 if name == "out/" else 2)
    assert sorted(os.listdir()) == ["in.npy", "in.png"]


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder that every user may enter, with in.png and a folder that nobody may change."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        shutil.copy("in.png", folder)
        monkeypatch.chdir(folder)
        Path("locked").mkdir(0o555)
        yield
        monkeypatch.undo()


def as_another_user() -> None:
    if os.geteuid() == 0:
        os.setuid(NOBODY)


@pytest.mark.usefixtures("locked")
def test_missing_permissions_name_the_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["resize", "in.png", "in.png", "--scale", "1", "--force"]) == 0  # and every module is imported
    capfd.readouterr()
    assert in_child(["resize", "in.png", "locked/out.png", "--scale", "2"], as_another_user) == 2
    assert capfd.readouterr().err.startswith("tenter: locked/out.png: the folder ")
    run = ["resize", "in.png", "locked/new/", "--scale", "2", "--jobs", "1"]
    assert in_child(run, as_another_user) == 1
    assert capfd.readouterr().err == "tenter: in.png: locked/new/in.png: Permission denied\n"
    os.chmod("in.png", 0)
    assert in_child(["resize", "in.png", "out.png", "--scale", "2"], as_another_user) == 2
    assert capfd.readouterr().err.count("\n") == 1
    assert sorted(os.listdir()) == ["in.png", "locked"] and not os.listdir("locked")
