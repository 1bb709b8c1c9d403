"""The operators' kernels on the CPU and on CUDA devices. For tracers they return the shapes and strides of results."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from tenter import _native
from tenter._arrays import limits, torch_private, torch_tensors
from tenter._arrays.arguments import error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.torch_tensors import dtype_name, image_order, stored, to_numpy
from tenter._plans import cache
from tenter._plans.plan import cached_plan, plan, plan_adjoint
from tenter._rules.rounding import ONCE
from tenter._specs.operands import OPERATORS, Operator
from tenter._specs.repeat import RepeatCounts
from tenter._specs.spec import Spec
from tenter._torch import inductor, offsets
from tenter._torch.run import run
from tenter._torch.schema import LIBRARY, OPS

Kernel = Callable[..., Any]
COUNTS = OPERATORS[RepeatCounts]
# Called after every kernel with the operator's name and arguments, while a report counts calls.
watch: Callable[[str, tuple[Any, ...]], None] | None = None


def _count(name: str, args: tuple[Any, ...]) -> None:
    if watch is not None:
        watch(name, args)


def refusing(name: str, kernel: Kernel, first: int = 0, watched: bool = False) -> Kernel:
    """Wraps a kernel so that refusals become errors. first: the index of the operator's first own argument."""

    def checked(*args: Any) -> Any:
        try:
            result = kernel(*args)
        except Refusal as refusal:
            given = args[first:]
            if name == "offsets" and given[3:] and given[3]:
                raise error(refusal, given[3], lengths=given[0], output_size=given[2]) from None
            if name == "offsets":
                raise error(refusal, "repeat_interleave", repeats=given[0], output_size=given[2]) from None
            if name == "total":
                raise error(refusal, "repeat_interleave") from None
            raise error(refusal, f"torch.ops.tenter.{name}", *given) from None
        if watched:
            _count(name, args)
        return result

    return checked


# ---- memory in, memory out


def _forward(op: Operator, x: Tensor, *operands: Any) -> Tensor:
    if op is COUNTS:
        if (copied := _native.by_offsets(x, *operands)) is not None:
            return copied
        return run(x, plan(x, _verified(op.read(x.shape, dtype_name(x), *operands), x)))
    key = _key(op.name, x, operands)
    found = cache.plans.get(key)
    return run(x, found or cached_plan(key, plan(x, op.read(x.shape, dtype_name(x), *operands))))


def _adjoint(op: Operator, g: Tensor, *operands: Any) -> Tensor:
    if op is COUNTS:
        if (summed := _native.by_offsets(g, *operands)) is not None:
            return summed
        spec, shape = op.read_adjoint(g.shape, dtype_name(g), *operands)
        return run(g, plan_adjoint(g, _verified(spec, g), shape))
    key = _key(f"{op.name} adjoint", g, operands)
    found = cache.plans.get(key)
    return run(g, found or cached_plan(key, plan_adjoint(g, *op.read_adjoint(g.shape, dtype_name(g), *operands))))


def _key(call: str, x: Tensor, operands: tuple[Any, ...]) -> Any:
    """Returns the key of a call. It contains the operands as they come: the schema fixes their types, and reading them
    takes longer than the look-up."""
    return cache.key(call, torch_tensors, x, tuple([tuple(o) if type(o) is list else o for o in operands]))


def _verified(spec: RepeatCounts, x: Tensor) -> RepeatCounts:
    """Checks the offsets of counts on the host, because a graph's author may pass any. On a device, kernels stay in
    bounds whatever the offsets are."""
    given: Tensor = spec.offsets
    if given.device != x.device:
        refuse(TypeError, "offsets", f"some on {x.device}", f"some on {given.device}")
    stored("offsets", given)
    if torch_tensors.device(given) is not None:
        return spec._replace(offsets=given.contiguous())
    array = to_numpy(given).copy()  # copied first: another thread may write to the tensor
    if array[0] != 0 or array[-1] != spec.n_out or (array[1:] < array[:-1]).any():
        got = f"{len(array)} from {array[0]} to {array[-1]}"
        refuse(ValueError, "offsets", f"ascending prefix sums from 0 to {spec.n_out}", got)
    return spec._replace(offsets=array)


# ---- shapes


def _forward_shape(op: Operator, x: Tensor, *operands: Any) -> Tensor:
    spec = op.read(x.shape, dtype_name(x), *operands)
    return _empty(x, spec, spec.shape_out(tuple(x.shape)), spec.rounding_of(dtype_name(x)))


def _adjoint_shape(op: Operator, g: Tensor, *operands: Any) -> Tensor:
    spec, shape = op.read_adjoint(g.shape, dtype_name(g), *operands)
    return _empty(g, spec, shape, ONCE)


def _empty(x: Tensor, spec: Spec, shape: tuple[Any, ...], rounding: str) -> Tensor:
    inductor.prepare(_count)
    if isinstance(spec, RepeatCounts) and x.device != spec.offsets.device:
        refuse(TypeError, "offsets", f"some on {x.device}", f"some on {spec.offsets.device}")
    limits.addressable("result", shape, x.element_size())
    try:
        order = spec.order(tuple(x.shape), x.stride(), image_order, rounding)
    except torch_private.unknown_size():  # not known to be channels-last, as in PyTorch
        order = tuple(range(x.ndim))
    return torch.empty_permuted(shape, order, dtype=x.dtype, device=x.device)


def _register(name: str, kernel: Kernel, shape: Kernel) -> None:
    checked = refusing(name, kernel, watched=True)
    for key in ("CPU", "CUDA"):
        LIBRARY.impl(name, checked, key)
    getattr(OPS, name).default.kernel = checked  # generated code calls it; see inductor.py
    torch.library.register_fake(f"tenter::{name}", refusing(name, shape), lib=LIBRARY)


for _op in OPERATORS.values():
    _register(_op.name, partial(_forward, _op), partial(_forward_shape, _op))
    _register(f"{_op.name}_adjoint", partial(_adjoint, _op), partial(_adjoint_shape, _op))
_register("offsets", offsets.offsets, offsets.offsets_shape)
_register("total", offsets.total, offsets.total_symbol)
