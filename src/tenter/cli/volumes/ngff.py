"""OME-Zarr metadata (NGFF): the axes of a multiscale array, and the positions of each level's pixels.

Written is version 0.4 for zarr format 2 (https://ngff.openmicroscopy.org/0.4/), 0.5 for 3
(https://ngff.openmicroscopy.org/0.5/); read are all up to these. Pixel o of a level has its center at
o * scale + translation. Where pixels are areas, and the levels' outer edges are the same, a pixel of a level covers
`ratio` pixels of the full size, so the center of its pixel 0 is (ratio - 1) / 2 full-size pixels from the center of the
full size's pixel 0.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from tenter.cli.refusal import Refusal
from tenter.cli.volumes.axes import RANKS, SPACE, TIME, kinds
from tenter.cli.voxels import LENGTHS, Voxel, along, unit_named, updated

#: For an axis, the index of output 0 in the full size, and the distance between outputs, in pixels of the full size.
Line = tuple[Fraction, Fraction]
#: The versions that are read, and the axes of the first two, which do not name them.
READ, FIXED = ("0.1", "0.2", "0.3", "0.4", "0.5"), "tczyx"
#: What is below `ome` since version 0.5, and before it among a group's other attributes.
HELD = ("multiscales", "omero", "image-label", "labels", "plate", "well", "bioformats2raw.layout", "series")
#: What the summary calls what a result does not have.
FURTHER, CHANNELS, IMAGE_OF_LABELS = "further multiscale arrays", "channels of omero", "the image of the labels"
ELSEWHERE = "transformations to other coordinates"


class Multiscale(NamedTuple):
    """The first of a group's multiscale arrays. entry: its metadata. axes: the entry's, each with its name, and its
    type if it is known. scale, translation: those of the full size, one number for each axis. paths: of the levels."""

    entry: dict[str, Any]
    axes: list[dict[str, Any]]
    scale: list[float]
    translation: list[float]
    paths: list[str]


def version(zarr_format: int) -> str:
    return "0.4" if zarr_format == 2 else "0.5"


def held(attributes: dict[str, Any]) -> dict[str, Any]:
    """Where a group's attributes have what OME-Zarr says."""
    found = attributes.get("ome", attributes)
    return found if isinstance(found, dict) else {}


def read(attributes: dict[str, Any], name: str) -> Multiscale | None:
    """What a group's attributes say; None if it is not multiscale. Refuse what is incomplete."""
    entries = held(attributes).get("multiscales")
    if not entries:
        return None
    try:
        entry = entries[0]
        says = _says(attributes)
        if (of := says.partition("-")[0]) not in READ:
            raise Refusal(f"{name}: is OME-Zarr of version {says}, expected {READ[0]} to {READ[-1]}")
        is_old = of in READ[:2]
        axes = _axes(entry["axes"] if "axes" in entry or not is_old else FIXED)
        paths = [str(level["path"]).rstrip("/") for level in entry["datasets"]]
        scale, translation = [1.0] * len(axes), [0.0] * len(axes)
        # Those that name an output, as spatialdata writes them, lead on to other coordinates.
        further = [step for step in entry.get("coordinateTransformations") or () if "output" in step]
        of_all = [step for step in entry.get("coordinateTransformations") or () if "output" not in step]
        for step in (*(entry["datasets"][0].get("coordinateTransformations") or ()), *of_all):
            scale, translation = _followed_by(scale, translation, step)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise Refusal(f"{name}: its multiscales metadata is incomplete: {type(error).__name__}: {error}") from error
    entry = {key: value for key, value in entry.items() if key != "coordinateTransformations"}
    entry |= {"coordinateTransformations": further} if further else {}  # others are now part of each level's
    return Multiscale(entry, axes, scale, translation, paths)


def _says(attributes: dict[str, Any]) -> str:
    """The version of a multiscale group; a dialect's has a word behind it, as spatialdata's 0.5-dev-spatialdata."""
    ours = held(attributes)
    of_all = ours.get("version") if "ome" in attributes else None
    return str(ours["multiscales"][0].get("version") or of_all or READ[0])


def _axes(of: Any) -> list[dict[str, Any]]:
    """Axes with types, and OME-Zarr's names of units. Version 0.3 names axes alone."""
    axes = [{"name": axis} if isinstance(axis, str) else dict(axis) for axis in of]
    by_name = kinds([str(axis["name"]) for axis in axes])
    found = []
    for axis, kind in zip(axes, by_name):
        own = {key: value for key, value in axis.items() if value is not None and key != "unit"}
        unit = unit_named(axis.get("unit"))
        found.append({"name": "", **({"type": kind} if kind else {}), **own, **({"unit": unit} if unit else {})})
    return found


