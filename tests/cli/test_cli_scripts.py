"""The command line for scripts: standard input and output, JSON, dry runs, counts in the command, unknown words, help."""

from __future__ import annotations

import io
import json
import os
import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import Image, _inside, command, noise, ran, refused  # noqa: F401
from roots import ROOT
from tenter.cli import output as output_files
from tenter.cli.main import main
from tenter.cli.parser import build_parser, parse


def piped(*args: Any, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    run = [sys.executable, "-m", "tenter.cli.main", *map(str, args)]
    return subprocess.run(run, input=given, capture_output=True, timeout=120, check=False)


def same_pixels(data: bytes, name: str) -> None:
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(data))), np.asarray(Image.open(name)))


# ---- standard input and output


def test_a_picture_through_pipes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Path("temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    Path("temporary/.tenter-0.tmp").write_text("of a killed run")
    assert main(["resize", "in.png", "expected.png", "--fit", "6x6"]) == 0
    done = piped("resize", "-", "-", "--fit", "6x6", given=Path("in.png").read_bytes())
    assert done.returncode == 0
    assert done.stderr == b"tenter: stdout.png: 5 x 6 (from stdin.png: 10 x 12)\n"
    assert done.stdout == Path("expected.png").read_bytes() and not os.listdir("temporary")
    done = piped("resize", "-", "-", "--fit", "6x6", "--format", "npy", given=Path("in.png").read_bytes())
    np.testing.assert_array_equal(np.load(io.BytesIO(done.stdout)), np.asarray(Image.open("expected.png")))
    assert done.stderr.startswith(b"tenter: stdout.npy: ")


def test_a_pipe_on_one_end() -> None:
    assert piped("resize", "-", "out.png", "--scale", 2, given=Path("in.npy").read_bytes()).returncode == 2  # floats
    assert piped("resize", "-", "out.npy", "--scale", 2, given=Path("in.npy").read_bytes()).returncode == 0
    assert np.load("out.npy").shape == (6, 8)
    done = piped("resize", "in.png", "-", "--scale", 1)
    same_pixels(done.stdout, "in.png")


def test_repeat_through_pipes() -> None:
    done = piped("repeat", "-", "-", "--repeats", "2,0,1", "--dim", 0, given=Path("in.npy").read_bytes())
    np.testing.assert_array_equal(np.load(io.BytesIO(done.stdout)), np.load("in.npy")[[0, 0, 2]])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"", "stdin: is empty"),
        (b"no picture" * 9, "stdin: is not"),
        (b"GIF", "stdin: is not"),
    ],
)
def test_what_comes_in_is_no_picture(given: bytes, said: str) -> None:
    done = piped("resize", "-", "-", "--scale", 2, given=given)
    assert done.returncode == 2 and done.stdout == b"" and done.stderr.count(b"\n") == 1
    assert f"tenter: {said}".encode() in done.stderr


@pytest.mark.slow
def test_messages_name_the_pipes() -> None:
    cut = Path("in.png").read_bytes()[:200]
    done = piped("resize", "-", "-", "--scale", 2, given=cut)
    assert done.stdout == b"" and done.stderr.startswith(b"tenter: stdin: is truncated or damaged")
    noise("RGBA").save("alpha.png")
    done = piped("resize", "alpha.png", "-", "--scale", 2, "--format", "jpg")
    assert done.stdout == b"" and done.stderr.startswith(b"tenter: stdout.jpg: JPEG has no alpha")
    little_room = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    run = [sys.executable, "-m", "tenter.cli.main", "resize", "-", "out.png", "--scale", "2"]
    data = Path("in.png").read_bytes()
    done = subprocess.run(run, input=data, capture_output=True, timeout=60, check=False, preexec_fn=little_room)
    assert done.returncode == 2 and done.stderr.startswith(b"tenter: a copy of stdin in ")
    assert done.stderr.endswith(b": File too large\n") and not Path("out.png").exists()
    run = f"{sys.executable} -m tenter.cli.main resize in.png - --scale 2 > /dev/full"
    done = subprocess.run(run, shell=True, capture_output=True, timeout=60, check=False)
    assert done.returncode == 2 and done.stderr == b"tenter: stdout: No space left on device\n"


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["-", "in.png", "out/"], "standard input is one file, got 2 inputs"),
        (["in.png", "-", "--json"], "--json: goes to standard output"),
        (["-", "out.png", "--dry-run"], "--dry-run: goes with names of files"),
        (["in.png", "out.png", "--format", "png"], "--format: goes with a folder, {format} or - as OUT"),
        (["-", "out.what"], "unknown file type"),
    ],
)
def test_pipes_refused(capsys: pytest.CaptureFixture[str], args: list[str], word: str) -> None:
    assert word in refused(capsys, "resize", *args, "--scale", 2)


