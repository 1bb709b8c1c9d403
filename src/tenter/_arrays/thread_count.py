"""How many threads a call may use."""

import os
import sys

from tenter import _native

# More threads than any machine has cores; each one asked for is started.
MOST = 1024
chosen: int | None = None  # by tenter.set_num_threads


def _default() -> int:
    for word in os.environ.get("OMP_NUM_THREADS", "").split(",")[:1]:
        if word.strip().isdecimal() and word.isascii() and int(word) > 0:
            return min(int(word), MOST)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_DEFAULT = _default()


def thread_count() -> int:
    if chosen is not None:
        return chosen
    if _native.forked():  # data loaders fork a process for each core
        return 1
    torch = sys.modules.get("torch")
    return int(torch.get_num_threads()) if hasattr(torch, "get_num_threads") else _DEFAULT  # type: ignore[union-attr]
