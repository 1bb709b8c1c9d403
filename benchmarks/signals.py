"""Signals of 10^3 to 10^8 samples, of another length on every call: resampled, and the gradients of that."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from benchmarks import signal_calls
from benchmarks.machine import cores
from benchmarks.race import Work
from benchmarks.workloads import CLOSE, EXACT

LENGTHS = (10**4, 10**5, 10**6, 10**7)
LONGEST = 10**8
CURVE = tuple(round(10 ** (k / 2)) for k in range(6, 17))
RATIOS = {"0.92": Fraction(23, 25), "1.7": Fraction(17, 10), "0.1": Fraction(1, 10), "2": Fraction(2),
          "44100 / 48000": Fraction(147, 160)}  # fmt: skip
MODES = ("linear", "nearest", "nearest-exact", "area", "cubic", "linear, antialias", "lanczos3, antialias")
MANY = ((16, 80, 1000), (2, 64, 48000))
DRAWN_FROM = (31_000, 480_000, 4_800_000)
PANELS = (("linear", "0.92"), ("linear", "2"), ("nearest", "1.7"), ("area", "0.1"), ("cubic", "0.92"),
          ("lanczos3, antialias", "44100 / 48000"))  # fmt: skip
COST, DRAWN = "Cost against length", "Output lengths drawn"
CHECKED = 2 * 10**7  # samples: of longer signals the float64 truth would take gigabytes
ALL_EXACT = 10**6  # samples from which the ratio is met exactly; shorter signals have too few such lengths to be new
SHARE = 0.4
CACHE = 1 << 25  # bytes that may lie in one


def thread_counts() -> list[int]:
    return sorted({1, cores()})


def works(threads: int, cut: int) -> Iterator[Work]:
    """cut: how many times shorter than usual the longest signals are. One thread of several: a part."""
    few = threads == 1 < cores()
    for n in LENGTHS:
        if n * 10 * cut <= LONGEST and (not few or n in (10**5, 10**6)):
            for mode in MODES:
                for name, ratio in RATIOS.items():
                    if mode != "linear, antialias" or ratio < 1:
                        yield from both(f"One channel, {n:,} samples", mode, name, (1, 1, n))
    if few:
        return
    for shape in MANY:
        if shape[-1] * 1000 * cut <= LONGEST:
            for mode in MODES[:5]:
                for name in ("0.92", "2"):
                    yield from both(f"Many channels, {shape}", mode, name, shape)
    for n in DRAWN_FROM:
        if n * 10 * cut <= LONGEST:
            for mode in MODES[:4]:
                yield anew(mode, n)
    for mode, name in PANELS:
        for n in CURVE:
            if n * cut <= LONGEST:
                panel = work(COST, mode, name, (1, 1, n), gradients=False)
                yield panel._replace(name=f"{mode} to {name}, {n:,}", at=float(n))


def both(group: str, mode: str, name: str, shape: tuple[int, ...]) -> Iterator[Work]:
    yield work(group, mode, name, shape, gradients=False)
    yield work(f"{group}, gradients", mode, name, shape, gradients=True)


def work(group: str, mode: str, name: str, shape: tuple[int, ...], gradients: bool) -> Work:
    """A draw is how many samples come in and out; all are parts of one signal, so none is made for a call."""
    ratio, n = RATIOS[name], shape[-1]

    def draw(rng: np.random.Generator) -> tuple[int, int]:
        if n < ALL_EXACT:
            n_in = int(n * rng.uniform(0.75, 0.95))
            return n_in, round(n_in * float(ratio) * rng.uniform(1.0, 1.025))
        k = n // ratio.denominator - int(rng.integers(n // ratio.denominator // 16))
        return k * ratio.denominator, k * ratio.numerator

    return compared(Work(group, f"{mode} to {name}", draw, signal_calls.NONE, {}, None, CLOSE), mode, ratio, shape,
                    gradients)  # fmt: skip


def anew(mode: str, n: int) -> Work:
    """The same signal to any length between half and twice its own."""

    def draw(rng: np.random.Generator) -> tuple[int, int]:
        return n, int(rng.integers(n // 2, 2 * n))

    return compared(Work(DRAWN, f"{n:,} samples, {mode}", draw, signal_calls.NONE, {}, None, CLOSE), mode, None,
                    (1, 1, n), False)  # fmt: skip


def compared(bare: Work, mode: str, ratio: Fraction | None, shape: tuple[int, ...], gradients: bool) -> Work:
    """The work with its calls. Nearest kinds are to be PyTorch's bit for bit, in float32 as they are."""
    x = signal_calls.signal(shape)
    most = shape[-1] * (2.0 if ratio is None else float(ratio))
    peers, left_out = signal_calls.peers(x, mode, ratio, most, gradients)
    exact = mode.startswith("nearest") and not gradients
    return bare._replace(
        ours=signal_calls.ours(x, mode, gradients),
        peers=peers,
        truth=signal_calls.truth(x, mode, gradients, exact) if x.numel() <= CHECKED else None,
        check=EXACT if exact else CLOSE,
        share=SHARE,
        left_out=left_out,
        warm=x.nbytes < CACHE,
    )
