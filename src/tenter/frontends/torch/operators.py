"""The operators' kernels on the CPU and on CUDA devices, and what they make of tensors that are shapes alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tenter import build, check, frontends, limits
from tenter.frontends.layout import resized_order
from tenter.frontends.torch import device, private
from tenter.frontends.torch.plain import extent, holds, memory_order
from tenter.frontends.torch.schema import LIBRARY, Ints
from tenter.sampling import read
from tenter.stretch import Repeat, RepeatCounts, Resample, Resize, Stretch, shape_out


def _stretch(x: Tensor, does: Stretch) -> Tensor:
    from tenter import apply, calls  # late: they read frontends

    if isinstance(does, RepeatCounts):
        return apply.plan(x, does).run(x)
    return calls.kept(("operator", x.shape, frontends.of(x).place(x), x.dtype, does), lambda: apply.plan(x, does)).run(
        x
    )


def _adjoint(g: Tensor, does: Stretch, n_in: Ints) -> Tensor:
    """The gradient of an array of shape n_in."""
    from tenter import apply, calls

    def plan() -> apply.Planned:
        apply.has_tables(does, tuple(n_in))
        maps = build.maps(does, tuple(n_in), frontends.dtype_name(g), frontends.on_device(g))
        return apply.planned(g, tuple((axis, m.T) for axis, m in maps), apply.keeps_layout(does), does=does)

    if isinstance(does, RepeatCounts):
        return plan().run(g)
    return calls.kept(("adjoint", g.shape, frontends.of(g).place(g), g.dtype, does, tuple(n_in)), plan).run(g)


# A graph's author may write anything; the public functions have checked what follows.


def _repeated(x: Tensor, sizes: Ints, each: bool) -> Repeat:
    if len(sizes) != x.ndim or min(sizes, default=0) < 0:
        limits.refuse(ValueError, "sizes", f"{x.ndim} sizes >= 0, one per dim", f"{sizes}")
    return Repeat(tuple(sizes), each)


def _resampled(x: Tensor, size: Ints, scales: list[float] | None, kind: str, *rule: bool) -> Resample:
    n = x.ndim - 2
    if not 1 <= n <= 3 or len(size) != n or min(size) < 1 or 0 in x.shape[2:] or (scales and len(scales) != n):
        limits.refuse(ValueError, "size", "1 to 3 sizes > 0, one per spatial dim", f"{size} for {tuple(x.shape)}")
    if scales and not all(0 < s < math.inf for s in scales):
        limits.refuse(ValueError, "scales", "finite numbers above 0", f"{scales}")
    if kind == "lanczos" and not rule[1]:
        limits.refuse(ValueError, "antialias", "True, which lanczos needs", "False")
    if kind not in build.KINDS.values():
        limits.refuse(ValueError, "kind", f"one of {sorted(set(build.KINDS.values()))}", repr(kind))
    if not kind.startswith("nearest") and not frontends.is_numeric(frontends.dtype_name(x)):
        limits.refuse(TypeError, "x", f"numbers for {kind}", frontends.dtype_name(x))
    return Resample(tuple(size), tuple(scales) if scales else None, kind, *rule)


def _resized(x: Tensor, size: Ints, axes: Ints, rule: str, saturate: bool) -> Resize:
    found = read(rule)
    if len(size) != len(axes) or len(found) != len(axes) or min(size, default=0) < 0:
        limits.refuse(
            ValueError, "size", f"{len(axes)} sizes and rules, one per axis", f"{size} and {len(found)} rules"
        )
    if list(axes) != sorted(set(axes)) or any(not 0 <= a < x.ndim for a in axes):
        limits.refuse(ValueError, "axes", f"ascending dims of a {x.ndim}-d tensor", f"{axes}")
    if any(x.shape[a] == 0 and n for a, n in zip(axes, size)):
        limits.refuse(ValueError, "x", "axes of at least 1 to resize", f"shape {tuple(x.shape)}")
    if any(not r.kind.startswith("nearest") for r in found) and not frontends.is_numeric(frontends.dtype_name(x)):
        limits.refuse(TypeError, "x", "numbers to take sums of", frontends.dtype_name(x))
    return Resize(tuple(axes), tuple(size), found, saturate)


def _unstretched(g: Tensor, n_in: Ints, sizes: Ints) -> Ints:
    if len(n_in) != g.ndim:
        limits.refuse(ValueError, "n_in", f"{g.ndim} lengths", f"{n_in}")
    return [n if r == 1 else m for n, m, r in zip(g.shape, n_in, sizes)]


def _repeat(x: Tensor, sizes: Ints, each: bool) -> Tensor:
    return _stretch(x, _repeated(x, sizes, each))


def _repeat_adjoint(g: Tensor, n_in: Ints, sizes: Ints, each: bool) -> Tensor:
    return _adjoint(g, _repeated(g, sizes, each), _unstretched(g, n_in, sizes))


def _repeat_counts(x: Tensor, offsets: Tensor, dim: int, n_out: int) -> Tensor:
    _in_dims(dim, x)
    return _stretch(x, RepeatCounts(_running(offsets, x, x.shape[dim], n_out), dim, n_out))


def _repeat_counts_adjoint(g: Tensor, offsets: Tensor, dim: int) -> Tensor:
    _in_dims(dim, g)
    if offsets.ndim != 1 or not offsets.shape[0]:
        limits.refuse(ValueError, "offsets", "1-D running totals", f"shape {tuple(offsets.shape)}")
    does = RepeatCounts(_running(offsets, g, offsets.shape[0] - 1, g.shape[dim]), dim, g.shape[dim])
    return _adjoint(g, does, [*g.shape[:dim], offsets.shape[0] - 1, *g.shape[dim + 1 :]])


def _in_dims(dim: int, x: Tensor) -> None:
    if not 0 <= dim < x.ndim:
        limits.refuse(IndexError, "dim", f"from 0 to {x.ndim - 1}", f"{dim}")


def _running(offsets: Tensor, x: Tensor, n: int, n_out: int) -> Any:
    """Offsets as an array whose promises hold: nothing stops a graph's author from passing others. On a device kernels
    stay in bounds whatever they are."""
    if not holds(offsets, extent(offsets)):
        limits.refuse(TypeError, "offsets", "a tensor with memory of its own", "one whose storage is too small")
    if device.name(offsets) is not None:
        if offsets.device != x.device:
            limits.refuse(TypeError, "offsets", f"some on {x.device}", f"some on {offsets.device}")
        if offsets.dtype != torch.int64 or offsets.shape != (n + 1,):
            limits.refuse(ValueError, "offsets", f"{n + 1} running totals", frontends.describe(offsets))
        return offsets.contiguous()
    array = frontends.to_numpy(offsets).copy()  # before it is looked at: others may write to the tensor
    fits = array.dtype == np.int64 and array.shape == (n + 1,)
    if not fits or array[0] != 0 or array[-1] != n_out or (array[1:] < array[:-1]).any():
        limits.refuse(ValueError, "offsets", f"{n + 1} ascending running totals from 0 to {n_out}", f"{array}")
    return array


def _interpolate(x: Tensor, size: Ints, scales: list[float] | None, kind: str, *rule: bool) -> Tensor:
    return _stretch(x, _resampled(x, size, scales, kind, *rule))


def _interpolate_adjoint(g: Tensor, n_in: Ints, scales: list[float] | None, kind: str, *rule: bool) -> Tensor:
    if len(n_in) != g.ndim - 2:
        limits.refuse(ValueError, "n_in", f"{g.ndim - 2} lengths", f"{n_in}")
    return _adjoint(g, _resampled(g, list(g.shape[2:]), scales, kind, *rule), [*g.shape[:2], *n_in])


def _resize(x: Tensor, *how: Any) -> Tensor:
    return _stretch(x, _resized(x, *how))


def _resize_adjoint(g: Tensor, n_in: Ints, axes: Ints, rule: str, saturate: bool) -> Tensor:
    if len(n_in) != len(axes) or any(not 0 <= a < g.ndim for a in axes) or min(n_in, default=1) < 0:
        limits.refuse(ValueError, "n_in", f"{len(axes)} lengths, one per axis", f"{n_in}")
    lengths = dict(zip(axes, n_in))
    does = _resized(g, [g.shape[a] for a in axes], axes, rule, saturate)
    return _adjoint(g, does, [lengths.get(d, n) for d, n in enumerate(g.shape)])


def _offsets(counts: Tensor, n: int, output_size: int | None) -> Tensor:
    if counts.shape[-1:] != (n,):
        limits.refuse(ValueError, "repeats", f"{n} counts", f"shape {tuple(counts.shape)}")
    check.count_shape("repeats", frontends.dtype_name(counts), counts.shape[-1:], n, None)
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


def _refusing(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*args: Any) -> Any:
        try:
            result = kernel(*args)
            if watch is not None:
                watch(name, args)
            return result
        except limits.Refusal as refusal:
            if name == "offsets":
                raise check.error(refusal, "repeat_interleave", repeats=args[0], output_size=args[2]) from None
            if name == "total":
                raise check.error(refusal, "repeat_interleave") from None
            raise check.error(refusal, f"torch.ops.tenter.{name}", *args) from None

    return checked


KERNELS: dict[str, Callable[..., Any]] = {
    "repeat": _repeat, "repeat_adjoint": _repeat_adjoint, "repeat_counts": _repeat_counts,
    "repeat_counts_adjoint": _repeat_counts_adjoint, "interpolate": _interpolate,
    "interpolate_adjoint": _interpolate_adjoint, "resize": _resize, "resize_adjoint": _resize_adjoint,
    "offsets": _offsets, "total": _total,
}  # fmt: skip
for name, kernel in KERNELS.items():
    for key in ("CPU", "CUDA"):
        LIBRARY.impl(name, _refusing(name, kernel), key)


# ---- shapes


def _like(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode  # late: it takes a while

    try:
        order = memory_order(tuple(x.shape), x.stride())
    except GuardOnDataDependentSymNode:  # as PyTorch: not channels-last as far as is known
        order = tuple(range(x.ndim))
    return torch.empty_permuted(shape, order, dtype=x.dtype, device=x.device)


FAKE: dict[str, Callable[..., Any]] = {
    "repeat": lambda x, sizes, each: x.new_empty(shape_out(Repeat(sizes, each), x.shape)),
    "repeat_adjoint": lambda g, n_in, sizes, each: g.new_empty(_unstretched(g, n_in, sizes)),
    "repeat_counts": lambda x, offsets, dim, n_out: _along(x, offsets, dim, n_out),
    "repeat_counts_adjoint": lambda g, offsets, dim: _along(g, offsets, dim, offsets.shape[0] - 1),
    "interpolate": lambda x, size, *rule: _like(x, (*x.shape[:2], *size)),
    "interpolate_adjoint": lambda g, n_in, *rule: _like(g, (*g.shape[:2], *n_in)),
    "resize": lambda x, size, axes, rule, saturate: _resized_like(x, axes, size, saturate),
    "resize_adjoint": lambda g, n_in, axes, rule, saturate: _resized_like(g, axes, n_in, False),
    "offsets": lambda counts, n, output_size: counts.new_empty((*counts.shape[:-1], n + 1), dtype=torch.int64),
    "total": lambda offsets: _symbol(offsets),
}


def _resized_like(x: Tensor, axes: Ints, size: Ints, saturate: bool) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

    after = dict(zip(axes, size))
    saturate = saturate and x.dtype == torch.uint8 and len(axes) == 2
    try:
        order = resized_order(tuple(x.shape), x.stride(), tuple(axes), saturate)
    except GuardOnDataDependentSymNode:
        order = tuple(range(x.ndim))
    shape = [after.get(d, n) for d, n in enumerate(x.shape)]
    return torch.empty_permuted(shape, order, dtype=x.dtype, device=x.device)


def _along(x: Tensor, offsets: Tensor, dim: int, n: int) -> Tensor:
    if x.device != offsets.device:  # or offsets of shape alone would make a result of no values
        raise TypeError(f"offsets: expected some on {x.device}, got {offsets.device}")
    return x.new_empty((*x.shape[:dim], n, *x.shape[dim + 1 :]))


def _symbol(offsets: Tensor) -> Any:
    symbol = private.new_symbol()
    if symbol is None:
        raise TypeError("repeats: expected counts with values, or output_size given, got counts without values")
    return symbol


for name, fake in FAKE.items():
    torch.library.register_fake(f"tenter::{name}", fake, lib=LIBRARY)
