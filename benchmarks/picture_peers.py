"""The image libraries on crops of an array height x width x 3: each that is installed, at its best setting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import module
from benchmarks.race import Maker

PILLOW = {"bilinear": "BILINEAR", "bicubic": "BICUBIC", "lanczos": "LANCZOS"}
RESIZER = {"bilinear": "bilinear", "bicubic": "catmull_rom", "lanczos": "lanczos3"}
VIPS = {"bilinear": "linear", "bicubic": "cubic", "lanczos": "lanczos3"}
VIPS_FORMATS = {"uint8": "uchar", "uint16": "ushort", "float32": "float"}
PIXELS = {"uint8": "U8", "uint16": "U16", "float32": "F32"}  # of fast_image_resize


def crops(x: Any, mode: str, antialias: bool, size: int) -> dict[str, Maker]:
    """From a drawn crop to the call; flipped crops are flipped by the library, or by NumPy where it cannot."""
    found: dict[str, Maker | None] = {}
    if antialias:
        found["Pillow"] = pillow(x, mode, size)
        found["Pillow, reducing_gap=2"] = pillow(x, mode, size, reducing_gap=2.0)
        found["fast_image_resize"] = fast_image_resize(x, mode, size)
        found["libvips"] = vips(x, mode, size)
    flags = {"OpenCV": f"INTER_{'CUBIC' if mode == 'bicubic' else 'LINEAR'}"}
    flags |= {"OpenCV, INTER_AREA": "INTER_AREA"} if antialias and mode == "bilinear" else {}
    found |= {name: opencv(x, flag, size) for name, flag in flags.items()}
    found["kornia-rs"] = kornia(x, mode, antialias, size)
    return {name: make for name, make in found.items() if make is not None}


def pillow(x: Any, mode: str, size: int, **how: Any) -> Maker | None:
    if (image := module("PIL.Image")) is None or x.dtype != np.uint8:
        return None
    opened, filter = image.fromarray(x), image.Resampling[PILLOW[mode]]  # a user of Pillow has its kind of image
    flip = image.Transpose.FLIP_LEFT_RIGHT

    def make(c: Any) -> Callable[[], Any]:
        def call() -> Any:
            y = opened.resize((size, size), filter, box=(c.left, c.top, c.right, c.bottom), **how)
            return y.transpose(flip) if c.flip else y

        return call

    return make


def opencv(x: Any, flag: str, size: int) -> Maker | None:
    if (cv2 := module("cv2")) is None:
        return None
    how = {"interpolation": getattr(cv2, flag)}

    def make(c: Any) -> Callable[[], Any]:
        def call() -> Any:
            y = cv2.resize(x[c.top : c.bottom, c.left : c.right], (size, size), **how)
            return cv2.flip(y, 1) if c.flip else y

        return call

    return make


def kornia(x: Any, mode: str, antialias: bool, size: int) -> Maker | None:
    """Its bilinear never antialiases, and it takes no views."""
    if (imgproc := module("kornia_rs.imgproc")) is None or x.dtype != np.uint8:
        return None

    def make(c: Any) -> Callable[[], Any]:
        def call() -> Any:
            part = np.ascontiguousarray(x[c.top : c.bottom, c.left : c.right])
            y = imgproc.resize(part, (size, size), mode, antialias)
            return imgproc.horizontal_flip(y) if c.flip else y

        return call

    return make


def fast_image_resize(x: Any, mode: str, size: int) -> Maker | None:
    if (resizer := module("cykooz_resizer")) is None:
        return None
    kind = resizer.PixelType[f"{PIXELS[x.dtype.name]}x3"]
    source, out = resizer.ImageData(x.shape[1], x.shape[0], kind, x.tobytes()), resizer.ImageData(size, size, kind)
    does, alg = resizer.Resizer(), resizer.ResizeAlg.convolution(resizer.FilterType[RESIZER[mode]])

    def make(c: Any) -> Callable[[], Any]:
        def call() -> Any:
            box = resizer.CropBox(c.left, c.top, c.right - c.left, c.bottom - c.top)
            does.resize(source, out, resizer.ResizeOptions(resize_alg=alg, crop_box=box))
            y = np.frombuffer(out.get_buffer(), x.dtype).reshape(size, size, 3)
            return np.ascontiguousarray(y[:, ::-1]) if c.flip else y

        return call

    return make


def vips(x: Any, mode: str, size: int) -> Maker | None:
    if (pyvips := module("pyvips")) is None:
        return None
    pyvips.cache_set_max(0)
    opened = pyvips.Image.new_from_memory(x.tobytes(), x.shape[1], x.shape[0], 3, VIPS_FORMATS[x.dtype.name])

    def make(c: Any) -> Callable[[], Any]:
        def call() -> Any:
            wide, high = c.right - c.left, c.bottom - c.top
            y = opened.crop(c.left, c.top, wide, high).resize(size / wide, vscale=size / high, kernel=VIPS[mode])
            return (y.fliphor() if c.flip else y).numpy()

        return call

    return make


def truth_of_box(x: Any, mode: str, size: int) -> Callable[[Any], Any] | None:
    """Pillow's of each channel in floats; None without Pillow."""
    if (image := module("PIL.Image")) is None:
        return None
    planes = [image.fromarray(np.ascontiguousarray(x[..., c], np.float32)) for c in range(3)]

    def find(c: Any) -> Any:
        box, filter = (c.left, c.top, c.right, c.bottom), image.Resampling[PILLOW[mode]]
        y = np.stack([np.asarray(p.resize((size, size), filter, box=box)) for p in planes], -1)
        y = np.ascontiguousarray(y[:, ::-1]) if c.flip else y
        return y if x.dtype.kind == "f" else np.clip(np.rint(y), 0, 255).astype(x.dtype)

    return find
