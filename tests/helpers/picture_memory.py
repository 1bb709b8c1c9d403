"""How much memory `tenter resize` allocates for images of each kind. The images are noise, whose files are as long as
they can be; the peak of each process is read from /proc."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tifffile
from PIL import Image

from roots import TESTS

PEAK = TESTS / "programs" / "peak_of_command.py"
WIDE, HIGH = 2000, 1500  # of colors; gray has as many samples, and more pixels
LIGHT = "--linear-light"
RUNS = {"to 1/10": ["--scale", "0.1"], "to 9/10": ["--scale", "0.9"], "to 1/2, linear light": ["--scale", "0.5", LIGHT]}


class Kind(NamedTuple):
    """ending: of the file. channels, dtype: of what is stored. by: how it is written."""

    name: str
    ending: str
    channels: int
    dtype: Any = np.uint8
    by: str = "Pillow"


KINDS = [
    Kind("JPEG", ".jpg", 3),
    Kind("JPEG, gray", ".jpg", 1),
    Kind("JPEG, CMYK", ".jpg", 4),
    Kind("PNG", ".png", 3),
    Kind("PNG with alpha", ".png", 4),
    Kind("PNG, gray with alpha", ".png", 2),
    Kind("PNG, palette", ".png", 3, by="palette"),
    Kind("PNG, 16-bit gray", ".png", 1, np.uint16),
    Kind("PNG, 16 bits", ".png", 3, np.uint16, "imagecodecs"),
    Kind("PNG, 16 bits, with alpha", ".png", 4, np.uint16, "imagecodecs"),
    Kind("TIFF", ".tif", 3, by="tifffile"),
    Kind("TIFF, 16-bit gray", ".tif", 1, np.uint16, "tifffile"),
    Kind("TIFF, 16 bits", ".tif", 3, np.uint16, "tifffile"),
    Kind("TIFF, 16 bits, channels apart", ".tif", 3, np.uint16, "tifffile, channels apart"),
    Kind("TIFF, 32-bit integers", ".tif", 1, np.int32, "tifffile"),
    Kind("TIFF, float32 gray", ".tif", 1, np.float32, "tifffile"),
    Kind("TIFF, float32", ".tif", 3, np.float32, "tifffile"),
    Kind("TIFF, float64 gray", ".tif", 1, np.float64, "tifffile"),
    Kind("PPM, 16 bits", ".ppm", 3, np.uint16, "itself"),
    Kind("PFM", ".pfm", 1, np.float32),
    Kind("WebP", ".webp", 3),
    Kind("AVIF", ".avif", 3),
    Kind("JPEG 2000", ".jp2", 3),
    Kind("JPEG 2000, 16 bits", ".jp2", 3, np.uint16, "imagecodecs"),
]
#: what takes more than 8 bytes for each pixel and channel
MORE = {"TIFF, float64 gray", "AVIF", "JPEG 2000", "JPEG 2000, 16 bits"}


def noise(kind: Kind, height: int, width: int) -> Any:
    parts = np.random.default_rng(0).random((height, width, kind.channels), np.float32)
    full = 1 if np.dtype(kind.dtype).kind == "f" else 255 if kind.dtype == np.uint8 else 65535
    pixels = (parts * full).astype(kind.dtype)
    return pixels[..., 0] if kind.channels == 1 else pixels


def write(kind: Kind, path: str, height: int, width: int) -> None:
    pixels = noise(kind, height, width)
    if kind.by.startswith("tifffile"):
        how: dict[str, Any] = {"photometric": "minisblack" if kind.channels == 1 else "rgb", "metadata": None}
        if kind.by.endswith("apart"):
            how, pixels = how | {"planarconfig": "separate"}, np.moveaxis(pixels, -1, 0)
        tifffile.imwrite(path, pixels, **how)
    elif kind.by == "imagecodecs":
        import imagecodecs

        made = (
            imagecodecs.png_encode(pixels, level=1)
            if kind.ending == ".png"
            else imagecodecs.jpeg2k_encode(pixels, level=0, reversible=True, codecformat="jp2")
        )
        Path(path).write_bytes(made)
    elif kind.by == "itself":
        Path(path).write_bytes(b"P6 %d %d 65535\n" % (width, height) + pixels.astype(">u2").tobytes())
    elif kind.by == "palette":
        Image.fromarray(pixels).quantize(256).save(path)
    elif kind.channels == 4 and kind.ending == ".jpg":
        Image.frombytes("CMYK", (width, height), pixels.tobytes()).save(path)
    elif kind.channels == 2:
        Image.frombytes("LA", (width, height), pixels.tobytes()).save(path)
    else:
        Image.fromarray(pixels).save(path, **({"compress_level": 1} if kind.ending == ".png" else {}))


def peak(path: str, *options: str) -> int:
    call = [sys.executable, str(PEAK), "resize", path, f"out{Path(path).suffix}", "--force", *options]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1])


def per_sample(kind: Kind, names: Iterable[str] = RUNS) -> dict[str, float]:
    """Of each of these runs, the bytes for each pixel and channel, beyond what a picture of a few pixels takes. Files
    are in the folder of the process."""
    large, small = f"large{kind.ending}", f"small{kind.ending}"
    height, width = (HIGH * 7 // 4, WIDE * 7 // 4) if kind.channels == 1 else (HIGH, WIDE)
    write(kind, large, height, width)
    write(kind, small, 20, 30)
    no_light = "CMYK" in kind.name or kind.dtype == np.int32
    runs = {name: RUNS[name] for name in names if not (LIGHT in RUNS[name] and no_light)}
    samples = height * width * kind.channels
    peak(small, *next(iter(runs.values())))  # the first process compiles modules, which takes memory
    return {name: (peak(large, *run) - peak(small, *run)) / samples for name, run in runs.items()}
