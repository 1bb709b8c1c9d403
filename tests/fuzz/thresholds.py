"""A test-only switch: thresholds are lowered at random, so that small arrays take the paths of large ones."""

from __future__ import annotations

from typing import Any

import tenter
from tenter import _native, memory
from tenter._execution import chunks, into, missing
from tenter._plans import cache

from . import caches
from .draw import Draw

# Answers to what speed decides (native/kernels/choices.hpp): one of them is forced.
QUESTIONS = tuple(1 << k for k, _ in enumerate(_native.WORDS.get("choice", "?")))
# Attributes of `_native.tuning`, and small values for them.
NATIVE: dict[str, tuple[int, ...]] = {
    "parallel_bytes": (1, 256), "task_bytes": (64, 4096), "staging_bytes": (8, 64, 256, 1024),
    "copied_block_bytes": (1, 64, 1024), "runs_chunk": (1, 3, 16), "tile_bytes": (64, 1024), "column_step": (16, 64),
    "row_width": (16, 64), "row_block": (16, 256), "row_chunk_bytes": (64, 1024), "plane_bytes": (64, 1024),
    "cached_planes_bytes": (1, 1024), "index_outputs": (1, 20, 100), "tile_inputs": (16, 64), "widened_values": (1, 40), "stream_bytes": (1, 256), "long_axis": (0, 20),
    "signal_axis": (0, 20), "shared_counts": (0, 20), "tap_outputs": (1, 16), "tap_block": (1, 64), "many_scalars": (0, 4),
    "byte_tile_bytes": (64, 1024), "byte_chunk_bytes": (64, 4096),
    "small_bytes": (0, 256), "large_bytes": (1, 64), "chunk_bytes": (256, 4096), "seldom_calls": (0, 1, 1000), "scratch_bytes": (0, 256), "idle_scratch_bytes": (0, 1 << 14),
    "planned_bytes": (64, 4096), "table_bytes": (64, 4096), "planned_taps": (1, 8), "weight_sum_outputs": (0, 20),
    "taken": QUESTIONS, "left": QUESTIONS,
}  # fmt: skip
PYTHON: tuple[tuple[Any, str, tuple[int, ...]], ...] = (
    (chunks, "BYTES", (256, 4096)),
    (missing, "BYTES", (256, 4096)),
    (into, "BYTES", (256, 4096)),
    (cache, "LONGEST", (0, 8)),
    (cache, "STEPS", (0, 1)),
)
_usual = {(id(place), name): getattr(place, name) for place, name, _ in PYTHON if hasattr(place, name)}


def usual() -> None:
    """All as in use."""
    for place, name, _ in PYTHON:
        if hasattr(place, name):
            setattr(place, name, _usual[id(place), name])
    tuning = getattr(_native, "tuning", None)
    if tuning is not None:
        tuning.reset()
    _native.testing.force_level("")
    tenter.set_num_threads(None)


def lower(r: Draw, none: bool = False) -> None:
    """Some of them, or none. Nothing is left of earlier calls: a call follows from its seed alone."""
    usual()
    caches.forget()
    tenter.set_num_threads(r.pick((1, 2, 3)))
    _native.testing.force_level(r.pick(_native.testing.levels()))
    if none or r.chance(0.2):
        return
    p = r.pick((0.3, 0.8))
    blocks = r.chance(0.6)
    for place, name, small in PYTHON:
        if hasattr(place, name) and r.chance(p):
            setattr(place, name, r.pick(small))
    tuning = getattr(_native, "tuning", None)
    for name, values in NATIVE.items():
        value, wanted = r.pick(values), r.chance(p)
        if name in ("large_bytes", "stream_bytes"):  # results are in blocks and streamed, or neither
            wanted = blocks
        if wanted and hasattr(tuning, name):
            setattr(tuning, name, value)
    guarded = r.chance(0.5)
    if blocks and guarded and tuning is not None:
        tuning.guard_blocks = True
    if blocks:
        memory.clear()


def shown() -> str:
    """What is not as usual, in words."""
    found = [f"{tenter.get_num_threads()} threads", f"level {_native.level()}"]
    for place, name, _ in PYTHON:
        if hasattr(place, name) and getattr(place, name) != _usual[id(place), name]:
            found.append(f"{place.__name__}.{name}={getattr(place, name)}")
    tuning = getattr(_native, "tuning", None)
    found += [f"tuning.{n}={getattr(tuning, n)}" for n in (*NATIVE, "guard_blocks") if tuning is not None]
    return ", ".join(found)
