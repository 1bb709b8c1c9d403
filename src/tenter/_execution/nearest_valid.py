"""The nearest valid input of each input, for modes that copy one input."""

import math
from typing import Any

import numpy as np

from tenter._arrays.errors import refuse
from tenter._arrays.library import of
from tenter._arrays.types import Array, Ints

WORD = "nearest"


def filled(x: Any, mask: Any, skipna: bool, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """Returns x with the nearest valid value along axes where a value is missing, and where there is one.

    mask: with x's dims, some maybe of length 1; None for none
    """
    its = of(x)
    unknown = its.traced(x) if its.PACKAGE == "torch" else its.PACKAGE == "dask.array" or its.unreadable(x)
    if unknown:
        refuse(ValueError, "value", "a number where values are not known yet", repr(WORD))
    valid = np.ones((1,) * x.ndim, np.bool_) if mask is None else _on_host(mask)
    if skipna:
        valid = valid & _on_host(x == x)
    valid = np.broadcast_to(valid, tuple(n if d in axes else m for d, (n, m) in enumerate(zip(x.shape, valid.shape))))
    at, strides = nearest(valid, axes), [math.prod(x.shape[d + 1 :]) for d in range(x.ndim)]
    flat = np.zeros(tuple(x.shape), np.int64)
    for d, stride in enumerate(strides):
        flat += stride * (at[d] if d in at else _along(np.arange(x.shape[d]), d, x.ndim))
    index = its.from_numpy(flat, x)
    if hasattr(x, "take"):
        made = x.take(index)
    else:
        xp = x.__array_namespace__()
        made = xp.reshape(xp.take(xp.reshape(x, (-1,)), xp.reshape(index, (-1,)), axis=0), tuple(x.shape))
    return made, its.from_numpy(np.asarray(valid.any(axis=axes, keepdims=True)), x)


def _on_host(x: Any) -> Array:
    return of(x).to_numpy(x.cpu() if of(x).PACKAGE == "torch" else x)


def nearest(valid: Array, axes: tuple[int, ...]) -> dict[int, Ints]:
    """Returns by axis the index of the nearest valid element of each element; any where there is none.

    Squared distances are separable: along each further axis the smallest sum of a distance so far and a step.
    """
    first, *rest = axes
    i = _along(np.arange(valid.shape[first]), first, valid.ndim)
    before = np.maximum.accumulate(np.where(valid, i, -1), first)
    after = np.flip(np.minimum.accumulate(np.flip(np.where(valid, i, valid.shape[first]), first), first), first)
    has_before, has_after = before >= 0, after < valid.shape[first]
    at = {first: np.where(has_before & ~(has_after & (after - i < i - before)), before, after)}
    far = np.where(has_before | has_after, np.square(at[first] - i, dtype=np.float64), np.inf)
    at[first] = np.clip(at[first], 0, valid.shape[first] - 1)
    reachable = np.broadcast_to(valid.any(axis=axes, keepdims=True), valid.shape)
    for axis in rest:
        far, chosen = _nearer(far, axis, reachable)
        at = {d: np.take_along_axis(some, chosen, axis) for d, some in at.items()} | {axis: chosen}
    return at


def _nearer(far: Array, axis: int, reachable: Array) -> tuple[Array, Ints]:
    """Returns the smallest far[j] + (i - j)^2 along an axis, and its j."""
    n = far.shape[axis]
    turned = np.moveaxis(far, axis, -1)
    given, i = turned.reshape(-1, n), np.arange(n)
    best, chosen = given.copy(), np.tile(i, (len(given), 1))
    lines = np.flatnonzero(np.moveaxis(reachable, axis, -1).reshape(-1, n).any(1))
    for k in range(1, n):  # steps, until none is shorter than what each line has
        lines = lines[(best[lines] > k * k).any(1)]
        if not lines.size:
            break
        some, here, its = given[lines], best[lines], chosen[lines]
        for to, source in ((slice(k, n), slice(0, n - k)), (slice(0, n - k), slice(k, n))):
            found = some[:, source] + k * k
            is_nearer = found < here[:, to]
            np.copyto(here[:, to], found, where=is_nearer)
            np.copyto(its[:, to], i[source], where=is_nearer)
        best[lines], chosen[lines] = here, its
    return tuple(np.moveaxis(each.reshape(turned.shape), -1, axis) for each in (best, chosen))  # type: ignore[return-value]


def _along(values: Ints, axis: int, ndim: int) -> Ints:
    found: Ints = values.reshape([-1 if d == axis else 1 for d in range(ndim)])
    return found
