"""The command line: inputs that cannot be read, outputs that cannot be written, and outputs that appear whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import Image, _inside, command, noise, refused, truncated  # noqa: F401
from tenter.cli.main import main

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
    assert "not a regular file" in refused(capsys, "resize", "pipe.png", "out.png", "--scale", 2)


@pytest.mark.parametrize("name", ["text.png", "text.jpg", "text.tif"])
def test_not_an_image(capsys: pytest.CaptureFixture[str], name: str) -> None:
    Path(name).write_text("this is not an image, whatever its name says" * 20)
    assert "is not an image" in refused(capsys, "resize", name, "out.png", "--scale", 2)


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
    # OpenCV writes a TIFF's directory at the end, and without the directory Pillow does not recognize the file
    assert "truncated or damaged" in said or name == "deep.tif"


def test_damaged_bytes_never_give_a_traceback() -> None:
    """Change bytes of valid files: each run writes a picture or prints one line, and raises no other exception."""
    rng = np.random.default_rng(3)
    for name in ("d.png", "d.jpg", "d.tif"):
        noise().save(name)
        good = Path(name).read_bytes()
        for _ in range(40):
            bad = bytearray(good)
            for place in rng.integers(0, min(len(bad), 400), 3):
                bad[place] = rng.integers(256)
            Path(name).write_bytes(bad)
            assert main(["resize", name, "out.png", "--size", "5x5", "--force"]) in (0, 2)
    assert not list(Path().glob(".tenter*"))


@pytest.mark.parametrize("format_", ["PNG", "TIFF"])
def test_of_several_frames_a_type_of_one_holds_the_first(capsys: pytest.CaptureFixture[str], format_: str) -> None:
    name = f"many.{format_.lower()}"
    noise().save(name, format_, save_all=True, append_images=[noise().rotate(90), noise().rotate(180)])
    for output in ("out.jpg", "out.npy"):
        for more in (["--dry-run"], []):
            assert main(["resize", name, output, "--scale", "2", *more]) == 0
            said = capsys.readouterr().out
            assert said.endswith(
                f"80 x 80 (from {name}: 40 x 40){'' if more else '; not kept: further images of the file'}\n"
            )
    assert main(["resize", name, "first.npy", "--scale", "2", "--frame", "0"]) == 0
    np.testing.assert_array_equal(np.load("out.npy"), np.load("first.npy"))
    assert Image.open("out.jpg").size == (80, 80)
    capsys.readouterr()
    for frame in (3, -4, "x"):
        assert "--frame: expected " in refused(capsys, "resize", name, "new.jpg", "--scale", 2, "--frame", frame)


def test_unknown_types(capsys: pytest.CaptureFixture[str]) -> None:
    assert "unknown file type '.xyz'" in refused(capsys, "resize", "in.png", "a.xyz", "--scale", 2)
    assert ".mpo is read and not written; .jpg is" in refused(capsys, "resize", "in.png", "a.mpo", "--scale", 2)
    assert "unknown file type '(none)'" in refused(capsys, "resize", "in.png", "out", "--scale", 2)


def test_decompression_bomb(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 50)
    assert "decompression bomb" in refused(capsys, "resize", "in.png", "out.png", "--scale", 2)


def test_npy_of_objects(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("objects.npy", np.array([[1, "a"], [None, 2]], dtype=object), allow_pickle=True)
    assert "pickled" in refused(capsys, "resize", "objects.npy", "out.npy", "--scale", 2)
    assert "pickled" in refused(capsys, "repeat", "objects.npy", "out.npy", "--repeats", 2)


@pytest.mark.parametrize("keep", [0.02, 0.3, 0.9])
def test_truncated_npy(capsys: pytest.CaptureFixture[str], keep: float) -> None:
    truncated("cut.npy", lambda path: np.save(path, np.ones((20, 30))), keep)
    assert "cut.npy" in refused(capsys, "resize", "cut.npy", "out.npy", "--scale", 2)
    assert "cut.npy" in refused(capsys, "repeat", "cut.npy", "out.npy", "--repeats", 2)


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
        (np.ones((4, 4), np.complex64), "out.tif", "complex64"),
        (np.ones((4, 4, 3), np.float32), "out.png", "float32"),
        (np.ones((4, 4, 3), np.uint16), "out.webp", "WebP holds 8 bits"),
        (np.ones((4, 4, 4), np.uint8), "out.bmp", "no alpha channel"),
        (np.ones((4, 300), np.uint8), "out.ico", "at most 256 pixels a side"),
        (np.ones((4, 4, 3), np.uint16), "out.jpg", "JPEG holds 8 bits"),
    ],
)
def test_arrays_that_no_picture_holds(
    capsys: pytest.CaptureFixture[str], array: np.ndarray[Any, Any], name: str, word: str
) -> None:
    np.save("a.npy", array)
    assert word in refused(capsys, "resize", "a.npy", name, "--scale", 2)
