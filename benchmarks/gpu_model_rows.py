"""Rows of models on a device: 8-bit photographs to a model's size with Pillow's bits, position embeddings, letterboxes,
splines, means of rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

import tenter
from benchmarks.results import BANDWIDTH, Target
from benchmarks.workloads import CLOSE, EXACT, FLOAT32, Case, Function, Row, counts, resize, values

GROUP = "Models"
# On the card, of the bandwidth that copying reaches.
SHARE = Target(BANDWIDTH, 0.7, 0.7)


def rows(device: str, cut: int, pytorch: str) -> Iterator[Row]:
    """pytorch: the name of the peer that has a compiled and a deterministic form."""
    aims = (SHARE, Target(pytorch, 1.0, 1.0))
    batch = max(1, 32 // cut)
    large, small = (1080 // cut, 1920 // cut), (224 // cut, 224 // cut)
    for mode in ("bilinear", "bicubic", "lanczos"):
        for last in (False, True):
            yield photographs(mode, (batch, 3, *large), small, last, device, pytorch)._replace(targets=aims)
    yield photographs("lanczos", (batch, 3, 941, 941), (10, 10), False, device, pytorch)._replace(targets=aims)
    for to in (16, 130):
        grid = (1, max(1, 1152 // cut), 64, 64)
        yield resize("bicubic", grid, (to, to), device=device)._replace(group=GROUP, targets=aims[1:])
    yield letterbox((batch, 3, *large), 640 // cut, device, pytorch)._replace(targets=aims)
    yield splines(256 // cut, device)._replace(targets=aims[:1])
    yield means(2**16 // cut, device, pytorch)._replace(targets=aims)


def on_the_host(f: Function) -> Function:
    """The function's result from the host, whose kernels have tests of their own."""
    return lambda x: f(x) if x.is_meta else f(x.cpu()).to(x.device)


def photographs(mode: str, shape: tuple[int, ...], size: tuple[int, ...], last: bool, device: str, pytorch: str) -> Row:
    """Bytes, whose bits must be the host's, and so Pillow's."""
    options: dict[str, Any] = {"size": size, "mode": mode, "antialias": True}

    def peer(x: torch.Tensor) -> torch.Tensor:  # PyTorch's kernels on devices refuse bytes
        return F.interpolate(x.to(FLOAT32), **options).round_().clamp_(0, 255).to(torch.uint8)

    def make() -> Case:
        ours = partial(tenter.interpolate, **options)
        peers: dict[str, Function] = {} if mode == "lanczos" else {pytorch: peer}
        return Case(values(shape, torch.uint8, last, device), ours, peers, on_the_host(ours), EXACT)

    layout = ", channels-last" if last else ""
    return Row(GROUP, f"photographs, antialiased {mode} {shape} to {size}, uint8{layout}", make)


def letterbox(shape: tuple[int, ...], to: int, device: str, pytorch: str) -> Row:
    """Bytes to a square with gray bars above and below."""
    height, width = shape[-2:]
    bar = (width - height) / 2
    inside = round(to * height / width)
    above = (to - inside) // 2
    ours = partial(
        tenter.resize, size=(to, to), axes=(-2, -1), box=[(-bar, height + bar), (0, width)], edge="extrapolate",
        value=114,
    )  # fmt: skip

    def peer(x: torch.Tensor) -> torch.Tensor:
        y = F.interpolate(x.to(FLOAT32), (inside, to), mode="bilinear", antialias=True).round_().to(torch.uint8)
        return F.pad(y, (0, 0, above, to - inside - above), value=114)

    def make() -> Case:
        return Case(values(shape, torch.uint8, device=device), ours, {pytorch: peer}, on_the_host(ours), EXACT)

    return Row(GROUP, f"letterbox {shape} to {(to, to)}, uint8", make)


def splines(n: int, device: str) -> Row:
    """Cubic splines through the samples of a volume, as SciPy's zoom."""
    to = (n * 3 // 2,) * 3
    ours = partial(tenter.resize, size=to, axes=(0, 1, 2), mode="spline3")

    def make() -> Case:
        peers: dict[str, Function] = {}
        if device == "cuda" and find_spec("cupyx"):
            from cupyx.scipy import ndimage

            peers["CuPy"] = lambda x: torch.as_tensor(ndimage.zoom(x, 1.5, order=3, mode="reflect", grid_mode=True))
        return Case(values((n, n, n), FLOAT32, device=device), ours, peers, on_the_host(ours), CLOSE)

    return Row(GROUP, f"cubic splines {(n, n, n)} to {to}, float32", make)


def means(n: int, device: str, pytorch: str) -> Row:
    """The mean of each of n rows, whose lengths are on the device."""

    def make() -> Case:
        lengths = counts(n)
        x = values((int(lengths.sum()), 256), FLOAT32, device=device)
        lengths = lengths.to(device)
        peer = partial(torch.segment_reduce, reduce="mean", lengths=lengths, initial=0)
        ours = partial(tenter.ragged.segment_mean, lengths=lengths)
        return Case(x, ours, {pytorch: peer}, peer, CLOSE, lengths)

    return Row(GROUP, f"means of {n} rows of 0 to 8 by 256, float32", make)
