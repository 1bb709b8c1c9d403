"""The commands on arrays on disk, from their parsed arguments."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np

from tenter._arrays import limits
from tenter.cli.options import read_options
from tenter.cli.refusal import Refusal
from tenter.cli.sizes import parse_lengths, whole_number
from tenter.cli.volumes import arrays, labels, npy, zarrs
from tenter.cli.volumes.arrays import Output
from tenter.cli.volumes.axes import read_axes, split
from tenter.cli.volumes.memory import parse_limit
from tenter.cli.volumes.pyramid import CENTER, Levels, check_levels, pyramid, spatial_axes
from tenter.cli.volumes.recipe import How
from tenter.cli.volumes.sources import Source, open_source, with_voxel
from tenter.cli.volumes.summary import Report, as_json, line_of
from tenter.cli.voxels import unit_named

#: The share of memory from which on .npy files are read and written block by block.
LARGE = 0.4
ENDINGS = (".zarr", ".npy", ".tif", ".tiff")
#: Options of arrays on disk alone.
OF_ARRAYS = ("memory_limit", "threads", "chunks", "names", "no_labels")
#: Options of images and folders, which arrays on disk have no use for.
OF_PICTURES = (
    "format", "recursive", "skip_existing", "update", "jobs", "max_pixels", "follow_links", "strip", "frame",
    "background", "quality", "subsampling", "progressive", "fast", "exact", "keep_orientation",
)  # fmt: skip


def concerns(paths: list[str], args: argparse.Namespace) -> bool:
    """Whether a command is about arrays on disk: zarr, or .npy files that are large or for which memory is limited."""
    asked = [name for name in OF_ARRAYS if getattr(args, name, None) not in (None, False)]
    if any(path.rstrip("/").lower().endswith(".zarr") or zarrs.is_zarr(path) for path in paths):
        return True
    of_arrays = len(paths) == 2 and all(path.lower().endswith(".npy") for path in paths)
    if of_arrays and (args.command == "repeat" or args.axes is not None) and os.path.isfile(paths[0]):
        return bool(asked) or os.path.getsize(paths[0]) > LARGE * limits.machine_memory()
    if asked:
        raise Refusal(f"--{asked[0].replace('_', '-')}: is for zarr arrays, and for .npy files with --axes")
    return False


def resize_volume(args: argparse.Namespace) -> int:
    """Carry out `tenter resize` of one array on disk."""
    if len(args.paths) != 2:
        raise Refusal(f"expected one IN and one OUT for arrays on disk, got {', '.join(args.paths)}")
    for name in OF_PICTURES:
        if getattr(args, name):
            raise Refusal(f"--{name.replace('_', '-')}: does not go with arrays on disk")
    if args.axes is None:
        raise Refusal("--axes: is needed for arrays on disk, such as --axes z,y,x or --axes 0 1 2")
    output, source = _output(args.paths[1], args), open_source(args.paths[0], args.names)
    is_labels = _is_labels(source, args)
    args.labels = args.labels or is_labels
    axes = read_axes(args.axes, source.names)
    args.axes = list(map(str, axes))
    options = read_options(args)
    if options.voxel_size is None and options.unit is not None:
        raise Refusal("--unit: goes with --voxel-size")
    report = arrays.resize(source, _checked(output, source), axes, options, _how(args))
    _say(report, args, _of_labels(source) if is_labels else ())
    return 0


def repeat_volume(args: argparse.Namespace, counts: Any) -> int:
    """Carry out `tenter repeat` of one array on disk."""
    output, source = _output(args.output, args), open_source(args.input)
    dim = args.dim
    if dim is None:
        source, dim = _flat(source, output), 0
    if not -len(source.shape) <= dim < len(source.shape):
        raise Refusal(f"--dim: expected a number from {-len(source.shape)} to {len(source.shape) - 1}, got {dim}")
    if np.asarray(counts).dtype.kind not in "iu" or np.any(np.asarray(counts) < 0) or np.ndim(counts) > 1:
        raise Refusal("--repeats: expected whole numbers of at least 0")
    _say(arrays.repeat(source, _checked(output, source), counts, dim % len(source.shape), _how(args)), args)
    return 0


def pyramid_command(args: argparse.Namespace) -> int:
    """Carry out `tenter pyramid`."""
    output, image = (None, None) if args.output is None else _new_group(args.output)
    count = None if args.levels is None else whole_number(args.levels, "--levels")
    wanted = Levels(args.mode or "area", _factors(args.factor), count, args.axes, False)
    check_levels(wanted)
    source, chunks = open_source(args.input, args.names), _chunks(args)
    is_labels = _is_labels(source._replace(is_labels=source.is_labels or image is not None), args)
    if args.labels or is_labels:
        wanted = wanted._replace(method=args.mode or CENTER, labels=True)
        what, kinds = ("--labels", "biu") if image is None else (f"{output}: labels", "iu")
        if source.stored.dtype.kind not in kinds:
            raise Refusal(f"{what}: expected integers, got {source.stored.dtype}")
    if output is None and source.is_group:
        _check_within(args)
    if args.voxel_size is not None:
        axes = spatial_axes(source, wanted)
        sizes = parse_lengths(args.voxel_size, "--voxel-size", len(axes))
        source = with_voxel(source, sizes, axes, unit_named(args.unit))
    elif args.unit is not None:
        raise Refusal("--unit: goes with --voxel-size")
    report = pyramid(source, args.input, output, wanted, _fitting(chunks, source), _how(args), image)
    _say(report, args, _of_labels(source) if is_labels and image is None else ())
    return 0


def _new_group(name: str) -> tuple[str, labels.Image | None]:
    """The name of a new group, and the image that it is labels of."""
    output = name.rstrip("/")
    image = labels.image_of(output)
    if image is None and not output.lower().endswith(".zarr"):
        where = "or is in the labels of an OME-Zarr image, such as IMAGE.zarr/labels/cells"
        raise Refusal(f"{name}: expected a name that ends in .zarr, {where}")
    return output, image


def _check_within(args: argparse.Namespace) -> None:
    """Refuse what the levels within a group have from its array."""
    for option, given, what in (("--names", args.names, "axes"), ("--chunks", args.chunks, "chunks")):
        if given is not None:
            raise Refusal(f"{option}: goes with OUT; levels within a group have the {what} of its array")


def _is_labels(source: Source, args: argparse.Namespace) -> bool:
    """Whether values are labels though no option says it."""
    if args.no_labels and args.labels:
        raise Refusal("--no-labels: does not go with --labels")
    return source.is_labels and not args.no_labels and not args.labels


def _factors(text: str | None) -> tuple[int, ...] | None:
    """--factor: one number for all axes, or one for each."""
    return None if text is None else tuple(whole_number(part, "--factor") for part in text.split(","))


def _of_labels(source: Source) -> tuple[str, ...]:
    """What is said where values were taken for labels without an option."""
    is_mask = source.stored.dtype.kind == "b"
    return ("a mask: no value is averaged" if is_mask else "labels: no value is averaged (--no-labels averages)",)


def _say(report: Report, args: argparse.Namespace, notes: tuple[str, ...] = ()) -> None:
    report = report._replace(notes=(*notes, *report.notes))
    print(as_json(report) if getattr(args, "json", False) else line_of(report))


def _output(name: str, args: argparse.Namespace) -> Output:
    path = Path(name.rstrip("/"))
    if path.suffix.lower() not in ENDINGS:
        raise Refusal(f"{name}: expected a name that ends in .zarr, .npy or .tif")
    chunks = _chunks(args)
    if chunks is not None and path.suffix.lower() != ".zarr":
        raise Refusal(f"--chunks: a {path.suffix.lower()} file has none")
    return Output(path, chunks)


def _checked(output: Output, source: Source) -> Output:
    return output._replace(chunks=_fitting(output.chunks, source))


def _chunks(args: argparse.Namespace) -> tuple[int, ...] | None:
    if args.chunks is None:
        return None
    found = tuple(whole_number(text, "--chunks") for text in split([args.chunks]))
    if not found or min(found) < 1:
        raise Refusal(f"--chunks: expected lengths of at least 1, such as 64,64,64, got {args.chunks!r}")
    return found


def _fitting(chunks: tuple[int, ...] | None, source: Source) -> tuple[int, ...] | None:
    if chunks is not None and len(chunks) != len(source.shape):
        raise Refusal(f"--chunks: expected {len(source.shape)} lengths, one for each dim, got {len(chunks)}")
    return chunks


def _how(args: argparse.Namespace) -> How:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = cores if args.threads is None else whole_number(args.threads, "--threads")
    if not 1 <= threads <= 1024:
        raise Refusal(f"--threads: expected 1 to 1024 threads, got {threads}")
    return How(parse_limit(args.memory_limit), threads, args.force, getattr(args, "dry_run", False))


def _flat(source: Source, output: Output) -> Source:
    """The elements of a .npy file one after the other."""
    stored = source.stored
    if not isinstance(stored, npy.NpyFile) or source.is_turned or output.path.suffix.lower() != ".npy":
        raise Refusal("--dim: is needed for zarr arrays, and for .npy files in Fortran order")
    return source._replace(stored=stored.flat(), names=[""])
