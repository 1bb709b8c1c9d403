"""The makers of workloads: inputs, options and the peers' words for each."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

import tenter
from benchmarks import peers
from benchmarks.results import Target

Function = Callable[[Any], Any]
EXACT, CLOSE, LEVELS = "exact", "close", "levels"  # equal; within 1e-5 of the largest; within one of an integer type
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
    targets: tuple[Target, ...] = ()
    share: float = 1.0  # of the seconds a row gets


def values(
    shape: tuple[int, ...], dtype: torch.dtype, channels_last: bool = False, device: str = "cpu"
) -> torch.Tensor:
    if device == "meta":  # which has sizes and no generator
        x = torch.empty(shape, dtype=dtype, device=device)
    elif dtype.is_floating_point:
        wide = torch.float64 if dtype == torch.float64 else FLOAT32
        x = torch.randn(shape, generator=seeded(device), dtype=wide, device=device).to(dtype)
    else:
        info = torch.iinfo(dtype)
        x = torch.randint(info.min, info.max, shape, generator=seeded(device), dtype=dtype, device=device)
    last = torch.channels_last_3d if len(shape) == 5 else torch.channels_last
    return x.contiguous(memory_format=last) if channels_last else x


def seeded(device: str) -> torch.Generator:
    return torch.Generator(device).manual_seed(0)


def counts(n: int) -> torch.Tensor:
    return torch.randint(0, 9, (n,), generator=torch.Generator().manual_seed(1))


def short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def interleave(name: str, shape: tuple[int, ...], dim: int, each: int | None, dtype: torch.dtype = FLOAT32, *,
               device: str = "cpu") -> Row:  # fmt: skip
    def make() -> Case:
        repeats = counts(shape[dim]) if each is None else each
        ours = partial(tenter.repeat_interleave, repeats=repeats, dim=dim)
        peer = partial(torch.repeat_interleave, repeats=repeats, dim=dim)
        x = values(shape, dtype, device=device)
        return Case(x, ours, {"PyTorch": peer}, peer, EXACT, None if each else repeats)

    return Row("Repeat", f"repeat_interleave {name}, {short(dtype)}", make)


def whole(op: str, shape: tuple[int, ...], times: tuple[int, ...], dtype: torch.dtype = FLOAT32, *,
          device: str = "cpu") -> Row:  # fmt: skip
    """The whole tensor again: op is repeat or tile."""

    def ours(x: torch.Tensor) -> Any:
        return tenter.repeat(x, *times) if op == "repeat" else tenter.tile(x, times)

    def peer(x: torch.Tensor) -> torch.Tensor:
        return x.repeat(*times) if op == "repeat" else torch.tile(x, times)

    def make() -> Case:
        return Case(values(shape, dtype, device=device), ours, {"PyTorch": peer}, peer, EXACT)

    return Row("Repeat", f"{op} {shape} by {times}, {short(dtype)}", make)


def resize(mode: str, shape: tuple[int, ...], size: tuple[int, ...], dtype: torch.dtype = FLOAT32, *,
           antialias: bool = False, channels_last: bool = False, device: str = "cpu") -> Row:  # fmt: skip
    def make() -> Case:
        ours = partial(tenter.interpolate, size=size, mode=mode, antialias=antialias)
        peer = partial(F.interpolate, size=size, mode=mode, antialias=antialias)
        check = EXACT if mode.startswith("nearest") else CLOSE
        return Case(values(shape, dtype, channels_last, device), ours, {"PyTorch": peer}, peer, check)

    to = size[0] if len(size) == 1 else size
    layout = ", channels-last" if channels_last else ""
    return Row("Interpolate", f"{'antialiased ' * antialias}{mode} {shape} to {to}, {short(dtype)}{layout}", make)


def beside_interpolate(mode: str, shape: tuple[int, ...], size: tuple[int, ...], dtype: torch.dtype = FLOAT32, *,
                       antialias: bool = False) -> Row:  # fmt: skip
    """resize doing interpolate's work."""
    kind = mode if mode.startswith("nearest") or mode == "area" else "cubic" if mode == "bicubic" else "linear"

    def make() -> Case:
        axes = tuple(range(2, len(shape)))
        ours = partial(tenter.resize, size=size, axes=axes, mode=kind, antialias=antialias, like="torch")
        peer = partial(tenter.interpolate, size=size, mode=mode, antialias=antialias)
        truth = partial(F.interpolate, size=size, mode=mode, antialias=antialias)
        return Case(values(shape, dtype), ours, {"interpolate": peer}, truth, EXACT if mode == "nearest" else CLOSE)

    to = size[0] if len(size) == 1 else size
    name = f"{'antialiased ' * antialias}{kind} {shape} to {to}, {short(dtype)}"
    return Row("resize beside interpolate", name, make, share=0.25)


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


def numpy(op: str, name: str, shape: tuple[int, ...], dtype: torch.dtype = torch.float64, **options: Any) -> Row:
    def make() -> Case:
        given = options or {"repeats": counts(shape[0]).numpy()}
        ours, peer = partial(getattr(tenter.numpy, op), **given), partial(getattr(np, op), **given)
        return Case(values(shape, dtype).numpy(), ours, {"NumPy": peer}, peer, EXACT,
                    None if options else given["repeats"])  # fmt: skip

    return Row("NumPy", f"numpy.{op} {name}, {short(dtype)}", make)


def with_mask(name: str, shape: tuple[int, int, int], size: tuple[int, int]) -> Row:
    """The means of valid values, beside the ratio of two results."""

    def make() -> Case:
        x = values(shape, FLOAT32)
        there = torch.rand(shape[1:], generator=seeded("cpu")) > 0.3
        shrunk = partial(F.interpolate, size=size, mode="area")

        def ratio(x: Any) -> Any:
            return shrunk((x * there)[:, None])[:, 0] / shrunk(there.to(x.dtype)[None, None])[0, 0]

        def products(x: Any) -> Any:
            rows, columns = (means(n, m) for n, m in zip(shape[1:], size))
            some, share = (
                [(columns @ (rows @ f).T).T for f in v] for v in ((x * there).numpy(), there.float()[None].numpy())
            )
            return torch.from_numpy(np.stack(some) / share[0])

        ours = partial(tenter.resize, size=size, axes=(1, 2), mode="area", where=there)
        return Case(x, ours, {"PyTorch": ratio, "SciPy": products}, ratio, CLOSE)

    return Row("Resize", f"resize(where=mask) area, {name}, float32", make)


def means(n_in: int, n_out: int) -> Any:
    """The sparse matrix of means of whole numbers of values."""
    sparse = importlib.import_module("scipy.sparse")
    each = n_in // n_out
    return sparse.csr_matrix(np.kron(np.eye(n_out), np.full((1, each), 1 / each)).astype(np.float32))
