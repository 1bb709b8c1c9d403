"""The image libraries: each that is installed, with its closest filter."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

PACKAGES = {
    "torch": "torch",
    "numpy": "numpy",
    "pillow": "PIL",
    "opencv": "cv2",
    "scikit-image": "skimage",
    "scipy": "scipy",
    "pyvips": "pyvips",
    "kornia-rs": "kornia_rs",
    "cykooz-resizer": "cykooz_resizer",  # fast_image_resize
}


def module(name: str) -> Any:
    """The module of that name, None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def versions() -> dict[str, str]:
    found = {name: m for name, path in PACKAGES.items() if (m := module(path)) is not None}
    return {name: str(getattr(m, "__version__", None) or version(name)) for name, m in found.items()}


def set_threads(n: int) -> None:
    """The same number for every library that has threads; tenter follows PyTorch."""
    import torch

    torch.set_num_threads(n)
    if (cv2 := module("cv2")) is not None:
        cv2.setNumThreads(n)
    if (pyvips := module("pyvips")) is not None:
        pyvips.concurrency_set(n)


def image_libraries(x: Any, to: int, antialias: bool) -> dict[str, Callable[[Any], Any]]:
    """Bilinear resizing of x, height x width x channels, to a square."""
    found: dict[str, Callable[[Any], Any]] = {}
    if (image := module("PIL.Image")) is not None:
        opened = image.fromarray(x)  # a user of Pillow has its kind of image
        found["Pillow"] = lambda _: opened.resize((to, to), image.Resampling.BILINEAR)
    if (cv2 := module("cv2")) is not None:
        flag = cv2.INTER_AREA if antialias else cv2.INTER_LINEAR
        found["OpenCV"] = lambda x: cv2.resize(x, (to, to), interpolation=flag)
    if (transform := module("skimage.transform")) is not None and not antialias:  # its antialiasing is a Gaussian
        found["scikit-image"] = lambda x: transform.resize(
            x, (to, to), order=1, mode="edge", anti_aliasing=False, preserve_range=True)  # fmt: skip
    return found
