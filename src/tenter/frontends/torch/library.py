"""The operations as PyTorch's dispatcher sees them: calls of registered operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tenter import check, frontends, limits
from tenter.frontends import surely
from tenter.frontends.torch import autocast as autocast
from tenter.frontends.torch import autograd as autograd
from tenter.frontends.torch import device, private
from tenter.frontends.torch import operators as operators
from tenter.frontends.torch import vmap as vmap
from tenter.frontends.torch.plain import recorded
from tenter.frontends.torch.schema import OPS
from tenter.sampling import written
from tenter.stretch import Repeat, RepeatCounts, Resize, Stretch


def call(x: Tensor, does: Stretch) -> Tensor:
    if _sharded(x):
        from tenter.frontends.torch import sharding  # late: it imports torch.distributed

        does = sharding.beside(x, does)
    if isinstance(does, Repeat):
        return OPS.repeat.default(x, does.sizes, does.each)
    if isinstance(does, RepeatCounts):
        return OPS.repeat_counts.default(x, _as_tensor(does.offsets), does.dim, does.n_out)
    if isinstance(does, Resize):
        return OPS.resize.default(x, does.size, does.axes, written(does.rules), does.saturate)
    return OPS.interpolate.default(x, *does)


def _as_tensor(offsets: Any) -> Tensor:
    """Offsets of an eager call, whose gradient is for the dispatcher, are an array that nothing may write to."""
    return offsets if isinstance(offsets, Tensor) else torch.from_numpy(offsets.copy())


def call_adjoint(g: Tensor, does: Stretch, n_in: tuple[int, ...]) -> Tensor:
    if isinstance(does, Repeat):
        return OPS.repeat_adjoint.default(g, n_in, does.sizes, does.each)
    if isinstance(does, RepeatCounts):
        return OPS.repeat_counts_adjoint.default(g, _as_tensor(does.offsets), does.dim)
    if isinstance(does, Resize):
        lengths = [n_in[axis] for axis in does.axes]
        return OPS.resize_adjoint.default(g, lengths, does.axes, written(does.rules), does.saturate)
    return OPS.interpolate_adjoint.default(g, n_in[2:], *does[1:])


def counted(x: Tensor, repeats: Any, dim: int, output_size: Any) -> RepeatCounts:
    """Counts whose values may come later, and x or they are for the dispatcher."""
    if _sharded(repeats):
        from tenter.frontends.torch import sharding

        repeats = sharding.whole(repeats)  # type: ignore[arg-type]
    n = x.shape[dim]
    # Counts on the host are added up there, and nobody waits for a device.
    place = "cpu" if x.device.type == "cuda" else x.device
    if isinstance(repeats, (list, tuple)):
        repeats = [check.integer("repeats", r, "integer counts") for r in repeats]
        if output_size is None and surely(n == len(repeats)):
            output_size = sum(repeats)
        repeats = torch.tensor(repeats, dtype=torch.int64, device=place)
    elif isinstance(repeats, np.ndarray):  # of any strides and byte order, which a tensor has not
        repeats = torch.from_numpy(check.count_array("repeats", repeats).copy()).to(place)
    if output_size is not None:
        output_size = check.integer("output_size", output_size, check.TOTAL, 0)
    counts = repeats if isinstance(repeats, Tensor) else torch.as_tensor(repeats, device=place)
    check.count_shape("repeats", frontends.dtype_name(counts), counts.shape, n, dim)
    on_host = counts.device.type == "cpu" and x.device.type == "cuda"
    if (counts.device != x.device and not on_host) or (x.device.type == "meta" and output_size is None):
        limits.refuse(TypeError, "repeats", f"counts with values, on {x.device}", f"some on {counts.device}")
    if counts.ndim == 0 or surely(counts.shape[0] == 1):
        counts = counts.reshape(1).expand(n)
    offsets = OPS.offsets.default(counts, n, output_size)
    if not recorded(x) and not recorded(offsets) and device.name(x) is None:  # a DTensor's counts, gathered
        running = frontends.to_numpy(offsets)
        return RepeatCounts(running, dim, int(running[-1]))
    if output_size is None:
        output_size = int(offsets[-1]) if private.tracing() else OPS.total.default(offsets)  # a trace knows no symbols
        torch._check(output_size >= 0)
    if on_host:
        offsets = offsets.to(x.device, non_blocking=True)
    return RepeatCounts(offsets, dim, output_size)


def positions(repeats: Tensor, dim: Any, output_size: Any) -> Tensor:
    """repeat_interleave of one argument."""
    if _sharded(repeats):
        from tenter.frontends.torch import sharding

        repeats = sharding.whole(repeats)  # type: ignore[arg-type]
    check.only_counts("repeats", repeats.ndim, dim)
    n = repeats.shape[0]
    x = torch.arange(n, dtype=torch.int32 if repeats.dtype == torch.int32 else torch.int64, device=repeats.device)
    return call(x, counted(x, repeats, 0, output_size))


def joined(x: Tensor) -> Tensor:
    """x, which is to be flattened: shards of unequal length can't be."""
    if not _sharded(x):
        return x
    from tenter.frontends.torch import sharding

    return sharding.gathered(x)


def _sharded(x: Any) -> bool:
    """Is x a DTensor? By name, as for most callers its module is not loaded."""
    return type(x).__name__ == "DTensor"
