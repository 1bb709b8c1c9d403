"""The operations as registered PyTorch operators, one pair of operation and adjoint for each family in `stretch.py`.

What each key of the dispatcher does with them:

    CPU              memory in, memory out: check what could not be checked while tracing, then as in eager code
    Autograd         records a Function whose gradient is the adjoint operator, whose adjoint is the operator, ...
    FuncTorchBatched the mapped dim becomes a leading one
    Meta, Fake       shapes and strides alone

Under torch.func an operator is called once per level of transforms, each of which runs its own of these keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tenter import build, check, frontends, limits
from tenter.frontends.torch import private
from tenter.stretch import Repeat, RepeatCounts, Resample, Stretch, shape_out

LIBRARY = torch.library.Library("tenter", "DEF")
OPS = torch.ops.tenter
Ints = list[int]

# n_in: lengths of the input's dims; of those that do not stretch the gradient's own are used, so that a gradient may be
# a shard of the batch.
SCHEMAS = {
    "repeat": "(Tensor x, SymInt[] sizes, bool each) -> Tensor",
    "repeat_adjoint": "(Tensor grad, SymInt[] n_in, SymInt[] sizes, bool each) -> Tensor",
    "repeat_counts": "(Tensor x, Tensor offsets, int dim, SymInt n_out) -> Tensor",
    "repeat_counts_adjoint": "(Tensor grad, Tensor offsets, int dim) -> Tensor",
    "interpolate": "(Tensor x, SymInt[] size, float[]? scales, str kind, bool align_corners, bool antialias, "
    "bool channels_last) -> Tensor",
    "interpolate_adjoint": "(Tensor grad, SymInt[] n_in, float[]? scales, str kind, bool align_corners, "
    "bool antialias, bool channels_last) -> Tensor",
    # Running totals of counts along the last dim, from 0; verified. And the last of them, as an int.
    "offsets": "(Tensor counts, SymInt n, SymInt? output_size) -> Tensor",
    "total": "(Tensor offsets) -> SymInt",
}
for name, schema in SCHEMAS.items():
    LIBRARY.define(name + schema)


# ---- calls


def call(x: Tensor, does: Stretch) -> Tensor:
    if _sharded(x):
        from tenter.frontends.torch import sharding  # late: it imports torch.distributed

        does = sharding.beside(x, does)
    if isinstance(does, Repeat):
        return OPS.repeat.default(x, does.sizes, does.each)
    if isinstance(does, RepeatCounts):
        return OPS.repeat_counts.default(x, does.offsets, does.dim, does.n_out)
    return OPS.interpolate.default(x, *does)


def call_adjoint(g: Tensor, does: Stretch, n_in: tuple[int, ...]) -> Tensor:
    if isinstance(does, Repeat):
        return OPS.repeat_adjoint.default(g, n_in, does.sizes, does.each)
    if isinstance(does, RepeatCounts):
        return OPS.repeat_counts_adjoint.default(g, torch.as_tensor(does.offsets), does.dim)
    return OPS.interpolate_adjoint.default(g, n_in[2:], *does[1:])


def counted(x: Tensor, repeats: Any, dim: int, output_size: Any) -> RepeatCounts:
    """Counts whose values may come later, and x or they are for the dispatcher."""
    if _sharded(repeats):
        from tenter.frontends.torch import sharding

        repeats = sharding.whole(repeats)
    n = x.shape[dim]
    if isinstance(repeats, (list, tuple)):
        repeats = [check.integer("repeats", r, "integer counts") for r in repeats]
        if output_size is None and len(repeats) == n:
            output_size = sum(repeats)
    if output_size is not None:
        output_size = check.integer("output_size", output_size, check.TOTAL, 0)
    counts = repeats if isinstance(repeats, Tensor) else torch.tensor(repeats, dtype=torch.int64, device=x.device)
    check.count_shape("repeats", frontends.dtype_name(counts), counts.shape, n, dim)
    if counts.device.type != x.device.type or (x.device.type == "meta" and output_size is None):
        limits.refuse(TypeError, "repeats", f"counts with values, on {x.device.type}", f"some on {counts.device.type}")
    counts = counts.reshape(1).expand(n) if counts.ndim == 0 or (counts.shape[0] == 1 and n != 1) else counts
    offsets = OPS.offsets.default(counts, n, output_size)
    if output_size is not None:
        return RepeatCounts(offsets, dim, output_size)
    total = int(offsets[-1]) if private.tracing() else OPS.total.default(offsets)  # a trace knows no symbols
    torch._check(total >= 0)
    return RepeatCounts(offsets, dim, total)


def _sharded(x: Any) -> bool:
    """Is x a DTensor? By name, as for most callers its module is not loaded."""
    return type(x).__name__ == "DTensor"


# ---- CPU


def _stretch(x: Tensor, does: Stretch) -> Tensor:
    from tenter import apply  # late: apply reads frontends

    return apply.plan(x, does).run(x)  # type: ignore[no-any-return]


def _adjoint(g: Tensor, does: Stretch, n_in: Ints) -> Tensor:
    """The gradient of an array of shape n_in."""
    from tenter import apply

    maps = build.maps(does, tuple(n_in), frontends.dtype_name(g))
    return apply.planned(g, tuple((axis, m.T) for axis, m in maps), isinstance(does, Resample)).run(g)  # type: ignore[no-any-return]


def _unstretched(g: Tensor, n_in: Ints, sizes: Ints) -> Ints:
    return [n if r == 1 else m for n, m, r in zip(g.shape, n_in, sizes)]


def _repeat(x: Tensor, sizes: Ints, each: bool) -> Tensor:
    return _stretch(x, Repeat(tuple(sizes), each))


def _repeat_adjoint(g: Tensor, n_in: Ints, sizes: Ints, each: bool) -> Tensor:
    return _adjoint(g, Repeat(tuple(sizes), each), _unstretched(g, n_in, sizes))


def _repeat_counts(x: Tensor, offsets: Tensor, dim: int, n_out: int) -> Tensor:
    return _stretch(x, RepeatCounts(_running(offsets, x.shape[dim], n_out), dim, n_out))


def _repeat_counts_adjoint(g: Tensor, offsets: Tensor, dim: int) -> Tensor:
    does = RepeatCounts(_running(offsets, offsets.shape[0] - 1, g.shape[dim]), dim, g.shape[dim])
    return _adjoint(g, does, [*g.shape[:dim], offsets.shape[0] - 1, *g.shape[dim + 1 :]])


def _running(offsets: Tensor, n: int, n_out: int) -> Any:
    """Offsets as an array whose promises hold: nothing stops a graph's author from passing others."""
    array = frontends.to_numpy(offsets)
    if array.shape != (n + 1,) or array[0] != 0 or array[-1] != n_out or (array[1:] < array[:-1]).any():
        limits.refuse(ValueError, "offsets", f"{n + 1} ascending running totals from 0 to {n_out}", f"{array}")
    return array.copy()


