"""Resampling filters: weights as a function of the distance from the sample, in input pixels.

Each filter is symmetric, and zero from its support on. It takes and returns float64 arrays.
"""

import itertools
import math
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tenter import _native
from tenter._arrays.arguments import describe, error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.types import Floats, Ints
from tenter._rules import splines
from tenter._rules.geometry import LARGEST, is_real, plain

# Smaller weights are rounding errors. They are dropped, because inf times such a weight would be inf.
NOTHING = 1e-12
# Where a user's filter is looked at for the magnitude of its weights, in supports: nowhere special, such as at 0.
PROBES = (np.arange(-16, 16) + 0.4375) / 16
USUAL = 10  # exponents of weights that need no scaling
MOST = 900  # of scaled weights: a sum of them does not overflow


class Filter(NamedTuple):
    """A custom filter: a `mode` of `tenter.resize`.

    Parameters
    ----------
    f : callable
        Weights of distances: it takes distances from the sample in input pixels, float64[n], and returns float64[n].
    support : float
        The distance from which on weights are zero.
    normalized : bool, default False
        Whether the weights at every position sum to one already; else they are divided by their sum, of any magnitude.
        Where they cancel, or all are zero, the result is 0.

    See Also
    --------
    cubic : Keys' cubic of any slope.

    Notes
    -----
    f is called for each new call. Cached calls and recorded gradients keep it alive. A graph of `torch.compile` or
    `torch.export` does not: hold a reference to it. The last 64 functions without weak references, such as NumPy's,
    stay alive.

    Examples
    --------
    >>> import tenter
    >>> hat = Filter(lambda x: np.maximum(0, 1 - np.abs(x)), support=1.0)
    >>> tenter.resize(np.array([0.0, 8.0]), 4, mode=hat)
    array([0., 2., 6., 8.])
    """

    f: Callable[[Floats], Floats]
    support: float
    normalized: bool = False


def _weights(core: _native.Filter, x: Floats) -> Floats:
    distance = np.ascontiguousarray(x, np.float64)
    return core(distance.reshape(-1)).reshape(np.shape(x))


def _of_core(core: _native.Filter, support: float, normalized: bool) -> Filter:
    return Filter(partial(_weights, core), support, normalized)


def gaussian(sigma: float) -> tuple[Ints, Floats]:
    """Returns a Gaussian over whole pixels, cut at four sigma: their distances, and weights that sum to one (as in
    SciPy)."""
    reach = int(4 * sigma + 0.5)
    distance = np.arange(-reach, reach + 1)
    weight = np.exp(-0.5 * (distance / sigma) ** 2)
    return distance, np.asarray(weight / weight.sum(), np.float64)


# Filters by the names that resize takes, except cubic: those of native/rules/filters.hpp, and splines, which are
# filters where they antialias (tenter._rules.splines).
NAMED = {name: _of_core(core, support, normalized) for name, core, support, normalized in _native.FILTERS} | {
    name: Filter(partial(splines.cardinal, order), splines.support(order), True)
    for name, order in splines.ORDERS.items()
}


def keys(a: float) -> Filter:
    """Returns the core's cubic convolution with slope a."""
    return _of_core(_native.Filter("cubic", a, 0.0), 2.0, True)


def cubic(a: float) -> Filter:
    """Keys' cubic filter of any slope.

    Mode "cubic" is this filter with the slope of the convention: -0.75 in PyTorch, OpenCV and ONNX, -0.5 in Pillow, JAX
    and TensorFlow (and in PyTorch with antialias).

    Parameters
    ----------
    a : float
        The slope of the weights at distance 1, usually from -1 to -0.5: the more negative, the sharper the result, and
        the more it overshoots at edges. 0 never overshoots.

    Returns
    -------
    Filter
        For `mode` of `tenter.resize`.

    Raises
    ------
    TypeError
        If a is not a number.
    ValueError
        If a is not finite.

    See Also
    --------
    Filter : A filter of your own.

    References
    ----------
    R. Keys, "Cubic convolution interpolation for digital image processing", IEEE Transactions on Acoustics, Speech, and
    Signal Processing 29 (1981).

    Examples
    --------
    >>> import tenter
    >>> tenter.resize(np.array([0.0, 10.0, 0.0, 0.0]), 8, mode=cubic(-0.6)).round(2)
    array([-1.07,  2.22,  8.48,  8.72,  2.41, -0.82, -0.26,  0.  ])
    """
    try:
        if not is_real(a):
            refuse(TypeError, "a", "a number", describe(a))
        if not abs(plain(a)) <= LARGEST:
            refuse(ValueError, "a", "a finite number", describe(a))
    except Refusal as refusal:
        raise error(refusal, "filters.cubic", a) from None
    weights: Any = Keys(float(plain(a)))  # mypy does not find __call__ of this tuple class
    return Filter(weights, 2.0, True)


