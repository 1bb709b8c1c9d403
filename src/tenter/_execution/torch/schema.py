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

from typing import Any

import torch

from tenter._specs.operands import OPERATORS, Operator

LIBRARY = torch.library.Library("tenter", "DEF")
OPS = torch.ops.tenter


def forward(op: Operator) -> Any:
    return getattr(OPS, op.name).default


def adjoint(op: Operator) -> Any:
    return getattr(OPS, f"{op.name}_adjoint").default


for _op in OPERATORS.values():
    LIBRARY.define(f"{_op.name}(Tensor x, {_op.operands}) -> Tensor")
    LIBRARY.define(f"{_op.name}_adjoint(Tensor grad, {_op.adjoint_operands}) -> Tensor")
# Prefix sums of counts along the last dim, from 0; verified. called: the function of ragged arrays whose lengths they
# are, for errors; "" for repeat_interleave. And the last of them, as an int.
LIBRARY.define("offsets(Tensor counts, SymInt n, SymInt? output_size, str called='') -> Tensor")
LIBRARY.define("total(Tensor offsets) -> SymInt")
# A copy of what describes ragged arrays, verified (`verified.py`).
LIBRARY.define("verified(Tensor values, Tensor? beside, SymInt? n, str name) -> Tensor")
# An operator that is none of tenter's, to ask PyTorch how it records them; see autograd.py.
ASKED = torch.library.Library("tenter_asked", "DEF")
ASKED.define("twice(Tensor x) -> Tensor")
