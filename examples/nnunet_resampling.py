"""nnU-Net's resampling by tenter: the same values in a fraction of the time.

nnU-Net finds functions for resampling by their names, among the modules of its folder `preprocessing/resampling`:

    folder=$(python -c "import nnunetv2; print(nnunetv2.__path__[0])")
    cp examples/nnunet_resampling.py "$folder/preprocessing/resampling/"

In `nnUNetPlans.json` write "resample_by_tenter" for "resampling_fn_data" and "resampling_fn_seg" of a configuration
(and for "resampling_fn_probabilities", if predictions are to be resampled by it). Their arguments stay.

    python examples/nnunet_resampling.py

times it beside nnU-Net's own.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

try:
    from nnunetv2.preprocessing.resampling.default_resampling import (
        determine_do_sep_z_and_axis,
        resample_data_or_seg_to_shape,
    )

    import tenter
except ModuleNotFoundError as missing:
    sys.exit(f"nnunet_resampling.py: {missing.name} is not installed: pip install nnunetv2 and tenter")

MODES = ("nearest-exact", "linear", "spline2", "spline3", "spline4", "spline5")  # by their orders


def resample_by_tenter(
    data: Any, new_shape: Sequence[int], current_spacing: Sequence[float], new_spacing: Sequence[float],
    is_seg: bool = False, order: int = 3, order_z: int = 0, force_separate_z: bool | None = False, **threshold: float,
) -> np.ndarray:  # fmt: skip
    """Takes what `resample_data_or_seg_to_shape` takes."""
    x = np.asarray(data)  # (channels, x, y, z)
    size = [int(n) for n in new_shape]
    if list(x.shape[1:]) == size:
        return x
    apart, axis = determine_do_sep_z_and_axis(force_separate_z, current_spacing, new_spacing, **threshold)
    within = tuple(k for k in (1, 2, 3) if not apart or k != axis + 1)
    resample = labels if is_seg and order else values
    made = resample(x, [size[k - 1] for k in within], within, order)
    return resample(made, [size[axis]], (axis + 1,), order_z) if apart else made


def values(x: np.ndarray, size: list[int], axes: tuple[int, ...], order: int) -> np.ndarray:
    """As skimage.transform.resize with mode="edge" and anti_aliasing=False, which clips to the range of its input."""
    made = resized(x, size, axes, order)
    if order < 2:
        return made
    return np.clip(made, x.min(axes, keepdims=True), x.max(axes, keepdims=True), out=made)


def labels(x: np.ndarray, size: list[int], axes: tuple[int, ...], order: int) -> np.ndarray:
    """The label whose resized mask is the largest. Among equal ones the nearest label, or else the smallest."""
    near = resized(x, size, axes, 0)
    win, of_near = np.empty_like(near), np.empty(near.shape, np.float32)
    best = np.full(near.shape, -1, np.float32)
    for label in np.unique(x):
        share = values((x == label).astype(np.float32), size, axes, order)
        np.copyto(win, label, where=share > best)
        np.maximum(best, share, out=best)
        np.copyto(of_near, share, where=near == label)
    return np.where(of_near == best, near, win)


def resized(x: np.ndarray, size: list[int], axes: tuple[int, ...], order: int) -> np.ndarray:
    how: dict[str, Any] = {"align": "half_pixel", "edge": "replicate"} if order else {}
    return tenter.resize(x, size, axes=axes, mode=MODES[order], like="scipy", **how)


def main() -> None:
    r = np.random.default_rng(0)
    scan = r.standard_normal((1, 96, 160, 160)).astype(np.float32)
    cells = np.kron(r.integers(0, 4, (1, 12, 20, 20), np.int8), np.ones((1, 8, 8, 8), np.int8))
    shape, spacings = (120, 200, 200), ((1.25, 1.0, 1.0), (1.0, 0.8, 0.8))
    for x, how in ((scan, {"order": 3}), (cells, {"is_seg": True, "order": 1})):
        seconds, made = [], []
        for f in (resample_data_or_seg_to_shape, resample_by_tenter):
            begin = time.perf_counter()
            made.append(f(x, shape, *spacings, **how))
            seconds.append(time.perf_counter() - begin)
        apart = np.abs(made[0].astype(np.float64) - made[1]).max()
        print(f"{how}: nnU-Net {seconds[0]:.2f} s, tenter {seconds[1]:.3f} s, apart by {apart:.1e}")


if __name__ == "__main__":
    main()
