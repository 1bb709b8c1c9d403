"""Counts of repeat_interleave, in everything that holds integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .arrays import Array
from .call import Named, literal, named
from .draw import Draw


def values(r: Draw, n: int, most: int = 4000) -> list[int]:
    """n of them, in one of the ways that counts come."""
    how = r.pick(("small", "ones", "zeros", "long", "equal"), (5, 1, 1, 2, 1))
    each = max(1, most // max(1, n))
    if how == "small":
        found = r.rng.integers(0, min(each, r.pick((2, 4, 9, 70))) + 1, n)
    elif how == "long":
        found = np.where(r.rng.random(n) < 0.1, r.rng.integers(0, 3 * each, n), r.rng.integers(0, 2, n))
    else:
        found = np.full(n, {"ones": 1, "zeros": 0, "equal": min(each, 3)}[how])
    return [int(c) for c in found]


def held(r: Draw, found: list[int], library: str, name: str = "counts") -> Named:
    """As a list, a tuple, or an array of any integer dtype, strided, expanded, read-only, swapped."""
    n = len(found)
    form = r.pick(("list", "tuple", "array"), (1, 1, 6))
    if form == "list":
        return literal(name, [r.whole(c) for c in found] if r.chance(0.3) else found)
    if form == "tuple":
        return literal(name, tuple(found))
    library = library if r.chance(0.8) else r.pick(("numpy", "torch"))
    dtype = r.ints_dtype(found) if r.chance(0.5) else r.pick(("int64", "int32"))
    how = Array(library, dtype, (n,), found, guard=r.pick((None, "after", "before")))
    if r.chance(0.4):
        step = r.pick((2, 3, -1, -2)) if library == "numpy" else r.pick((2, 3))
        if len(set(found)) == 1 and r.chance(0.5):
            step = 0
        how = how._replace(steps=(step,))
    if n == 1 and r.chance(0.5):
        how = how._replace(odd=((0, r.pick((0, 3, 500))),))
    if library == "numpy":
        how = how._replace(shift=r.pick((0, 0, 1, 3)), swapped=r.chance(0.15), readonly=r.chance(0.2))
    return named(name, how)


WRONG: tuple[tuple[str, Any], ...] = (
    ("negative", ValueError), ("number", ValueError), ("float", TypeError), ("bool", TypeError), ("2-D", ValueError),
    ("large", ValueError), ("huge", MemoryError), ("text", TypeError),
)  # fmt: skip


def wrong(r: Draw, n: int, library: str) -> tuple[Any, type[BaseException]]:
    """Counts that must be refused, for n > 1 positions."""
    how, error = r.pick(WRONG)
    found = values(r, n)
    make = (lambda v, t: torch.tensor(v, dtype=getattr(torch, t))) if library == "torch" else np.array
    if how == "negative":
        found[r.int(0, n - 1)] = -r.int(1, 100)
        return (make(found, "int64") if r.chance(0.6) else found), error
    if how == "number":
        found = found[:-1] if n > 2 and r.chance(0.5) else [*found, 1]
        return make(found, r.pick(("int64", "int32"))), error
    if how == "float":
        return make(found, r.pick(("float32", "float64"))), error
    if how == "bool":
        return make([c > 0 for c in found], "bool"), error
    if how == "2-D":
        return make([found, found], "int64"), error
    if how == "large":
        found[0] = found[1] = 2**62
        return make(found, "int64"), error
    if how == "huge":
        found[0] = 2**44
        return make(found, "int64"), error
    return "3", error
