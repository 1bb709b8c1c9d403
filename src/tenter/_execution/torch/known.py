"""Known calls on plain tensors. The core, which is compiled without PyTorch's headers, reads these through DLPack's
exchange API. With a PyTorch that lacks it, known calls go by `calls.lookup`.
"""

from typing import Any

import torch
from torch.autograd import forward_ad
from torch.compiler import is_dynamo_compiling

from tenter import _native
from tenter._arrays import torch_private
from tenter._arrays.dtypes import DTYPES, NUMBERS
from tenter._arrays.torch_tensors import TORCH_DTYPES
from tenter._execution.torch import gradients, new_calls
from tenter._execution.torch.in_graph import kept

known_call, expand_view = _native.known_call, _native.expand_view
# DLPack's codes of kinds of dtypes; some dtypes have one of their own.
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "bfloat16": 4, "bool": 6}


def known(call: str, x: torch.Tensor, *args: Any) -> Any:
    # Dynamo alone follows exact tensors unseen by the core, which tells all other followers itself.
    return kept(call, x, *args) if is_dynamo_compiling() else known_call(call, x, *args)


def expand_fast(x: torch.Tensor, sizes: tuple[Any, ...]) -> Any:
    return kept("expand", x, *sizes) if is_dynamo_compiling() else expand_view(x, *sizes)


def _read_by_the_core() -> bool:
    exchange = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if exchange is None or not torch_private.all_known:
        return False
    dtypes = []
    for name, dtype in TORCH_DTYPES.items():
        code = CODES[name if name in CODES else DTYPES[name].kind]
        dtypes.append((dtype, code, 8 * dtype.itemsize, NUMBERS.get(name, -1), dtype.itemsize))
    probe = torch.zeros(40, dtype=torch.int16, device="cpu").as_strided((1, 3, 4), (7, 9, 2), 3)
    private = torch_private
    return _native.read_torch(
        exchange, torch.Tensor, torch.nn.Parameter, torch.empty, tuple(dtypes),
        (private.functorch_active, private.dispatch_modes, private.tracing, private.function_modes),
        forward_ad, private.autocast, torch.is_grad_enabled,
        (probe, probe.data_ptr(), tuple(probe.shape), probe.stride(), probe.dtype), torch.empty_permuted,
    )  # fmt: skip


torch_private.unfollowed(_read_by_the_core)
_native.set_up_calls(None, None, None, gradients.recorded_run, None, None)
_native.set_up_recorded(new_calls.recorded_new, new_calls.forward, new_calls.backward, torch.Size)
