"""`tenter pyramid`: smaller and smaller versions of an array, as OME-Zarr."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenter._parts.work import Work
from tenter.cli.refusal import Refusal
from tenter.cli.volumes import in_store, labels, ngff, zarrs
from tenter.cli.volumes.arrays import OLD, RESULT, digest_of, plain
from tenter.cli.volumes.blocks import Task
from tenter.cli.volumes.inside import inside
from tenter.cli.volumes.job import put_in_place
from tenter.cli.volumes.levels import Levels, check_apart, numbered, shapes_of, smaller, spatial_axes
from tenter.cli.volumes.recipe import Ended, How, Recipe, carry_out, check_new
from tenter.cli.volumes.sources import Source, create_like, in_order, known, types_of, unlike, zarr_format
from tenter.cli.volumes.stored import Stored
from tenter.cli.volumes.summary import Array, Report

if TYPE_CHECKING:
    from zarr.storage import StorePath


def made(
    source: Source, at: str | StorePath, output: str | StorePath | None, wanted: Levels, chunks: Any, how: How,
    image: labels.Image | None,
) -> Report:  # fmt: skip
    """The levels: within the array's group, or in a new group with the array itself, next to it if it has no name.
    image: the one that it is labels of, where these are stored with it."""
    path = str(at)
    if not source.is_group and output is None:
        if not isinstance(at, str):
            raise Refusal(f"OUT: is needed for {path}, an array without a group")
        output = f"{Path(path).with_suffix('')}.ome.zarr"
    axes = [source.names[axis] for axis in spatial_axes(source, wanted)]
    name = None if output is None else str(output)
    is_known = source.multiscale is not None or image is not None
    source = _described(source, name, image)
    if output is not None:
        source, _ = in_order(source)
    else:
        _check_own(source, path)
    full, multiscale = source.full, source.multiscale
    assert multiscale is not None
    along = [source.names.index(name) for name in axes]
    if image is not None:
        wanted, chunks = _as_image(image, wanted), chunks or labels.along(image, source.names, image.chunks)
    shapes = _shapes_of_image(image, source, wanted)
    shapes = shapes or shapes_of(source, full, multiscale, is_known, along, wanted, chunks)
    if len(shapes) == 1 and image is None:
        raise Refusal(f"{full.name}: fits one chunk already; --levels says how many levels to make")
    lost: list[str] = []
    if output is None:
        paths, ended = _added(source, at, shapes, wanted, how)
    else:
        paths = [str(k) for k in range(len(shapes))]
        ended, lost = _new(source, output, paths, shapes, wanted, chunks, how, image)
    arrays = [Array(*each) for each in zip(paths, shapes, _voxels(source, shapes, is_known))]
    before = arrays[0]._replace(path=path)
    notes = _notes(path, len(shapes)) if output is None and isinstance(at, str) else ()
    return Report(
        before, name or path, arrays[output is None :], source.names, ended, taken=tuple(types_of(source)),
        is_named=source.is_named, not_kept=tuple(lost), notes=notes,
    )  # fmt: skip


def _added(
    source: Source, at: str | StorePath, shapes: list[tuple[int, ...]], wanted: Levels, how: How
) -> tuple[list[str], Ended | None]:
    """The paths of levels that are added to the source's own group."""
    full, multiscale = source.full, source.multiscale
    assert multiscale is not None
    first = multiscale.paths[0]
    paths = [first, *(numbered(first, k) for k in range(1, len(shapes)))]
    if isinstance(at, str):
        return paths, _within(source, full, at.rstrip("/"), multiscale, paths, shapes, wanted, how)
    written, _ = _attributes(source, multiscale, paths, shapes, wanted, alone=False)
    about = _about(source, shapes, wanted)
    return paths, in_store.within(source, full, at, multiscale, paths, shapes, wanted, written, about, how)


