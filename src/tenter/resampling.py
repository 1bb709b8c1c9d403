"""interpolate and resize: any axes of any array, any filter, any library's convention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from tenter._arrays.arguments import MISSING, array, error, integer
from tenter._arrays.dtypes import is_numeric
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import dtype_name
from tenter._arrays.names import misnamed, parameters, show_signature, take_other_names
from tenter._execution import calls, executor, outside
from tenter._execution.calls import FIND, unknown
from tenter._specs import interpolate_arguments, resize_arguments
from tenter.maps import AxisMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tenter._arrays.signatures import (
        Align,
        AnyArray,
        Box,
        Edge,
        Element,
        Held,
        InterpolateMode,
        Like,
        Mode,
        ModeName,
        Nested,
        Numbers,
        Other,
        Policy,
        ResizeRule,
        Rounding,
        Rule,
        Sizes,
        Tensor,
        Tie,
        Unpack,
    )
    from tenter._rules.presets import Convention
    from tenter.filters import Filter


# fmt: off
@overload
def interpolate(x: NDArray[Element], size: Sizes | None = None, scale_factor: Numbers | None = None,
    mode: InterpolateMode = "nearest", align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False, *, out: NDArray[Element] | None = None) -> NDArray[Element]: ...
@overload
def interpolate(x: Nested, size: Sizes | None = None, scale_factor: Numbers | None = None,
    mode: InterpolateMode = "nearest", align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False, *, out: NDArray[Any] | None = None) -> NDArray[Any]: ...
@overload
def interpolate(x: Other, size: Sizes | None = None, scale_factor: Numbers | None = None,
    mode: InterpolateMode = "nearest", align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False, *, out: Other | None = None) -> Other: ...
@overload
def interpolate(x: Tensor, size: Sizes | None = None, scale_factor: Numbers | None = None,
    mode: InterpolateMode = "nearest", align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def interpolate(x: Held, size: Sizes | None = None, scale_factor: Numbers | None = None,
    mode: InterpolateMode = "nearest", align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False, *, out: NDArray[Any] | None = None) -> NDArray[Any]: ...
@overload
def interpolate(*, input: AnyArray, size: Sizes | None = None, scale_factor: Numbers | None = None,
    mode: InterpolateMode = "nearest", align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False, out: AnyArray | None = None) -> AnyArray: ...
# fmt: on
def interpolate(
    x: Any = MISSING,
    size: Sizes | None = None,
    scale_factor: Numbers | None = None,
    mode: InterpolateMode = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
    too_many: Any = None,
    out: Any = None,
    **other: Any,
) -> Any:
    """Resizes the spatial dims of a batch of signals, images or volumes.

    Meaning and names of `torch.nn.functional.interpolate`.

    x: (batch, channels, [depth,] [height,] width), any strides. Every real and complex dtype; nearest kinds take any
        dtype.
    size: output sizes in pixels, or scale_factor: output / input, floor(n * scale_factor) pixels. One number, or one
        per spatial dim.
    mode: nearest (pixel at the corner, the rule of OpenCV's INTER_NEAREST), nearest-exact (pixel at the center, the
        rule of Pillow; both rounded as PyTorch rounds), linear (3-d x), bilinear (4-d), trilinear (5-d), bicubic (4-d;
        Keys with a = -0.75, with antialias -0.5), area (mean of the pixels touched), lanczos (three lobes; needs
        antialias).
    align_corners: for linear kinds and bicubic. False aligns the edges of the corner pixels, True their centers.
    recompute_scale_factor: True takes coordinates from the rounded sizes, not from the given scale_factor.
    antialias: for linear kinds, bicubic and lanczos. Widens the filter when shrinking; agrees with Pillow.
    out: where to write the result, as `resize` has it. other: PyTorch's `input` for x.
    Returns fresh memory of x's kind and dtype; channels-last stays channels-last. Integers are rounded half to even and
    saturated, uint8 with antialias as in Pillow, bit for bit. Half and single precision are computed in float32 from
    float64 weights.

    Raises TypeError and ValueError naming the argument, MemoryError for a result larger than the machine. Gradients on
    PyTorch are deterministic: the transpose of the same map.

    >>> interpolate(np.arange(4.0).reshape(1, 1, 4), size=2, mode="linear", antialias=True).round(3)
    array([[[0.714, 2.286]]])
    >>> interpolate(np.arange(3).reshape(1, 1, 3), scale_factor=2)
    array([[[0, 0, 1, 1, 2, 2]]])
    """
    try:
        if other or too_many is not None:
            (x,) = take_other_names(interpolate, other, too_many, input=("x", x))
        if out is None:
            find = FIND.get(type(x), unknown)
            # One by one, as a call with a star takes a tenth longer.
            known = find(
                "interpolate", x, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
            )  # fmt: skip
            if known is not None:
                return known
        given = interpolate_arguments.Arguments(
            size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
        )
        if out is not None and (written := calls.known_into("interpolate", x, out, *given)) is not None:
            return written
        x = array("x", x)
        return calls.perform("interpolate", x, given, x, interpolate_arguments.checked(x, given), out)
    except Refusal as refusal:
        shown = {
            "size": size, "scale_factor": scale_factor, "mode": mode, "align_corners": align_corners,
            "recompute_scale_factor": recompute_scale_factor, "antialias": antialias or None,
        }  # fmt: skip
        raise error(refusal, "interpolate", x=x, **shown, out=out, **other) from None


# fmt: off
@overload
def resize(x: NDArray[Element], size: Sizes | None = None, *, out: NDArray[Element] | None = None,
    **how: Unpack[ResizeRule]) -> NDArray[Element]: ...
@overload
def resize(x: Nested, size: Sizes | None = None, *, out: NDArray[Any] | None = None,
    **how: Unpack[ResizeRule]) -> NDArray[Any]: ...
@overload
def resize(x: Other, size: Sizes | None = None, *, out: Other | None = None, **how: Unpack[ResizeRule]) -> Other: ...
@overload
def resize(x: Tensor, size: Sizes | None = None, *, out: Tensor | None = None,
    **how: Unpack[ResizeRule]) -> Tensor: ...
@overload
def resize(x: Held, size: Sizes | None = None, *, out: NDArray[Any] | None = None,
    **how: Unpack[ResizeRule]) -> NDArray[Any]: ...
# fmt: on
def resize(
    x: Any = MISSING,
    size: Sizes | None = None,
    too_many: Any = None,
    scale: Numbers | None = None,
    axes: SupportsIndex | Sequence[SupportsIndex] | NDArray[np.integer[Any]] | None = None,
    mode: ModeName | Filter | Sequence[Mode | Filter] = "linear",
    antialias: bool | None = None,
    like: Like | Convention = "torch",
    rounding: Rounding | None = None,
    policy: Policy = "stretch",
    box: Box | None = None,
    align: Align | None = None,
    tie: Tie | None = None,
    cubic: float | None = None,
    edge: Edge | None = None,
    value: complex = 0,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """Resizes any axes of an array.

    x: array or tensor of any shape; every real and complex dtype, nearest kinds any dtype.
    size: output length, one for all axes or one each; or scale: output / input, a number or a
        `fractions.Fraction`, one for all axes or one each.
    axes: those that are resized, in the order of size: (0, 1) of an (H, W, C) image, (-2, -1) of (..., H, W). None:
        all, where x has one or two or size has one number for each.
    mode: nearest, nearest-exact, linear, cubic, catmull-rom, mitchell, bspline, lanczos (lanczos3), lanczos2 to
        lanczos5, area, box, hamming, or a `tenter.filters.Filter`; or a list of one per axis. Of two axes also bilinear
        and bicubic, of three trilinear, which are linear and cubic. Integers that are labels (classes, instances) need
        nearest-exact: other modes mix them, and the mean of two labels is another label.
    antialias: whether the filter widens when shrinking. None: as `like` has it; area never needs it, nearest has none.
    like: whose rules hold where no argument below says otherwise: torch, pillow (PIL), opencv (cv2), onnx, jax,
        tensorflow (tf), skimage (scikit-image), scipy, or a `tenter.conventions.Convention`.
    rounding: of length * scale: floor, round (half up), round_even (half to even) or ceil; None: as `like` has it.
    policy: stretch, or one scale for all axes such that the result is not_larger or not_smaller than size (ONNX).
    box: (begin, end) in input pixels of the part to resize, fractions allowed, one pair per axis or None for a whole
        axis; reversed, it reverses the axis.
    align: center, corners, asymmetric (`tenter.geometry.Geometry`). tie: floor, ceil, prefer_floor, prefer_ceil, for
        nearest. cubic: Keys's a, for cubic. edge: replicate, reflect, symmetric, wrap, constant (of `value`),
        renormalize (what lies outside is left out), extrapolate (outputs outside are `value`).
    out: an array or tensor of x's kind, dtype and device and the result's shape, to write to and return; a memmap, say.
        Unless it overlaps x, no memory for a result is taken, but 4 MiB at most where it does not lie as a fresh result
        would. Refused calls leave it as it was; with it no gradient may be recorded.
    Returns fresh memory of x's kind and dtype, in x's order of axes in memory. Integers are rounded half to even and
    saturated; half and single precision are computed in float32 from float64 weights, larger integers in float64.
    Antialiased uint8 of torch and pillow is Pillow's, bit for bit.

    Raises TypeError and ValueError naming the argument, MemoryError for a result larger than the machine. Gradients on
    PyTorch are the transposed maps, deterministic.

    >>> resize(np.array([0.0, 10.0, 20.0]), 5, align="corners")
    array([ 0.,  5., 10., 15., 20.])
    >>> from fractions import Fraction
    >>> image = np.zeros((88, 66, 3), np.uint8)
    >>> resize(image, scale=Fraction(120, 88), axes=(0, 1), mode="cubic", like="pillow").shape
    (120, 90, 3)
    >>> resize(np.arange(4), 4, box=[(4, 0)], mode="nearest-exact")
    array([3, 2, 1, 0])
    """
    if no_other or too_many is not None:
        raise misnamed("resize", resize, no_other, too_many, x=x, size=size)
    try:
        if out is None:
            known = FIND.get(type(x), unknown)(
                "resize", x, size, scale, axes, mode, antialias, like, rounding, policy, box, align, tie, cubic, edge,
                value,
            )  # fmt: skip
            if known is not None:
                return known
        given = resize_arguments.Arguments(
            size, scale, axes, mode, antialias, like, rounding, policy, box, align, tie, cubic, edge, value
        )
        if out is not None and (written := calls.known_into("resize", x, out, *given)) is not None:
            return written
        x = array("x", x)
        spec, turned = resize_arguments.checked(x, given)
        reads_outside = any(rule.edge in ("constant", "extrapolate") for rule in spec.rules)
        given_x = x
        if turned:
            x = executor.of(x).flip(x, turned)
        if reads_outside and (value != 0 or not is_numeric(dtype_name(x))):
            return outside.perform("resize", given_x, given, x, spec, out)
        if turned:
            return calls.perform_turned("resize", given_x, given, x, spec, out)
        return calls.perform("resize", x, given, x, spec, out)
    except Refusal as refusal:
        named = {
            "size": size, "scale": scale, "axes": axes, "mode": mode, "antialias": antialias, "like": like,
            "rounding": rounding, "policy": policy, "box": box, "align": align, "tie": tie, "cubic": cubic,
            "edge": edge, "value": value,
        }  # fmt: skip
        usual = {"mode": "linear", "like": "torch", "policy": "stretch", "value": 0}
        shown = {n: v for n, v in named.items() if v is not None and not (n in usual and v is usual[n])}
        raise error(refusal, "resize", x=x, **shown, out=out) from None


def axis_map(
    n_in: SupportsIndex,
    n_out: SupportsIndex,
    mode: Mode | Filter = "linear",
    too_many: None = None,
    **how: Unpack[Rule],
) -> AxisMap:
    """The map that `resize` applies to one axis of n_in positions, of a float32 array.

    Nearest kinds of float64 arrays round positions as PyTorch does there, and may take other inputs.
    how: resize's other arguments. Raises TypeError and ValueError as resize does.

    >>> axis_map(4, 2, "area")
    Window(4 -> 2: weights of 2)
    """
    unknown = {word: value for word, value in how.items() if word not in parameters(resize)}
    if unknown or too_many is not None:
        raise misnamed("axis_map", resize, unknown, too_many, n_in=n_in, n_out=n_out, mode=mode)
    try:
        x = np.broadcast_to(np.float32(0), (integer("n_in", n_in, least=0),))
        spec, turned = resize_arguments.checked(x, resize_arguments.Arguments(n_out, mode=mode, **how))
        if turned:
            refuse(ValueError, "box", "one in ascending order, for a map", repr(how["box"]))
        ((_, found),) = spec.maps(x.shape, "float32", False)
        made: AxisMap = found
        return made
    except Refusal as refusal:
        raise error(refusal, "axis_map", n_in, n_out, mode, **how) from None


for _function in (interpolate, resize, axis_map):
    show_signature(_function)
