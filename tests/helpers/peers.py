"""Other libraries' resizing of (H, W) and (H, W, C) arrays, each beside the words that say the same to tenter."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import cv2
import numpy as np
import skimage.transform
import torch
import torch.nn.functional as F
from PIL import Image
from scipy import ndimage

NUMBERS = ("uint8", "uint16", "int16", "float32", "float64")


class Peer(NamedTuple):
    """run(x, size) is what tenter.resize(x, size, axes=(0, 1), **says) does. covers(h, w, a, b): are sizes (h, w) to
    (a, b) among its cases? Where not, `exceptions` of test_conventions.py or the docs say why."""

    name: str
    run: Callable[[Any, tuple[int, int]], Any]
    says: dict[str, Any]
    dtypes: tuple[str, ...]
    channels: tuple[int, ...] = (1, 3)
    covers: Callable[[int, int, int, int], bool] = lambda h, w, a, b: True


def in_torch(mode, **how):
    def run(x, size):
        planes = torch.from_numpy(np.atleast_3d(x)).permute(2, 0, 1)[None]
        y = F.interpolate(planes.contiguous(), size, mode=mode, **how)[0].permute(1, 2, 0).numpy()
        return y if x.ndim == 3 else y[..., 0]

    return run


def in_pillow(filter, box=None):
    def run(x, size):
        part = None if box is None else tuple(box(n)[k] for k in (0, 1) for n in (x.shape[1], x.shape[0]))
        return np.asarray(Image.fromarray(x).resize(size[::-1], filter, box=part))

    return run


def in_opencv(flag):
    return lambda x, size: cv2.resize(x, size[::-1], interpolation=flag)


def in_skimage(order, **how):
    def run(x, size):
        return skimage.transform.resize(x, size, order=order, preserve_range=True, **how)

    return run


def in_scipy(order, mode, grid):
    def run(x, size):
        zoom = [b / a for a, b in zip(x.shape, size)] + [1.0] * (x.ndim - 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its advice about modes
            return ndimage.zoom(x, zoom, order=order, mode=mode, grid_mode=grid)

    return run


def wide(h, w, a, b):
    """PyTorch's antialiasing repeats the first output row where outputs are one pixel wide."""
    return b > 1


def more_than_one(h, w, a, b):
    """PyTorch's uint8 kernels refuse an output of one pixel, by an assertion of their own."""
    return a * b > 1


def one_way(h, w, a, b):
    """OpenCV's INTER_AREA takes two taps along both axes where it enlarges one of them, also along one that it shrinks."""
    return (a <= h and b <= w) or (a >= h and b >= w and starts_well(h, a) and starts_well(w, b))


def ends_inside(h, w, a, b):
    """SciPy's last output is its constant where rounding puts its index past the last pixel."""
    return all((m - 1) * ((n - 1) / (m - 1)) <= n - 1 for n, m in ((h, a), (w, b)) if m > 1)


def centres_inside(h, w, a, b):
    """The same of grid_mode: an output at the very first or last pixel, a rounding beside it."""
    return all(
        0 <= (o + 0.5) * (n / m) - 0.5 <= n - 1
        for n, m in ((h, a), (w, b))
        for o in range(m)
        if 0 <= (2 * o + 1) * n - m <= 2 * m * (n - 1)
    )


def everywhere(h, w, a, b):
    return True


