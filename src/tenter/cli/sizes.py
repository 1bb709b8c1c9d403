"""Parse sizes, scales and boxes, and refuse results that are larger than memory."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from tenter._arrays import limits
from tenter.cli.refusal import Refusal

#: axes of an array by number, or of a TIFF stack by letter
Axes = tuple[int | str, ...]
#: 640x480+10+20
BOX = re.compile(r"([\d.]+)[xX\u00d7]([\d.]+)\+([\d.]+)\+([\d.]+)")
#: 1600x1200; the cross may be an x of either case or a multiplication sign
PAIR = re.compile(r"(\d+)\s*[xX\u00d7]\s*(\d+)")
#: Sizes as other programs spell them, and what they are here.
ELSEWHERE = (
    (re.compile(r"(\d+)[xX]"), "--width {0} is {0} wide"),
    (re.compile(r"[xX](\d+)"), "--height {0} is {0} high"),
    (re.compile(r"(\d+(?:\.\d+)?%)"), "--scale {0} multiplies both sides"),
    (re.compile(r"(\d+[xX]?\d*)>"), "--fit {0} enlarges nothing by itself"),
    (re.compile(r"(\d+[xX]?\d*)<"), "--fit {0} --enlarge enlarges smaller images too"),
    (re.compile(r"(\d+[xX]?\d*)\^"), "--fill {0} is cut where the ratio differs"),
    (re.compile(r"(\d+[xX]?\d*)!"), "--size {0} is regardless of the ratio"),
    (re.compile(r"(\d+)\*(\d+)"), "{0}x{1} has an x between"),
    (re.compile(r"(\d+)px", re.IGNORECASE), "{0} is in pixels"),
    (re.compile(r"(\d+):(\d+)"), "a size is in pixels"),
)


class Sizes(NamedTuple):
    """The lengths of the input and of the result: height and width of the upright image, or those along --axes. Of
    several images, these of the first, and how many there are. copied: whether the file is the input, byte by byte."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    pictures: int = 1
    copied: bool = False


def parse_axes(texts: list[str]) -> Axes:
    """Parse the axes of `--axes`: numbers, or the letters of a TIFF stack's axes."""
    return tuple(text if len(text) == 1 and text.isalpha() else whole_number(text, "--axes") for text in texts)


def parse_size(texts: list[str], axes: Sequence[int | str] | None = None) -> tuple[int, ...]:
    """Parse `--size WxH` of an image, or one number for each axis."""
    if axes is None:
        return _size_of_picture(texts)
    if len(texts) == 1 and PAIR.fullmatch(texts[0].strip()):
        raise Refusal(f"--size: expected one number for each axis, in the order of --axes, got {texts[0]!r}")
    names = [f"length of axis {axis}" for axis in axes]
    if len(texts) != len(names):
        raise Refusal(f"--size: expected one number for each axis, {len(names)} in all, got {len(texts)}")
    return tuple(parse_side(text, "--size", name) for text, name in zip(texts, names))


def _size_of_picture(texts: list[str]) -> tuple[int, int]:
    """Parse WIDTHxHEIGHT. Two numbers would be the height first to some, and the width first to others."""
    if len(texts) == 2 and all(text.isdecimal() for text in texts):
        ways = dict.fromkeys((tuple(texts), tuple(texts[::-1])))
        spelled = ", ".join(f"--size {width}x{height} is {width} wide and {height} high" for width, height in ways)
        raise Refusal(f"--size: expected WIDTHxHEIGHT, got {' '.join(texts)}; {spelled}")
    if len(texts) == 1 and texts[0].isdecimal():
        n = texts[0]
        raise Refusal(f"--size: expected WIDTHxHEIGHT, got {n}; --width {n} is {n} wide, --fit {n} at most {n} a side")
    if len(texts) != 1 or not PAIR.fullmatch(texts[0].strip()):
        given = " ".join(texts)
        raise Refusal(f"--size: expected WIDTHxHEIGHT, such as 640x480, got {given!r}{_spelled(given)}")
    return parse_pair(texts[0], "--size")


def parse_pair(text: str, option: str) -> tuple[int, int]:
    """Parse WIDTHxHEIGHT, or one number for both. Returns (height, width)."""
    found = PAIR.fullmatch(text.strip())
    if found is None and not text.strip().lstrip("+-").isdecimal():
        raise Refusal(f"{option}: expected WIDTHxHEIGHT, such as 1600x1200, got {text!r}{_spelled(text)}")
    width, height = found.groups() if found else (text, text)
    return parse_side(height, option, "height"), parse_side(width, option, "width")


def parse_side(text: str, option: str, name: str) -> int:
    """Parse a length in pixels."""
    try:
        side = int(text)
    except ValueError:
        raise Refusal(f"{option}: expected a whole number for the {name}, got {text!r}{_spelled(text)}") from None
    if side < 1:
        raise Refusal(f"{option}: expected a {name} of at least 1, got {side}")
    if side > 2**31 - 1:
        raise Refusal(f"{option}: expected a {name} below 2147483648, got {side}")
    return side


