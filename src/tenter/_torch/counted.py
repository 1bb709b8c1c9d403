"""Repeats by counts on a device: ordinary calls, with the few checks that they need.

All checks of the general way, the operators and their dispatch take four times as long as the launches.
"""

from typing import Any

import torch

from tenter import _native
from tenter._arrays import torch_tensors
from tenter._arrays.dtypes import INTEGERS
from tenter._arrays.limits import INT64_MAX
from tenter._arrays.torch_tensors import TORCH_DTYPES, TYPES, is_ordinary, stored
from tenter._plans.plan import plan
from tenter._specs.repeat import RepeatCounts
from tenter._torch import device
from tenter._torch.gradients import execute

_INTEGERS = frozenset(dtype for name, dtype in TORCH_DTYPES.items() if name in INTEGERS)


def by_counts(x: torch.Tensor, counts: Any, dim: Any, output_size: Any) -> torch.Tensor | None:
    """Returns the result of a valid call of repeat_interleave, on ordinary tensors, with one count for each position.
    None if the call is another one, or wrong."""
    if type(counts) not in TYPES or torch_tensors.device(counts) is None or counts.device != x.device:
        return None
    if not (_is_plain(x) and _is_plain(counts)) or counts.dtype not in _INTEGERS or counts.dim() != 1:
        return None
    n_dims = x.dim()
    if dim is None and n_dims == 1:
        dim = 0
    if type(dim) is not int or not -n_dims <= dim < n_dims or x.shape[dim] != counts.shape[0]:
        return None
    if output_size is not None and (type(output_size) is not int or not 0 <= output_size <= INT64_MAX):
        return None
    sums = device.offsets(stored("repeats", counts), output_size)
    total = device.totals(sums)[0] if output_size is None else output_size
    return execute(x, plan(x, RepeatCounts(sums, dim % n_dims, total)))


def _is_plain(x: torch.Tensor) -> bool:
    """Like is_ordinary, where PyTorch's compiler does not follow the code: to ask for it takes as long as the core."""
    return _native.ordinary(x) or is_ordinary(x)
