"""How large the voxels of an array are: numbers for its axes of space, and the names of their unit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tenter.cli.refusal import Refusal

#: Units by the names of OME-Zarr, and what OME-TIFF and ImageJ call each, the name that is written first.
UNITS = {
    "micrometer": ("µm", "um", "micron", "microns", "\u03bcm", "\\u00B5m", "micrometre"),
    "nanometer": ("nm", "nanometre"),
    "millimeter": ("mm", "millimetre"),
    "centimeter": ("cm", "centimetre"),
    "meter": ("m", "metre"),
    "angstrom": ("Å", "A"),
    "inch": ("in",),
}
#: Lengths of whole voxels differ from the wanted ones by halves of one at most.
SPACE = "zyx"


class Voxel(NamedTuple):
    """sizes: by the name of the axis. unit: OME-Zarr's name, or the file's text; None if it has none."""

    sizes: Mapping[str, float]
    unit: str | None = None


def unit_named(text: str | None) -> str | None:
    """OME-Zarr's name of a unit that a file or a person names."""
    if not text or text.lower() in ("pixel", "pixels", "px", "voxel"):
        return None
    for name, others in UNITS.items():
        if text == name or text in others or text.lower() in (name, f"{name}s", *others):
            return name
    return text


def short_unit(name: str | None) -> str | None:
    """What OME-TIFF calls a unit."""
    return UNITS[name][0] if name in UNITS else name


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


def in_words(names: Sequence[str], sizes: Sequence[float], unit: str | None) -> str:
    """Sizes of voxels in the order of an array's axes of space."""
    shown = " x ".join(f"{size:.4g}" for name, size in zip(names, sizes) if name.lower() in SPACE)
    return f"{shown} {short_unit(unit) or ''}".rstrip()
