"""What the tests of picture files share: pixels of each kind, the definition of a result, a run, another reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from tenter.cli.formats import FORMATS
from tenter.cli.main import main
from tenter.cli.picture import Origin, Picture
from tenter.cli.reading.opening import opened
from tenter.cli.writing.encoding import Encoding
from tenter.cli.writing.files import write_pictures

Image = pytest.importorskip("PIL.Image")
H, W = 20, 26
NEW = (9, 31)
CHANNELS = {"gray": 1, "gray+alpha": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}


def pixels_of(kind: str, dtype: Any = np.uint8, opaque: bool = True) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(CHANNELS[kind])
    shape = (H, W) if kind == "gray" else (H, W, CHANNELS[kind])
    if dtype == np.float32:
        return rng.normal(size=shape).astype(dtype)
    info = np.iinfo(dtype)
    pixels = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    if kind in ("gray+alpha", "RGBA") and opaque:
        pixels[..., -1] = info.max
    return pixels


def resized(pixels: np.ndarray[Any, Any], size: tuple[int, int] = NEW, mode: str = "bilinear") -> np.ndarray[Any, Any]:
    """The definition: the library on the bare array, by the rules that the command follows."""
    named = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    return tenter.resize(pixels, size, axes=(0, 1), mode=named)


def read_picture(path: Path) -> Picture:
    """The first picture of a file."""
    with opened(path) as (_, pictures):
        return next(pictures)


def write_picture(path: Path, *pictures: Picture, origin: Origin | None = None) -> None:
    with open(path, "wb") as file:
        of_all = (origin or Origin())._replace(frames=len(pictures))
        write_pictures(file, iter(pictures), str(path), FORMATS[path.suffix], of_all, Encoding())


def run(command: str, *args: Any) -> None:
    """Run a command that succeeds. Where nothing names a filter, it is one whose values are easy to say."""
    words = [str(arg) for arg in args]
    named = command != "resize" or {"--mode", "--labels", "--like"} & set(words)
    assert main([command, *words, *([] if named else ["--mode", "linear"])]) == 0


def resize(source: Path, target: Path, *options: Any, size: tuple[int, int] = NEW) -> Picture:
    run("resize", source, target, "--size", f"{size[1]}x{size[0]}", *options)
    return read_picture(target)


def by_opencv(path: Path) -> np.ndarray[Any, Any]:
    cv2 = pytest.importorskip("cv2")
    pixels = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    return pixels if pixels.ndim == 2 else pixels[..., [2, 1, 0, 3][: pixels.shape[2]]]
