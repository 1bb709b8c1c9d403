"""Maps of several axes on an array, and the order in which bytes are cut between two of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import NUMERIC, NUMPY, TORCH, bits, numbers
from .draw import Draw
from .oracle import Maps, Want, check_bits, check_values, exact_sums, is_whole, name_of, summed, summed_bytes, taken

BYTES = (0.0, 255.0)
SUMMED = {"numpy": (*NUMERIC, "longdouble"), "torch": (*NUMERIC, "bfloat16", "complex32")}


def dtype_for(r: Draw, library: str, nearest: bool) -> str:
    if nearest and r.chance(0.5):
        return str(r.pick(NUMPY if library == "numpy" else TORCH))
    return str(r.pick(SUMMED[library])) if r.chance(0.75) else "uint8"


def pillow_order(maps: Maps) -> Maps:
    """The order of two axes in which 8-bit images are resized, where overshoot is cut in between."""
    (_, row), (_, column) = sorted(maps, key=lambda m: m[0])
    lost, lost_columns = (d.weight.shape[1] - d.weight.shape[0] for d in (row, column))
    first, second = sorted(maps, key=lambda m: m[0])
    return (first, second) if 0 < lost > 2 * lost_columns else (second, first)


def taken_or_nothing(x: Any, maps: Maps) -> np.ndarray:
    """Bits of a call that copies, but for outputs that read no input: they are zero."""
    found = bits(x)
    for axis, d in maps:
        if d.index is not None:
            found = np.take(found, d.index, axis)
            continue
        read = d.up.any(1)
        found = np.take(found, np.where(read, d.up.argmax(1), 0), axis)
        at: list[Any] = [slice(None)] * found.ndim
        at[axis] = ~read
        found[tuple(at)] = np.zeros((), found.dtype)
    return found


def in_integers(weight: np.ndarray) -> bool:
    """Weights of 22 bits whose sums of bytes fit 32; else sums are floats, cut between axes but not rounded."""
    size = np.abs(weight)
    small = size.max(initial=0) <= 127 * 2.0**-6 and size.sum(1).max(initial=0) * 255 <= 511
    return bool(small) and not (weight % 2.0**-22).any()


# How far two axes of bytes may be from their exact sum in fixed point: OpenCV cuts two products off at a quarter, and adds
# a half at the end. Other weights are within 0.03.
FIXED_POINT = 0.55


def check_maps(y: Any, x: Any, maps: Maps, cut: bool, slack: float = 0.0) -> None:
    """The result of maps on x. cut: between two axes, to the range of bytes."""
    name = name_of(x)
    if all(d.index is not None for _, d in maps):
        return check_bits(y, taken(x, maps))
    if all(d.ones and d.most_taps <= 1 for _, d in maps):
        return check_bits(y, taken_or_nothing(x, maps))
    if is_whole(name) and all(d.ones for _, d in maps):
        want = exact_sums(numbers(x), maps, name)
        return check_bits(bits(y).astype(want.dtype), want)
    if cut and len(maps) <= 2:
        return check_values(y, summed_cut(numbers(x), maps, name), name, slack)
    want = summed(numbers(x), maps, name)
    if name == "uint8" and sum(d.index is None for _, d in maps) == 2:
        want = want._replace(unsure=want.unsure + FIXED_POINT)
    return check_values(y, want, name, slack)


def summed_cut(x: np.ndarray, maps: Maps, name: str) -> Want:
    """8-bit values after one axis or two, as Pillow has them."""
    ordered = pillow_order(maps) if len(maps) == 2 else maps
    if all(d.index is not None or in_integers(d.weight) for _, d in maps):
        return summed_bytes(x, ordered)
    return summed(x, ordered, name, BYTES if len(maps) == 2 else None)
