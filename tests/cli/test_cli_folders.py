"""`tenter resize` of folders, patterns and many files: which files are written, what is refused, how failures are reported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import Image, _inside, files, noise, ran, refused, reports_its_mask, workers_die_on_b  # noqa: F401
from tenter.cli import workers
from tenter.cli.main import main


@pytest.fixture(autouse=True)
def _photos(_inside: None) -> None:
    """photos/: a.png, b.png, c.jpg, notes.txt, d.npy, a hidden one, and deep/: a.png, deeper/e.tif."""
    Path("photos/deep/deeper").mkdir(parents=True)
    for name in ("a.png", "b.png", "c.jpg", "deep/a.png", "deep/deeper/e.tif", ".hidden.png"):
        noise().save(f"photos/{name}")
    Path("photos/notes.txt").write_text("no picture")
    np.save("photos/d.npy", np.arange(12.0).reshape(3, 4))


def run(*args: Any) -> int:
    return main(["resize", *map(str, args), "--scale", "0.5", "--jobs", "1"])


# ---- which files are written


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_folder(capsys: pytest.CaptureFixture[str], jobs: int) -> None:
    assert main(["resize", "photos", "out/", "--size", "9x7", "--jobs", str(jobs)]) == 0
    assert files("out") == ["a.png", "b.png", "c.jpg"]
    assert {Image.open(f"out/{name}").size for name in files("out")} == {(9, 7)}
    said = capsys.readouterr()
    assert (
        said.out
        == "3 done, 0 skipped, 0 failed; size: 9 x 7; not read: 1 .npy, 1 .txt, 1 hidden, 1 subfolder(s), see --recursive\n"
        and said.err == ""
    )
    assert main(["resize", "photos/a.png", "alone.png", "--size", "9x7"]) == 0
    assert Path("alone.png").read_bytes() == Path("out/a.png").read_bytes()


def test_its_folders_too() -> None:
    assert run("photos", "out/", "--recursive") == 0
    assert files("out") == ["a.png", "b.png", "c.jpg", "deep/a.png", "deep/deeper/e.tif"]


def test_results_below_a_folder_are_no_inputs() -> None:
    for _ in range(2):
        assert run("photos", "photos/small/", "--recursive", "--force") == 0
    assert files("photos/small") == ["a.png", "b.png", "c.jpg", "deep/a.png", "deep/deeper/e.tif"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("photos/*", ["a.png", "b.png", "c.jpg", "d.npy"]),
        ("photos/[ab].*", ["a.png", "b.png"]),
        ("photos/**/*.png", ["a.png", "b.png", "deep/a.png"]),
        ("photos/*/a.png", ["deep/a.png"]),
        ("p?otos/c.jpg", ["photos/c.jpg"]),
    ],
)
def test_a_pattern(pattern: str, expected: list[str]) -> None:
    assert run(pattern, "out/") == 0
    assert files("out") == expected
    assert run(Path.cwd() / pattern, "again/") == 0
    assert files("again") == expected


def test_a_name_with_wildcards_is_first_a_name() -> None:
    os.rename("photos/a.png", "photos/[a].png")
    assert run("photos/[a].png", "one.png") == 0
    assert run("photos/[a].png", "photos/c.jpg", "out/") == 0
    assert files("out") == ["[a].png", "c.jpg"]


def test_several_files() -> None:
    Path("out").mkdir()
    assert run("photos/a.png", "photos/deep/deeper/e.tif", "in.npy", "out") == 0
    assert files("out") == ["a.png", "e.tif", "in.npy"]
    assert run("photos/b.png", "out") == 0
    assert run("photos/c.jpg", "photos/c.jpg", "photos/../photos/c.jpg", "more/") == 0
    assert files("out") == ["a.png", "b.png", "e.tif", "in.npy"] and files("more") == ["c.jpg"]


@pytest.mark.parametrize(
    "args",
    [
        ["--size", "4x3", "photos/a.png", "photos/b.png", "out/"],
        ["photos/a.png", "--size", "4x3", "photos/b.png", "out/"],
        ["photos/a.png", "--size", "4x3", "photos/b.png", "--force", "out/"],
        ["photos/a.png", "photos/b.png", "--size", "4x3", "out/"],
    ],
)
def test_names_may_stand_anywhere(args: list[str]) -> None:
    assert main(["resize", *args]) == 0
    assert files("out") == ["a.png", "b.png"]


@pytest.mark.parametrize(("format_", "name"), [("png", "PNG"), ("jpg", "JPEG"), ("tiff", "TIFF")])
def test_another_type(format_: str, name: str) -> None:
    assert run("photos", "out/", "--format", format_) == 0
    assert files("out") == [f"{stem}.{format_}" for stem in "abc"]
    assert {Image.open(f"out/{file}").format for file in files("out")} == {name}


def test_to_arrays() -> None:
    assert run("photos/*", "out/", "--format", "npy") == 0
    assert [np.load(f"out/{name}").shape for name in files("out")] == [(20, 20, 3)] * 3 + [(1, 2)]


# ---- existing files


def test_skip_existing_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("photos/a.png", "out/") == 0
    before = Path("out/a.png").stat().st_mtime_ns
    assert "1 done" in capsys.readouterr().out
    assert run("photos", "out/", "--skip-existing") == 0
    assert capsys.readouterr().out.startswith("2 done, 1 skipped, 0 failed; ")
    assert Path("out/a.png").stat().st_mtime_ns == before
    assert run("photos", "out/", "--skip-existing") == 0
    assert capsys.readouterr().out.startswith("0 done, 3 skipped, 0 failed; ")


def test_skip_existing_of_one_file() -> None:
    Path("out.png").write_text("mine")
    assert main(["resize", "in.png", "out.png", "--scale", "2", "--skip-existing"]) == 0
    assert Path("out.png").read_text() == "mine"
    assert main(["resize", "in.png", "other.png", "--scale", "2", "--skip-existing"]) == 0
    assert Image.open("other.png").size == (20, 24)


def test_force_overwrites() -> None:
    Path("out").mkdir()
    Path("out/a.png").write_text("old")
    assert run("photos", "out", "--force") == 0
    assert Image.open("out/a.png").size == (20, 20)
    assert run("photos", "photos", "--force") == 0
    assert Image.open("photos/a.png").size == (20, 20)


# ---- what is refused before anything is written


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["photos/a.png", "photos/b.png", "out.png"], "expected a folder"),
        (["photos", "out.png"], "expected a folder"),
        (["photos", "in.png"], "is a file"),
        (["photos", "photos"], "is the input itself"),
        (["photos", "photos", "--skip-existing"], "is the input itself"),
        (["photos/deep/a.png", "in.png", "photos"], "exists already"),
        (["photos/*.gif", "out/"], "matches no image"),
        (["photos/*.txt", "out/"], "matches no image"),
        (["photos/notes.txt", "photos/a.png", "out/"], "photos/notes.txt: is not an image that can be read"),
        (["empty", "out/"], "contains no image"),
        (["photos", "out/", "--format", "xyz"], "unknown value 'xyz'"),
        (["photos", "out/", "--force", "--skip-existing"], "not allowed"),
        (["in.png", "out.png", "--format", "png"], "--format: goes with a folder"),
        (["in.png"], "expected IN and OUT"),
        (["in.png", "out/", "--what"], "unknown option --what"),
    ],
)
def test_refused(capsys: pytest.CaptureFixture[str], args: list[str], word: str) -> None:
    Path("empty").mkdir()
    assert word in refused(capsys, "resize", *args, "--scale", 0.5)


@pytest.mark.parametrize("jobs", ["0", "-1", "many", "1.5", "99999"])
def test_odd_numbers_of_jobs(capsys: pytest.CaptureFixture[str], jobs: str) -> None:
    assert "--jobs" in refused(capsys, "resize", "photos", "out/", "--scale", 2, "--jobs", jobs)


def test_an_output_that_another_input_is(capsys: pytest.CaptureFixture[str]) -> None:
    Path("linked").mkdir()
    os.link("photos/b.png", "linked/a.png")
    for force in ([], ["--force"]):
        args = ("resize", "photos/a.png", "photos/b.png", "linked", "--scale", 0.5, *force)
        assert "linked/a.png: is an input too" in refused(capsys, *args)


# ---- failures


@pytest.mark.parametrize(
    ("inputs", "jobs"),
    [(["photos"], 1), (["photos"], 2), ([f"photos/{name}" for name in ("a.png", "b.png", "c.jpg", "f.png")], 1)],
)
def test_failures_are_listed(capsys: pytest.CaptureFixture[str], inputs: list[str], jobs: int) -> None:
    Path("photos/b.png").write_text("this is not an image" * 20)
    Path("photos/f.png").touch()
    assert main(["resize", *inputs, "out/", "--scale", "0.5", "--jobs", str(jobs)]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("2 done, 0 skipped, 2 failed; ")
    first, second = said.err.splitlines()
    assert first.startswith("tenter: photos/b.png: is not an image") and second == "tenter: photos/f.png: is empty"
    assert files("out") == ["a.png", "c.jpg"]


def test_a_failure_says_which_file(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("photos/flags.npy", np.ones((4, 4), bool))
    assert run("photos/*.npy", "none.png", "out/") == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("tenter: photos/flags.npy: x: expected numbers") and "none.png: No such file" in second


def test_a_file_that_cannot_be_what_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    noise("RGBA").save("photos/b.png")
    assert run("photos", "out/", "--format", "jpg") == 1
    assert "out/b.jpg: JPEG has no alpha channel" in capsys.readouterr().err
    assert files("out") == ["a.jpg", "c.jpg"]


def test_a_killed_process_is_reported(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    workers_die_on_b(monkeypatch)
    assert main(["resize", "photos", "out/", "--scale", "0.5", "--recursive", "--jobs", "2"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("4 done, 0 skipped, 1 failed; ")
    assert said.err == "tenter: photos/b.png: its process was ended by SIGKILL (is memory short?)\n"
    assert sorted(os.listdir("out")) == ["a.png", "c.jpg", "deep"]


def test_ctrl_c_is_for_one_process_to_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_work", reports_its_mask)
    process, pipe = workers._start(None)
    assert pipe.recv() is True
    process.join(30)
    assert process.exitcode == 0
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c(jobs: int) -> None:
    Path("many").mkdir()
    Image.effect_noise((600, 600), 90).convert("RGB").save("many/0.png")
    for k in range(1, 60):
        os.link("many/0.png", f"many/{k}.png")
    args = [sys.executable, "-m", "tenter.cli.main", "resize", "many", "out/", "--scale", "1.5", "--jobs", str(jobs)]
    # a session of its own: the signal is sent to all its processes, as a terminal does
    process = subprocess.Popen(
        args,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a background job ignores the signal, and its children would inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while len(list(Path().glob("out/*.png"))) < 2:
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == ""
    assert err.startswith("tenter: interrupted after ") and err.count("\n") == 1
    with pytest.raises(ProcessLookupError):  # all processes have ended, once the last has read the end of its pipe
        for _ in range(500):
            os.killpg(process.pid, 0)
            time.sleep(0.02)
    names = os.listdir("out")
    assert 2 <= len(names) < 60 and all(name.endswith(".png") for name in names)
    for name in names:
        Image.open(f"out/{name}").load()


def test_a_bar_on_a_terminal() -> None:
    pytest.importorskip("rich")
    pty = pytest.importorskip("pty")
    main_end, other_end = pty.openpty()
    args = [sys.executable, "-m", "tenter.cli.main", "resize", "photos", "out/", "--scale", "2", "--jobs", "1"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "60"}
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=other_end, timeout=60, env=environment, check=False)
    os.close(other_end)
    drawn = os.read(main_end, 1 << 16).decode()
    os.close(main_end)
    assert done.returncode == 0 and done.stdout.startswith(b"3 done, 0 skipped, 0 failed; ")
    assert "3/3" in drawn


def test_without_pillow() -> None:
    code = "import sys; sys.modules['PIL'] = None; from tenter.cli.main import main; sys.exit(main(sys.argv[1:]))"
    args = [sys.executable, "-c", code, "resize", "photos", "out/", "--scale", "2"]
    done = subprocess.run(args, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "pip install Pillow" in done.stderr
    assert not Path("out").exists()
    assert ran("resize", "photos/*.npy", "out/", "--scale", 2).returncode == 0
