"""The rows of the CPU benchmark at a GPU's sizes, with what each should reach: `device` "cpu" runs them there, "meta"
has their sizes alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

import tenter
from benchmarks import gpu_model_rows
from benchmarks.results import BANDWIDTH, Target
from benchmarks.workloads import EXACT, FLOAT32, LEVELS, Case, Row, counts, interleave, resize, short, values, whole

PYTORCH, COMPILED, DETERMINISTIC = "PyTorch", "PyTorch, compiled", "PyTorch, deterministic"
BFLOAT16, FLOAT16 = torch.bfloat16, torch.float16
SCALARS, MATRIX = 2**25, 8192


def rows(device: str, cut: int = 1) -> Iterator[Row]:
    """cut: what lengths are divided by, 1 for what is measured."""
    for row in (*repeats(device, cut), *resizes(device, cut), *photographs(device, cut)):
        yield row if row.targets else aim(row)
    yield from gpu_model_rows.rows(device, cut, PYTORCH)


def aim(row: Row, forward: float = 1.0, deterministic: float = 1.0) -> Row:
    """The row with its targets; the ratios are PyTorch's time / ours."""
    share = Target(BANDWIDTH, 0.85, 0.70)
    return row._replace(targets=(share, Target(PYTORCH, forward, 1.0), Target(DETERMINISTIC, None, deterministic)))


def with_compiled(row: Row) -> Row:
    """The row with a peer more: PyTorch's function as its compiler makes it."""

    def make() -> Case:
        case = row.make()
        if PYTORCH not in case.peers:
            return case
        torch.compiler.reset()  # all peers are one function to it, of which it compiles the first eight only
        return case._replace(peers={**case.peers, COMPILED: torch.compile(case.peers[PYTORCH])})

    return row._replace(make=make)