def _interpolate(x: Tensor, size: Ints, scales: list[float] | None, *rule: Any) -> Tensor:
    return _stretch(x, Resample(tuple(size), tuple(scales) if scales else None, *rule))


def _interpolate_adjoint(g: Tensor, n_in: Ints, scales: list[float] | None, *rule: Any) -> Tensor:
    does = Resample(tuple(g.shape[2:]), tuple(scales) if scales else None, *rule)
    return _adjoint(g, does, [*g.shape[:2], *n_in])


def _offsets(counts: Tensor, n: int, output_size: int | None) -> Tensor:
    rows = counts.flatten(0, -2) if counts.ndim > 1 else counts[None]
    made = [torch.from_numpy(check.offsets("repeats", frontends.to_numpy(row))) for row in rows]
    for row in made:
        check.total(int(row[-1]), output_size)
    return torch.stack(made).reshape((*counts.shape[:-1], n + 1))


def _total(offsets: Tensor) -> int:
    """Under vmap there may be many; their results are stacked, so they have one length."""
    totals = offsets[..., -1].flatten()
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
            raise check.error(refusal, f"torch.ops.tenter.{name}", *args) from None

    return checked


CPU: dict[str, Callable[..., Any]] = {
    "repeat": _repeat, "repeat_adjoint": _repeat_adjoint, "repeat_counts": _repeat_counts,
    "repeat_counts_adjoint": _repeat_counts_adjoint, "interpolate": _interpolate,
    "interpolate_adjoint": _interpolate_adjoint, "offsets": _offsets, "total": _total,
}  # fmt: skip
for name, kernel in CPU.items():
    LIBRARY.impl(name, _refusing(name, kernel), "CPU")


# ---- shapes


