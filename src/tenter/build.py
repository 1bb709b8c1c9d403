"""From checked arguments to axis maps."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tenter import coordinates, sampling
from tenter.interpolation import resample as resample
from tenter.maps import Copy
from tenter.maps.runs import Runs
from tenter.maps.values import trusted
from tenter.stretch import Repeat, RepeatCounts, Resize, Stretch

Ints = npt.NDArray[np.int64]

# What each of PyTorch's mode names does along one axis.
KINDS = {
    "nearest": "nearest",
    "nearest-exact": "nearest-exact",
    "linear": "linear",
    "bilinear": "linear",
    "trilinear": "linear",
    "bicubic": "cubic",
    "area": "area",
    "lanczos": "lanczos",
}


def maps(does: Stretch, shape: tuple[int, ...], dtype: str, on_device: bool = False) -> tuple[tuple[int, Any], ...]:
    """The map of each axis that changes, for an array of this shape; Runs for counts that are on a device.

    on_device: whether PyTorch's rules are those of its CUDA kernels.
    """
    if isinstance(does, Repeat):
        make = Copy.every if does.each else Copy.cycle
        return tuple((axis, make(n, r)) for axis, (n, r) in enumerate(zip(shape, does.sizes)) if r != 1)
    if isinstance(does, RepeatCounts):
        known = isinstance(does.offsets, np.ndarray)
        return ((does.dim, counts(does.offsets) if known else Runs(shape[does.dim], does.n_out)),)
    if isinstance(does, Resize):
        rule = coordinates.nearest_rule(dtype, (), does.size, False, on_device)
        return tuple(
            (axis, sampling.sampled(rules, shape[axis], n_out, rule))
            for axis, n_out, rules in zip(does.axes, does.size, does.rules)
        )
    rule = coordinates.nearest_rule(dtype, shape, does.size, does.channels_last, on_device)
    scales = does.scales or (None,) * len(does.size)
    if on_device and shape[2:] == does.size and does.kind in ("linear", "cubic") and not does.antialias:
        scales = (None,) * len(does.size)  # PyTorch's CUDA kernels copy what keeps its size
    return tuple(
        (axis, resample(does.kind, shape[axis], n_out, scale, does.align_corners, does.antialias, rule))
        for axis, n_out, scale in zip(range(2, len(shape)), does.size, scales)
    )


def saturates(does: Stretch, dtype: str) -> bool:
    """Are integers cut between the axes too? Pillow, and PyTorch after it, hold 8-bit images in 8 bits there, which
    cuts what overshoots."""
    if isinstance(does, (Repeat, RepeatCounts)):
        return False
    if isinstance(does, Resize):
        return does.saturate and dtype == "uint8" and len(does.axes) == 2
    return dtype == "uint8" and len(does.size) == 2 and does.antialias and does.kind != "linear"


def counts(offsets: Ints) -> Copy:
    """Position i offsets[i + 1] - offsets[i] times in a row."""
    return trusted(Copy, n_in=len(offsets) - 1, n_out=int(offsets[-1]), repeat=None, offsets=offsets, block=1)