def repeats(device: str, cut: int) -> Iterator[Row]:
    n, n_scalars = MATRIX // cut, SCALARS // cut**2
    each = f"({n}, {2 * n}) dim 1, 2 each"
    yield interleave(each, (n, 2 * n), 1, 2, device=device)
    yield counted((2 * n, n // 2), 0, device, host="array")
    yield counted((n, n), 0, device, host="list")
    for dtype in (FLOAT32, torch.int64, torch.int8):
        yield counted((n_scalars,), 0, device, dtype)
    yield counted((n_scalars,), 0, device, sized=True)
    for shape, dim in (((128 * n, 64), 0), ((n, n), 1)):
        yield counted(shape, dim, device)
        yield counted(shape, dim, device, sized=True)
    for dtype in (BFLOAT16, FLOAT32):
        heads = (16, 8, n, 128)
        yield interleave(f"grouped-query K/V {heads} dim 1, 4 each", heads, 1, 4, dtype, device=device)
    for op in ("repeat", "tile"):
        yield whole(op, (n, n // 2), (4, 4), device=device)


def counted(shape: tuple[int, ...], dim: int, device: str, dtype: torch.dtype = FLOAT32, *, host: str = "",
            sized: bool = False) -> Row:  # fmt: skip
    """Counts 0..8 on the device, or on the host as a list or an array; sized: with output_size."""

    def make() -> Case:
        known = counts(shape[dim])
        total, on_device = int(known.sum()), known.to(device)
        given: Any = known.tolist() if host == "list" else known.numpy() if host else on_device
        size = {"output_size": total} if sized else {}

        def peer(x: torch.Tensor) -> torch.Tensor:
            """It takes counts in a tensor on x's device alone, so sending them there is part of the call."""
            return torch.repeat_interleave(x, torch.as_tensor(given, device=x.device), dim, **size)

        ours = partial(tenter.repeat_interleave, repeats=given, dim=dim, **size)
        truth = partial(torch.repeat_interleave, repeats=on_device, dim=dim, output_size=total)
        x = values(shape, dtype, device=device)
        return Case(x, ours, {PYTORCH: peer}, truth, EXACT, None if host else on_device)

    what = f"{shape[0]} scalars" if len(shape) == 1 else f"{shape} dim {dim}"
    given = {"": "on the device", "list": "in a list", "array": "in a NumPy array"}[host]
    return Row("Repeat", f"repeat_interleave {what}, counts {given}{', output_size' * sized}, {short(dtype)}", make)


def resizes(device: str, cut: int) -> Iterator[Row]:
    """Each as it lies in memory by default, then channels-last where its dims have that."""
    batch = max(1, 16 // cut)
    image, twice = (batch, 64, 256 // cut, 256 // cut), (512 // cut, 512 // cut)
    video = (1, 192, 240 // cut, 416 // cut)
    volume, twice_volume = (1, 32, *(128 // cut,) * 3), (256 // cut,) * 3
    photograph, square = (2 * batch, 3, 1080 // cut, 1920 // cut), (224 // cut, 224 // cut)
    last: dict[str, Any] = {"device": device, "channels_last": True}

    for mode in ("nearest", "nearest-exact"):
        yield resize(mode, image, twice, device=device)
        yield aim(resize(mode, image, twice, **last), 7)
        yield aim(resize(mode, video, (2 * video[2], 2 * video[3]), BFLOAT16, **last), 7)
    yield resize("nearest", volume, twice_volume, device=device)
    yield resize("linear", (2 * batch, 256, 8192 // cut), (16384 // cut,), device=device)
    for dtype in (FLOAT32, BFLOAT16, FLOAT16):
        yield aim(resize("bilinear", image, twice, dtype, device=device), deterministic=10)
        yield aim(resize("bilinear", image, twice, dtype, **last), deterministic=10)
    yield resize("bicubic", image, twice, device=device)
    yield resize("bicubic", image, twice, **last)
    yield aim(resize("trilinear", volume, twice_volume, device=device), deterministic=10)
    yield aim(resize("trilinear", volume, twice_volume, **last), deterministic=10)
    for mode, antialias in (("area", False), ("bilinear", True), ("bicubic", True)):
        yield resize(mode, photograph, square, antialias=antialias, device=device)
        yield resize(mode, photograph, square, antialias=antialias, **last)
    far = (batch, 3, 2048 // cut, 4096 // cut)
    yield on_host(resize("bilinear", far, (16, 16), antialias=True, device=device))
    grown, to = (2 * batch, 3, 512 // cut, 512 // cut), (2048 // cut, 2048 // cut)
    for dtype in (BFLOAT16, FLOAT16):
        yield aim(resize("bilinear", grown, to, dtype, device=device), deterministic=10)
        yield aim(resize("bilinear", grown, to, dtype, **last), deterministic=10)
    yield resize("bicubic", grown, to, device=device)
    yield resize("bicubic", grown, to, **last)


def on_host(row: Row) -> Row:
    """The row with its truth from the host: PyTorch's CUDA kernels refuse the factor."""

    def make() -> Case:
        case = row.make()
        return case._replace(truth=lambda x: case.truth(x if x.is_meta else x.cpu()).to(x.device))

    return row._replace(make=make)


def photographs(device: str, cut: int) -> Iterator[Row]:
    batch = max(1, 64 // cut)
    yield photograph((batch, 1080 // cut, 1920 // cut, 3), 224 // cut, True, device)
    yield photograph((batch, 512 // cut, 512 // cut, 3), 2048 // cut, False, device)


def photograph(shape: tuple[int, ...], to: int, antialias: bool, device: str) -> Row:
    """Bytes, height x width x channels."""
    options: dict[str, Any] = {"size": (to, to), "mode": "bilinear", "antialias": antialias}

    def ours(x: torch.Tensor) -> torch.Tensor:
        return tenter.interpolate(x.permute(0, 3, 1, 2), **options).permute(0, 2, 3, 1)

    def in_bytes(x: torch.Tensor) -> torch.Tensor:
        return F.interpolate(x.permute(0, 3, 1, 2), **options).permute(0, 2, 3, 1)

    def rounded(x: torch.Tensor, dtype: torch.dtype = FLOAT32) -> torch.Tensor:
        return in_bytes(x.to(dtype)).round_().clamp_(0, 255).to(torch.uint8)

    def make() -> Case:
        x = values(shape, torch.uint8, device=device)
        try:
            in_bytes(x[:1])
            peer = in_bytes
        except RuntimeError:  # what a user does where bytes are refused
            peer = rounded
        return Case(x, ours, {PYTORCH: peer}, partial(rounded, dtype=torch.float64), LEVELS)

    return Row("8-bit images", f"{'antialiased ' * antialias}bilinear {shape} to {(to, to)}, uint8", make)
