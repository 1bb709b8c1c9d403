"""Memory of large results, kept and used again: fresh pages cost several times what writing them does.

A result of a mebibyte or more lies in a block of huge pages. When the last array, tensor or view of a block is gone,
the block is kept for a later result, up to a limit; the operating system may take what is kept whenever memory gets
scarce. See docs/memory.md.
"""

from typing import NamedTuple

from tenter import _native
from tenter._arrays.arguments import error, integer
from tenter._arrays.errors import Refusal
from tenter._arrays.limits import machine_memory

__all__ = ["DEFAULT", "Stats", "clear", "limit", "stats"]

DEFAULT = min(1 << 30, machine_memory() // 16)


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

    Raises TypeError for a value that is not an integer, ValueError for a negative one or one past int64.

    >>> before = limit()
    >>> limit(256 << 20)
    268435456
    >>> limit(before) == before
    True
    """
    if n_bytes is None:
        return stats().limit
    try:
        _native.memory_limit(integer("n_bytes", n_bytes, "a number of bytes", 0))
    except Refusal as refusal:
        raise error(refusal, "memory.limit", n_bytes) from None
    return stats().limit


def clear() -> None:
    """Gives all idle memory back to the operating system; results in use stay as they are.

    >>> clear()
    >>> stats().idle
    0
    """
    _native.memory_clear()


def stats() -> Stats:
    """What is kept and in use now, and how often since the process began a block was used again or was new.

    Blocks are taken for results, and for temporaries between two passes over one.

    >>> stats().limit == limit()
    True
    """
    return Stats(*_native.memory_stats())


_native.memory_limit(DEFAULT)
