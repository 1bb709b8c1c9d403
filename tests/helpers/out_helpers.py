"""Calls that take `out`, and memory for their results."""

from __future__ import annotations

import numpy as np
import torch

import tenter

SHAPE = (3, 4, 5)
CALLS = {
    "repeat_interleave": lambda x, **to: tenter.repeat_interleave(x, 2, 1, **to),
    "repeat_interleave, flat": lambda x, **to: tenter.repeat_interleave(x, 3, **to),
    "by counts": lambda x, **to: tenter.repeat_interleave(x, [2, 0, 3], 0, **to),
    "by counts in an array": lambda x, **to: tenter.repeat_interleave(x, np.array([1, 0, 3, 1, 1]), -1, **to),
    "repeat": lambda x, **to: tenter.repeat(x, 2, 1, 3, 1, **to),
    "tile": lambda x, **to: tenter.tile(x, (2, 3), **to),
    "interpolate": lambda x, **to: tenter.interpolate(x, 9, mode="linear", **to),
    "nearest": lambda x, **to: tenter.interpolate(x, 3, **to),
    "resize": lambda x, **to: tenter.resize(x, (5, 3), axes=(0, 2), mode="cubic", antialias=True, **to),
    "reversed": lambda x, **to: tenter.resize(x, 7, axes=1, box=[(4, 0)], **to),
    "constant": lambda x, **to: tenter.resize(x, 7, axes=1, box=[(-2, 6)], edge="constant", value=3, **to),
    "extrapolate": lambda x, **to: tenter.resize(x, 7, axes=1, box=[(-2, 6)], edge="extrapolate", value=3, **to),
    "picture": lambda x, **to: tenter.image.resize(x[..., :4], (5, 6), alpha=True, **to),
    "light": lambda x, **to: tenter.image.resize(x, (5, 6), linear_light=True, alpha=False, **to),
    "lazy": lambda x, **to: tenter.lazy.resize(x, (5, 3), axes=(0, 2), mode="cubic").materialize(**to),
    "map": lambda x, **to: tenter.axis_map(4, 6, "cubic").apply(x, 1, **to),
}  # fmt: skip


def given(library, dtype):
    x = np.random.default_rng(0).integers(0, 200, SHAPE).astype(dtype)
    x = x / x.dtype.type(256) if x.dtype.kind == "f" else x  # light is of floats up to 1
    return x if library == "numpy" else torch.from_numpy(x)


def values(a):
    return a.copy() if isinstance(a, np.ndarray) else np.array(a.detach().numpy() if isinstance(a, torch.Tensor) else a)


def rooms(y):
    """Memory for a result, some of it in more memory, which has to stay as it is."""
    full = (
        (lambda shape: np.full(shape, 77, y.dtype))
        if isinstance(y, np.ndarray)
        else lambda shape: torch.full(shape, 77, dtype=y.dtype)
    )
    turned = tuple(range(y.ndim))[::-1]
    turn = (lambda a: a.transpose(turned)) if isinstance(y, np.ndarray) else (lambda a: a.permute(turned))
    whole = full(tuple(y.shape))
    yield "as fresh", whole, whole
    whole = full(tuple(y.shape)[::-1])
    yield "turned", whole, turn(whole)
    whole = full((*y.shape[:-1], y.shape[-1] + 2))
    yield "rows in longer rows", whole, whole[..., 1:-1]
    whole = full(tuple(2 * n for n in y.shape))
    yield "every other", whole, whole[(slice(None, None, 2),) * y.ndim]
    whole = full((4, *y.shape))
    yield "one of four", whole, whole[2]
    if isinstance(y, np.ndarray):
        whole = full(tuple(y.shape))
        yield "backwards", whole, whole[::-1]
        raw = np.full(y.nbytes + 1, 77, np.uint8)
        yield "at an odd address", raw, raw[1:].view(y.dtype).reshape(y.shape)
