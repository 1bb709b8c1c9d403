"""Small arrays on the paths of large ones: results in blocks, past the caches, in many tasks on several threads."""

from __future__ import annotations

import tenter
from tenter import _native, memory


def lowered(threads: int = 2) -> None:
    _native.LARGE = 1
    memory.PAST_CACHES = 0
    tenter.set_num_threads(threads)
    tuning = getattr(_native, "tuning", None)
    if tuning is not None:
        tuning.parallel_bytes = tuning.wake_bytes = 1
        tuning.task_bytes = tuning.piece_bytes = 256