# ---- JSON, dry runs


@pytest.fixture
def photos() -> None:
    """photos/: a picture, a damaged one, one that is resized already, others that are no pictures."""
    Path("photos/deep").mkdir(parents=True)
    for name in ("good.png", "old.png", "cut.png"):
        noise().save(f"photos/{name}")
    Path("photos/cut.png").write_bytes(Path("photos/cut.png").read_bytes()[:300])
    for name in ("notes.txt", "more.TXT", "film.mov", "README", ".hidden.png"):
        Path("photos", name).write_text("no picture")
    Path("out").mkdir()
    noise().save("out/old.png")


NOT_COMPARED = "sizes of the skipped were not compared (see --update)"
NOT_READ = {".mov": 1, ".txt": 2, "hidden": 1, "subfolder(s), see --recursive": 1, "without an ending": 1}


@pytest.mark.usefixtures("photos")
def test_what_is_not_read_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resize", "photos", "out", "--fit", "20", "--skip-existing", "--jobs", "1"]) == 1
    words = ", ".join(f"{n} {kind}" for kind, n in NOT_READ.items())
    expected = f"1 done, 1 skipped, 1 failed; size: at most 20 x 20; {NOT_COMPARED}; not read: {words}\n"
    assert capsys.readouterr().out == expected
    assert main(["resize", "photos/*", "more/", "--scale", "2", "--jobs", "1"]) == 1
    assert capsys.readouterr().out.endswith("; not read: 1 .mov, 2 .txt, 1 without an ending\n")
    assert main(["resize", "photos/g*", "again/", "--scale", "2", "--jobs", "1"]) == 0
    assert capsys.readouterr().out == "1 done, 0 skipped, 0 failed; size: scale 2\n"
    Path("none").mkdir()
    Path("none/a.txt").touch()
    assert refused(capsys, "resize", "none", "new/", "--scale", 2).endswith("; not read: 1 .txt\n")


