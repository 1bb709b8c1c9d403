"""The graph of a result: one task for each of its chunks, and one for each chunk of the input of which that reads a
part; a chunk that is read whole is passed as it is."""

import itertools
from typing import Any

import numpy as np
from dask.array import Array as DaskArray
from dask.array.chunk import getitem
from dask.highlevelgraph import HighLevelGraph

from tenter._execution.dask.chunks import Chunks, chosen
from tenter._execution.parts.part import Reads
from tenter._execution.parts.work import Piece, Work


def lazy(x: Any, work: Work, token: str) -> Any:
    """The Dask array of a call's result. token: what names its tasks."""
    if not x.ndim:  # one element, which stays
        return x
    chunks = chosen(work, x.chunks)
    name, cuts = f"tenter-{token}", f"tenter-cut-{token}"
    axes = [_reads(work, axis, x.chunks, chunks) for axis in range(len(chunks))]
    tasks: dict[Any, Any] = {}
    for place in itertools.product(*(range(len(c)) for c in chunks)):
        reads, pieces, ranges = zip(*(axes[axis][k] for axis, k in enumerate(place)))
        keys = [_piece(x, one, cuts, tasks) for one in itertools.product(*pieces)]
        alike = work.outside is None and len(keys) == 1 and all(r.as_they_are for r in reads)
        key = (name, *place)
        tasks[key] = keys[0] if alike else (work.part(reads, ranges).made, *keys)
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[x])
    return DaskArray(graph, name, chunks, meta=np.empty((0,) * len(chunks), work.dtype))


def _reads(work: Work, axis: int, chunks: Chunks, made: Chunks) -> list[tuple[Reads, list[Piece], tuple[int, int]]]:
    """Of each chunk along an axis of the result what it reads, and its outputs."""
    ends, found, lo = np.cumsum(chunks[axis], dtype=np.int64), [], 0
    for n in made[axis]:
        found.append((*work.reads(axis, lo, lo + n, ends), (lo, lo + n)))
        lo += n
    return found


def _piece(x: Any, pieces: tuple[Piece, ...], cuts: str, tasks: dict[Any, Any]) -> Any:
    """The key of a piece of a chunk: the chunk's own, or that of a task that cuts it."""
    at = tuple([k for k, _ in pieces])
    some = tuple([s for _, s in pieces])
    if all(s.stop - s.start == x.chunks[axis][k] for axis, (k, s) in enumerate(pieces)):
        return (x.name, *at)
    key = (cuts, *at, *itertools.chain(*((s.start, s.stop) for s in some)))
    if key not in tasks:
        tasks[key] = (getitem, (x.name, *at), some)
    return key
