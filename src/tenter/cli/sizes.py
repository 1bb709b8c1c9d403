"""Read the sizes and factors that a person types, and refuse what no memory could hold."""

from __future__ import annotations

import math
import os

from tenter.cli.refusal import Refusal


def parse_size(texts: list[str]) -> tuple[int, int]:
    """Read `--size H W`."""
    return _side(texts[0], "height"), _side(texts[1], "width")


def parse_scale(text: str) -> float:
    """Read `--scale S`."""
    try:
        scale = float(text)
    except ValueError:
        raise Refusal(f"--scale: expected a number, got {text!r}") from None
    if not math.isfinite(scale) or scale <= 0:
        raise Refusal(f"--scale: expected a finite number above 0, got {text}")
    return scale


def scaled(size: tuple[int, int], scale: float) -> tuple[int, int]:
    """Give the size that a scale makes of a picture: each side times the scale, rounded down."""
    height, width = size
    if max(size) * scale > 2**31:
        raise Refusal(f"--scale: {scale:g} makes {height} x {width} too large")
    new = math.floor(height * scale), math.floor(width * scale)
    if min(new) < 1:
        raise Refusal(f"--scale: {scale:g} leaves nothing of {height} x {width} (it would be {new[0]} x {new[1]})")
    return new


def check_fits(nbytes: int, what: str) -> None:
    """Refuse a result larger than this computer's memory, which the system might grant and then kill us for."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if nbytes > memory:
        raise Refusal(f"{what} needs {nbytes / 1e9:,.1f} GB, more than the {memory / 1e9:,.1f} GB of memory here")


def _side(text: str, name: str) -> int:
    try:
        side = int(text)
    except ValueError:
        raise Refusal(f"--size: expected a whole number for the {name}, got {text!r}") from None
    if side < 1:
        raise Refusal(f"--size: expected a {name} of at least 1, got {side}")
    if side > 2**31 - 1:
        raise Refusal(f"--size: expected a {name} below 2147483648, got {side}")
    return side
