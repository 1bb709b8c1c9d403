"""A call of `tenter pyramid` or of `tenter.volumes.pyramid`: what it says is checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tenter.cli.refusal import Refusal
from tenter.cli.volumes import labels
from tenter.cli.volumes.levels import CENTER, Levels, check_levels, spatial_axes
from tenter.cli.volumes.pyramid import made
from tenter.cli.volumes.recipe import How
from tenter.cli.volumes.sources import Source, open_source, with_voxel
from tenter.cli.volumes.summary import Report
from tenter.cli.voxels import unit_named

if TYPE_CHECKING:
    from zarr.storage import StorePath


class Asked(NamedTuple):
    """A call. source, output: folders and files by name, others as places in stores. labels: whether values are labels;
    None where the metadata says it. method: None for what is usual."""

    source: str | StorePath
    output: str | StorePath | None
    method: str | None
    labels: bool | None
    factors: tuple[int, ...] | None
    n_levels: int | None
    axes: list[str] | None
    names: str | None
    chunks: tuple[int, ...] | None
    voxel_size: tuple[float, ...] | None
    unit: str | None
    skip_nan: bool
    min_valid: float | None


def pyramid(asked: Asked, how: How) -> Report:
    """Make the levels of an array, as `tenter pyramid` and `tenter.volumes.pyramid` do."""
    output, image = (asked.output, None) if not isinstance(asked.output, str) else _new_group(asked.output)
    method, factors, count = asked.method or "area", asked.factors, asked.n_levels
    wanted = Levels(method, factors, count, asked.axes, False, asked.skip_nan, asked.min_valid)
    check_levels(wanted)
    source = open_source(asked.source, asked.names)
    found = asked.labels is None and (source.is_labels or image is not None)
    if asked.labels or found:
        wanted = wanted._replace(method=asked.method or CENTER, labels=True)
        what, kinds = ("--labels", "biu") if image is None else (f"{output}: labels", "iu")
        if source.stored.dtype.kind not in kinds:
            raise Refusal(f"{what}: expected integers, got {source.stored.dtype}")
    elif method == CENTER:
        raise Refusal("--mode: nearest is for labels")
    if output is None and source.is_group:
        _check_within(asked)
    if asked.voxel_size is not None:
        axes = spatial_axes(source, wanted)
        if len(asked.voxel_size) != len(axes):
            raise Refusal(
                f"--voxel-size: expected one number for each axis, {len(axes)} in all, got {len(asked.voxel_size)}"
            )
        source = with_voxel(source, asked.voxel_size, axes, unit_named(asked.unit))
    elif asked.unit is not None:
        raise Refusal("--unit: goes with --voxel-size")
    report = made(source, asked.source, output, wanted, fitting(asked.chunks, source.shape), how, image)
    notes = of_labels(source) if found and image is None else ()
    return report._replace(notes=(*notes, *report.notes))


def fitting(chunks: tuple[int, ...] | None, shape: Sequence[int]) -> tuple[int, ...] | None:
    """Refuse chunks of another number of dims."""
    if chunks is not None and len(chunks) != len(shape):
        raise Refusal(f"--chunks: expected {len(shape)} lengths, one for each dim, got {len(chunks)}")
    return chunks


def of_labels(source: Source) -> tuple[str, ...]:
    """What is said where values were taken for labels without an option."""
    is_mask = source.stored.dtype.kind == "b"
    return ("a mask: no value is averaged" if is_mask else "labels: no value is averaged (--no-labels averages)",)


def _new_group(name: str) -> tuple[str, labels.Image | None]:
    """The name of a new group, and the image that it is labels of."""
    output = name.rstrip("/")
    image = labels.image_of(output)
    if image is None and not output.lower().endswith(".zarr"):
        where = "or is in the labels of an OME-Zarr image, such as IMAGE.zarr/labels/cells"
        raise Refusal(f"{name}: expected a name that ends in .zarr, {where}")
    return output, image


def _check_within(asked: Asked) -> None:
    """Refuse what the levels within a group have from its array."""
    for option, given, what in (("--names", asked.names, "axes"), ("--chunks", asked.chunks, "chunks")):
        if given is not None:
            raise Refusal(f"{option}: goes with OUT; levels within a group have the {what} of its array")
