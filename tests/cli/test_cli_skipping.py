"""`--skip-existing`: an output that another process makes meanwhile is skipped, whole, and no failure. `--update`: an
output is made again if its input is newer, or its size is not what the run would write."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import Image, _inside, noise, ran  # noqa: F401
from sweeps import in_one_test, sampled
from tenter.cli import formats, output, resize, workers

WORDS = ["--scale", "0.5", "--skip-existing"]


def before_it_is_looked_at(patch: pytest.MonkeyPatch, other: Callable[[str], None]) -> None:
    make = workers._make_folder
    patch.setattr(workers, "_make_folder", lambda path: (make(path), other(path)))


def before_it_is_read(patch: pytest.MonkeyPatch, other: Callable[[str], None]) -> None:
    check = resize.check_output
    patch.setattr(resize, "check_output", lambda path, *args: (other(path), check(path, *args))[1])


def before_it_is_put_in_place(patch: pytest.MonkeyPatch, other: Callable[[str], None]) -> None:
    place = output.place_new
    patch.setattr(output, "place_new", lambda made, target: (other(str(target)), place(made, target))[1])


WHEN = [before_it_is_looked_at, before_it_is_read, before_it_is_put_in_place]


def photos() -> None:
    Path("photos").mkdir(exist_ok=True)
    for name in ("a.png", "b.png", "c.png"):
        noise().save(f"photos/{name}")


def by_another(path: str) -> None:
    """What another process does meanwhile."""
    if path.endswith("b.png"):
        Path(path).write_text("another's")


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("when", WHEN)
def test_a_file_that_another_process_makes_is_skipped(when: Any, jobs: int) -> None:
    photos()
    with pytest.MonkeyPatch.context() as patch:
        when(patch, by_another)
        done = ran("resize", "photos", "out", *WORDS, "--json", "--jobs", jobs)
    found = json.loads(done.stdout)
    assert done.returncode == 0 and done.stderr == ""
    assert (found["done"], found["skipped"], found["failed"]) == (2, 1, 0)
    assert Path("out/b.png").read_text() == "another's" and Image.open("out/c.png").size == (20, 20)
    assert sorted(path.name for path in Path("out").iterdir()) == ["a.png", "b.png", "c.png"]


@in_one_test("when", WHEN[1:])
def test_one_file_that_another_process_makes_is_skipped(when: Any) -> None:
    photos()
    Path("b.png").unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        when(patch, by_another)
        done = ran("resize", "photos/a.png", "b.png", *WORDS)
    assert done.returncode == 0 and done.stderr == "" and "exists already, left as it is" in done.stdout
    assert Path("b.png").read_text() == "another's"


@in_one_test("when", WHEN)
def test_without_skip_existing_it_is_a_failure(when: Any) -> None:
    photos()
    for path in Path().glob("out/*"):
        path.unlink()
    with pytest.MonkeyPatch.context() as patch:
        when(patch, by_another)
        done = ran("resize", "photos", "out", *WORDS[:2], "--jobs", 1)
    assert done.returncode == 1 and "1 failed" in done.stdout and done.stderr.count("\n") == 1
    assert Path("out/b.png").read_text() == "another's"


def test_what_is_the_input_itself_is_not_skipped() -> None:
    photos()
    Path("out").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        before_it_is_read(
            patch, lambda path: Path(path).hardlink_to("photos/b.png") if path.endswith("b.png") else None
        )
        done = ran("resize", "photos", "out", *WORDS, "--jobs", 1)
    assert done.returncode == 1 and "is the input itself" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 3])
def test_processes_on_one_folder_share_its_files(jobs: int) -> None:
    Path("photos").mkdir()
    rng = np.random.default_rng(0)
    for k in range(40):
        Image.fromarray(rng.integers(0, 256, (300, 300, 3), np.uint8)).save(f"photos/{k}.png")
    run = [sys.executable, "-m", "tenter.cli.main", "resize", "photos", "out", *WORDS, "--json", "--jobs", str(jobs)]
    started = [subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    ended = [process.communicate(timeout=300) for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], ended
    found = [json.loads(out) for out, _ in ended]
    assert sum(each["done"] for each in found) == 40 and all(each["failed"] == 0 for each in found)
    assert sorted(path.name for path in Path("out").iterdir()) == sorted(f"{k}.png" for k in range(40))
    for path in Path("out").iterdir():
        assert np.asarray(Image.open(path)).shape == (150, 150, 3)


# ---- --update


def aged(path: str, seconds: float) -> None:
    """Set how long before now a file was written."""
    now = time.time_ns() - int(seconds * 1e9)
    os.utime(path, ns=(now, now))


#: What happens to outputs of 20 x 20 pixels between two runs, the size of the second, and which are made again.
CHANGES: dict[str, tuple[Callable[[], object], str, str]] = {
    "nothing": (lambda: None, "20", ""),
    "another size": (lambda: None, "10", "a b c"),
    "another size of the same numbers": (lambda: None, "20x90", ""),
    "a newer input": (lambda: aged("photos/b.png", 0), "20", "b"),
    "an older input": (lambda: aged("photos/b.png", 900), "20", ""),
    "an input as old as its output": (lambda: [aged(f"{k}/b.png", 50) or os.utime(f"{k}/b.png", (9, 9)) for k in FOLDERS], "20", ""),
    "an input of another size": (lambda: (noise().resize((40, 20)).save("photos/a.png"), aged("photos/a.png", 900)), "20", "a"),
    "a missing output": (lambda: os.remove("out/c.png"), "20", "c"),
    "an output of another size": (lambda: noise().save("out/a.png"), "20", "a"),
    "an output that is no image": (lambda: Path("out/a.png").write_text("no image"), "20", "a"),
    "an empty output": (lambda: Path("out/a.png").write_text(""), "20", "a"),
}  # fmt: skip
FOLDERS = ("photos", "out")


@in_one_test("change", CHANGES)
def test_update_makes_again_what_is_older_or_of_another_size_and_nothing_else(change: str) -> None:
    happens, fit, again = CHANGES[change]
    for folder in FOLDERS:
        shutil.rmtree(folder, ignore_errors=True)
    photos()
    for name in "abc":
        aged(f"photos/{name}.png", 100)
    assert ran("resize", "photos", "out", "--fit", 20, "--jobs", 1).returncode == 0
    happens()
    before = {name: Path(f"out/{name}.png").stat().st_mtime_ns for name in "abc" if Path(f"out/{name}.png").exists()}
    args = ("resize", "photos", "out", "--fit", fit, "--update", "--jobs", 1)
    planned, done = ran(*args, "--dry-run", "--json"), ran(*args, "--json")
    entries = json.loads(done.stdout)["files"]
    assert "".join(Path(entry["output"]).stem for entry in entries if entry["status"] == "done") == again.replace(
        " ", ""
    )
    plans = [entry["status"].replace("planned", "done") for entry in json.loads(planned.stdout)["files"]]
    assert [entry["status"] for entry in entries] == plans and done.returncode == 0
    after = {name: Path(f"out/{name}.png").stat().st_mtime_ns for name in "abc"}
    assert {name for name in "abc" if before.get(name) != after[name]} == set(again.split())
    for name in again.split():
        with Image.open(f"out/{name}.png") as made:
            assert max(made.size) == int(fit)


#: An input, an output and options of runs whose second one finds nothing to do.
TWICE = [
    *(f"in.png out{ending} --fit 9x7" for ending in (*formats.FORMATS, ".npy") if ending not in formats.HEIF_ENDINGS),
    "in.npy out.npy --scale 2", "in.npy out.npy --scale 2,1.5 --axes 0 1", "turned.jpg out.jpg --fit 9x7",
    "turned.jpg out.jpg --fit 9x7 --keep-orientation", "turned.jpg out.png --fill 9x7", "turned.jpg out.npy --width 9",
    "turned.jpg out.png --scale 0.3 --box 11x8+2+3", "moving.gif out.webp --height 9", "moving.gif out.gif --frame 1 --width 9",
    "moving.gif out.png --frame 1 --width 9", "stack.tif out.tif --fit 9x7", "stack.tif out.tif --axes z,y --scale 0.5",
]  # fmt: skip


@in_one_test("line", sampled(TWICE, 7, str))
def test_a_second_update_finds_nothing_to_do(line: str) -> None:
    exif = Image.Exif()
    exif[274] = 6
    Image.new("RGB", (31, 17)).save("turned.jpg", exif=exif)
    frames = [noise().rotate(90 * k) for k in range(3)]
    frames[0].save("moving.gif", save_all=True, append_images=frames[1:])
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite("stack.tif", np.zeros((4, 16, 12), np.uint8), imagej=True, metadata={"axes": "ZYX"})
    source, output, *options = line.split()
    Path(output).unlink(missing_ok=True)
    for said in ("", "is up to date"):
        done = ran("resize", source, output, *options, "--update")
        assert done.returncode == 0, done.stderr
        assert (f"{output}: {said}" in done.stdout) and (said or "up to date" not in done.stdout), done.stdout
    assert ran("resize", source, output, *options, "--update", "--dry-run").stdout == f"{output}: is up to date\n"


def test_update_does_not_overwrite_an_input() -> None:
    photos()
    before = Path("photos/a.png").read_bytes()
    for args in (("photos/a.png", "photos/a.png"), ("photos", "photos")):
        done = ran("resize", *args, "--fit", 9, "--update")
        assert done.returncode == 2 and "photos/a.png: is the input itself; --force overwrites it" in done.stderr
    assert Path("photos/a.png").read_bytes() == before


#: Options of a second run, of one file more, and what it says.
CLAIMS = {
    "--fit 20 --skip-existing": "1 done, 2 skipped, 0 failed; size: at most 20 x 20; sizes of the skipped were not "
    "compared (see --update)\n",
    "--fit 30 --skip-existing": "1 done, 2 skipped, 0 failed; size: at most 30 x 30; sizes of the skipped were not "
    "compared (see --update)\n",
    "--fit 30 --skip-existing --format jpg": "3 done, 0 skipped, 0 failed; size: at most 30 x 30\n",
    "--fit 30 --update": "3 done, 0 skipped, 0 failed; size: at most 30 x 30\n",
    "--fit 20 --update": "1 done, 2 skipped, 0 failed; size: at most 20 x 20\n",
}


@in_one_test("options", CLAIMS)
def test_sizes_of_skipped_files_are_not_claimed(options: str) -> None:
    shutil.rmtree("out", ignore_errors=True)
    photos()
    assert ran("resize", "photos/[ab].png", "out", "--fit", 20, "--jobs", 1).returncode == 0
    done = ran("resize", "photos", "out", *options.split(), "--jobs", 1)
    assert (done.stdout, done.returncode) == (CLAIMS[options], 0)
    done = ran("resize", "photos", "out", "--fit", 70, "--skip-existing")
    if "jpg" not in options:
        assert done.stdout == "0 done, 3 skipped, 0 failed; sizes of the skipped were not compared (see --update)\n"
