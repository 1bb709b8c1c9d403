"""Writes docs/measured/images.md: why `tenter resize` has its default filter and qualities.

`python docs/picture_defaults.py` resizes scikit-image's photographs by the command, libvips and Pillow, and encodes
them at several qualities. Nothing is timed.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyvips
import skimage
from PIL import Image, __version__ as pillow
from skimage import data
from skimage.metrics import structural_similarity

from tenter.cli.main import main as command

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import marks  # noqa: E402
from benchmarks.machine import now, when  # noqa: E402

PAGE = HERE / "measured" / "images.md"
BEGIN, END = "<!-- images:begin -->\n", "<!-- images:end -->\n"
SIDE = 160
FILTERS = ("linear", "cubic", "lanczos")
QUALITIES = {"JPEG": (75, 80, 85, 90, 95), "WEBP": (75, 80, 85, 90), "AVIF": (60, 65, 70, 80)}
#: what vipsthumbnail writes without a word: the size that others are compared with
USUAL = ("JPEG", 75)


def photographs() -> dict[str, Any]:
    page = np.repeat(data.page()[..., None], 3, 2)
    stars = data.hubble_deep_field()[:512, :512]
    return {"face": data.astronaut(), "cup": data.coffee(), "cat": data.chelsea(), "text": page, "stars": stars}


def crispness(pixels: Any) -> float:
    """The mean length of the gradient of brightness."""
    y, x = np.gradient(np.asarray(pixels).astype(float).mean(-1))
    return float(np.hypot(y, x).mean())


def likeness(a: Any, b: Any) -> float:
    return float(structural_similarity(a, b, channel_axis=2))


def resized(pixels: Any, *options: str) -> Any:
    Image.fromarray(pixels).save("in.png")
    with contextlib.redirect_stdout(io.StringIO()):
        assert command(["resize", "in.png", "out.png", *options, "--force"]) == 0
    return np.asarray(Image.open("out.png").convert("RGB"))


def by_vips(pixels: Any) -> Any:
    """As the program vipsthumbnail."""
    Image.fromarray(pixels).save("in.png")
    return pyvips.Image.thumbnail("in.png", SIDE, height=SIDE).numpy()[..., :3]


def thumbnail(pixels: Any) -> Any:
    image = Image.fromarray(pixels)
    image.thumbnail((SIDE, SIDE))
    return np.asarray(image)


def filters() -> list[list[str]]:
    """How crisp thumbnails are; and how like a picture its half is once it is enlarged again."""
    photos = photographs()
    rows = [["", *photos, "half size, enlarged again: SSIM"]]
    for name in FILTERS:
        small = [f"{crispness(resized(x, '--fit', str(SIDE), '--mode', name)):.1f}" for x in photos.values()]
        back = []
        for x in photos.values():
            even = np.ascontiguousarray(x[: len(x) // 2 * 2, : x.shape[1] // 2 * 2])
            half = resized(even, "--scale", "0.5", "--mode", "area")
            back.append(likeness(resized(half, "--scale", "2", "--mode", name), even))
        rows.append([f"`--mode {name}`", *small, f"{np.mean(back):.3f}"])
    others = {"libvips": by_vips, "Pillow's `thumbnail()`": thumbnail}
    return rows + [[name, *(f"{crispness(make(x)):.1f}" for x in photos.values()), ""] for name, make in others.items()]


def qualities() -> list[list[str]]:
    """The bytes of files, and how like the pictures they are, of brightness and of colors."""
    found: dict[tuple[str, int], list[list[float]]] = {}
    for pixels in photographs().values():
        small = resized(pixels, "--scale", "0.6")
        for type_, steps in QUALITIES.items():
            for quality in steps:
                file = io.BytesIO()
                how: dict[str, Any] = {"subsampling": "4:2:0" if quality < 90 else "4:4:4"} if type_ == "JPEG" else {}
                Image.fromarray(small).save(file, type_, quality=quality, **how)
                pair = [np.asarray(image.convert("YCbCr")) for image in (Image.fromarray(small), Image.open(file))]
                parts = [likeness(pair[0][..., at], pair[1][..., at]) for at in ([0], [1, 2])]
                found.setdefault((type_, quality), []).append([len(file.getvalue()), *parts])
    usual = np.array(found[USUAL])[:, 0]
    rows = [["quality", "bytes, JPEG of 75 is 1", "SSIM of brightness", "of colors"]]
    for (type_, quality), values in found.items():
        size, light, colors = np.mean(np.array(values) / [[n, 1, 1] for n in usual], 0)
        rows.append([f"{type_.replace('WEBP', 'WebP')} {quality}", f"{size:.2f}", f"{light:.3f}", f"{colors:.3f}"])
    return rows


def table(rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in [rows[0], ["---"] * len(rows[0]), *rows[1:]])


def tables() -> str:
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            made = f"{table(filters())}\n{table(qualities())}"
        finally:
            os.chdir(home)
    versions = f"libvips {pyvips.version(0)}.{pyvips.version(1)}, Pillow {pillow}, scikit-image {skimage.__version__}"
    return f"{versions}; {when(now())}.\n\n{made}"


if __name__ == "__main__":
    sys.exit(marks.write(PAGE, BEGIN, END, tables))
