"""Facts about a call, found without making its result: shapes, maps, memory, kernels."""

import math
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.arguments import describe
from tenter._arrays.errors import Refusal
from tenter._arrays.types import Array
from tenter._explain import checked
from tenter._explain.kernels import kernels
from tenter._explain.outlines import Made, Outline
from tenter._rules.axis_rule import PERIODIC
from tenter._specs.repeat import RepeatCounts
from tenter._specs.resize import Interpolate, Resize
from tenter._specs.spec import Maps
from tenter.maps import AxisMap, Copy, Gather
from tenter.maps._entries import LONGEST_ROW
from tenter.maps._kinds import changing

# Arrays with at most this many elements are shown with their values: inputs, results.
MOST_IN, MOST_OUT = 64, 256
# Longer axes are explained without their maps if the maps need tables, as reflecting edges and Gaussians do.
LONGEST_TABLES = 1 << 20
Shown = tuple[Array, Array]


class Facts(NamedTuple):
    """Facts about a call.

    name: the operation's name
    call: as it was written
    shape: the shape of x as its maps take it: flattened, or with dims of length 1 in front
    maps: by axis
    problem: why there are no maps
    reads, writes: bytes
    exact: `reads` is exact and not an upper bound
    shown: the values of small arrays; a `Shape` has ascending numbers
    values: the shown values are the user's
    notes: anything else
    """

    name: str
    call: str
    x: Outline
    made: Made
    maps: tuple[tuple[int, AxisMap], ...]
    problem: str | None
    view: bool
    reads: int
    exact: bool
    writes: int
    kernels: tuple[str, ...]
    shown: Shown | None
    values: bool
    notes: tuple[str, ...] = ()

    @property
    def shape_in(self) -> tuple[int, ...]:
        return self.x.shape

    @property
    def shape_out(self) -> tuple[int, ...]:
        return self.made.shape_out

    @property
    def positions(self) -> bool:
        """True for repeat_interleave of counts alone, which repeats ascending numbers."""
        return isinstance(self.made.spec, RepeatCounts) and self.x.held is not None and self.made.x.held is None

    @property
    def mixes(self) -> bool:
        """True if some output is a weighted or plain sum of inputs."""
        return any(not isinstance(m, Copy) for _, m in self.maps)


def gathered(operation: Any, args: tuple[Any, ...], how: dict[str, Any]) -> Facts:
    name = checked.name_of(operation)
    x, made = checked.checked(name, args, how)
    maps, problem = _maps(made)
    view = made.spec is None or name == "expand"
    reads, exact, writes = (0, True, 0) if view else bytes_moved(made, maps)
    return Facts(
        name=name,
        call=_written(name, x, args, how),
        x=x,
        made=made,
        maps=maps,
        problem=problem,
        view=view,
        reads=reads,
        exact=exact,
        writes=writes,
        kernels=(f"not planned: {problem}",) if problem else kernels(made._replace(spec=None) if view else made, maps),
        shown=_shown(operation, name, x, made, args, how),
        values=x.held is not None,
    )


def _maps(made: Made) -> tuple[tuple[tuple[int, AxisMap], ...], str | None]:
    """Returns the maps that change something, and why there are none if making them would take long."""
    if (problem := _long_tables(made)) is not None:
        return (), problem
    try:
        found = made.spec.maps(made.x.shape, made.x.memory_layout.dtype, made.x.memory_layout.device is not None)
    except (MemoryError, Refusal) as failed:
        return (), str(failed)
    return changing(found), None


def _long_tables(made: Made) -> str | None:
    """Says why the maps of very long axes are not made: their rules need tables for all rows."""
    spec = made.spec.resize() if isinstance(made.spec, Interpolate) else made.spec
    if isinstance(spec, Resize):
        for axis, n_out, rule in zip(spec.axes, spec.size, spec.rules):
            n = made.x.shape[axis] + n_out
            if n > LONGEST_TABLES and (rule.kind == "gaussian" or rule.edge in PERIODIC):
                return f"axis {axis} takes tables for {n:,} positions, which are not made to be explained"
    return None


