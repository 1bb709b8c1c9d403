"""Allocations of a table of calls refused, one after the other: each call gives a MemoryError or its right result,
leaves `out` as it was, holds no memory afterwards, and the next call is right.

allocations.py FRONTEND LIBRARY: FRONTEND is `numpy` or `torch`, whose calls are made; LIBRARY is `python`, or parts of the
names of libraries whose allocations the preloaded failing_malloc refuses. TENTER_CALLS: names of those that are made. Prints
how many allocations each call makes, and how many of the refusals were a MemoryError.
"""

from __future__ import annotations

import ctypes
import gc
import itertools
import os
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from small import lowered

import tenter
from tenter import _native, memory
from tenter._plans import cache, specializations
from tenter._specs import axis_maps
from tenter.maps import Copy, Gather, Window

REFUSALS = 60  # over which memory must not grow, at least once in three times
x = (np.arange(9 * 7 * 5) % 251).reshape(1, 9, 7, 5).astype(np.float32)
rows = np.arange(40 * 30, dtype=np.float32).reshape(40, 30)
counts = np.arange(40) % 4
pixels = np.arange(12 * 10 * 4).reshape(12, 10, 4) % 256


def numpy_calls() -> dict[str, Callable[[], Any]]:
    window = lambda: Window(9, 4, [0, 2, 3, 7], [0, 3, 5, 9, 11], np.arange(1.0, 12.0))
    gather = lambda: Gather(9, 3, [0, 2, 3, 5], [8, 0, 4, 1, 5], np.arange(1.0, 6.0))
    return {
        "counts of rows": lambda: tenter.repeat_interleave(rows, counts, 0),
        "counts of scalars": lambda: tenter.repeat_interleave(rows[:, 0].copy(), counts),
        "counts of many scalars": lambda: tenter.repeat_interleave(rows.reshape(-1), np.tile(counts, 30)),
        "repeat": lambda: tenter.repeat(rows, 2, 3),
        "tile of strided": lambda: tenter.tile(rows[:, ::2], (2, 3)),
        "linear": lambda: tenter.interpolate(x[0], 17, mode="linear"),
        "bilinear": lambda: tenter.interpolate(x, (11, 13), mode="bilinear"),
        "bicubic, smaller": lambda: tenter.interpolate(x, (3, 4), mode="bicubic", antialias=True),
        "trilinear": lambda: tenter.interpolate(x[None], (13, 9, 8), mode="trilinear"),
        "nearest": lambda: tenter.interpolate(x, (11, 13), mode="nearest"),
        "resize linear": lambda: tenter.resize(rows, (53, 31), mode="linear"),
        "resize cubic, wrapped": lambda: tenter.resize(rows, (53, 11), mode="cubic", edge="wrap"),
        "resize lanczos, reflected": lambda: tenter.resize(rows, (17, 61), mode="lanczos3", edge="reflect"),
        "resize, constant edge": lambda: tenter.resize(rows, (53, 31), mode="cubic", edge="constant", value=3.0),
        "resize of bytes as Pillow": lambda: tenter.resize(rows.astype(np.uint8), (17, 11), mode="cubic", like="pillow"),
        "picture of bytes with alpha": lambda: tenter.image.resize(pixels.astype(np.uint8), (9, 7), alpha=True),
        "picture of 16 bits with alpha": lambda: tenter.image.resize(pixels.astype(np.uint16), (9, 7), alpha=True),
        "a map": lambda: window().apply(x, 1, out=into(4)),
        "its transpose": lambda: window().T.apply(x[:, :4], 1, out=into(9)),
        "a map of any inputs": lambda: gather().apply(x, 1, out=into(3)),
        "a map of copies": lambda: Copy.repeats([2, 0, 1] * 3).apply(x, 1, out=into(9)),
    }  # fmt: skip


def torch_calls() -> dict[str, Callable[[], Any]]:
    import torch

    t, leaf = torch.from_numpy(x), torch.from_numpy(rows).requires_grad_()

    def gradient(f: Callable[[Any], Any]) -> Callable[[], Any]:
        return lambda: torch.autograd.grad((f(leaf) ** 2).sum(), leaf)[0]

    return {
        "bilinear of a tensor": lambda: tenter.interpolate(t, (11, 13), mode="bilinear"),
        "channels last": lambda: tenter.interpolate(t.to(memory_format=torch.channels_last), (3, 13), mode="bicubic"),
        "counts": lambda: tenter.repeat_interleave(leaf.detach(), torch.from_numpy(counts), 0),
        "counts of scalars": lambda: tenter.repeat_interleave(
            leaf.detach().reshape(-1), torch.from_numpy(np.tile(counts, 30)), 0
        ),
        "gradient of counts": gradient(lambda y: tenter.repeat_interleave(y, torch.from_numpy(counts), 0)),
        "gradient of repeat": gradient(lambda y: tenter.repeat(y, 2, 3)),
        "gradient of bilinear": gradient(lambda y: tenter.interpolate(y[None, None], (53, 31), mode="bilinear")),
        "gradient of resize": gradient(lambda y: tenter.resize(y, (17, 61), mode="cubic", edge="wrap")),
    }


outs: list[np.ndarray[Any, Any]] = []


def into(n: int) -> np.ndarray[Any, Any]:
    """Memory for a result, which is looked at if the call fails."""
    outs[:] = [np.full((1, n, 7, 5), -7, np.float32)]
    return outs[0]


def forget() -> None:
    """Plans and maps of earlier calls, so that the next one makes its own."""
    specializations.native.clear()
    axis_maps.cached_axis_map.cache_clear()
    forget_sizes()


def forget_sizes() -> None:
    """Plans, so that the next call is one that differs from earlier ones by sizes."""
    cache.plans.clear(), _native.testing.forget_calls()


