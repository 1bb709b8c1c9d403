"""Memory of large results, kept and used again: fresh pages cost several times what writing them does.

A result of a mebibyte or more lies in a block of huge pages. When the last array, tensor or view that looks at a
block is gone, the block is kept for a later result, up to a limit; the operating system may take what is kept whenever
memory gets scarce. See docs/memory.md.
"""

from __future__ import annotations

from typing import NamedTuple

from tenter import _native, limits

DEFAULT = min(1 << 30, limits.machine_memory() // 16)


class Stats(NamedTuple):
    """Bytes, and numbers of blocks: kept idle (limit: at most), in use, and how often one was used again or was new."""

    limit: int
    idle: int
    idle_blocks: int
    in_use: int
    blocks_in_use: int
    reused: int
    fresh: int


def limit(n_bytes: int | None = None) -> int:
    """Sets how many idle bytes are kept for later results, and returns it; without an argument only returns it.

    At first 1 GiB, or a sixteenth of the machine's (or container's) memory where that is less. With 0 nothing is kept,
    and results lie in ordinary memory of NumPy and PyTorch, as they always do in forked children.

    Raises TypeError for what is no integer, ValueError for a negative one or one past int64.

    >>> before = limit()
    >>> limit(256 << 20)
    268435456
    >>> limit(before) == before
    True
    """
    from tenter import check  # late: results of every kind come by here

    if n_bytes is None:
        return stats().limit
    try:
        _native.memory_limit(check.integer("n_bytes", n_bytes, "a number of bytes", 0))
    except limits.Refusal as refusal:
        raise check.error(refusal, "memory.limit", n_bytes) from None
    return stats().limit


def clear() -> None:
    """Gives all idle memory back to the operating system; results that somebody holds stay as they are.

    >>> clear()
    >>> stats().idle
    0
    """
    _native.memory_clear()


def stats() -> Stats:
    """What is kept and in use now, and how often since the process began a block was used again or was new.

    Blocks are taken for results, and for what lies between two passes over one.

    >>> stats().limit == limit()
    True
    """
    return Stats(*_native.memory_stats())


def block(n_bytes: int) -> _native.Block | None:
    """Memory for a result of so many bytes; None where the array library's own will do."""
    if n_bytes < _native.LARGE or not _native.recycles():
        return None
    try:
        return _native.Block(n_bytes)
    except MemoryError:
        raise MemoryError(f"result: no memory for {n_bytes} bytes") from None


def past_caches(held: _native.Block, n_bytes: int) -> bool:
    """Should a result be written past the caches? Not if its pages are fresh: the system has just had them in cache."""
    return n_bytes >= _native.tuning.stream_bytes and held.used


_native.memory_limit(DEFAULT)
