"""How much memory there is, and how much this process takes."""

from __future__ import annotations

import ctypes
import math
import os
import re

from tenter._arrays import limits
from tenter.cli.refusal import Refusal

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "k": 2**10, "m": 2**20, "g": 2**30,
         "t": 2**40, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}  # fmt: skip
#: For the interpreter's own objects while blocks are made, and for what allocators keep: at least, and at most. In
#: between, as many times the elements of a job as there may be copies of them.
LEAST_SLACK, SLACK, COPIES = 16 << 20, 96 << 20, 4
#: How many times what is planned memory must have room for, so that freed memory may be kept; and bytes that are.
HOLES, KEPT = 2, 1 << 28
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # of glibc's mallopt


def parse_limit(text: str | None) -> int:
    """`--memory-limit`; half of the machine's memory by itself."""
    if text is None:
        return limits.machine_memory() // 2
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    unit = UNITS.get(found[2].lower()) if found else None
    if found is None or unit is None:
        raise Refusal(f"--memory-limit: expected a number of bytes such as 2GiB or 500MB, got {text!r}")
    n = math.floor(float(found[1]) * unit)
    if n > limits.machine_memory():
        raise Refusal(f"--memory-limit: {in_words(n)} is more than the {in_words(limits.machine_memory())} there is")
    return n


def room(limit: int, job: int) -> int:
    """The bytes of a limit that remain for blocks, after what the process already uses. job: bytes of all elements that
    are read and written."""
    slack = min(SLACK, LEAST_SLACK + COPIES * job)
    left = limit - resident() - slack
    if left <= 0:
        itself, most = in_words(resident()), in_words(slack)
        raise Refusal(
            f"--memory-limit: {in_words(limit)} is too little: the program takes {itself}, and up to {most} more"
        )
    return left


def resident() -> int:
    """Bytes of memory that this process takes now; where the system does not say, the most that it took."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return peak()


def peak() -> int:
    """Bytes of memory that this process took at most."""
    import resource
    import sys

    # The system's own count: that of getrusage begins with what the process held that started this one.
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        pass
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10


def choose_freed(planned: int, room: int) -> None:
    """Have glibc keep freed memory where a plan leaves room for holes in it: new pages take as long as decoding what
    goes there. Otherwise have it give memory of a mebibyte and more back."""
    size = 1 << 20 if planned > room // HOLES else KEPT
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return  # another C library
    for option, value in ((_MMAP_THRESHOLD, size), (_TRIM_THRESHOLD, size), (_ARENA_MAX, 4)):
        mallopt(option, value)


def in_words(n: float) -> str:
    """Bytes in binary units."""
    power = 0
    while n >= 1000 and power < 4:
        n, power = n / 1024, power + 1
    unit = ("B", "KiB", "MiB", "GiB", "TiB")[power]
    return f"{n:.0f} {unit}" if power == 0 or n >= 100 else f"{n:.3g} {unit}"
