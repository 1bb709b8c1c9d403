"""Into which blocks a result is cut: whole chunks of the output, as large as memory allows and no larger than helps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

from tenter._parts.boxes import Box, extents, pieces, reads, reads_along, size, temporary_bytes
from tenter._parts.work import Work
from tenter.cli.refusal import Refusal
from tenter.cli.volumes.memory import in_words
from tenter.cli.volumes.shared import along, kept_chunks
from tenter.cli.volumes.stored import Stored, Writable

#: The bytes that a block reads and writes: with fewer, calls cost more than elements; with more, progress is coarse.
LEAST_BYTES, MOST_BYTES = 4 << 20, 256 << 20
#: Blocks for each thread, so that threads end together.
BLOCKS_EACH = 4
#: At most this share of the memory limit marks finished chunks, one byte each.
CHUNKS_SHARE = 8
#: How many blocks along an axis are looked at for the longest window.
SAMPLED = 200


class Task(NamedTuple):
    """An array to make of another one."""

    source: Stored
    target: Writable
    op: Work


class Cut(NamedTuple):
    """shape: a block's shape, in elements of the result. threads: how many work at once. shared: the first axis along
    which blocks share chunks. n_bytes: that all of it takes at most."""

    shape: tuple[int, ...]
    threads: int
    shared: int
    n_bytes: int


def cut(task: Task, room: int, threads: int) -> Cut:
    """Blocks and threads within so many bytes. Refuse where one chunk of the output needs more."""
    shape_out = task.op.shape_out
    block = tuple(min(u, n) for u, n in zip(task.target.unit, shape_out))
    if (count := _count(shape_out, block)) > room // CHUNKS_SHARE:
        what = f"would have {count} chunks, more than memory is for"
        raise Refusal(f"{task.target.name}: {what}; --chunks says their shape")
    apart = len(block)
    least = bytes_of(task, block, 1, apart)
    if least > room:
        raise Refusal(
            f"--memory-limit: one block of {' x '.join(map(str, block))} of {task.target.name} needs "
            f"{in_words(least)}, {in_words(least - room)} more than there is; smaller chunks would help (--chunks)"
        )
    threads = max(1, min(threads, room // least, _count(shape_out, block)))
    may_share = task.source.chunk is not None
    shared = next((k for k in range(apart) if may_share and bytes_of(task, block, threads, k) <= room), apart)
    while (larger := _larger(task, block, room, threads, shared)) is not None:
        block = larger
    return Cut(block, threads, shared, bytes_of(task, block, threads, shared))


def bytes_of(task: Task, block: tuple[int, ...], threads: int, shared: int) -> int:
    """What threads hold at most that each make a block, and the chunks that blocks share from an axis on."""
    n_bytes = threads * _of_one(task, block)
    if task.source.chunk is None or shared == len(block):
        return n_bytes
    axes = along(task.op, task.source.chunk, block)
    chunks = threads * math.prod(axis.most for axis in axes) + kept_chunks(axes, shared)
    return n_bytes + chunks * math.prod(task.source.chunk) * task.op.dtype.itemsize


def _of_one(task: Task, block: tuple[int, ...]) -> int:
    """What a block takes: what it reads, what it writes, and temporary memory."""
    op = task.op
    box = tuple(_longest(op, axis, n) for axis, n in enumerate(block))
    read = reads(op, box)
    beside = max(task.source.reading(read), temporary_bytes(op, box), task.target.writing())
    return (size(read) + (size(box) if op.maps else 0)) * op.dtype.itemsize + beside


def boxes(shape: tuple[int, ...], block: tuple[int, ...]) -> Iterator[Box]:
    """The blocks of an array, in its order."""
    yield from itertools.product(*map(pieces, shape, block))


def _larger(task: Task, block: tuple[int, ...], room: int, threads: int, shared: int) -> tuple[int, ...] | None:
    """The block made longer along the axis where that saves most reading; None where none does or memory ends."""
    now, best = _read_for_each(task, block, shared), None
    touched = size(reads(task.op, tuple((0, n) for n in block))) + math.prod(block)
    small = touched * task.op.dtype.itemsize < LEAST_BYTES
    for axis in reversed(range(len(block))):
        n = min(2 * block[axis], task.op.shape_out[axis])
        longer = (*block[:axis], n, *block[axis + 1 :])
        if n == block[axis] or _count(task.op.shape_out, longer) < BLOCKS_EACH * threads:
            continue
        if math.prod(longer) * task.op.dtype.itemsize > MOST_BYTES or bytes_of(task, longer, threads, shared) > room:
            continue
        cost = _read_for_each(task, longer, shared)
        if best is None or cost < best[0] * 0.999:
            best = (cost, longer)
    if best is None or (best[0] > now * 0.99 and not small):
        return None
    return best[1]


def _read_for_each(task: Task, block: tuple[int, ...], shared: int) -> float:
    """Elements decoded for each element of the result, along the axes before those whose chunks blocks share."""
    found = 1.0
    for axis, (n, b, unit) in enumerate(zip(task.op.shape_out[:shared], block, task.source.chunk or task.source.unit)):
        all_ends = [reads_along(task.op, axis, at) for at in _sample(n, b)]
        decoded = sum(min(-(-hi // unit) * unit, task.op.shape[axis]) - lo // unit * unit for lo, hi in all_ends)
        found *= decoded / max(sum(hi - lo for lo, hi in _sample(n, b)), 1)
    return found


def _longest(op: Work, axis: int, b: int) -> tuple[int, int]:
    """The block along an axis that reads most."""

    def length(at: tuple[int, int]) -> int:
        lo, hi = reads_along(op, axis, at)
        return hi - lo

    return max(_sample(op.shape_out[axis], b), key=length)


def _sample(n: int, b: int) -> list[tuple[int, int]]:
    """Blocks along an axis, evenly taken where there are many."""
    count = -(-n // b)
    chosen = range(count) if count <= SAMPLED else sorted({k * (count - 1) // (SAMPLED - 1) for k in range(SAMPLED)})
    return [(k * b, min((k + 1) * b, n)) for k in chosen]


def _count(shape: tuple[int, ...], block: tuple[int, ...]) -> int:
    return math.prod(-(-n // b) for n, b in zip(shape, block))


def units(box: Box, unit: tuple[int, ...]) -> Box:
    """A block counted in units."""
    return tuple((lo // u, -(-hi // u)) for (lo, hi), u in zip(box, unit))


def n_bytes(box: Box, op: Work) -> int:
    return math.prod(extents(box)) * op.dtype.itemsize
