"""Volumes in zarr: what the command `tenter pyramid` does, for arrays and stores of any kind."""

from __future__ import annotations

import contextlib
import inspect
import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np

from tenter._arrays import limits
from tenter._arrays.arguments import describe, did_you_mean, error, flag, integer, one_of, several, sizes
from tenter._arrays.errors import Refusal as Unfit, refuse
from tenter._arrays.names import show_signature, unknown
from tenter._execution import masked
from tenter.cli.refusal import Refusal, require
from tenter.cli.volumes import memory
from tenter.cli.volumes.asked import Asked, pyramid as made
from tenter.cli.volumes.levels import CENTER
from tenter.cli.volumes.progress import told
from tenter.cli.volumes.recipe import How, cores

if TYPE_CHECKING:
    import zarr
    from zarr.abc.store import Store
    from zarr.storage import StorePath

__all__ = ["pyramid"]

#: What a command's words are in calls. Before a colon, an option names its argument.
_WORDS = {
    "--force": "force=True", "--no-labels": "labels=False", "--skip-nan": "skipna=True", "--labels:": "labels:",
    "--labels": "labels=True", "OUT": "target", "the same command": "the same call",
}  # fmt: skip
_SPELLED = re.compile("--labels:|--[a-z-]+|\\bOUT\\b|the same command")


