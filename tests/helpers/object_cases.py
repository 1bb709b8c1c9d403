"""Arguments that run code while a call reads them: it empties the lists that hold them, or takes the memory of x away."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tenter
import tenter.image
import tenter.lazy
from tenter import ragged
from tenter.maps import Copy

CALLS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, v: tenter.resize(x, [3, v]),
    lambda x, v: tenter.resize(x, [v, 3]),
    lambda x, v: tenter.resize(x, (v, 3)),
    lambda x, v: tenter.resize(x, v, axes=0),
    lambda x, v: tenter.resize(x, [3, 3], axes=[0, v]),
    lambda x, v: tenter.resize(x, 5, axes=[0], box=[(0, v)]),
    lambda x, v: tenter.resize(x, 5, axes=[0], box=[[0, v]]),
    lambda x, v: tenter.resize(x, 5, axes=[0], box=[v]),
    lambda x, v: tenter.resize(x, scale=[v, 2]),
    lambda x, v: tenter.resize(x, scale=v),
    lambda x, v: tenter.resize(x, [9, 9], value=v, edge="constant"),
    lambda x, v: tenter.resize(x, [v, 3], out=empty(x, (3, 3))),
    lambda x, v: tenter.image.resize(x, [v, 3]),
    lambda x, v: tenter.repeat(x, [2, v]),
    lambda x, v: tenter.repeat(x, 2, v),
    lambda x, v: tenter.repeat(x, 2, v, out=empty(x, (2 * len(x), 3 * len(x)))),
    lambda x, v: tenter.tile(x, [2, v]),
    lambda x, v: tenter.tile(x, (v, 2)),
    lambda x, v: tenter.repeat_interleave(x, v, 0),
    lambda x, v: tenter.repeat_interleave(x, 3, v),
    lambda x, v: tenter.repeat_interleave(x, [1] * (len(x) - 1) + [v], 0),
    lambda x, v: tenter.repeat_interleave(x, 3, 0, output_size=v),
    lambda x, v: tenter.repeat_interleave(x, v, 0, out=empty(x, (3 * len(x), len(x)))),
    lambda x, v: ragged.pad(x, [len(x) - 3, v]),
    lambda x, v: ragged.pad(x, [len(x)], max_len=v),
    lambda x, v: ragged.pad(x, [len(x)], value=v),
    lambda x, v: ragged.mask([3], v),
    lambda x, v: ragged.ranges([v], [3], [v]),
    lambda x, v: ragged.segment_sum(x, [len(x) - 3, v]),
    lambda x, v: ragged.segment_sum(x, [len(x)], v),
    lambda x, v: Copy.repeat_each(len(x), 2).apply(x, v),
)
# Of views of x, which NumPy leaves without memory where the user says `refcheck=False`.
VIEWS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, v: tenter.interpolate(x[None], [v]),
    lambda x, v: tenter.interpolate(x[None], scale_factor=[v]),
    lambda x, v: tenter.expand(x[None], [v, -1, -1]),
    lambda x, v: tenter.lazy.resize(x, [v, 3]).materialize(),
    lambda x, v: tenter.lazy.repeat_interleave(x, v, 0).sum(),
)
SIZES = 10  # so many calls take any size
TYPES = ("int by its class", "int by its index", "NumPy's int")
ACTS = ("empties lists", "takes memory")


def empty(x: Any, shape: tuple[int, ...]) -> Any:
    return np.empty(shape, x.dtype) if isinstance(x, np.ndarray) else torch.empty(shape, dtype=x.dtype)


def called(call: int, library: str, n: int, kind: str, act: str, before: bool = False) -> Any:
    """A call of x[n, n] with such an argument in place of 3. before: after the same call with plain ints."""
    x = np.ones((n, n), np.float32) if library == "numpy" else torch.ones(n, n)
    made = (*CALLS, *VIEWS)[call]
    if before:
        for size in (3, 4, 3):  # a call that differs by sizes is planned by the core from then on
            made(x, size if call < SIZES else 3)

    def acts() -> None:
        if act == "empties lists":
            for held in gc.get_referrers(value):
                if type(held) is list:
                    held.clear()
        elif isinstance(x, np.ndarray):
            if call < len(CALLS):
                x.resize((1, 1), refcheck=False)
        else:
            x.untyped_storage().resize_(0)

    def index(self: Any) -> int:
        acts()
        return 3

    def class_of(self: Any) -> type:
        acts()
        return np.int64

    def plain(self: Any) -> int:
        return 3

    body = {
        "int by its class": {"__class__": property(class_of), "__index__": plain},
        "int by its index": {"__class__": property(lambda self: np.int64), "__index__": index, "__float__": index},
        "NumPy's int": {"__index__": index, "__float__": lambda self: float(index(self))},
    }[kind]
    of = type("Value", (np.int64,) if kind == "NumPy's int" else (), body)
    value = of(3) if kind == "NumPy's int" else of()
    return made(x, value)
