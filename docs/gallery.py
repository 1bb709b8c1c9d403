"""Makes docs/gallery.md and its pictures: `python docs/gallery.py`.

Each tile has a line of code: the page shows it, this program runs it, and the tile shows its result, as it is or each
pixel enlarged. The photographs come with scikit-image.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import dask.array as da
import numpy as np
import numpy.typing as npt
import tifffile
import torch
import torch.nn.functional as F  # noqa: N812
import zarr
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage
from skimage import data

import tenter
from tenter.cli.main import main as command

Pixels = npt.NDArray[Any]

HERE = Path(__file__).resolve().parent
SIDE, LABEL = 240, 26  # of a tile: three stand in a row on a page, one on a phone
GRAY, CARD, MISSING = "#768390", (222, 235, 247), (214, 51, 132)  # gray is read on white and on black
SCOPE = {"np": np, "tenter": tenter, "torch": torch, "F": F, "cv2": cv2, "Image": Image, "ndimage": ndimage, "da": da}


class Panel(NamedTuple):
    name: str
    title: str
    text: str
    x: Any  # what the code of its tiles calls x
    tiles: dict[str, str]  # code by label


def tensor(x: Pixels) -> Any:
    """One image as PyTorch takes it."""
    return torch.from_numpy(np.ascontiguousarray(x)).permute(2, 0, 1)[None]


def cut_out() -> Pixels:
    """The cat's face in a circle, on transparent black."""
    x = data.chelsea()[10:250, 100:340]
    y = np.mgrid[:240, :240] - 119.5
    alpha = np.clip(112 - np.hypot(*y), 0, 1)
    return np.concatenate([np.where(alpha[..., None] > 0, x, 0), alpha[..., None] * 255], -1).astype(np.uint8)


def dead_pixels() -> Pixels:
    """A phase image of a cell: one pixel in twenty is missing."""
    x = data.cell()[180:660, 70:550].astype(np.float32)
    x[np.random.default_rng(0).random(x.shape) < 0.05] = np.nan
    return x


def coins() -> Pixels:
    """A number for each coin."""
    x = ndimage.gaussian_filter(data.coins()[12:300, 60:348].astype(float), 1)
    return ndimage.label(ndimage.binary_opening(x > ndimage.gaussian_filter(x, 40) + 4, iterations=4))[0].astype(
        np.uint8
    )


def stack() -> Pixels:
    """Files of the tiles of the pyramid, in the working folder."""
    x = data.immunohistochemistry()[:480, :480]
    tifffile.imwrite("gland.tif", x, imagej=True, resolution=(2, 2), metadata={"unit": "um", "axes": "YXS"})
    return x


