"""Types of arguments of public functions that filters, conventions and rules for sizes are among."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tenter._arrays.signatures import (
        Align,
        Box,
        Edge,
        Layout,
        Like,
        Mode,
        ModeName,
        Numbers,
        OfXarray,
        Sizes,
        Where,
    )
    from tenter._rules.filters import Filter
    from tenter._rules.presets import Convention
    from tenter._specs.model_sizes import Budget, Tiles
    from tenter._specs.picture_sizes import Fill, Fit

    PictureSize: TypeAlias = Sizes | Sequence[SupportsIndex | None] | Fit | Fill | Budget | Tiles
    AnyMode: TypeAlias = ModeName | Filter | Sequence[Mode | Filter]
    AnyLike: TypeAlias = Like | Convention


class RuleOfAxes(TypedDict, total=False):
    """Arguments of `resize` that sizes of all kinds go with."""

    antialias: bool | None
    like: AnyLike | None
    box: Box | None
    align: Align | None
    edge: Edge | None
    value: complex


class RuleArguments(RuleOfAxes, total=False):
    """Arguments of `resize` that `axis_map` also takes."""

    scale: Numbers | None


class GapArguments(TypedDict, total=False):
    """Arguments of `resize` for missing values."""

    where: Where | None
    skipna: bool
    min_valid: float | None


class NamedDims(RuleOfAxes, total=False):
    """Arguments of `resize` where sizes or scales have names."""

    where: OfXarray | Where | None
    skipna: bool
    min_valid: float | None

    scale: Mapping[Any, float | Fraction]
    mode: AnyMode
    labels: bool


class PictureRule(TypedDict, total=False):
    """Arguments of `image.resize`."""

    mode: AnyMode | None
    antialias: bool | None
    like: AnyLike | None
    alpha: bool | Literal["premultiplied"] | None
    linear_light: bool
    labels: bool
    layout: Layout | None
    scale: Numbers | None
    box: Box | None
    draft: bool


class LazyResizeRule(RuleArguments, total=False):
    mode: AnyMode
    axes: SupportsIndex | Sequence[SupportsIndex] | npt.NDArray[np.integer[Any]] | None


class ResizeRule(LazyResizeRule, total=False):
    labels: bool


class ResizeArguments(ResizeRule, GapArguments, total=False):
    """All arguments of `resize` by name, but for out."""
