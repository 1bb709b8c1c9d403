"""`tenter resize`: --max-pixels, and the memory that a picture takes."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from cli_helpers import Image, _inside, command, refused  # noqa: F401
from program_helpers import prints
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
