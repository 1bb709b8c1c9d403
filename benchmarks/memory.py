"""Peak memory: how far resident memory rises during one call, each in a fresh process. Linux only.

`python -m benchmarks.memory OPERATION LIBRARY THREADS` is that process.
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

import tenter
from benchmarks.check import compare
from benchmarks.machine import Settings, lines
from benchmarks.measure import wide
from benchmarks.peers import set_threads
from benchmarks.results import Footprint
from benchmarks.table import lined
from benchmarks.workloads import CLOSE, Case, Row, interleave, resize, whole

LIBRARIES = ("tenter", "PyTorch")
RESET = Path("/proc/self/clear_refs")  # a 5 written there sets the peak to what is resident now
MIB = 2**20
CUT = 16  # what is called first, to load code and start threads, has dims so many times smaller


def rows(cut: int) -> dict[str, Row]:
    """cut: what dims are divided by, 1 for what is measured."""
    n, side, narrow = 1_000_000 // cut, 128 // cut, (1080 // cut, 1920 // cut)
    image, twice, square = (8, 64, side, side), (2 * side, 2 * side), (224 // cut, 224 // cut)
    return {
        "repeat_interleave, counts 0..8, float32": interleave("", (4 * n,), 0, None),
        "repeat_interleave, counts 0..8, uint8": interleave("", (16 * n,), 0, None, torch.uint8),
        "repeat_interleave, rows of 64, counts 0..8, float32": interleave("", (n // 10, 64), 0, None),
        "repeat_interleave, grouped-query K/V, 4 each, bfloat16":
            interleave("", (4, 8, 4096 // cut, 128), 1, 4, torch.bfloat16),
        "repeat by (4, 4), float32": whole("repeat", (8 * side, 1024), (4, 4)),
        "repeat by (4, 4), uint8": whole("repeat", (32 * side, 1024), (4, 4), torch.uint8),
        "nearest to twice, float32": resize("nearest", image, twice),
        "bilinear to twice, float32": resize("bilinear", image, twice),
        "bilinear to twice, float32, channels-last": resize("bilinear", image, twice, channels_last=True),
        "bicubic to twice, float32": resize("bicubic", image, twice),
        "bilinear to twice, bfloat16": resize("bilinear", image, twice, torch.bfloat16),
        "trilinear to twice, float32":
            resize("trilinear", (2, 32, side // 2, side // 2, side // 2), (side, side, side)),
        "area 1080 x 1920 to 224², float32": resize("area", (8, 3, *narrow), square),
        "antialiased bilinear 1080 x 1920 to 224², float32":
            resize("bilinear", (8, 3, *narrow), square, antialias=True),
    }  # fmt: skip


def run(settings: Settings) -> list[Footprint]:
    found = []
    for name in rows(CUT) if RESET.exists() else ():
        if settings.wants("Peak memory", name):
            found.append(footprint(name, settings.threads))
            print(f"Peak memory: {', '.join(cells(found[-1]))}", flush=True)
    return found


def footprint(name: str, threads: int) -> Footprint:
    found = Footprint(name)
    for library in LIBRARIES:
        command = [sys.executable, "-m", "benchmarks.memory", name, library, str(threads)]
        child = subprocess.run(command, capture_output=True, text=True)
        if child.returncode:
            found.failed = (child.stderr.strip() or f"ended with {child.returncode}").splitlines()[-1]
            return found
        found.output, found.extra[library] = json.loads(child.stdout)
    return found


def cells(of: Footprint) -> list[str]:
    if of.failed:
        return [of.name, f"failed ({of.failed})", *["-"] * len(LIBRARIES)]
    return [of.name, f"{of.output / MIB:.1f}", *(f"output + {of.extra[library] / MIB:.1f}" for library in LIBRARIES)]


def markdown(found: list[Footprint]) -> list[str]:
    if not found:
        return []
    head = ["Call", "output, MiB", *(f"{library}, MiB" for library in LIBRARIES)]
    return ["### Peak memory", lined(head, [cells(of) for of in found])]


def main(name: str, library: str, threads: int) -> None:
    set_threads(threads)
    small = rows(CUT)[name].make()
    for _ in range(2):
        error, right = compare(call(small, library), small.truth(wide(small.x) if small.check == CLOSE else small.x),
                               small.check)  # fmt: skip
        if not right and library == "tenter":
            raise ValueError(f"differs by {error:.3g}")
    case = rows(1)[name].make()
    release()
    RESET.write_text("5")
    before = resident("VmRSS")
    y = call(case, library)
    print(json.dumps((y.nbytes, resident("VmHWM") - before - y.nbytes)))


def call(case: Case, library: str) -> Any:
    return case.ours(case.x) if library == "tenter" else case.peers[library](case.x)


def release() -> None:
    """Gives free memory back to the system, else the call would take it from there unseen."""
    gc.collect()
    if (memory := getattr(tenter, "memory", None)) is not None:
        memory.clear()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)


def resident(field: str) -> int:
    """Bytes."""
    found = [line.split()[1] for line in lines("/proc/self/status") if line.startswith(f"{field}:")]
    return int(found[0]) * 1024


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
