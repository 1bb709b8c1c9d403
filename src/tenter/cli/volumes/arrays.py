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
from tenter._arrays.errors import Refusal as Unfit
from tenter._specs import resize_arguments
from tenter._specs.repeat import every
from tenter._specs.spec import Spec
from tenter.cli.options import Options
from tenter.cli.refusal import Refusal, named
from tenter.cli.sizes import scaled
from tenter.cli.splines import WHY, is_spline
from tenter.cli.volumes import ngff, npy, tiffs, zarrs
from tenter.cli.volumes.blocks import Task
from tenter.cli.volumes.carry_out import How, Recipe, carry_out, check_new
from tenter.cli.volumes.job import put_in_place
from tenter.cli.volumes.sources import Source, Turned, with_voxel, zarr_format
from tenter.cli.volumes.stored import Stored
from tenter.cli.volumes.summary import Array, Report
from tenter.cli.volumes.windows import Operation, operation
from tenter.cli.voxels import Voxel, spaced

RESULT, OLD = "result", "old"


class Output(NamedTuple):
    """The file to make, and the shape of chunks where one is given."""

    path: Path
    chunks: tuple[int, ...] | None


def resize(source: Source, output: Output, axes: tuple[int, ...], options: Options, how: How) -> Report:
    """Resize some axes."""
    if is_spline(options):
        raise Refusal(WHY)
    if options.voxel_size is not None:
        source = with_voxel(source, options.voxel_size, axes, options.unit)
    size = options.size
    lengths = [source.shape[axis] for axis in axes]
    if options.spacing is not None:
        known = source.multiscale.scale if source.multiscale is not None else [None] * len(source.shape)
        size = spaced(lengths, [known[axis] for axis in axes], options.spacing)
    elif size is None:
        assert options.scale is not None
        size = scaled(lengths, options.scale)
    box = options.box and ((options.box[0], options.box[2]), (options.box[1], options.box[3]))
    given = {"mode": options.mode, "antialias": options.antialias, "like": options.like, "box": box}
    op = resized_file(source.stored, [_in_memory(source, axis) for axis in axes], size, given)
    about = {"command": "resize", "axes": axes, "size": size, **given}
    return _make(source, output, op, about, how, None if box else axes)


def repeat(source: Source, output: Output, counts: Any, dim: int, how: How) -> Report:
    """Repeat the positions of one dim."""
    dim = _in_memory(source, dim)
    n = source.stored.shape[dim]
    if np.ndim(counts) == 0 or np.size(counts) == 1:
        op = _of_spec(source.stored, every(len(source.stored.shape), dim, int(np.asarray(counts).item())))
    else:
        whole = tenter.maps.Copy.repeats(counts)
        if whole.n_in != n:
            raise Refusal(f"--repeats: expected {n} counts, one per position of dim {dim}, got {whole.n_in}")
        op = _of_spec(source.stored, every(len(source.stored.shape), dim, 1))
        shape = source.stored.shape
        op = op._replace(shape_out=(*shape[:dim], whole.n_out, *shape[dim + 1 :]), maps={dim: whole})
    if 0 in op.shape_out:
        raise Refusal("--repeats: expected a sum of at least 1, got 0: an array without elements has no blocks")
    digest = hashlib.sha256(np.asarray(counts, np.int64).tobytes()).hexdigest()
    about = {"command": "repeat", "dim": dim, "counts": [np.size(counts), digest]}
    return _make(source, output, op, about, how, None)


def resized(stored: Stored, axes: list[int], size: tuple[int, ...], given: dict[str, Any]) -> Operation:
    """What `tenter.resize` does to an array of that shape and dtype."""
    x = np.broadcast_to(np.zeros((), stored.dtype.newbyteorder("=")), stored.shape)
    try:
        spec, _ = resize_arguments.checked(x, resize_arguments.Arguments(size, axes=axes, **given))
    except Unfit as refusal:
        raise error(refusal, "resize", x=x, size=size, axes=axes, **given) from None
    return _of_spec(stored, spec)


def resized_file(stored: Stored, axes: list[int], size: tuple[int, ...], given: dict[str, Any]) -> Operation:
    """The same, with errors that name the file."""
    try:
        return resized(stored, axes, size, given)
    except Refusal as refusal:
        raise Refusal(f"{stored.name}: {refusal}") from None
    except (TypeError, ValueError) as refusal:
        raise Refusal(named(refusal, stored.name)) from None


def _of_spec(stored: Stored, spec: Spec) -> Operation:
    return operation(stored.shape, stored.dtype, spec)


def _in_memory(source: Source, axis: int) -> int:
    """An axis among the dims in the order of memory."""
    return len(source.shape) - 1 - axis if source.is_turned else axis


def _make(
    source: Source, output: Output, op: Operation, about: dict[str, Any], how: How, axes: tuple[int, ...] | None
) -> Report:
    """axes: those whose pixel positions the metadata states; None if it states none."""
    path = output.path
    ending = path.suffix.lower()
    to_npy, to_tiff = ending == ".npy", ending in tiffs.ENDINGS
    shape = op.shape_out[::-1] if source.is_turned else op.shape_out
    multiscale = None if axes is None else source.multiscale
    describe = None if to_npy or to_tiff or multiscale is None else _described(source, shape)
    voxel = multiscale and ngff.voxel_of(multiscale, ngff.scaled(multiscale, source.shape, shape))

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
        zarrs.create_zarr(at, source.like, shape, source.stored.dtype, output.chunks, zarr_format(source), names)

    def tasks(folder: Path) -> list[Task]:
        target: Stored
        if to_npy:
            target = npy.open_npy(folder / RESULT)[0]
            target.name = str(path)
        elif to_tiff:
            target = tiffs.open_created(folder / RESULT, str(path))
            target = Turned(target) if source.is_turned else target
        else:
            inner = "0" if describe is not None else ""
            target = zarrs.open_created(folder / RESULT / inner, os.path.join(path, inner).rstrip("/"))
            target = Turned(target) if source.is_turned else target
        return [Task(source.stored, target, op)]

    def place(folder: Path) -> None:
        if os.path.lexists(folder / RESULT):
            put_in_place(folder / RESULT, path, how.force, folder / OLD)

    check: Callable[[], None] = lambda: check_new(path, [source.identity[0]], how.force)  # noqa: E731
    scale = multiscale and multiscale.scale
    full = {"source": source.identity, "shape": source.shape, "chunks": output.chunks, "scale": scale, **about}
    full["written"] = digest_of([describe, voxel])
    ended = carry_out(Recipe(path, plain(full), None, check, make, tasks, place), how)
    before = Array(source.name, source.shape, multiscale and ngff.voxel_of(multiscale, multiscale.scale))
    return Report(before, str(path), [Array(str(path), shape, voxel)], source.names, ended)


def _described(source: Source, shape: tuple[int, ...]) -> dict[str, Any]:
    """The attributes of a group with one level, the result."""
    multiscale = source.multiscale
    assert multiscale is not None
    level = ngff.level(multiscale, "0", source.shape, shape)
    return ngff.written(source.attributes, multiscale, [level], zarr_format(source), alone=True)


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
