"""Labels of OME-Zarr: which arrays are, and where those of an image are stored."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tenter.cli.refusal import Refusal
from tenter.cli.volumes import ngff, zarrs
from tenter.cli.volumes.inside import check_file, inside
from tenter.cli.volumes.store import MOST_METADATA

#: The group of an image in which its labels are, and the way back from each.
GROUP, BACK = "labels", "../../"
WEBKNOSSOS = "datasource-properties.json"


class Image(NamedTuple):
    """The image of labels: its folder, its zarr format, what it says of its axes, the shapes of its levels, and that of
    the chunks of the first."""

    path: str
    format_: int
    multiscale: ngff.Multiscale
    shapes: list[tuple[int, ...]]
    chunks: tuple[int, ...]


def is_labels(path: str) -> bool:
    """Whether an array or a group is of labels by what its groups say: itself, the one that it is a level of, or the
    one that lists labels."""
    path = os.path.abspath(path)
    for at in (path, os.path.dirname(path)):
        folder, name = os.path.split(at)
        if "image-label" in said(at) or name in _listed(folder) or name in _segmentations(folder):
            return True
    return False


def said(path: str) -> dict[str, Any]:
    """What a folder says as OME-Zarr, if it can be read: the input may be sound next to what is not."""
    try:
        return ngff.held(zarrs.attributes_of(path))
    except (Refusal, OSError):
        return {}


def _listed(path: str) -> list[str]:
    """The names in a list of labels."""
    found = said(path).get("labels")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _segmentations(folder: str) -> list[str]:
    """The layers of a dataset of WEBKNOSSOS that are labels, which their groups do not say."""
    try:
        check_file(folder, WEBKNOSSOS, MOST_METADATA)
        layers = json.loads(Path(folder, WEBKNOSSOS).read_bytes())["dataLayers"]
        return [layer["name"] for layer in layers if layer["category"] == "segmentation"]
    except (Refusal, OSError, ValueError, KeyError, TypeError):
        return []


def image_of(output: str) -> Image | None:
    """The image among whose labels an output would be."""
    path = os.path.abspath(output)
    group = os.path.dirname(path)
    folder = os.path.dirname(group)
    if os.path.basename(group) != GROUP or not zarrs.is_zarr(folder):
        return None
    found = zarrs.open_zarr(folder)
    multiscale = ngff.read(dict(found.attrs), folder) if zarrs.is_group(found) else None
    if multiscale is None:
        return None
    levels = [zarrs.check_array(zarrs.open_zarr(at := inside(folder, path)), at) for path in multiscale.paths]
    shapes, chunks = [level.shape for level in levels], tuple(levels[0].array.chunks)
    return Image(folder, int(found.metadata.zarr_format), multiscale, shapes, chunks)


def along(image: Image, names: Sequence[str], of: Sequence[int]) -> tuple[int, ...] | None:
    """What an image has along the axes of its labels; None if these have others."""
    known = dict(zip(ngff.names(image.multiscale), of))
    return tuple(known[name] for name in names) if set(names) <= set(known) else None


def shapes_of(image: Image, names: Sequence[str], shape: tuple[int, ...]) -> list[tuple[int, ...]] | None:
    """The shapes of the levels of labels whose full size is that of their image; None if it is not."""
    found = [found for level in image.shapes if (found := along(image, names, level)) is not None]
    return found if found and found[0] == shape else None


def of_image(image: Image, names: Sequence[str], shape: Sequence[int], name: str) -> ngff.Multiscale | None:
    """The axes and voxels of labels that cover their image, by those of the image; None if they have other axes."""
    full = along(image, names, image.shapes[0])
    if full is None:
        return None
    of = ngff.names(image.multiscale)
    found = ngff.permuted(image.multiscale, [of.index(each) for each in names])
    steps = ngff.level(found, "0", ngff.same_edges(full, shape))["coordinateTransformations"]
    return ngff.Multiscale({"name": name}, found.axes, steps[0]["scale"], steps[1]["translation"], [])


def make_group(image: Image) -> None:
    """Make the group of an image's labels, if there is none."""
    if not zarrs.is_zarr(folder := os.path.join(image.path, GROUP)):
        zarrs.create_group(Path(folder), {}, image.format_)


def enter(image: Image, name: str, temporary: Path) -> None:
    """Name labels in the list of their image."""
    folder = os.path.join(image.path, GROUP)
    attributes, listed = zarrs.attributes_of(folder), _listed(folder)
    if name in listed:
        return
    if image.format_ == 2:
        attributes["labels"] = [*listed, name]
    else:
        attributes.pop("labels", None)  # where version 0.4 has them
        own = attributes.get("ome")
        attributes["ome"] = {
            **(own if isinstance(own, dict) else {}),
            "version": ngff.version(3),
            "labels": [*listed, name],
        }
    zarrs.set_attributes(folder, attributes, temporary)


def with_other_levels(group: str, count: int) -> list[str]:
    """The labels of an image that do not have as many levels as it, which OME-Zarr wants."""
    found, folder = [], os.path.join(group, GROUP)
    for name in _listed(folder):
        with contextlib.suppress(Refusal, OSError):  # of what is no labels
            read = ngff.read(zarrs.attributes_of(inside(folder, name)), name)
            if read is not None and len(read.paths) != count:
                found.append(name)
    return found


def check_place(image: Image) -> None:
    """Refuse a folder of labels that is no group."""
    folder = os.path.join(image.path, GROUP)
    if os.path.lexists(folder) and not (zarrs.is_zarr(folder) and zarrs.is_group(zarrs.open_zarr(folder))):
        raise Refusal(f"{folder}: exists and is not a zarr group")
