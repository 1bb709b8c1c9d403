"""What an operation does to an array, in plain values: the checked form of a call.

One tuple per family of operations. Shapes are read from the array when maps are built (`build.maps`), so the same value
serves every array of that rank; PyTorch's operators carry the same fields (`frontends/torch/schema.py`), resize's rules
in words. Under PyTorch's compiler sizes may be symbols.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tenter.sampling import AxisRule


class Repeat(NamedTuple):
    """Each dim d `sizes[d]` times: each element in a row, or the whole dim over and over."""

    sizes: tuple[int, ...]
    each: bool


class RepeatCounts(NamedTuple):
    """Position i of dim `offsets[i + 1] - offsets[i]` times in a row; `n_out` is `offsets[-1]`."""

    offsets: Any
    dim: int
    n_out: int


class Resample(NamedTuple):
    """Every dim after batch and channels to its `size`; `kind` is a value of build.KINDS.

    scales: output / input per dim where coordinates follow the user's, else None. channels_last: how x lies in memory,
    which decides how PyTorch rounds nearest positions.
    """

    size: tuple[int, ...]
    scales: tuple[float, ...] | None
    kind: str
    align_corners: bool
    antialias: bool
    channels_last: bool


class Resize(NamedTuple):
    """Each of `axes`, ascending, to its size by its rule (sampling.AxisRule). saturate: are 8-bit integers cut to their
    range between two axes?"""

    axes: tuple[int, ...]
    size: tuple[int, ...]
    rules: tuple[AxisRule, ...]
    saturate: bool


Stretch = Repeat | RepeatCounts | Resample | Resize


def every(ndim: int, dim: int, each: int) -> Repeat:
    """Each position of one dim `each` times in a row."""
    return Repeat(tuple([each if d == dim else 1 for d in range(ndim)]), True)


def shape_out(does: Stretch, shape: tuple[int, ...]) -> tuple[int, ...]:
    if isinstance(does, Repeat):
        return tuple(n * r for n, r in zip(shape, does.sizes))
    if isinstance(does, RepeatCounts):
        return (*shape[: does.dim], does.n_out, *shape[does.dim + 1 :])
    if isinstance(does, Resize):
        after = dict(zip(does.axes, does.size))
        return tuple(after.get(axis, n) for axis, n in enumerate(shape))
    return (*shape[:2], *does.size)
