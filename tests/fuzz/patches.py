"""Patches of tenter.torch.transforms: those of images that are resized first, cut in plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tenter.image import Budget, Fill, Fit, Tiles, resize
from tenter.torch.transforms import Patches

from .call import Call
from .draw import Draw
from .oracle import Wrong


def wrong(seed: int) -> np.ndarray:
    """Whether grids, counts and values are wrong of the patches of random images by a random transform."""
    r = Draw(seed)
    patch, merge, frames = (r.int(1, 9), r.int(1, 9)), r.pick((1, 1, 2)), r.pick((1, 1, 2, 3))
    unit = (patch[0] * merge, patch[1] * merge)
    sides = (unit[0] * r.int(1, 4), unit[1] * r.int(1, 4))
    tiles = Tiles(unit, r.pick((1, 4, [(1, 2), (2, 1), (2, 2)])), r.pick((None, 0, 3)))
    fit = Fit(sides, r.chance(0.5), r.pick((0, 7)), r.pick(("center", "southeast")))
    multiple = unit[0] * unit[1]
    budget = Budget(4 * multiple**2, multiple=multiple, enlarge=r.chance(0.5)) if multiple < 12 else sides
    size = r.pick((sides, Fill(sides), fit, tiles, budget))
    overview, last = r.pick((None, None, "first", "last")), r.chance(0.5)
    transform = Patches(
        size, patch, merge=merge, frames=frames, channels_last=last, overview=overview, dtype=torch.uint8
    )
    images = [r.rng.integers(0, 256, (r.int(4, 40), r.int(4, 40), 3), np.uint8) for _ in range(r.int(1, 3))]
    given: list[Any] = [r.pick((x, torch.from_numpy(x).permute(2, 0, 1))) for x in images]
    found: list[np.ndarray] = []
    grids = []
    for x in images:
        y = resize(x, size, mode="cubic")
        grids.append([1, y.shape[0] // patch[0], y.shape[1] // patch[1]])
        parts = [_cut(y, patch, merge, frames, last)]
        if overview == "first" or (overview == "last" and y.shape[:2] != unit):
            whole = _cut(resize(x, unit, mode="cubic"), patch, merge, frames, last)
            parts.insert(0 if overview == "first" else 1, whole)
        found += parts
    got, want = transform(given if len(given) > 1 else given[0]), torch.from_numpy(np.concatenate(found))
    return np.array([got.grid.tolist() != grids, got.cu_seqlens[-1] != len(want), not torch.equal(got.patches, want)])


def _cut(y: np.ndarray, patch: tuple[int, int], merge: int, frames: int, last: bool) -> np.ndarray:
    (p, q), found = patch, []
    for top in range(0, y.shape[0], p * merge):
        for left in range(0, y.shape[1], q * merge):
            for k in range(merge**2):
                a, b = top + k // merge * p, left + k % merge * q
                one = np.stack([y[a : a + p, b : b + q]] * frames)
                found.append((one if last else one.transpose(3, 0, 1, 2)).ravel())
    return np.stack(found)


def patches(r: Draw) -> Call:
    def verify(y: Any) -> None:
        if y.any():
            raise Wrong("values", f"wrong grids, counts, values: {y.tolist()}")

    return Call("", f"y = patches.wrong({r.int(0, 2**31)})", {}, verify)


KINDS = {"patches": (patches, 0.3)}
