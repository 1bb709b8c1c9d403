"""Calls whose explanations are kept in tests/explained: `python tests/helpers/explained_calls.py` writes them anew."""

from __future__ import annotations

import numpy as np

import tenter
from roots import TESTS
from tenter import Shape

FOLDER = TESTS / "explain" / "expected"
# By the name of the file: an operation, its arguments and its keywords.
CALLS = {
    "repeat_interleave_counts": (tenter.repeat_interleave, ([[1, 2], [3, 4]], [1, 2]), {"dim": 0}),
    "repeat_interleave_flat": (tenter.repeat_interleave, ([[1, 2], [3, 4]], 2), {}),
    "repeat_interleave_positions": (tenter.repeat_interleave, ([1, 0, 2],), {}),
    "repeat": (tenter.repeat, ([10, 20, 30], 2, 2), {}),
    "tile": (tenter.tile, ([[1, 2, 3], [4, 5, 6]], (2, 2)), {}),
    "expand": (tenter.expand, ([[1], [2]], -1, 3), {}),
    "numpy_repeat": (tenter.numpy.repeat, (Shape(3, 4), 2), {"axis": 1}),
    "numpy_tile": (tenter.numpy.tile, (Shape(10**6, 10**6), (1000, 1)), {}),
    "interpolate_nearest": (tenter.interpolate, (np.arange(3.0).reshape(1, 1, 3), 5), {}),
    "interpolate_linear": (tenter.interpolate, (np.arange(4.0).reshape(1, 1, 4), 7), {"mode": "linear"}),
    "resize_cubic": (tenter.resize, (Shape(4, 4), (2, 6)), {"mode": "cubic"}),
    "resize_photo": (
        tenter.resize,
        (Shape(1080, 1920, 3, dtype="uint8"), (540, 960)),
        {"axes": (0, 1), "antialias": True},
    ),
    "resize_signal": (tenter.resize, (Shape(48000 * 3600), 44100 * 3600), {}),
}


def explained(name: str) -> tenter.Explanation:
    operation, args, how = CALLS[name]
    return tenter.explain(operation, *args, **how)


def text(name: str) -> str:
    """The number of threads and the size of memory are the machine's."""
    lines = explained(name).text().splitlines()
    return "".join([f"{line}\n" for line in lines if "threads" not in line and " GiB, got" not in line])


if __name__ == "__main__":
    for name in CALLS:
        (FOLDER / f"{name}.txt").write_text(text(name))
