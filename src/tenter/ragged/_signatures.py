"""What the functions of ragged arrays and the methods of `Plan` take and return, for type checkers: NumPy's arrays and
lists give NumPy's arrays, tensors give tensors, a plan its own kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsIndex, TypeAlias, cast, overload

import numpy as np
from numpy.typing import NDArray

from tenter._arrays.signatures import Element

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from tenter._arrays.signatures import AnyArray, Base, Held, Nested, Tensor, Where
    from tenter.lazy import LazyArray
    from tenter.ragged._plan import Plan

    # The arrays that a plan returns; any of them for a `Plan` without a type argument.
    Indices = TypeVar(
        "Indices", covariant=True, default=NDArray[np.int32] | NDArray[np.int64] | Tensor
    )  # fmt: skip
    OnHost: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
    Given = TypeVar("Given", NDArray[np.int32], NDArray[np.int64], Tensor)
    Ints: TypeAlias = NDArray[np.integer[Any]] | Sequence[SupportsIndex]
    Lengths: TypeAlias = Ints | Tensor | Plan[Any]
    OneEach: TypeAlias = SupportsIndex | Ints
    Counts: TypeAlias = NDArray[np.integer[Any]] | Tensor | Sequence[Sequence[SupportsIndex]]
    Index: TypeAlias = SupportsIndex | None
    Side: TypeAlias = Literal["left", "right"] | None
    Scalar: TypeAlias = complex | np.generic
else:
    from typing import TypeVar

    Indices = TypeVar("Indices", covariant=True)


# fmt: off
class OfLengths(Protocol):
    @overload
    def __call__(self, lengths: Plan[Indices], *, output_size: Index = None, out: Indices | None = None) -> Indices: ...
    @overload
    def __call__(self, lengths: Given, *, output_size: Index = None, out: Given | None = None) -> Given: ...
    @overload
    def __call__(self, lengths: Ints, *,
        output_size: Index = None, out: NDArray[np.int64] | None = None) -> NDArray[np.int64]: ...


class OfOffsets(Protocol):
    @overload
    def __call__(self, offsets: Given, *, out: Given | None = None) -> Given: ...
    @overload
    def __call__(self, offsets: Ints, *, out: NDArray[np.int64] | None = None) -> NDArray[np.int64]: ...


class Mask(Protocol):
    @overload
    def __call__(self, lengths: Plan[OnHost] | Ints, max_len: Index = None, *,
        padding_side: Side = None, out: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]: ...
    @overload
    def __call__(self, lengths: Plan[Tensor] | Tensor, max_len: Index = None, *,
        padding_side: Side = None, out: Tensor | None = None) -> Tensor: ...
    @overload
    def __call__(self, lengths: Plan, max_len: Index = None, *,
        padding_side: Side = None, out: NDArray[np.bool_] | Tensor | None = None) -> NDArray[np.bool_] | Tensor: ...


class Spans(Protocol):
    @overload
    def __call__(self, starts: Tensor, ends: Tensor, n: SupportsIndex, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def __call__(self, starts: Ints | Nested, ends: Ints | Nested, n: SupportsIndex, *,
        out: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]: ...


class Ranges(Protocol):
    @overload
    def __call__(self, starts: OneEach, lengths: Plan[OnHost] | Ints, steps: OneEach = 1, *,  # type: ignore[overload-overlap]
        output_size: Index = None, out: OnHost | None = None) -> OnHost: ...
    @overload
    def __call__(self, starts: OneEach | Tensor, lengths: Lengths, steps: OneEach | Tensor = 1, *,
        output_size: Index = None, out: Tensor | None = None) -> Tensor: ...


class RepeatPadded(Protocol):
    @overload
    def __call__(self, x: NDArray[Element], repeats: Counts, max_len: Index = None, *,
        value: Scalar = 0, out: tuple[NDArray[Element], OnHost] | None = None) -> tuple[NDArray[Element], OnHost]: ...
    @overload
    def __call__(self, x: Tensor, repeats: Counts, max_len: Index = None, *,  # type: ignore[overload-overlap]
        value: Scalar = 0, out: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]: ...
    @overload
    def __call__(self, x: Nested | Held, repeats: Counts, max_len: Index = None, *,
        value: Scalar = 0, out: tuple[NDArray[Any], OnHost] | None = None) -> tuple[NDArray[Any], OnHost]: ...


class PlanRanges(Protocol):
    @overload
    def __call__(self, starts: Tensor, steps: OneEach | Tensor = 1, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def __call__(self, starts: OneEach, steps: Tensor, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def __call__(self, starts: OneEach, steps: OneEach = 1, *,
        out: OnHost | Tensor | None = None) -> OnHost | Tensor: ...


class Reduction(Protocol):
    @overload
    def __call__(self, x: NDArray[Element], lengths: Lengths, axis: SupportsIndex = 0, *,
        where: Where | None = None, skipna: bool = False,
        out: NDArray[Element] | None = None) -> NDArray[Element]: ...
    @overload
    def __call__(self, x: LazyArray[Base], lengths: Lengths, axis: SupportsIndex = 0, *,  # type: ignore[overload-overlap]
        where: Where | None = None, skipna: bool = False,
        out: None = None) -> Base | LazyArray[Base]: ...
    @overload
    def __call__(self, x: LazyArray[Base], lengths: Lengths, axis: SupportsIndex = 0, *,  # type: ignore[overload-overlap]
        where: Where | None = None, skipna: bool = False, out: AnyArray) -> AnyArray: ...
    @overload
    def __call__(self, x: Tensor, lengths: Lengths, axis: SupportsIndex = 0, *,  # type: ignore[overload-overlap]
        where: Where | None = None, skipna: bool = False,
        out: Tensor | None = None) -> Tensor: ...
    @overload
    def __call__(self, x: Nested | Held, lengths: Lengths, axis: SupportsIndex = 0, *,
        where: Where | None = None, skipna: bool = False,
        out: NDArray[Any] | None = None) -> NDArray[Any]: ...


class Pad(Protocol):
    @overload
    def __call__(self, x: NDArray[Element], lengths: Lengths, max_len: Index = None, *,
        value: Scalar = 0, padding_side: Side = None, out: NDArray[Element] | None = None) -> NDArray[Element]: ...
    @overload
    def __call__(self, x: Tensor, lengths: Lengths, max_len: Index = None, *,  # type: ignore[overload-overlap]
        value: Scalar = 0, padding_side: Side = None, out: Tensor | None = None) -> Tensor: ...
    @overload
    def __call__(self, x: Nested | Held, lengths: Lengths, max_len: Index = None, *,
        value: Scalar = 0, padding_side: Side = None, out: NDArray[Any] | None = None) -> NDArray[Any]: ...


class Unpad(Protocol):
    @overload
    def __call__(self, x: NDArray[Element], lengths: Lengths, *,
        output_size: Index = None, padding_side: Side = None,
        out: NDArray[Element] | None = None) -> NDArray[Element]: ...
    @overload
    def __call__(self, x: Tensor, lengths: Lengths, *,  # type: ignore[overload-overlap]
        output_size: Index = None, padding_side: Side = None, out: Tensor | None = None) -> Tensor: ...
    @overload
    def __call__(self, x: Nested | Held, lengths: Lengths, *,
        output_size: Index = None, padding_side: Side = None, out: NDArray[Any] | None = None) -> NDArray[Any]: ...


class PlanAlong(Protocol):
    """A plan's method along an axis."""

    @overload
    def __call__(self, x: NDArray[Element], axis: SupportsIndex = 0, *,
        out: NDArray[Element] | None = None) -> NDArray[Element]: ...
    @overload
    def __call__(self, x: LazyArray[Base], axis: SupportsIndex = 0, *, out: None = None) -> Base | LazyArray[Base]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, x: LazyArray[Base], axis: SupportsIndex = 0, *, out: AnyArray) -> AnyArray: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, x: Tensor, axis: SupportsIndex = 0, *, out: Tensor | None = None) -> Tensor: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, x: Nested | Held, axis: SupportsIndex = 0, *,
        out: NDArray[Any] | None = None) -> NDArray[Any]: ...


