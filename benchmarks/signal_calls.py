"""A signal's resampling in each library's words, from a drawn (samples in, samples out) to a call."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

import tenter
from benchmarks import signal_truth
from benchmarks.machine import free_memory
from benchmarks.peers import module
from benchmarks.race import Maker

Resample = Callable[[torch.Tensor, int], torch.Tensor]
MOST_MEMORY = 7 << 29  # bytes of a call with its input and result
# Bytes beside input and result for each output: PyTorch's int64 positions and float32 weights; none for area.
TABLES = {"linear": 27, "cubic": 48, "nearest": 8, "nearest-exact": 8, "area": 0}
ANTIALIAS_TABLES, LOBES = 32, {"linear": 1, "lanczos3": 3}
NONE: Maker = lambda drawn: lambda: None  # noqa: E731, of a work that gets its calls later


@lru_cache(1)
def signal(shape: tuple[int, ...]) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


@lru_cache(1)
def noise(n: int) -> torch.Tensor:
    return torch.randn(n, generator=torch.Generator().manual_seed(1))


def upstream(x: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """The gradient of outputs of a shape, which are not quite three times as many as those of x."""
    return noise(3 * x.numel())[: math.prod(shape)].view(shape)


def ours(x: torch.Tensor, mode: str, gradients: bool) -> Maker:
    kind, antialias = parts(mode)
    if mode in ("linear", "nearest", "nearest-exact", "area"):
        return calls(x, lambda x, n: tenter.interpolate(x, n, mode=mode), gradients)
    how = {"mode": kind, "antialias": antialias, "like": "torch"}
    return calls(x, lambda x, n: tenter.resize(x, n, axes=(2,), **how), gradients)


def of_torch(mode: str) -> Resample:
    """Cubic and antialiased ones exist for images, so the signal is one of a row."""
    kind, antialias = parts(mode)
    if mode in ("linear", "nearest", "nearest-exact", "area"):
        return lambda x, n: F.interpolate(x, n, mode=mode)
    image_mode = {"linear": "bilinear", "cubic": "bicubic", "lanczos3": "lanczos"}[kind]
    return lambda x, n: F.interpolate(x[:, :, None], (1, n), mode=image_mode, antialias=antialias)[:, :, 0]


def parts(mode: str) -> tuple[str, bool]:
    kind, _, antialias = mode.partition(", ")
    return kind, bool(antialias)


def calls(x: torch.Tensor, f: Resample, gradients: bool) -> Maker:
    def forward(drawn: tuple[int, int]) -> Callable[[], Any]:
        n_in, n_out = drawn
        part = x[..., :n_in]
        return lambda: f(part, n_out)

    def backward(drawn: tuple[int, int]) -> Callable[[], Any]:
        n_in, n_out = drawn
        part = x[..., :n_in].detach().requires_grad_()
        y = f(part, n_out)
        g = upstream(x, y.shape).to(y.dtype)
        return lambda: torch.autograd.grad(y, part, g, retain_graph=True)[0]

    return backward if gradients else forward


def truth(x: torch.Tensor, mode: str, gradients: bool, exact: bool) -> Callable[[tuple[int, int]], Any]:
    """exact: PyTorch's of x itself, to be met bit for bit."""
    if mode in ("nearest", "nearest-exact") and gradients:
        return lambda drawn: signal_truth.picked_back(upstream(x, (*x.shape[:-1], drawn[1])), drawn[0], mode)
    if mode not in ("linear", "cubic"):
        return lambda drawn: calls(x if exact else x.double(), of_torch(mode), gradients)(drawn)()
    if gradients:
        return lambda drawn: signal_truth.summed_back(upstream(x, (*x.shape[:-1], drawn[1])), drawn[0], mode)
    return lambda drawn: signal_truth.summed(x[..., : drawn[0]], drawn[1], mode)


def peers(
    x: torch.Tensor, mode: str, ratio: Fraction | None, most: float, gradients: bool
) -> tuple[dict[str, Maker], dict[str, str]]:
    """The calls, and the peers that would need too much memory. most: samples out of one channel, at most."""
    channels = x.numel() // x.shape[-1]
    found = {"PyTorch": (calls(x, of_torch(mode), gradients), tables(mode, x.shape[-1] / most))}
    if channels == 1 and not gradients:
        if mode == "linear":
            found["np.interp"] = (interp(x), 16 + 16 * x.shape[-1] / most)
        signals = module("scipy.signal")
        if signals is not None and ratio is not None and mode in ("cubic", "lanczos3, antialias"):
            found["resample_poly"] = (resample_poly(signals, x, ratio), 8 + 4 * x.shape[-1] / most)
    limit = min(MOST_MEMORY, free_memory() * 0.7)
    held = x.nbytes + 4 * channels * most
    needed = {name: held + more * most for name, (_, more) in found.items()}
    left_out = {n: f"left out: needs about {b / 2**30:.1f} GiB of memory" for n, b in needed.items() if b > limit}
    return {name: make for name, (make, _) in found.items() if name not in left_out}, left_out


def tables(mode: str, shrinks: float) -> float:
    kind, antialias = parts(mode)
    if antialias:
        return ANTIALIAS_TABLES + 4 * (2 * LOBES[kind] * max(1.0, shrinks) + 1)
    return TABLES[kind]


def interp(x: torch.Tensor) -> Maker:
    """Its positions are part of the call, as all users must make them."""
    samples = x[0, 0].numpy()

    def make(drawn: tuple[int, int]) -> Callable[[], Any]:
        n_in, n_out = drawn

        def call() -> Any:
            positions = (np.arange(n_out) + 0.5) * (n_in / n_out) - 0.5
            return np.interp(positions, np.arange(n_in), samples[:n_in])[None, None]

        return call

    return make


def resample_poly(signals: Any, x: torch.Tensor, ratio: Fraction) -> Maker:
    """Another filter: a windowed sinc of 20 times the larger of up and down, and one tap.

    It has the ratio exactly, so it gets as many samples as make so many outputs.
    """
    samples = x[0, 0].numpy()

    def make(drawn: tuple[int, int]) -> Callable[[], Any]:
        part, n_out = samples[: math.ceil(drawn[1] / ratio)], drawn[1]
        return lambda: signals.resample_poly(part, ratio.numerator, ratio.denominator)[None, None, :n_out]

    return make
