"""Autocast of CUDA tensors: PyTorch computes its kinds of interpolation in float32 there, and gives that. Its autocast
on the CPU leaves dtypes alone, and so do all other operations here."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tenter.frontends.torch import private
from tenter.frontends.torch.schema import LIBRARY, OPS, Ints

# PyTorch's area is a pooling, its lanczos too new: neither is on its list.
WIDENED = ("nearest", "nearest-exact", "linear", "cubic")


def _interpolate(x: Tensor, size: Ints, scales: list[float] | None, kind: str, *rule: Any) -> Tensor:
    wide = x.to(torch.float32) if kind in WIDENED and x.is_floating_point() and x.itemsize < 4 else x
    with private.below_autocast():
        return OPS.interpolate.default(wide, size, scales, kind, *rule)  # type: ignore[no-any-return]


LIBRARY.impl("interpolate", _interpolate, "AutocastCUDA")
