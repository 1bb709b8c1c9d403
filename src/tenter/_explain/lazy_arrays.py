"""Facts about a lazy array: what it stands for, what it holds, and the calls that it took part in."""

import numpy as np

from tenter._arrays.library import of
from tenter._arrays.types import Array
from tenter._explain.facts import MOST_IN, MOST_OUT, Facts, bytes_moved
from tenter._explain.kernels import kernels
from tenter._explain.outlines import Made, outline
from tenter._specs.applied import AppliedMaps
from tenter.lazy import LazyArray, explanation
from tenter.maps._kinds import changing

NAME = "lazy array"


def gathered(s: LazyArray) -> Facts:
    held = s._stretched
    x = outline(held.base)
    maps = tuple([(d, m) for d, m in enumerate(held.maps) if m is not None])
    made = Made(x, AppliedMaps(maps, *held.summing), held.shape)
    reads, exact, writes = bytes_moved(made, maps)
    first, *lines = explanation.text(held, s._events).splitlines()
    return Facts(
        name=NAME,
        call=first,
        x=x,
        made=made,
        maps=changing(maps),
        problem=None,
        view=False,
        reads=reads,
        exact=exact,
        writes=writes,
        kernels=kernels(made, maps),
        shown=_shown(s, x.shape),
        values=True,
        notes=tuple([line.strip() for line in lines]),
    )


def _shown(s: LazyArray, shape: tuple[int, ...]) -> tuple[Array, Array] | None:
    base = s.base
    if not 0 < np.prod(shape, dtype=float) <= MOST_IN or not 0 < s._stretched.size <= MOST_OUT:
        return None
    its = of(base)
    if its.device(base) is not None or its.short(base) is not None or its.unreadable(base) is not None:
        return None
    try:
        return its.to_numpy(base), its.to_numpy(s.materialize())
    except TypeError:  # NumPy lacks the dtype
        return None
