"""Arrays on disk that a command reads, with all that the result takes from them; and how the result is made on disk."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tenter._arrays import limits
from tenter.cli.not_read import check_known
from tenter.cli.refusal import Refusal, first_line
from tenter.cli.volumes import labels, ngff, npy, tiffs, zarrs
from tenter.cli.volumes.axes import dim_names, given_names, kinds, usual_names
from tenter.cli.volumes.inside import inside
from tenter.cli.volumes.ordered import ordered, turned
from tenter.cli.volumes.store import ATTRIBUTES, ROOTS
from tenter.cli.volumes.stored import Stored
from tenter.cli.voxels import given

if TYPE_CHECKING:
    from zarr.storage import StorePath

#: The zarr format of a result whose source is not a zarr array.
ZARR_FORMAT = 3


class Source(NamedTuple):
    """stored: the array, its dims in the order of memory: reversed if is_turned. names: the dims' names. is_named:
    whether the file or the user names them. like: a zarr array, whose chunks and codecs a result takes; order: for each
    dim, the one of `like` that it is. multiscale: what is known of axes and voxels, and all attributes of the array's
    group. identity: what tells it from another array, apart from its elements: the state of the files that hold them is
    noted with each block that is made of them. is_group: whether levels can be stored next to it. is_labels: whether
    its values are labels, by its metadata, or a mask. lost: what no result has of its file."""

    stored: Stored
    is_turned: bool
    names: list[str]
    is_named: bool
    like: Any
    multiscale: ngff.Multiscale | None
    attributes: dict[str, Any]
    identity: list[Any]
    is_group: bool = False
    is_labels: bool = False
    lost: tuple[str, ...] = ()
    order: tuple[int, ...] | None = None
    format_: int | None = None

    @property
    def name(self) -> str:
        """What the user calls it."""
        return self.stored.name

    @property
    def shape(self) -> tuple[int, ...]:
        return self.stored.shape[::-1] if self.is_turned else self.stored.shape

    @property
    def full(self) -> Stored:
        """The array with its dims in the order of their names."""
        return turned(self.stored) if self.is_turned else self.stored


def open_source(path: str | StorePath, names: str | None = None) -> Source:
    """The array of a .npy file, of a TIFF stack, of a zarr array, or of the full size in an OME-Zarr group. names: what
    the user calls its dims."""
    if not isinstance(path, str):
        return _renamed(_in_store(path), names)
    path = path.rstrip("/") or path
    if not os.path.exists(path):
        raise FileNotFoundError(2, os.strerror(2), path)
    if Path(path).suffix.lower() == ".npy" and os.path.isfile(path):
        found = _of_npy(path)
    elif Path(path).suffix.lower() in tiffs.ENDINGS and os.path.isfile(path):
        return _of_tiff(path, names)
    elif zarrs.is_zarr(path):
        found = _of_zarr(path)
    else:
        check_known(path)
        raise Refusal(f"{path}: is neither a .npy file, a TIFF stack nor a zarr array or group")
    return _renamed(found, names)


def _renamed(found: Source, names: str | None) -> Source:
    if names is None:
        return found
    own = given_names(names, len(found.shape))
    multiscale = found.multiscale and ngff.named(found.multiscale, own)
    return found._replace(names=own, is_named=True, multiscale=multiscale)


def _of_npy(path: str) -> Source:
    stored, fortran = npy.open_npy(Path(path))
    _check(stored)
    names = usual_names(stored.shape[::-1] if fortran else stored.shape)
    identity = [os.path.realpath(path), stored.dtype.str, fortran]
    return Source(stored, fortran, names, False, None, None, {}, identity, is_labels=stored.dtype.kind == "b")


def _of_zarr(path: str) -> Source:
    found, multiscale, attributes, at = zarrs.open_zarr(path), None, {}, path
    lost: tuple[str, ...] = ()
    if zarrs.is_group(found):
        attributes = dict(found.attrs)
        multiscale = ngff.read(attributes, path)
        if multiscale is None:
            raise Refusal(f"{path}: is a group without multiscales metadata{_members(found, path)}")
        lost = _beside(path, multiscale.paths)
        at = inside(path, multiscale.paths[0])
        found = zarrs.open_zarr(at)
    is_labels, identity = labels.is_labels(path), [os.path.realpath(at), _digest(at)]
    return _of_array(found, at, path, multiscale, attributes, identity, is_labels, lost)


def _in_store(at: StorePath) -> Source:
    """The array of a zarr array, or of the full size in an OME-Zarr group, in a store that is no folder."""
    import zarr

    found: Any = zarr.open(at, mode="r")
    multiscale, attributes, name, said, place = None, {}, str(at), [dict(found.attrs)], at
    if zarrs.is_group(found):
        attributes = dict(found.attrs)
        multiscale = ngff.read(attributes, name)
        if multiscale is None:
            raise Refusal(f"{name}: is a group without multiscales metadata{zarrs.members(found)}")
        place = at / multiscale.paths[0]
        found = zarr.open(place, mode="r")
        said.append(dict(found.attrs))
    of_metadata = hashlib.sha256(repr((said, found.shape, found.dtype, found.chunks)).encode()).hexdigest()
    identity = [at.path or "image", str(place), of_metadata]
    is_labels = "image-label" in ngff.held(attributes)
    return _of_array(found, str(place), name, multiscale, attributes, identity, is_labels, ())


def _of_array(
    found: Any, at: str, path: str, multiscale: ngff.Multiscale | None, attributes: dict[str, Any], identity: list[Any],
    is_labels: bool, lost: tuple[str, ...],
) -> Source:  # fmt: skip
    """The source of a zarr array, whose place is `at`. path: that of its group, if it is in one."""
    array = zarrs.check_array(found, at)
    _check(array)
    names = dim_names(dict(found.attrs), getattr(found.metadata, "dimension_names", None), len(array.shape))
    is_named = bool(names)
    if multiscale is not None:
        names, is_named = ngff.names(multiscale), True
        if len(names) != len(array.shape):
            raise Refusal(f"{path}: its metadata has {len(names)} axes, its array {at} has {len(array.shape)}")
    is_labels = array.dtype.kind == "b" or is_labels
    return Source(
        array, False, names or usual_names(array.shape), is_named, found, multiscale, attributes, identity,
        multiscale is not None, is_labels, lost,
    )  # fmt: skip


def _of_tiff(path: str, names: str | None) -> Source:
    stack = tiffs.open_tiff(Path(path), names)
    _check(stack.stored)
    identity = [os.path.realpath(path), stack.stored.dtype.str, *stack.names]
    multiscale = None
    if stack.voxel.sizes:
        name = re.sub(r"(\.ome)?\.tiff?$", "", Path(path).name, flags=re.IGNORECASE)
        multiscale = ngff.with_voxel(ngff.new(stack.names, ZARR_FORMAT, name), stack.voxel)
    lost = tuple(stack.lost)
    return Source(stack.stored, False, stack.names, stack.is_named, None, multiscale, {}, identity, lost=lost)


def _members(group: Any, path: str) -> str:
    """What of a group could be meant, for a message."""
    found = _image_below(path, 3)  # as deep as the images of a plate
    return f", such as {found} has" if found else zarrs.members(group)


def _image_below(path: str, depth: int) -> str | None:
    """The first image in a group."""
    for at in (os.path.join(path, name) for name in _folders(path)):
        if labels.said(at).get("multiscales"):
            return at
        if depth > 1 and (found := _image_below(at, depth - 1)):
            return found
    return None


def _beside(path: str, levels: Sequence[str]) -> tuple[str, ...]:
    """What a group has beside its levels, for the summary: a new group does not get it."""
    others = [at for at in _folders(path) if not any(f"{level}/".startswith(f"{at}/") for level in levels)]
    held = _folders(os.path.join(path, labels.GROUP)) if labels.GROUP in others else []
    return tuple(f"{at} ({', '.join(held)})" if held and at == labels.GROUP else at for at in others)


def _folders(path: str) -> list[str]:
    """The zarr arrays and groups in a folder."""
    return sorted(at for at in os.listdir(path) if zarrs.is_zarr(os.path.join(path, at)))


def in_order(source: Source) -> tuple[Source, tuple[int, ...]]:
    """The source with its dims in the order of OME-Zarr, and for each of them the one that it was. Refuse axes that
    OME-Zarr does not have."""
    assert source.multiscale is not None
    ngff.check(source.multiscale, source.name)
    order = ngff.order(source.multiscale)
    if order == tuple(range(len(order))):
        return source, order
    names, multiscale = [source.names[k] for k in order], ngff.permuted(source.multiscale, order)
    stored = ordered(source.full, order)
    return source._replace(stored=stored, is_turned=False, names=names, multiscale=multiscale, order=order), order


def types_of(source: Source) -> list[str | None]:
    """What each dim is of."""
    if source.multiscale is not None:
        return [axis.get("type") for axis in source.multiscale.axes]
    return kinds(source.names)


def unlike(source: Source) -> list[str]:
    """What arrays of another zarr format than the source's do not have of it, as the summary names it."""
    if source.like is None or source.like.metadata.zarr_format == zarr_format(source):
        return []
    keys = sorted(set(dict(source.like.attrs)) - {"_ARRAY_DIMENSIONS"})
    return ["codecs", *([f"attributes ({', '.join(keys)})"] if keys else [])]


