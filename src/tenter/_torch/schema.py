"""PyTorch's operators. Each specification has two: the operation and its adjoint. Their operands are the
specification's.

What each dispatch key does with them:

    CPU, CUDA        operators.py memory in, memory out; checks what could not be checked while tracing
    Meta, Fake       operators.py shapes and strides only
    AutocastCUDA     autocast.py  half types that PyTorch widens there
    Autograd         autograd.py  records a Function whose gradient is the adjoint operator, and so on
    FuncTorchBatched vmap.py      the mapped dim becomes a leading one
    DTensors         sharding.py  the placements with which an operator may run

Under torch.func an operator is called once for each level of transforms. Each level runs its own of these keys.
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
# offsets: the checked prefix sums of counts along the last dim, from 0. called: the ragged function whose lengths they
# are, for errors; "" for repeat_interleave. total: the last of the prefix sums, as an int.
LIBRARY.define("offsets(Tensor counts, SymInt n, SymInt? output_size, str called='') -> Tensor")
LIBRARY.define("total(Tensor offsets) -> SymInt")
# A checked copy of what describes ragged arrays (`verified.py`).
LIBRARY.define("verified(Tensor values, Tensor? stops, SymInt? n, str name) -> Tensor")
# A separate operator to test how PyTorch records operators; see autograd.py.
ASKED = torch.library.Library("tenter_asked", "DEF")
ASKED.define("twice(Tensor x) -> Tensor")
