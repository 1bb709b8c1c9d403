"""Read TIFF stacks by tifffile: arrays with named axes, and the spacing of their samples."""

from __future__ import annotations

import contextlib
import json
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
from tenter.cli.voxels import Voxel, short_unit, unit_named, updated
from tenter.cli.writing.tiff import LAYOUT

#: OME's distance between samples, by axis, and its unit where the file says none
DISTANCES = {"X": "PhysicalSizeX", "Y": "PhysicalSizeY", "Z": "PhysicalSizeZ", "T": "TimeIncrement"}
USUAL = {"X": "µm", "Y": "µm", "Z": "µm", "T": "s"}
#: ImageJ's names of the distances between slices and frames, and OME-Zarr's of samples that are colors
SPACING, INTERVAL, CHANNEL = "spacing", "finterval", "c"
#: ImageJ's names of units, that of x first
IMAGEJ_UNITS = {"x": "unit", "y": "yunit", "z": "zunit", "t": "tunit"}
#: Units of resolution tags, and one that ImageJ takes for none.
TAGGED, SCREEN = {2: "inch", 3: "cm"}, (72.0, 72.0)
UNNAMED = "QI"  # tifffile's letters for other axes and for pages
ANNOTATIONS, SERIES = "OME annotations", "further series of the file"
DERIVED = ("ImageJ", "images", "channels", "slices", "frames", "hyperstack", "axes", "shape")
#: What OME says of a file and not of an image, and names, which are kept.
OF_LAYOUT = {
    "Image", "UUID", "Creator", "schemaLocation", "ID", "Name", "Pixels", "DimensionOrder", "Type", "BigEndian",
    "Interleaved", "TiffData", "Channel", "SamplesPerPixel", "SignificantBits",
}  # fmt: skip
#: The programs whose way of describing a stack is kept; tifffile's is a shape as JSON.
IMAGEJ, OME, TIFFFILE = "ImageJ", "OME", "tifffile"
#: What tags of a first page are called in the summary, where no stack keeps them. None: those that say nothing of
#: the image.
TAGS = {34675: "color profile", 700: "XMP", 34665: "EXIF", 34853: "EXIF", 33723: "IPTC"}
OF_PROGRAMS = {270, 282, 283, 296, 305, 32997, 32998, 50838, 50839, 65420, 65421, 65422, 65423}


@dataclass
class Stack:
    """array: with a dim for each letter of `axes`, in tifffile's letters. program: ImageJ, OME, tifffile or none, whose
    way of saying `about` is kept. resolution: samples per `unit` along x and y, or None. compressed: whether its pages
    are. unread: names for the summary."""

    array: npt.NDArray[Any]
    axes: str
    program: str = ""
    about: dict[str, Any] = field(default_factory=dict)
    resolution: tuple[float, float] | None = None
    unit: int = 1
    byteorder: ByteOrder = "<"
    compressed: bool = True
    unread: list[str] = field(default_factory=list)


def is_stack(path: Path) -> bool:
    """Whether a file is a TIFF of ImageJ or OME, whose axes have names and distances, or one that tifffile has
    described as an array of more dims than an image."""
    with open(path, "rb") as file:
        if type_of(file.read(HEAD), str(path)) != "TIFF":
            return False
        try:
            with named(path), opened(file) as tiff:
                if tiff.is_imagej or tiff.is_ome:
                    return True
                return is_shaped(tiff) and "S" not in (axes := tiff.series[0].axes) and axes not in ("YX", "X")
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
                if not is_shaped(tiff):
                    tiff.is_shaped = False  # then tifffile finds series by the pages themselves
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
    program = IMAGEJ if tiff.is_imagej else OME if tiff.is_ome else TIFFFILE if is_shaped(tiff) else ""
    _check_chain(tiff)
    nothing = np.broadcast_to(np.zeros((), series.dtype), series.shape)
    stack = Stack(nothing, series.axes, program, byteorder=tiff.byteorder)
    stack.compressed = int(series.keyframe.compression) != 1
    stack.unread += _tags(series.keyframe)
    stack.resolution, stack.unit = _resolution(series.keyframe)
    if len(tiff.series) > 1:
        stack.unread.append(SERIES)
    if program == TIFFFILE:
        said = json.loads(tiff.pages.first.shaped_description)
        stack.about = {k: v for k, v in said.items() if k not in ("shape", "truncated")}
    elif program == IMAGEJ:
        said = tiff.imagej_metadata or {}
        _check_planes(tiff, series, "YXS", said.get("images", 0))
        stack.about = {k: v for k, v in said.items() if k not in DERIVED}
    elif program == OME:
        stack.about, planes, others = _of_ome(tiff.ome_metadata)
        _check_planes(tiff, series, "YX", planes)
        stack.unread += [f"{ANNOTATIONS} ({', '.join(others)})"] if others else []
    return stack


