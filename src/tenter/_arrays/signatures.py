"""Types of public functions for type checkers. A NumPy array gives one of its dtype, another library's array gives its
own type, and a list gives a NumPy array."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsIndex, TypeAlias, TypedDict, TypeVar, overload

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import array

    from torch import Tensor as Tensor
    from typing_extensions import Unpack as Unpack

Element = TypeVar("Element", bound=np.generic)


class OfLibrary(Protocol):
    """An array of a library that follows the Array API standard, such as JAX."""

    def __array_namespace__(self, *, api_version: str | None = None) -> Any: ...


class OfDask(Protocol):
    """A Dask array."""

    def rechunk(self, *args: Any, **kwargs: Any) -> Any: ...


class OfXarray(Protocol):
    """A DataArray or a Dataset of xarray."""

    @property
    def attrs(self) -> dict[Any, Any]: ...
    def drop_vars(self, *args: Any, **kwargs: Any) -> Any: ...
    def assign_coords(self, *args: Any, **kwargs: Any) -> Any: ...


class OfPillow(Protocol):
    """A Pillow image."""

    @property
    def mode(self) -> str: ...
    def getbands(self) -> tuple[str, ...]: ...
    def getexif(self) -> Any: ...


class HoldsArray(Protocol):
    def __array__(self) -> npt.NDArray[Any]: ...


class HoldsMemory(Protocol):
    def __dlpack__(self) -> Any: ...


Other = TypeVar("Other", bound=OfLibrary | OfDask)
Labelled = TypeVar("Labelled", bound=OfXarray)
PillowImage = TypeVar("PillowImage", bound=OfPillow)
InterpolateMode = Literal[
    "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", "area", "lanczos"
]  # fmt: skip
Mode = Literal[
    "nearest", "nearest-exact", "linear", "cubic", "lanczos", "area", "catmull-rom", "mitchell", "bspline", "lanczos2",
    "lanczos3", "lanczos4", "lanczos5", "box", "hamming", "spline2", "spline3", "spline4", "spline5",
]  # fmt: skip
ModeName = Mode | Literal["bilinear", "bicubic", "trilinear"]
Like = Literal[
    "torch", "pillow", "opencv", "onnx", "jax", "tensorflow", "skimage", "scipy", "PIL", "cv2", "pytorch",
    "scikit-image", "tf",
]  # fmt: skip
Rounding = Literal["floor", "round", "round_even", "ceil"]
AspectRatio = Literal["stretch", "not_larger", "not_smaller"]
Align = Literal[
    "half_pixel", "align_corners", "asymmetric", "corner_areas", "half_pixel_symmetric", "pytorch_half_pixel",
    "tf_half_pixel_for_nn", "tf_crop_and_resize",
]  # fmt: skip
Tie = Literal["floor", "ceil", "prefer_floor", "prefer_ceil", "round_prefer_floor", "round_prefer_ceil"]
Edge = Literal["replicate", "reflect", "symmetric", "wrap", "constant", "renormalize", "extrapolate"]
InterpMode = Literal["linear", "nearest", "previous", "next", "catmull-rom", "area"]
InterpEdge = Literal["replicate", "constant", "extrapolate"]
RoundedAs = Literal["torch", "pillow", "opencv", "jax", "scipy"]
Layout: TypeAlias = Literal["HWC", "CHW", "NHWC", "NCHW", "HW", "NHW"]
Gravity: TypeAlias = Literal[
    "center", "north", "south", "east", "west", "northeast", "northwest", "southeast", "southwest"
]  # fmt: skip


if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    # What a lazy array holds. A bare `LazyArray` holds any of them.
    Base = TypeVarWithDefault("Base", covariant=True, default=npt.NDArray[Any] | Tensor)
else:
    Base = TypeVar("Base", covariant=True)

if TYPE_CHECKING:
    # The items of lists are not checked, because a checker cannot express their depth.
    Nested = complex | np.generic | list[Any] | tuple[Any, ...] | range
    Held = HoldsArray | HoldsMemory | array.array[Any] | memoryview
    # For calls that use an argument's other name. Their result types are less precise.
    AnyArray = TypeVar("AnyArray", bound=npt.NDArray[Any] | Tensor | OfLibrary | OfDask)
    Index: TypeAlias = SupportsIndex | None
    Sizes = SupportsIndex | Sequence[SupportsIndex] | npt.NDArray[np.integer[Any]] | Tensor
    CountsOfOne: TypeAlias = Sizes | OfLibrary | OfDask | Held
    # What has coordinates, positions and times.
    Coordinates: TypeAlias = npt.ArrayLike | Tensor | OfLibrary | OfDask | Held
    Where: TypeAlias = npt.ArrayLike | Tensor | OfLibrary | OfDask | Held
    Counts: TypeAlias = CountsOfOne | dict[int, CountsOfOne]
    Numbers = (
        float | Fraction | np.number[Any] | Sequence[float | Fraction | np.number[Any]] | npt.NDArray[Any] | Tensor
    )
    Span = tuple[float | Fraction, float | Fraction] | Sequence[float | Fraction]
    Box = Sequence[Span | None] | npt.NDArray[Any]


class InterpRule(TypedDict, total=False):
    """Arguments of `interp` by name."""

    mode: InterpMode
    period: float | np.number[Any] | np.timedelta64 | None
    edge: InterpEdge
    value: complex | tuple[complex, complex]
    weights: npt.ArrayLike | None


class Fields(TypedDict, total=False):
    """Those of a `Convention`."""

    align: Align
    nearest_align: Align
    corners_antialias: Align
    nearest_tie: Tie | RoundedAs
    cubic_a: float | tuple[float, float]
    cubic: Literal["keys", "spline"]
    edge: Edge | tuple[Edge, Edge]
    antialias: bool | Literal["gaussian"]
    area: Literal["overlap", "touched"]
    length_rounding: Rounding
    positions_from: Literal["sizes", "scale", "scale_unless_same", "length"]
    eight_bits: Literal["once", "pillow", "opencv"]
    aspect_ratio: AspectRatio
    modes: tuple[str, ...]


class Apply(Protocol):
    """The type of `A.apply`, for an axis map A."""

    @overload
    def __call__(
        self, x: npt.NDArray[Element], axis: SupportsIndex, out: npt.NDArray[Element] | None = None
    ) -> npt.NDArray[Element]: ...
    @overload
    def __call__(self, x: Nested, axis: SupportsIndex, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]: ...
    @overload
    def __call__(self, x: Other, axis: SupportsIndex, out: Other | None = None) -> Other: ...
    @overload
    def __call__(self, x: Tensor, axis: SupportsIndex, out: Tensor | None = None) -> Tensor: ...
    @overload
    def __call__(self, x: Held, axis: SupportsIndex, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]: ...
