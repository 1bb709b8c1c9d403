"""resize of Dask arrays in random chunks: the bits of the array in memory, whose cached maps the chunks share."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

import tenter
from tenter._arrays.errors import Refusal

from .arrays import bits, same_bits
from .call import Call, written
from .draw import Draw
from .oracle import Wrong, check_shape
from .resizing import plan, resizing

MOST = 1 << 16  # values of a result


def resized(x: np.ndarray, cuts: tuple[tuple[int, ...], ...], **kwargs: Any) -> np.ndarray:
    """Resizes x in chunks of those lengths, however short."""
    import dask.array as da  # a second, for one call in many

    from tenter._dask import chunks

    least, chunks.LEAST = chunks.LEAST, 1
    try:
        made: np.ndarray = tenter.resize(da.from_array(x, chunks=cuts), **kwargs).compute(scheduler="sync")
        return made
    finally:
        chunks.LEAST = least


def in_chunks(r: Draw) -> Call:
    x, how, kwargs, extra = resizing(r, "numpy")
    try:
        _, _, shape, _ = plan(x.value, kwargs)
    except Refusal:  # a scale of a small box
        return in_chunks(r)
    if math.prod(shape) > MOST or not math.prod(how.shape):
        return in_chunks(r)
    cuts = tuple(_cut(r, n) for n in how.shape)

    def verify(y: Any) -> None:
        check_shape(y, x.value, shape)
        # After the chunks: what they do to a cached map would show here. Dask does not tell the order of dims in memory,
        # which decides the order of sums.
        whole = tenter.resize(np.ascontiguousarray(x.value), **{k: _value(v) for k, v in kwargs.items()})
        if not same_bits(bits(y), bits(whole)):
            raise Wrong("not the bits of the whole", f"{y!r}, expected {whole!r}")

    return Call("", "y = " + written("chunked.resized", [x, cuts], kwargs), {"x": x, **extra}, verify)


def _cut(r: Draw, n: int) -> tuple[int, ...]:
    ends = sorted({0, n, *(r.int(0, n) for _ in range(r.pick((0, 1, 2, 3))))})
    return tuple(b - a for a, b in itertools.pairwise(ends))


def _value(v: Any) -> Any:
    return [_value(each) for each in v] if type(v) is list else getattr(v, "value", v)


KINDS: dict[str, tuple[Any, float]] = {"chunks": (in_chunks, 0.3)}