def bytes_moved(made: Made, maps: Maps) -> tuple[int, bool, int]:
    """Returns the bytes of x that some output needs, each counted once; whether that is exact; and the bytes of the
    result."""
    lengths, exact = list(made.x.shape), True
    n_out = math.prod(made.shape_out)
    if not n_out:
        return 0, True, 0
    for axis, m in maps:
        lengths[axis], known = _used(m)
        exact = exact and known
    exact = exact and _long_tables(made) is None
    return math.prod(lengths) * made.x.memory_layout.itemsize, exact, n_out * made.x.memory_layout.itemsize


def _used(m: AxisMap) -> tuple[int, bool]:
    """Returns how many inputs a map reads, and whether that is exact."""
    if isinstance(m, Gather):
        return int(np.count_nonzero(np.bincount(m.index, minlength=m.n_in))), True
    if isinstance(m, Copy):
        if m.repeat is not None:
            return (m.n_in, True) if m.repeat else (0, True)
        if (offsets := m.offsets if m._core is None else None) is not None:
            return int(np.count_nonzero(np.diff(offsets))) * m.block, True
        if m.n_out <= LONGEST_ROW:
            return int(np.count_nonzero(np.diff(m._blocks))) + 1, True  # indices ascend
        return min(m.n_in, m.n_out), m.n_out <= m.n_in
    if m.width is not None:
        return m.n_in, True
    if m._is_computed:
        n = m.reads(0, m.n_out)
        within, taps = n.stop - n.start, m._core.n_taps
        return min(within, taps), False
    start, offset = m.rows()
    stop = np.maximum.accumulate(start + np.diff(offset))
    begin = np.maximum(start, np.append(0, stop[:-1]))  # windows do not descend
    return int(np.maximum(stop - begin, 0).sum()) * m.block, True


def _written(name: str, x: Any, args: tuple[Any, ...], how: dict[str, Any]) -> str:
    """Returns the call, with arrays shown by dtype and shape."""
    first = f"x: {describe(x)}"
    words = [first, *map(_argument, args[1:])] if args else []
    for word, value in how.items():
        words.append(f"{word}: {describe(x)}" if not args and word in (*checked.FIRST, "repeats") and not words
                     else f"{word}={_argument(value)}")  # fmt: skip
    return f"{name}({', '.join(words)})"


def _argument(value: Any) -> str:
    if hasattr(value, "tolist") and getattr(value, "ndim", 9) <= 1 and math.prod(value.shape) <= 8:
        return repr(value.tolist())
    return describe(value)


def _shown(
    operation: Any, name: str, x: Outline, made: Made, args: tuple[Any, ...], how: dict[str, Any]
) -> Shown | None:  # fmt: skip
    if not 0 < math.prod(made.x.shape) <= MOST_IN or not 0 < math.prod(made.shape_out) <= MOST_OUT:
        return None
    values = _values(x)
    if values is None:
        return None
    how = {k: v for k, v in how.items() if k != "out"}
    if args:
        args = (values, *args[1:])
    else:
        first = next(word for word in (*checked.FIRST, "repeats") if word in how)
        how = {**how, first: values}
    try:
        return values, np.asarray(operation(*args, **how))
    except Exception:  # values of a dtype that NumPy lacks are shown in another dtype
        return None


def _values(x: Outline) -> Array | None:
    if x.held is None:
        dtype = x.dtype if x.dtype in ("float32", "float64", "int64", "int32", "uint8") else "float32"
        return np.arange(math.prod(x.shape)).reshape(x.shape).astype(dtype)
    try:
        return x.its.to_numpy(x.held) if x.memory_layout.device is None else x.its.to_numpy(x.held.cpu())
    except Exception:  # each library raises its own errors, e.g. for bfloat16 and traced values
        return None
