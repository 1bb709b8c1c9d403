"""SciPy's zoom of order 3, by SciPy itself: its splines go through every sample, so each result depends on all samples
of an axis, and no part can be computed from a part of the input."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from tenter.cli.options import Options
from tenter.cli.refusal import Refusal, require

#: What is said where SciPy is not asked.
WHY = (
    "--mode cubic with --like scipy: SciPy's splines of order 3 read whole axes; SciPy itself makes them of .npy "
    "files and TIFF stacks in memory, with --axes"
)


def is_spline(options: Options) -> bool:
    """Whether the result is that of SciPy's zoom by its default order."""
    return options.like == "scipy" and options.mode == "cubic"


def zoomed(array: npt.NDArray[Any], axes: tuple[int, ...], size: tuple[int, ...], options: Options) -> npt.NDArray[Any]:
    """The array as `scipy.ndimage.zoom` makes it."""
    if options.box is not None:
        raise Refusal("--box: does not go with --like scipy and --mode cubic, as SciPy's zoom has none")
    require("scipy")
    from scipy import ndimage

    factors = [1.0] * array.ndim
    for axis, length in zip(axes, size):
        factors[axis] = length / array.shape[axis]
    made: npt.NDArray[Any] = ndimage.zoom(array, factors, order=3)
    return made
