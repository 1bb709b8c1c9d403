"""Ragged arrays: indices, padding and reductions of rows, and lengths that must be refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from . import counts
from .arrays import NUMPY, TORCH, bits, drawn, same_bits
from .call import Call, Named, literal, named, written
from .draw import Draw
from .matrices import copying
from .oracle import Maps, Wrong, check_bits, check_shape
from .summing import SERVED, check_maps

INDICES = ("offsets", "row_ids", "positions", "mask")


def rows(found: list[int]) -> np.ndarray:
    return np.repeat(np.arange(len(found)), found)


def positions(found: list[int]) -> np.ndarray:
    return np.concatenate([np.arange(0), *map(np.arange, found)])


def indices(r: Draw) -> Call:
    """Of lengths in anything that holds integers; sometimes wrong ones."""
    n = r.length()
    found = counts.values(r, n)
    of = r.pick(INDICES)
    if n > 1 and r.chance(0.1):
        bad, error = counts.wrong(r, n, r.pick(("numpy", "torch")))
        if not isinstance(bad, list) and getattr(bad, "dtype", None) is not None and len(bad) != n:
            bad, error = [-1] * n, ValueError  # any number of lengths is right
        if isinstance(bad, list) and len(bad) != n:
            bad, error = [-1] * n, ValueError
        if error is MemoryError and of == "offsets":
            bad, error = "3", TypeError
        given: Any = literal("lengths", bad)
        return Call("", "y = " + written(f"tenter.ragged.{of}", [given]), {"lengths": given}, _never, (error,))
    held = counts.held(r, found, r.pick(("numpy", "torch")), "lengths")
    dtype = str(getattr(held.value, "dtype", "int64")).removeprefix("torch.").lstrip(">")
    kind: Any = np.int32 if dtype in ("int32", "i4") else np.int64
    most = max(found, default=0)
    want = {
        "offsets": lambda: np.concatenate([[0], np.cumsum(found)]),
        "row_ids": lambda: rows(found),
        "positions": lambda: positions(found),
        "mask": lambda: np.arange(room) < np.array(found, np.int64)[:, None],
    }
    room = most + r.pick((0, 0, 3))
    named_: dict[str, Any] = {}
    if of == "mask":
        named_, kind = ({"max_len": r.whole(room)} if room > most else {}), np.bool_
    elif r.chance(0.3):
        named_ = {"total": r.whole(sum(found))}

    def check(y: Any) -> None:
        expected = want[of]().astype(kind)
        like = np.zeros(0, kind)
        check_shape(y, torch.from_numpy(like) if isinstance(held.value, torch.Tensor) else like, expected.shape)
        check_bits(y, expected)

    return Call("", "y = " + written(f"tenter.ragged.{of}", [held], named_), {held.name: held}, check)


def _never(y: Any) -> None:
    raise Wrong("accepted what is wrong", str(y))


def _drawn(r: Draw, dtypes: Any, least: int = 1) -> tuple[Any, list[int], Any, int]:
    """x, lengths, these as a call has them, and the dim along which x has their positions."""
    library = r.pick(("numpy", "torch"))
    shape = list(r.shape(r.int(1, 4), 600))
    dim = r.int(0, len(shape) - 1) if least else 0
    found = counts.values(r, r.length(1), 800)
    shape[dim] = sum(found)
    while np.prod(shape, dtype=float) > 20000:
        k = max((k for k in range(len(shape)) if k != dim), key=lambda k: shape[k])
        shape[k] = max(1, shape[k] // 3)
    x = named("x", drawn(r, tuple(shape), r.pick(dtypes[library]), library))
    return x, found, counts.held(r, found, library, "lengths"), dim


def sums(r: Draw) -> Call:
    x, found, held, dim = _drawn(r, SERVED)
    maps: Maps = [(dim, copying(rows(found), len(found)).T)]
    shape = tuple(len(found) if d == dim else n for d, n in enumerate(x.value.shape))

    def check(y: Any) -> None:
        check_shape(y, x.value, shape)
        if sum(found):
            check_maps(y, x.value, maps, False)
        elif not same_bits(bits(y), np.zeros_like(bits(y))):
            raise Wrong("values", "sums of nothing")

    args = [x, held, dim - x.value.ndim if r.chance(0.3) else dim]
    return Call("", "y = " + written("tenter.ragged.segment_sum", args), {x.name: x, held.name: held}, check)


EXTREMES = {"numpy": ("float32", "float64", "int64", "int32", "uint8", "uint16", "int8"),
            "torch": ("float32", "float64", "int64", "int32", "uint8", "int8")}  # fmt: skip


def extremes(r: Draw) -> Call:
    """Without empty rows, whose extremes have a test of their own."""
    x, found, _, dim = _drawn(r, EXTREMES)
    found = [n for n in found if n]
    held = counts.held(r, found, "numpy", "lengths")
    how = r.pick(("max", "min"))

    def check(y: Any) -> None:
        values = np.asarray(x.value)
        shape = tuple(len(found) if d == dim else n for d, n in enumerate(values.shape))
        check_shape(y, x.value, shape)
        if found:
            f = np.maximum if how == "max" else np.minimum
            want = f.reduceat(values, np.cumsum([0, *found[:-1]]), axis=dim)
            if not np.array_equal(np.asarray(y), want, equal_nan=values.dtype.kind == "f"):
                raise Wrong("values", how)

    names: dict[str, Named] = {x.name: x, held.name: held}
    return Call("", "y = " + written(f"tenter.ragged.segment_{how}", [x, held, dim]), names, check)


def padding(r: Draw) -> Call:
    """There and back, and what it is on the way."""
    x, found, held, _ = _drawn(r, {"numpy": NUMPY, "torch": TORCH}, 0)
    room = max(found, default=0) + r.pick((0, 2))

    shape, back = (len(found), room, *x.value.shape[1:]), r.chance(0.5)

    def check(y: Any) -> None:
        check_shape(y, x.value, tuple(x.value.shape) if back else shape)
        held_ = bits(y) if back else bits(y)[np.arange(room) < np.array(found, np.int64)[:, None]]
        if not same_bits(held_, bits(x.value)):
            raise Wrong("values", "unpad" if back else "pad")

    source = "y = " + written("tenter.ragged.pad", [x, held, room])
    if back:
        source += "\ny = tenter.ragged.unpad(y, lengths)"
    return Call("", source, {x.name: x, held.name: held}, check)


KINDS: dict[str, tuple[Any, float]] = {
    "ragged indices": (indices, 1.5),
    "segment sums": (sums, 1),
    "segment extremes": (extremes, 0.7),
    "padding": (padding, 0.7),
}