def new(of_dims: Sequence[str], zarr_format: int, name: str) -> Multiscale:
    """A multiscale array of pixels without a unit."""
    if not 2 <= len(of_dims) <= 5 or len(set(of_dims)) < len(of_dims) or not all(of_dims):
        raise Refusal(f"{name}: OME-Zarr has 2 to 5 axes with a name each, got {len(of_dims)} dims")
    return Multiscale({"name": name}, _axes(of_dims), [1.0] * len(of_dims), [0.0] * len(of_dims), [])


def named(found: Multiscale, of: Sequence[str]) -> Multiscale:
    """The same with other names, and the types of these."""
    units = [{key: value for key, value in axis.items() if key == "unit"} for axis in found.axes]
    return found._replace(axes=[axis | unit for axis, unit in zip(_axes(of), units)])


def with_voxel(found: Multiscale, voxel: Voxel) -> Multiscale:
    """The same with other sizes and units of the axes that these name. The origin stays the same pixel's."""
    of = names(found)
    made = updated(_voxel(found, range(len(of)), found.scale), voxel)
    scale = [made.sizes[name] for name in of]
    translation = [t * new / old if old else t for t, new, old in zip(found.translation, scale, found.scale)]
    axes = [axis | ({"unit": made.units[name]} if name in made.units else {}) for name, axis in zip(of, found.axes)]
    return found._replace(axes=axes, scale=scale, translation=translation)


def sizes(found: Multiscale, scale: Sequence[float], axes: Sequence[int]) -> list[float]:
    """The sizes along some axes of voxels of this scale, their lengths in one unit."""
    of = names(found)
    return [size or 0.0 for size in along(_voxel(found, axes, scale), [of[axis] for axis in axes])]


def comparable(found: Multiscale, axes: Sequence[int]) -> bool:
    """Whether `sizes` along some axes compare: all of them are lengths, or none has a unit."""
    units = {found.axes[axis].get("unit") for axis in axes}
    return len(units) == 1 or units <= LENGTHS.keys()


def voxel_of(found: Multiscale, scale: Sequence[float]) -> Voxel:
    """The sizes of voxels along the axes of space, and between times if that is known, of a level with this scale."""
    at = [k for k, axis in enumerate(found.axes) if axis.get("type") == SPACE]
    at += [k for k, axis in enumerate(found.axes) if axis.get("type") == TIME and "unit" in axis]
    return _voxel(found, sorted(at), scale)


def _voxel(found: Multiscale, at: Iterable[int], scale: Sequence[float]) -> Voxel:
    of = {str(found.axes[k]["name"]): k for k in at}
    units = {name: found.axes[k]["unit"] for name, k in of.items() if "unit" in found.axes[k]}
    return Voxel({name: float(scale[k]) for name, k in of.items()}, units)


def names(found: Multiscale) -> list[str]:
    """The names of the axes."""
    return [str(axis["name"]) for axis in found.axes]


def _ranks(found: Multiscale) -> list[int]:
    return [RANKS.get(str(axis.get("type")), 1) for axis in found.axes]


def is_ordered(found: Multiscale) -> bool:
    """Whether axes are in an order that OME-Zarr allows: time, then one of channels or of another kind, then space."""
    ranks = _ranks(found)
    return ranks == sorted(ranks)


def order(found: Multiscale) -> tuple[int, ...]:
    """The order of axes that OME-Zarr recommends: of space, x last."""
    keys = [(rank, FIXED.find(name.lower())) for rank, name in zip(_ranks(found), names(found))]
    return tuple(sorted(range(len(keys)), key=keys.__getitem__))


def permuted(found: Multiscale, by: Sequence[int]) -> Multiscale:
    """The same with its axes in another order."""
    scale, translation = ([of[k] for k in by] for of in (found.scale, found.translation))
    return found._replace(axes=[found.axes[k] for k in by], scale=scale, translation=translation)


def check(found: Multiscale, name: str) -> None:
    """Refuse axes that no OME-Zarr has."""
    ranks = _ranks(found)
    if not 2 <= ranks.count(2) <= 3 or ranks.count(0) > 1 or ranks.count(1) > 1:
        of = ", ".join(f"{axis['name']} ({axis.get('type', 'another kind')})" for axis in found.axes)
        what = "OME-Zarr has 2 or 3 axes of space, at most one of time and at most one of channels or of another kind"
        raise Refusal(f"{name}: {what}, got {of}; --names says what they are")