def _spelled(text: str) -> str:
    """What another program means by a size, as it is written here."""
    found = ((form.fullmatch(text.strip()), meant) for form, meant in ELSEWHERE)
    return next((f"; {meant.format(*match.groups())}" for match, meant in found if match), "")


def parse_scale(text: str, option: str) -> float:
    """Parse a factor, or a percentage if `text` ends in a percent sign."""
    percent = text.rstrip().endswith("%")
    scale = _number(text.rstrip().removesuffix("%"), option) / (100 if percent else 1)
    if not scale > 0:
        raise Refusal(f"{option}: expected a finite number above 0, got {text}")
    return scale


def parse_scales(text: str, option: str, count: int | None) -> float | tuple[float, ...]:
    """Parse one factor for all axes, or one for each with commas between them. count: the number of axes, None for an
    image, which has one factor."""
    parts = [part for part in text.split(",") if part.strip()]
    if len(parts) == 1 and "," not in text:
        return parse_scale(text, option)
    if count is None:
        raise Refusal(f"{option}: expected one number, got {text}; --axes names the axes of several")
    return parse_lengths(text, option, count)


def parse_lengths(text: str, option: str, count: int | None = None) -> tuple[float, ...]:
    """Parse positive numbers with commas between them, one for each axis. count: how many axes there are, if that is
    known."""
    found = tuple(parse_scale(part, option) for part in text.split(",") if part.strip())
    if count is not None and len(found) != count:
        raise Refusal(f"{option}: expected one number for each axis, {count} in all, got {text}")
    return found


def parse_box(text: str) -> tuple[float, float, float, float]:
    """Parse `--box WIDTHxHEIGHT+LEFT+TOP`. Returns top, left, bottom, right."""
    found = BOX.fullmatch(text.strip())
    if found is None:
        raise Refusal(f"--box: expected WIDTHxHEIGHT+LEFT+TOP, such as 640x480+10+20, got {text!r}")
    width, height, left, top = (_number(number, "--box") for number in found.groups())
    if not (width > 0 and height > 0):
        raise Refusal(f"--box: expected a width and a height above 0, got {text!r}")
    return top, left, top + height, left + width


def refuse_edges(texts: Sequence[str]) -> None:
    """Refuse the edges of a box as numbers, whose order differs from program to program."""
    if len(texts) < 2:
        return
    expected, got = "--box: expected WIDTHxHEIGHT+LEFT+TOP, such as 640x480+10+20", " ".join(texts)
    if len(texts) != 4:
        raise Refusal(f"{expected}, got {got}")
    a, b, c, d = (_number(text, "--box") for text in texts)
    ways = [(f"{d - b:g}x{c - a:g}+{b:g}+{a:g}", "top, left, bottom and right")]
    ways.append((f"{c - a:g}x{d - b:g}+{a:g}+{b:g}", "left, top, right and bottom"))
    spelled = ", ".join(f"{box} if they are {edges}" for box, edges in ways)
    raise Refusal(f"{expected}, got {got}; it is {spelled}")


def scaled(extents: Sequence[float], scale: float | tuple[float, ...]) -> tuple[int, ...]:
    """The new size: each extent times the scale, or its own one, rounded down."""
    what = " x ".join(f"{extent:g}" for extent in extents)
    scales = scale if isinstance(scale, tuple) else (scale,) * len(extents)
    given = ",".join(f"{each:g}" for each in scales) if isinstance(scale, tuple) else f"{scale:g}"
    if any(extent * each > 2**31 for extent, each in zip(extents, scales)):
        raise Refusal(f"--scale: {given} makes {what} too large")
    new = tuple(math.floor(extent * each) for extent, each in zip(extents, scales, strict=True))
    if min(new) < 1:
        made = " x ".join(map(str, new))
        raise Refusal(f"--scale: {given} leaves nothing of {what} (it would be {made})")
    return new


def check_fits(nbytes: int, what: str) -> None:
    """Refuse more bytes than the machine has. Linux might grant them, and end the process when they are written."""
    memory = limits.machine_memory()
    if nbytes > memory:
        raise Refusal(f"{what} needs {nbytes / 1e9:,.1f} GB, more than the {memory / 1e9:,.1f} GB of memory here")


def check_result(shape: Sequence[int], itemsize: int, what: str) -> None:
    """The same, of the result of a call."""
    check_fits(math.prod(shape) * itemsize, f"a result of {what}")


def whole_number(text: str, option: str, least: int | None = None) -> int:
    """Parse an integer."""
    try:
        number = int(text)
    except ValueError:
        raise Refusal(f"{option}: expected a whole number, got {text!r}") from None
    if least is not None and number < least:
        raise Refusal(f"{option}: expected a whole number of at least {least}, got {number}")
    return number


def _number(text: str, option: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise Refusal(f"{option}: expected a number, got {text!r}") from None
    if not math.isfinite(number):
        raise Refusal(f"{option}: expected a finite number, got {text}")
    return number
