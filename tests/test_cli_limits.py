"""`tenter resize`: --max-pixels, the memory that a picture takes, and how close --fast comes to a full decode."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import Image, _inside, command, refused  # noqa: F401
from picture_helpers import read_picture
from program_helpers import prints
from tenter.cli.kept.orientation import turn_back
from tenter.cli.main import main

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")

# ---- --max-pixels


def test_the_command_says_what_allows_more_pixels() -> None:
    head = b"IHDR" + struct.pack(">LLBBBBB", 20000, 20000, 8, 2, 0, 0, 0)
    data = b"IDAT" + zlib.compress(bytes(99))
    chunks = (
        struct.pack(">L", len(chunk) - 4) + chunk + struct.pack(">L", zlib.crc32(chunk)) for chunk in (head, data)
    )
    Path("huge.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
    done = command("resize", "huge.png", "out.png", "--fit", 9)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "damaged" not in done.stderr
    assert "huge.png: Image size (400000000 pixels) exceeds limit of 178956970" in done.stderr
    assert done.stderr.endswith("; --max-pixels allows more\n")


def test_max_pixels_is_exact(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 50)
    for limit in (1, 119):
        for more in ([], ["--dry-run"]):
            said = refused(capsys, "resize", "in.png", "out.png", "--scale", 2, "--max-pixels", limit, *more)
            assert f"Image size (120 pixels) exceeds limit of {limit}" in said and "--max-pixels" in said
    assert main(["resize", "in.png", "out.png", "--scale", "2", "--max-pixels", "120"]) == 0
    assert Image.MAX_IMAGE_PIXELS == 50
    capsys.readouterr()
    for text in ("0", "-1", "many", "1.5"):
        assert "--max-pixels: expected a whole number" in refused(
            capsys, "resize", "in.png", "new.png", "--scale", 2, "--max-pixels", text
        )


# ---- memory

MODES = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4, "P": 3, "I;16": 1}


def per_sample(name: str, mode: str, height: int, width: int, *options: str) -> float:
    """Bytes of memory for each pixel and channel, beyond what a picture of a few pixels takes."""
    ramp = (np.arange(height)[:, None] // 7 + np.arange(width) // 5).astype(np.uint16)
    if mode == "I;16":
        image = Image.fromarray(ramp)
    else:
        bands = len(Image.new(mode, (1, 1)).getbands())
        stack = np.stack([ramp + 40 * c for c in range(bands)], -1).astype(np.uint8)
        image = Image.frombytes(mode, (width, height), stack.tobytes())
    if mode == "P":
        image.putpalette(list(range(256)) * 3)
    image.save(f"large.{name}", **({"compress_level": 1} if name == "png" else {}))
    Image.new("L", (20, 20)).save(f"small.{name}")
    peaks = [
        int(prints("peak_of_command.py", "resize", f"{size}.{name}", f"out-{size}.{name}", *options).split()[-1])
        for size in ("small", "large")
    ]
    return (peaks[1] - peaks[0]) / (height * width * MODES[mode])


@needs_linux
def test_memory_of_a_picture() -> None:
    assert 1 < per_sample("png", "RGB", 2000, 3000, "--scale", "0.1") < 4


@needs_linux
@pytest.mark.slow
@pytest.mark.parametrize("options", [("--scale", "0.1"), ("--scale", "0.9"), ("--scale", "0.5", "--linear-light")])
@pytest.mark.parametrize(
    ("name", "mode"),
    [("jpg", "L"), ("jpg", "RGB"), ("jpg", "CMYK"), ("tif", "RGB"), ("tif", "I;16")]
    + [("png", mode) for mode in ("L", "LA", "RGB", "RGBA", "P", "I;16")],
)
def test_memory_of_fifty_million_pixels(name: str, mode: str, options: tuple[str, ...]) -> None:
    if mode == "CMYK":
        options = tuple(option for option in options if option != "--linear-light")
    assert 1 < per_sample(name, mode, 6250, 8000, *options) < 8


# ---- --fast


def psnr(a: Any, b: Any) -> float:
    error = np.mean((a.astype(float) - b) ** 2)
    return float("inf") if error == 0 else 10 * np.log10(255**2 / error)


@pytest.fixture
def photo() -> Any:
    """photo.jpg: 512 x 400 pixels with subsampled colors, as cameras have them."""
    pixels = pytest.importorskip("skimage.data").astronaut()[:, :400]
    Image.fromarray(pixels).save("photo.jpg", quality=92, subsampling=2)
    return pixels


def made(*options: Any, name: str = "photo.jpg") -> Any:
    assert main(["resize", name, "out.npy", *map(str, options), "--force"]) == 0
    return np.load("out.npy")


def reductions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """By how much decoders were asked to shrink, from now on."""
    jpeg = pytest.importorskip("PIL.JpegImagePlugin").JpegImageFile
    found, draft = [], jpeg.draft

    def noted(self: Any, mode: Any, size: Any) -> Any:
        before = self.width
        result = draft(self, mode, size)
        found.append(round(before / self.width))
        return result

    monkeypatch.setattr(jpeg, "draft", noted)
    return found


@pytest.mark.usefixtures("photo")
@pytest.mark.parametrize("name", ["linear", "cubic", "lanczos"])
@pytest.mark.parametrize(("size", "by"), [(86, 1), (85, 2), (64, 2), (42, 4), (21, 8), (9, 8)])
def test_fast_is_close(monkeypatch: pytest.MonkeyPatch, name: str, size: int, by: int) -> None:
    full = made("--height", size, "--filter", name)
    found = reductions(monkeypatch)
    fast = made("--height", size, "--filter", name, "--fast")
    assert found == ([] if by == 1 else [by])
    assert fast.shape == full.shape and psnr(fast, full) >= (float("inf") if by == 1 else 47)


def test_fast_loses_more_of_fine_colored_lines() -> None:
    lines = np.full((512, 512, 3), 255, np.uint8)
    lines[::9], lines[:, ::13] = 0, (200, 0, 0)
    Image.fromarray(lines).save("lines.jpg", quality=92, subsampling=2)
    for size in (85, 42, 21):
        full, fast = (made("--height", size, *more, name="lines.jpg") for more in ([], ["--fast"]))
        assert 28 <= psnr(full, fast) < 40


@pytest.mark.usefixtures("photo")
@pytest.mark.parametrize(
    "options",
    [
        ["--filter", "nearest"],
        ["--filter", "area"],
        ["--no-antialias"],
        ["--like", "opencv"],
        ["--linear-light"],
        ["--box", "10", "10", "200", "200"],
    ],
)
def test_fast_is_exact_where_the_decoder_would_lose(monkeypatch: pytest.MonkeyPatch, options: list[str]) -> None:
    found = reductions(monkeypatch)
    full, fast = (made("--fit", 40, *options, *more) for more in ([], ["--fast"]))
    assert found == []
    np.testing.assert_array_equal(fast, full)


@pytest.mark.parametrize("orientation", [1, 3, 6])
def test_fast_takes_parts_of_a_turned_picture_to_the_fraction(photo: Any, orientation: int) -> None:
    exif = Image.Exif()
    exif[274] = orientation
    odd = np.ascontiguousarray(turn_back(photo[:509, :397], orientation))  # sides that no reduction divides
    Image.fromarray(odd).save("turned.jpg", quality=95, subsampling=0, exif=exif)
    for options in (
        ["--fill", "40x30", "--gravity", "south"],
        ["--fit", "40x40"],
        ["--width", 20, "--box", 9, 5, 400, 390],
    ):
        full, fast = (made(*options, *more, name="turned.jpg") for more in ([], ["--fast"]))
        assert full.shape == fast.shape and 45 <= psnr(full, fast) < float("inf")


@pytest.mark.usefixtures("photo")
def test_the_command_is_exact_unless_told_to_be_fast() -> None:
    x = np.asarray(Image.open("photo.jpg"))
    assert command("resize", "photo.jpg", "out.png", "--height", 40).returncode == 0
    for more in ([], ["--fast"]):
        assert not more or main(["resize", "photo.jpg", "out.png", "--height", "40", "--force", *more]) == 0
        found = read_picture(Path("out.png")).pixels
        expected = tenter.image.resize(x, height=40, like="torch", antialias=True)
        assert found.shape == expected.shape and np.array_equal(found, expected) == (more == [])
