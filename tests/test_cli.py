"""The command line: arguments, optional packages, what the commands do, the tour."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import tenter
from cli_helpers import Image, _inside, command, noise, refused, truncated  # noqa: F401
from tenter.cli.main import main

# ---- arguments


@pytest.mark.parametrize(
    "options",
    [
        ["--size", "0", "5"],
        ["--size", "5", "-5"],
        ["--size", "nan", "5"],
        ["--size", "5", "inf"],
        ["--size", "2.5", "5"],
        ["--size", "9" * 5000, "5"],
        ["--size", "5", "99999999999"],
        ["--size", "2147483647", "2147483647"],
        ["--size", "5"],
        ["--scale", "0"],
        ["--scale", "-1"],
        ["--scale", "nan"],
        ["--scale", "inf"],
        ["--scale", "-inf"],
        ["--scale", "1e300"],
        ["--scale", "1e5"],
        ["--scale", "0.01"],
        ["--scale", "two"],
        ["--scale", ""],
        ["--scale", "2", "--size", "3", "4"],
        [],
        ["--scale", "2", "--mode", "cubic"],
        ["--scale", "2", "--mode", "area", "--antialias"],
        ["--scale", "2", "--mode", "lanczos", "--no-antialias"],
        ["--scale", "2", "--quality", "0"],
        ["--scale", "2", "--quality", "high"],
        ["--scale", "2", "--what"],
    ],
)
@pytest.mark.parametrize("name", ["in.png", "in.npy"])
def test_bad_options(capsys: pytest.CaptureFixture[str], options: list[str], name: str) -> None:
    refused(capsys, "resize", name, f"out{name[2:]}", *options)


def test_bad_commands(capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys)
    refused(capsys, "shrink", "in.png", "out.png")


def test_the_librarys_own_refusal_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("flags.npy", np.ones((4, 4), bool))
    refused(capsys, "resize", "flags.npy", "out.npy", "--scale", 2)


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for args, word in ((["--version"], "tenter "), (["--help"], "resize"), (["resize", "--help"], "(H, W, C)")):
        with pytest.raises(SystemExit) as ended:
            main(args)
        assert ended.value.code == 0
        assert word in capsys.readouterr().out


# ---- optional packages


@pytest.mark.parametrize(
    ("missing", "args", "extra"),
    [
        ("PIL", ["resize", "in.png", "out.png", "--scale", "2"], "cli"),
        ("PIL", ["tour"], "cli"),
        ("rich", ["tour"], "cli"),
        ("cv2", ["resize", "deep.png", "out.png", "--scale", "2"], "cli16"),
        ("cv2", ["resize", "deep.tif", "out.tif", "--scale", "2"], "cli16"),
    ],
)
def test_missing_packages(missing: str, args: list[str], extra: str) -> None:
    from tenter.cli.pictures import Picture, write_picture

    for name in ("png", "tif"):
        with open(f"deep.{name}", "wb") as file:
            write_picture(file, Picture(np.ones((4, 4, 3), np.uint16), "RGB"), {"tif": "TIFF"}.get(name, "PNG"), 95)
    code = f"import sys; sys.modules[{missing!r}] = None; from tenter.cli.main import main; sys.exit(main({args!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert f'pip install "tenter[{extra}]"' in done.stderr


def test_import_tenter_stays_light() -> None:
    code = "import sys, tenter; print([m for m in ('PIL', 'rich', 'cv2', 'torch', 'argparse') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


# ---- what the commands do


def test_resize_npy() -> None:
    rng = np.random.default_rng(5)
    for shape, dtype in (((9, 8), np.float64), ((9, 8, 4), np.uint8), ((9, 8, 7), ">i2"), ((9, 8, 1), np.float16)):
        array = (rng.random(shape) * 100).astype(dtype)
        np.save("a.npy", array)
        assert main(["resize", "a.npy", "b.npy", "--size", "5", "20", "--mode", "bicubic", "--force"]) == 0
        native = array.astype(array.dtype.newbyteorder("="))
        expected = tenter.resize(native, (5, 20), axes=(0, 1), mode="cubic", antialias=True)
        result = np.load("b.npy")
        assert result.dtype == native.dtype
        np.testing.assert_array_equal(result, expected)


def test_antialias_can_be_turned_off() -> None:
    array = np.load("in.npy")[None, None]
    for option, antialias in (([], True), (["--antialias"], True), (["--no-antialias"], False)):
        assert main(["resize", "in.npy", "out.npy", "--size", "2", "2", "--force", *option]) == 0
        expected = tenter.interpolate(array, size=(2, 2), mode="bilinear", antialias=antialias)
        np.testing.assert_array_equal(np.load("out.npy"), expected[0, 0])


def test_scale_rounds_down() -> None:
    assert main(["resize", "in.png", "out.png", "--scale", "0.57"]) == 0
    assert Image.open("out.png").size == (5, 6)


def test_repeat() -> None:
    array = np.load("in.npy")
    np.save("counts.npy", np.array([2, 0, 3]))
    for args, expected in (
        (["--counts", "3"], np.repeat(array, 3)),
        (["--counts", "3", "--dim", "-1"], np.repeat(array, 3, axis=1)),
        (["--counts", "counts.npy", "--dim", "0"], np.repeat(array, [2, 0, 3], axis=0)),
    ):
        assert main(["repeat", "in.npy", "out.npy", *args, "--force"]) == 0
        np.testing.assert_array_equal(np.load("out.npy"), expected)


@pytest.mark.parametrize(
    "args",
    [
        ["--counts", "-1"],
        ["--counts", "1.5"],
        ["--counts", "many"],
        ["--counts", "none.npy"],
        ["--counts", "9" * 18],
        ["--counts", "9" * 30],
        ["--counts", "short.npy", "--dim", "0"],
        ["--counts", "below.npy", "--dim", "0"],
        ["--counts", "halves.npy", "--dim", "0"],
        ["--counts", "large.npy", "--dim", "0"],
        ["--counts", "2", "--dim", "2"],
        ["--counts", "2", "--dim", "x"],
        [],
    ],
)
def test_repeat_refuses(capsys: pytest.CaptureFixture[str], args: list[str]) -> None:
    np.save("short.npy", np.array([1, 2]))
    np.save("below.npy", np.array([1, -1, 2]))
    np.save("halves.npy", np.array([1.0, 2.0, 3.0]))
    np.save("large.npy", np.array([2**62, 2**62, 2**62]))
    refused(capsys, "repeat", "in.npy", "out.npy", *args)


def test_repeat_refuses_what_memory_cannot_hold(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("large.npy", np.array([2**62, 2**62, 2**62]))
    for counts in ("9" * 18, "large.npy"):
        assert "of memory here" in refused(capsys, "repeat", "in.npy", "out.npy", "--counts", counts, "--dim", 0)


def test_repeat_refuses_the_same_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert "is the input itself" in refused(capsys, "repeat", "in.npy", "in.npy", "--counts", 2)
    assert "ends in .npy" in refused(capsys, "repeat", "in.png", "out.npy", "--counts", 2)
    assert "ends in .npy" in refused(capsys, "repeat", "in.npy", "out.png", "--counts", 2)


# ---- the tour


def test_tour_end_to_end() -> None:
    pytest.importorskip("rich")
    noise().resize((90, 130)).save("photo.jpg")
    done = command("tour", "--out", "sheet.png", "--photo", "photo.jpg", env={**os.environ, "COLUMNS": "80"})
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[-1] == "sheet.png"
    assert max(map(len, lines)) <= 80
    for text in ("[10, 20, 20, 20, 30, 30]", "(3, 8, 5, 2)", "ValueError: ", "bilinear", "Pillow"):
        assert text in done.stdout, text
    with Image.open("sheet.png") as sheet:
        sheet.load()
        assert sheet.format == "PNG" and sheet.width > 1000
    assert sorted(os.listdir()) == ["in.npy", "in.png", "photo.jpg", "sheet.png"]
    assert command("tour", "--out", "sheet.png", "--photo", "photo.jpg").returncode == 0


def test_tour_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    noise().resize((90, 130)).save("photo.png")
    assert "ends in .png" in refused(capsys, "tour", "--out", "sheet.jpg")
    assert "does not exist" in refused(capsys, "tour", "--out", "no/sheet.png")
    assert "No such file" in refused(capsys, "tour", "--photo", "none.png")
    assert "at least 64" in refused(capsys, "tour", "--photo", "in.png")
    assert "is the photo itself" in refused(capsys, "tour", "--photo", "photo.png", "--out", "photo.png")


def test_the_tours_examples_say_what_the_documentation_says() -> None:
    from tenter.cli.tour_examples import SECTIONS, result_of

    expected = {
        "repeat_interleave(x, 2)": "[1, 1, 2, 2, 3, 3]",
        "repeat_interleave(y, 2)": "[1, 1, 2, 2, 3, 3, 4, 4]",
        "repeat_interleave(y, 3, dim=1)": "[[1, 1, 1, 2, 2, 2], [3, 3, 3, 4, 4, 4]]",
        "repeat_interleave(y, [1, 2], dim=0)": "[[1, 2], [3, 4], [3, 4]]",
        "repeat_interleave([10, 20, 30], [1, 3, 2])": "[10, 20, 20, 20, 30, 30]",
        "repeat_interleave([[1, 2, 3]], [1, 2, 3], dim=1)": "[[1, 2, 2, 3, 3, 3]]",
        "repeat_interleave([1, 2, 3])": "[0, 1, 1, 2, 2, 2]",
        "repeat_interleave([0, 1], [3, 5])": "[0, 0, 0, 1, 1, 1, 1, 1]",
        "repeat_interleave(arange(3), 4)": "[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]",
        "repeat_interleave(kv, 4, dim=1).shape": "(3, 8, 5, 2)",
        "repeat_interleave(kv, 4, dim=1)[0, :, 0, 0] // 10": "[0, 0, 0, 0, 1, 1, 1, 1]",
        "repeat(x, 2)": "[1, 2, 3, 1, 2, 3]",
        "repeat(x, 3, 4, 2).shape": "(3, 4, 6)",
        "expand(x, 2, 3)": "[[1, 2, 3], [1, 2, 3]]",
        "expand(x, 2, 3).flags.writeable": "False",
    }
    calls = [call for section in SECTIONS.values() for _, call in section]
    assert set(expected) <= set(calls)
    failing = [call for call in calls if not result_of(call)[1]]
    assert failing == ["repeat_interleave([[1, 2, 3]], [1, 2], dim=1)", "repeat(y, 2)", "repeat(x, 2, axis=0)"]
    for call, result in expected.items():
        assert result_of(call) == (result, True)


def test_the_tour_draws_its_own_picture_without_a_photograph(monkeypatch: pytest.MonkeyPatch) -> None:
    from tenter.cli import tour

    monkeypatch.setattr(tour, "find_spec", lambda name: None)
    photo, origin = tour._photo(None)
    assert photo.shape == (512, 512, 3) and photo.dtype == np.uint8 and "drawn" in origin
    assert photo.std() > 40


def test_a_reader_that_leaves_early_is_no_traceback() -> None:
    pytest.importorskip("rich")
    run = f"{sys.executable} -m tenter.cli.main tour | head -n 1"
    done = subprocess.run(run, shell=True, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.startswith("tenter stretches arrays")
    assert done.stderr == ""
