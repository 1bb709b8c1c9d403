"""Pyramids in stores that are no folders: buckets, memory, zip files.

A store has no names to move. So levels are made in their places, and the attributes of the group name them at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenter._parts.work import Work
from tenter.cli.refusal import Refusal
from tenter.cli.volumes import ngff, zarrs
from tenter.cli.volumes.blocks import Task
from tenter.cli.volumes.levels import Levels, check_apart, smaller
from tenter.cli.volumes.recipe import Ended, How, Recipe, carry_out
from tenter.cli.volumes.sources import Source, create_like, zarr_format
from tenter.cli.volumes.stored import Stored

if TYPE_CHECKING:
    from pathlib import Path

    from zarr.storage import StorePath


def within(
    source: Source, full: Stored, group: StorePath, multiscale: ngff.Multiscale, paths: list[str],
    shapes: list[tuple[int, ...]], wanted: Levels, written: dict[str, Any], about: dict[str, Any], how: How,
) -> Ended | None:  # fmt: skip
    """Levels in the source's own group. written: its new attributes."""
    import zarr

    check_apart(str(group), multiscale.paths)
    check_apart(str(group), list({*multiscale.paths, *paths}))
    if group.store.read_only or (how.force and not group.store.supports_deletes):
        raise Refusal(f"{group}: its store does not let members be {'replaced' if how.force else 'made'}")

    def check() -> None:
        there = zarr.open_group(group, mode="r")
        for path in [*multiscale.paths[1:], *paths[1:]]:
            if path in there:
                if path not in multiscale.paths:
                    raise Refusal(f"{group}/{path}: exists and is not one of the levels, whose name it has")
                if not how.force:
                    raise Refusal(f"{group}: has levels already ({', '.join(multiscale.paths)}); --force replaces them")
                if zarrs.is_group(there[path]):
                    raise Refusal(f"{group}/{path}: exists and is not a zarr array")

    def make(_: Path) -> None:
        for path, shape in zip(paths[1:], shapes[1:]):
            create_like(group / path, source, shape, None, ngff.names(multiscale))

    def tasks(_: Path) -> list[Task]:
        made = [zarrs.open_created(group / path, f"{group}/{path}") for path in paths[1:]]
        return smaller([full, *made], wanted)

    def place(_: Path) -> None:
        there = zarr.open_group(group, mode="r+")
        there.attrs.put(written)
        for path in multiscale.paths[1:]:
            if path not in paths and path in there:
                del there[path]
        if there.metadata.consolidated_metadata is not None:
            zarr.consolidate_metadata(group.store, path=group.path, zarr_format=there.metadata.zarr_format)

    return carry_out(Recipe(str(group), about, None, check, make, tasks, place, group), how)


def beside(
    source: Source, full: Stored, group: StorePath, written: dict[str, Any], shapes: list[tuple[int, ...]],
    wanted: Levels, chunks: Any, about: dict[str, Any], how: How,
) -> Ended | None:  # fmt: skip
    """A new group of the array itself and its levels. written: its attributes."""
    import zarr

    paths, store = [str(k) for k in range(len(shapes))], group.store

    def check() -> None:
        if store.read_only:
            raise Refusal(f"{group}: its store is open to read only")
        if source.identity[1] in (str(group), *(f"{group}/{path}" for path in paths)):
            raise Refusal(f"{group}: is the input")
        try:
            zarr.open(group, mode="r")
        except FileNotFoundError:
            return
        if not how.force:
            raise Refusal(f"{group}: exists already; --force overwrites it")

    def make(_: Path) -> None:
        # In a zip file nothing is written twice.
        first: dict[str, Any] = {"overwrite": True} if store.supports_deletes else {"attributes": written}
        first["zarr_format"] = zarr_format(source)
        zarr.create_group(group, **first)
        for path, shape in zip(paths, shapes):
            create_like(group / path, source, shape, chunks, source.names)

    def tasks(_: Path) -> list[Task]:
        made = [zarrs.open_created(group / path, f"{group}/{path}") for path in paths]
        copy = Work(full.shape, full.shape, full.dtype.newbyteorder("="), {})
        return [Task(full, made[0], copy), *smaller(list(made), wanted)]

    def place(_: Path) -> None:
        if store.supports_deletes:
            zarr.open_group(group, mode="r+").attrs.put(written)

    return carry_out(Recipe(str(group), about, None, check, make, tasks, place, group), how)
