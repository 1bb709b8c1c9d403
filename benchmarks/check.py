"""Is a result right?"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from benchmarks.workloads import CLOSE, EXACT

TOLERANCE = 1e-5


def compare(got: Any, want: Any, check: str) -> tuple[float, bool]:
    """Largest difference, and whether it is small enough.

    CLOSE is relative to the largest wanted; results narrower than float32 may be off by the spacing of their type.
    """
    got, want = (
        a if isinstance(a, torch.Tensor) else torch.as_tensor(np.require(a, requirements="W")) for a in (got, want)
    )
    if got.shape != want.shape:
        raise ValueError(f"shape {tuple(got.shape)}, not {tuple(want.shape)}")
    if got.numel() == 0 or (check == EXACT and torch.equal(got, want)):
        return 0.0, True
    largest = float((got.double() - want.double()).abs_().max())
    if check != CLOSE:
        return largest, check != EXACT and largest <= 1
    relative = largest / float(max(want.max(), -want.min()))
    return relative, relative <= max(TOLERANCE, torch.finfo(got.dtype).eps)
