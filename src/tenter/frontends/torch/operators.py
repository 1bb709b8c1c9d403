"""The operators' kernels on the CPU and on CUDA devices, and what they make of tensors that are shapes alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from tenter import check, frontends, limits
from tenter.frontends.layout import resized_order
from tenter.frontends.torch import arguments, device, private
from tenter.frontends.torch.arguments import Shape
from tenter.frontends.torch.plain import extent, holds, memory_order
from tenter.frontends.torch.schema import LIBRARY, Ints
from tenter.stretch import RepeatCounts, Stretch, shape_out


def _stretch(x: Tensor, does: Stretch) -> Tensor:
    from tenter import apply, calls  # late: they read frontends

    if isinstance(does, RepeatCounts):
        return apply.plan(x, does).run(x)
    return calls.kept(("operator", x.shape, frontends.of(x).place(x), x.dtype, does), lambda: apply.plan(x, does)).run(
        x
    )


def _adjoint(g: Tensor, does: Stretch, n_in: Shape) -> Tensor:
    """The gradient of an array of shape n_in."""
    from tenter import apply, calls

    plan = partial(apply.plan_adjoint, g, does, n_in)
    if isinstance(does, RepeatCounts):
        return plan().run(g)
    return calls.kept(("adjoint", g.shape, frontends.of(g).place(g), g.dtype, does, n_in), plan).run(g)


def _repeat(x: Tensor, sizes: Ints, each: bool) -> Tensor:
    return _stretch(x, arguments.repeated(x.shape, sizes, each))


def _repeat_adjoint(g: Tensor, n_in: Ints, sizes: Ints, each: bool) -> Tensor:
    return _adjoint(g, *arguments.unrepeated(g.shape, n_in, sizes, each))


def _repeat_counts(x: Tensor, offsets: Tensor, dim: int, n_out: int) -> Tensor:
    arguments.counted(x.shape, offsets.shape, offsets.dtype, dim, n_out)
    return _stretch(x, RepeatCounts(_running(offsets, x, n_out), dim, n_out))


def _repeat_counts_adjoint(g: Tensor, offsets: Tensor, dim: int) -> Tensor:
    arguments.counted(g.shape, offsets.shape, offsets.dtype, dim)
    does = RepeatCounts(_running(offsets, g, g.shape[dim]), dim, g.shape[dim])
    return _adjoint(g, does, (*g.shape[:dim], offsets.shape[0] - 1, *g.shape[dim + 1 :]))


def _running(offsets: Tensor, x: Tensor, n_out: int) -> Any:
    """Offsets as an array whose promises hold: nothing stops a graph's author from passing others. On a device kernels
    stay in bounds whatever they are."""
    if offsets.device != x.device:
        limits.refuse(TypeError, "offsets", f"some on {x.device}", f"some on {offsets.device}")
    if not holds(offsets, extent(offsets)):
        limits.refuse(TypeError, "offsets", "a tensor with memory of its own", "one whose storage is too small")
    if device.name(offsets) is not None:
        return offsets.contiguous()
    array = frontends.to_numpy(offsets).copy()  # before it is looked at: others may write to the tensor
    if array[0] != 0 or array[-1] != n_out or (array[1:] < array[:-1]).any():
        got = f"{len(array)} from {array[0]} to {array[-1]}"
        limits.refuse(ValueError, "offsets", f"ascending running totals from 0 to {n_out}", got)
    return array


def _interpolate(x: Tensor, size: Ints, *how: Any) -> Tensor:
    return _stretch(x, arguments.resampled(x.shape, x.shape[2:], frontends.dtype_name(x), size, *how))


def _interpolate_adjoint(g: Tensor, n_in: Ints, *how: Any) -> Tensor:
    does = arguments.resampled(g.shape, n_in, frontends.dtype_name(g), g.shape[2:], *how)
    return _adjoint(g, does, (*g.shape[:2], *n_in))


def _resize(x: Tensor, size: Ints, *how: Any) -> Tensor:
    return _stretch(x, arguments.resized(x.shape, None, frontends.dtype_name(x), size, *how)[0])


def _resize_adjoint(g: Tensor, n_in: Ints, axes: Ints, rule: str, saturate: bool) -> Tensor:
    does, lengths = arguments.resized(g.shape, n_in, frontends.dtype_name(g), None, axes, rule, saturate)
    return _adjoint(g, does, _with_lengths(g.shape, axes, lengths))


def _with_lengths(shape: Sequence[Any], axes: Sequence[int], lengths: Sequence[Any]) -> Shape:
    after = dict(zip(axes, lengths))
    return tuple(after.get(d, n) for d, n in enumerate(shape))


def _offsets(counts: Tensor, n: int, output_size: int | None) -> Tensor:
    arguments.to_count(counts.shape, frontends.dtype_name(counts), n, output_size)
    if not holds(counts, extent(counts)):
        limits.refuse(TypeError, "repeats", "a tensor with memory of its own", "one whose storage is too small")
    rows = counts.flatten(0, -2) if counts.ndim > 1 else counts[None]
    if not len(rows):
        return counts.new_empty((*counts.shape[:-1], n + 1), dtype=torch.int64)
    if device.name(counts) is not None:
        made = [device.offsets(row, output_size) for row in rows]
    else:
        made = [torch.from_numpy(check.offsets("repeats", frontends.to_numpy(row))) for row in rows]
        for row in made:
            check.total(int(row[-1]), output_size)
    return torch.stack(made).reshape((*counts.shape[:-1], n + 1))


def _total(offsets: Tensor) -> int:
    """Under vmap there may be many; their results are stacked, so they have one length."""
    arguments.to_total(offsets.shape, offsets.dtype)
    if not holds(offsets, extent(offsets)):
        limits.refuse(TypeError, "offsets", "a tensor with memory of its own", "one whose storage is too small")
    totals = offsets[..., -1:].flatten() if device.name(offsets) is None else device.total(offsets)
    if not totals.numel():
        limits.refuse(ValueError, "offsets", "running totals", f"shape {tuple(offsets.shape)}")
    first = int(totals[0])
    if not bool((totals == first).all()):
        got = f"sums {totals.tolist()[:8]}"
        limits.refuse(ValueError, "repeats", "counts of equal sums for all that vmap maps over", got)
    return first


# Told of every kernel that runs, while somebody counts.
watch: Callable[[str, tuple[Any, ...]], None] | None = None


def _watched(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    def told(*args: Any) -> Any:
        result = kernel(*args)
        if watch is not None:
            watch(name, args)
        return result

    return arguments.refusing(name, told)


KERNELS: dict[str, Callable[..., Any]] = {
    "repeat": _repeat, "repeat_adjoint": _repeat_adjoint, "repeat_counts": _repeat_counts,
    "repeat_counts_adjoint": _repeat_counts_adjoint, "interpolate": _interpolate,
    "interpolate_adjoint": _interpolate_adjoint, "resize": _resize, "resize_adjoint": _resize_adjoint,
    "offsets": _offsets, "total": _total,
}  # fmt: skip
for name, kernel in KERNELS.items():
    for key in ("CPU", "CUDA"):
        LIBRARY.impl(name, _watched(name, kernel), key)


# ---- shapes


def _like(x: Tensor, shape: Shape, order: Callable[[], tuple[int, ...]]) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode  # late: it takes a while

    try:
        dims = order()
    except GuardOnDataDependentSymNode:  # as PyTorch: not channels-last as far as is known
        dims = tuple(range(x.ndim))
    return torch.empty_permuted(arguments.addressable(x, shape), dims, dtype=x.dtype, device=x.device)


def _fresh(x: Tensor, shape: Sequence[Any]) -> Tensor:
    return x.new_empty(arguments.addressable(x, shape))


def _repeat_shape(x: Tensor, sizes: Ints, each: bool) -> Tensor:
    return _fresh(x, shape_out(arguments.repeated(x.shape, sizes, each), x.shape))


def _repeat_adjoint_shape(g: Tensor, n_in: Ints, sizes: Ints, each: bool) -> Tensor:
    return _fresh(g, arguments.unrepeated(g.shape, n_in, sizes, each)[1])


def _repeat_counts_shape(x: Tensor, offsets: Tensor, dim: int, n_out: Any) -> Tensor:
    arguments.counted(x.shape, offsets.shape, offsets.dtype, dim, n_out)
    return _along(x, offsets, dim, n_out)


def _repeat_counts_adjoint_shape(g: Tensor, offsets: Tensor, dim: int) -> Tensor:
    arguments.counted(g.shape, offsets.shape, offsets.dtype, dim)
    return _along(g, offsets, dim, offsets.shape[0] - 1)


def _along(x: Tensor, offsets: Tensor, dim: int, n: Any) -> Tensor:
    if x.device != offsets.device:  # or offsets of shape alone would make a result of no values
        limits.refuse(TypeError, "offsets", f"some on {x.device}", f"some on {offsets.device}")
    return _fresh(x, (*x.shape[:dim], n, *x.shape[dim + 1 :]))


def _interpolate_shape(x: Tensor, size: Ints, *how: Any) -> Tensor:
    arguments.resampled(x.shape, x.shape[2:], frontends.dtype_name(x), size, *how)
    return _like(x, (*x.shape[:2], *size), lambda: memory_order(tuple(x.shape), x.stride()))


def _interpolate_adjoint_shape(g: Tensor, n_in: Ints, *how: Any) -> Tensor:
    arguments.resampled(g.shape, n_in, frontends.dtype_name(g), g.shape[2:], *how)
    return _like(g, (*g.shape[:2], *n_in), lambda: memory_order(tuple(g.shape), g.stride()))


def _resize_shape(x: Tensor, size: Ints, axes: Ints, rule: str, saturate: bool) -> Tensor:
    arguments.resized(x.shape, None, frontends.dtype_name(x), size, axes, rule, saturate)
    return _resized_like(x, axes, size, saturate and x.dtype == torch.uint8 and len(axes) == 2)


def _resize_adjoint_shape(g: Tensor, n_in: Ints, axes: Ints, rule: str, saturate: bool) -> Tensor:
    arguments.resized(g.shape, n_in, frontends.dtype_name(g), None, axes, rule, saturate)
    return _resized_like(g, axes, n_in, False)


def _resized_like(x: Tensor, axes: Ints, lengths: Ints, saturate: bool) -> Tensor:
    order = lambda: resized_order(tuple(x.shape), x.stride(), tuple(axes), saturate)  # noqa: E731
    return _like(x, _with_lengths(x.shape, axes, lengths), order)


def _offsets_shape(counts: Tensor, n: Any, output_size: Any) -> Tensor:
    arguments.to_count(counts.shape, frontends.dtype_name(counts), n, output_size)
    return counts.new_empty((*counts.shape[:-1], n + 1), dtype=torch.int64)


def _symbol(offsets: Tensor) -> Any:
    arguments.to_total(offsets.shape, offsets.dtype)
    symbol = None if offsets.device.type == "meta" else private.new_symbol()
    if symbol is None:
        limits.refuse(TypeError, "repeats", "counts with values, or output_size given", "counts without values")
    return symbol


FAKE: dict[str, Callable[..., Any]] = {
    "repeat": _repeat_shape, "repeat_adjoint": _repeat_adjoint_shape, "repeat_counts": _repeat_counts_shape,
    "repeat_counts_adjoint": _repeat_counts_adjoint_shape, "interpolate": _interpolate_shape,
    "interpolate_adjoint": _interpolate_adjoint_shape, "resize": _resize_shape,
    "resize_adjoint": _resize_adjoint_shape, "offsets": _offsets_shape, "total": _symbol,
}  # fmt: skip
for name, fake in FAKE.items():
    torch.library.register_fake(f"tenter::{name}", arguments.refusing(name, fake), lib=LIBRARY)
