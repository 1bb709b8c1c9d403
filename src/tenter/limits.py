"""What no argument may ask for: more than int64 addresses, more than the machine holds. And how anything is refused."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

INT64_MAX = 2**63 - 1


class Refusal(Exception):
    """Bad input found below a public function, which turns it into an error that shows the call.

    Made by refuse of an exception's type and message; without an __init__ of its own, as PyTorch's compiler follows it.
    """


def symbolic(size: object) -> bool:
    """Is a size known to PyTorch's compiler by a name alone?"""
    return type(size).__name__ == "SymInt"


def number(size: int) -> str:
    """A size in a message; a symbol by its value now."""
    return f"{operator.index(size)}"


def refuse(kind: type[Exception], argument: str, expected: str, got: str) -> NoReturn:
    raise Refusal(kind, f"{argument}: expected {expected}, got {got}")


def addressable(name: str, shape: Sequence[int], itemsize: int) -> None:
    """Refuses shapes of more bytes than int64 counts, sizes of zero left out as the array libraries do."""
    if math.prod([n for n in shape if n]) * itemsize > INT64_MAX:
        refuse(MemoryError, name, "fewer than 2**63 bytes", f"a result of shape {tuple(shape)}")


def memory(shape: Sequence[int], itemsize: int, what: str = "result") -> None:
    """Refuses what can't be held, before an allocator that promises more than there is takes the process down."""
    addressable(what, shape, itemsize)
    needed = math.prod(shape) * itemsize
    if needed > (1 << 28) and needed > machine_memory():
        got = f"shape {tuple(shape)} of {itemsize}-byte elements, {needed / 2**30:.6g} GiB"
        refuse(MemoryError, what, f"at most the machine's {machine_memory() / 2**30:.3g} GiB", got)


@cache
def machine_memory() -> int:
    """Bytes of physical memory, or of this container's share of it."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return INT64_MAX
    try:
        share = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        return min(total, int(share)) if share.isdecimal() else total
    except OSError:
        return total
