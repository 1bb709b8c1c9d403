"""The graph of a result: one task for each of its chunks, and one for each slice of an input chunk that they read. An
input chunk that is read whole needs no task."""

import itertools
from typing import Any

import numpy as np
from dask.array import Array as DaskArray
from dask.array.chunk import getitem
from dask.highlevelgraph import HighLevelGraph

from tenter._dask.chunks import Chunks, chosen
from tenter._parts.part import Reads
from tenter._parts.work import InputSlice, Work


def lazy(x: Any, work: Work, token: str) -> Any:
    """Returns the Dask array of a call's result. token: part of the names of its tasks."""
    if not x.ndim:  # one element, unchanged
        return x
    chunks = chosen(work, x.chunks)
    name, cuts = f"tenter-{token}", f"tenter-cut-{token}"
    axes = [_reads(work, axis, x.chunks, chunks) for axis in range(len(chunks))]
    tasks: dict[Any, Any] = {}
    for place in itertools.product(*(range(len(c)) for c in chunks)):
        reads, slices, ranges = zip(*(axes[axis][k] for axis, k in enumerate(place)))
        keys = [_key(x, one, cuts, tasks) for one in itertools.product(*slices)]
        alike = work.fill_value is None and len(keys) == 1 and all(r.as_they_are for r in reads)
        key = (name, *place)
        tasks[key] = keys[0] if alike else (work.part(reads, ranges).made, *keys)
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[x])
    return DaskArray(graph, name, chunks, meta=np.empty((0,) * len(chunks), work.dtype))


def _reads(
    work: Work, axis: int, chunks: Chunks, made: Chunks
) -> list[tuple[Reads, list[InputSlice], tuple[int, int]]]:
    """Returns for each chunk of the result, along one axis, what it reads and which outputs it has."""
    ends, found, lo = np.cumsum(chunks[axis], dtype=np.int64), [], 0
    for n in made[axis]:
        found.append((*work.reads(axis, lo, lo + n, ends), (lo, lo + n)))
        lo += n
    return found


def _key(x: Any, slices: tuple[InputSlice, ...], cuts: str, tasks: dict[Any, Any]) -> Any:
    """Returns the key of a slice of an input chunk: the chunk's own if the slice is the whole chunk, or that of a task
    that cuts it."""
    at = tuple([k for k, _ in slices])
    piece = tuple([s for _, s in slices])
    if all(s.stop - s.start == x.chunks[axis][k] for axis, (k, s) in enumerate(slices)):
        return (x.name, *at)
    key = (cuts, *at, *itertools.chain(*((s.start, s.stop) for s in piece)))
    if key not in tasks:
        tasks[key] = (getitem, (x.name, *at), piece)
    return key