class Keys(NamedTuple):
    """The weights of `cubic` as a value, so that caches treat equal slopes as one filter."""

    a: float

    def __call__(self, x: Floats, /) -> Floats:
        return _weights(_native.Filter("cubic", self.a, 0.0), x)


def slope(filter_: Filter) -> float | None:
    """Returns the slope a of a filter that `cubic` made; None for other filters."""
    return filter_.f.a if isinstance(filter_.f, Keys) else None


def core_of(filter_: Filter) -> Any:
    """Returns what the core computes weights with: its own filter, or a user's function."""
    f = filter_.f
    return f.args[0] if isinstance(f, partial) and f.func is _weights else f


def in_core(filter_: Filter) -> bool:
    """True if weights need no call of Python. Kernels could not make one from their threads."""
    return isinstance(core_of(filter_), _native.Filter)


# Users' filters by names, which PyTorch's operators and the caches of maps use. A name is never reused, and is removed
# with its function.
MADE = "filter "
_numbers = itertools.count()
_made: dict[str, tuple[Callable[[], Any], float, bool]] = {}
_names: dict[tuple[int, float, bool], str] = {}  # by the function's id, which is unique while the function lives
_alive: dict[str, tuple[int, float, bool]] = {}  # functions that cannot have weak references
MOST_ALIVE = 64


def named(f: Callable[[Floats], Floats], support: float, normalized: bool) -> str:
    """Returns the name of a user's filter. The same function always gets the same name."""
    key = id(f), support, normalized
    name = _names.get(key)
    if name is not None:
        return name
    # Registered before others can find the name. If two threads get here at once, one name wins.
    fresh = f"{MADE}{next(_numbers)}"
    try:
        _made[fresh] = weakref.ref(f, lambda _: _forget(fresh, key)), support, normalized
    except TypeError:
        _made[fresh] = lambda: f, support, normalized
        _alive[fresh] = key
    name = _names.setdefault(key, fresh)
    if name != fresh:
        _forget(fresh, key)
    for old, its in list(_alive.items())[:-MOST_ALIVE]:
        _forget(old, its)
    return name


def _forget(name: str, key: tuple[int, float, bool]) -> None:
    _made.pop(name, None)
    if _names.get(key) == name:
        _names.pop(key, None)
    _alive.pop(name, None)


def by_name(name: str) -> Filter:
    """Returns the filter of a name."""
    if name in NAMED:
        return NAMED[name]
    function, support, normalized = _made.get(name, (lambda: None, 0.0, False))
    f = function()
    if f is None:
        expected = "a Filter that resize has been called with before it is compiled, and whose function is kept"
        refuse(ValueError, "mode", expected, "one that is new or gone")
    weights = partial(_checked, f)
    return Filter(weights if normalized else _scaled(weights, support), support, normalized)


def _scaled(f: Callable[[Floats], Floats], support: float) -> Callable[[Floats], Floats]:
    """The weights of f by a power of two, with which no sum of them overflows, and sums below NOTHING are rounding
    errors. It is one power for all calls, because a part of an array is to be what it is in the whole."""
    found: list[int] = []

    def weights(x: Floats) -> Floats:
        weight = f(x)
        if not found:
            found.append(_probed(f, support) or _exponent(weight))
        exponent = found[0]
        more = _exponent(weight) - exponent
        if more > MOST:
            expected = "a Filter whose f gives weights of about one magnitude"
            refuse(ValueError, "mode", expected, f"weights up to 2**{more} times those at {len(PROBES)} distances")
        return np.ldexp(weight, -exponent) if exponent else weight

    return weights


def _probed(f: Callable[[Floats], Floats], support: float) -> int:
    try:
        with np.errstate(all="ignore"):
            return _exponent(f(PROBES * support))
    except Refusal:  # there is no weight where no call may ever ask for one
        return 0


def _exponent(weight: Floats) -> int:
    """Returns that of the largest weight; 0 for usual ones, whose bits stay as they are."""
    exponent = math.frexp(np.abs(weight).max(initial=0.0))[1]
    return 0 if abs(exponent) < USUAL else exponent


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
        expected = "a Filter whose f gives at least one weight other than 0"
        refuse(ValueError, "mode", expected, f"zeros at all of {len(x)} distances from {x.min():g} to {x.max():g}")
    return np.asarray(weight, np.float64)