def same_edges(full: Sequence[int], lengths: Sequence[int]) -> list[Line]:
    """Where pixels of a level lie whose outer edges are those of the full size."""
    return [((step - 1) / 2, step) for step in (Fraction(a, b) for a, b in zip(full, lengths))]


def level(found: Multiscale, path: str, lines: Sequence[Line]) -> dict[str, Any]:
    """The metadata of a level."""
    translation = [t + s * float(first) for t, s, (first, _) in zip(found.translation, found.scale, lines)]
    steps: list[dict[str, Any]] = [
        {"type": "scale", "scale": scaled(found, lines)},
        {"type": "translation", "translation": translation},
    ]
    return {"path": path, "coordinateTransformations": steps}


def scaled(found: Multiscale, lines: Sequence[Line]) -> list[float]:
    """The sizes of a level's pixels along each axis."""
    return [s * float(step) for s, (_, step) in zip(found.scale, lines)]


def written(
    attributes: dict[str, Any], found: Multiscale, levels: list[dict[str, Any]], lengths: Sequence[int],
    zarr_format: int, alone: bool,
) -> tuple[dict[str, Any], list[str]]:  # fmt: skip
    """A group's attributes with these levels in its first multiscale array, and what of them is left out. lengths: of
    the full size. alone: without its other arrays, in another place."""
    after: dict[str, Any] = copy.deepcopy(attributes)
    ours = after.pop("ome") if isinstance(after.get("ome"), dict) else {}
    ours |= {key: after.pop(key) for key in HELD if key in after and key not in ours}
    entry = {key: value for key, value in found.entry.items() if key != "version"}
    entry |= {"axes": found.axes, "datasets": levels}
    others, lost = ours.get("multiscales", [])[1:], []
    if others and alone:
        others, lost = [], [FURTHER]
    lost += _fit_channels(ours, found, lengths)
    if alone and "coordinateTransformations" in entry and not _is_plain(found):
        del entry["coordinateTransformations"]
        lost.append(ELSEWHERE)
    of_labels = ours.get("image-label")
    if alone and isinstance(of_labels, dict) and "source" in of_labels:
        del of_labels["source"]
        lost.append(IMAGE_OF_LABELS)
    if zarr_format == 3:
        _without_versions(ours)
    of = version(zarr_format)
    if not alone and (says := _says(attributes)).startswith(f"{of}-"):
        of = says  # whose readers know the group by it
    ours["multiscales"] = [entry | ({"version": of} if zarr_format == 2 else {}), *others]
    return after | (ours if zarr_format == 2 else {"ome": {**ours, "version": of}}), lost


def _without_versions(ours: dict[str, Any]) -> None:
    """Only the whole has a version since 0.5."""
    for part in (ours.get("image-label"), ours.get("omero")):
        if isinstance(part, dict):
            part.pop("version", None)


def _is_plain(found: Multiscale) -> bool:
    """Whether OME-Zarr itself has the transformations that lead from the axes, in this order, to other coordinates."""
    steps = [str(step["type"]) for step in found.entry["coordinateTransformations"]]
    before = [str(axis["name"]) for axis in found.entry["axes"]]
    return steps in (["scale"], ["scale", "translation"]) and before == names(found)


def _fit_channels(ours: dict[str, Any], found: Multiscale, lengths: Sequence[int]) -> list[str]:
    """Leave out how channels are shown where their number is another one."""
    of = [n for n, axis in zip(lengths, found.axes) if axis.get("type") == "channel"]
    channels = ours["omero"].get("channels") if isinstance(ours.get("omero"), dict) else None
    if not isinstance(channels, list) or len(channels) == (of[0] if of else 1):
        return []
    del ours["omero"]
    return [CHANNELS]


def label(attributes: dict[str, Any], zarr_format: int, image: str | None = None) -> None:
    """Say that a group's values are labels. image: the path from the group to the image that they are of."""
    holder = attributes if zarr_format == 2 else attributes["ome"]
    said = holder["image-label"] = holder["image-label"] if isinstance(holder.get("image-label"), dict) else {}
    said |= {"version": version(2)} if zarr_format == 2 else {}
    said |= {"source": {"image": image}} if image else {}


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
