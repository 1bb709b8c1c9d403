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


def frozen(values: npt.ArrayLike, dtype: type) -> npt.NDArray[Any]:
    """Contiguous and read-only, copied unless it is both already and nobody else's memory."""
    array: npt.NDArray[Any] = np.asarray(values, dtype)
    if array.flags.writeable or not array.flags.owndata or not array.flags.c_contiguous:
        array = array.copy()
        array.flags.writeable = False
    return array


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
