"""`tenter pyramid`: smaller and smaller versions of an array, as OME-Zarr."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from tenter._parts.work import Work
from tenter.cli.refusal import Refusal
from tenter.cli.volumes import labels, ngff, zarrs
from tenter.cli.volumes.arrays import OLD, RESULT, digest_of, plain, resized_file
from tenter.cli.volumes.axes import SPACE, read_axes
from tenter.cli.volumes.blocks import Task
from tenter.cli.volumes.inside import inside
from tenter.cli.volumes.job import put_in_place
from tenter.cli.volumes.recipe import Ended, How, Recipe, carry_out, check_new
from tenter.cli.volumes.sources import Source, create_like, in_order, known, types_of, unlike, zarr_format
from tenter.cli.volumes.stored import Stored
from tenter.cli.volumes.summary import Array, Report

#: How each kind of pyramid is resized. Areas weight inputs by the share that a pixel covers; where the center is
#: between two labels, CENTER takes the first.
CENTER = "labels"
METHODS: dict[str, dict[str, Any]] = {
    "area": {"mode": "area", "like": "opencv"},
    "linear": {"mode": "linear", "antialias": True},
    CENTER: {"mode": "nearest", "like": "onnx"},
}


class Levels(NamedTuple):
    """method: one of METHODS. factors: how many times smaller each level is, one number for all axes or
    one for each; None to make voxels isotropic. n_levels: below the full size; None for as many as it takes to fit one
    chunk. labels: whether values are labels, which are not averaged."""

    method: str
    factors: tuple[int, ...] | None
    n_levels: int | None
    axes: list[str] | None
    labels: bool

    @property
    def votes(self) -> bool:
        """Whether labels are not only chosen."""
        return self.labels and self.method != CENTER


def pyramid(
    source: Source, path: str, output: str | None, wanted: Levels, chunks: Any, how: How, image: labels.Image | None
) -> Report:  # fmt: skip
    """Make the levels of an array: within its group, or in a new group with the array itself, next to it if it has no
    name. image: the one that it is labels of, where these are stored with it."""
    if not source.is_group and output is None:
        output = f"{Path(path).with_suffix('')}.ome.zarr"
    axes = [source.names[axis] for axis in spatial_axes(source, wanted)]
    is_known = source.multiscale is not None or image is not None
    source = _described(source, output, image)
    if output is not None:
        source, _ = in_order(source)
    else:
        _check_own(source, path)
    full, multiscale = source.full, source.multiscale
    assert multiscale is not None
    at = [source.names.index(name) for name in axes]
    if image is not None:
        wanted, chunks = _as_image(image, wanted), chunks or labels.along(image, source.names, image.chunks)
    shapes = _shapes_of_image(image, source, wanted) or _shapes(source, full, multiscale, is_known, at, wanted, chunks)
    if len(shapes) == 1 and image is None:
        raise Refusal(f"{full.name}: fits one chunk already; --levels says how many levels to make")
    paths = [str(k) for k in range(len(shapes))]
    lost: list[str] = []
    if output is None:
        first = multiscale.paths[0]
        paths = [first, *(_numbered(first, k) for k in range(1, len(shapes)))]
        ended = _within(source, full, path.rstrip("/"), multiscale, paths, shapes, wanted, how)
    else:
        written, lost = _attributes(source, multiscale, paths, shapes, wanted, alone=True)
        if image is not None:
            ngff.label(written, zarr_format(source), labels.BACK)
        ended = _beside(source, full, Path(output), written, shapes, wanted, chunks, how, image)
        lost = [*source.lost, *unlike(source), *lost]
    made = [Array(*each) for each in zip(paths, shapes, _voxels(source, shapes, is_known))]
    before = made[0]._replace(path=path)
    notes = _notes(path, len(shapes)) if output is None else ()
    return Report(
        before, output or path, made[output is None :], source.names, ended, taken=tuple(types_of(source)),
        is_named=source.is_named, not_kept=tuple(lost), notes=notes,
    )  # fmt: skip


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


def spatial_axes(source: Source, wanted: Levels) -> list[int]:
    """The axes that become smaller: those of space, or those that --axes names."""
    if wanted.axes is not None:
        return list(read_axes(wanted.axes, source.names))
    if not (axes := [k for k, kind in enumerate(types_of(source)) if kind == SPACE]):
        raise Refusal(f"{source.name}: no axis is of space; --axes says which to make smaller")
    return axes


def _factors(axes: list[int], shape: tuple[int, ...], voxels: list[float] | None, wanted: Levels) -> dict[int, int]:
    """By how much a level of this shape is made smaller along each axis. voxels: along the axes. By itself it is halved
    along the axes that are nearer to the longest voxels then than now, and once there are none along all axes."""
    if wanted.factors is not None:
        factors = wanted.factors * len(axes) if len(wanted.factors) == 1 else wanted.factors
        if len(factors) != len(axes):
            raise Refusal(f"--factor: expected one number, or one for each of {len(axes)} axes, got {len(factors)}")
        return dict(zip(axes, factors))
    left = [axis for axis in axes if shape[axis] > 1]
    if voxels is not None:
        longest, of = max(voxels), dict(zip(axes, voxels))
        left = [axis for axis in left if of[axis] ** 2 * 2 < longest**2] or left
    return dict.fromkeys(left, 2)


def _shapes(
    source: Source, full: Stored, multiscale: ngff.Multiscale, is_known: bool, axes: list[int], wanted: Levels,
    chunks: tuple[int, ...] | None,
) -> list[tuple[int, ...]]:  # fmt: skip
    """The shapes of the full size and of every level. A length that its factor does not divide is rounded up.
    is_known: whether something says how large voxels are."""
    usual = zarrs.default_chunks(full.shape, full.dtype.itemsize) if source.like is None else full.unit
    unit = chunks or usual
    is_known = is_known and ngff.comparable(multiscale, axes)
    shapes = [full.shape]
    while max(shapes[-1][axis] for axis in axes) > 1:
        if len(shapes) - 1 == wanted.n_levels:
            break
        if wanted.n_levels is None and all(shapes[-1][axis] <= unit[axis] for axis in axes):
            break
        after = list(shapes[-1])
        scale = ngff.scaled(multiscale, ngff.same_edges(full.shape, shapes[-1]))
        voxels = ngff.sizes(multiscale, scale, axes) if is_known else None
        for axis, factor in _factors(axes, shapes[-1], voxels, wanted).items():
            after[axis] = -(-after[axis] // factor)
        if tuple(after) == shapes[-1]:
            break
        shapes.append(tuple(after))
    return shapes


def _within(
    source: Source, full: Stored, group: str, multiscale: ngff.Multiscale, paths: list[str],
    shapes: list[tuple[int, ...]], wanted: Levels, how: How,
) -> Ended | None:  # fmt: skip
    """Levels in the source's own group. Its metadata names them once all are in their places."""
    names = ngff.names(multiscale)
    places = {path: Path(inside(group, path)) for path in (*multiscale.paths, *paths)}
    _check_apart(group, multiscale.paths)
    _check_apart(group, list(places))
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
        return _smaller([full, *made], wanted)

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
    wanted: Levels, chunks: Any, how: How, image: labels.Image | None,
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
        return [
            Task(full, made[0], Work(full.shape, full.shape, full.dtype.newbyteorder("="), {})),
            *_smaller(list(made), wanted),
        ]

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

    about = {**_about(source, shapes, wanted), "chunks": plain(chunks), "written": digest_of(written)}
    within = None if image is None else Path(image.path)
    return carry_out(Recipe(output, about, within, check, make, tasks, place), how)


