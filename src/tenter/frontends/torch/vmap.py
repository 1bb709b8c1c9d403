"""The operators under vmap: the mapped dim goes in front, where it is one more batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tenter import frontends, limits
from tenter.frontends import surely
from tenter.frontends.torch import arguments, private
from tenter.frontends.torch.schema import LIBRARY, OPS, Ints


def _front(x: Tensor, dim: int | None) -> Tensor:
    assert dim is not None
    return x.movedim(dim, 0)


def _own(x: Tensor, mapped: int | None) -> tuple[Any, ...]:
    """The shape that the operator's arguments speak of."""
    shape = list(x.shape)
    if mapped is not None:
        del shape[mapped]
    return tuple(shape)


def _repeat_mapped(info: Any, dims: Any, x: Tensor, sizes: Ints, each: bool) -> tuple[Tensor, int]:
    arguments.repeated(_own(x, dims[0]), sizes, each)
    return OPS.repeat.default(_front(x, dims[0]), [1, *sizes], each), 0


def _repeat_adjoint_mapped(info: Any, dims: Any, g: Tensor, n_in: Ints, sizes: Ints, each: bool) -> tuple[Tensor, int]:
    arguments.unrepeated(_own(g, dims[0]), n_in, sizes, each)
    return OPS.repeat_adjoint.default(_front(g, dims[0]), [info.batch_size, *n_in], [1, *sizes], each), 0


def _repeat_counts_mapped(info: Any, dims: Any, x: Tensor, offsets: Tensor, dim: int, n_out: int) -> tuple[Tensor, int]:
    """Counts of one's own per mapped position: the positions of all, one behind the other, are one long dim."""
    arguments.counted(_own(x, dims[0]), _own(offsets, dims[1]), offsets.dtype, dim, n_out)
    if dims[1] is None:
        return OPS.repeat_counts.default(_front(x, dims[0]), offsets, dim + 1, n_out), 0
    x, joined = _joined(x, dims[0], offsets.movedim(dims[1], 0), dim, info.batch_size)
    y = OPS.repeat_counts.default(x, joined, dim, _together(info.batch_size, n_out, "n_out"))
    return y.unflatten(dim, (info.batch_size, n_out)), dim


def _repeat_counts_adjoint_mapped(info: Any, dims: Any, g: Tensor, offsets: Tensor, dim: int) -> tuple[Tensor, int]:
    arguments.counted(_own(g, dims[0]), _own(offsets, dims[1]), offsets.dtype, dim)
    if dims[1] is None:
        return OPS.repeat_counts_adjoint.default(_front(g, dims[0]), offsets, dim + 1), 0
    offsets = offsets.movedim(dims[1], 0)
    n_in = offsets.shape[1] - 1
    g, joined = _joined(g, dims[0], offsets, dim, info.batch_size)
    return OPS.repeat_counts_adjoint.default(g, joined, dim).unflatten(dim, (info.batch_size, n_in)), dim


def _together(batch: int, n: int, name: str) -> int:
    if surely(batch * n > limits.INT64_MAX):
        limits.refuse(ValueError, name, "a length that fits int64 for all that vmap maps over", f"{n} of {batch}")
    return batch * n


def _joined(x: Tensor, mapped: int | None, offsets: Tensor, dim: int, batch: int) -> tuple[Tensor, Tensor]:
    """x with the mapped dim merged into dim, and the offsets of all its counts."""
    x = x.unsqueeze(dim).expand(*x.shape[:dim], batch, *x.shape[dim:]) if mapped is None else x.movedim(mapped, dim)
    starts = torch.cat([offsets.new_zeros(1), offsets[:, -1].cumsum(0)])
    return x.flatten(dim, dim + 1), torch.cat([(offsets[:, :-1] + starts[:-1, None]).flatten(), starts[-1:]])


def _interpolate_mapped(info: Any, dims: Any, x: Tensor, size: Ints, *how: Any) -> tuple[Tensor, int]:
    own = _own(x, dims[0])
    arguments.resampled(own, own[2:], frontends.dtype_name(x), size, *how)
    x = _front(x, dims[0])
    return OPS.interpolate.default(x.flatten(0, 1), size, *how).unflatten(0, x.shape[:2]), 0


def _interpolate_adjoint_mapped(info: Any, dims: Any, g: Tensor, n_in: Ints, *how: Any) -> tuple[Tensor, int]:
    own = _own(g, dims[0])
    arguments.resampled(own, n_in, frontends.dtype_name(g), own[2:], *how)
    g = _front(g, dims[0])
    return OPS.interpolate_adjoint.default(g.flatten(0, 1), n_in, *how).unflatten(0, g.shape[:2]), 0


def _resize_mapped(info: Any, dims: Any, x: Tensor, size: Ints, axes: Ints, *how: Any) -> tuple[Tensor, int]:
    arguments.resized(_own(x, dims[0]), None, frontends.dtype_name(x), size, axes, *how)
    return OPS.resize.default(_front(x, dims[0]), size, [a + 1 for a in axes], *how), 0


def _resize_adjoint_mapped(info: Any, dims: Any, g: Tensor, n_in: Ints, axes: Ints, *how: Any) -> tuple[Tensor, int]:
    arguments.resized(_own(g, dims[0]), n_in, frontends.dtype_name(g), None, axes, *how)
    return OPS.resize_adjoint.default(_front(g, dims[0]), n_in, [a + 1 for a in axes], *how), 0


def _offsets_mapped(info: Any, dims: Any, counts: Tensor, n: int, output_size: int | None) -> tuple[Tensor, int]:
    arguments.to_count(_own(counts, dims[0]), frontends.dtype_name(counts), n, output_size)
    return OPS.offsets.default(_front(counts, dims[0]), n, output_size), 0


def _total_mapped(offsets: Tensor) -> int:
    value, dim = private.unwrap_batched(offsets)
    arguments.to_total(_own(value, dim), value.dtype)
    with private.below_vmap():
        return OPS.total.default(value if dim is None else value.movedim(dim, 0))  # type: ignore[no-any-return]


MAPPED: dict[str, Callable[..., Any]] = {
    "repeat": _repeat_mapped, "repeat_adjoint": _repeat_adjoint_mapped, "repeat_counts": _repeat_counts_mapped,
    "repeat_counts_adjoint": _repeat_counts_adjoint_mapped, "interpolate": _interpolate_mapped,
    "interpolate_adjoint": _interpolate_adjoint_mapped, "resize": _resize_mapped,
    "resize_adjoint": _resize_adjoint_mapped, "offsets": _offsets_mapped,
}  # fmt: skip
for name, rule in MAPPED.items():
    torch.library.register_vmap(f"tenter::{name}", arguments.refusing(name, rule, 2), lib=LIBRARY)
LIBRARY.impl("total", arguments.refusing("total", _total_mapped), "FuncTorchBatched")
