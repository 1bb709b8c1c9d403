"""Autocast of CUDA tensors. There PyTorch computes its kinds of interpolation in float32 and returns float32. PyTorch's
autocast on the CPU does not change dtypes, and neither do the other operations here."""

from typing import Any

import torch
from torch import Tensor

from tenter._torch.schema import LIBRARY, OPS

# PyTorch does not widen area, which is a pooling there, or lanczos, which is newer than its list.
WIDENED = ("nearest", "nearest-exact", "linear", "cubic")


def _interpolate(x: Tensor, size: list[int], scales: list[float] | None, kind: str, *flags: Any) -> Tensor:
    wide = x.to(torch.float32) if kind in WIDENED and x.is_floating_point() and x.itemsize < 4 else x
    torch.set_autocast_enabled("cuda", False)  # torch.autocast would warn without a device
    try:
        return OPS.interpolate.default(wide, size, scales, kind, *flags)  # type: ignore[no-any-return]
    finally:
        torch.set_autocast_enabled("cuda", True)


LIBRARY.impl("interpolate", _interpolate, "AutocastCUDA")
