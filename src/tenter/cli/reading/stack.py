"""Read TIFF stacks by tifffile: arrays with named axes, and the spacing of their samples."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tenter.cli.first_bytes import HEAD, type_of
from tenter.cli.picture import ByteOrder
from tenter.cli.reading.opening import named
from tenter.cli.reading.tiff import check_whole, decoded, opened
from tenter.cli.refusal import Refusal
from tenter.cli.sizes import Axes, check_fits
from tenter.cli.voxels import Voxel, short_unit, unit_named

#: OME's distance between samples, by axis
DISTANCES = {"X": "PhysicalSizeX", "Y": "PhysicalSizeY", "Z": "PhysicalSizeZ", "T": "TimeIncrement"}
#: ImageJ's name of the distance between slices, and OME-Zarr's of samples that are colors
SPACING, CHANNEL = "spacing", "c"
UNNAMED = "QI"  # tifffile's letters for other axes and for pages
ANNOTATIONS, SERIES = "OME annotations", "further series of the file"
DERIVED = ("ImageJ", "images", "channels", "slices", "frames", "hyperstack", "axes", "shape")


@dataclass
class Stack:
    """array: with one dim for each letter of `axes`, in tifffile's letters. program: ImageJ, OME or none, whose way of
    saying `about` is kept. resolution: samples per `unit` along x and y, or None. unread: names for the summary."""

    array: npt.NDArray[Any]
    axes: str
    program: str = ""
    about: dict[str, Any] = field(default_factory=dict)
    resolution: tuple[float, float] | None = None
    unit: int = 1
    byteorder: ByteOrder = "<"
    unread: list[str] = field(default_factory=list)


def is_stack(path: Path) -> bool:
    """Whether a file is a TIFF of ImageJ or OME, whose axes have names and distances."""
    with open(path, "rb") as file:
        if type_of(file.read(HEAD), str(path)) != "TIFF":
            return False
        try:
            with named(path), opened(file) as tiff:
                return bool(tiff.is_imagej or tiff.is_ome)
        except (Refusal, OSError):
            return False  # which the way of pictures refuses in its own words


@contextlib.contextmanager
def opened_stack(path: Path) -> Iterator[tuple[Any, Any]]:
    """The first series of a TIFF file, and the file. Only the tags have been read."""
    with open(path, "rb") as file:
        if type_of(file.read(HEAD), str(path)) != "TIFF":
            raise Refusal(f"{path}: --axes is for .npy files and for TIFF stacks, which this is not")
        with contextlib.ExitStack() as closing:
            with named(path):
                tiff = closing.enter_context(opened(file))
                series = tiff.series[0]
                if series.dtype is None or series.dtype.kind not in "uif":
                    raise Refusal(f"holds samples of {series.dtype}, which are not resized")
            yield series, tiff


def read_stack(path: Path) -> Stack:
    """Read the first series of a TIFF file."""
    with opened_stack(path) as (series, tiff), named(path):
        check_fits(series.size * series.dtype.itemsize, "the stack")
        for page in series.pages:
            if page is not None:
                check_whole(page)
        stack = described(series, tiff)
        array = decoded(series, f"compression {series.keyframe.compression.name}")
        stack.array = np.ascontiguousarray(array)
        return stack


def described(series: Any, tiff: Any) -> Stack:
    """What a file says of its first series, with an array that takes no memory."""
    program = "ImageJ" if tiff.is_imagej else "OME" if tiff.is_ome else ""
    _check_chain(tiff)
    nothing = np.broadcast_to(np.zeros((), series.dtype), series.shape)
    stack = Stack(nothing, series.axes, program, byteorder=tiff.byteorder)
    stack.resolution, stack.unit = _resolution(series.keyframe)
    if len(tiff.series) > 1:
        stack.unread.append(SERIES)
    if program == "ImageJ":
        said = tiff.imagej_metadata or {}
        planes = math.prod(n for n, axis in zip(series.shape, series.axes) if axis not in "YXS")
        if len(tiff.series) == 1 and said.get("images", planes) > planes:
            raise Refusal(f"is truncated or damaged: it has {planes} of {said['images']} images")
        stack.about = {k: v for k, v in said.items() if k not in DERIVED}
    elif program == "OME":
        stack.about, planes = _of_ome(tiff.ome_metadata)
        there = math.prod(n for n, axis in zip(series.shape, series.axes) if axis not in "YX")
        if len(tiff.series) == 1 and planes > there:
            raise Refusal(f"is truncated or damaged: it has {there} of {planes} images")
        stack.unread.append(ANNOTATIONS)
    return stack


def _check_chain(tiff: Any) -> None:
    """Refuse a file whose last page names a next one past its end, which tifffile leaves out."""
    len(tiff.pages)  # finds them all
    tiff.filehandle.seek(tiff.pages.next_page_offset)
    order = "big" if tiff.byteorder == ">" else "little"
    after = int.from_bytes(tiff.filehandle.read(tiff.tiff.offsetsize), order)  # type: ignore[arg-type]
    if after >= tiff.filehandle.size:
        raise Refusal(f"is truncated or damaged: a page after page {len(tiff.pages) - 1} is not in the file")


def voxel_of(stack: Stack) -> Voxel:
    """How far apart samples are, by the name of the axis, as far as the file says it."""
    about = stack.about
    if stack.program == "OME":
        sizes = {
            axis.lower(): float(about[name]) for axis, name in DISTANCES.items() if name in about and axis in "ZYX"
        }
        units = {about.get(f"{DISTANCES[axis.upper()]}Unit", "µm") for axis in sizes}
        return Voxel(sizes, unit_named(units.pop()) if len(units) == 1 else None)
    if stack.program == "ImageJ":
        sizes = {"z": float(about[SPACING])} if SPACING in about else {}
        unit = unit_named(about.get("unit"))
        if stack.resolution and unit:
            sizes |= {"x": 1 / stack.resolution[0], "y": 1 / stack.resolution[1]}
        return Voxel(sizes, unit)
    return Voxel({})


def with_voxel(stack: Stack, voxel: Voxel) -> Stack:
    """The stack with other voxels, as its program says it; a plain TIFF is then one of ImageJ or OME."""
    unit = short_unit(voxel.unit) or short_unit(voxel_of(stack).unit)
    about, resolution = dict(stack.about), stack.resolution
    program = stack.program or ("ImageJ" if stack.array.dtype.name in ("uint8", "uint16", "float32") else "OME")
    axes = stack.axes
    if not stack.program and "Z" not in axes and sum(axis in UNNAMED for axis in axes) == 1:
        axes = "".join("Z" if axis in UNNAMED else axis for axis in axes)
    if program == "OME":
        about |= {DISTANCES[name.upper()]: size for name, size in voxel.sizes.items()}
        about |= {f"{DISTANCES[name.upper()]}Unit": unit for name in voxel.sizes if unit}
        return replace(stack, about=about, program=program, axes=axes)
    about |= {SPACING: voxel.sizes["z"]} if "z" in voxel.sizes else {}
    about |= {"unit": "um" if unit == "µm" else unit} if unit else {}
    old = {name: 1 / r for name, r in zip("xy", resolution or (1.0, 1.0))} | dict(voxel.sizes)
    resolution = (1 / old["x"], 1 / old["y"])
    return replace(stack, about=about, program=program, axes=axes, resolution=resolution, unit=1)


def place_of(name: str) -> str:
    """OME's name of the distance along an axis."""
    return DISTANCES[name.upper()]