def _like(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    order = frontends.memory_order(tuple(x.shape), x.stride())
    return torch.empty_permuted(shape, order, dtype=x.dtype, device=x.device)


FAKE: dict[str, Callable[..., Any]] = {
    "repeat": lambda x, sizes, each: x.new_empty(shape_out(Repeat(sizes, each), x.shape)),
    "repeat_adjoint": lambda g, n_in, sizes, each: g.new_empty(_unstretched(g, n_in, sizes)),
    "repeat_counts": lambda x, offsets, dim, n_out: x.new_empty((*x.shape[:dim], n_out, *x.shape[dim + 1 :])),
    "repeat_counts_adjoint": lambda g, offsets, dim: g.new_empty(
        (*g.shape[:dim], offsets.shape[0] - 1, *g.shape[dim + 1 :])
    ),
    "interpolate": lambda x, size, *rule: _like(x, (*x.shape[:2], *size)),
    "interpolate_adjoint": lambda g, n_in, *rule: _like(g, (*g.shape[:2], *n_in)),
    "offsets": lambda counts, n, output_size: counts.new_empty((*counts.shape[:-1], n + 1), dtype=torch.int64),
    "total": lambda offsets: _symbol(offsets),
}


def _symbol(offsets: Tensor) -> Any:
    symbol = private.new_symbol()
    if symbol is None:
        raise TypeError("repeats: expected counts with values, or output_size given, got counts without values")
    return symbol


for name, fake in FAKE.items():
    torch.library.register_fake(f"tenter::{name}", fake, lib=LIBRARY)


# ---- autograd


class _Linear(private.SingleLevelFunction):  # type: ignore[misc]
    """A linear operator: `forth` is its own tangent, `back` its gradient. Both take a tensor and the offsets."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, offsets: Tensor | None, forth: Any, back: Any) -> Tensor:
        ctx.save_for_backward(offsets)
        ctx.save_for_forward(offsets)
        ctx.forth, ctx.back = forth, back
        with private.recording(), private.below_autograd():
            return forth(x, offsets)  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None, None]:
        return ctx.back(g, *ctx.saved_tensors), None, None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, *_: None) -> Tensor:
        return ctx.forth(tangent, *ctx.saved_tensors)  # type: ignore[no-any-return]


_apply = private.apply_of(_Linear)


def _linear(x: Tensor, offsets: Tensor | None, forth: Any, back: Any) -> Tensor:
    if private.functorch_active():
        with private.single_level():
            return _apply(x, offsets, forth, back)  # type: ignore[no-any-return]
    if (x.requires_grad and torch.is_grad_enabled()) or private.forward_mode():
        return _apply(x, offsets, forth, back)  # type: ignore[no-any-return]
    with private.below_autograd():
        return forth(x, offsets)  # type: ignore[no-any-return]


def _repeat_recorded(x: Tensor, sizes: Ints, each: bool) -> Tensor:
    n_in = list(x.shape)
    return _linear(
        x,
        None,
        lambda x, _: OPS.repeat.default(x, sizes, each),
        lambda g, _: OPS.repeat_adjoint.default(g, n_in, sizes, each),
    )


def _repeat_adjoint_recorded(g: Tensor, n_in: Ints, sizes: Ints, each: bool) -> Tensor:
    return _linear(
        g,
        None,
        lambda g, _: OPS.repeat_adjoint.default(g, n_in, sizes, each),
        lambda x, _: OPS.repeat.default(x, sizes, each),
    )


def _repeat_counts_recorded(x: Tensor, offsets: Tensor, dim: int, n_out: int) -> Tensor:
    return _linear(
        x,
        offsets,
        lambda x, offsets: OPS.repeat_counts.default(x, offsets, dim, n_out),
        lambda g, offsets: OPS.repeat_counts_adjoint.default(g, offsets, dim),
    )


def _repeat_counts_adjoint_recorded(g: Tensor, offsets: Tensor, dim: int) -> Tensor:
    n_out = g.shape[dim]
    return _linear(
        g,
        offsets,
        lambda g, offsets: OPS.repeat_counts_adjoint.default(g, offsets, dim),
        lambda x, offsets: OPS.repeat_counts.default(x, offsets, dim, n_out),
    )


def _interpolate_recorded(x: Tensor, size: Ints, *rule: Any) -> Tensor:
    n_in = list(x.shape[2:])
    return _linear(
        x,
        None,
        lambda x, _: OPS.interpolate.default(x, size, *rule),
        lambda g, _: OPS.interpolate_adjoint.default(g, n_in, *rule),
    )


def _interpolate_adjoint_recorded(g: Tensor, n_in: Ints, *rule: Any) -> Tensor:
    size = list(g.shape[2:])
    return _linear(
        g,
        None,
        lambda g, _: OPS.interpolate_adjoint.default(g, n_in, *rule),
        lambda x, _: OPS.interpolate.default(x, size, *rule),
    )


AUTOGRAD: dict[str, Callable[..., Any]] = {
    "repeat": _repeat_recorded, "repeat_adjoint": _repeat_adjoint_recorded, "repeat_counts": _repeat_counts_recorded,
    "repeat_counts_adjoint": _repeat_counts_adjoint_recorded, "interpolate": _interpolate_recorded,
    "interpolate_adjoint": _interpolate_adjoint_recorded, "offsets": torch.library.fallthrough_kernel,
    "total": torch.library.fallthrough_kernel,
}  # fmt: skip
for name, kernel in AUTOGRAD.items():
    LIBRARY.impl(name, kernel, "Autograd")


# ---- vmap: the mapped dim goes in front


def _front(x: Tensor, dim: int | None) -> Tensor:
    assert dim is not None
    return x.movedim(dim, 0)


def _repeat_mapped(info: Any, dims: Any, x: Tensor, sizes: Ints, each: bool) -> tuple[Tensor, int]:
    return OPS.repeat.default(_front(x, dims[0]), [1, *sizes], each), 0


def _repeat_adjoint_mapped(info: Any, dims: Any, g: Tensor, n_in: Ints, sizes: Ints, each: bool) -> tuple[Tensor, int]:
    return OPS.repeat_adjoint.default(_front(g, dims[0]), [info.batch_size, *n_in], [1, *sizes], each), 0


def _repeat_counts_mapped(info: Any, dims: Any, x: Tensor, offsets: Tensor, dim: int, n_out: int) -> tuple[Tensor, int]:
    """Counts of one's own per mapped position: the positions of all, one behind the other, are one long dim."""
    if dims[1] is None:
        return OPS.repeat_counts.default(_front(x, dims[0]), offsets, dim + 1, n_out), 0
    x, joined = _joined(x, dims[0], offsets.movedim(dims[1], 0), dim, info.batch_size)
    y = OPS.repeat_counts.default(x, joined, dim, info.batch_size * n_out)
    return y.unflatten(dim, (info.batch_size, n_out)), dim


def _repeat_counts_adjoint_mapped(info: Any, dims: Any, g: Tensor, offsets: Tensor, dim: int) -> tuple[Tensor, int]:
    if dims[1] is None:
        return OPS.repeat_counts_adjoint.default(_front(g, dims[0]), offsets, dim + 1), 0
    offsets = offsets.movedim(dims[1], 0)
    n_in = offsets.shape[1] - 1
    g, joined = _joined(g, dims[0], offsets, dim, info.batch_size)
    return OPS.repeat_counts_adjoint.default(g, joined, dim).unflatten(dim, (info.batch_size, n_in)), dim


def _joined(x: Tensor, mapped: int | None, offsets: Tensor, dim: int, batch: int) -> tuple[Tensor, Tensor]:
    """x with the mapped dim merged into dim, and the offsets of all its counts."""
    x = x.unsqueeze(dim).expand(*x.shape[:dim], batch, *x.shape[dim:]) if mapped is None else x.movedim(mapped, dim)
    starts = torch.cat([offsets.new_zeros(1), offsets[:, -1].cumsum(0)])
    return x.flatten(dim, dim + 1), torch.cat([(offsets[:, :-1] + starts[:-1, None]).flatten(), starts[-1:]])


def _interpolate_mapped(info: Any, dims: Any, x: Tensor, *rule: Any) -> tuple[Tensor, int]:
    x = _front(x, dims[0])
    return OPS.interpolate.default(x.flatten(0, 1), *rule).unflatten(0, x.shape[:2]), 0


def _interpolate_adjoint_mapped(info: Any, dims: Any, g: Tensor, *rule: Any) -> tuple[Tensor, int]:
    g = _front(g, dims[0])
    return OPS.interpolate_adjoint.default(g.flatten(0, 1), *rule).unflatten(0, g.shape[:2]), 0


def _offsets_mapped(info: Any, dims: Any, counts: Tensor, n: int, output_size: int | None) -> tuple[Tensor, int]:
    return OPS.offsets.default(_front(counts, dims[0]), n, output_size), 0


def _total_mapped(offsets: Tensor) -> int:
    value, dim = private.unwrap_batched(offsets)
    with private.below_vmap():
        return OPS.total.default(value.movedim(dim, 0))  # type: ignore[no-any-return]


MAPPED: dict[str, Callable[..., Any]] = {
    "repeat": _repeat_mapped, "repeat_adjoint": _repeat_adjoint_mapped, "repeat_counts": _repeat_counts_mapped,
    "repeat_counts_adjoint": _repeat_counts_adjoint_mapped, "interpolate": _interpolate_mapped,
    "interpolate_adjoint": _interpolate_adjoint_mapped, "offsets": _offsets_mapped,
}  # fmt: skip
for name, rule in MAPPED.items():
    torch.library.register_vmap(f"tenter::{name}", rule, lib=LIBRARY)
LIBRARY.impl("total", _total_mapped, "FuncTorchBatched")
