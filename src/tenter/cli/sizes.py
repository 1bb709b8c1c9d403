"""Parse sizes, scales and boxes, and refuse results that are larger than memory."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tenter._arrays import limits
from tenter.cli.refusal import Refusal


def parse_size(texts: list[str], axes: Sequence[int] | None = None) -> tuple[int, ...]:
    """Parse `--size H W`, or one number for each axis."""
    names = ["height", "width"] if axes is None else [f"length of axis {axis}" for axis in axes]
    if len(texts) != len(names):
        raise Refusal(f"--size: expected one number for each axis, {len(names)} in all, got {len(texts)}")
    return tuple(_side(text, name) for text, name in zip(texts, names))


def parse_scale(text: str) -> float:
    """Parse `--scale S`."""
    scale = _number(text, "--scale")
    if scale <= 0:
        raise Refusal(f"--scale: expected a finite number above 0, got {text}")
    return scale


def parse_box(texts: list[str]) -> tuple[float, float, float, float]:
    """Parse `--box TOP LEFT BOTTOM RIGHT`."""
    top, left, bottom, right = (_number(text, "--box") for text in texts)
    for name, begin, end in (("bottom", top, bottom), ("right", left, right)):
        if not 0 <= begin < end:
            before = {"bottom": "top", "right": "left"}[name]
            raise Refusal(f"--box: expected 0 <= {before} < {name}, got {before} {begin:g} and {name} {end:g}")
    return top, left, bottom, right


def scaled(extents: Sequence[float], scale: float) -> tuple[int, ...]:
    """The new size: each extent times the scale, rounded down."""
    what = " x ".join(f"{extent:g}" for extent in extents)
    if max(extents) * scale > 2**31:
        raise Refusal(f"--scale: {scale:g} makes {what} too large")
    new = tuple(math.floor(extent * scale) for extent in extents)
    if min(new) < 1:
        made = " x ".join(map(str, new))
        raise Refusal(f"--scale: {scale:g} leaves nothing of {what} (it would be {made})")
    return new


def check_fits(nbytes: int, what: str) -> None:
    """Refuse more bytes than the machine has. Linux might grant them, and end the process when they are written."""
    memory = limits.machine_memory()
    if nbytes > memory:
        raise Refusal(f"{what} needs {nbytes / 1e9:,.1f} GB, more than the {memory / 1e9:,.1f} GB of memory here")


def whole_number(text: str, option: str) -> int:
    """Parse an integer."""
    try:
        return int(text)
    except ValueError:
        raise Refusal(f"{option}: expected a whole number, got {text!r}") from None


def _number(text: str, option: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise Refusal(f"{option}: expected a number, got {text!r}") from None
    if not math.isfinite(number):
        raise Refusal(f"{option}: expected a finite number, got {text}")
    return number


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
