"""The image libraries on whole photographs: each that is installed, its own kind of picture made before the clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import module
from benchmarks.picture_peers import PILLOW, PIXELS, RESIZER, VIPS, VIPS_FORMATS
from benchmarks.race import Maker

FULL = {"uint8": 255, "uint16": 65535, "float32": 1}
# Pillow's modes with colors as they are, and with colors that it weights by alpha itself.
PILLOW_MODES = {"L": "L", "LA": "La", "RGB": "RGB", "RGBA": "RGBX"}
OPENCV = {"bilinear": "INTER_LINEAR", "bicubic": "INTER_CUBIC", "lanczos": "INTER_LANCZOS4"}


def libraries(dtype: str, name: str, mode: str, weigh: bool, threads: int) -> dict[str, Maker]:
    """name: L, LA, RGB or RGBA. weigh: colors by alpha, for the libraries that do that."""
    found = {
        "fast_image_resize": fast_image_resize(dtype, name, mode, weigh, threads),
        "Pillow": pillow(dtype, name, mode, weigh),
        "Pillow, reducing_gap=2": pillow(dtype, name, mode, weigh, reducing_gap=2.0),
        "libvips": vips(dtype, mode, weigh),
    }
    if not weigh:
        found["OpenCV"] = opencv(OPENCV[mode])
        found["OpenCV, INTER_AREA"] = opencv("INTER_AREA") if mode == "bilinear" else None
        found["kornia-rs"] = kornia(mode) if (dtype, name) == ("uint8", "RGB") else None
    return {name: make for name, make in found.items() if make is not None}


def fast_image_resize(dtype: str, name: str, mode: str, weigh: bool, threads: int) -> Maker | None:
    """Into a picture that is there before, as its own benchmark has it."""
    if (resizer := module("cykooz_resizer")) is None:
        return None
    channels = len(name)
    kind = resizer.PixelType[PIXELS[dtype] + (f"x{channels}" if channels > 1 else "")]
    options = resizer.ResizeOptions(
        resize_alg=resizer.ResizeAlg.convolution(resizer.FilterType[RESIZER[mode]]),
        use_alpha=weigh,
        thread_pool=resizer.ResizerThreadPool(threads) if threads > 1 else None,
    )
    does = resizer.Resizer()

    def make(p: Any) -> Callable[[], Any]:
        high, wide = p.pixels.shape[:2]
        source, out = resizer.ImageData(wide, high, kind, p.pixels.tobytes()), resizer.ImageData(*p.size[::-1], kind)

        def call() -> Any:
            does.resize(source, out, options)
            return np.frombuffer(out.get_buffer(), dtype).reshape(*p.size, channels)

        return call

    return make


def pillow(dtype: str, name: str, mode: str, weigh: bool, **how: Any) -> Maker | None:
    """Bytes, and other dtypes of one channel."""
    if (image := module("PIL.Image")) is None or (dtype != "uint8" and name != "L"):
        return None
    pixels = {"uint16": "I;16", "float32": "F"}.get(dtype, name if weigh else PILLOW_MODES[name])
    if how and pixels == "I;16":
        return None  # which has no reduce()
    filter = image.Resampling[PILLOW[mode]]

    def make(p: Any) -> Callable[[], Any]:
        size = p.pixels.shape[1::-1]
        opened = image.frombytes(pixels, size, p.pixels.tobytes())

        def call() -> Any:
            return Shaped(opened.resize(p.size[::-1], filter, **how), p)

        return call

    return make


class Shaped:
    """A Pillow picture that is an array (H, W, C) when it is compared, which costs nothing before."""

    def __init__(self, picture: Any, p: Any):
        self.picture, self.shape = picture, (*p.size, p.pixels.shape[2])

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.picture, dtype).reshape(self.shape)


def opencv(flag: str) -> Maker | None:
    """It shrinks without antialias but by INTER_AREA."""
    if (cv2 := module("cv2")) is None:
        return None
    how = {"interpolation": getattr(cv2, flag)}

    def make(p: Any) -> Callable[[], Any]:
        return lambda: cv2.resize(p.pixels, p.size[::-1], **how).reshape(*p.size, -1)

    return make


def vips(dtype: str, mode: str, weigh: bool) -> Maker | None:
    if (pyvips := module("pyvips")) is None:
        return None
    pyvips.cache_set_max(0)
    full = {"max_alpha": FULL[dtype]}

    def make(p: Any) -> Callable[[], Any]:
        high, wide, channels = p.pixels.shape
        opened = pyvips.Image.new_from_memory(p.pixels, wide, high, channels, VIPS_FORMATS[dtype])

        def call() -> Any:
            x = opened.premultiply(**full) if weigh else opened
            y = x.resize(p.size[1] / wide, vscale=p.size[0] / high, kernel=VIPS[mode])
            return (y.unpremultiply(**full).cast(opened.format) if weigh else y).numpy().reshape(*p.size, channels)

        return call

    return make


def kornia(mode: str) -> Maker | None:
    """Bytes of RGB; its bilinear does not antialias."""
    if (imgproc := module("kornia_rs.imgproc")) is None:
        return None

    def make(p: Any) -> Callable[[], Any]:
        return lambda: imgproc.resize(p.pixels, p.size, mode, True)

    return make
