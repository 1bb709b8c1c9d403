"""`--skip-existing`: an output that another process makes meanwhile is skipped, whole, and no failure."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import Image, _inside, noise, ran  # noqa: F401
from daily import together
from tenter.cli import output, resize, workers

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


@together("when", WHEN[1:])
def test_one_file_that_another_process_makes_is_skipped(when: Any) -> None:
    photos()
    Path("b.png").unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        when(patch, by_another)
        done = ran("resize", "photos/a.png", "b.png", *WORDS)
    assert done.returncode == 0 and done.stderr == "" and "exists already, left as it is" in done.stdout
    assert Path("b.png").read_text() == "another's"


@together("when", WHEN)
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
