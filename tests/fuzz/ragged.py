"""What describes ragged arrays: each form from each other, ranges, spans; results in `out` too."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import counts
from .arrays import Array, bits, dtype_name
from .call import Call, Named, literal, named, written
from .draw import Draw
from .oracle import Wrong, check_bits, check_shape
from .segments import indices_like, never, positions, rows

FORMS = ("lengths", "offsets", "row_ids", "positions", "mask")


def form(name: str, found: list[int], room: int) -> np.ndarray:
    """One of the forms of rows of these lengths, which have `room` places in a mask."""
    if name == "lengths":
        return np.array(found, np.int64)
    if name == "offsets":
        return np.array([sum(found[:i]) for i in range(len(found) + 1)], np.int64)
    if name == "mask":
        return np.array([[k < n for k in range(room)] for n in found], bool).reshape(len(found), room)
    return rows(found) if name == "row_ids" else positions(found)


def matrix(r: Draw, name: str, values: np.ndarray, dtype: str, library: str, swapped: bool = False) -> Named:
    """An array of these values in one of the layouts of two or more axes."""
    n = values.ndim
    order = tuple(r.some(range(n), n)) if r.chance(0.3) else None
    steps = tuple(r.pick((1, 1, 2, 3)) for _ in range(n)) if r.chance(0.3) else None
    guard = r.pick((None, "after", "before"))
    return named(
        name,
        Array(library, dtype, values.shape, values.ravel().tolist(), 0, order, steps, guard=guard, swapped=swapped),
    )


def _room(r: Draw, shape: tuple[int, ...], like: Any) -> Named:
    """An array to write to, of zeros."""
    if not isinstance(like, np.ndarray):
        return matrix(r, "out", np.zeros(shape, np.int8), dtype_name(like), "torch")
    native = like.dtype.newbyteorder("=").str
    return matrix(r, "out", np.zeros(shape, np.int8), native, "numpy", not like.dtype.isnative)


def result(
    r: Draw, function: str, args: list[Any], names: dict[str, Any], want: np.ndarray, like: Any, take: str = "",
    of: Named | None = None,
) -> Call:  # fmt: skip
    """A call whose result has these bits, in some calls written where it is told; take: which part of it. of: lengths; a
    plan of them stands in their place among args or, as `plan`, in front of the function."""
    into = None
    if not take and (like.dtype == bool or bits(like).dtype.names is None) and r.chance(0.25):
        into = _room(r, want.shape, like)
        names = {**names, "out": into}

    def check(y: Any) -> None:
        check_shape(y, like, want.shape)
        check_bits(y, want.astype(bits(like).dtype))
        if into is not None and y is not into.value:
            raise Wrong("another result than out")

    held = {v.name: v for v in (*args, *names.values(), of) if isinstance(v, Named)}
    source = f"y = {written(function, args, names)}{take}"
    if of is not None:
        source = f"plan = tenter.ragged.Plan({of.name})\n" + source.replace(f", {of.name}", ", plan", 1)
    kept = of is not None and function.endswith((".row_ids", ".positions"))  # by the plan, which gives them again
    return Call("", source, held, check, fresh=into is None and not kept)


def forms(r: Draw) -> Call:
    """Lengths from the other forms; and any form from a plan of another."""
    name = r.pick(FORMS[1:])
    found = counts.values(r, r.length(), 600)
    if name == "positions":
        found = [n for n in found if n]
    if name == "row_ids" and (r.chance(0.5) or not found):
        rows_named: dict[str, Any] = {}
        while found and not found[-1]:
            found = found[:-1]
    else:
        rows_named = {"n": r.whole(len(found))} if name == "row_ids" else {}
    room = max(found, default=0) + r.pick((0, 0, 2))
    values, library = form(name, found, room), r.pick(("numpy", "torch"))
    left = name == "mask" and r.chance(0.4)
    if r.chance(0.15) and (bad := _wrong(r, name, values, len(found))) is not None:
        given, error = bad
        made = "lengths" if name == "offsets" else f"Plan.from_{name}"
        source = written(f"tenter.ragged.{made}", [given], rows_named)
        return Call("", f"y = {source}", {name: given}, never, (error,))
    if left:
        values = values[:, ::-1]
        if r.chance(0.5) or not any(0 < n < room for n in found):
            rows_named["padding_side"] = "left"
    if name == "mask":
        given = matrix(r, name, values, r.pick(("bool", "int64", "int32", "uint8")), library)
    else:
        given = counts.held(r, values.tolist(), library, name)
    like = indices_like(given)
    if r.chance(0.5) and name == "offsets":
        return result(r, "tenter.ragged.lengths", [given], rows_named, form("lengths", found, room), like)
    asked = r.pick(FORMS)
    want = form(asked, found, max(found, default=0))
    if left and asked == "mask":
        want = want[:, ::-1]
    source = written(f"tenter.ragged.Plan.from_{name}", [given], rows_named) + f".{asked}" + "()" * (asked == "mask")

    def check(y: Any) -> None:
        its = like > 0 if asked == "mask" else like
        check_shape(y, its, want.shape)
        check_bits(y, want.astype(bits(its).dtype))

    return Call("", f"y = {source}", {name: given}, check, fresh=False)  # as the plan keeps it


def _wrong(r: Draw, name: str, values: np.ndarray, n: int) -> tuple[Named, type[Exception]] | None:
    """The form with one place that cannot be, or of another dtype."""
    if r.chance(0.2):
        return literal(name, values.astype(np.float64)), TypeError
    values = values.copy()
    if name == "mask":
        holes = np.argwhere(~values[:, :-1] & values[:, :1]) if values.shape[1:] > (1,) else np.zeros((0, 2), int)
        if not len(holes):
            return None
        row, column = r.pick(holes.tolist())
        values[row, column + 1 :] = True
        return literal(name, values), ValueError
    if not values.size:
        return None
    k = r.int(0, len(values) - 1)
    if name == "offsets":
        values[k] = -r.int(1, 9) if k or r.chance(0.5) else r.int(1, 9)
    elif name == "row_ids":
        values[k] = r.pick((-r.int(1, 9), 2**40 + n) if k + 1 < len(values) else (-r.int(1, 9),))
    else:
        values[k] = r.pick((-1, values[k - 1] + 2)) if k else r.int(1, 9)
    return literal(name, values), ValueError


def ranges(r: Draw) -> Call:
    """Starts and steps one for all or for each; some at an end of what their dtype holds."""
    found = counts.values(r, r.length(1), 600)
    n, library = len(found), r.pick(("numpy", "torch"))
    held = counts.held(r, found, library, "lengths")
    narrow = r.chance(0.4)
    dtype = "int32" if narrow else "int64"
    far = r.chance(0.25)

    def one_or_each(name: str, least: int, most: int, end: int) -> tuple[list[int], Any]:
        values = r.rng.integers(least, most, n, endpoint=True).tolist()
        if far and end:
            sign = r.pick((-1, 1))
            values = [sign * (end - r.int(0, 40)) for _ in range(n)]
        if r.chance(0.4):
            return values[:1] * n, r.whole(values[0])
        where = library if r.chance(0.8) else r.pick(("numpy", "torch"))
        return values, matrix(r, name, np.array(values, np.int64), dtype, where)

    starts, start = one_or_each("starts", -1000, 1000, np.iinfo(dtype).max)
    steps, step = one_or_each("steps", -5, 5, 0)
    arrays = [a for a in (start, step) if isinstance(a, Named)]
    like = indices_like(*arrays, beside=held) if arrays else indices_like(held)
    want = [s + k * by for s, length, by in zip(starts, found, steps) for k in range(length)]
    info = np.iinfo(bits(like).dtype)
    args, names = [start, held, *([] if isinstance(step, int) and step == 1 else [step])], {}
    if r.chance(0.3):
        names = {"output_size": r.whole(sum(found))}
    if any(not info.min <= w <= info.max for w in want):
        held_names = {v.name: v for v in args if isinstance(v, Named)}
        return Call("", "y = " + written("tenter.ragged.ranges", args, names), held_names, never, (ValueError,))
    return result(r, "tenter.ragged.ranges", args, names, np.array(want, np.int64), like)


def spans(r: Draw) -> Call:
    """Spans of any number of dims, which overlap, are empty or reach the end."""
    lead, k = r.shape(r.int(0, 2), 30), r.length()
    n, library = r.length() * r.pick((1, 1, 9)), r.pick(("numpy", "torch"))
    while k > 1 and np.prod(lead, dtype=float) * k > 400:
        k //= 2
    ends = np.sort(r.rng.integers(0, n + 1, (2, *lead, k)), 0)
    if ends.size and r.chance(0.3):
        ends[0] = np.maximum(0, ends[1] - 1 - ends[0] % 3)  # short ones
    wrong = ends[1].size and r.chance(0.12)
    if wrong:
        at = tuple(r.int(0, m - 1) for m in ends.shape[1:])
        how = r.pick(("past", "before", "crossed"))
        ends[(1, *at)] = n + r.int(1, 5) if how == "past" else ends[(1, *at)]
        ends[(0, *at)] = {"past": ends[(0, *at)], "before": -1, "crossed": ends[(1, *at)] + 1}[how]
    # int64 and int32, as any of them may be negative
    given = [matrix(r, name, e, r.pick(("int64", "int32")), library) for name, e in zip(("starts", "ends"), ends)]
    args, of = [*given, r.whole(n)], "tenter.ragged.spans_to_mask"
    if wrong:
        return Call("", f"y = {written(of, args)}", {a.name: a for a in given}, never, (ValueError,))
    places = np.arange(n)
    inside = (places >= ends[0][..., None]) & (places < ends[1][..., None])
    return result(r, of, args, {}, inside.any(-2), indices_like(*given) > 0)


KINDS: dict[str, tuple[Any, float]] = {
    "ragged forms": (forms, 0.8),
    "ragged ranges": (ranges, 0.6),
    "spans": (spans, 0.4),
}