def panels() -> Iterator[Panel]:
    fur, eye = data.chelsea()[:300, 75:375], data.chelsea()[93:133, 149:189]
    yield Panel("antialias", "Shrinking a photograph",
        "To a fifth. Fur turns into noise where pixels are skipped: the default of PyTorch, OpenCV and SciPy. "
        "tenter and Pillow average all pixels, and agree bit for bit.", fur, {
            "tenter": "tenter.resize(x, (60, 60), axes=(0, 1))",
            "Pillow": "Image.fromarray(x).resize((60, 60), Image.Resampling.BILINEAR)",
            "PyTorch, antialias=True": 'F.interpolate(tensor(x), (60, 60), mode="bilinear", antialias=True)',
            "PyTorch": 'F.interpolate(tensor(x), (60, 60), mode="bilinear")',
            "OpenCV": "cv2.resize(x, (60, 60))",
            "SciPy": "ndimage.zoom(x, (0.2, 0.2, 1), order=1)",
        })  # fmt: skip
    yield Panel("modes", "Modes that shrink",
        "The same picture, each tile crisper than the one before. `lanczos` is the default of `image.resize` "
        "and of the command, `linear` that of `resize`. Nearest modes are for labels.", fur, {
            mode: f'tenter.image.resize(x, (60, 60), mode="{mode}")'
            for mode in ("linear", "mitchell", "area", "cubic", "lanczos", "nearest-exact")
        })  # fmt: skip
    yield Panel("enlarging", "Enlarging",
        "An eye of 40 x 40 pixels, six times as large. Lanczos keeps edges sharpest, with faint ripples; "
        "OpenCV's cubic is steeper than Pillow's, and `like` follows either.", eye, {
            "linear": "tenter.resize(x, (240, 240), axes=(0, 1))",
            "cubic": 'tenter.resize(x, (240, 240), axes=(0, 1), mode="cubic")',
            "lanczos": 'tenter.resize(x, (240, 240), axes=(0, 1), mode="lanczos")',
            "Pillow, BICUBIC": "Image.fromarray(x).resize((240, 240), Image.Resampling.BICUBIC)",
            "OpenCV, INTER_CUBIC": "cv2.resize(x, (240, 240), interpolation=cv2.INTER_CUBIC)",
            "cubic, like OpenCV": 'tenter.resize(x, (240, 240), axes=(0, 1), mode="cubic", like="opencv")',
        })  # fmt: skip
    yield Panel("splines", "Splines",
        "The eye's green channel, 24 x 24 pixels, ten times as large. `tenter.scipy.zoom` has the values of SciPy's "
        "splines of order 3. "
        "`bspline` is the same curve without the prefilter, which blurs.", np.float32(eye[8:32, 8:32, 1]), {
            "tenter.scipy": "tenter.scipy.zoom(x, 10, order=3)",
            "SciPy": "ndimage.zoom(x, 10, order=3)",
            "bspline": 'tenter.resize(x, (240, 240), mode="bspline")',
        })  # fmt: skip
    yield Panel("alpha", "Alpha", "A cut-out whose transparent pixels are black, shrunk to 30 x 30 and laid on blue. "
        "Without alpha, black leaks into the edge.", cut_out(), {
            "tenter, alpha=True": "tenter.image.resize(x, (30, 30), alpha=True)",
            "Pillow": 'Image.fromarray(x, "RGBA").resize((30, 30), Image.Resampling.LANCZOS)',
            "OpenCV, INTER_AREA": "cv2.resize(x, (30, 30), interpolation=cv2.INTER_AREA)",
        })  # fmt: skip
    yield Panel("light", "Linear light",
        "Stars, shrunk to an eighth. An sRGB value of 128 is a fifth of white's light, so averages of sRGB values lose "
        "light, and small stars fade.", data.hubble_deep_field()[80:560, 420:900], {
            "tenter, linear light": 'tenter.image.resize(x, (60, 60), mode="area", linear_light=True)',
            "tenter": 'tenter.image.resize(x, (60, 60), mode="area")',
            "OpenCV, INTER_AREA": "cv2.resize(x, (60, 60), interpolation=cv2.INTER_AREA)",
        })  # fmt: skip
    yield Panel("labels", "Labels",
        "A number for each coin, a color for each number, shrunk to a sixth. Averages of two numbers are numbers of "
        "other coins. "
        "With `labels=True` each pixel has the label that covers most of it.", coins(), {
            "tenter, labels=True": 'tenter.resize(x, (48, 48), axes=(0, 1), mode="area", labels=True)',
            "OpenCV, INTER_AREA": "cv2.resize(x, (48, 48), interpolation=cv2.INTER_AREA)",
            "SciPy": "ndimage.zoom(x, 1 / 6, order=1)",
        })  # fmt: skip
    yield Panel("pyramid", "An OME-Zarr pyramid",
        "Stained tissue under a microscope, and its level of an eighth. Every eighth pixel is noise. `tenter "
        "pyramid` averages, as Dask does, "
        "and writes the pixel sizes of each level.", stack(), {
            "tenter pyramid": "tenter pyramid gland.tif gland.ome.zarr --levels 4",
            "every eighth pixel": "x[::8, ::8]",
            "Dask": "da.coarsen(np.mean, da.from_array(x), {0: 8, 1: 8}).astype(x.dtype)",
        })  # fmt: skip
    yield Panel("gaps", "A field with gaps", "A cell on a camera whose dead pixels, one in twenty, are NaN (pink). "
        "`skipna=True` normalizes the weights over the pixels that are there.", dead_pixels(), {
            "tenter, skipna=True": 'tenter.resize(x, (60, 60), axes=(0, 1), mode="area", skipna=True)',
            "PyTorch, area": 'F.interpolate(torch.from_numpy(x)[None, None], (60, 60), mode="area")',
            "SciPy": "ndimage.zoom(x, 1 / 8, order=1)",
        })  # fmt: skip


