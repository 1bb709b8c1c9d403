"""Copies of the rows of ragged arrays: filled up with a value and back, repeated by a plan, repeated in a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from . import counts
from .arrays import COMPLEX, FLOATS, INTEGERS, NUMPY, TORCH, bits, drawn
from .call import Call, Named, named
from .draw import Draw
from .oracle import name_of
from .ragged import matrix, result
from .segments import drawn_rows, indices_like, rows


def fill(r: Draw, x: Any) -> tuple[dict[str, Any], np.ndarray]:
    """A value to pad x with as a call names it, or none; and its bits."""
    dtype, value = name_of(x), 0
    if dtype in INTEGERS:
        value = r.pick((0, 1, int(np.iinfo(dtype).max), int(np.iinfo(dtype).min)))
    elif dtype in (*FLOATS, "bfloat16"):
        # Which NaN of a half type is meant is not said.
        value = r.pick((0, -1.5, 7, float("inf"), float("nan") if dtype in ("float32", "float64") else -1, -0.0))
    elif dtype in COMPLEX:
        value = r.pick((0, 1 + 2j, -3, 0.5))
    elif dtype == "bool":
        value = r.pick((0, True))
    named_ = {} if type(value) is int and value == 0 else {"value": value}
    if isinstance(x, torch.Tensor):
        return named_, bits(torch.tensor([value], dtype=x.dtype))[0]
    held = np.zeros(1, x.dtype)
    if named_:
        held[0] = value
    return named_, held[0]


def put(y: np.ndarray, found: list[int], x: np.ndarray, left: bool = False) -> np.ndarray:
    """Rows of x in the places of y that are theirs."""
    at = 0
    for i, n in enumerate(found):
        y[i, places(n, y.shape[1], left)] = x[at : at + n]
        at += n
    return y


def places(n: int, room: int, left: bool) -> slice:
    """Where a padded row has its n positions."""
    return slice(room - n, room) if left else slice(0, n)


def side(r: Draw) -> tuple[bool, dict[str, Any]]:
    """Whether rows are padded on the left, and the argument that says it."""
    left = r.chance(0.3)
    return left, {"padding_side": "left"} if left else {}


def padding(r: Draw) -> Call:
    x, found, held, _ = drawn_rows(r, {"numpy": NUMPY, "torch": TORCH}, 0)
    longest = max(found, default=0)
    room = longest + r.pick((0, 0, 1, 5))
    names, value = fill(r, x.value)
    if room > longest or r.chance(0.3):
        names["max_len"] = r.whole(room)
    of = bits(x.value)
    want = np.empty((len(found), room, *of.shape[1:]), of.dtype)
    want[...] = value
    left, said = side(r)
    return by(r, "pad", x, held, {**names, **said}, put(want, found, of, left))


def unpadding(r: Draw) -> Call:
    shape = r.shape(r.int(2, 4), 600)
    library = r.pick(("numpy", "torch"))
    x = named("x", drawn(r, shape, r.pick(NUMPY if library == "numpy" else TORCH), library))
    found = r.rng.integers(0, shape[1] + 1, shape[0]).tolist()
    held = counts.held(r, found, library, "lengths")
    of = bits(x.value)
    left, said = side(r)
    taken = (of[i, places(n, shape[1], left)] for i, n in enumerate(found))
    return by(r, "unpad", x, held, said, np.concatenate([np.empty((0, *shape[2:]), of.dtype), *taken]))


def repeats(r: Draw) -> Call:
    """By a plan, along any dim."""
    shape = r.shape(r.int(1, 4), 400)
    dim, library = r.int(0, len(shape) - 1), r.pick(("numpy", "torch"))
    x = named("x", drawn(r, shape, r.pick(NUMPY if library == "numpy" else TORCH), library))
    found = counts.values(r, shape[dim], max(1, 8000 // max(1, int(np.prod(shape)) // max(1, shape[dim]))))
    held = counts.held(r, found, library, "lengths")
    want = np.take(bits(x.value), rows(found), dim)
    args = [x, dim - len(shape) if r.chance(0.3) else dim]
    return result(r, "plan.repeat", args, {}, want, x.value, of=held)


def by(r: Draw, name: str, x: Named, held: Named, names: dict[str, Any], want: np.ndarray) -> Call:
    """By lengths, by a plan in their place, or by the plan's method."""
    how = r.pick(("lengths", "plan", "method"), (3, 1, 1))
    if how == "method":
        return result(r, f"plan.{name}", [x], names, want, x.value, of=held)
    return result(r, f"tenter.ragged.{name}", [x, held], names, want, x.value, of=held if how == "plan" else None)


def batches(r: Draw) -> Call:
    """repeat_padded: one of its two results."""
    library, shape = r.pick(("numpy", "torch")), r.shape(r.int(2, 4), 300)
    x = named("x", drawn(r, shape, r.pick(NUMPY if library == "numpy" else TORCH), library))
    b, t = shape[:2]
    found = [counts.values(r, t, max(1, 4000 // max(1, b * int(np.prod(shape[2:]))))) for _ in range(b)]
    each = np.array(found, np.int64).reshape(b, t)
    counted = matrix(
        r, "counts", each, r.ints_dtype(each.ravel().tolist()) if r.chance(0.4) else r.pick(("int64", "int32")), library
    )
    sums = each.sum(1).tolist()
    longest = max(sums, default=0)
    room = longest + r.pick((0, 0, 1, 5))
    names, value = fill(r, x.value)
    if room > longest or r.chance(0.3):
        names["max_len"] = r.whole(room)
    args, of = [x, counted], bits(x.value)
    if r.chance(0.3):
        return result(
            r, "tenter.ragged.repeat_padded", args, names, np.array(sums, np.int64), indices_like(counted), "[1]"
        )
    want = np.empty((b, room, *shape[2:]), of.dtype)
    want[...] = value
    flat = of.reshape(b * t, *shape[2:])
    want = put(want, sums, np.repeat(flat, each.ravel(), 0))
    return result(r, "tenter.ragged.repeat_padded", args, names, want, x.value, "[0]")


KINDS: dict[str, tuple[Any, float]] = {
    "padding": (padding, 0.7),
    "unpadding": (unpadding, 0.4),
    "repeats of a plan": (repeats, 0.4),
    "padded repeats": (batches, 0.5),
}
