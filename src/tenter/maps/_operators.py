"""The operators of maps, for type checkers. `tenter.maps` sets their functions (`maps/_algebra.py`)."""

from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from tenter._arrays.immutable import Immutable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tenter._arrays.signatures import Element, Held, Nested, Other, Tensor
    from tenter.maps import AxisMap


class Operators(Immutable):
    """What all kinds of maps share."""

    __array_ufunc__ = None  # makes NumPy's numbers and arrays leave operators to maps

    if TYPE_CHECKING:

        @overload
        def __matmul__(self, other: AxisMap) -> AxisMap: ...
        @overload
        def __matmul__(self, other: npt.NDArray[Element]) -> npt.NDArray[Element]: ...
        @overload
        def __matmul__(self, other: Nested) -> npt.NDArray[Any]: ...
        @overload
        def __matmul__(self, other: Other) -> Other: ...
        @overload
        def __matmul__(self, other: Tensor) -> Tensor: ...
        @overload
        def __matmul__(self, other: Held) -> npt.NDArray[Any]: ...
        def __matmul__(self, other: Any) -> Any: ...

        def __add__(self, other: AxisMap) -> AxisMap: ...
        def __mul__(self, factor: float | np.floating[Any] | np.integer[Any]) -> AxisMap: ...
        def __rmul__(self, factor: float | np.floating[Any] | np.integer[Any]) -> AxisMap: ...
        def __getitem__(self, rows: "slice[SupportsIndex | None, SupportsIndex | None, None]") -> AxisMap: ...
        def to_scipy(self) -> Any: ...
