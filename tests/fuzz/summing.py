"""Maps of several axes on an array, and the order in which bytes are cut between two of them."""

from __future__ import annotations

from typing import Any

from .arrays import NUMERIC, NUMPY, TORCH, numbers
from .draw import Draw
from .oracle import Maps, check_bits, check_values, exact_sums, is_whole, name_of, summed, taken

BYTES = (0.0, 255.0)
SERVED = {"numpy": (*NUMERIC, "longdouble"), "torch": (*NUMERIC, "bfloat16", "complex32")}


def dtype_for(r: Draw, library: str, nearest: bool) -> str:
    if nearest and r.chance(0.5):
        return str(r.pick(NUMPY if library == "numpy" else TORCH))
    return str(r.pick(SERVED[library])) if r.chance(0.75) else "uint8"


def pillow_order(maps: Maps) -> Maps:
    """The order of two axes in which 8-bit images are resized, where overshoot is cut in between."""
    (_, row), (_, column) = sorted(maps, key=lambda m: m[0])
    lost, lost_columns = (d.weight.shape[1] - d.weight.shape[0] for d in (row, column))
    first, second = sorted(maps, key=lambda m: m[0])
    return (first, second) if 0 < lost > 2 * lost_columns else (second, first)


def check_maps(y: Any, x: Any, maps: Maps, cut: bool, slack: float = 0.0) -> None:
    """The result of maps on x. cut: between two axes, to the range of bytes."""
    name = name_of(x)
    if all(d.index is not None for _, d in maps):
        return check_bits(y, taken(x, maps))
    if is_whole(name) and all(d.ones for _, d in maps):
        return check_bits(y, exact_sums(numbers(x), maps, name))
    if cut and len(maps) == 2:
        return check_values(y, summed(numbers(x), pillow_order(maps), name, BYTES), name, slack)
    return check_values(y, summed(numbers(x), maps, name), name, slack)
