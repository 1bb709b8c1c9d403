"""The `tenter` command as a person meets it: refusals in one line, nothing half-written, repeat, tour."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from tenter.cli import output
from tenter.cli.main import main

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs in its own folder, so that a stray file shows."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 256, (12, 10, 3), np.uint8)).save("in.png")
    np.save("in.npy", np.arange(12.0).reshape(3, 4))


def command(*args: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "-m", "tenter.cli.main", *map(str, args)]
    return subprocess.run(run, capture_output=True, text=True, timeout=120, check=False, **options)


def refused(capsys: pytest.CaptureFixture[str], *args: Any) -> str:
    """Run a command that has to fail, and return its one line."""
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert main([str(arg) for arg in args]) == 2
    # outside of tests a warning would be a second line
    assert [str(warning.message) for warning in warned] == []
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("tenter: ") and said.err.endswith("\n") and said.err.count("\n") == 1, said.err
    assert {path: path.stat().st_mtime_ns for path in Path().rglob("*")} == before
    return said.err


def truncated(name: str, save: Callable[[str], None], keep: float = 0.6) -> str:
    save(name)
    data = Path(name).read_bytes()
    Path(name).write_bytes(data[: int(len(data) * keep)])
    return name


def noise(mode: str = "RGB") -> Any:
    rng = np.random.default_rng(1)
    return Image.fromarray(rng.integers(0, 256, (40, 40, len(mode)), np.uint8).squeeze())


# ---- inputs


def test_missing_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert "none.png: No such file" in refused(capsys, "resize", "none.png", "out.png", "--scale", 2)


def test_input_is_a_directory(capsys: pytest.CaptureFixture[str]) -> None:
    Path("folder.png").mkdir()
    assert "is a directory" in refused(capsys, "resize", "folder.png", "out.png", "--scale", 2)


@pytest.mark.parametrize("name", ["empty.png", "empty.npy"])
def test_empty_input(capsys: pytest.CaptureFixture[str], name: str) -> None:
    Path(name).touch()
    assert "is empty" in refused(capsys, "resize", name, "out.png", "--scale", 2)


def test_a_pipe_is_not_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe.png")
    assert "not an ordinary file" in refused(capsys, "resize", "pipe.png", "out.png", "--scale", 2)


@pytest.mark.parametrize("name", ["text.png", "text.jpg", "text.tif"])
def test_not_an_image(capsys: pytest.CaptureFixture[str], name: str) -> None:
    Path(name).write_text("this is not a picture, whatever its name says" * 20)
    assert "is not a PNG, JPEG or TIFF" in refused(capsys, "resize", name, "out.png", "--scale", 2)


@pytest.mark.parametrize("name", ["cut.png", "cut.jpg", "cut.tif"])
@pytest.mark.parametrize("keep", [0.05, 0.5, 0.9])
def test_truncated_picture(capsys: pytest.CaptureFixture[str], name: str, keep: float) -> None:
    truncated(name, lambda path: noise().save(path), keep)
    refused(capsys, "resize", name, "out.png", "--scale", 2)


@pytest.mark.parametrize("name", ["deep.png", "deep.tif"])
@pytest.mark.parametrize("keep", [0.1, 0.5, 0.9])
def test_truncated_deep_picture(capfd: pytest.CaptureFixture[str], name: str, keep: float) -> None:
    cv2 = pytest.importorskip("cv2")
    pixels = np.random.default_rng(2).integers(0, 65536, (40, 40, 3), np.uint16)
    truncated(name, lambda path: cv2.imwrite(path, pixels), keep)
    said = refused(capfd, "resize", name, "out.png", "--scale", 2)
    # OpenCV puts a TIFF's directory at its end, and without it nothing tells what the file is
    assert "truncated or damaged" in said or name == "deep.tif"


def test_damaged_bytes_never_give_a_traceback() -> None:
    """Flip bytes of real files: each run ends in a picture or in one line, never in another exception."""
    rng = np.random.default_rng(3)
    for name in ("d.png", "d.jpg", "d.tif"):
        noise().save(name)
        good = Path(name).read_bytes()
        for _ in range(40):
            bad = bytearray(good)
            for place in rng.integers(0, min(len(bad), 400), 3):
                bad[place] = rng.integers(256)
            Path(name).write_bytes(bad)
            assert main(["resize", name, "out.png", "--size", "5", "5", "--force"]) in (0, 2)
    assert not list(Path().glob(".tenter*"))


@pytest.mark.parametrize("format_", ["PNG", "TIFF"])
def test_several_frames(capsys: pytest.CaptureFixture[str], format_: str) -> None:
    name = f"many.{format_.lower()}"
    noise().save(name, format_, save_all=True, append_images=[noise().rotate(90), noise().rotate(180)])
    assert "has 3 frames" in refused(capsys, "resize", name, "out.png", "--scale", 2)


def test_gif_is_no_known_type(capsys: pytest.CaptureFixture[str]) -> None:
    noise().save("a.gif")
    assert "unknown file type '.gif'" in refused(capsys, "resize", "a.gif", "out.png", "--scale", 2)
    assert "unknown file type '(none)'" in refused(capsys, "resize", "in.png", "out", "--scale", 2)


def test_decompression_bomb(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 50)
    assert "decompression bomb" in refused(capsys, "resize", "in.png", "out.png", "--scale", 2)


def test_npy_of_objects(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("objects.npy", np.array([[1, "a"], [None, 2]], dtype=object), allow_pickle=True)
    assert "pickled" in refused(capsys, "resize", "objects.npy", "out.npy", "--scale", 2)
    assert "pickled" in refused(capsys, "repeat", "objects.npy", "out.npy", "--counts", 2)


@pytest.mark.parametrize("keep", [0.02, 0.3, 0.9])
def test_truncated_npy(capsys: pytest.CaptureFixture[str], keep: float) -> None:
    truncated("cut.npy", lambda path: np.save(path, np.ones((20, 30))), keep)
    assert "cut.npy" in refused(capsys, "resize", "cut.npy", "out.npy", "--scale", 2)
    assert "cut.npy" in refused(capsys, "repeat", "cut.npy", "out.npy", "--counts", 2)


def test_npy_that_claims_more_than_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    header = {"descr": "<f8", "fortran_order": False, "shape": (800_000, 900_000)}
    with open("huge.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.write(b"\0" * 800)
    assert "is truncated or damaged" in refused(capsys, "resize", "huge.npy", "out.npy", "--scale", 2)


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04 a zip", b"\x80\x04K\x01.", b"\x93NUMPY\x09\x00", b"\x93NUMPY\x01\x00\xff\xff{"]
)
def test_not_npy(capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    Path("bad.npy").write_bytes(content)
    assert "bad.npy: is " in refused(capsys, "resize", "bad.npy", "out.npy", "--scale", 2)


@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 4, 5), (0, 4), (3, 0, 2)])
def test_npy_of_a_shape_that_is_no_image(capsys: pytest.CaptureFixture[str], shape: tuple[int, ...]) -> None:
    np.save("odd.npy", np.ones(shape))
    assert f"got shape {shape}" in refused(capsys, "resize", "odd.npy", "out.npy", "--scale", 2)


def test_a_line_break_in_a_name_makes_no_second_line(capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, "resize", "two\nlines.png", "out.png", "--scale", 2)
    Path("two\nlines.png").touch()
    refused(capsys, "resize", "two\nlines.png", "out.png", "--scale", 2)


# ---- outputs


def test_output_folder_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert "does not exist" in refused(capsys, "resize", "in.png", "no/out.png", "--scale", 2)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_output_folder_is_read_only(capsys: pytest.CaptureFixture[str]) -> None:
    Path("locked").mkdir(mode=0o500)
    assert "not writable" in refused(capsys, "resize", "in.png", "locked/out.png", "--scale", 2)


def test_output_folder_that_the_system_calls_read_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    assert "not writable" in refused(capsys, "resize", "in.png", "out.png", "--scale", 2)


def test_output_is_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    Path("out.png").mkdir()
    assert "is a directory" in refused(capsys, "resize", "in.png", "out.png", "--scale", 2, "--force")


def test_output_exists(capsys: pytest.CaptureFixture[str]) -> None:
    Path("out.png").write_text("mine")
    assert "--force" in refused(capsys, "resize", "in.png", "out.png", "--scale", 2)
    assert main(["resize", "in.png", "out.png", "--scale", "2", "--force"]) == 0
    assert Image.open("out.png").size == (20, 24)


def test_input_is_output(capsys: pytest.CaptureFixture[str]) -> None:
    os.link("in.png", "same.png")
    for name in ("in.png", "./in.png", "same.png"):
        assert "is the input itself" in refused(capsys, "resize", "in.png", name, "--scale", 2)
    assert main(["resize", "in.png", "in.png", "--scale", "2", "--force"]) == 0
    assert Image.open("in.png").size == (20, 24)


def test_force_follows_a_link() -> None:
    Path("real.png").write_text("old")
    Path("link.png").symlink_to("real.png")
    assert main(["resize", "in.png", "link.png", "--scale", "2", "--force"]) == 0
    assert Path("link.png").is_symlink() and Image.open("real.png").size == (20, 24)


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile_is_kept(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", _no_links)
    target = output.check_output("out.npy", None, force=False)

    def write(file: Any) -> None:
        file.write(b"ours")
        target.write_bytes(b"theirs")

    with pytest.raises(output.Refusal, match="appeared"):
        output.write_beside(target, False, write)
    assert target.read_bytes() == b"theirs"
    assert sorted(os.listdir()) == ["in.npy", "in.png", "out.npy"]


def test_a_folder_without_hard_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", _no_links)
    assert main(["resize", "in.png", "out.png", "--scale", "2"]) == 0
    assert Image.open("out.png").size == (20, 24)
    assert sorted(os.listdir()) == ["in.npy", "in.png", "out.png"]


def _no_links(*_: Any) -> None:
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError, OSError(28, "No space left on device")])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_failure_while_writing_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], failure: Any, force: list[str]
) -> None:
    def save(file: Any, *_: Any, **__: Any) -> None:
        file.write(b"half")
        file.flush()
        assert len(list(Path().glob(".tenter-*"))) == 1
        raise failure

    Path("out.npy").write_text("old") if force else None
    monkeypatch.setattr(np, "save", save)
    code = main(["resize", "in.npy", "out.npy", "--scale", "2", *force])
    assert code == (130 if failure is KeyboardInterrupt else 2)
    assert capsys.readouterr().err.count("\n") == 1
    assert not list(Path().glob(".tenter-*"))
    assert Path("out.npy").read_text() == "old" if force else not Path("out.npy").exists()


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_permissions_are_those_of_any_new_file(mask: int) -> None:
    old = os.umask(mask)
    try:
        assert main(["resize", "in.png", "out.png", "--scale", "2"]) == 0
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat("out.png").st_mode) == 0o666 & ~mask


@pytest.mark.parametrize(
    ("mode", "name", "word"),
    [
        ("RGBA", "out.jpg", "no alpha channel"),
        ("LA", "out.jpeg", "no alpha channel"),
        ("CMYK", "out.png", "no CMYK"),
        ("F", "out.png", "float32"),
        ("F", "out.jpg", "float32"),
        ("I", "out.png", "int32"),
        ("I;16", "out.jpg", "JPEG holds 8 bits"),
    ],
)
def test_a_type_that_cannot_hold_the_picture(
    capsys: pytest.CaptureFixture[str], mode: str, name: str, word: str
) -> None:
    Image.new(mode, (5, 5)).save("a.tif")
    assert word in refused(capsys, "resize", "a.tif", name, "--scale", 2)


@pytest.mark.parametrize(
    ("array", "name", "word"),
    [
        (np.ones((4, 4, 5), np.uint8), "out.png", "1 to 4 channels"),
        (np.ones((4, 4), np.float64), "out.tif", "float64"),
        (np.ones((4, 4, 3), np.float32), "out.tif", "float32 RGB"),
        (np.ones((4, 4, 3), np.uint16), "out.jpg", "JPEG holds 8 bits"),
    ],
)
def test_arrays_that_no_picture_holds(
    capsys: pytest.CaptureFixture[str], array: np.ndarray[Any, Any], name: str, word: str
) -> None:
    np.save("a.npy", array)
    assert word in refused(capsys, "resize", "a.npy", name, "--scale", 2)


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
        stack = array.astype(array.dtype.newbyteorder("=")).reshape(9, 8, -1).transpose(2, 0, 1)[None]
        expected = tenter.interpolate(stack, size=(5, 20), mode="bicubic", antialias=True)[0].transpose(1, 2, 0)
        result = np.load("b.npy")
        assert result.dtype == stack.dtype
        np.testing.assert_array_equal(result, expected.reshape(5, 20, *shape[2:]))


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
