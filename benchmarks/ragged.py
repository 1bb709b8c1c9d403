"""Rows by counts that are new on every call: phonemes become frames, labels tokens, sequences packed batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

import tenter
from benchmarks.machine import cores
from benchmarks.race import Maker, Work
from benchmarks.workloads import EXACT

LENGTHS, WIDTHS = (1, 4, 16, 60, 120, 240, 1024, 4096), (1, 16, 96, 384, 768)
SPEECH_MOST, SPEECH_MEAN = 11, 4.0  # frames of a phoneme
SEQUENCES, PACKED_MOST = (1, 8, 64, 256), 512  # of a packed batch, and tokens of a sequence
SHARE = 0.3
LARGE = 1 << 16  # elements of x from which all threads are measured too

Draw = Callable[[np.random.Generator], Any]


def durations(length: int, dtype: str) -> Draw:
    """0 to 11, falling off as a geometric distribution does."""
    return lambda rng: np.minimum(rng.geometric(1 / SPEECH_MEAN, length) - 1, SPEECH_MOST).astype(dtype)


def lengths(sequences: int, dtype: str) -> Draw:
    return lambda rng: rng.integers(1, PACKED_MOST, sequences, endpoint=True).astype(dtype)


def works(threads: int, cut: int) -> Iterator[Work]:
    """cut: how many times smaller than usual the largest length and width are."""
    sizes = [(n, w) for n in LENGTHS for w in WIDTHS if n * cut <= LENGTHS[-1] and w * cut <= WIDTHS[-1]]
    packed = [(n, w) for n in SEQUENCES for w in (1, 96, 768) if n * w * cut * cut <= 256 * 768]
    for n, w in sizes:
        if threads == 1 or n * w >= LARGE:
            yield arrays(SPEECH["np"], n, w, durations(n, "int64"))
            yield tensors(SPEECH["torch"], n, w, durations(n, "int64"))
            yield tensors(SPEECH["int32"], n, w, durations(n, "int32"))
            yield tensors(SPEECH["both"], n, w, durations(n, "int64"), both)
            yield tensors(SPEECH["both, int32"], n, w, durations(n, "int32"), both)
    for n, w in packed:
        if threads == 1 or n * w * PACKED_MOST / 2 >= LARGE:
            yield arrays(PACKED["np"], n, w, lengths(n, "int64"))
            yield tensors(PACKED["torch"], n, w, lengths(n, "int64"))
            yield tensors(PACKED["both"], n, w, lengths(n, "int64"), both)


SPEECH = {
    "np": "Durations, arrays, against np.repeat",
    "torch": "Durations, tensors",
    "int32": "Durations, tensors, int32 counts",
    "both": "Durations, tensors, forward and backward",
    "both, int32": "Durations, tensors, forward and backward, int32 counts",
}
PACKED = {
    "np": "Packed batches, arrays, against np.repeat",
    "torch": "Packed batches, tensors",
    "both": "Packed batches, tensors, forward and backward",
}


def rows(n: int, w: int) -> Any:
    """One wide: scalars."""
    return np.random.default_rng(1).standard_normal((n, w) if w > 1 else n, np.float32)


def arrays(group: str, n: int, w: int, draw: Draw) -> Work:
    x = rows(n, w)
    peers: dict[str, Maker] = {"NumPy": lambda counts: partial(np.repeat, x, counts, axis=0)}

    def ours(counts: Any) -> Callable[[], Any]:
        return partial(tenter.repeat_interleave, x, counts, 0)

    def truth(counts: Any) -> Any:
        return np.repeat(x, counts, axis=0)

    return Work(group, f"({n}, {w})", draw, ours, peers, truth, EXACT, share=SHARE)


def forward(f: Callable[..., Any], x: torch.Tensor) -> Maker:
    return lambda drawn: partial(f, x, drawn[0], 0)


def both(f: Callable[..., Any], x: torch.Tensor) -> Maker:
    """The gradient of whole numbers, whose sums are exact in any order."""
    x = x.detach().round().requires_grad_()

    def make(drawn: tuple[torch.Tensor, torch.Tensor]) -> Callable[[], Any]:
        counts, g = drawn
        return lambda: torch.autograd.grad(f(x, counts, 0), x, g)[0]

    return make


def tensors(group: str, n: int, w: int, draw: Draw, way: Callable[..., Maker] = forward) -> Work:
    x = torch.from_numpy(rows(n, w))
    theirs = way(torch.repeat_interleave, x)

    def drawn(rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Counts, and the gradient: one for all, as one of each library's own would be in cache for some of them."""
        counts = torch.from_numpy(draw(rng))
        return counts, torch.ones(int(counts.sum()), *x.shape[1:]) if way is both else None

    return Work(group, f"({n}, {w})", drawn, way(tenter.repeat_interleave, x), {"PyTorch": theirs},
                lambda drawn: theirs(drawn)(), EXACT, share=SHARE)  # fmt: skip


def thread_counts() -> list[int]:
    return sorted({1, cores()})