def pyramid(
    source: str | os.PathLike[str] | zarr.Array[Any] | zarr.Group | Store | StorePath,
    target: str | os.PathLike[str] | zarr.Group | Store | StorePath | None = None,
    *,
    mode: Literal["area", "linear", "nearest"] = "area",
    labels: bool | None = None,
    skipna: bool = False,
    min_valid: float | None = None,
    factor: SupportsIndex | Sequence[SupportsIndex] | None = None,
    levels: SupportsIndex | None = None,
    axes: Sequence[str | SupportsIndex] | None = None,
    names: Sequence[str] | None = None,
    voxel_size: Sequence[float] | None = None,
    unit: str | None = None,
    chunks: Sequence[SupportsIndex] | None = None,
    force: bool = False,
    memory_limit: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> zarr.Group:
    """Makes smaller and smaller levels of a zarr array, as OME-Zarr: what the command `tenter pyramid` does. The array
    may be larger than memory, and a call that ended early is continued by the same call. Provisional: it may change
    before 1.0.

    Parameters
    ----------
    source : str, path, zarr.Array, zarr.Group, Store or StorePath
        An OME-Zarr group or a zarr array: in a folder, at a URL of fsspec ("s3://bucket/a.zarr") or in a store. Also a
        .npy file or a TIFF stack by name.
    target : str, path, zarr.Group, Store or StorePath, optional
        A new group, which gets the array too. None: the levels are added to the group that source is.
    mode : {"area", "linear", "nearest"}, default "area"
        How a level is made of the one before it: means of what a pixel covers, or antialiased linear. Of labels: the
        most frequent, or with "nearest" the one at the center.
    labels : bool, optional
        Whether values are labels, which are not averaged. None: as the metadata says; bools are.
    skipna : bool, default False
        Whether NaN is left out, as by `tenter.resize`, in each level by itself.
    min_valid : float, optional
        The least share of its weight that valid inputs of an output must have, with skipna.
    factor : int or sequence of ints, optional
        How many times smaller each level is, one number or one for each of axes. None: twice along axes of short
        voxels, until voxels are isotropic, then twice along all.
    levels : int, optional
        How many levels to make. None: until one fits one chunk.
    axes : sequence of str or int, optional
        The axes that become smaller. None: those of space.
    names : sequence of str, optional
        The names of source's dims. None: its own, or the last of t, c, z, y, x.
    voxel_size : sequence of floats, optional
        The size of source's voxels along axes. None: as the metadata says.
    unit : str, optional
        The unit of voxel_size.
    chunks : sequence of ints, optional
        The chunks of a new group. None: source's.
    force : bool, default False
        Whether levels or a target that exist are replaced.
    memory_limit : int, optional
        Bytes that the call may take. None: half of the machine's memory.
    threads : int, optional
        Blocks that are made at once. None: one for each core.
    progress : function, optional
        It is called in this thread with the bytes that are written, and those that there are to write. What it raises
        ends the call.

    Returns
    -------
    zarr.Group
        The group of the levels, open to read.

    Raises
    ------
    TypeError
        If source or target is of another kind.
    ValueError
        If an argument does not fit the array, or target exists.
    FileNotFoundError
        If there is no source.
    OSError, RuntimeError
        If reading or writing fails. What is done is kept.

    See Also
    --------
    tenter.resize : Arrays in memory. With `out` also into a memory map.

    Notes
    -----
    In folders, blocks whose chunks have changed are made again, and the result appears once it is complete. In other
    stores, levels are written in their places and the group's metadata at the end. What is done is noted every 30
    seconds, in a member "tenter-part" of the group that is removed at the end. There only source's metadata is
    compared, and nothing prevents two calls at once. A zip file gets its metadata first and cannot be continued: remove
    that of a call that failed.

    Examples
    --------
    >>> import zarr
    >>> store = zarr.storage.MemoryStore()
    >>> image = zarr.create_array({}, data=np.arange(64.0).reshape(8, 8), chunks=(4, 4))
    >>> group = pyramid(image, store)
    >>> group["1"][...]
    array([[ 4.5,  6.5,  8.5, 10.5],
           [20.5, 22.5, 24.5, 26.5],
           [36.5, 38.5, 40.5, 42.5],
           [52.5, 54.5, 56.5, 58.5]])
    """
    given: dict[str, Any] = {"source": source, "target": target, "mode": mode, "labels": labels, "skipna": skipna}
    given |= {"min_valid": min_valid, "factor": factor, "levels": levels, "axes": axes, "names": names}
    given |= {"voxel_size": voxel_size, "unit": unit, "chunks": chunks, "force": force, "memory_limit": memory_limit}
    given |= {"threads": threads, "progress": progress}
    try:
        require("zarr")
        before, after = _place("source", source), None if target is None else _place("target", target)
        report = made(_asked(before, after, given), _how(given))
    except Unfit as refusal:
        raise _error(refusal, given) from None
    except Refusal as refusal:
        cause = refusal.__cause__
        if isinstance(cause, _Ended):
            raise cause.__cause__ from None  # type: ignore[misc]  # what progress has raised
        kind: type[Exception] = ValueError
        if isinstance(cause, Exception) and not isinstance(cause, Refusal):
            kind = OSError if isinstance(cause, OSError) else RuntimeError
        raise _error(Unfit(kind, _in_calls(str(refusal))), given) from cause
    import zarr

    place = before if after is None else after
    found: zarr.Group = zarr.open_group(report.output if isinstance(place, str) else place, mode="r")
    return found


class _Ended(Exception):
    """What `progress` has raised is its cause."""


def _asked(source: str | StorePath, target: str | StorePath | None, given: dict[str, Any]) -> Asked:
    one_of("mode", given["mode"], ("area", "linear", "nearest"))
    flag("labels", given["labels"], optional=True)
    flag("skipna", given["skipna"])
    share, factor, levels, axes = given["min_valid"], given["factor"], given["levels"], given["axes"]
    names, voxel_size, chunks = given["names"], given["voxel_size"], given["chunks"]
    return Asked(
        source=source,
        output=target,
        method=CENTER if given["mode"] == "nearest" else given["mode"],
        labels=None if given["labels"] is None else bool(given["labels"]),
        factors=None if factor is None else sizes("factor", [factor]),
        n_levels=None if levels is None else integer("levels", levels),
        axes=None if axes is None else [str(axis) for axis in (several("axes", axes) or (axes,))],
        names=None if names is None else ",".join(map(str, several("names", names) or (names,))),
        chunks=None if chunks is None else sizes("chunks", [chunks], least=1),
        voxel_size=None if voxel_size is None else _lengths(voxel_size),
        unit=given["unit"],
        skip_nan=bool(given["skipna"]),
        min_valid=masked.share(masked.Gaps(skipna=given["skipna"], min_valid=share)),
    )


def _lengths(given: Any) -> tuple[float, ...]:
    found = several("voxel_size", given) or (given,)
    for each in found:
        if isinstance(each, str) or not (np.isfinite(each) and each > 0):
            refuse(ValueError, "voxel_size", "finite numbers above 0", describe(given))
    return tuple(map(float, found))


def _how(given: dict[str, Any]) -> How:
    flag("force", given["force"])
    limit, threads, progress = given["memory_limit"], given["threads"], given["progress"]
    limit = limits.machine_memory() // 2 if limit is None else integer("memory_limit", limit, "bytes", 1)
    threads = cores() if threads is None else integer("threads", threads, "a number of threads", 1)
    if progress is not None and not callable(progress):
        refuse(TypeError, "progress", "a function of two numbers", describe(progress))

    def tell(made: int, total: int) -> None:
        try:
            progress(made, total)
        except Exception as error:
            raise _Ended from error

    bar = told(tell) if progress is not None else told(lambda made, total: None)
    # What the process holds already is not the call's.
    return How(limit + memory.resident(), threads, bool(given["force"]), bar=bar, is_command=False)


def _place(name: str, given: Any) -> str | StorePath:
    """Where an array or a group is: a name of the file system, or a place in a store that is no folder."""
    import zarr
    from zarr.abc.store import Store
    from zarr.storage import FsspecStore, LocalStore, StorePath

    if isinstance(given, (str, os.PathLike)):
        text = os.fspath(given)
        if not isinstance(text, str) or "://" not in text:
            return os.fsdecode(text)
        if text.startswith("file://"):
            return text.removeprefix("file://")
        require("fsspec")
        return StorePath(FsspecStore.from_url(text))
    if isinstance(given, (zarr.Array, zarr.Group)):
        given = given.store_path
    elif isinstance(given, Store) and not isinstance(given, LocalStore):
        with contextlib.suppress(FileNotFoundError):  # which opens the store, whether or not anything is in it
            zarr.open(given, mode="r" if given.read_only else "r+")
    if isinstance(given, Store):
        given = StorePath(given)
    if not isinstance(given, StorePath):
        others = "a folder, a URL, a zarr group, Store or StorePath"
        what = f"{others}, or a zarr array (zarr.array(x) makes one)" if name == "source" else others
        refuse(TypeError, name, what, describe(given))
    if isinstance(given.store, LocalStore):
        return os.path.join(given.store.root, given.path).rstrip("/")
    found: StorePath = given
    return found


def _in_calls(text: str) -> str:
    """The message of a command in the words of a call."""
    return _SPELLED.sub(lambda said: _WORDS.get(said[0], said[0].removeprefix("--").replace("-", "_")), text)


def _error(refusal: Unfit, given: dict[str, Any]) -> Exception:
    usual = {name: p.default for name, p in inspect.signature(pyramid).parameters.items()}
    shown = {name: value for name, value in given.items() if value is not usual[name]}
    return error(refusal, "volumes.pyramid", **shown)


show_signature(pyramid)


def __getattr__(name: str) -> Any:
    raise unknown(__name__, name, did_you_mean(name, __all__))


def __dir__() -> list[str]:
    return __all__