@pytest.mark.usefixtures("photos")
def test_json() -> None:
    done = ran("resize", "photos", "out", "--fit", 20, "--skip-existing", "--jobs", 1, "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1 and done.stdout.count("\n") == 1
    good, bad, old = sorted(found.pop("files"), key=lambda file: ["good", "cut", "old"].index(Path(file["input"]).stem))
    assert found == {"done": 1, "planned": 0, "skipped": 1, "failed": 1, "not_read": NOT_READ}
    sizes = {"input_size": {"height": 40, "width": 40}, "output_size": {"height": 20, "width": 20}}
    assert good == {"input": "photos/good.png", "output": "out/good.png", "status": "done", **sizes}
    assert old == {"input": "photos/old.png", "output": "out/old.png", "status": "skipped"}
    assert bad.pop("error").startswith("photos/cut.png: is truncated or damaged")
    assert bad == {"input": "photos/cut.png", "output": "out/cut.png", "status": "failed"}


def test_json_of_one_file_and_of_a_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resize", "in.npy", "out.npy", "--axes", "1", "--size", "9", "--json"]) == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert file == {"input": "in.npy", "output": "out.npy", "status": "done",
                    "input_size": {"1": 4}, "output_size": {"1": 9}}  # fmt: skip
    assert main(["resize", "in.npy", "out.npy", "--axes", "1", "--size", "9", "--json"]) == 2
    said = capsys.readouterr()
    assert said.err == "tenter: out.npy: exists already; --force overwrites it\n"
    assert json.loads(said.out) == {"error": "out.npy: exists already; --force overwrites it"}
    assert main(["resize", "in.npy", "out.npy", "--what", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"].startswith("unknown option --what")


@pytest.mark.usefixtures("photos")
@pytest.mark.parametrize("json_", [[], ["--json"]])
def test_a_dry_run_writes_nothing(capsys: pytest.CaptureFixture[str], json_: list[str]) -> None:
    Path("out/.tenter-0.tmp").touch()
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
    Path("photos/cut.png").write_text("no picture")
    before[Path("photos/cut.png")] = Path("photos/cut.png").stat().st_mtime_ns
    assert main(["resize", "photos", "out", "--width", "20", "--skip-existing", "--dry-run", *json_]) == 1
    assert main(["resize", "photos/good.png", "new/deep/", "--fill", "9x5", "--dry-run", *json_]) == 0
    assert {path: path.stat().st_mtime_ns for path in Path().rglob("*")} == before
    said = capsys.readouterr()
    assert said.err.splitlines()[0] == "tenter: photos/cut.png: is not an image that can be read"
    if json_:
        first = json.loads(said.out.splitlines()[0])
        assert (first["planned"], first["failed"], first["skipped"]) == (1, 1, 1)
    else:
        line = "out/good.png: would be written: 20 x 20 (from photos/good.png: 40 x 40)"
        kept = "out/old.png: exists already, left as it is"
        assert said.out.startswith(
            f"{line}\n{kept}\n1 to do, 1 skipped, 1 failed; size: 20 wide; {NOT_COMPARED}; not read: "
        )


def test_a_dry_run_says_the_sizes_that_a_run_makes(capsys: pytest.CaptureFixture[str]) -> None:
    exif = Image.Exif()
    exif[274] = 6
    Image.new("RGB", (31, 17)).save("turned.jpg", exif=exif)
    np.save("volume.npy", np.zeros((4, 5, 6)))
    for args in (
        ["turned.jpg", "out.png", "--fit", "9x9"],
        ["turned.jpg", "out.npy", "--fill", "9x5"],
        ["in.npy", "out.npy", "--scale", "250%"],
        ["volume.npy", "out.npy", "--axes", "2", "0", "--scale", "1.5"],
    ):
        found = []
        for more in (["--dry-run"], []):
            assert main(["resize", *args, *more, "--force", "--json"]) == 0
            (file,) = json.loads(capsys.readouterr().out)["files"]
            found.append((file["input_size"], file["output_size"]))
        assert found[0] == found[1]
    frames = [Image.new("L", (20 + 10 * k, 30), k) for k in range(3)]
    frames[0].save("pages.tif", save_all=True, append_images=frames[1:])
    for args, width, pictures in (([], 20, 3), (["--frame", "1"], 30, 1), (["--frame", "-1"], 40, 1)):
        for more in (["--dry-run"], []):
            assert main(["resize", "pages.tif", "out.tif", "--scale", "0.5", *args, *more, "--force", "--json"]) == 0
            (file,) = json.loads(capsys.readouterr().out)["files"]
            assert file["input_size"] == {"height": 30, "width": width} and file.get("pictures", 1) == pictures
    assert main(["resize", "pages.tif", "out.tif", "--scale", "2", "--force", "--dry-run"]) == 0
    assert "3 images, the first 40 x 60 (from pages.tif: the first 20 x 30)" in capsys.readouterr().out
    for args in (["out.tif", "--frame", 3], ["new.jpg", "--frame", -4]):
        said = {
            refused(capsys, "resize", "pages.tif", *args, "--scale", 2, "--force", *more)
            for more in ([], ["--dry-run"])
        }
        assert len(said) == 1
    assert "has 3 axes, --axes names 3" in refused(
        capsys, "resize", "volume.npy", "new.npy", "--axes", 3, "--size", 2, "--dry-run"
    )
    assert "exists already" in refused(capsys, "resize", "in.npy", "out.npy", "--scale", 2, "--dry-run")


# ---- counts in the command


def test_counts_with_commas(capsys: pytest.CaptureFixture[str]) -> None:
    done = ran("repeat", "in.npy", "out.npy", "--repeats", "1,2,3", "--dim", 0)
    assert done.returncode == 0
    np.testing.assert_array_equal(np.load("out.npy"), np.repeat(np.load("in.npy"), [1, 2, 3], axis=0))
    assert main(["repeat", "in.npy", "out.npy", "--repeats", " 1, 2 ,3,4", "--dim", "1", "--force"]) == 0
    np.testing.assert_array_equal(np.load("out.npy"), tenter.repeat_interleave(np.load("in.npy"), [1, 2, 3, 4], dim=1))
    for counts in ("1,,2", "1,2,x", "1.5,2,3", f"{2**63},1,1", "1,-2,3", "1,2", ","):
        refused(capsys, "repeat", "in.npy", "new.npy", f"--repeats={counts}", "--dim", 0)


# ---- words that are not known, help


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["resize", "--widht", "3"], "unknown option --widht (did you mean '--width'?) (see tenter resize --help-all)"),
        (["resize", "in.png", "--size", "3", "--what=4"], "unknown option --what "),
        (["resize", "none.png", "--fit", "3", "--recursiv"], "unknown option --recursiv (did you mean '--rec"),
        (["resize", "-f", "in.png", "out.png", "--size", "3x2"], "-f: --force overwrites, --format is"),
        (["repeat", "--repeat", "3"], "unknown option --repeat (did you mean '--repeats'?)"),
        (["repeat", "--fit", "3"], "unknown option --fit"),
        (["--vresion"], "unknown option --vresion (did you mean '--version'?) (see tenter --help-all)"),
        (["reszie", "--what"], "unknown command 'reszie' (did you mean `tenter resize --what`?); known are resize"),
        (["in.png", "out.png"], "unknown command 'in.png'"),
        (
            ["resize", "in.png", "out.png", "--fit", "3x3", "--mode", "bicubi"],
            "unknown value 'bicubi' (did you mean 'bic",
        ),
        (["resize", "in.png", "out.png", "--fit", "3x3", "--like", "pytorchh"], "unknown value 'pytorchh'"),
    ],
)
def test_unknown_words_are_named(capsys: pytest.CaptureFixture[str], args: list[str], said: str) -> None:
    assert said in refused(capsys, *args)