def _new(
    source: Source, output: str | StorePath, paths: list[str], shapes: list[tuple[int, ...]], wanted: Levels,
    chunks: Any, how: How, image: labels.Image | None,
) -> tuple[Ended | None, list[str]]:  # fmt: skip
    """A new group, and what it has not of the source."""
    full, multiscale = source.full, source.multiscale
    assert multiscale is not None
    written, lost = _attributes(source, multiscale, paths, shapes, wanted, alone=True)
    if image is not None:
        ngff.label(written, zarr_format(source), labels.BACK)
    about = {**_about(source, shapes, wanted), "chunks": plain(chunks), "written": digest_of(written)}
    if isinstance(output, str):
        ended = _beside(source, full, Path(output), written, shapes, wanted, chunks, about, how, image)
    else:
        ended = in_store.beside(source, full, output, written, shapes, wanted, chunks, about, how)
    return ended, [*source.lost, *unlike(source), *lost]


def _voxels(source: Source, shapes: Any, is_known: bool) -> list[Any]:
    """The voxel of each level; None where that of the array is not known."""
    multiscale = source.multiscale
    assert multiscale is not None
    if not is_known:
        return [None] * len(shapes)
    scales = [ngff.scaled(multiscale, ngff.same_edges(source.full.shape, shape)) for shape in shapes]
    return [ngff.voxel_of(multiscale, scale) for scale in scales]


def _shapes_of_image(image: labels.Image | None, source: Source, wanted: Levels) -> Any:
    """The shapes of the levels of labels that are those of their image; None if a call says others."""
    if image is None or wanted.factors or wanted.axes:
        return None
    return labels.shapes_of(image, source.names, source.full.shape)


def _notes(path: str, levels: int) -> tuple[str, ...]:
    """What is said of a group that now has this number of levels."""
    others = labels.with_other_levels(path, levels)
    note = f"its labels {', '.join(others)} have another number of levels, which OME-Zarr does not allow"
    return (note,) if others else ()


def _check_own(source: Source, path: str) -> None:
    """Refuse the metadata of a group that its levels would break."""
    if source.multiscale is None:
        return
    ngff.check(source.multiscale, path)
    if not ngff.is_ordered(source.multiscale):
        what = f"its axes are {','.join(source.names)}, an order that OME-Zarr does not have"
        raise Refusal(f"{path}: {what}; with OUT, a new group has another one")


def _described(source: Source, output: str | None, image: labels.Image | None) -> Source:
    """The source with what is known of its axes: by itself, by the image that it is labels of, or by names alone."""
    if image is None:
        return source._replace(multiscale=known(source, _name(output)))
    source = source._replace(format_=image.format_)
    found = source.multiscale or labels.of_image(image, source.names, source.shape, _name(output))
    return source._replace(multiscale=found or known(source, _name(output)))


def _as_image(image: labels.Image, wanted: Levels) -> Levels:
    """As many levels as an image has, which OME-Zarr wants of its labels."""
    count = len(image.shapes) - 1
    if wanted.n_levels not in (None, count):
        raise Refusal(f"--levels: expected {count} for labels, as of the image {image.path}, got {wanted.n_levels}")
    return wanted._replace(n_levels=count)


def _within(
    source: Source, full: Stored, group: str, multiscale: ngff.Multiscale, paths: list[str],
    shapes: list[tuple[int, ...]], wanted: Levels, how: How,
) -> Ended | None:  # fmt: skip
    """Levels in the source's own group. Its metadata names them once all are in their places."""
    names = ngff.names(multiscale)
    places = {path: Path(inside(group, path)) for path in (*multiscale.paths, *paths)}
    check_apart(group, multiscale.paths)
    check_apart(group, list(places))
    assert len(set(paths)) == len(paths)  # else a level would take the place of the full size

    def check() -> None:
        for path in [*multiscale.paths[1:], *paths[1:]]:
            if os.path.lexists(places[path]):
                if path not in multiscale.paths:
                    raise Refusal(f"{group}/{path}: exists and is not one of the levels, whose name it has")
                if not how.force:
                    raise Refusal(f"{group}: has levels already ({', '.join(multiscale.paths)}); --force replaces them")
                zarrs.check_level(places[path])

    def make(folder: Path) -> None:
        (folder / RESULT).mkdir()
        for path, shape in zip(paths[1:], shapes[1:]):
            create_like(folder / RESULT / path, source, shape, None, names)

    def tasks(folder: Path) -> list[Task]:
        made = [zarrs.open_created(folder / RESULT / path, f"{group}/{path}") for path in paths[1:]]
        return smaller([full, *made], wanted)

    def place(folder: Path) -> None:
        for k, path in enumerate(multiscale.paths):
            if path not in paths:
                _put_away(places[path], folder / f"{OLD}-less-{k}")
        for k, path in enumerate(paths[1:]):
            if os.path.lexists(folder / RESULT / path):
                put_in_place(folder / RESULT / path, places[path], how.force, folder / f"{OLD}-{k}")
        zarrs.set_attributes(group, _attributes(source, multiscale, paths, shapes, wanted, alone=False)[0], folder)

    about = _about(source, shapes, wanted)
    return carry_out(Recipe(Path(group, "pyramid"), about, Path(group), check, make, tasks, place), how)


