"""tenter.interp, and the map that it applies."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..helpers import interp_oracle
from .arrays import NUMERIC, NUMPY, TORCH, drawn, numbers
from .call import Call, named, text, written
from .draw import Draw
from .matrices import Dense, copying, of_matrix
from .operations import again, maybe_out, sent
from .oracle import Wrong, check_bits, check_shape, check_values, name_of, summed, taken

COPIES = ("nearest", "previous", "next")
# Weights are computed in another way than the oracle's: relative to the sum of |w| |x|.
SLACK = 1e-10


def matrix(at: np.ndarray, c: np.ndarray, how: dict[str, Any]) -> Dense:
    """Each input alone is 1: what the outputs are then is its column."""
    n = len(c) - (how["mode"] == "area")
    plain = {k: v for k, v in how.items() if k != "value" and (k, v) != ("edge", "constant")}
    weight = interp_oracle.interp(np.eye(n), at, c, **plain).T
    if how["mode"] in COPIES:
        return copying(weight.argmax(1) if len(weight) else [], n)
    return of_matrix(weight)


def interp(r: Draw) -> Call:
    _, at, c, how = interp_oracle.case(r.int(0, 1 << 30))
    n, m, mode = len(c) - (how["mode"] == "area"), len(at) - (how["mode"] == "area"), how["mode"]
    dense = matrix(at, c, how)
    library = r.pick(("numpy", "torch"))
    copies = mode in COPIES
    fills = how.get("edge") == "constant"
    usual = (*NUMERIC, "bfloat16") if library == "torch" else (*NUMERIC, "longdouble")
    dtype = r.pick((NUMPY if library == "numpy" else TORCH) if copies and not fills and r.chance(0.5) else usual)
    if fills:  # with values that all of these hold
        how["value"] = tuple(abs(v) for v in how["value"]) if isinstance(how["value"], tuple) else 7.0
        dtype = r.pick(("float64", "float32", "int16", "uint8", "complex64"))
    other = r.shape(r.int(0, 3), max(1, 2000 // max(1, n)))
    axis = r.int(0, len(other))
    shape, after = (*other[:axis], n, *other[axis:]), (*other[:axis], m, *other[axis:])
    held = drawn(r, shape, dtype, library)
    x = named("x", held)
    given, places = (r.pick((v, v, v.tolist())) for v in (at, c))
    refuses: tuple[type[BaseException], ...] = ()
    if r.chance(0.06) and len(c) > 1:
        places = [float(v) for v in c]
        places[r.int(0, len(c) - 1)] = np.nan if r.chance(0.5) else c[0] + c[-1] + 1e301
        refuses = (ValueError,)
    outside = np.zeros(m, int)
    if fills:
        ends = at if mode != "area" else np.stack([np.minimum(at[1:], at[:-1]), np.maximum(at[1:], at[:-1])])
        low, high = (ends, ends) if mode != "area" else ends
        outside = np.where(high > c.max(), 2, np.where(low < c.min(), 1, 0))

    def check(y: Any) -> None:
        check_shape(y, x.value, after)
        inside = [int(o) for o in np.flatnonzero(outside == 0)]
        if len(inside) < m:
            both = how["value"] if isinstance(how["value"], tuple) else (how["value"],) * 2
            rows = (
                np.moveaxis(numbers(y), axis, 0) if name_of(y) != "complex64" else np.moveaxis(np.asarray(y), axis, 0)
            )
            for side, value in enumerate(both):
                if not (rows[outside == side + 1] == value).all():
                    raise Wrong("the fill value", f"{value} at outputs {np.flatnonzero(outside == side + 1)}")
            y = y[(slice(None),) * axis + (inside,)]
        held = Dense(
            *(part[inside] for part in dense[:5]), None if dense.index is None else dense.index[inside], dense.ones
        )
        if copies:
            check_bits(y, taken(x.value, [(axis, held)]))
        else:
            name = name_of(x.value)
            check_values(y, summed(numbers(x.value), [(axis, held)], name), name, SLACK)

    to = {} if refuses else maybe_out(r, held, after)
    args = [x, given, places, r.whole(axis if r.chance(0.5) else axis - len(shape))]
    if r.chance(0.3) and not fills and not to:
        shown = ", ".join([text(given), text(places), *(f"{k}={text(v)}" for k, v in how.items())])
        source = f"y = tenter.maps.from_coordinates({shown}).apply(x, {axis})"
        same: Any = again(r, held)
    else:
        source, same = "y = " + written("tenter.interp", args, how | to), again(r, held)
    return sent(Call("", source, {"x": x}, check, refuses, again=same), to)


KINDS: dict[str, tuple[Any, float]] = {"interp": (interp, 2)}