def test_the_command_alone_prints_help() -> None:
    done = command(env={**os.environ, "COLUMNS": "80"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "resize images, .npy arrays or zarr" in done.stdout and "Exit codes: 0 success; 1 some" in done.stdout


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_help_fits_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for name in ("resize", "repeat"):
        with pytest.raises(SystemExit):
            main([name, "--help-all"])
        text = capsys.readouterr().out
        assert max(map(len, text.splitlines())) <= columns
        words = " ".join(text.split())
        assert "Exit codes: 0 success; 1 some of many files failed" in words and "130 interrupted" in words
        if name == "resize":
            assert "--size 640x480 is 640 wide and 480 high" in words


@pytest.mark.parametrize("name", ["resize", "pyramid"])
def test_the_short_help_is_five_examples_and_common_options_on_a_screen(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    for option in ("--help", "-h"):
        with pytest.raises(SystemExit):
            main([name, option])
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) <= 24 and max(map(len, lines)) < 80
        examples = [line.strip() for line in lines if line.startswith("  tenter ")]
        assert len(examples) == 5 and lines[:5] == [f"  {line}" for line in examples]
        for line in examples:
            parse(shlex.split(line)[1:])
        known = {option for action in build_parser()[1][name]._actions for option in action.option_strings}
        assert set(re.findall(r"--[a-z-]+", "\n".join(lines))) <= known


def test_the_page_has_every_option() -> None:
    """docs/command-line.md has a row for each option of `tenter resize`, in the order of --help."""
    _, parsers = build_parser()
    shown = [
        " / ".join(action.option_strings)
        for action in parsers["resize"]._actions
        if action.option_strings and "-h" not in action.option_strings
    ]
    page = (ROOT / "docs" / "command-line.md").read_text().split("## Options of `tenter resize`")[1]
    rows = re.findall(r"^\| `(--?[^`]*)` \|", page, re.M)
    assert [re.sub(r" [^-/ ]\S*", "", row) for row in rows] == shown


def test_a_file_that_is_written_is_not_taken_for_a_hidden_one() -> None:
    assert output_files.is_temporary(".tenter-0a.tmp") and not output_files.is_temporary(".tenterhooks")
