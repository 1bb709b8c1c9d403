"""How many MiB the resident memory of work on lazy arrays of a gigabyte grows at its peak: lazy_peaks.py LIBRARY

LIBRARY: numpy or torch, whose arrays are passed. Prints the name of each expression and its peak.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from memory_peaks import resident

import tenter
from tenter import lazy

ROWS, COLUMNS, EACH = 1000, 250, 1000  # 1 MB stands for 1 GB


def expressions(make: Any, n_rows: int) -> dict[str, Any]:
    """Functions of a lazy array, counts, and what they were made from."""
    rng = np.random.default_rng(0)
    x = make(rng.random((n_rows, COLUMNS), np.float32))
    counts = rng.integers(0, 2 * EACH, n_rows)
    line = make(rng.random(n_rows * COLUMNS, np.float32))
    s, total = lazy.repeat_interleave(x, counts, 0), int(counts.sum())
    f = torch if isinstance(x, torch.Tensor) else np
    image = lazy.resize(make(rng.random((4, 250, 250), np.float32)), (8000, 8000), axes=(1, 2))
    square = make(rng.random((COLUMNS, 4), np.float32))
    return {
        "make": lambda: lazy.repeat_interleave(x, counts, 0),
        "elements": lambda: f.exp(s * 2 - 1),
        "constant": lambda: s + x[:1],
        "equal": lambda: s * lazy.repeat_interleave(x, counts, 0),
        "full sum": lambda: (s * s).sum(),
        "sum": lambda: s.sum(0),
        "mean of rows": lambda: s.mean(1),
        "max": lambda: s.max() if f is np else s.amax(0),
        "any": lambda: (s > 2).any(),
        "product": lambda: s @ square,
        "slice": lambda: s[total // 3 : total // 2],
        "rows": lambda: s[[5, total // 2, -1]],
        "steps": lambda: s[:: total // 10],
        "one": lambda: s[total // 2, 3],
        "segments": lambda: s.segment_sum(counts),
        "twice": lambda: lazy.repeat_interleave(s, 3, 1).sum(),
        "tile": lambda: (lazy.tile(x, (EACH, 1)) + 1).mean(),
        "image": lambda: (image * 2 + 1).sum(),
        "part of an image": lambda: image[:, 100:200, 300:400].materialize(),
        "pixel": lambda: image[0, 17, 4000],
        "image with itself": lambda: (image + image).mean(0),
        "line": lambda: lazy.resize(line, EACH * n_rows * COLUMNS)[1000:2000].materialize(),
        "look": lambda: (repr(s), s._repr_html_(), tenter.explain(s)),
        **({"arrow": lambda: lazy.from_arrow(lazy.to_arrow(s[:, 0])) if s.ndim == 1 else lazy.from_arrow(
            lazy.to_arrow(lazy.repeat_interleave(x[:, 0], counts)))} if f is np else {}),
    }  # fmt: skip


if __name__ == "__main__":
    tenter.set_num_threads(1)
    torch.set_num_threads(1)
    make = {"numpy": np.asarray, "torch": torch.from_numpy}[sys.argv[1]]
    few, many = expressions(make, 10), expressions(make, ROWS)
    gc.collect()
    gc.freeze()  # so that collecting takes no time
    for name, run in many.items():
        few[name]()
        tenter.memory.clear()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        before = resident("VmRSS")
        y = run()
        print(f"{name}:{(resident('VmHWM') - before) / 2**20:.2f}")
        del y
