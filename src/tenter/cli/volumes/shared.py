"""Chunks that several blocks read: each is decoded once, and kept until the last of these blocks has it.

Blocks are begun in the order of the result. So a chunk's last reader is known before any block is made: along each
axis the last block that reads it. Where memory is short, chunks are shared only along the last axes, from `first` on:
blocks at another position along an earlier axis decode their chunks again.
"""

from __future__ import annotations

import heapq
import itertools
import math
from concurrent.futures import Future
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tenter._arrays.types import Array
from tenter._parts.boxes import Box, extents, pieces, reads_along
from tenter._parts.work import Work
from tenter.cli.volumes.stored import Stored

Index = tuple[int, ...]
#: The place of a block along the axes before `first`, and that of the chunk.
Key = tuple[Index, Index]


class Along(NamedTuple):
    """Along one axis. begin, end: the chunks that each block reads. last: the last block that reads each chunk."""

    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]

    @property
    def most(self) -> int:
        """Chunks that a block reads at most."""
        return int(np.max(self.end - self.begin))

    @property
    def kept(self) -> int:
        """The largest number of chunks that are kept, as a later block reads them again."""
        count, n = len(self.begin), len(self.last)
        first = np.full(n, count)
        for k in reversed(range(count)):
            first[self.begin[k] : self.end[k]] = k
        again = first < self.last
        steps = np.bincount(first[again], minlength=count + 1) - np.bincount(self.last[again], minlength=count + 1)
        return int(np.max(np.cumsum(steps)))


def along(op: Work, chunk: Index, block: Index) -> list[Along]:
    """Which chunks blocks of that shape read, along each axis."""
    return [_along(op, axis, c, b) for axis, (c, b) in enumerate(zip(chunk, block))]


def _along(op: Work, axis: int, chunk: int, block: int) -> Along:
    read = [reads_along(op, axis, at) for at in pieces(op.shape_out[axis], block)]
    begin, end = (np.array(each, np.int64) for each in zip(*read))
    begin, end = begin // chunk, -(-end // chunk)
    last = np.zeros(-(-op.shape[axis] // chunk), np.int64)
    for k, (lo, hi) in enumerate(zip(begin.tolist(), end.tolist())):
        last[lo:hi] = k
    return Along(begin, end, last)


def kept_chunks(axes: list[Along], first: int) -> int:
    """Chunks that are kept at most for blocks that are not begun."""
    count = 0
    for k in range(first, len(axes)):
        before, after = axes[:k], axes[k + 1 :]
        count += math.prod(a.most for a in before) * axes[k].kept * math.prod(len(a.last) + a.kept for a in after)
    return count


class Read(NamedTuple):
    """Elements, and the files that hold them as they were before these were read."""

    pixels: Array
    files: set[str]


class _Claimed(NamedTuple):
    """A chunk that a block reads. decodes: whether this block decodes it."""

    at: Index
    read: Future[Read]
    decodes: bool


class Claim(NamedTuple):
    """What a block reads. chunks: None where no other block shares one."""

    box: Box
    chunks: list[_Claimed] | None


class SharedChunks:
    """The chunks of a source, for blocks of one shape. first: the first axis along which blocks share."""

    def __init__(self, source: Stored, op: Work, block: Index, first: int) -> None:
        self._source, self._op, self._block, self._first = source, op, block, first
        self._axes = along(op, source.chunk, block) if source.chunk is not None and first < len(block) else None
        self._kept: dict[Key, Future[Read]] = {}
        self._ends: list[tuple[Index, Key]] = []

    def claim(self, block: Box, read: Box) -> Claim:
        """What a block reads, as it is begun. Blocks are begun one after the other, in the order of the result."""
        if self._axes is None:
            return Claim(read, None)
        number = tuple(lo // b for (lo, _), b in zip(block, self._block))
        ranges = [range(a.begin[k], a.end[k]) for a, k in zip(self._axes, number)]
        chunks, before = [], number[: self._first]
        for at in itertools.product(*ranges):
            key = (before, at)
            found = self._kept.get(key)
            decodes = found is None
            if found is None:
                found = Future()
                last = before + tuple(int(a.last[k]) for a, k in zip(self._axes[self._first :], at[self._first :]))
                if last > number:
                    self._kept[key] = found
                    heapq.heappush(self._ends, (last, key))
            chunks.append(_Claimed(at, found, decodes))
        is_alone = all(c.decodes and (before, c.at) not in self._kept for c in chunks)
        while self._ends and self._ends[0][0] <= number:
            del self._kept[heapq.heappop(self._ends)[1]]
        return Claim(read, None if is_alone else chunks)

    def read(self, claim: Claim) -> Read:
        """What a claim names. It first decodes its own chunks, so blocks that wait for each other both go on."""
        if claim.chunks is None:
            return self._read(claim.box)
        x: Array = np.empty(extents(claim.box), self._op.dtype)
        files: set[str] = set()
        left = sorted(claim.chunks, key=lambda chunk: not chunk.decodes)[::-1]
        claim.chunks.clear()
        try:
            while left:
                files |= self._put(x, claim.box, left[-1])
                left.pop()  # so that memory of its pixels is free where no other block needs it
        except BaseException as error:
            for chunk in left:
                if chunk.decodes and not chunk.read.done():
                    chunk.read.set_exception(error)
            raise
        return Read(x, files if x.size else set())

    def _read(self, box: Box) -> Read:
        files = self._source.files(box)  # before: a change meanwhile must be seen later
        return Read(self._source.read(box), files)

    def _put(self, x: Array, box: Box, chunk: _Claimed) -> set[str]:
        assert self._source.chunk is not None
        whole = tuple((k * c, min((k + 1) * c, n)) for k, c, n in zip(chunk.at, self._source.chunk, self._op.shape))
        if chunk.decodes:
            chunk.read.set_result(self._read(whole))
        both = [(max(lo, a), min(hi, b)) for (lo, hi), (a, b) in zip(box, whole)]
        inside = tuple(slice(lo - a, hi - a) for (lo, hi), (a, _) in zip(both, whole))
        found = chunk.read.result()
        x[tuple(slice(lo - a, hi - a) for (lo, hi), (a, _) in zip(both, box))] = found.pixels[inside]
        return found.files
