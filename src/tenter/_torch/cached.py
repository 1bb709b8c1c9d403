"""Cached calls on ordinary dense tensors. The core is compiled without PyTorch's headers and reads tensors by DLPack's
exchange API. With a PyTorch that lacks it, each call is checked and planned."""

from contextlib import suppress
from typing import Any

import torch
from torch.autograd import forward_ad
from torch.compiler import is_dynamo_compiling

from tenter import _native
from tenter._arrays import torch_private
from tenter._arrays.dtypes import DTYPES, NUMBERS
from tenter._arrays.errors import Refusal
from tenter._arrays.torch_tensors import TORCH_DTYPES
from tenter._torch import gradients
from tenter._torch.counted import by_counts
from tenter._torch.in_graph import in_one_node
from tenter._torch.recorded import recorded
from tenter._torch.run import large_empty

cached_call, expand_view = _native.cached_call, _native.expand_view
BOOL = 6  # DLPack's code


def cached(*call: Any) -> Any:
    # Only Dynamo follows calls on ordinary tensors without the core noticing. The core detects everything else itself.
    # One tuple of the name, x and the arguments is handed on; Python would copy several into a new one.
    if is_dynamo_compiling():
        return in_one_node(*call)
    found = cached_call(*call)
    if found is None and torch_private.tracing():
        return recorded(*call)
    return by_counts(*call[1:]) if found is None and call[0] == "repeat_interleave" else found


def expand_fast(x: torch.Tensor, sizes: tuple[Any, ...]) -> Any:
    if is_dynamo_compiling():
        return in_one_node("expand", x, *sizes)
    if torch_private.tracing():
        with suppress(Refusal):  # raised again, with the call
            return recorded("expand", x, *sizes)
    return expand_view(x, sizes)


def _register() -> bool:
    exchange = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None) if torch_private.all_known else None
    dtypes = []
    for name, dtype in TORCH_DTYPES.items():
        code = BOOL if name == "bool" else DTYPES[name].dlpack
        dtypes.append((dtype, code, 8 * dtype.itemsize, NUMBERS.get(name, -1), dtype.itemsize))
    probe = torch.zeros(40, dtype=torch.int16, device="cpu").as_strided((1, 3, 4), (7, 9, 2), 3)
    private = torch_private
    return _native.register_torch(
        exchange, torch.Tensor, torch.nn.Parameter, torch.empty, tuple(dtypes),
        (private.functorch_active, private.dispatch_modes, private.tracing, private.function_modes),
        forward_ad, private.autocast, torch.is_grad_enabled,
        (probe, probe.data_ptr(), tuple(probe.shape), probe.stride(), probe.dtype), torch.empty_strided, large_empty,
        torch.Size, gradients.record, gradients.forward, gradients.backward,
    )  # fmt: skip


torch_private.unfollowed(_register)
