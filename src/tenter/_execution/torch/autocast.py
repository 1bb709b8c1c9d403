"""Autocast of CUDA tensors: PyTorch computes its kinds of interpolation in float32 there, and gives that. Its autocast
on the CPU leaves dtypes alone, and so do all other operations here."""

from typing import Any

import torch
from torch import Tensor

from tenter._execution.torch.schema import LIBRARY, OPS

# PyTorch's area is a pooling, its lanczos too new: neither is on its list.
WIDENED = ("nearest", "nearest-exact", "linear", "cubic")


def _interpolate(x: Tensor, size: list[int], scales: list[float] | None, kind: str, *flags: Any) -> Tensor:
    wide = x.to(torch.float32) if kind in WIDENED and x.is_floating_point() and x.itemsize < 4 else x
    torch.set_autocast_enabled("cuda", False)  # not by torch.autocast, which warns without a device
    try:
        return OPS.interpolate.default(wide, size, scales, kind, *flags)  # type: ignore[no-any-return]
    finally:
        torch.set_autocast_enabled("cuda", True)


LIBRARY.impl("interpolate", _interpolate, "AutocastCUDA")