def _smaller(levels: list[Any], wanted: Levels) -> list[Task]:
    """Each level of the one before it."""
    found = []
    for before, after in itertools.pairwise(levels):
        axes = [axis for axis, (n, m) in enumerate(zip(before.shape, after.shape)) if n != m]
        size = tuple(after.shape[axis] for axis in axes)
        how = {**METHODS[wanted.method], "labels": wanted.votes}
        found.append(Task(before, after, resized_file(before, axes, size, how)[0]))
    return found


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
    about = {"command": "pyramid", "source": source.identity, "method": wanted.method, "shapes": shapes, "scale": scale}
    found: dict[str, Any] = plain({**about, "labels": True} if wanted.votes else about)
    return found


def _numbered(first: str, k: int) -> str:
    """The name of a level: that of the full size with the number at its end counted up, else a number in the same
    folder."""
    folder, name, of = re.fullmatch(r"(.*/)?(.*?)([0-9]*)", first, re.S).groups("")  # type: ignore[union-attr]  # it fits
    return f"{folder}{name}{int(of) + k:0{len(of)}}" if of else f"{folder}{k}"


def _check_apart(group: str, paths: list[str]) -> None:
    """Refuse levels that are named twice or are in one another: what replaces one would replace the other."""
    parts = sorted(path.split("/") for path in paths)
    for before, after in itertools.pairwise(parts):
        if after[: len(before)] == before:
            two = f"{'/'.join(before)!r} and {'/'.join(after)!r}"
            raise Refusal(f"{group}: expected levels apart from each other, its metadata has {two}")


def _put_away(path: Path, folder: Path) -> None:
    if os.path.lexists(path) and not os.path.lexists(folder):
        os.rename(path, folder)


def _name(output: str | None) -> str:
    return re.sub(r"(\.ome)?\.zarr$", "", Path(output or "").name)


def check_levels(wanted: Levels) -> None:
    """Refuse numbers that make no level."""
    factors = wanted.factors
    if factors is not None and (min(factors) < 1 or max(factors) < 2):
        given = ",".join(map(str, factors))
        raise Refusal(f"--factor: expected whole numbers of at least 1, one of them at least 2, got {given}")
    if wanted.n_levels is not None and not 1 <= wanted.n_levels <= 32:
        raise Refusal(f"--levels: expected 1 to 32 levels, got {wanted.n_levels}")
