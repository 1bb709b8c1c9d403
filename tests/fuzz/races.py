"""Counts that another thread changes while a call reads them: any result will do, and nothing outside of it is touched."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tenter

from .call import Call, Named
from .draw import Draw
from .oracle import Wrong

ERRORS = (TypeError, ValueError, IndexError, RuntimeError, MemoryError)


def flipped(call: Callable[[], Any], counts: Any, values: tuple[int, ...], times: int) -> int:
    """call, over and over, while a thread makes all counts one of the values, then another."""
    over = threading.Event()

    def flip() -> None:
        while not over.is_set():
            for value in values:
                counts[:] = value
                counts[len(counts) // 3 :] = values[0]

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    thread = threading.Thread(target=flip, daemon=True)
    thread.start()
    served = 0
    try:
        for _ in range(times):
            try:
                call()
                served += 1
            except ERRORS as error:
                if ": expected" not in str(error):
                    raise Wrong(f"raised a bare {type(error).__name__}", str(error)) from error
    finally:
        over.set()
        thread.join()
        sys.setswitchinterval(usual)
    return served


def changed(r: Draw) -> Call:
    n = r.pick((1 << 15, 40000, 70000, 300))
    library = r.pick(("numpy", "torch"))
    dtype = r.pick(("int64", "int64", "int32", "int16"))
    values = r.pick(((0, 12), (1, 9), (3, 60), (1, 7, -1)))
    rows, gradient = r.chance(0.7), library == "torch" and r.chance(0.3)
    shape = (n, r.pick((1, 2, 5))) if rows else (n,)
    if library == "numpy":
        x, counts = np.ones(shape, np.float32), np.ones(n, dtype)
        recipes = f"np.ones({shape}, np.float32)", f"np.ones({n}, '{dtype}')"
    else:
        x, counts = torch.ones(shape), torch.ones(n, dtype=getattr(torch, dtype))
        recipes = f"torch.ones({shape})", f"torch.ones({n}, dtype=torch.{dtype})"
    made = "tenter.repeat_interleave(x, counts, 0)"
    if gradient:
        made = f"{made.replace('(x', '(x.requires_grad_()')}.sum().backward()"
    source = f"tenter.set_num_threads({r.pick((2, 4))})\ny = flipped(lambda: {made}, counts, {values}, {r.pick((3, 8))})"
    names = {
        "x": Named("x", x, recipes[0]), "counts": Named("counts", counts, recipes[1]),
        "flipped": Named("flipped", flipped, "__import__('tests.fuzz.races').fuzz.races.flipped"),
    }  # fmt: skip
    return Call("", source, names, _anything, repeats=False)


def _anything(y: Any) -> None:
    tenter.set_num_threads(None)


KINDS: dict[str, tuple[Any, float]] = {"counts that change": (changed, 0.15)}