# ---- refusing: the nth allocation, and all after it if lasting; answers whether there were so many


class Libraries:
    """Allocations that some libraries ask for."""

    def __init__(self, names: list[str]) -> None:
        self.shim = ctypes.CDLL(os.environ["LD_PRELOAD"])
        self.shim.failing_disarm.restype = self.shim.failing_held.restype = ctypes.c_long
        assert self.shim.failing_watch((ctypes.c_char_p * (len(names) + 1))(*map(str.encode, names), None)) > 0

    def refuse(self, n: int, lasting: bool) -> None:
        self.shim.failing_arm(ctypes.c_long(n), lasting)

    def allow(self) -> bool:
        return bool(self.shim.failing_disarm() > 0)

    def held(self) -> int:
        """Allocations that have not been freed."""
        held = self.shim.failing_held()
        assert held >= 0
        return int(held)


class Calls:
    """Every call that tenter's Python makes, of a function in Python or in C, as if it found no memory. Refusing the
    interpreter's own allocations (`_testcapi.set_nomemory`) tells nothing: NumPy's `__array_interface__` crashes."""

    home = os.path.dirname(tenter.__file__)

    def refuse(self, n: int, lasting: bool) -> None:
        self.seen, self.fired = 0, False

        def hook(frame: Any, event: str, _: Any) -> None:
            code = frame.f_code
            # A generator is entered again when it is thrown away, where an error has nowhere to go.
            if event in ("call", "c_call") and code.co_filename.startswith(self.home) and code.co_name != "<genexpr>":
                self.seen += 1
                if self.seen == n or (lasting and self.seen > n):
                    self.fired = True
                    raise MemoryError

        sys.setprofile(hook)

    def allow(self) -> bool:
        sys.setprofile(None)
        return self.fired

    def held(self) -> int:
        return 0


def attempt(refusing: Any, call: Callable[[], Any], n: int, lasting: bool) -> tuple[Any, MemoryError | None, Any]:
    """The result or None, the error or None, and what refusing says."""
    got = error = None
    refusing.refuse(n, lasting)
    try:
        got = call()
    except MemoryError as raised:
        error = raised
    finally:
        fired = refusing.allow()
    return got, error, fired


def bits(y: Any) -> tuple[Any, bytes]:
    y = np.asarray(y)
    return (y.shape, y.dtype), y.tobytes()


def refused_each(
    refusing: Any, call: Callable[[], Any], want: Any, before: Callable[[], None] | None, lasting: bool, most: int
) -> tuple[int, int]:
    """How many allocations the call made before it passed, and how many of them were answered by a MemoryError."""
    failed, n = 0, 0
    while n < most:
        n += 1
        outs.clear()
        if before is not None:
            before()
        got, error, fired = attempt(refusing, call, n, lasting)
        if error is None:
            assert bits(got) == want, (n, lasting, "a wrong result")
            if not fired:
                break
        else:
            failed += 1
            assert all((out == -7).all() for out in outs), (n, lasting, "out has changed")
            del error
            got = call()
            assert bits(got) == want, (n, lasting, "the next call is wrong")
        del got
    return n, failed


def examine(refusing: Any, name: str, call: Callable[[], Any]) -> int:
    """Refuses each allocation of a call. Answers how many there are at the first call."""
    want = bits(call())
    outs.clear()
    in_use = memory.stats().used_bytes
    for when, before in (("again", None), ("of a kind", forget_sizes), ("first", forget)):
        for _ in range(2):  # after which the core has the kind
            forget_sizes()
            call()
        call()
        n_last, failed_last = refused_each(refusing, call, want, before, True, 1 << 20)
        n, failed = refused_each(refusing, call, want, before, False, n_last)
        print(f"{name}|{when}|{n_last}|{failed_last}|{n}|{failed}", flush=True)
    gc.collect()
    assert memory.stats().used_bytes == in_use, (name, memory.stats().used_bytes - in_use)
    return n_last - 1


def steady(refusing: Any, name: str, call: Callable[[], Any], most: int) -> None:
    """Many refusals hold no memory: not one allocation of the libraries, and of Python's no more than its own caches and
    dicts, which grow now and then. Scratch is kept for as many tasks as once ran at a time, which threads that wait for a
    processor reach late: what a call leaves behind shows in every round."""

    def holds(n_calls: int) -> tuple[int, int]:
        for n in range(n_calls):
            forget()
            attempt(refusing, call, 1 + n % most, n % 3 == 0)
        outs.clear()
        forget()
        gc.collect()
        return refusing.held(), tracemalloc.get_traced_memory()[0]

    tracemalloc.start(1)
    rounds = [holds(REFUSALS) for _ in range(4)]
    tracemalloc.stop()
    kept, grown = (min(b[k] - a[k] for a, b in itertools.pairwise(rounds)) for k in range(2))
    assert kept <= 0, (name, f"{kept} allocations are kept")
    assert grown < 250 * REFUSALS, (name, f"{grown} bytes are kept")


if __name__ == "__main__":
    which, *libraries = sys.argv[1:]
    table = torch_calls() if which == "torch" else numpy_calls()
    if chosen := os.environ.get("TENTER_CALLS"):
        table = {name: table[name] for name in chosen.split(";")}
    lowered()
    # nanobind's table of instances grows with their number, and ends the process if there is no memory for that.
    many = [_native.WindowMap(1, 1, 1, None, None, None) for _ in range(5000)]
    del many
    refusing = Calls() if libraries == ["python"] else Libraries(libraries)
    for name, call in table.items():
        call()
        most = examine(refusing, name, call)
        if most:
            steady(refusing, name, call, most)