def made(code: str, x: Any) -> Pixels:
    """What a line of code gives, with channels last."""
    if code.startswith("tenter pyramid"):
        with contextlib.redirect_stdout(io.StringIO()):
            assert command(shlex.split(code)[1:]) == 0
        return np.moveaxis(np.asarray(zarr.open_group("gland.ome.zarr", mode="r")["3"]), 0, -1)
    value = eval(code, {**SCOPE, "tensor": tensor, "x": x})
    if isinstance(value, torch.Tensor):
        value = value[0].permute(1, 2, 0).squeeze(-1).numpy()
    return np.asarray(value)


def colored(name: str, pixels: Pixels) -> Pixels:
    """RGB to look at: labels by a color each, transparent pixels on a card, missing ones in pink."""
    if name == "labels":
        colors = np.random.default_rng(5).integers(60, 256, (256, 3), np.uint8)
        colors[0] = 30
        return colors[pixels]
    if pixels.shape[-1] == 4 and pixels.ndim == 3:
        alpha = pixels[..., 3:] / 255
        return np.rint(pixels[..., :3] * alpha + np.array(CARD) * (1 - alpha)).astype(np.uint8)
    if pixels.ndim == 2:
        missing = np.isnan(pixels)
        gray = np.clip(np.rint(np.where(missing, 0, pixels)), 0, 255).astype(np.uint8)
        return np.where(missing[..., None], np.uint8(MISSING), gray[..., None].repeat(3, 2))
    return pixels


def tile(label: str, pixels: Pixels) -> Image.Image:
    sheet = Image.new("RGBA", (SIDE, SIDE + LABEL))
    ImageDraw.Draw(sheet).text((0, 2), label, GRAY, ImageFont.load_default(15))
    sheet.paste(Image.fromarray(pixels).resize((SIDE, SIDE), Image.Resampling.NEAREST), (0, LABEL))
    return sheet


def results() -> Iterator[tuple[Panel, dict[str, Pixels]]]:
    """Every panel with what its code gives. Files go to a temporary folder."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for panel in panels():
                yield panel, {label: made(code, panel.x) for label, code in panel.tiles.items()}
        finally:
            os.chdir(here)


def drawn(made: list[tuple[Panel, dict[str, Pixels]]]) -> dict[str, Image.Image]:
    """The tiles by the names of their files."""
    return {
        f"{panel.name}-{k}": tile(label, colored(panel.name, pixels))
        for panel, found in made
        for k, (label, pixels) in enumerate(found.items(), 1)
    }


def page(shown: list[Panel]) -> str:
    lines = [
        "# Gallery",
        "Photographs resized by tenter and by what people use; pixels are enlarged. Below the pictures is their "
        "code. `x` is the array, "
        '`tensor(x)` the tensor (1, C, H, W). `python docs/gallery.py` makes this page (`pip install ".[test]"`).',
    ]
    for panel in shown:
        pictures = [f"![{label}](gallery/{panel.name}-{k}.webp)" for k, label in enumerate(panel.tiles, 1)]
        lines += [f"## {panel.title}", panel.text, "\n".join(pictures)]
        codes = [f"- {label}: `{code}`" for label, code in panel.tiles.items()]
        lines += ["\n".join(codes[:1] if panel.name == "modes" else codes)]  # which differ in a word
    lines += [
        "Photographs: the cat, Stefan van der Walt (CC0); stars, NASA; coins, Brooklyn Museum; tissue, CMMI; the "
        "cell, Paul Müller and others (CC0); "
        "all from scikit-image."
    ]
    return "\n\n".join(lines) + "\n"


def saved(image: Image.Image, path: Path) -> None:
    """As WebP, without loss where that is smaller."""
    kinds: list[dict[str, Any]] = [{"lossless": True}, {"quality": 92}]
    files = []
    for how in kinds:
        image.save(file := io.BytesIO(), "WEBP", method=6, **how)
        files.append(file.getvalue())
    path.write_bytes(min(files, key=len))


def main() -> None:
    made = list(results())
    for name, image in drawn(made).items():
        saved(image, HERE / "gallery" / f"{name}.webp")
    (HERE / "gallery.md").write_text(page([panel for panel, _ in made]), encoding="utf-8")


if __name__ == "__main__":
    main()
