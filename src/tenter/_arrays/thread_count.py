"""How many threads a call may use."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tenter import _native

# No machine has more cores. Each thread that is asked for is started.
MOST = 1024
chosen: int | None = None  # set by tenter.set_num_threads


def _asked() -> int | None:
    """Returns the number in OMP_NUM_THREADS, or None if it is not one."""
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


_one = ContextVar("one_thread", default=False)  # threads and tasks have values of their own


@contextmanager
def one_thread() -> Iterator[None]:
    """Makes calls of this thread use one thread each, for code that runs many of them at once."""
    before = _one.set(True)
    try:
        yield
    finally:
        _one.reset(before)


def thread_count() -> int:
    if _one.get():
        return 1
    if chosen is not None:
        return chosen
    if _native.forked():  # data loaders fork one process for each core
        return 1
    torch = sys.modules.get("torch")
    return int(torch.get_num_threads()) if hasattr(torch, "get_num_threads") else _DEFAULT  # type: ignore[union-attr]


def source() -> str:
    """Says who chose the number of threads, in the order that `thread_count` uses."""
    if _one.get():
        return "one, as many calls run at once"
    if chosen is not None:
        return "tenter.set_num_threads"
    if _native.forked():
        return "one in a forked child"
    if hasattr(sys.modules.get("torch"), "get_num_threads"):
        return "PyTorch's"
    return "OMP_NUM_THREADS" if _ASKED else "the cores of this process"
