"""OME-Zarr metadata (NGFF): the axes of a multiscale array, and the positions of each level's pixels.

Version 0.4 for zarr format 2 (https://ngff.openmicroscopy.org/0.4/), 0.5 for 3 (https://ngff.openmicroscopy.org/0.5/).
Pixel o of a level has its center at o * scale + translation. Pixels are areas, and the levels' outer edges are the
same: a pixel of a level covers `ratio` pixels of the full size, so the center of its pixel 0 is (ratio - 1) / 2
full-size pixels from the center of the full size's pixel 0.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from tenter.cli.refusal import Refusal
from tenter.cli.voxels import Voxel

KINDS = {"t": "time", "c": "channel", "z": "space", "y": "space", "x": "space"}


class Multiscale(NamedTuple):
    """The first of a group's multiscale arrays. entry: its metadata. axes: the entry's, each with its name. scale,
    translation: those of the full size, one number for each axis. paths: the levels' paths."""

    entry: dict[str, Any]
    axes: list[dict[str, Any]]
    scale: list[float]
    translation: list[float]
    paths: list[str]


def version(zarr_format: int) -> str:
    return "0.4" if zarr_format == 2 else "0.5"


def read(attributes: dict[str, Any], name: str) -> Multiscale | None:
    """What a group's attributes say; None if it is not multiscale. Refuse what is incomplete."""
    held = attributes.get("ome", attributes)
    entries = held.get("multiscales") if isinstance(held, dict) else None
    if not entries:
        return None
    try:
        entry = entries[0]
        axes = [{"name": axis} if isinstance(axis, str) else dict(axis) for axis in entry["axes"]]
        paths = [str(level["path"]).rstrip("/") for level in entry["datasets"]]
        scale, translation = [1.0] * len(axes), [0.0] * len(axes)
        for step in entry["datasets"][0].get("coordinateTransformations", ()):
            scale, translation = _followed_by(scale, translation, step)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise Refusal(f"{name}: its multiscales metadata is incomplete: {type(error).__name__}: {error}") from error
    return Multiscale(entry, axes, scale, translation, paths)


def new(of_dims: Sequence[str], zarr_format: int, name: str) -> Multiscale:
    """A multiscale array of pixels without a unit."""
    if not 2 <= len(of_dims) <= 5 or len(set(of_dims)) < len(of_dims) or not all(of_dims):
        raise Refusal(f"{name}: OME-Zarr has 2 to 5 axes with a name each, got {len(of_dims)} dims")
    # Dims of other names are of space among the last three, as there must be two or three of space.
    kinds = {n: KINDS.get(n.lower(), "space" if k >= len(of_dims) - 3 else "") for k, n in enumerate(of_dims)}
    axes = [{"name": n, "type": kind} if kind else {"name": n} for n, kind in kinds.items()]
    entry: dict[str, Any] = {"name": name, "axes": axes, "datasets": []}
    if zarr_format == 2:
        entry["version"] = version(2)
    return Multiscale(entry, axes, [1.0] * len(of_dims), [0.0] * len(of_dims), [])


def with_voxel(found: Multiscale, voxel: Voxel) -> Multiscale:
    """The same with other sizes and units of the axes that these name. The origin stays the same pixel's."""
    of = names(found)
    scale = [voxel.sizes.get(name, s) for name, s in zip(of, found.scale)]
    translation = [t * new / old if old else t for t, new, old in zip(found.translation, scale, found.scale)]
    axes = [
        {**axis, "unit": voxel.unit} if voxel.unit and str(axis["name"]) in voxel.sizes and _is_space(axis) else axis
        for axis in found.axes
    ]
    return found._replace(entry={**found.entry, "axes": axes}, axes=axes, scale=scale, translation=translation)


def voxel_of(found: Multiscale, scale: Sequence[float]) -> Voxel:
    """The sizes of voxels along the axes of space, of a level with this scale."""
    at = spatial(found)
    units = {found.axes[k].get("unit") for k in at}
    sizes = {str(found.axes[k]["name"]): float(scale[k]) for k in at}
    return Voxel(sizes, str(unit) if len(units) == 1 and (unit := units.pop()) else None)


def names(found: Multiscale) -> list[str]:
    """The names of the axes."""
    return [str(axis["name"]) for axis in found.axes]


def spatial(found: Multiscale) -> list[int]:
    """The axes of space."""
    return [k for k, axis in enumerate(found.axes) if _is_space(axis)]


def _is_space(axis: dict[str, Any]) -> bool:
    return bool(axis.get("type", KINDS.get(str(axis["name"]).lower())) == "space")


def level(found: Multiscale, path: str, full: Sequence[int], lengths: Sequence[int]) -> dict[str, Any]:
    """The metadata of a level. full, lengths: the sizes of the full array and of the level, in pixels."""
    ratios = [Fraction(a, b) for a, b in zip(full, lengths)]
    scale = scaled(found, full, lengths)
    translation = [t + s * float((r - 1) / 2) for t, s, r in zip(found.translation, found.scale, ratios)]
    steps: list[dict[str, Any]] = [
        {"type": "scale", "scale": scale},
        {"type": "translation", "translation": translation},
    ]
    return {"path": path, "coordinateTransformations": steps}


def scaled(found: Multiscale, full: Sequence[int], lengths: Sequence[int]) -> list[float]:
    """The sizes of a level's pixels along each axis."""
    return [s * float(Fraction(a, b)) for s, a, b in zip(found.scale, full, lengths)]


def written(
    attributes: dict[str, Any], found: Multiscale, levels: list[dict[str, Any]], zarr_format: int, alone: bool
) -> dict[str, Any]:
    """A group's attributes with these levels in its first multiscale array. alone: without its others."""
    after: dict[str, Any] = copy.deepcopy(attributes)
    entry = {**found.entry, "datasets": levels}
    holder = after if zarr_format == 2 else after.setdefault("ome", {"version": version(3)})
    holder["multiscales"] = [entry] if alone else [entry, *holder.get("multiscales", [])[1:]]
    return after


def label(attributes: dict[str, Any], zarr_format: int) -> None:
    """Say that a group's values are labels."""
    holder = attributes if zarr_format == 2 else attributes["ome"]
    holder.setdefault("image-label", {"version": version(2)} if zarr_format == 2 else {})


def _followed_by(
    scale: list[float], translation: list[float], step: dict[str, Any]
) -> tuple[list[float], list[float]]:  # fmt: skip
    """One more transformation after those so far."""
    if step["type"] == "scale":
        by = [float(s) for s in step["scale"]]
        return [s * b for s, b in zip(scale, by, strict=True)], [t * b for t, b in zip(translation, by, strict=True)]
    if step["type"] == "translation":
        return scale, [t + float(b) for t, b in zip(translation, step["translation"], strict=True)]
    if step["type"] == "identity":
        return scale, translation
    raise ValueError(f"transformation of type {step['type']!r}")
