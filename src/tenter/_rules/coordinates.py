"""Coordinates of an axis, and positions on it: checks, and how both become numbers of one unit that ascend."""

from typing import Any, NamedTuple

import numpy as np

from tenter._arrays import foreign, library
from tenter._arrays.arguments import array, describe, did_you_mean
from tenter._arrays.errors import refuse
from tenter._arrays.types import Array, Ints
from tenter._rules.geometry import is_real, plain

MODES = ("linear", "nearest", "previous", "next", "catmull-rom", "area")
EDGES = ("replicate", "constant", "extrapolate")
# Those that read one value each, unchanged.
COPIES = ("nearest", "previous", "next")
# Those whose rows are a curve, which goes on past the ends.
CURVES = ("linear", "catmull-rom")
# Modes of other libraries: the mode here, or why there is none.
_SAME = {"slinear": "linear", "zero": "previous", "pad": "previous", "ffill": "previous", "backfill": "next",
         "bfill": "next", "nearest-exact": "nearest", "nearest-up": "nearest", "conservative": "area"}  # fmt: skip
_SPLINES = ("cubic", "bicubic", "spline", "cubicspline", "quadratic", "quintic", "polynomial", "krogh", "barycentric")
_BENT = ("pchip", "akima", "makima")
# Units of timedelta64 that have no one length. Months and years of datetime64 are days.
_NO_LENGTH = ("generic", "Y", "M")


class Axis(NamedTuple):
    """An axis and the positions on it, as float64 or, if all are integers or times, as int64 from the least on.

    coordinates: ascending. In mode "area", the edges of cells
    n_in: the number of inputs
    inputs: the input of each coordinate, or of each cell; None if they have its order
    at: positions, in any order. In mode "area", the edges of cells
    period: of the coordinates, which are then within one period
    """

    coordinates: Array
    n_in: int
    inputs: Ints | None
    at: Array
    period: Any = None


def axis_of(at: Any, coordinates: Any, mode: Any, period: Any, edge: Any) -> Axis:
    """Checks what the user gives, in the order of the arguments."""
    positions, places = _values("at", at), _values("coordinates", coordinates)
    check_mode(mode)
    is_area = mode == "area"
    least = 2 if is_area else 1
    for name, values in (("at", positions), ("coordinates", places)):
        _check_kind(name, values, positions)
        if is_area and len(values) < 2:
            refuse(ValueError, name, "the edges of cells in mode area, one more than cells", f"{len(values)}")
    if len(places) < least and len(positions):
        refuse(ValueError, "coordinates", "at least one", "none")
    _check_edge(edge, mode, period, len(places))
    positions, places, period = _numbers(positions, places, _checked_period(period, places))
    n_in, inputs = len(places) - is_area, None
    if is_area:
        _descends("at", positions)
    if period is not None and not is_area:
        places, inputs = _in_one_period(places, period)
        positions = _modulo(positions, period)
    elif _descends("coordinates", places):
        places, inputs = places[::-1], np.arange(n_in)[::-1]
    if period is not None and is_area:
        places = _closed(places, period)
    return Axis(places, n_in, inputs, positions, period)


def _check_edge(edge: Any, mode: Any, period: Any, n: int) -> None:
    """n: the number of coordinates."""
    if edge not in EDGES:
        refuse(ValueError if isinstance(edge, str) else TypeError, "edge", f"one of {', '.join(EDGES)}",
               describe(edge) + (did_you_mean(edge, EDGES) if isinstance(edge, str) else ""))  # fmt: skip
    if edge == "extrapolate" and mode not in CURVES:
        refuse(ValueError, "edge", f"one that mode {mode} has, replicate or constant", "'extrapolate'")
    if edge == "extrapolate" and n == 1:
        refuse(ValueError, "edge", "replicate or constant for one coordinate, which has no slope", "'extrapolate'")
    if period is not None and edge != "replicate":
        refuse(ValueError, "edge", "none where there is a period, so that no position is outside", describe(edge))


def check_mode(mode: Any) -> None:
    if not isinstance(mode, str):
        refuse(TypeError, "mode", f"one of {', '.join(MODES)}", describe(mode))
    if mode in MODES:
        return
    word, hint = mode.lower().replace("_", "-"), ""
    if word in _BENT:
        hint = ", whose slopes are not linear in x: use scipy.interpolate"
    elif word in _SPLINES:
        hint = ", of which each result reads nearly all of x: use scipy.interpolate.CubicSpline, or mode='catmull-rom'"
    elif word in _SAME:
        hint = f" (did you mean {_SAME[word]!r}?)"
    refuse(ValueError, "mode", f"one of {', '.join(MODES)}", repr(mode) + (hint or did_you_mean(mode, MODES)))


def _values(name: str, given: Any) -> Array:
    """Returns coordinates in NumPy's array. They are not differentiated, and labels beside them are not read."""
    if library.is_array(given):
        its = library.of(given)
        if found := its.unreadable(given):
            refuse(TypeError, name, "numbers that are known", found)
        if getattr(given, "requires_grad", False):
            refuse(TypeError, name, f"coordinates without a gradient ({name}.detach())", "a tensor that requires grad")
        if library.dtype_name(given) == "bfloat16":
            refuse(TypeError, name, "numbers or datetime64", "bfloat16")
        values = its.to_numpy(given)
    elif foreign.holds_an_array(given):
        if type(given).__module__.partition(".")[0] == "pint":
            refuse(TypeError, name, f"numbers in one unit ({name}.magnitude)", foreign.class_name(type(given)))
        values = foreign.taken(name, given)
    else:
        values = array(name, given)
    if values.ndim != 1:
        rows = ", as all rows of x share them (others need a call for each row)" if values.ndim > 1 else ""
        refuse(ValueError, name, f"a row of numbers, 1-d{rows}", describe(given))
    return np.asarray(values)


