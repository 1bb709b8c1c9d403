"""PyTorch's operators: for each specification a pair, operation and adjoint, whose operands are the specification's.

What each key of the dispatcher does with them:

    CPU, CUDA        operators.py memory in, memory out: checks what could not be checked while tracing
    Meta, Fake       operators.py shapes and strides alone
    AutocastCUDA     autocast.py  half types that PyTorch widens there
    Autograd         autograd.py  records a Function whose gradient is the adjoint operator, whose adjoint ...
    FuncTorchBatched vmap.py      the mapped dim becomes a leading one
    DTensors         sharding.py  which placements an operator may run on

Under torch.func an operator is called once per level of transforms, each of which runs its own of these keys.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from tenter._specs import operands
from tenter._specs.repeat import Repeat, RepeatCounts
from tenter._specs.resize import Interpolate, Resize

LIBRARY = torch.library.Library("tenter", "DEF")
OPS = torch.ops.tenter


class Operator(NamedTuple):
    """operands, adjoint_operands: what follows the tensor in the schemas. read, read_adjoint: the specification of a
    tensor's shape, its dtype and the operands; the adjoint's, of a gradient, gives the shape of the result too."""

    name: str
    operands: str
    adjoint_operands: str
    read: Callable[..., Any]
    read_adjoint: Callable[..., Any]

    @property
    def forward(self) -> Any:
        return getattr(OPS, self.name).default

    @property
    def adjoint(self) -> Any:
        return getattr(OPS, f"{self.name}_adjoint").default


_HOW = "float[]? scales, str kind, bool align_corners, bool antialias, bool channels_last"
_RULE = "int[] axes, str rule, bool saturate"  # rule: as axis_rule.written
# n_in: lengths of the input's dims.
OPERATORS: dict[type, Operator] = {
    Repeat: Operator(
        "repeat", "SymInt[] sizes, bool each", "SymInt[] n_in, SymInt[] sizes, bool each",
        operands.repeat, operands.repeat_adjoint,
    ),
    RepeatCounts: Operator(
        "repeat_counts", "Tensor offsets, int dim, SymInt n_out", "Tensor offsets, int dim",
        operands.repeat_counts, operands.repeat_counts_adjoint,
    ),
    Interpolate: Operator(
        "interpolate", f"SymInt[] size, {_HOW}", f"SymInt[] n_in, {_HOW}",
        operands.interpolate, operands.interpolate_adjoint,
    ),
    Resize: Operator(
        "resize", f"SymInt[] size, {_RULE}", f"SymInt[] n_in, {_RULE}", operands.resize, operands.resize_adjoint
    ),
}  # fmt: skip
for _op in OPERATORS.values():
    LIBRARY.define(f"{_op.name}(Tensor x, {_op.operands}) -> Tensor")
    LIBRARY.define(f"{_op.name}_adjoint(Tensor grad, {_op.adjoint_operands}) -> Tensor")
# Prefix sums of counts along the last dim, from 0; verified. And the last of them, as an int.
LIBRARY.define("offsets(Tensor counts, SymInt n, SymInt? output_size) -> Tensor")
LIBRARY.define("total(Tensor offsets) -> SymInt")
