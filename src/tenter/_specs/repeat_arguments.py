"""The sizes of repeat, tile and expand."""

import math
from collections.abc import Sequence
from typing import Any

from tenter._arrays import limits
from tenter._arrays.arguments import describe, rank, single, sizes
from tenter._arrays.errors import refuse
from tenter._arrays.library import of

#: What takes an axis, for those that a function which takes none may be taken for.
ALONG = {
    "repeat": "only sizes: repeat() repeats the whole array; to repeat each element along a dim (numpy.repeat) call "
    "repeat_interleave(x, repeats, dim)",
    "tile": "only dims, a number for each dim, such as tile(x, (2, 1)); tenter.numpy.tile(x, reps, axis=0) takes an "
    "axis",
}


def refuse_axis(function: str, named: dict[str, Any]) -> None:
    """Refuses what makes sense to another function alone."""
    for word in ("axis", "dim"):
        if word in named:
            refuse(TypeError, word, ALONG[function], f"{word}={named[word]!r}")


def refuse_counts(package: str, shape: Sequence[int], values: Sequence[Any]) -> None:
    """Refuses one sequence of sizes for an array that numpy.repeat would take for a count for each element."""
    if len(values) != 1 or single(values[0]) or package == "torch":
        return
    given, n = sizes("sizes", values), math.prod(shape)
    for_all = len(given) == 1 and given[0] > 1 and n > 1 and len(shape) == 1
    if not for_all and (len(given) < 2 or len(given) != n):
        return
    shown = ", ".join(map(str, given))
    tiled = shown if for_all else f"({shown})"
    whole, each = f"repeat(x, {shown}) or tile(x, {tiled})", f"repeat_interleave(x, [{shown}])"
    expected = f"{whole} for the whole array, {each} for each element, which numpy.repeat does"
    refuse(ValueError, "sizes", expected, describe(values[0]))


def repeat_sizes(name: str, values: Sequence[Any], ndim: int) -> tuple[int, ...]:
    result = sizes(name, values)
    if len(result) < ndim:
        refuse(ValueError, name, f"at least {ndim} numbers, one per dim of x", f"{len(result)}")
    rank(name, len(result))
    return result


def tile_sizes(name: str, values: Sequence[Any], ndim: int) -> tuple[int, ...]:
    result = ones_in_front(sizes(name, values), ndim)
    rank(name, len(result))
    return result


def ones_in_front(lengths: Sequence[int], ndim: int) -> tuple[int, ...]:
    """A shape, or sizes, for at least ndim dims."""
    return (1,) * (ndim - len(lengths)) + tuple(lengths)


def expanded_shape(name: str, values: Sequence[Any], x: Any) -> tuple[int, ...]:
    """The shape of an expanded view, each -1 filled in."""
    shape = tuple(x.shape)
    given = sizes(name, values, least=-1)
    rank(name, len(given))
    front = len(given) - len(shape)
    if front < 0:
        refuse(ValueError, name, f"at least {len(shape)} numbers, one per dim of x", f"{len(given)}")
    for d, size in enumerate(given):
        if d < front and size == -1:
            refuse(ValueError, name, "a size for a new dim in front", f"-1 at position {d}")
        if d >= front and shape[d - front] != 1 and size not in (-1, shape[d - front]):
            expected = f"{shape[d - front]} or -1 at position {d}, as only dims of length 1 stretch"
            refuse(ValueError, name, expected, str(size))
    result = tuple(shape[d - front] if size == -1 else size for d, size in enumerate(given))
    limits.addressable(name, result, of(x).itemsize(x))
    return result
