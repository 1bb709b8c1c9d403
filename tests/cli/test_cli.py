"""The command line: arguments, optional packages, what the commands do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tenter
from cli_helpers import Image, _inside, command, noise, refused, truncated  # noqa: F401
from picture_helpers import write_picture
from tenter.cli.main import main
from tenter.cli.picture import Picture

# ---- arguments


@pytest.mark.parametrize(
    "options",
    [
        ["--size", "5x0"],
        ["--size", "5x-5"],
        ["--size", "nan", "5"],
        ["--size", "5", "inf"],
        ["--size", "5xinf"],
        ["--size", "2.5", "5"],
        ["--size", "2.5x5"],
        ["--size", "9" * 5000, "5"],
        ["--size", "99999999999x5"],
        ["--size", "2147483647x2147483647"],
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
        ["--scale", "2", "--size", "4x3"],
        [],
        ["--scale", "2", "--filter", "cubic"],
        ["--scale", "2", "--mode", "area", "--antialias"],
        ["--scale", "2", "--mode", "nearest", "--antialias"],
        ["--scale", "2", "--quality", "0"],
        ["--scale", "2", "--quality", "high"],
        ["--scale", "2", "--what"],
    ],
)
@pytest.mark.parametrize("name", ["in.png", "in.npy"])
def test_bad_options(capsys: pytest.CaptureFixture[str], options: list[str], name: str) -> None:
    refused(capsys, "resize", name, f"out{name[2:]}", *options)


def test_bad_commands(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "resise", "in.png", "out.png")
    assert "unknown command 'resise' (did you mean `tenter resize in.png out.png`?); known are resize, repeat" in said


def test_the_librarys_own_refusal_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("flags.npy", np.ones((4, 4), bool))
    refused(capsys, "resize", "flags.npy", "out.npy", "--scale", 2)


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for args, word in ((["--version"], "tenter "), (["--help"], "resize"), (["resize", "--help-all"], "(H, W)")):
        with pytest.raises(SystemExit) as ended:
            main(args)
        assert ended.value.code == 0
        assert word in capsys.readouterr().out


# ---- optional packages


@pytest.mark.parametrize(
    ("missing", "args"),
    [
        ("PIL", ["resize", "in.png", "out.png", "--scale", "2"]),
        ("imagecodecs", ["resize", "deep.png", "out.png", "--scale", "2"]),
        ("imagecodecs", ["resize", "deep.tif", "out.png", "--scale", "2"]),
        ("tifffile", ["resize", "deep.tif", "out.tif", "--scale", "2"]),
    ],
)
def test_a_missing_package_is_named_as_pip_installs_it(missing: str, args: list[str]) -> None:
    for name in ("deep.png", "deep.tif"):
        write_picture(Path(name), Picture(np.ones((4, 4, 3), np.uint16), "RGB"))
    code = f"import sys; sys.modules[{missing!r}] = None; from tenter.cli.main import main; sys.exit(main({args!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.endswith(f"pip install {'Pillow' if missing == 'PIL' else missing}\n")


def test_import_tenter_stays_light_and_so_does_the_command() -> None:
    code = "import sys, tenter; print([m for m in ('PIL', 'rich', 'cv2', 'torch', 'argparse') if m in sys.modules]); "
    code += "import tenter.cli.main; assert not {'PIL', 'torch', 'zarr', 'asyncio', 'ssl'} & {*sys.modules}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


# ---- what the commands do


def test_resize_npy() -> None:
    rng = np.random.default_rng(5)
    for shape, dtype in (((9, 8), np.float64), ((9, 8, 4), np.uint8), ((9, 8, 3), ">i2"), ((9, 8, 1), np.float16)):
        array = (rng.random(shape) * 100).astype(dtype)
        np.save("a.npy", array)
        assert main(["resize", "a.npy", "b.npy", "--size", "20x5", "--mode", "bicubic", "--force"]) == 0
        native = array.astype(array.dtype.newbyteorder("="))
        expected = tenter.resize(native, (5, 20), axes=(0, 1), mode="cubic", antialias=True)
        result = np.load("b.npy")
        assert result.dtype == native.dtype
        np.testing.assert_array_equal(result, expected)


def test_antialias_can_be_turned_off() -> None:
    array = np.load("in.npy")[None, None]
    for option, antialias in (([], True), (["--antialias"], True), (["--no-antialias"], False)):
        assert main(["resize", "in.npy", "out.npy", "--size", "2x2", "--force", *option]) == 0
        expected = tenter.interpolate(array, size=(2, 2), mode="bilinear", antialias=antialias)
        np.testing.assert_array_equal(np.load("out.npy"), expected[0, 0])


def test_scale_rounds_down() -> None:
    assert main(["resize", "in.png", "out.png", "--scale", "0.57"]) == 0
    assert Image.open("out.png").size == (5, 6)


def test_repeat() -> None:
    array = np.load("in.npy")
    np.save("counts.npy", np.array([2, 0, 3]))
    for args, expected in (
        (["--repeats", "3"], np.repeat(array, 3)),
        (["--repeats", "3", "--dim", "-1"], np.repeat(array, 3, axis=1)),
        (["--repeats", "counts.npy", "--dim", "0"], np.repeat(array, [2, 0, 3], axis=0)),
    ):
        assert main(["repeat", "in.npy", "out.npy", *args, "--force"]) == 0
        np.testing.assert_array_equal(np.load("out.npy"), expected)


@pytest.mark.parametrize(
    "args",
    [
        ["--repeats", "-1"],
        ["--repeats", "1.5"],
        ["--repeats", "many"],
        ["--repeats", "none.npy"],
        ["--repeats", "9" * 18],
        ["--repeats", "9" * 30],
        ["--repeats", "short.npy", "--dim", "0"],
        ["--repeats", "below.npy", "--dim", "0"],
        ["--repeats", "halves.npy", "--dim", "0"],
        ["--repeats", "large.npy", "--dim", "0"],
        ["--repeats", "2", "--dim", "2"],
        ["--repeats", "2", "--dim", "x"],
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
        assert "of memory here" in refused(capsys, "repeat", "in.npy", "out.npy", "--repeats", counts, "--dim", 0)


def test_repeat_refuses_the_same_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert "is the input itself" in refused(capsys, "repeat", "in.npy", "in.npy", "--repeats", 2)
    assert "ends in .npy" in refused(capsys, "repeat", "in.png", "out.npy", "--repeats", 2)
    assert "ends in .npy" in refused(capsys, "repeat", "in.npy", "out.png", "--repeats", 2)


def test_a_reader_that_leaves_early_is_no_traceback() -> None:
    run = f"{sys.executable} -m tenter.cli.main resize in.png in.npy out/ --scale 2 --jobs 1 | true"
    done = subprocess.run(run, shell=True, capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr == "" and sorted(os.listdir("out")) == ["in.npy", "in.png"]