def _check_planes(tiff: Any, series: Any, of_a_plane: str, said: int) -> None:
    """Refuse a file of one series that has fewer planes than it says. of_a_plane: the letters of axes within one."""
    there = math.prod(n for n, axis in zip(series.shape, series.axes) if axis not in of_a_plane)
    if len(tiff.series) == 1 and said > there:
        raise Refusal(f"is truncated or damaged: it has {there} of {said} images")


def _check_chain(tiff: Any) -> None:
    """Refuse a file whose last page names a next one past its end, which tifffile leaves out."""
    len(tiff.pages)  # finds them all
    tiff.filehandle.seek(tiff.pages.next_page_offset)
    order = "big" if tiff.byteorder == ">" else "little"
    after = int.from_bytes(tiff.filehandle.read(tiff.tiff.offsetsize), order)  # type: ignore[arg-type]
    if after >= tiff.filehandle.size:
        raise Refusal(f"is truncated or damaged: a page after page {len(tiff.pages) - 1} is not in the file")


def is_shaped(tiff: Any) -> bool:
    """Whether tifffile described a file, and the shape is still that of its pages: other programs copy a description
    to pages of other sizes."""
    text = getattr(tiff.pages.first, "shaped_description", None)
    if text is None or not isinstance(tiff.pages.first.shape, tuple):
        return False
    try:
        shape = [int(n) for n in json.loads(text)["shape"] if n != 1]
    except (ValueError, TypeError, KeyError):
        return False
    page = [n for n in tiff.pages.first.shape if n != 1]
    return shape[len(shape) - len(page) :] == page


def voxel_of(stack: Stack) -> Voxel:
    """How far apart samples are, by the name of the axis, as far as the file says it."""
    about = stack.about
    sizes: dict[str, float] = {}
    said: dict[str, str | None] = {}
    if stack.program == OME:
        sizes = {axis.lower(): float(about[name]) for axis, name in DISTANCES.items() if name in about}
        said = {name: about.get(f"{place_of(name)}Unit", USUAL[name.upper()]) for name in sizes}
    elif stack.program == IMAGEJ:
        sizes = {name: float(about[key]) for name, key in (("z", SPACING), ("t", INTERVAL)) if key in about}
        unit = about.get("unit") or TAGGED.get(stack.unit)
        if stack.resolution and unit_named(unit) and (unit != "inch" or stack.resolution != SCREEN):
            sizes |= {"x": 1 / stack.resolution[0], "y": 1 / stack.resolution[1]}
        said = {name: about.get(key, "s" if name == "t" else unit) for name, key in IMAGEJ_UNITS.items()}
    sizes = {name: size for name in "tzyx" if name.upper() in stack.axes and (size := sizes.get(name, 0)) > 0}
    units = {name: unit for name in sizes if (unit := unit_named(said[name]))}
    return Voxel(sizes, units)


