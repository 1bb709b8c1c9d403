"""How many threads a call may use."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tenter import _native

# More threads than any machine has cores; each one asked for is started.
MOST = 1024
chosen: int | None = None  # by tenter.set_num_threads


def _asked() -> int | None:
    """The number in OMP_NUM_THREADS, if it is one."""
    word = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if word.strip().isdecimal() and word.isascii() and int(word) > 0:
        return min(int(word), MOST)
    return None


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_ASKED = _asked()
_DEFAULT = _ASKED or _cores()


class _Here(threading.local):
    """What holds in one thread alone."""

    one = False


_here = _Here()


@contextmanager
def one_thread() -> Iterator[None]:
    """The calls of this thread use one thread each, as many of them run beside each other."""
    before, _here.one = _here.one, True
    try:
        yield
    finally:
        _here.one = before


def thread_count() -> int:
    if _here.one:
        return 1
    if chosen is not None:
        return chosen
    if _native.forked():  # data loaders fork a process for each core
        return 1
    torch = sys.modules.get("torch")
    return int(torch.get_num_threads()) if hasattr(torch, "get_num_threads") else _DEFAULT  # type: ignore[union-attr]


def source() -> str:
    """Who chose the number of threads, in the order of `thread_count`."""
    if _here.one:
        return "one, as many calls run at once"
    if chosen is not None:
        return "tenter.set_num_threads"
    if _native.forked():
        return "one in a forked child"
    if hasattr(sys.modules.get("torch"), "get_num_threads"):
        return "PyTorch's"
    return "OMP_NUM_THREADS" if _ASKED else "the cores of this process"
