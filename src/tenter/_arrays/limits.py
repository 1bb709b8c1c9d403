"""Limits of what arguments may ask for: int64 addresses, and the machine's memory."""

import math
import operator
import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

from tenter._arrays.errors import refuse

INT64_MAX = 2**63 - 1
TABLES = "the tables of the axis maps"


def symbolic(size: object) -> bool:
    """True for a size that PyTorch's compiler knows by a symbol."""
    return type(size).__name__ == "SymInt"


def without_value(number: Any) -> bool:
    """True for a float that PyTorch's compiler knows by a symbol alone, as it is read from a tensor."""
    return type(number).__name__ == "SymFloat" and not number.node.has_hint()


def number(size: int) -> str:
    """Returns a size for a message. A symbolic size is shown by its current value."""
    return f"{operator.index(size)}"


def addressable(name: str, shape: Sequence[int], itemsize: int) -> None:
    """Refuses shapes with more bytes than int64 can count. Lengths of 0 are ignored, as in NumPy and PyTorch. Shapes
    with symbols pass: the kernels know their values."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.compiler.is_dynamo_compiling():  # it shows symbols as ints
        from tenter._arrays import torch_private

        if not torch_private.FOLLOWED:
            return
        too_large = torch_private.statically(math.prod(shape) * itemsize > INT64_MAX)
    elif any(type(n).__name__ in ("SymInt", "Tensor") for n in shape):  # a tensor in torch.jit.trace
        too_large = False
    else:
        too_large = math.prod([n for n in shape if n]) * itemsize > INT64_MAX
    if too_large:
        refuse(MemoryError, name, "fewer than 2**63 bytes", f"a result of shape {tuple(shape)}")


def memory(shape: Sequence[int], itemsize: int, what: str = "result") -> None:
    """Refuses what the machine cannot hold. An allocator may promise such memory, and the process would be killed
    later."""
    addressable(what, shape, itemsize)
    needed = math.prod(shape) * itemsize
    if needed > (1 << 28) and needed > machine_memory():
        got = f"shape {tuple(shape)} of {itemsize}-byte elements, {needed / 2**30:.6g} GiB"
        refuse(MemoryError, what, f"at most the machine's {machine_memory() / 2**30:.3g} GiB", got)


@cache
def machine_memory() -> int:
    """Returns the bytes of physical memory, or the container's limit if that is less."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return INT64_MAX
    try:
        with open("/sys/fs/cgroup/memory.max") as file:
            share = file.read().strip()
        return min(total, int(share)) if share.isdecimal() else total
    except OSError:
        return total