def starts_well(n_in, n_out):
    """Does each output of an enlarging INTER_AREA start in the pixel where it does? One that starts on the edge between
    two, a rounding below, takes all of the pixel before: 17 * (1 / (34 / 6)) < 3."""
    return all(int(o * (1 / (n_out / n_in))) == o * n_in // n_out for o in range(n_out))


FLOATS = ("float32", "float64")
TORCH = [
    Peer("torch nearest", in_torch("nearest"), {"mode": "nearest"}, ("uint8", *FLOATS)),
    Peer("torch nearest-exact", in_torch("nearest-exact"), {"mode": "nearest-exact"}, ("uint8", *FLOATS)),
    Peer("torch linear", in_torch("bilinear"), {}, FLOATS),
    Peer("torch linear uint8", in_torch("bilinear"), {}, ("uint8",), covers=more_than_one),
    Peer("torch linear corners", in_torch("bilinear", align_corners=True), {"align": "align_corners"}, FLOATS),
    Peer("torch cubic", in_torch("bicubic"), {"mode": "cubic"}, FLOATS),
    Peer("torch cubic corners", in_torch("bicubic", align_corners=True), {"mode": "cubic", "align": "align_corners"}, FLOATS),
    Peer("torch area", in_torch("area"), {"mode": "area"}, FLOATS),
    Peer("torch antialias", in_torch("bilinear", antialias=True), {"antialias": True}, FLOATS, covers=wide),
    Peer("torch antialias uint8", in_torch("bilinear", antialias=True), {"antialias": True}, ("uint8",), covers=more_than_one),
    *[
        Peer(f"torch antialias {name}", in_torch(theirs, antialias=True), {"mode": name, "antialias": True}, FLOATS, covers=wide)
        for name, theirs in (("cubic", "bicubic"), ("lanczos", "lanczos"))
    ],
    *[
        Peer(
            f"torch antialias {name} corners",
            in_torch(theirs, antialias=True, align_corners=True),
            {"mode": name, "antialias": True, "align": "align_corners"},
            FLOATS,
            covers=wide,
        )
        for name, theirs in (("linear", "bilinear"), ("cubic", "bicubic"))
    ],
]  # fmt: skip

_FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "nearest-exact": Image.Resampling.NEAREST,
    "linear": Image.Resampling.BILINEAR,
    "hamming": Image.Resampling.HAMMING,
    "cubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}
_BOXES = {
    "whole": lambda n: (0, n),
    "fractions": lambda n: (n * 0.125, n * 0.8125),
    "tenths": lambda n: (n * 0.1, n * 0.7),
    "pixels": lambda n: (n // 3, n // 3 + 1),
}
PILLOW = [
    *[
        Peer(f"pillow {mode}", in_pillow(theirs), {"mode": mode}, (dtype,), channels)
        for mode, theirs in _FILTERS.items()
        for dtype, channels in (("uint8", (1, 3)), ("float32", (1,)))
    ],
    *[
        Peer(f"pillow {mode} box {name}", in_pillow(theirs, box), {"mode": mode, "box": box}, ("uint8", "float32"), (1,))
        for mode, theirs in _FILTERS.items()
        for name, box in _BOXES.items()
    ],
]  # fmt: skip

OPENCV = [
    Peer("opencv INTER_NEAREST", in_opencv(cv2.INTER_NEAREST), {"mode": "nearest"}, NUMBERS),
    Peer("opencv INTER_NEAREST_EXACT", in_opencv(cv2.INTER_NEAREST_EXACT), {"mode": "nearest-exact"}, NUMBERS),
    Peer("opencv INTER_LINEAR", in_opencv(cv2.INTER_LINEAR), {}, NUMBERS),
    Peer("opencv INTER_LINEAR_EXACT", in_opencv(cv2.INTER_LINEAR_EXACT), {}, ("uint8", "uint16", "int16")),
    Peer("opencv INTER_CUBIC", in_opencv(cv2.INTER_CUBIC), {"mode": "cubic"}, NUMBERS),
    Peer("opencv INTER_LANCZOS4", in_opencv(cv2.INTER_LANCZOS4), {"mode": "lanczos4"}, NUMBERS),
    Peer("opencv INTER_AREA", in_opencv(cv2.INTER_AREA), {"mode": "area"}, NUMBERS, covers=one_way),
]

_SKIMAGE_EDGES = {
    "reflect": "reflect",
    "edge": "replicate",
    "symmetric": "symmetric",
    "wrap": "wrap",
    "constant": "constant",
}
SKIMAGE = [
    Peer("skimage", in_skimage(1), {}, ("uint8", *FLOATS)),
    Peer("skimage order 0", in_skimage(0, anti_aliasing=False), {"mode": "nearest"}, ("uint8", *FLOATS)),
    *[
        Peer(
            f"skimage {theirs} order {order} anti_aliasing={blurs}",
            in_skimage(order, mode=theirs, anti_aliasing=blurs, clip=False),
            {"mode": "linear" if order else "nearest", "edge": ours, "antialias": blurs},
            FLOATS,
            (1,),
        )
        for theirs, ours in _SKIMAGE_EDGES.items()
        for order, blurs in ((0, False), (1, False), (1, True))
    ],
]

_SCIPY_EDGES = {
    "nearest": "replicate",
    "mirror": "reflect",
    "reflect": "symmetric",
    "grid-wrap": "wrap",
    "grid-constant": "constant",
    "constant": "extrapolate",
}
SCIPY = [
    *[
        Peer(
            f"scipy order 1 {theirs} grid_mode={grid}",
            in_scipy(1, theirs, grid),
            {"edge": ours, "align": "half_pixel" if grid else None},
            ("uint8", "int16", *FLOATS),
            covers=everywhere if theirs != "constant" else centres_inside if grid else ends_inside,
        )
        for theirs, ours in _SCIPY_EDGES.items()
        for grid in (False, True)
    ],
    *[
        Peer(
            f"scipy order 0 {theirs} grid_mode={grid}",
            in_scipy(0, theirs, grid),
            {"mode": "nearest-exact" if grid else "nearest", "edge": ours},
            ("uint8", "float32"),
            covers=everywhere if theirs != "constant" else centres_inside if grid else ends_inside,
        )
        for theirs, ours in _SCIPY_EDGES.items()
        for grid in (False, True)
    ],
]

PEERS = {
    like: [peer._replace(says={"like": like, **peer.says}) for peer in peers]
    for like, peers in (
        ("torch", TORCH),
        ("pillow", PILLOW),
        ("opencv", OPENCV),
        ("skimage", SKIMAGE),
        ("scipy", SCIPY),
    )
}
