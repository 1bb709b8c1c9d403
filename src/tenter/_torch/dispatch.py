"""Operations that go through PyTorch's dispatcher: calls of the registered operators."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tenter._arrays import limits, torch_private, torch_tensors
from tenter._arrays.arguments import integer
from tenter._arrays.errors import refuse
from tenter._arrays.library import surely
from tenter._arrays.torch_tensors import dtype_name, to_numpy, traced
from tenter._specs import counts as counts_spec
from tenter._specs.operands import OPERATORS
from tenter._specs.repeat import RepeatCounts
from tenter._specs.spec import Spec
from tenter._torch import (
    autocast as autocast,
    autograd as autograd,
    onnx_export,
    operators as operators,
    schema,
    vmap as vmap,
)
from tenter._torch.schema import OPS

# Where x may be while its counts are on the host. The host sums them: without waiting for a device, and with their
# values, which a meta tensor has not.
COUNTED_ON_HOST = ("cuda", "meta")


def call(x: Tensor, spec: Spec) -> Tensor:
    spec = _with_tensor(spec)
    limits.addressable("result", spec.shape_out(tuple(x.shape)), x.element_size())
    if _is_dtensor(x):
        from tenter._torch import sharding  # imports torch.distributed

        return sharding.call(schema.forward(OPERATORS[type(spec)]), x, *sharding.beside(x, spec).operands())
    if onnx_export.exporting_to_onnx():
        return onnx_export.call(x, spec)
    return torch_tensors.of_type(x, schema.forward(OPERATORS[type(spec)])(x, *spec.operands()))


def call_adjoint(g: Tensor, spec: Spec, shape: tuple[int, ...]) -> Tensor:
    """Returns the gradient of an input of that shape from the output's gradient g."""
    spec = _with_tensor(spec)
    operator, operands = schema.adjoint(OPERATORS[type(spec)]), spec.adjoint_operands(shape)
    if _is_dtensor(g):
        from tenter._torch import sharding

        return sharding.call(operator, g, *operands)
    return operator(g, *operands)  # type: ignore[no-any-return]


def _with_tensor(spec: Spec) -> Spec:
    """Returns a specification with its offsets in a tensor. An eager call has them in a read-only array; its gradient
    may go through the dispatcher."""
    if not isinstance(spec, RepeatCounts) or isinstance(spec.offsets, Tensor):
        return spec
    return spec._replace(offsets=torch.from_numpy(spec.offsets.copy()))


def traced_counts(x: Tensor, repeats: Any, dim: int, output_size: Any) -> RepeatCounts:
    """Returns the specification for counts, if x or the counts are traced or on a device. The counts' values may not be
    known yet."""
    n = x.shape[dim]
    counts, output_size = _counts_tensor(x, repeats, n, output_size)
    counts_spec.check_shape("repeats", dtype_name(counts), counts.shape, n, dim)
    on_host = counts.device.type == "cpu" and x.device.type in COUNTED_ON_HOST
    if (counts.device != x.device and not on_host) or (counts.device.type == "meta" and output_size is None):
        refuse(TypeError, "repeats", f"counts with values, on {x.device}", f"some on {counts.device}")
    if counts.ndim == 0 or surely(counts.shape[0] == 1):
        counts = counts.reshape(1).expand(n)
    if onnx_export.exporting_to_onnx():
        return onnx_export.counted(counts, dim, output_size)
    offsets = OPS.offsets.default(counts, n, output_size)
    if not traced(x) and not traced(offsets) and torch_tensors.device(x) is None:  # gathered counts of a DTensor
        array = to_numpy(offsets)
        return RepeatCounts(array, dim, int(array[-1]))
    if output_size is None:  # torch.jit.trace has no symbols
        output_size = int(offsets[-1]) if torch_private.tracing() else OPS.total.default(offsets)
        torch._check(output_size >= 0)
    if on_host:
        offsets = offsets.to(x.device, non_blocking=True)
    return RepeatCounts(offsets, dim, output_size)


def _counts_tensor(x: Tensor, repeats: Any, n: Any, output_size: Any) -> tuple[Tensor, Any]:
    """Returns counts as a tensor, and the output size if it is given or known. n: the length of the repeated dim."""
    if _is_dtensor(repeats):
        repeats = repeats.full_tensor()
    place = "cpu" if x.device.type in COUNTED_ON_HOST else x.device
    if isinstance(repeats, (list, tuple)):
        repeats = [integer("repeats", r, "integer counts") for r in repeats]
        if output_size is None and surely(n == len(repeats)):
            output_size = sum(repeats)
        repeats = torch.tensor(repeats, dtype=torch.int64, device=place)
    elif isinstance(repeats, np.ndarray):  # tensors cannot have every stride and byte order
        repeats = torch.from_numpy(counts_spec.count_array("repeats", repeats).copy()).to(place)
    if output_size is not None:
        output_size = integer("output_size", output_size, counts_spec.TOTAL, 0)
    return repeats if isinstance(repeats, Tensor) else torch.as_tensor(repeats, device=place), output_size


def traced_positions(repeats: Any, dim: Any, output_size: Any) -> Tensor:
    if _is_dtensor(repeats):
        repeats = repeats.full_tensor()
    counts_spec.check_alone("repeats", repeats.ndim, dim)
    n = repeats.shape[0]
    x = torch.arange(n, dtype=torch.int32 if repeats.dtype == torch.int32 else torch.int64, device=repeats.device)
    return call(x, traced_counts(x, repeats, 0, output_size))


def gathered(x: Any) -> Any:
    """Gathers a DTensor's shards, because shards of unequal length cannot be flattened. Differentiable."""
    if not _is_dtensor(x):
        return x
    from tenter._torch import sharding

    return sharding.gathered(x)


def _is_dtensor(x: Any) -> bool:
    """True for a DTensor. It is recognized by name, because most callers have not loaded its module."""
    return type(x).__name__ == "DTensor"