def with_voxel(stack: Stack, voxel: Voxel) -> Stack:
    """The stack with other voxels, as its program says it; a plain TIFF is then one of ImageJ or OME."""
    program = stack.program
    if program not in (IMAGEJ, OME):
        program = IMAGEJ if stack.array.dtype.name in ("uint8", "uint16", "float32") else OME
    old, axes = voxel_of(stack), stack.axes
    about = dict(stack.about) if stack.program == program else {}
    if program != stack.program and "Z" not in axes and sum(axis in UNNAMED for axis in axes) == 1:
        axes = "".join("Z" if axis in UNNAMED else axis for axis in axes)
    found = updated(old, voxel)
    if program == OME:
        return replace(stack, about=about | ome_distances(found), program=program, axes=axes)
    for key in (SPACING, INTERVAL, *IMAGEJ_UNITS.values()):
        about.pop(key, None)
    about |= imagej_distances(found)
    x, y = stack.resolution or (1.0, 1.0)
    resolution = (1 / found.sizes.get("x", 1 / x), 1 / found.sizes.get("y", 1 / y))
    return replace(stack, about=about, program=program, axes=axes, resolution=resolution, unit=1)


def ome_distances(voxel: Voxel) -> dict[str, Any]:
    """Distances as tifffile writes them for OME, where one without a unit would be of micrometers."""
    found: dict[str, Any] = {}
    for name, size in voxel.sizes.items():
        unit = short_unit(voxel.units.get(name))
        found[place_of(name)] = size
        found |= {f"{place_of(name)}Unit": unit or "pixel"} if unit or name != "t" else {}
    return found


def imagej_distances(voxel: Voxel) -> dict[str, Any]:
    """Distances as ImageJ says them, apart from those along x and y. The unit of x is that of y and z too, and that of
    t a second, where no other is said."""
    found: dict[str, Any] = {
        key: voxel.sizes[name] for name, key in (("z", SPACING), ("t", INTERVAL)) if name in voxel.sizes
    }
    units = {name: "um" if (unit := short_unit(voxel.units.get(name))) == "µm" else unit for name in voxel.sizes}
    if unit := next((units[name] for name in "xyz" if units.get(name)), None):
        found["unit"] = unit
        found |= {IMAGEJ_UNITS[name]: units[name] or "pixel" for name in "yz" if name in units and units[name] != unit}
    if units.get("t") not in (None, "s"):
        found["tunit"] = units["t"]
    return found


def _tags(page: Any) -> list[str]:
    """What tags of a page no stack keeps, in the summary's words."""
    rest = [tag for tag in page.tags if tag.code not in LAYOUT and tag.code not in OF_PROGRAMS]
    named = [TAGS[tag.code] for tag in rest if tag.code in TAGS]
    others = sorted(tag.name for tag in rest if tag.code not in TAGS)
    return [*dict.fromkeys(named), *([f"TIFF tags ({', '.join(others)})"] if others else [])]


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


def _of_ome(text: str) -> tuple[dict[str, Any], int, list[str]]:
    """What tifffile writes again: names, and distances with their units; how many images there should be, of each
    channel one; and the names of what else is said."""
    import tifffile

    ome: dict[str, Any] = tifffile.xml2dict(text)["OME"]
    image = ome["Image"][0] if isinstance(ome["Image"], list) else ome["Image"]
    pixels: dict[str, Any] = image["Pixels"]
    about = {name: pixels[name] for name in DISTANCES.values() if name in pixels}
    about |= {f"{name}Unit": pixels[f"{name}Unit"] for name in about if f"{name}Unit" in pixels}
    channels = pixels.get("Channel", [])
    channels = channels if isinstance(channels, list) else [channels]
    names = [c.get("Name") for c in channels]
    if names and all(names):
        about["Channel"] = {"Name": names}
    planes = math.prod(int(pixels.get(f"Size{axis}", 1)) for axis in "ZCT")
    said = {key.split("}")[-1] for part in (ome, image, pixels, *channels) for key, value in part.items() if value}
    others = sorted(key for key in said - OF_LAYOUT - set(about) if not key.startswith(("xmlns", "Size")))
    return about | ({"Name": image["Name"]} if "Name" in image else {}), planes, others
