"""Small arrays on the paths of large ones: results in blocks, past the caches, in many tasks on several threads."""

from __future__ import annotations

import tenter
from tenter import _native


def lowered(threads: int = 2) -> None:
    tenter.set_num_threads(threads)
    tuning = _native.tuning
    tuning.large_bytes, tuning.small_bytes = 1, 0
    tuning.chunk_bytes = 1 << 10
    tuning.parallel_bytes = tuning.stream_bytes = 0
    tuning.task_bytes = tuning.staging_bytes = tuning.plane_bytes = 256
    tuning.tile_bytes = tuning.row_chunk_bytes = tuning.cached_planes_bytes = 1024
    tuning.shared_counts = 0
    tuning.runs_chunk = tuning.column_step = tuning.row_width = tuning.row_block = 64
