"""Ragged arrays: indices, reductions of rows, and lengths that must be refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from . import counts
from .arrays import FLOATS, bits, drawn, numbers, same_bits
from .call import Call, Named, literal, named, written
from .draw import Draw
from .matrices import copying
from .oracle import (
    MOST,
    PARTS,
    Maps,
    Want,
    Wrong,
    accumulator,
    check_bits,
    check_shape,
    check_values,
    is_whole,
    name_of,
    summed,
)
from .summing import SUMMED, check_maps

INDICES = ("offsets", "row_ids", "positions", "mask")


def rows(found: list[int]) -> np.ndarray:
    return np.repeat(np.arange(len(found)), found)


def positions(found: list[int]) -> np.ndarray:
    return np.concatenate([np.arange(0), *map(np.arange, found)])


def indices_like(*given: Named, beside: Named | None = None) -> Any:
    """An empty array as indices are that are made of these: int32 if all arrays among them are, else int64; a tensor if
    one of them, or what is given beside them, is one."""
    dtypes = {str(getattr(g.value, "dtype", "int64")).removeprefix("torch.").lstrip(">") for g in given}
    like = np.zeros(0, np.int32 if dtypes <= {"int32", "i4"} else np.int64)
    tensor = any(isinstance(g.value, torch.Tensor) for g in (*given, beside) if g is not None)
    return torch.from_numpy(like) if tensor else like


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
        return Call("", "y = " + written(f"tenter.ragged.{of}", [given]), {"lengths": given}, never, (error,))
    held = counts.held(r, found, r.pick(("numpy", "torch")), "lengths")
    like = indices_like(held)
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
        named_, like = ({"max_len": r.whole(room)} if room > most else {}), like > 0
    elif r.chance(0.3):
        named_ = {"output_size": r.whole(sum(found))}

    def check(y: Any) -> None:
        expected = want[of]()
        check_shape(y, like, expected.shape)
        check_bits(y, expected.astype(bits(like).dtype))

    return Call("", "y = " + written(f"tenter.ragged.{of}", [held], named_), {held.name: held}, check)


def never(y: Any) -> None:
    raise Wrong("accepted what is wrong", str(y))


def drawn_rows(r: Draw, dtypes: Any, least: int = 1) -> tuple[Any, list[int], Any, int]:
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
    x, found, held, dim = drawn_rows(r, SUMMED)
    maps: Maps = [(dim, copying(rows(found), len(found)).T)]
    shape = tuple(len(found) if d == dim else n for d, n in enumerate(x.value.shape))

    def check(y: Any) -> None:
        check_shape(y, x.value, shape)
        if sum(found):
            check_maps(y, x.value, maps, False)
        elif not same_bits(bits(y), np.zeros_like(bits(y))):
            raise Wrong("values", "sums of nothing")

    return along(r, "sum", x, held, dim, check)


EXTREMES = {"numpy": ("float16", *SUMMED["numpy"][:8], "float32", "float64"),
            "torch": ("float16", "bfloat16", "float32", "float64", "int64", "int32", "uint8", "int8")}  # fmt: skip


def along(r: Draw, name: str, x: Named, held: Named, dim: int, check: Any) -> Call:
    """By lengths, by a plan in their place, or by the plan's method."""
    of, plan = f"tenter.ragged.segment_{name}", f"tenter.ragged.Plan({held.name})"
    at = dim - x.value.ndim if r.chance(0.3) else dim
    source = r.pick((f"{of}(x, lengths, {at})", f"{of}(x, {plan}, {at})", f"{plan}.{name}(x, {at})"), (3, 1, 1))
    return Call("", f"y = {source}", {x.name: x, held.name: held}, check)


def parts(x: np.ndarray, found: list[int], dim: int) -> list[np.ndarray]:
    """The rows, their positions along the first dim."""
    return np.split(np.moveaxis(x, dim, 0), np.cumsum(found)[:-1])


def extremes(r: Draw) -> Call:
    x, found, held, dim = drawn_rows(r, EXTREMES)
    how, name = r.pick(("max", "min")), name_of(x.value)
    values, whole = numbers(x.value), is_whole(name)
    ends = (np.iinfo(name).min, np.iinfo(name).max) if whole else (-np.inf, np.inf)

    def check(y: Any) -> None:
        check_shape(y, x.value, tuple(len(found) if d == dim else n for d, n in enumerate(values.shape)))
        start = np.array(ends[how == "min"], values.dtype)
        f = np.maximum if how == "max" else np.minimum
        want = np.stack([f.reduce(row, 0, initial=start) for row in parts(values, found, dim)])
        if not np.array_equal(np.moveaxis(numbers(y), dim, 0), want, equal_nan=not whole):
            raise Wrong("values", how)

    return along(r, how, x, held, dim, check)


MEANS = {library: [d for d in dtypes if not is_whole(d)] for library, dtypes in SUMMED.items()}


def means(r: Draw) -> Call:
    x, found, held, dim = drawn_rows(r, MEANS)
    name = name_of(x.value)

    def check(y: Any) -> None:
        check_shape(y, x.value, tuple(len(found) if d == dim else n for d, n in enumerate(x.value.shape)))
        want = summed(numbers(x.value), [(dim, copying(rows(found), len(found)).T)], name)
        each = np.maximum(found, 1).reshape(-1, *[1] * (want.values.ndim - dim - 1))
        # Sums may overflow on the way to a mean that does not, and of a complex number with one infinite part NumPy's and
        # PyTorch's division makes NaN of the other.
        known = want.size < MOST[accumulator(name)] / 8
        if name in PARTS:
            known &= np.isfinite(want.values).all(-1, keepdims=True)
        size = np.where(known, want.size / each, np.inf)
        check_values(y, want._replace(values=want.values / each, size=size, roundings=want.roundings + 2), name)

    return along(r, "mean", x, held, dim, check)


def softmax(r: Draw) -> Call:
    x, found, held, dim = drawn_rows(r, {"numpy": FLOATS, "torch": (*FLOATS, "bfloat16")})
    name = name_of(x.value)

    def check(y: Any) -> None:
        check_shape(y, x.value, tuple(x.value.shape))
        wide = numbers(x.value).astype(np.longdouble)
        shares, errors = [np.moveaxis(wide, dim, 0)[:0]], [np.moveaxis(wide, dim, 0)[:0]]
        for row in parts(wide, found, dim):
            with np.errstate(all="ignore"):
                below = row - row.max(0, initial=-np.inf)
                powers = np.exp(below)
                shares.append(powers / powers.sum(0))
            # A difference is rounded, which its power multiplies.
            errors.append(shares[-1] * (len(row) + 8 + 2 * np.minimum(np.nan_to_num(np.abs(below)), 2000)))
        y_, size = (np.moveaxis(np.concatenate(some), 0, dim) for some in (shares, errors))
        check_values(y, Want(y_, np.nan_to_num(size), 1.0), name)

    return along(r, "softmax", x, held, dim, check)


KINDS: dict[str, tuple[Any, float]] = {
    "ragged indices": (indices, 1.5),
    "segment sums": (sums, 1),
    "segment extremes": (extremes, 0.7),
    "segment means": (means, 0.5),
    "segment softmax": (softmax, 0.5),
}