class PlanPad(Protocol):
    @overload
    def __call__(self, x: NDArray[Element], max_len: Index = None, *,
        value: Scalar = 0, padding_side: Side = None, out: NDArray[Element] | None = None) -> NDArray[Element]: ...
    @overload
    def __call__(self, x: Tensor, max_len: Index = None, *,  # type: ignore[overload-overlap]
        value: Scalar = 0, padding_side: Side = None, out: Tensor | None = None) -> Tensor: ...
    @overload
    def __call__(self, x: Nested | Held, max_len: Index = None, *,
        value: Scalar = 0, padding_side: Side = None, out: NDArray[Any] | None = None) -> NDArray[Any]: ...


class PlanUnpad(Protocol):
    @overload
    def __call__(self, x: NDArray[Element], *,
        padding_side: Side = None, out: NDArray[Element] | None = None) -> NDArray[Element]: ...
    @overload
    def __call__(self, x: Tensor, *,  # type: ignore[overload-overlap]
        padding_side: Side = None, out: Tensor | None = None) -> Tensor: ...
    @overload
    def __call__(self, x: Nested | Held, *,
        padding_side: Side = None, out: NDArray[Any] | None = None) -> NDArray[Any]: ...
# fmt: on


def of_lengths(f: Callable[..., Any]) -> OfLengths:
    """f, typed by the class above. The functions that follow do the same."""
    return cast(OfLengths, f)


def of_offsets(f: Callable[..., Any]) -> OfOffsets:
    return cast(OfOffsets, f)


def mask(f: Callable[..., Any]) -> Mask:
    return cast(Mask, f)


def spans(f: Callable[..., Any]) -> Spans:
    return cast(Spans, f)


def reduction(f: Callable[..., Any]) -> Reduction:
    return cast(Reduction, f)


def pad(f: Callable[..., Any]) -> Pad:
    return cast(Pad, f)


def unpad(f: Callable[..., Any]) -> Unpad:
    return cast(Unpad, f)


def plan_along(f: Callable[..., Any]) -> PlanAlong:
    return cast(PlanAlong, f)


def plan_pad(f: Callable[..., Any]) -> PlanPad:
    return cast(PlanPad, f)


def plan_unpad(f: Callable[..., Any]) -> PlanUnpad:
    return cast(PlanUnpad, f)


def ranges(f: Callable[..., Any]) -> Ranges:
    return cast(Ranges, f)


def plan_ranges(f: Callable[..., Any]) -> PlanRanges:
    return cast(PlanRanges, f)


def repeat_padded(f: Callable[..., Any]) -> RepeatPadded:
    return cast(RepeatPadded, f)
