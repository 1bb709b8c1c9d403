"""Resampling filters: weight as a function of the distance from the sample, in input pixels.

Each is symmetric, zero from its support on, and takes and returns float64 arrays.
"""

import itertools
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tenter._arrays.errors import refuse
from tenter._arrays.types import Floats

# A weight this small is a rounding: infinity times it must not be seen.
NOTHING = 1e-12


class Filter(NamedTuple):
    """f(distances) -> weights, and the distance from which on they are zero. normalized: whether the weights sum to one
    at every position by themselves. Calls and the gradients that they record keep f alive; a graph (`torch.compile`,
    `torch.export`, a tracer) holds no function, so its author must. Of functions without weak references, such as
    NumPy's own, `resize` keeps the last 64.

    >>> hat = Filter(lambda x: np.maximum(0, 1 - np.abs(x)), support=1.0)
    """

    f: Callable[[Floats], Floats]
    support: float
    normalized: bool = False


def triangle(x: Floats) -> Floats:
    """Linear interpolation: 1 - |x|."""
    return np.maximum(0.0, 1.0 - np.abs(x))


def cubic(x: Floats, a: float) -> Floats:
    """Keys, Cubic convolution interpolation (1981), with slope parameter a; the factored forms are PyTorch's."""
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def spline(x: Floats, b: float, c: float) -> Floats:
    """The two-parameter cubics of Mitchell and Netravali (1988): (1/3, 1/3) is theirs, (1, 0) the B-spline, which
    blurs, as no prefilter goes before it."""
    x = np.abs(x)
    near = ((12 - 9 * b - 6 * c) * x + (-18 + 12 * b + 6 * c)) * x * x + (6 - 2 * b)
    far = (((-b - 6 * c) * x + (6 * b + 30 * c)) * x + (-12 * b - 48 * c)) * x + (8 * b + 24 * c)
    return np.where(x < 1, near, np.where(x < 2, far, 0.0)) / 6


def lanczos(x: Floats, lobes: int) -> Floats:
    """The sinc windowed by a sinc of `lobes` times its width (Duchon, 1979)."""
    return np.where(np.abs(x) < lobes, np.sinc(x) * np.sinc(x / lobes), 0.0)


def box(x: Floats) -> Floats:
    """The pixels within half a pixel, the far edge with them, as Pillow has it."""
    rounding = 1e-9  # of distances, which must not decide about an edge
    return np.where((x > rounding - 0.5) & (x <= rounding + 0.5), 1.0, 0.0)


def hamming(x: Floats) -> Floats:
    """A sinc under a Hamming window of one lobe, as Pillow has it."""
    return np.where(np.abs(x) < 1, np.sinc(x) * (0.54 + 0.46 * np.cos(np.pi * x)), 0.0)


def gaussian(sigma: float) -> tuple[npt.NDArray[np.int64], Floats]:
    """A bell over whole pixels, cut at four sigma: their distances, and weights that sum to one (SciPy's)."""
    reach = int(4 * sigma + 0.5)
    distance = np.arange(-reach, reach + 1)
    weight = np.exp(-0.5 * (distance / sigma) ** 2)
    return distance, np.asarray(weight / weight.sum(), np.float64)


# Cubic's a: PyTorch and OpenCV interpolate with -0.75; with antialias PyTorch follows Pillow, which has -0.5.
LINEAR = Filter(triangle, 1.0, True)
CUBIC_ANTIALIAS = Filter(lambda x: cubic(x, -0.5), 2.0, True)
LANCZOS3 = Filter(lambda x: lanczos(x, 3), 3.0)

# By the names that resize takes for them, beside linear and cubic.
NAMED = {
    "linear": LINEAR,
    "catmull-rom": CUBIC_ANTIALIAS,
    "mitchell": Filter(partial(spline, b=1 / 3, c=1 / 3), 2.0, True),
    "bspline": Filter(partial(spline, b=1.0, c=0.0), 2.0, True),
    "lanczos2": Filter(partial(lanczos, lobes=2), 2.0),
    "lanczos3": LANCZOS3,
    "lanczos4": Filter(partial(lanczos, lobes=4), 4.0),
    "lanczos5": Filter(partial(lanczos, lobes=5), 5.0),
    "box": Filter(box, 0.5),
    "hamming": Filter(hamming, 1.0),
}

# Users' filters by names, which PyTorch's operators and the caches of maps know them by. A name is never used again,
# and goes with its function.
MADE = "filter "
_numbers = itertools.count()
_made: dict[str, tuple[Callable[[], Any], float, bool]] = {}
_names: dict[tuple[int, float, bool], str] = {}  # by the function's id, which is its own while it lives
_kept: dict[str, tuple[int, float, bool]] = {}  # of functions without weak references
MOST_KEPT = 64


def named(f: Callable[[Floats], Floats], support: float, normalized: bool) -> str:
    """The name of a user's filter, the same for the same function."""
    key = id(f), support, normalized
    name = _names.get(key)
    if name is not None:
        return name
    # Before others find the name; of two threads that get here at once one's stays.
    fresh = f"{MADE}{next(_numbers)}"
    try:
        _made[fresh] = weakref.ref(f, lambda _: _forget(fresh, key)), support, normalized
    except TypeError:
        _made[fresh] = lambda: f, support, normalized
        _kept[fresh] = key
    name = _names.setdefault(key, fresh)
    if name != fresh:
        _forget(fresh, key)
    for old, its in list(_kept.items())[:-MOST_KEPT]:
        _forget(old, its)
    return name


def _forget(name: str, key: tuple[int, float, bool]) -> None:
    _made.pop(name, None)
    if _names.get(key) == name:
        _names.pop(key, None)
    _kept.pop(name, None)


def by_name(name: str) -> Filter:
    """The filter of a name."""
    if name in NAMED:
        return NAMED[name]
    function, support, normalized = _made.get(name, (lambda: None, 0.0, False))
    f = function()
    if f is None:
        expected = "a Filter that resize has been called with before it is compiled, and whose function is kept"
        refuse(ValueError, "mode", expected, "one that is new or gone")
    return Filter(partial(_checked, f), support, normalized)


def _checked(f: Callable[[Floats], Floats], x: Floats) -> Floats:
    weight = np.asarray(f(x))
    if weight.shape != x.shape or weight.dtype.kind not in "fiub" or not np.isfinite(weight).all():
        got = f"{weight.dtype}{list(weight.shape)} for {len(x)} distances"
        refuse(ValueError, "mode", "a Filter of a function that gives a finite weight for each distance", got)
    return np.asarray(weight, np.float64)
