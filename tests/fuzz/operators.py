"""torch.ops.tenter.*, with arguments that are true and with some that lie."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from tenter._rules import axis_rule
from tenter._rules.rounding import by_axis
from tenter._specs import resize_arguments
from tenter._specs.repeat import Repeat, RepeatCounts
from tenter._specs.resize import KINDS as KIND_OF_MODE, Interpolate, Resize
from tenter._torch import schema

from . import counts, lies
from .arrays import TORCH, Array, drawn, readable
from .call import Call, Named, named, written
from .draw import Draw
from .interpolating import interpolation, planned
from .matrices import LARGEST, copying, of_map
from .oracle import Maps, Wrong, check_bits, check_shape, check_values, name_of, summed, taken
from .resizing import resizing
from .summing import check_maps, dtype_for

del schema  # whose import registers the operators
SUMS = ("float32", "float64", "float16", "bfloat16", "complex64", "int32", "uint8", "int64")


def tensor(r: Draw, name: str, shape: tuple[int, ...], dtype: str) -> Named:
    return named(name, drawn(r, shape, dtype, "torch"))


def honest(r: Draw, op: str) -> list[Any]:
    """Arguments that are true."""
    base = op.removesuffix("_adjoint")
    adjoint = op != base
    dtype = r.pick(SUMS if adjoint else TORCH)
    if base == "repeat":
        shape = r.shape(r.int(0, 4), 300)
        sizes = [r.pick((1, 1, 2, 3, 0)) for _ in shape]
        if not adjoint:
            return [tensor(r, "x", shape, dtype), sizes, r.chance(0.5)]
        return [tensor(r, "x", tuple(n * s for n, s in zip(shape, sizes)), dtype), list(shape), sizes, r.chance(0.5)]
    if base == "repeat_counts":
        shape = r.shape(r.int(1, 4), 300)
        dim = r.int(0, len(shape) - 1)
        offsets = np.concatenate([[0], np.cumsum(counts.values(r, shape[dim], 300))]).astype(int).tolist()
        held = named(
            "offsets", Array("torch", "int64", (len(offsets),), offsets, guard="after", steps=(r.pick((1, 1, 2)),))
        )
        if not adjoint:
            return [tensor(r, "x", shape, dtype), held, dim, offsets[-1]]
        return [tensor(r, "x", (*shape[:dim], offsets[-1], *shape[dim + 1 :]), dtype), held, dim]
    if base == "interpolate":
        x, how, kwargs = interpolation(r, "torch")
        _, _, shape = planned(x.value, kwargs)
        kind = KIND_OF_MODE[kwargs["mode"]]
        rule = [kind, bool(kwargs.get("align_corners")), bool(kwargs.get("antialias")), r.chance(0.2)]
        factor = kwargs.get("scale_factor")
        scales = None if factor is None else [float(f) for f in (factor if isinstance(factor, tuple) else [factor])]
        if not adjoint:
            return [x, list(shape[2:]), scales, *rule]
        return [tensor(r, "x", shape, r.pick(SUMS)), list(how.shape[2:]), scales, *rule]
    if base == "resize":
        x, how, kwargs, extra = resizing(r, "torch", dtype_for(r, "torch", False))
        if extra:  # a user's filter, whose name in the rule depends on those before it
            kwargs["mode"] = "linear"
        given = {k: (v.value if isinstance(v, Named) else v) for k, v in kwargs.items() if k not in ("value", "box")}
        does, _ = resize_arguments.checked(x.value, resize_arguments.Arguments(**given))
        after = does.shape_out(how.shape)
        rest = [list(does.axes), axis_rule.written(does.rules), does.rounding]
        if not adjoint:
            return [x, list(does.size), *rest]
        if math.prod(after) > LARGEST:  # the gradient would be a large array
            return honest(r, op)
        return [tensor(r, "x", after, r.pick(SUMS)), [how.shape[a] for a in does.axes], *rest]
    n = r.int(0, 40)
    found = counts.values(r, n, 300)
    if op == "offsets":
        held = named("x", Array("torch", r.pick(("int64", "int32", "uint8")), (n,), [min(c, 255) for c in found]))
        return [held, n, r.pick((None, sum(min(c, 255) for c in found)))]
    return [named("x", Array("torch", "int64", (n + 1,), np.cumsum([0, *found]).tolist()))]


def judged(op: str, args: list[Any]) -> Any:
    """A check of the result of these arguments; None where they must be refused."""
    values = [a.value if isinstance(a, Named) else a for a in args]
    x = values[0]
    if not readable(x) or any(isinstance(v, torch.Tensor) and not readable(v) for v in values):
        return None
    adjoint = op.endswith("_adjoint")
    if op in ("offsets", "total"):
        return lambda y: _running(op, y, values)
    does, n_in = _does(op, values)
    if does is None:
        return None
    name = name_of(x)
    if any(n < 0 for n in n_in):
        return None
    if adjoint and 0 in n_in:
        return lambda y: None  # the gradient of nothing, which may be refused
    after = does.shape_out(n_in)
    if adjoint and after != tuple(x.shape):
        return None
    if max(n * m for n, m in zip((*after, 0), (*n_in, 0))) > LARGEST or max((*after, *n_in), default=0) > 10**5:
        return lambda y: None  # too large for matrices
    maps: Maps = (
        [(a, of_map(m)) for a, m in does.maps(n_in, name, False)]
        if not isinstance(does, RepeatCounts)
        else [(does.dim, copying(np.repeat(np.arange(n_in[does.dim]), np.diff(does.offsets)), n_in[does.dim]))]
    )
    if adjoint:
        return lambda y: _summed(y, x, n_in, [(a, d.T) for a, d in maps])

    def forth(y: Any) -> None:
        check_shape(y, x, after)
        if all(d.index is not None for _, d in maps):
            check_bits(y, taken(x, maps))
        else:
            check_maps(y, x, maps, by_axis(does.rounding_of(name)))

    return forth


def _does(op: str, v: list[Any]) -> tuple[Any, tuple[int, ...]]:
    """What the arguments say, and the lengths that it is done to; None where they say nothing that can be done."""
    x, base = v[0], op.removesuffix("_adjoint")
    adjoint, shape = op != base, tuple(v[0].shape)
    if base == "repeat":
        sizes, each = v[-2], v[-1]
        if len(sizes) != len(shape) or min(sizes, default=0) < 0 or (adjoint and len(v[1]) != len(shape)):
            return None, shape
        lengths = tuple(n if s == 1 else m for n, m, s in zip(shape, v[1], sizes)) if adjoint else shape
        return Repeat(tuple(sizes), each), lengths
    if base == "repeat_counts":
        offsets, dim = v[1], v[2]
        if not 0 <= dim < len(shape) or offsets.dtype != torch.int64 or offsets.ndim != 1 or not len(offsets):
            return None, shape
        running = offsets.numpy()
        n, total = (len(running) - 1, shape[dim]) if adjoint else (shape[dim], v[3])
        if len(running) != n + 1 or running[0] != 0 or running[-1] != total or (np.diff(running) < 0).any():
            return None, shape
        return RepeatCounts(running, dim, total), (*shape[:dim], n, *shape[dim + 1 :])
    if base == "interpolate":
        spatial, scales, rule = v[1], v[2], v[3:]
        if not 1 <= len(shape) - 2 <= 3 or len(spatial) != len(shape) - 2 or rule[0] not in KIND_OF_MODE.values():
            return None, shape
        size, lengths = (shape[2:], (*shape[:2], *spatial)) if adjoint else (tuple(spatial), shape)
        if min(size) < 1 or min(lengths[2:]) < (0 if adjoint else 1) or (rule[0] == "lanczos" and not rule[2]):
            return None, shape
        if scales and (len(scales) != len(spatial) or not all(0 < s < float("inf") for s in scales)):
            return None, shape
        return Interpolate(size, tuple(scales) if scales else None, *rule), lengths
    given, axes, rule, rounding = v[1:]
    try:
        rules = axis_rule.read(rule)
    except Exception:  # refused there
        return None, shape
    if len(given) != len(axes) or len(rules) != len(axes) or list(axes) != sorted(set(axes)):
        return None, shape
    if any(not 0 <= a < x.ndim for a in axes):
        return None, shape
    after = dict(zip(axes, given))
    lengths = tuple(after.get(a, n) for a, n in enumerate(shape)) if adjoint else shape
    size = tuple(shape[a] for a in axes) if adjoint else tuple(given)
    if (any(lengths[a] == 0 and n for a, n in zip(axes, size)) and not adjoint) or min(size, default=0) < 0:
        return None, shape
    return Resize(tuple(axes), size, rules, rounding), lengths


def _summed(y: Any, x: Any, shape: tuple[int, ...], maps: Maps) -> None:
    check_shape(y, x, shape)
    name = name_of(x)
    if name.removeprefix("u").startswith("int") or name not in SUMS:
        return
    from .arrays import numbers

    check_values(y, summed(numbers(x), maps, name), name, 1e-14)


def _running(op: str, y: Any, values: list[Any]) -> None:
    x = values[0]
    if op == "total":
        if x.numel() and y != int(x.reshape(-1)[-1]):
            raise Wrong("values", f"{y}")
        return
    want = np.concatenate([np.zeros((*x.shape[:-1], 1)), np.cumsum(x.numpy().astype(object), -1)], -1).astype(np.int64)
    if tuple(y.shape) != want.shape or not np.array_equal(y.numpy(), want):
        raise Wrong("values", f"{y}")


OPS = ("repeat", "repeat_adjoint", "repeat_counts", "repeat_counts_adjoint", "interpolate", "interpolate_adjoint", "resize",
       "resize_adjoint", "offsets", "total")  # fmt: skip


def operator(r: Draw) -> Call:
    op = r.pick(OPS)
    args = honest(r, op)
    lying = r.chance(0.7)
    if lying:
        for _ in range(r.pick((1, 1, 2))):
            args = lies.told(r, args)
    names = {a.name: a for a in args if isinstance(a, Named)}
    source = "y = " + written(f"torch.ops.tenter.{op}", args)
    check: Any = None
    try:
        check = judged(op, args)
    except Exception:  # it cannot be done, so it must not be
        if not lying:
            raise
    if check is None:

        def check(y: Any) -> None:
            raise Wrong("accepted a lie", source)

    return Call("", source, names, check, lies=lying or _may_refuse(args), repeats=op != "total")


def _may_refuse(args: list[Any]) -> bool:
    """Sums of what holds no numbers are refused."""
    return name_of(args[0].value) not in (
        *SUMS,
        "int8",
        "int16",
        "uint16",
        "uint32",
        "uint64",
        "complex128",
        "complex32",
    )


KINDS: dict[str, tuple[Any, float]] = {"torch.ops": (operator, 6)}
