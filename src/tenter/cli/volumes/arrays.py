"""`tenter resize` and `tenter repeat` of arrays on disk."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tenter
from tenter._arrays.arguments import error
from tenter._arrays.dtypes import NUMBERS, PARTS
from tenter._arrays.errors import Refusal as Unfit
from tenter._arrays.numpy_arrays import layout
from tenter._execution import labels, masked
from tenter._parts import work
from tenter._parts.work import Work
from tenter._rules.axis_rule import NEAREST
from tenter._rules.geometry import positions
from tenter._rules.rounding import ONCE
from tenter._specs import resize_arguments
from tenter._specs.repeat import every
from tenter._specs.resize import Resize
from tenter._specs.spec import Spec
from tenter.cli.options import Options
from tenter.cli.refusal import Refusal, named
from tenter.cli.sizes import scaled
from tenter.cli.volumes import gaps, ngff, npy, tiffs, zarrs
from tenter.cli.volumes.axes import CHANNELS_LAST
from tenter.cli.volumes.blocks import Task
from tenter.cli.volumes.job import put_in_place
from tenter.cli.volumes.ordered import turned_target
from tenter.cli.volumes.recipe import How, Recipe, carry_out, check_new
from tenter.cli.volumes.sources import Source, create_like, in_order, open_source, types_of, with_voxel, zarr_format
from tenter.cli.volumes.stored import Stored, Writable
from tenter.cli.volumes.summary import Array, Report
from tenter.cli.voxels import Voxel, spaced
from tenter.maps._kinds import only_copies

RESULT, OLD = "result", "old"


class Output(NamedTuple):
    """The file to make, and the shape of chunks where one is given."""

    path: Path
    chunks: tuple[int, ...] | None


def resize(source: Source, output: Output, axes: tuple[int, ...], options: Options, how: How) -> Report:
    """Resize some axes."""
    if options.voxel_size is not None:
        source = with_voxel(source, options.voxel_size, axes, options.unit)
    if source.multiscale is not None and output.path.suffix.lower() == ".zarr":
        source, order = in_order(source)
        axes = tuple(order.index(axis) for axis in axes)
    size = options.size
    lengths = [source.shape[axis] for axis in axes]
    if options.spacing is not None:
        found = source.multiscale
        size = spaced(lengths, [None] if found is None else ngff.sizes(found, found.scale, axes), options.spacing)
    elif size is None:
        assert options.scale is not None
        size = scaled(lengths, options.scale)
    box = options.box and ((options.box[0], options.box[2]), (options.box[1], options.box[3]))
    given = {"mode": options.mode, "antialias": options.antialias, "like": options.like, "box": box}
    if options.labels and options.mode not in NEAREST:
        given["labels"] = True
    stored = [_in_memory(source, axis) for axis in axes]
    op, lines = resized_file(source.stored, stored, size, given)
    about = {"command": "resize", "axes": axes, "size": size, **given, **gaps.arguments(options)}
    if gaps.has(options):
        op = _with_gaps(op, source, stored, size, given, options)
    report = _make(source, output, op, about, how, lines[::-1] if source.is_turned else lines)
    if source.is_named or source.names[-1] != CHANNELS_LAST[-1]:
        return report
    return report._replace(taken=tuple(types_of(source)), is_named=False)


def operation(shape: tuple[int, ...], dtype: np.dtype[Any], spec: Spec, are_labels: bool = False) -> Work:
    """A checked call, for an array of that shape."""
    dtype = dtype.newbyteorder("=")
    if are_labels:
        assert isinstance(spec, Resize)
        return work.of_labels(spec, shape, dtype, 0 if spec.reads_outside else None)
    found, name = work.of_call(spec, shape, dtype), layout(np.empty(0, dtype)).dtype
    if name not in NUMBERS and name not in PARTS and not all(map(only_copies, found.maps.values())):
        raise Refusal(f"arrays of {name} are not resized block by block, except by nearest and nearest-exact")
    return found


def _with_gaps(
    op: Work, source: Source, axes: list[int], size: tuple[int, ...], given: dict[str, Any], options: Options
) -> Work:
    """The operation, with weights normalized over valid values."""
    if source.order is not None:
        raise Refusal(f"{source.name}: expected axes in the order of OME-Zarr for --mask and --skip-nan")
    shape = source.full.shape
    mask = None if options.mask is None else gaps.checked_mask(open_source(options.mask).full, shape)
    x = np.broadcast_to(np.zeros((), op.dtype), op.shape)
    spec, _ = resize_arguments.checked(x, resize_arguments.Arguments(size, axes=axes, **given))
    rule = masked.rule_of(spec, op.dtype.kind in "fc", options.skip_nan, options.min_valid, 0)
    if mask is None and not rule.skipna:
        return op
    dtype = op.dtype
    if (not rule.copies and dtype.kind in "iu") or dtype == np.float16:
        dtype = np.dtype(np.float32 if dtype.kind == "f" else np.float64)
    of_sums = operation(op.shape, dtype, spec)._replace(dtype=op.dtype, rounding=ONCE)
    return of_sums._replace(gaps=gaps.Gaps(rule, mask, source.is_turned, dtype))


def repeat(source: Source, output: Output, counts: Any, dim: int, how: How) -> Report:
    """Repeat the positions of one dim."""
    dim = _in_memory(source, dim)
    n = source.stored.shape[dim]
    if np.ndim(counts) == 0 or np.size(counts) == 1:
        spec = every(len(source.stored.shape), dim, int(np.asarray(counts).item()))
        op = operation(source.stored.shape, source.stored.dtype, spec)
    else:
        whole = tenter.maps.Copy.repeats(counts)
        if whole.n_in != n:
            raise Refusal(f"--repeats: expected {n} counts, one per position of dim {dim}, got {whole.n_in}")
        shape = source.stored.shape
        op = operation(shape, source.stored.dtype, every(len(shape), dim, 1))
        op = op._replace(shape_out=(*shape[:dim], whole.n_out, *shape[dim + 1 :]), maps={dim: whole})
    if 0 in op.shape_out:
        raise Refusal("--repeats: expected a sum of at least 1, got 0: an array without elements has no blocks")
    digest = hashlib.sha256(np.asarray(counts, np.int64).tobytes()).hexdigest()
    about = {"command": "repeat", "dim": dim, "counts": [np.size(counts), digest]}
    return _make(source, output, op, about, how, None)


def resized(
    stored: Stored, axes: list[int], size: tuple[int, ...], given: dict[str, Any]
) -> tuple[Work, list[ngff.Line]]:
    """What `tenter.resize` does to an array of that shape and dtype, and where its pixels lie in the array."""
    x = np.broadcast_to(np.zeros((), stored.dtype.newbyteorder("=")), stored.shape)
    how = {name: value for name, value in given.items() if name != "labels"}
    are_labels = bool(given.get("labels"))
    try:
        arguments = resize_arguments.Arguments(size, axes=axes, **how)
        spec, _ = labels.checked(x, arguments) if are_labels else resize_arguments.checked(x, arguments)
    except Unfit as refusal:
        raise error(refusal, "resize", x=x, size=size, axes=axes, **given) from None
    return operation(stored.shape, stored.dtype, spec, are_labels), _lines(spec, stored.shape)


def resized_file(
    stored: Stored, axes: list[int], size: tuple[int, ...], given: dict[str, Any]
) -> tuple[Work, list[ngff.Line]]:
    """The same, with errors that name the file."""
    try:
        return resized(stored, axes, size, given)
    except Refusal as refusal:
        raise Refusal(f"{stored.name}: {refusal}") from None
    except (TypeError, ValueError) as refusal:
        raise Refusal(named(refusal, stored.name)) from None


def _lines(spec: Resize, shape: tuple[int, ...]) -> list[ngff.Line]:
    """By the rule of each axis."""
    lines = [(Fraction(0), Fraction(1))] * len(shape)
    for axis, n, rule in zip(spec.axes, spec.size, spec.rules):
        geometry = rule.geometry(shape[axis], n)
        first, step = geometry.line()
        if rule.kind == "nearest" and rule.tie in ("floor", "ceil"):
            # Such a pixel is on one side of its position by up to one pixel. Stated is the middle of where they are.
            numerator, denominator, _ = positions(first, step, n)
            off = geometry.nearest(rule.tie) * denominator - numerator
            first += Fraction(int(off.min()) + int(off.max()), 2 * denominator)
        lines[axis] = (first, step if step > 0 else geometry.pitch())
    return lines


def _in_memory(source: Source, axis: int) -> int:
    """An axis among the dims in the order of memory."""
    return len(source.shape) - 1 - axis if source.is_turned else axis


def _make(
    source: Source, output: Output, op: Work, about: dict[str, Any], how: How, lines: list[ngff.Line] | None
) -> Report:
    """lines: where the result's pixels lie, which the metadata states; None if it states none."""
    path = output.path
    ending = path.suffix.lower()
    to_npy, to_tiff = ending == ".npy", ending in tiffs.ENDINGS
    shape = op.shape_out[::-1] if source.is_turned else op.shape_out
    multiscale = None if lines is None else source.multiscale
    describe, voxel, lost = None, None, [*source.lost, *_left(source, ending, multiscale is not None)]
    if multiscale is not None and lines is not None:
        voxel = ngff.voxel_of(multiscale, ngff.scaled(multiscale, lines))
        if not (to_npy or to_tiff):
            levels = [ngff.level(multiscale, "0", lines)]
            format_ = zarr_format(source)
            describe, missing = ngff.written(source.attributes, multiscale, levels, shape, format_, alone=True)
            lost += missing

    def make(folder: Path) -> None:
        names = None
        if to_npy:
            npy.create_npy(folder / RESULT, op.shape_out, source.stored.dtype, source.is_turned, str(path))
            return
        if to_tiff:
            is_ome = path.stem.lower().endswith(".ome")
            dtype = source.stored.dtype
            tiffs.create_tiff(folder / RESULT, shape, dtype, source.names, voxel or Voxel({}), is_ome)
            return
        at = folder / RESULT
        if describe is not None:
            zarrs.create_group(at, describe, zarr_format(source))
            at, names = at / "0", source.names
        create_like(at, source, shape, output.chunks, names)

    def tasks(folder: Path) -> list[Task]:
        target: Writable
        if to_npy:
            target = npy.open_npy(folder / RESULT)[0]
            target.name = str(path)
        elif to_tiff:
            target = tiffs.open_created(folder / RESULT, str(path))
            target = turned_target(target) if source.is_turned else target
        else:
            inner = "0" if describe is not None else ""
            target = zarrs.open_created(folder / RESULT / inner, os.path.join(path, inner).rstrip("/"))
            target = turned_target(target) if source.is_turned else target
        return [Task(source.stored, target, op)]

    def place(folder: Path) -> None:
        if os.path.lexists(folder / RESULT):
            put_in_place(folder / RESULT, path, how.force, folder / OLD)

    check: Callable[[], None] = lambda: check_new(path, [source.identity[0]], how.force, not (to_npy or to_tiff))  # noqa: E731
    scale = multiscale and multiscale.scale
    full = {"source": source.identity, "shape": source.shape, "chunks": output.chunks, "scale": scale, **about}
    full["written"] = digest_of([describe, voxel])
    ended = carry_out(Recipe(path, plain(full), None, check, make, tasks, place), how)
    before = Array(source.name, source.shape, multiscale and ngff.voxel_of(multiscale, multiscale.scale))
    return Report(before, str(path), [Array(str(path), shape, voxel)], source.names, ended, not_kept=tuple(lost))


def _left(source: Source, ending: str, is_described: bool) -> list[str]:
    """What of the metadata of a source has no place in a file with this ending, as the summary names it."""
    found = []
    multiscale = source.multiscale
    if multiscale is not None and (ending == ".npy" or not is_described):
        found.append("axes and voxel sizes")
    elif multiscale is not None and ending in tiffs.ENDINGS and any(multiscale.translation):
        found.append("the place of the first voxel")
    if ending == ".zarr" and is_described:
        return found
    of_group = {*source.attributes, *ngff.held(source.attributes)} - {"ome", "multiscales", "version"}
    of_array = set() if source.like is None or ending == ".zarr" else set(dict(source.like.attrs))
    if keys := sorted(of_group | of_array - {"_ARRAY_DIMENSIONS"}):
        found.append(f"attributes ({', '.join(keys)})")
    return found


def digest_of(value: Any) -> str:
    """A digest of metadata that a result gets."""
    return hashlib.sha256(json.dumps(plain(value), sort_keys=True).encode()).hexdigest()


def plain(value: Any) -> Any:
    """A value as JSON gives it back."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (np.integer, np.floating)):
        return value.item()
    return str(value) if isinstance(value, Fraction) else value
