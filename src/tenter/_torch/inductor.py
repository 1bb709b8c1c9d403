"""The operators in code that Inductor, PyTorch's compiler, generates. Each is an expression, which Inductor fuses with
the code around it, or a call of a kernel, whichever takes less time.

The rule was measured with `python -m benchmarks compiled`. A kernel call costs 20 to 30 microseconds more than a line
of a loop that is there anyway. Apart from that, on a processor:

- If the innermost dim in memory does not change (channels-last images), Inductor's loops read vectors. A fused
  expression then takes 0.6 to 0.9 of a kernel's time at every size, as long as it reads at most four elements for each
  element of the larger side (input or result). A bicubic kernel reads 4 + 4, an expression 16: ten times as slow.
- If the innermost dim changes, Inductor's loops read element by element, and the kernels are two to four times as
  fast. An expression pays only if its reads take no longer than the kernel call.

On a CUDA device, threads read element by element anyway, and a kernel call costs the host more than a launch.
"""

import math
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from inspect import signature
from typing import Any

import torch
from torch import Tensor, fx

from tenter._arrays.torch_tensors import dtype_name
from tenter._specs.operands import OPERATORS, Operator
from tenter._torch import schema
from tenter._torch.expressions import AxisExpression, reads

# PyTorch's name of the function that replaces a call in graphs (`in_graph.py`).
WHOLE = "tenter._torch.in_graph.whole"
# An expression may read this many elements one by one in place of a call.
FEW_READS = 1 << 16
# READS_EACH: reads for each element of the larger side, if loops read vectors. VECTOR: the minimum length of such
# loops.
READS_EACH, VECTOR = 4, 16
# Dtypes that Inductor loads and stores without changing bits.
COPIED = (
    torch.float64, torch.float32, torch.float16, torch.bfloat16,
    torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool,
)  # fmt: skip


def prepare(count: Callable[[str, tuple[Any, ...]], None]) -> None:
    """Runs when the operators are traced, which Inductor does before it looks for lowerings. It imports nothing if
    Inductor is not loaded. count: called with the name and arguments of each fused operation, because those run
    unseen."""
    config: Any = sys.modules.get("torch._inductor.config")
    marked = getattr(config, "unsafe_marked_cacheable_functions", None)
    if marked is not None and WHOLE not in marked:
        # Inductor also caches code with such calls on disk. The version becomes part of its keys, so that another
        # version's code is not used.
        version = sys.modules["tenter"].__version__
        config.unsafe_marked_cacheable_functions = {**marked, WHOLE: version}
    if "torch._inductor.lowering" in sys.modules:
        _register(count)


@cache
def _register(count: Callable[[str, tuple[Any, ...]], None]) -> None:
    """Registers the lowerings. If Inductor's functions have changed, nothing is registered, and Inductor calls the
    operators like any others."""
    try:
        from torch._inductor.lowering import constrain_to_fx_strides, fallback_handler, register_lowering
        from torch._inductor.virtualized import V  # noqa: F401
    except ImportError:
        return
    if "add_to_fallback_set" not in signature(fallback_handler).parameters or not callable(constrain_to_fx_strides):
        return
    for op in OPERATORS.values():
        for operator, transposed in ((schema.forward(op), False), (schema.adjoint(op), True)):
            lower = partial(_lower, op, operator, transposed, count)
            register_lowering(operator, type_promotion_kind=None)(lower)
    for operator in (schema.OPS.offsets.default, schema.OPS.total.default):
        register_lowering(operator, type_promotion_kind=None)(partial(_call, operator))


def _lower(
    op: Operator, operator: Any, transposed: bool, count: Callable[..., None], x: Any, *operands: Any, **named: Any
) -> Any:
    from torch._inductor.virtualized import V

    node: Any = V.graph.current_node
    like = node.meta["val"]
    found = None if named else _found(op, transposed, node)
    if found is not None and _pays(found, node.args[0].meta["val"], like) and not _written_in_place(x):
        with suppress(ImportError, AttributeError, TypeError):  # Inductor's language has changed
            from tenter._torch.lowering import expression

            written = expression(x, found, like)
            count(operator.__name__.split(".")[0], (x, *operands))
            return written
    return _call(operator, x, *operands, **named)


def _call(operator: Any, *operands: Any, **named: Any) -> Any:
    """Calls the operator as one without a lowering. The kernel's result has the layout that it had when shapes were
    traced."""
    from torch._inductor import lowering
    from torch._inductor.virtualized import V

    operands, named = lowering.constrain_to_fx_strides(V.graph.current_node, *operands, **named)
    result = lowering.fallback_handler(operator, add_to_fallback_set=False)(*operands, **named)
    _call_directly(operator)
    return result


def _call_directly(operator: Any) -> None:
    """Makes the generated code call the kernel below the dispatcher. The dispatcher's way back into Python takes longer
    than a small kernel. If Inductor has changed, or generates C++, the call does not change."""
    from torch._inductor.virtualized import V

    if V.graph.cpp_wrapper or getattr(V.graph, "fx_wrapper", False):
        return
    for call in getattr(V.graph, "operations", ())[-2:]:  # the call, and its result if that is a tensor
        if getattr(call, "python_kernel_name", None) == f"torch.ops.{operator}":
            call.python_kernel_name += ".kernel"


def _found(op: Operator, transposed: bool, node: Any) -> tuple[AxisExpression, ...] | None:
    """Returns what the node's result reads; None if only the kernels can compute it."""
    x, *operands = fx.map_arg(node.args, lambda n: n.meta["val"])
    dtype = dtype_name(x)
    if x.dtype not in COPIED or x.device.type not in ("cpu", "cuda"):
        return None
    if transposed:
        spec, shape = op.read_adjoint(x.shape, dtype, *operands)
    else:
        spec, shape = op.read(x.shape, dtype, *operands), x.shape
    found = reads(spec, tuple(shape), transposed, dtype, x.device.type == "cuda")
    # Kernels have their own rounding of integer sums.
    sums = found is not None and any(r.taps > 1 or r.weight is not None for r in found)
    return None if sums and not x.dtype.is_floating_point else found


def _written_in_place(x: Any) -> bool:
    """True if x reads memory that a call writes in place, such as scatter_add's. Inductor may split a loop again in
    order to fuse it. It then forgets which version of such memory the loop reads, and may run the loop before the call
    (in PyTorch 2.13: `SchedulerNode.recompute_size_and_body`). It does not forget what a call reads."""
    from torch._inductor.virtualized import V

    try:
        return not V.graph.mutated_buffers.isdisjoint((x.maybe_get_name(), *x.get_read_names()))
    except AttributeError:  # Inductor's language has changed
        return True


def _pays(found: tuple[AxisExpression, ...], x: Tensor, y: Tensor) -> bool:
    """True if an expression takes less time than a kernel; see the top of this file."""
    if x.device.type == "cuda":
        return True
    n_reads = _about(y) * math.prod(r.taps for r in found)
    if n_reads <= FEW_READS:
        return True
    inner = [d for d in range(y.ndim) if y.stride(d) == 1 and y.shape[d] != 1]
    vectors = all(d not in [r.axis for r in found] and _length(y.shape[d]) >= VECTOR for d in inner)
    return bool(inner) and vectors and n_reads <= READS_EACH * max(_about(x), _about(y))


def _about(x: Tensor) -> float:
    return math.prod(map(_length, x.shape))


def _length(n: Any) -> float:
    """Returns a length. A symbol gives its value at tracing, because a rule of thumb needs no guard."""
    if not isinstance(n, torch.SymInt):
        return float(n)
    return float(n.node.hint) if n.node.has_hint() else math.inf
