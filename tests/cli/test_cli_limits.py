"""`tenter resize`: --max-pixels, and the memory that a picture takes."""

from __future__ import annotations

import importlib.util
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Image, _inside, command, refused  # noqa: F401
from sweeps import sampled
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

MEMORY: Any = importlib.import_module("picture_memory") if importlib.util.find_spec("tifffile") else None
KINDS: dict[str, Any] = {kind.name: kind for kind in MEMORY.KINDS} if MEMORY else {}


@needs_linux
@pytest.mark.parametrize("name", sampled(["PNG", "TIFF, float32 gray"], 2))
def test_memory_of_a_picture(name: str) -> None:
    assert 1 < MEMORY.per_sample(KINDS[name], ["to 1/10"])["to 1/10"] < 5


@needs_linux
@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_memory_is_below_8_bytes_a_sample(name: str) -> None:
    pytest.importorskip("imagecodecs")
    found = max(MEMORY.per_sample(KINDS[name]).values())
    assert 8 < found < 18 if name in MEMORY.MORE else found < 8
