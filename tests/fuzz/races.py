"""Counts that change while a call reads them: any result will do, and nothing outside of it is touched."""

from __future__ import annotations

import mmap
import os
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tenter

from .call import Call, Named
from .draw import Draw
from .oracle import Wrong

ERRORS = (TypeError, ValueError, IndexError, RuntimeError)


def shared(n: int, dtype: str) -> np.ndarray:
    """Ones, in memory that a forked child shares."""
    counts = np.frombuffer(mmap.mmap(-1, n * np.dtype(dtype).itemsize), dtype)
    counts[:] = 1
    return counts


def flipped(call: Callable[[], Any], counts: Any, values: tuple[int, ...], times: int) -> int:
    """call, over and over, while a process makes one of the counts one of the values, then another: as a thread would
    that does not wait for the interpreter's lock. The other counts are values[0]."""
    parent, counts = os.getpid(), np.asarray(counts)
    counts[:] = values[0]
    at = len(counts) // 4
    child = os.fork()
    while not child:
        for value in values:
            counts[at] = value
        if os.getppid() != parent:
            os._exit(0)
    answered = 0
    try:
        for _ in range(times):
            try:
                call()
                answered += 1
            except MemoryError:
                pass
            except ERRORS as error:
                if ": expected" not in str(error):
                    raise Wrong(f"raised a bare {type(error).__name__}", str(error)) from error
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return answered


def changed(r: Draw) -> Call:
    n = r.pick((40000, 70000, 70000, 300))
    library = r.pick(("numpy", "torch"))
    dtype = r.pick(("int64", "int64", "int64", "int32"))
    # What is far too large is refused where it is seen, and far outside of the result where it was not.
    values = r.pick(((3, 3, 3, 10**11), (3, 3, 3, -(10**11)), (3, 3, 10**11, 3, -(10**11)), (3, 0, 12)))
    if dtype == "int32":
        values = r.pick(((3, 3, 3, -(2**31)), (3, 0, 12)))
    rows, gradient = r.chance(0.7), library == "torch" and r.chance(0.3)
    shape = (n, r.pick((1, 2))) if rows else (n,)
    x, counts = np.ones(shape, np.float32), shared(n, dtype)
    recipes = f"np.ones({shape}, np.float32)", f"races.shared({n}, '{dtype}')"
    if library == "torch":
        x, counts = torch.from_numpy(x), torch.from_numpy(counts)
        recipes = f"torch.from_numpy({recipes[0]})", f"torch.from_numpy({recipes[1]})"
    made = "tenter.repeat_interleave(x, counts, 0)"
    if gradient:
        made = f"{made.replace('(x', '(x.requires_grad_()')}.sum().backward()"
    source = (
        f"tenter.set_num_threads({r.pick((2, 4))})\ny = flipped(lambda: {made}, counts, {values}, {r.pick((20, 60))})"
    )
    names = {
        "x": Named("x", x, recipes[0]), "counts": Named("counts", counts, recipes[1]),
        "flipped": Named("flipped", flipped, "races.flipped"),
    }  # fmt: skip
    return Call("", source, names, _anything, repeats=False)


def _anything(y: Any) -> None:
    tenter.set_num_threads(None)


KINDS: dict[str, tuple[Any, float]] = {"counts that change": (changed, 0.15)}
