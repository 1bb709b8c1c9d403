"""Draws the figures of docs/explain.md: `python docs/explain_figures.py [FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import tenter

FIGURES = {
    "repeat_interleave": tenter.explain(tenter.repeat_interleave, [[1, 2], [3, 4]], [1, 2], dim=0),
    "tile": tenter.explain(tenter.tile, [[1, 2, 3], [4, 5, 6]], (2, 2)),
    "interpolate": tenter.explain(tenter.interpolate, np.array([[[0.0, 10, 20, 30]]]), 7, mode="linear"),
    "resize": tenter.explain(
        tenter.resize, tenter.Shape(1080, 1920, 3, dtype="uint8"), (540, 960), axes=(0, 1), antialias=True
    ),
}

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "explain"
    folder.mkdir(exist_ok=True)
    for name, found in FIGURES.items():
        found.svg(folder / f"{name}.svg")
