"""The same call on the host, whose kernels have tests of their own: what a device must give."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch

import tenter
from tenter._arrays import torch_tensors

TOLERANCE = {
    torch.float64: 1e-12, torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.complex64: 2e-6,
    torch.complex128: 1e-12, torch.complex32: 2e-3,
}  # fmt: skip


@contextmanager
def on_host() -> Iterator[None]:
    """Tensors in memory of the host are the host's, also where others are interpreted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch_tensors, "device", lambda x: None)
        yield


def on_the_host(op: str, x: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    with on_host():
        return getattr(tenter, op)(x.detach().cpu(), *args, **kwargs)


def close(got: torch.Tensor, want: torch.Tensor, scale: float = 1.0, bits: bool = False) -> None:
    """Equal, of floats to their precision times the largest value."""
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    got, want = got.detach().cpu(), want.detach().cpu()
    if bits or want.dtype not in TOLERANCE:
        as_bytes = [t.contiguous().flatten().view(torch.uint8) if t.numel() else t for t in (got, want)]
        assert torch.equal(*as_bytes)
        return
    unit = TOLERANCE[want.dtype]
    wide = torch.complex128 if want.dtype.is_complex else torch.float64
    got, want = got.to(wide), want.to(wide)
    finite = want[want.isfinite()].abs()
    largest = finite.max().item() if finite.numel() else 1.0
    torch.testing.assert_close(got, want, rtol=0, atol=scale * unit * largest, equal_nan=True)


def values(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Random values that use the dtype's range, small enough that sums stay finite."""
    rng = np.random.default_rng(seed)
    if dtype == torch.bool:
        return torch.from_numpy(rng.integers(0, 2, shape).astype(bool))
    if dtype.is_floating_point or dtype.is_complex:
        x = torch.from_numpy(rng.standard_normal(shape))
        return (torch.complex(x, x.flip(-1)) if dtype.is_complex else x).to(dtype)
    info = torch.iinfo(dtype)
    x = rng.integers(info.min, info.max, shape, dtype=str(dtype).removeprefix("torch."), endpoint=True)
    return torch.from_numpy(x)
