"""The operators' signatures: one pair of operation and adjoint for each family in `stretch.py`.

What each key of the dispatcher does with them:

    CPU, CUDA        operators.py memory in, memory out: checks what could not be checked while tracing
    Meta, Fake       operators.py shapes and strides alone
    AutocastCUDA     autocast.py  half types that PyTorch widens there
    Autograd         autograd.py  records a Function whose gradient is the adjoint operator, whose adjoint ...
    FuncTorchBatched vmap.py      the mapped dim becomes a leading one
    DTensors         sharding.py  which placements an operator may run on

Under torch.func an operator is called once per level of transforms, each of which runs its own of these keys.
"""

from __future__ import annotations

import torch

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
    # rule: a word for each field of each of `axes`' rules, as operators.py reads them.
    "resize": "(Tensor x, SymInt[] size, int[] axes, str rule, bool saturate) -> Tensor",
    "resize_adjoint": "(Tensor grad, SymInt[] n_in, int[] axes, str rule, bool saturate) -> Tensor",
    # Running totals of counts along the last dim, from 0; verified. And the last of them, as an int.
    "offsets": "(Tensor counts, SymInt n, SymInt? output_size) -> Tensor",
    "total": "(Tensor offsets) -> SymInt",
}
for name, schema in SCHEMAS.items():
    LIBRARY.define(name + schema)
