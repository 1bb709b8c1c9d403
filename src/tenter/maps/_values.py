"""What all kinds of maps share: tables that cannot change after they were checked, and checks of invariants."""

import operator
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from tenter._arrays import limits
from tenter._arrays.errors import Refusal
from tenter._arrays.library import is_array, of
from tenter._arrays.types import Array, Ints

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Map = TypeVar("Map")


class Table:
    """A field with numbers that were checked and that kernels trust. The map stores their bytes. Each reader gets a new
    array over them, because the dtype and shape of even a read-only array can be assigned to."""

    def __init__(self, dtype: type[np.int64] | type[np.float64], required: bool = False) -> None:
        self.dtype, self.required = dtype, required

    def __set_name__(self, kind: type, name: str) -> None:
        self.name = name

    def __get__(self, map_: Any, kind: type | None = None) -> Any:
        if map_ is None:
            return self
        if self.name not in map_.__dict__:
            map_._make_tables()
        held = map_.__dict__[self.name]
        return None if held is None else np.frombuffer(held, self.dtype)

    def __set__(self, map_: Any, values: "ArrayLike | None") -> None:
        held = None if values is None and not self.required else frozen(self.name, values, self.dtype)
        map_.__dict__[self.name] = held


def frozen(name: str, values: Any, dtype: type[np.int64] | type[np.float64]) -> bytes:
    """Returns the bytes of a 1-D array of integers or numbers."""
    if is_array(values) and (found := of(values).short(values)):
        raise ValueError(f"axis map: expected {name} whose storage holds its elements, got {found}")
    try:
        array = np.asarray(values)
    except ValueError:  # a ragged or deeply nested list
        array = np.empty((0, 0))
    kinds = "iu" if dtype is np.int64 else "iuf"
    require(array.ndim == 1 and (array.dtype.kind in kinds or not array.size), f"{name}: 1-D {dtype.__name__}")
    return array.astype(dtype, copy=False).tobytes()


def sealed(array: Array) -> memoryview:
    """Returns an array's memory without a copy. Arrays over it can never be made writable."""
    return memoryview(array).toreadonly()  # type: ignore[arg-type]  # any array is a buffer


def as_int(name: str, value: Any, least: int = 0) -> int:
    """Returns a size as a Python int, because products of NumPy's ints wrap. Bools are refused."""
    require(isinstance(value, (int, np.integer)) and not isinstance(value, bool), f"{name}: an int, got {value!r}")
    size = operator.index(value)
    require(least <= size < 2**63, f"{name}: an int from {least} to 2**63 - 1, got {size}")
    return size


def int_fields(map_: Any, *names: str) -> None:
    """Converts a new map's sizes to Python ints."""
    for name in names:
        object.__setattr__(map_, name, as_int(name, getattr(map_, name), 1 if name == "block" else 0))


def check_table_size(n: float, itemsize: int) -> None:
    """Raises MemoryError if tables of n numbers do not fit in memory. The message names no call, because a field may be
    read anywhere."""
    try:
        limits.memory((int(min(n, 2.0**62)),), itemsize, limits.TABLES)
    except Refusal as refusal:
        raise MemoryError(refusal.args[1]) from None


def within(lo: Any, hi: Any, n_out: int) -> tuple[int, int]:
    lo, hi = as_int("lo", lo), as_int("hi", hi)
    require(lo <= hi <= n_out, f"outputs lo..hi of {n_out}, got {lo}..{hi}")
    return lo, hi


def trusted(kind: type[Map], **values: Any) -> Map:
    """Makes a map from fields whose invariants hold, without checks. Arrays become contiguous int64 or float64 that
    belong to the map."""
    new = object.__new__(kind)
    for name, value in values.items():
        new.__dict__[name] = sealed(value) if isinstance(value, np.ndarray) else value
    return new


def rebuilt(map_: Any) -> tuple[type, tuple[Any, ...]]:
    """Returns what copies and pickles are made from: the fields, without cached values. The constructor checks them."""
    return type(map_), map_._values()


def unchecked(map_: Any, state: Any) -> NoReturn:
    """Refuses a pickle that would set a map's fields without the constructor."""
    raise ValueError("axis map: expected a pickle of its constructor's arguments, got one of its state")


def require(holds: object, what: str) -> None:
    """Raises ValueError for a map that breaks its kind's invariant. Kernels rely on it and do not check."""
    if not holds:
        raise ValueError(f"axis map: expected {what}")


def span(first: int, last: int, lo: int, hi: int, block: int) -> slice:
    """Returns the inputs that outputs lo..hi read if their blocks read input blocks first..last."""
    if first == last and lo // block == (hi - 1) // block:
        return slice(first * block + lo % block, first * block + (hi - 1) % block + 1)
    return slice(first * block, (last + 1) * block)


def short(values: Ints, n: int) -> str:
    """Returns the first n values as text."""
    head = ", ".join(str(v) for v in values[:8])
    return f"[{head}, ... {n} in all]" if n > 8 else f"[{head}]"


def extent(counts: Ints) -> str:
    """Returns the smallest and the largest number as text; empty for no numbers."""
    if not counts.size:
        return ""
    return f"{counts.min()}" if counts.min() == counts.max() else f"{counts.min()}..{counts.max()}"
