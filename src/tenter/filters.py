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

from tenter import _native
from tenter._arrays.errors import refuse
from tenter._arrays.types import Floats

__all__ = ["NAMED", "Filter", "box", "cubic", "gaussian", "hamming", "keys", "lanczos", "spline", "triangle"]

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
    return _weights(_native.Filter("triangle", 0.0, 0.0), x)


def cubic(x: Floats, a: float) -> Floats:
    """Keys, Cubic convolution interpolation (1981), with slope parameter a."""
    return _weights(_native.Filter("cubic", a, 0.0), x)


def spline(x: Floats, b: float, c: float) -> Floats:
    """The two-parameter cubics of Mitchell and Netravali (1988): (1/3, 1/3) is theirs, (1, 0) the B-spline, which
    blurs, as no prefilter goes before it."""
    return _weights(_native.Filter("spline", b, c), x)


def lanczos(x: Floats, lobes: int) -> Floats:
    """The sinc windowed by a sinc of `lobes` times its width (Duchon, 1979)."""
    return _weights(_native.Filter("lanczos", lobes, 0.0), x)


def box(x: Floats) -> Floats:
    """The pixels within half a pixel, the far edge with them, as Pillow has it."""
    return _weights(_native.Filter("box", 0.0, 0.0), x)


def hamming(x: Floats) -> Floats:
    """A sinc under a Hamming window of one lobe, as Pillow has it."""
    return _weights(_native.Filter("hamming", 0.0, 0.0), x)


def _weights(core: _native.Filter, x: Floats) -> Floats:
    distance = np.ascontiguousarray(x, np.float64)
    return core(distance.reshape(-1)).reshape(np.shape(x))


def _of_core(core: _native.Filter, support: float, normalized: bool) -> Filter:
    return Filter(partial(_weights, core), support, normalized)


def gaussian(sigma: float) -> tuple[npt.NDArray[np.int64], Floats]:
    """A bell over whole pixels, cut at four sigma: their distances, and weights that sum to one (SciPy's)."""
    reach = int(4 * sigma + 0.5)
    distance = np.arange(-reach, reach + 1)
    weight = np.exp(-0.5 * (distance / sigma) ** 2)
    return distance, np.asarray(weight / weight.sum(), np.float64)


# By the names that resize takes for them, beside cubic (native/filters.hpp).
NAMED = {name: _of_core(core, support, normalized) for name, core, support, normalized in _native.FILTERS}


def keys(a: float) -> Filter:
    """Cubic convolution with slope parameter a."""
    return _of_core(_native.Filter("cubic", a, 0.0), 2.0, True)


def core_of(filter_: Filter) -> Any:
    """What the core computes weights by: a filter of its own, or a user's function."""
    f = filter_.f
    return f.args[0] if isinstance(f, partial) and f.func is _weights else f


def in_core(filter_: Filter) -> bool:
    """Whether weights take no call of Python, which kernels could not make from their threads."""
    return isinstance(core_of(filter_), _native.Filter)


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
    given = f(x)
    weight = np.asarray(given)
    expected = "a Filter whose f gives an array of one finite weight for each distance"
    if weight.dtype.kind not in "fiub" or weight.shape != x.shape:
        shown = f"{weight.dtype}{list(weight.shape)}" if isinstance(given, np.ndarray) else type(given).__name__
        refuse(ValueError, "mode", expected, f"{shown} for {len(x)} distances")
    if not np.isfinite(weight).all():
        at = float(x[~np.isfinite(weight)][0])
        refuse(ValueError, "mode", expected, f"f({at:g}) = {weight[~np.isfinite(weight)][0]}")
    if len(x) and not weight.any():
        expected = "a Filter whose f gives weights of which some are not zero"
        refuse(ValueError, "mode", expected, f"zeros at all of {len(x)} distances from {x.min():g} to {x.max():g}")
    return np.asarray(weight, np.float64)