def _check_kind(name: str, values: Array, others: Array) -> None:
    kind, wanted = values.dtype.kind, others.dtype.kind
    if kind not in "iufMm" and values.size:
        refuse(TypeError, name, "real numbers or datetime64", str(values.dtype))
    if kind == "m" and np.datetime_data(values.dtype)[0] in _NO_LENGTH:
        refuse(TypeError, name, "times of a unit of one length, such as timedelta64[s]", str(values.dtype))
    if (kind in "Mm" or wanted in "Mm") and kind != wanted:
        refuse(TypeError, name, f"the kind that at has, {others.dtype}", str(values.dtype))
    bad = np.isnat(values) if kind in "Mm" else ~np.isfinite(values) if kind == "f" else np.zeros(0, bool)
    if bad.any():
        where = int(bad.argmax())
        refuse(ValueError, name, "finite ones, without NaN or NaT", f"{values[where]} at position {where}")


def _checked_period(period: Any, coordinates: Array) -> Any:
    if period is None:
        return None
    if coordinates.dtype.kind in "Mm":
        if not isinstance(period, np.timedelta64) or np.datetime_data(period.dtype)[0] in _NO_LENGTH:
            refuse(TypeError, "period", "a timedelta64 of a unit of one length, as coordinates are times",
                   describe(period))  # fmt: skip
        positive = bool(period > np.timedelta64(0))
    else:
        if not is_real(period) or isinstance(period, np.timedelta64):
            refuse(TypeError, "period", "a number", describe(period))
        positive = bool(0 < plain(period) < np.inf)
    if not positive:
        refuse(ValueError, "period", "a finite one above 0", describe(period))
    return period


def _numbers(at: Array, coordinates: Array, period: Any) -> tuple[Array, Array, Any]:
    """Returns all as int64 from the least on, which keeps nanoseconds and large integers exact; else as
    float64."""
    if coordinates.dtype.kind in "Mm":
        given = [("at", at), ("coordinates", coordinates)] + [("period", period)] * (period is not None)
        unit = np.datetime_data(np.result_type(*(_unit(v.dtype) for _, v in given)))
        at, coordinates, *some = (_counted(name, v, unit) for name, v in given)
        period = int(some[0]) if some else None
    whole = at.dtype.kind in "iu" and coordinates.dtype.kind in "iu" and len(at) and len(coordinates)
    if whole and (period is None or plain(period) == int(period)):
        ends = [int(end) for v in (at, coordinates) for end in (v.min(), v.max())]
        least = min(ends)
        if max(ends) < 2**63 and max(ends) - least + 4 * int(period or 0) < 2**62:
            return at.astype(np.int64) - least, coordinates.astype(np.int64) - least, int(period) if period else None
    found, places = at.astype(np.float64), coordinates.astype(np.float64)
    largest = max((float(np.abs(v).max()) for v in (found, places) if len(v)), default=0.0)
    if largest > 1e300:
        refuse(ValueError, "coordinates", "numbers up to 1e300, whose differences are numbers", f"{largest:g}")
    return found, places, None if period is None else float(plain(period))


def _unit(dtype: Any) -> Any:
    """Returns the unit of times, as a timedelta64. Months and years of dates are days."""
    unit, many = np.datetime_data(np.result_type(dtype, "M8[D]") if dtype.kind == "M" else dtype)
    return np.dtype(f"m8[{many}{unit}]")


def _counted(name: str, times: Any, unit: tuple[str, int]) -> Any:
    """Returns times as integers."""
    found = times.astype(f"{times.dtype.kind}8[{unit[1]}{unit[0]}]")
    if not np.all(found.astype(times.dtype) == times):
        refuse(ValueError, name, f"times that {unit[0]} can count in 64 bits", str(times.dtype))
    return found.astype(np.int64)


def _descends(name: str, values: Array) -> bool:
    """Whether coordinates descend. Refuses those that do neither."""
    if len(values) < 2:
        return False
    down = bool(values[-1] < values[0])
    wrong = values[1:] >= values[:-1] if down else values[1:] <= values[:-1]
    if wrong.any():
        k = int(wrong.argmax())
        ways = "descend" if down else "ascend"
        expected = f"ones that ascend or descend at every step, as these {ways} from end to end"
        refuse(ValueError, name, expected, f"another order at positions {k} and {k + 1}")
    return down


def _modulo(values: Array, period: Any) -> Array:
    found: Array = values % period
    # Of a negative number next to 0, floats have no remainder below the period.
    found[found == period] = 0
    return found


def _in_one_period(coordinates: Array, period: Any) -> tuple[Array, Ints]:
    """Returns coordinates modulo a period in ascending order, and their inputs."""
    found = _modulo(coordinates, period)
    order = np.argsort(found, kind="stable")
    found = found[order]
    if len(same := np.flatnonzero(found[1:] == found[:-1])):
        one, other = sorted(map(int, order[same[0] : same[0] + 2]))
        expected = "ones that differ modulo the period (a first one repeated at the end is left out)"
        refuse(ValueError, "coordinates", expected, f"the same at positions {one} and {other}")
    return found, order


def _closed(edges: Array, period: Any) -> Array:
    """Returns the edges of a whole circle with the last exactly a period after the first. The user's may be rounded."""
    span = edges[-1] - edges[0]
    if abs(span - period) > 1e-9 * period:
        refuse(ValueError, "coordinates", f"edges of one period, {period}, from the first to the last", f"{span}")
    return np.append(edges[:-1], edges[0] + period)
