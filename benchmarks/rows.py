"""The table of workloads: shapes, options and the peers' words for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

import tenter
from benchmarks import peers

Function = Callable[[Any], Any]
EXACT, CLOSE, LEVELS = "exact", "close", "levels"  # equal; within 1e-5 of the largest; within one level of 256
FLOAT32 = torch.float32


class Case(NamedTuple):
    x: Any
    ours: Function
    peers: dict[str, Function]
    truth: Function  # what ours must give: of x itself if EXACT or LEVELS, of x in float64 if CLOSE
    check: str
    beside: Any = None  # what is read beside x


class Row(NamedTuple):
    group: str
    name: str
    make: Callable[[], Case]


def values(shape: tuple[int, ...], dtype: torch.dtype, channels_last: bool = False) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    if dtype.is_floating_point:
        wide = torch.float64 if dtype == torch.float64 else FLOAT32
        x = torch.randn(shape, generator=generator, dtype=wide).to(dtype)
    else:
        info = torch.iinfo(dtype)
        x = torch.randint(info.min, info.max, shape, generator=generator, dtype=dtype)
    return x.contiguous(memory_format=torch.channels_last) if channels_last else x


def counts(n: int) -> torch.Tensor:
    return torch.randint(0, 9, (n,), generator=torch.Generator().manual_seed(1))


def short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def interleave(name: str, shape: tuple[int, ...], dim: int, each: int | None, dtype: torch.dtype = FLOAT32) -> Row:
    def make() -> Case:
        repeats = counts(shape[dim]) if each is None else each
        ours = partial(tenter.repeat_interleave, repeats=repeats, dim=dim)
        peer = partial(torch.repeat_interleave, repeats=repeats, dim=dim)
        return Case(values(shape, dtype), ours, {"PyTorch": peer}, peer, EXACT, None if each else repeats)

    return Row("Repeat", f"repeat_interleave {name}, {short(dtype)}", make)


def whole(op: str, ours: Function, peer: Function) -> Row:
    def make() -> Case:
        return Case(values((1024, 1024), FLOAT32), ours, {"PyTorch": peer}, peer, EXACT)

    return Row("Repeat", f"{op} (1024, 1024) by (4, 4), float32", make)


def resize(mode: str, shape: tuple[int, ...], size: tuple[int, ...], dtype: torch.dtype = FLOAT32, *,
           antialias: bool = False, channels_last: bool = False) -> Row:  # fmt: skip
    def make() -> Case:
        ours = partial(tenter.interpolate, size=size, mode=mode, antialias=antialias)
        peer = partial(F.interpolate, size=size, mode=mode, antialias=antialias)
        check = EXACT if mode.startswith("nearest") else CLOSE
        return Case(values(shape, dtype, channels_last), ours, {"PyTorch": peer}, peer, check)

    to = size[0] if len(size) == 1 else size
    layout = ", channels-last" if channels_last else ""
    return Row("Interpolate", f"{'antialiased ' * antialias}{mode} {shape} to {to}, {short(dtype)}{layout}", make)


def picture(height: int, width: int, to: int, antialias: bool, array: bool) -> Row:
    """Bytes, height x width x channels: as a tensor against PyTorch, as an array against the image libraries."""
    options: dict[str, Any] = {"size": (to, to), "mode": "bilinear", "antialias": antialias}

    def truth(x: Any) -> torch.Tensor:
        y = F.interpolate(torch.as_tensor(x).permute(2, 0, 1)[None].double(), **options)
        return y[0].permute(1, 2, 0).round().clamp(0, 255).to(torch.uint8)

    def of_tensor(f: Callable[..., Any]) -> Function:
        return lambda x: f(x.permute(2, 0, 1)[None], **options)[0].permute(1, 2, 0)

    def of_array(x: Any) -> Any:
        return tenter.interpolate(x.transpose(2, 0, 1)[None], **options)[0].transpose(1, 2, 0)

    def make() -> Case:
        x = values((height, width, 3), torch.uint8)
        if array:
            return Case(x.numpy(), of_array, peers.image_libraries(x.numpy(), to, antialias), truth, LEVELS)
        return Case(x, of_tensor(tenter.interpolate), {"PyTorch": of_tensor(F.interpolate)}, truth, LEVELS)

    kind = "NumPy array" if array else "tensor (channels-last)"
    name = f"{'antialiased ' * antialias}bilinear ({height}, {width}, 3) to ({to}, {to}), uint8, {kind}"
    return Row("8-bit images", name, make)


def numpy(op: str, name: str, shape: tuple[int, ...], **options: Any) -> Row:
    def make() -> Case:
        given = options or {"repeats": counts(shape[0]).numpy()}
        ours, peer = partial(getattr(tenter.numpy, op), **given), partial(getattr(np, op), **given)
        return Case(values(shape, torch.float64).numpy(), ours, {"NumPy": peer}, peer, EXACT,
                    None if options else given["repeats"])  # fmt: skip

    return Row("NumPy", f"numpy.{op} {name}, float64", make)


def rows() -> Iterator[Row]:
    both = (False, True)
    for dtype in (FLOAT32, torch.int64, torch.int8):
        yield interleave("1M scalars, counts 0..8", (1_000_000,), 0, None, dtype)
    yield interleave("(100000, 64) dim 0, counts 0..8", (100_000, 64), 0, None)
    yield interleave("(4096, 1024) dim 1, counts 0..8", (4096, 1024), 1, None)
    yield interleave("(4096, 4096) dim 1, 2 each", (4096, 4096), 1, 2)
    for dtype in (FLOAT32, torch.bfloat16):
        yield interleave("grouped-query K/V (4, 8, 4096, 128) dim 1, 4 each", (4, 8, 4096, 128), 1, 4, dtype)
    yield whole("repeat", lambda x: tenter.repeat(x, 4, 4), lambda x: x.repeat(4, 4))
    yield whole("tile", lambda x: tenter.tile(x, (4, 4)), lambda x: torch.tile(x, (4, 4)))

    for mode in ("bilinear", "bicubic", "nearest", "nearest-exact"):
        yield from (resize(mode, (8, 64, 128, 128), (256, 256), channels_last=last) for last in both)
    yield from (resize(mode, (2, 32, 64, 64, 64), (128, 128, 128)) for mode in ("trilinear", "nearest"))
    yield resize("linear", (8, 256, 4096), (8192,))
    yield resize("area", (8, 3, 1080, 1920), (224, 224))
    for mode in ("bilinear", "bicubic"):
        yield from (resize(mode, (8, 3, 1080, 1920), (224, 224), antialias=True, channels_last=last) for last in both)
    yield from (resize("bilinear", (4, 3, 512, 512), (2048, 2048), dtype) for dtype in (torch.bfloat16, torch.float16))
    yield resize("bicubic", (1, 3, 512, 512), (2048, 2048))

    yield from (picture(1080, 1920, 224, antialias=True, array=array) for array in both)
    yield from (picture(512, 512, 2048, antialias=False, array=array) for array in both)

    yield numpy("repeat", "1M scalars, counts 0..8", (1_000_000,))
    for axis in (0, 1):
        yield numpy("repeat", f"(2000, 2000) axis {axis}, 3 each", (2000, 2000), repeats=3, axis=axis)
    yield numpy("tile", "(1000, 1000) by (3, 3)", (1000, 1000), reps=(3, 3))
