"""The buffer pool of large results: fresh pages cost several times what writing them does. Provisional: it
may change before 1.0.

A result of 256 KiB or more uses a block of the pool. When the last array, tensor or view of a block is gone, the pool
keeps the block for a later result, up to a limit. The operating system may take idle blocks when memory gets scarce.
See docs/memory.md.
"""

from typing import NamedTuple

from tenter import _native
from tenter._arrays.arguments import error, integer
from tenter._arrays.errors import Refusal
from tenter._arrays.limits import machine_memory
from tenter._plans import cache, specializations
from tenter._specs.axis_maps import cached_axis_map

__all__ = ["Stats", "clear", "get_limit", "set_limit", "stats"]

_DEFAULT = min(1 << 30, machine_memory() // 16)


class Stats(NamedTuple):
    """What the buffer pool holds.

    Attributes
    ----------
    limit : int
        The most idle bytes that are kept.
    idle_bytes, idle_blocks : int
        What is kept for later results.
    used_bytes, used_blocks : int
        What results and temporaries use now.
    reused, fresh : int
        How often a block was reused, and how often one was allocated, since the process began.

    See Also
    --------
    stats : Makes one.

    Examples
    --------
    >>> stats().idle_bytes <= stats().limit
    True
    """

    limit: int
    idle_bytes: int
    idle_blocks: int
    used_bytes: int
    used_blocks: int
    reused: int
    fresh: int


def get_limit() -> int:
    """How many idle bytes are kept for later results.

    Returns
    -------
    int
        In bytes; at first 1 GiB, or a sixteenth of the memory of the machine or container if that is less.

    See Also
    --------
    set_limit : Changes it.

    Examples
    --------
    >>> get_limit() == stats().limit
    True
    """
    return stats().limit


def set_limit(n_bytes: int) -> None:
    """Sets how many idle bytes the buffer pool keeps for later results.

    Parameters
    ----------
    n_bytes : int
        The limit. With 0 nothing is kept, and results use ordinary memory of NumPy and PyTorch, as they do in forked
        children.

    Raises
    ------
    TypeError
        If n_bytes is not an int.
    ValueError
        If n_bytes is negative or above 2**63 - 1.

    See Also
    --------
    get_limit : The current limit.

    Examples
    --------
    >>> before = get_limit()
    >>> set_limit(256 << 20)
    >>> get_limit()
    268435456
    >>> set_limit(before)
    """
    try:
        _native.Block.limit(integer("n_bytes", n_bytes, "a number of bytes", 0))
    except Refusal as refusal:
        raise error(refusal, "memory.set_limit", n_bytes) from None


def clear() -> None:
    """Gives all idle memory back to the operating system; results in use stay as they are.

    Plans and maps that later calls would use again are dropped too: the next calls plan anew.

    See Also
    --------
    set_limit : Keeps less from now on.

    Examples
    --------
    >>> clear()
    >>> stats().idle_bytes
    0
    """
    cache.clear()
    specializations.native.clear()
    cached_axis_map.cache_clear()
    _native.Block.clear()


def stats() -> Stats:
    """What is kept and used now, and how often a block was reused or allocated since the process began.

    Blocks are used for results, and for temporaries between two passes over one.

    Returns
    -------
    Stats

    See Also
    --------
    Stats : Its fields.

    Examples
    --------
    >>> stats().limit == get_limit()
    True
    """
    return Stats(*_native.Block.stats())


_native.Block.limit(_DEFAULT)


def __dir__() -> list[str]:
    return __all__
