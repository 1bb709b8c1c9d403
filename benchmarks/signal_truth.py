"""What a linear or cubic signal and its gradient must be, as weighted sums in NumPy, and the gradient of nearest kinds.

PyTorch's results in float64 are no measure: at 100,000 samples to 91,875 they are up to 0.01 off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

A = -0.75  # of Keys's cubic, as PyTorch and OpenCV have it


def summed(x: torch.Tensor, n_out: int, kind: str) -> torch.Tensor:
    """kind: linear or cubic."""
    values = x.double().numpy()
    made = np.zeros((*x.shape[:-1], n_out))
    for places, weights in taps(x.shape[-1], n_out, kind):
        made += values[..., places] * weights
    return torch.from_numpy(made)


def summed_back(g: torch.Tensor, n_in: int, kind: str) -> torch.Tensor:
    """The gradient of the samples."""
    rows = g.double().numpy().reshape(-1, g.shape[-1])
    made = np.zeros((len(rows), n_in))
    for places, weights in taps(n_in, g.shape[-1], kind):
        for row, total in zip(rows, made):
            total += np.bincount(places, row * weights, n_in)
    return torch.from_numpy(made.reshape(*g.shape[:-1], n_in))


def picked_back(g: torch.Tensor, n_in: int, kind: str) -> torch.Tensor:
    """The transpose of PyTorch's nearest kinds: from some millions of samples on its own gradient rounds positions in
    another way than its result does."""
    samples = torch.arange(n_in, dtype=torch.float32)  # exact below 2**24
    places = F.interpolate(samples[None, None], g.shape[-1], mode=kind)[0, 0].long()
    return torch.zeros((*g.shape[:-1], n_in), dtype=torch.float64).index_add_(-1, places, g.double())


def taps(n_in: int, n_out: int, kind: str) -> list[tuple[Any, Any]]:
    """Of each output: the places that it reads, edges repeated, and their weights."""
    at = (np.arange(n_out) + 0.5) * (n_in / n_out) - 0.5
    below = np.floor(at)
    offsets = (0, 1) if kind == "linear" else (-1, 0, 1, 2)
    weigh = (lambda d: 1 - d) if kind == "linear" else cubic
    return [(np.clip(below + k, 0, n_in - 1).astype(np.int64), weigh(np.abs(at - below - k))) for k in offsets]


def cubic(d: Any) -> Any:
    near = ((A + 2) * d - (A + 3)) * d * d + 1
    far = ((d - 5) * d + 8) * d * A - 4 * A
    return np.where(d < 1, near, far)
