"""The levels of a pyramid: their shapes, and how each is made of the one before it."""

from __future__ import annotations

import itertools
import re
from typing import Any, NamedTuple

from tenter.cli.refusal import Refusal
from tenter.cli.volumes import ngff, zarrs
from tenter.cli.volumes.arrays import resized_file, without_missing
from tenter.cli.volumes.axes import SPACE, read_axes
from tenter.cli.volumes.blocks import Task
from tenter.cli.volumes.sources import Source, types_of
from tenter.cli.volumes.stored import Stored

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
    chunk. labels: whether values are labels, which are not averaged. skip_nan: whether weights are normalized over
    values that are not NaN; min_valid: the least share of weight that these must have."""

    method: str
    factors: tuple[int, ...] | None
    n_levels: int | None
    axes: list[str] | None
    labels: bool
    skip_nan: bool = False
    min_valid: float | None = None

    @property
    def votes(self) -> bool:
        """Whether labels are not only chosen."""
        return self.labels and self.method != CENTER


def check_levels(wanted: Levels) -> None:
    """Refuse numbers that make no level."""
    factors = wanted.factors
    if factors is not None and (min(factors) < 1 or max(factors) < 2):
        given = ",".join(map(str, factors))
        raise Refusal(f"--factor: expected whole numbers of at least 1, one of them at least 2, got {given}")
    if wanted.n_levels is not None and not 1 <= wanted.n_levels <= 32:
        raise Refusal(f"--levels: expected 1 to 32 levels, got {wanted.n_levels}")


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


def shapes_of(
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


def smaller(levels: list[Any], wanted: Levels) -> list[Task]:
    """Each level of the one before it."""
    found = []
    for before, after in itertools.pairwise(levels):
        axes = [axis for axis, (n, m) in enumerate(zip(before.shape, after.shape)) if n != m]
        size = tuple(after.shape[axis] for axis in axes)
        how = METHODS[wanted.method]
        op, _ = resized_file(before, axes, size, {**how, "labels": wanted.votes})
        if wanted.skip_nan and not wanted.labels:
            dims = tuple(range(len(before.shape)))
            op = without_missing(op, axes, size, how, True, wanted.min_valid, None, dims)
        found.append(Task(before, after, op))
    return found


def numbered(first: str, k: int) -> str:
    """The name of a level: that of the full size with the number at its end counted up, else a number in the same
    folder."""
    folder, name, of = re.fullmatch(r"(.*/)?(.*?)([0-9]*)", first, re.S).groups("")  # type: ignore[union-attr]  # it fits
    return f"{folder}{name}{int(of) + k:0{len(of)}}" if of else f"{folder}{k}"


def check_apart(group: str, paths: list[str]) -> None:
    """Refuse levels that are named twice or are in one another: what replaces one would replace the other."""
    parts = sorted(path.split("/") for path in paths)
    for before, after in itertools.pairwise(parts):
        if after[: len(before)] == before:
            two = f"{'/'.join(before)!r} and {'/'.join(after)!r}"
            raise Refusal(f"{group}: expected levels apart from each other, its metadata has {two}")
