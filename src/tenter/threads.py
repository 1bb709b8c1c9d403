"""How many threads the kernels use."""

from __future__ import annotations

import os
import sys

from tenter import _native

# More threads than any machine has cores; each one asked for is started.
MOST = 1024
_chosen: int | None = None


def _default() -> int:
    for word in os.environ.get("OMP_NUM_THREADS", "").split(",")[:1]:
        if word.strip().isdecimal() and word.isascii() and int(word) > 0:
            return min(int(word), MOST)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_DEFAULT = _default()


def set_num_threads(n: int | None) -> None:
    """Sets how many threads a call may use; None goes back to the default.

    The default is PyTorch's number if PyTorch has been imported, else OMP_NUM_THREADS, else the cores of this
    process; in a forked child it is one, as data loaders fork one process per core. Results do not depend on it.

    >>> set_num_threads(1)
    >>> get_num_threads()
    1
    >>> set_num_threads(None)
    """
    from tenter import check, limits

    global _chosen
    try:
        chosen = None if n is None else check.integer("n", n, "a number of threads", 1)
        if chosen is not None and chosen > MOST:
            limits.refuse(ValueError, "n", f"a number of threads up to {MOST}", str(n))
        _chosen = chosen
    except limits.Refusal as refusal:
        raise check.error(refusal, "set_num_threads", n) from None


def get_num_threads() -> int:
    """How many threads a call may use now."""
    if _chosen is not None:
        return _chosen
    if _native.forked():
        return 1
    torch = sys.modules.get("torch")
    return int(torch.get_num_threads()) if hasattr(torch, "get_num_threads") else _DEFAULT  # type: ignore[union-attr]
