"""Calls in a process of their own. Where it is, the parent reads in shared memory; findings go through a pipe.

`python -m tests.fuzz.worker FILE BASE FIRST STEP LAST ONLY`: FILE holds the index of the current call and how many were
made; calls FIRST, FIRST + STEP, ... below LAST of the seeds from BASE on.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import mmap
import os
import resource
import sys
import time
import traceback
from pathlib import Path

import numpy as np

from . import faults, runs
from .oracle import Wrong

# Bytes of memory that calls may take: a wrong size shall be a MemoryError, not the machine's end.
MOST = 6 << 30


def main(file: str, base: int, first: int, step: int, last: int, only: str) -> None:
    if only and only not in runs.KINDS:
        sys.exit(f"--only: one of {', '.join(runs.KINDS)}")
    faulthandler.enable()
    if "asan" not in Path("/proc/self/maps").read_text():  # whose shadow counts
        resource.setrlimit(resource.RLIMIT_DATA, (MOST, MOST))
    faults.install(os.environ.get("TENTER_FUZZ_FAULT", ""))
    with open(file, "r+b") as held:
        place = np.frombuffer(mmap.mmap(held.fileno(), 16), np.int64)
    for index in range(first, last, step):
        place[0] = index
        seed = base + index
        if only and runs.kind_of(seed) != only:
            continue
        said = os.fstat(2).st_size
        began = time.monotonic()
        report = one(seed)
        if report is None and os.fstat(2).st_size > said:
            words = os.pread(2, 4000, said).decode(errors="replace")
            report = {"kind": runs.kind_of(seed), "what": "wrote to stderr", "details": words, "text": ""}
        if report is not None:
            send({"index": index, **report})
        send({"index": index, "done": runs.kind_of(seed), "s": time.monotonic() - began})
        if index // step % 256 == 0:
            gc.collect()


def one(seed: int) -> dict[str, str] | None:
    """What is wrong with the call of a seed."""
    try:
        runs.once(seed)
    except Wrong as wrong:
        call = getattr(wrong, "call", None)
        shown = {"text": call.text() if call else "", "thresholds": getattr(wrong, "thresholds", "")}
        return {"kind": call.kind if call else "?", "what": wrong.kind, "details": wrong.details, **shown}
    except Exception:  # the fuzzer's own
        return {"kind": runs.kind_of(seed), "what": "the fuzzer failed", "details": traceback.format_exc(), "text": ""}
    return None


def send(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:6]), sys.argv[6] if len(sys.argv) > 6 else "")