def create_like(
    path: Path | StorePath, source: Source, shape: tuple[int, ...], chunks: tuple[int, ...] | None,
    names: list[str] | None,
) -> None:  # fmt: skip
    """An empty zarr array with the chunks and codecs of a source. names: of the dims of one in an OME-Zarr group."""
    zarrs.create_zarr(path, source.like, shape, source.stored.dtype, chunks, zarr_format(source), names, source.order)


def with_voxel(source: Source, sizes: tuple[float, ...], axes: Sequence[int], unit: str | None) -> Source:
    """The source with voxels of these sizes along some axes."""
    found = known(source)
    said = {source.names[axis]: size for axis, size in zip(axes, sizes, strict=True)}
    return source._replace(multiscale=ngff.with_voxel(found, given(said, unit)))


def known(source: Source, name: str | None = None) -> ngff.Multiscale:
    """What is known of axes and voxels. name: of a new multiscale array."""
    usual = re.sub(r"(\.ome)?\.(zarr|npy|tiff?)$", "", Path(source.identity[0]).name, flags=re.IGNORECASE)
    return source.multiscale or ngff.new(source.names, zarr_format(source), name or usual)


def zarr_format(source: Source) -> int:
    """The zarr format of a result: the source's, or the newest if the source is not a zarr array."""
    usual = ZARR_FORMAT if source.like is None else int(source.like.metadata.zarr_format)
    return source.format_ or usual


def _check(stored: Stored) -> None:
    if not stored.shape or 0 in stored.shape:
        raise Refusal(f"{stored.name}: expected an array with at least one element, got shape {stored.shape}")
    if math.prod(stored.shape) * stored.dtype.itemsize > limits.INT64_MAX:
        raise Refusal(f"{stored.name}: expected an array of fewer than 2^63 bytes, got shape {stored.shape}")
    try:
        np.broadcast_to(np.empty((), stored.dtype), stored.shape)
    except ValueError as error:  # of more dims than NumPy takes
        raise Refusal(f"{stored.name}: {first_line(error)}") from error


def _digest(path: str) -> str:
    """A digest of the metadata of a zarr array."""
    found = hashlib.sha256()
    for name in (*ROOTS, ATTRIBUTES):
        file = Path(path, name)
        if file.is_file():
            found.update(file.read_bytes())
    return found.hexdigest()
