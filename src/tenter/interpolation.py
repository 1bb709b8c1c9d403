"""The maps of PyTorch's modes, which `interpolate` and `resize` share."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tenter import coordinates, filters
from tenter.maps import Copy, Window
from tenter.maps.window import ROWS, running, window_of

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def resample(
    kind: str, n_in: int, n_out: int, scale: float | None = None, align_corners: bool = False, antialias: bool = False,
    nearest_rule: str = "direct",
) -> Copy | Window:  # fmt: skip
    """One axis resampled from n_in to n_out positions; `kind` is a value of KINDS."""
    # Maps of images and volumes are kept for the next call; those of long signals would fill the memory.
    make = _kept if n_in + n_out <= 1 << 15 else _resample
    return make(kind, n_in, n_out, scale, align_corners, antialias, nearest_rule)


def _resample(
    kind: str, n_in: int, n_out: int, scale: float | None, align_corners: bool, antialias: bool, nearest_rule: str
) -> Copy | Window:
    scale = coordinates.used_scale(kind, n_in, n_out, scale, antialias, nearest_rule.startswith("cuda"))
    if kind in ("nearest", "nearest-exact"):
        return Copy.index_of(coordinates.nearest_index(n_in, n_out, scale, kind == "nearest-exact", nearest_rule), n_in)
    if kind == "area":
        start, stop = coordinates.area_bounds(n_in, n_out)
        return window_of(n_in, start, stop, np.repeat(1.0 / (stop - start), stop - start))
    if antialias:
        fir = {"linear": filters.LINEAR, "cubic": filters.CUBIC_ANTIALIAS, "lanczos": filters.LANCZOS3}[kind]
        return _antialiased(n_in, n_out, scale, align_corners, fir)
    return _interpolated(n_in, n_out, scale, align_corners, filters.LINEAR if kind == "linear" else filters.CUBIC)


_kept = lru_cache(maxsize=512)(_resample)


def _interpolated(
    n_in: int, n_out: int, scale: float | None, align_corners: bool, fir: filters.Filter
) -> Copy | Window:
    """Samples at a point with a filter of fixed width; pixels past an edge are the edge pixel."""
    at = coordinates.sample_index(n_in, n_out, scale, align_corners)
    n = 2 * int(fir.support)
    start, stop = np.empty(n_out, np.int64), np.empty(n_out, np.int64)
    weight, done = np.empty(n * n_out), 0
    for lo in range(0, n_out, ROWS):
        some = at[lo : lo + ROWS]
        base = np.floor(some).astype(np.int64) - n // 2 + 1
        taps = base[:, None] + np.arange(n)
        each = fir.f(taps - some[:, None])
        begin, end = np.clip(base, 0, n_in - 1), np.clip(base + n - 1, 0, n_in - 1) + 1
        cut = np.flatnonzero(end - begin < n)  # rows at the edges
        inside = np.clip(taps[cut], 0, n_in - 1) - begin[cut, None]
        edge = np.zeros(inside.shape)
        np.add.at(edge, (np.arange(len(cut))[:, None], inside), each[cut])
        each[cut] = edge
        each = each[np.arange(n) < (end - begin)[:, None]]
        start[lo : lo + ROWS], stop[lo : lo + ROWS], weight[done : done + len(each)] = begin, end, each
        done += len(each)
    del at
    weight.resize(done, refcheck=False)
    return window_of(n_in, start, stop, weight)


def _antialiased(n_in: int, n_out: int, scale: float | None, align_corners: bool, fir: filters.Filter) -> Copy | Window:
    """Averages under a filter that widens when shrinking; weights past an edge are left out and the rest made to sum
    to 1.

    Pillow's precompute_coeffs, as PyTorch has it, in float64.
    """
    step = coordinates.step(n_in, n_out, scale, align_corners)
    stretch = max(step, 1.0)
    centre = coordinates.filter_centre(n_in, n_out, scale, align_corners)
    start = np.maximum(np.trunc(centre - fir.support * stretch + 0.5), 0).astype(np.int64)
    stop = np.minimum(np.trunc(centre + fir.support * stretch + 0.5), n_in).astype(np.int64)
    start = np.minimum(start, n_in)
    stop = np.maximum(stop, start)
    offset = running(stop - start)
    weight = np.empty(offset[-1])
    for lo in range(0, n_out, ROWS):
        begin, count, middle = start[lo : lo + ROWS], (stop - start)[lo : lo + ROWS], centre[lo : lo + ROWS]
        at = offset[lo : lo + ROWS + 1]
        row = np.repeat(np.arange(len(begin)), count)
        column = np.arange(at[0], at[-1]) - at[row] + begin[row]
        each = fir.f((column - middle[row] + 0.5) / stretch)
        total = np.bincount(row, each, len(begin))
        weight[at[0] : at[-1]] = each / np.where(total == 0, 1.0, total)[row]
    return window_of(n_in, start, stop, weight)
