"""What the kinds of maps share: frozen arrays, checks of invariants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tenter.maps import AxisMap

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Map = TypeVar("Map")


def frozen(name: str, values: npt.ArrayLike, dtype: type[np.int64] | type[np.float64]) -> npt.NDArray[Any]:
    """A 1-D copy in memory that nothing can write to, as kernels trust what was checked."""
    array = np.asarray(values)
    kinds = "iu" if dtype is np.int64 else "iuf"
    require(array.ndim == 1 and (array.dtype.kind in kinds or not array.size), f"{name}: 1-D {dtype.__name__}")
    return np.frombuffer(array.astype(dtype).tobytes(), dtype)


def whole(name: str, value: int, least: int = 0) -> None:
    """Checks a size; bools are none."""
    fits = isinstance(value, (int, np.integer)) and not isinstance(value, bool) and least <= value < 2**63
    require(fits, f"{name}: an int from {least} to 2**63 - 1, got {value!r}")


def within(lo: int, hi: int, n_out: int) -> None:
    require(0 <= lo <= hi <= n_out, f"outputs lo..hi of {n_out}, got {lo}..{hi}")


def trusted(kind: type[Map], **fields: Any) -> Map:
    """A map from fields whose invariants the caller has seen to, without checking them again."""
    new = object.__new__(kind)
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(new, name, value)
    return new


def require(holds: object, what: str) -> None:
    """Raises ValueError for a map that would break its kind's invariant: kernels rely on it and check nothing."""
    if not holds:
        raise ValueError(f"axis map: expected {what}")


def span(first: int, last: int, lo: int, hi: int, block: int) -> slice:
    """Inputs read by outputs lo..hi, if their blocks read input blocks first..last."""
    if first == last and lo // block == (hi - 1) // block:
        return slice(first * block + lo % block, first * block + (hi - 1) % block + 1)
    return slice(first * block, (last + 1) * block)


def applied(map_: AxisMap, x: Any, axis: int, out: Any) -> Any:
    from tenter import apply  # late: apply reads the kinds of maps

    return apply.apply(map_, x, axis, out)


def short(values: Ints) -> str:
    head = ", ".join(str(v) for v in values[:8])
    return f"[{head}, ... {len(values)} in all]" if len(values) > 8 else f"[{head}]"
