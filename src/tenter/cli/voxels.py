"""How far apart the samples of an array are: numbers for its axes, each with a unit."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from tenter.cli.refusal import Refusal

PREFIXES = {
    "yotta": ("Y", 24), "zetta": ("Z", 21), "exa": ("E", 18), "peta": ("P", 15), "tera": ("T", 12), "giga": ("G", 9),
    "mega": ("M", 6), "kilo": ("k", 3), "hecto": ("h", 2), "": ("", 0), "deci": ("d", -1), "centi": ("c", -2),
    "milli": ("m", -3), "micro": ("µ", -6), "nano": ("n", -9), "pico": ("p", -12), "femto": ("f", -15),
    "atto": ("a", -18), "zepto": ("z", -21), "yocto": ("y", -24),
}  # fmt: skip
#: Lengths in meters, by OME-Zarr's names.
LENGTHS = {f"{name}meter": Fraction(10) ** power for name, (_, power) in PREFIXES.items()} | {
    "angstrom": Fraction(10) ** -10, "inch": Fraction("0.0254"), "foot": Fraction("0.3048"), "yard": Fraction("0.9144"),
    "mile": Fraction("1609.344"), "parsec": Fraction(30856775814913673),
}  # fmt: skip
#: What OME-TIFF calls each unit. Of OME-Zarr's lengths and times it has all.
SYMBOLS = {
    **{f"{name}meter": f"{symbol}m" for name, (symbol, _) in PREFIXES.items()},
    **{f"{name}second": f"{symbol}s" for name, (symbol, _) in PREFIXES.items()},
    "angstrom": "Å", "inch": "in", "foot": "ft", "yard": "yd", "mile": "mi", "parsec": "pc",
    "minute": "min", "hour": "h", "day": "d",
}  # fmt: skip
#: Other spellings.
SPELLINGS = {
    "um": "micrometer", "\u03bcm": "micrometer", "micron": "micrometer", "microns": "micrometer", "us": "microsecond",
    "\u03bcs": "microsecond", "A": "angstrom", "\u212b": "angstrom", "sec": "second", "secs": "second", "hr": "hour",
    "hrs": "hour",
}  # fmt: skip
NAMED = {name: name for name in SYMBOLS} | {symbol: name for name, symbol in SYMBOLS.items()}
NAMED |= {f"{name}s": name for name in SYMBOLS} | SPELLINGS
NAMED |= {name.replace("meter", "metre"): of for name, of in NAMED.items() if of.endswith("meter")}
#: What files say of distances without a unit.
NO_UNIT = ("pixel", "pixels", "px", "voxel", "voxels")
#: How files of ImageJ hold what is not ASCII.
ESCAPED = re.compile(r"\\u([0-9A-Fa-f]{4})")
MICROMETER, TIMES = "micrometer", ("t", "time")


class Voxel(NamedTuple):
    """By the name of the axis: sizes, and units of those that have one, each OME-Zarr's name or the file's text."""

    sizes: Mapping[str, float]
    units: Mapping[str, str] = {}


def unit_named(text: object) -> str | None:
    """OME-Zarr's name of a unit that a file or a person names."""
    said = ESCAPED.sub(lambda found: chr(int(found[1], 16)), str(text or "")).strip()
    if not said or said.lower() in NO_UNIT:
        return None
    return NAMED.get(said) or NAMED.get(said.lower()) or said


def short_unit(name: str | None) -> str | None:
    """What OME-TIFF calls a unit."""
    return None if name is None else SYMBOLS.get(name, name)


def in_ascii(text: str) -> str:
    """A unit or another word as ImageJ writes it."""
    return "".join(c if c.isascii() else f"\\u{ord(c):04x}" for c in text if ord(c) < 1 << 16)


def given(sizes: Mapping[str, float], unit: str | None) -> Voxel:
    """Sizes that a person gives with one unit: a time's goes with axes of time, others with the rest."""
    of = [name for name in sizes if (name in TIMES) == (unit in SYMBOLS and unit not in LENGTHS)]
    return Voxel(sizes, dict.fromkeys(of, unit) if unit else {})


def times(value: float, by: Fraction) -> float:
    """A number times an exact one, rounded once."""
    return float(Fraction(value) * by) if math.isfinite(value) else value


def updated(voxel: Voxel, new: Voxel) -> Voxel:
    """The same with other sizes and units along some axes. A length without a unit has that of the others, or is of
    micrometers where these differ."""
    known = voxel if new.sizes.keys() <= new.units.keys() else in_one_unit(voxel)
    return Voxel({**known.sizes, **new.sizes}, {**known.units, **new.units})


def in_one_unit(voxel: Voxel) -> Voxel:
    """Lengths of several units in micrometers, so that their numbers compare."""
    lengths = {name: unit for name, unit in voxel.units.items() if unit in LENGTHS}
    if len(set(lengths.values())) < 2:
        return voxel
    by = {name: LENGTHS[unit] / LENGTHS[MICROMETER] for name, unit in lengths.items()}
    sizes = {name: times(size, by.get(name, Fraction(1))) for name, size in voxel.sizes.items()}
    return Voxel(sizes, {**voxel.units, **dict.fromkeys(lengths, MICROMETER)})


def along(voxel: Voxel, names: Sequence[str]) -> tuple[float | None, ...]:
    """The sizes along some axes, their lengths in one unit; None where one is not known."""
    units = {name: unit for name, unit in voxel.units.items() if name in names}
    made = in_one_unit(voxel._replace(units=units)).sizes
    return tuple(made.get(name) for name in names)


def spaced(lengths: Sequence[int], distances: Sequence[float | None], spacing: Sequence[float]) -> tuple[int, ...]:
    """The new lengths of axes whose voxels shall have these sizes: the nearest whole numbers, at least 1."""
    if any(distance is None for distance in distances):
        raise Refusal("--spacing: the voxel size of IN is not known; --voxel-size says it")
    found = []
    for n, now, wanted in zip(lengths, distances, spacing, strict=True):
        length = n * (now or 1.0) / wanted
        if length >= 2**31:
            raise Refusal(f"--spacing: {wanted:g} makes {n} voxels of {now:g} too many")
        found.append(max(1, math.floor(length + 0.5)))
    return tuple(found)


def in_words(voxel: Voxel) -> str:
    """Sizes in the order of the axes, the unit once where it is the same."""
    sizes = {name: f"{size:.4g}" for name, size in voxel.sizes.items()}
    units = {name: short_unit(voxel.units.get(name)) or "" for name in sizes}
    if len(set(units.values())) == 1:
        return f"{' x '.join(sizes.values())} {next(iter(units.values()))}".rstrip()
    return " x ".join(f"{size} {units[name]}".rstrip() for name, size in sizes.items())