def _beside(
    source: Source, full: Stored, output: Path, written: dict[str, Any], shapes: list[tuple[int, ...]],
    wanted: Levels, chunks: Any, about: dict[str, Any], how: How, image: labels.Image | None,
) -> Ended | None:  # fmt: skip
    """A new group of the array itself and its levels. written: its attributes."""
    paths, names = [str(k) for k in range(len(shapes))], source.names

    def make(folder: Path) -> None:
        at = folder / RESULT
        zarrs.create_group(at, written, zarr_format(source))
        for path, shape in zip(paths, shapes):
            create_like(at / path, source, shape, chunks, names)

    def tasks(folder: Path) -> list[Task]:
        made = [zarrs.open_created(folder / RESULT / path, f"{output}/{path}") for path in paths]
        copy = Work(full.shape, full.shape, full.dtype.newbyteorder("="), {})
        return [Task(full, made[0], copy), *smaller(list(made), wanted)]

    def place(folder: Path) -> None:
        if image is not None:
            labels.make_group(image)
        if os.path.lexists(folder / RESULT):
            put_in_place(folder / RESULT, output, how.force, folder / OLD)
        if image is not None:
            labels.enter(image, output.name, folder)

    def check() -> None:
        if image is not None:
            labels.check_place(image)
        check_new(output, [source.identity[0]], how.force, True, image is not None)

    within = None if image is None else Path(image.path)
    return carry_out(Recipe(output, about, within, check, make, tasks, place), how)


def _attributes(
    source: Source, multiscale: ngff.Multiscale, paths: list[str], shapes: list[tuple[int, ...]], wanted: Levels,
    alone: bool,
) -> tuple[dict[str, Any], list[str]]:  # fmt: skip
    """The attributes of a group with these levels, and what of the source's is left out. alone: whether it is a new
    one."""
    levels = [ngff.level(multiscale, path, ngff.same_edges(shapes[0], shape)) for path, shape in zip(paths, shapes)]
    entry = {**multiscale.entry, "type": wanted.method, "metadata": {"method": "tenter pyramid"}}
    format_ = zarr_format(source)
    described = multiscale._replace(entry=entry)
    found, lost = ngff.written(source.attributes, described, levels, shapes[0], format_, alone)
    if wanted.labels and source.stored.dtype.kind in "iu":  # OME-Zarr's labels are integers
        ngff.label(found, format_)
    return found, lost


def _about(source: Source, shapes: list[tuple[int, ...]], wanted: Levels) -> dict[str, Any]:
    scale = source.multiscale and source.multiscale.scale
    about: dict[str, Any]
    about = {"command": "pyramid", "source": source.identity, "method": wanted.method, "shapes": shapes, "scale": scale}
    about |= {"labels": True} if wanted.votes else {}
    about |= {"min_valid": wanted.min_valid} if wanted.skip_nan else {}
    found: dict[str, Any] = plain(about)
    return found


def _put_away(path: Path, folder: Path) -> None:
    if os.path.lexists(path) and not os.path.lexists(folder):
        os.rename(path, folder)


def _name(output: str | None) -> str:
    return re.sub(r"(\.ome)?\.zarr$", "", Path(output or "").name)
