"""Arrays on disk from strangers: a command stays in its own folder and in those of its array."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import _inside, refused  # noqa: F401
from sweeps import sampled
from tenter.cli.main import main
from tenter.cli.volumes import job, mark, zarrs
from volume_helpers import HALF, _as_a_process_of_its_own, elements, hidden, noise, said, tree, volume, zarr  # noqa: F401

PYRAMID = ["pyramid", "group.zarr", "--levels", "1", "--threads", "1"]
STEPS = {"coordinateTransformations": [{"type": "scale", "scale": [1.0, 1.0]}]}


def group(*paths: str, first: str | None = None, name: str = "group.zarr") -> None:
    """An OME-Zarr group whose metadata names these levels, of which the first is there."""
    axes = [{"name": n, "type": "space"} for n in "yx"]
    entry = {"axes": axes, "datasets": [{"path": path, **STEPS} for path in paths]}
    zarr.create_group(name, attributes={"ome": {"version": "0.5", "multiscales": [entry]}})
    zarr.create_array(f"{name}/{first or paths[0]}", data=noise((16, 16), "uint8"), chunks=(4, 4))


def victim(name: str = "victim") -> dict[str, bytes]:
    """A folder of somebody else's: a zarr array with a note."""
    volume(name, (8, 8), "uint8", chunks=(4, 4))
    Path(name, "note").write_text("mine")
    return tree(name)


# ---- working folders


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


@pytest.mark.parametrize("output", ["out.zarr", "out.npy"])
def test_a_link_beside_an_output_is_left_alone(output: str) -> None:
    held = victim()
    volume("in.zarr", (8, 8), "uint8", chunks=(4, 4))
    Path(f".{output}.tenter-part").symlink_to("victim")
    assert main([*HALF[:2], output, *HALF[3:]]) == 0
    assert tree("victim") == held and Path(f".{output}.tenter-part").is_symlink() and Path(output).exists()


@pytest.mark.parametrize("output", ["out.zarr", "out.npy"])
def test_force_replaces_a_link_and_not_what_it_leads_to(output: str) -> None:
    held = victim("victim.zarr")
    np.save("victim.npy", np.zeros(3))
    volume("in.zarr", (8, 8), "uint8", chunks=(4, 4))
    Path(output).symlink_to(f"victim{output[3:]}")
    assert main([*HALF[:2], output, *HALF[3:], "--force"]) == 0
    assert tree("victim.zarr") == held and np.load("victim.npy").shape == (3,)
    assert not Path(output).is_symlink() and Path(output).exists() and not hidden()


def test_names_of_working_folders_follow_from_a_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = {}
    for state in ("a", "b"):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / state))
        names[state] = {job.working_folder(Path(name)).name for name in ("x.zarr", "./x.zarr", "y.zarr")}
        assert len(names[state]) == 2 == len({job.working_folder(Path(name)).name for name in ("x.zarr", "y.zarr")})
        key = tmp_path / state / "tenter" / "key"
        assert len(key.read_bytes()) == mark.KEY_BYTES
        assert key.stat().st_mode & 0o077 == key.parent.stat().st_mode & 0o077 == 0
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

OUTSIDE = {
    "up": "../victim",
    "far": "0/../../victim",
    "absolute": "/tmp/victim",
    "link": "1",
    "empty": "",
    "dot": "./1",
}


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


FULL_SIZES = ["1", "0", "s1", "s0", "2", "00", "9", "full", "full2", "a/1", "1a", "\u0661"]


@pytest.mark.parametrize(("first", "format_"), sampled([(n, f) for n in FULL_SIZES for f in (2, 3)], 5))
def test_the_full_size_stays_whatever_its_name_is(first: str, format_: int) -> None:
    x = noise((2, 16, 16))
    group = zarr.open_group("in.zarr", mode="w", zarr_format=format_)
    group.create_array(first, data=x, chunks=(2, 8, 8))
    axes = [{"name": n, "type": "space"} for n in "zyx"]
    levels = [{"path": first, "coordinateTransformations": [{"type": "scale", "scale": [1.0] * 3}]}]
    entry = {"axes": axes, "datasets": levels}
    v2 = {"multiscales": [{**entry, "version": "0.4"}]}
    group.attrs.put(v2 if format_ == 2 else {"ome": {"version": "0.5", "multiscales": [entry]}})
    assert main(["pyramid", "in.zarr", "--levels", "2", "--factor", "1,2,2"]) == 0
    for _ in range(2):
        assert np.array_equal(elements(f"in.zarr/{first}"), x)
        paths = [level["path"] for level in said("in.zarr")["multiscales"][0]["datasets"]]
        assert paths[0] == first and len(set(paths)) == 3
        assert [elements(f"in.zarr/{path}").shape for path in paths] == [(2, 16, 16), (2, 8, 8), (2, 4, 4)]
        assert main(["pyramid", "in.zarr", "--levels", "2", "--factor", "1,2,2", "--force"]) == 0