def positions(axes: Axes, letters: str, path: Path) -> tuple[int, ...]:
    """Which dims of an array are meant: by the letter of an axis, or by number. The only axis that the file does not
    name, such as its pages, may have any letter."""
    unnamed = [k for k, letter in enumerate(letters) if letter in UNNAMED]
    found = []
    for axis in axes:
        if isinstance(axis, str):
            if axis.upper() in letters:
                found.append(letters.index(axis.upper()))
                continue
            if len(unnamed) != 1:
                there = f"some of {','.join(letters.lower())}" if letters else "numbers, as a .npy file names no axes"
                raise Refusal(f"{path}: --axes: expected {there}, got {axis!r}")
            axis = unnamed[0]
        found.append(axis)
    return tuple(found)


def _resolution(page: Any) -> tuple[tuple[float, float] | None, int]:
    tags = page.tags
    if "XResolution" not in tags or "YResolution" not in tags:
        return None, 1
    values = [tags[name].value for name in ("XResolution", "YResolution")]
    unit = int(tags["ResolutionUnit"].value) if "ResolutionUnit" in tags else 1
    if any(d == 0 or n == 0 for n, d in values):
        return None, unit
    return (values[0][0] / values[0][1], values[1][0] / values[1][1]), unit


def _of_ome(text: str) -> tuple[dict[str, Any], int]:
    """What tifffile writes again: names, and distances with their units; and how many images there should be, of each
    channel one."""
    import tifffile

    image: Any = tifffile.xml2dict(text)["OME"]["Image"]
    image = image[0] if isinstance(image, list) else image
    pixels: dict[str, Any] = image["Pixels"]
    about = {name: pixels[name] for name in DISTANCES.values() if name in pixels}
    about |= {f"{name}Unit": pixels[f"{name}Unit"] for name in about if f"{name}Unit" in pixels}
    channels = pixels.get("Channel", [])
    names = [c.get("Name") for c in (channels if isinstance(channels, list) else [channels])]
    if names and all(names):
        about["Channel"] = {"Name": names}
    planes = math.prod(int(pixels.get(f"Size{axis}", 1)) for axis in "ZCT")
    return about | ({"Name": image["Name"]} if "Name" in image else {}), planes
