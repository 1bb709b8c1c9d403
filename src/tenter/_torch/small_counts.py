"""repeat_interleave of ordinary tensors by counts in a tensor, without a plan. The core reads both tensors."""

import torch
from torch.compiler import is_compiling

from tenter._arrays import torch_tensors
from tenter._arrays.torch_private import PLAIN, dispatch_keys
from tenter._arrays.torch_tensors import address, is_ordinary, short, to_numpy
from tenter._execution.counted import repeat_scalars
from tenter._torch.run import large_empty


def repeat_counts(
    x: torch.Tensor, counts: torch.Tensor, dim: int | None, output_size: int | None
) -> torch.Tensor | None:
    if is_compiling():
        return None
    scalars = dim is None or (x.ndim == 1 and type(dim) is int and dim in (0, -1))
    if not scalars or not is_ordinary(x) or dispatch_keys(counts) != PLAIN:
        return None
    if x.requires_grad and torch.is_grad_enabled():
        return None
    n, itemsize = x.numel(), x.itemsize
    if (
        torch_tensors.device(x) is not None
        or counts.shape != (n,)
        or not (x.is_contiguous() and counts.is_contiguous())
    ):
        return None
    if short(x) or short(counts):
        return None

    def allocate(total: int) -> tuple[torch.Tensor, int, bool]:
        return large_empty(x, (total,))

    try:
        array = to_numpy(counts)
    except TypeError:  # NumPy lacks the dtype
        return None
    found: torch.Tensor | None = repeat_scalars(array, address(x), itemsize, output_size, allocate)
    return found
