"""Fields with missing values, values at coordinates and conservative regridding, beside what people write by hand.

`python -m benchmarks gaps` writes docs/measured/gaps.md. Each way is timed in turns with tenter.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tenter
from benchmarks import cookbook, peers
from benchmarks.report import between
from benchmarks.summaries import Met, slower
from benchmarks.table import lined

PAGE = Path("docs/measured/gaps.md")
BEGIN, END = "<!-- gaps: written by python -m benchmarks gaps -->", "<!-- end of gaps -->"
PACKAGES = ("torch", "numpy", "scipy")
FULL = 720  # latitudes of 0.25 degrees
OTHER = "other values: "
OURS = ("no mask", "the maps made before", "`tenter.")  # ways of tenter
Ways = dict[str, Callable[[], Any]]  # the last one is tenter's; what begins with OTHER has other values


def masked(full: int) -> Ways:
    """100 fields to a quarter of the side, antialiased linear, with a mask for all of them."""
    from scipy import ndimage

    rng = np.random.default_rng(0)
    x = rng.random((100, full + 1, 2 * full), np.float32)
    m = rng.random(x.shape[1:]) > 0.3
    size = (full // 4, full // 2)
    t, ones = torch.from_numpy(x)[None], torch.from_numpy(m.astype(np.float32))[None, None]

    def by_torch() -> Any:
        def f(v: Any) -> Any:
            return torch.nn.functional.interpolate(v, size, mode="bilinear", antialias=True)

        return (f(t * ones) / f(ones))[0].numpy()

    def by_scipy() -> Any:
        factors = [b / a for a, b in zip(m.shape, size)]

        def f(v: Any, more: list[float]) -> Any:
            return ndimage.zoom(v, more + factors, order=1, mode="nearest", grid_mode=True)

        return f(x * m, [1.0]) / f(m.astype(np.float32), [])

    return {
        "`F.interpolate(x * m, antialias=True) / F.interpolate(m, antialias=True)`": by_torch,
        f"{OTHER}`scipy.ndimage.zoom(x * m, order=1) / zoom(m, order=1)`, two samples an axis": by_scipy,
        "no mask: `tenter.resize(x, size, axes=(1, 2))`": lambda: tenter.resize(x, size, axes=(1, 2)),
        "`tenter.resize(x, size, axes=(1, 2), where=m)`": lambda: tenter.resize(x, size, axes=(1, 2), where=m),
    }


def placed(rows: int, n: int) -> Ways:
    """Rows of n values at n other positions."""
    from scipy import interpolate

    rng = np.random.default_rng(0)
    c, x = np.cumsum(rng.random(n) + 0.1), rng.random((rows, n))
    at = np.sort(rng.uniform(c[0], c[-1], n))
    found: Ways = {
        "`np.interp(at, c, row)` of each row": lambda: np.stack([np.interp(at, c, row) for row in x]),
        "`scipy.interpolate.interp1d(c, x)(at)`": lambda: interpolate.interp1d(c, x)(at),
    }
    if (xarray := peers.module("xarray")) is not None:
        array = xarray.DataArray(x, {"t": c}, ("row", "t"))
        found["`DataArray.interp(t=at)` of xarray"] = lambda: array.interp(t=at).values
    return {**found, "`tenter.interp(x, at, c)`": lambda: tenter.interp(x, at, c)}


def many_rows(full: int) -> Ways:
    n = max(4, full * 1000 // FULL)
    return placed(10_000 * full // FULL, n)


def one_row(full: int) -> Ways:
    return placed(1, 10_000_000 * full // FULL)


def conservative(full: int) -> Ways:
    """20 fields of 0.25 degrees to 1 degree, latitudes by their cosines, from given edges."""
    from scipy import sparse

    x = np.random.default_rng(0).random((20, full, 2 * full))
    lat, lat_1 = np.linspace(-90, 90, full + 1), np.linspace(-90, 90, full // 4 + 1)
    lon, lon_1 = np.linspace(-180, 180, 2 * full + 1), np.linspace(0, 360, full // 2 + 1)
    cosine = np.cos(np.radians((lat[1:] + lat[:-1]) / 2))
    rows = tenter.maps.from_coordinates(lat_1, lat, mode="area", weights=cosine)
    columns = tenter.maps.from_coordinates(lon_1, lon, mode="area", period=360)
    matrix = sparse.kron(sparse.csr_array(rows.dense()), sparse.csr_array(columns.dense()), "csr")

    def ours() -> Any:
        y = tenter.interp(x, lat_1, lat, axis=1, mode="area", weights=cosine)
        return tenter.interp(y, lon_1, lon, axis=2, mode="area", period=360)

    def product() -> Any:
        return (matrix @ x.reshape(len(x), -1).T).T.reshape(len(x), full // 4, full // 2)

    return {
        "`A @ x.reshape(20, -1).T`, a matrix of SciPy made before": product,
        "the maps made before: `rows.apply(x, 1)`, `columns.apply(y, 2)`": lambda: columns.apply(rows.apply(x, 1), 2),
        '`tenter.interp(..., mode="area")` along both axes': ours,
    }


# Of each table: what is timed.
TABLES: dict[str, Callable[[int], Ways]] = {
    "100 fields of 721 x 1440 to 180 x 360, antialiased linear, a mask of 30 %, float32": masked,
    "10,000 rows of 1,000 values, each at 1,000 other positions, float64": many_rows,
    "One row of 10,000,000 values at as many positions, float64": one_row,
    "20 fields of 0.25 degrees to 1 degree, conservative, float64": conservative,
}


def check(ways: Ways) -> None:
    """All have the same values, but for those of which the name says else."""
    *_, last = ways
    want = ways[last]()
    for name, f in ways.items():
        if not name.startswith((OTHER, "no mask")):
            np.testing.assert_allclose(f(), want, rtol=0, atol=2e-5, err_msg=name)


def table(full: int) -> str:
    parts, met = [], []
    for title, make in TABLES.items():
        found = cookbook.rows(make(full), check)
        parts += [f"{title}:", lined(["Way", "time", "last row, times faster", "peak memory, MiB"], found)]
        met += [
            Met(title, name, name, float(ratio.rstrip("x").replace(",", "")))
            for name, _, ratio, _ in found
            if not name.startswith(OURS)
        ]
    return "\n\n".join([*parts, "Where tenter is slower:", slower(met)])


def main(about: str) -> int:
    others = [f"xarray {version('xarray')}. "] if peers.module("xarray") is not None else []
    made = table(FULL)
    print(made)
    text = f"{''.join(others)}Measured on {about}\n\n{made}"
    PAGE.write_text(between(PAGE, BEGIN, END, text), encoding="utf-8")
    return 0
