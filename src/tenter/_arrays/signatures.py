"""What public functions take and return, for type checkers: an array of NumPy gives one of its dtype, another library's
gives its own, a list gives an array of NumPy."""

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

    from tenter._rules.presets import Convention
    from tenter.filters import Filter

Element = TypeVar("Element", bound=np.generic)


class OfLibrary(Protocol):
    """An array of a library that follows the Array API standard, as JAX does."""

    def __array_namespace__(self, *, api_version: str | None = None) -> Any: ...


class OfDask(Protocol):
    """An array of Dask's."""

    def rechunk(self, *args: Any, **kwargs: Any) -> Any: ...


class OfPillow(Protocol):
    """An image of Pillow's."""

    @property
    def mode(self) -> str: ...
    def getbands(self) -> tuple[str, ...]: ...
    def getexif(self) -> Any: ...


class HoldsArray(Protocol):
    def __array__(self) -> npt.NDArray[Any]: ...


class HoldsMemory(Protocol):
    def __dlpack__(self) -> Any: ...


Other = TypeVar("Other", bound=OfLibrary | OfDask)
PillowImage = TypeVar("PillowImage", bound=OfPillow)
InterpolateMode = Literal[
    "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", "area", "lanczos"
]  # fmt: skip
Mode = Literal[
    "nearest", "nearest-exact", "linear", "cubic", "lanczos", "area", "catmull-rom", "mitchell", "bspline", "lanczos2",
    "lanczos3", "lanczos4", "lanczos5", "box", "hamming",
]  # fmt: skip
ModeName = Mode | Literal["bilinear", "bicubic", "trilinear"]
Like = Literal[
    "torch", "pillow", "opencv", "onnx", "jax", "tensorflow", "skimage", "scipy", "PIL", "cv2", "pytorch",
    "scikit-image", "tf",
]  # fmt: skip
Rounding = Literal["floor", "round", "round_even", "ceil"]
Policy = Literal["stretch", "not_larger", "not_smaller"]
Align = Literal[
    "center", "corners", "asymmetric", "corner_areas", "half_pixel_symmetric", "pytorch_half_pixel",
    "tf_half_pixel_for_nn", "tf_crop_and_resize", "half_pixel", "align_corners", "centre",
]  # fmt: skip
Tie = Literal["floor", "ceil", "prefer_floor", "prefer_ceil", "round_prefer_floor", "round_prefer_ceil"]
Edge = Literal[
    "replicate", "reflect", "symmetric", "wrap", "constant", "renormalize", "extrapolate", "renormalise"
]  # fmt: skip


Layout: TypeAlias = Literal["HWC", "CHW", "NHWC", "NCHW", "HW", "NHW"]
Gravity: TypeAlias = Literal[
    "center", "north", "south", "east", "west", "northeast", "northwest", "southeast", "southwest"
]  # fmt: skip


if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    # What a lazy array is of; of a `LazyArray` of which no more is said, any of them.
    Base = TypeVarWithDefault("Base", covariant=True, default=npt.NDArray[Any] | Tensor)
else:
    Base = TypeVar("Base", covariant=True)

if TYPE_CHECKING:
    # Lists are not checked further, as a checker cannot say how deep they are.
    Nested = complex | np.generic | list[Any] | tuple[Any, ...] | range
    Held = HoldsArray | HoldsMemory | array.array[Any] | memoryview
    # Of arguments by another name, whose results are less precise.
    AnyArray = TypeVar("AnyArray", bound=npt.NDArray[Any] | Tensor | OfLibrary | OfDask)
    Index: TypeAlias = SupportsIndex | None
    Sizes = SupportsIndex | Sequence[SupportsIndex] | npt.NDArray[np.integer[Any]] | Tensor
    Counts = Sizes | OfLibrary | OfDask | Held
    Numbers = (
        float | Fraction | np.number[Any] | Sequence[float | Fraction | np.number[Any]] | npt.NDArray[Any] | Tensor
    )
    Span = tuple[float | Fraction, float | Fraction] | Sequence[float | Fraction]
    Box = Sequence[Span | None] | npt.NDArray[Any]
    AnyMode: TypeAlias = ModeName | Filter | Sequence[Mode | Filter]
    AnyLike: TypeAlias = Like | Convention


class Rule(TypedDict, total=False):
    """Arguments of `resize` that `image.resize` and `axis_map` take as well."""

    scale: Numbers | None
    antialias: bool | None
    like: AnyLike
    rounding: Rounding | None
    policy: Policy
    box: Box | None
    align: Align | None
    tie: Tie | None
    cubic: float | None
    edge: Edge | None
    value: complex


class PictureRule(Rule, total=False):
    mode: AnyMode
    alpha: bool | None
    premultiply: bool
    linear_light: bool
    labels: bool
    fit: Sizes | None
    fill: Sizes | None
    long_edge: SupportsIndex | None
    width: SupportsIndex | None
    height: SupportsIndex | None
    enlarge: bool
    gravity: Gravity | None
    layout: Layout | None


class PartRule(TypedDict, total=False):
    """Arguments of `image.crop_resize`, of which those of `image.resize` are more."""

    mode: AnyMode
    antialias: bool | None
    like: AnyLike
    align: Align | None
    tie: Tie | None
    cubic: float | None
    edge: Edge | None
    value: complex
    alpha: bool | None
    premultiply: bool
    linear_light: bool
    labels: bool
    layout: Layout | None


class ResizeRule(Rule, total=False):
    mode: AnyMode
    axes: SupportsIndex | Sequence[SupportsIndex] | npt.NDArray[np.integer[Any]] | None


class Apply(Protocol):
    """`A.apply` of an axis map."""

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
