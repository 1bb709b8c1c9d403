"""interpolate: PyTorch's arguments and rules, for batches of signals, images and volumes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from tenter._arrays.arguments import MISSING, array, error
from tenter._arrays.errors import Refusal
from tenter._arrays.names import show_signature, take_other_names
from tenter._execution import calls
from tenter._execution.calls import FIND, unknown
from tenter._specs import interpolate_arguments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tenter._arrays.signatures import (
        AnyArray,
        Element,
        Held,
        InterpolateMode,
        Nested,
        Numbers,
        Other,
        Sizes,
        Tensor,
    )


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

    Names and rules are those of `torch.nn.functional.interpolate`. `resize` does the same along any axes, with more
    modes.

    Parameters
    ----------
    x : array
        (batch, channels, width), (batch, channels, height, width) or (batch, channels, depth, height, width), of any
        real or complex dtype and any strides. Modes "nearest" and "nearest-exact" take any dtype.
    size : int or sequence of ints, optional
        The result's spatial shape in pixels, or one number for all spatial dims.
    scale_factor : float or sequence of floats, optional
        Output / input, in place of size: a length n becomes floor(n * scale_factor).
    mode : str, default "nearest"
        "nearest" (the pixel at the corner, OpenCV's INTER_NEAREST), "nearest-exact" (the pixel at the center,
        Pillow's), "linear" (3-d x), "bilinear" (4-d), "trilinear" (5-d), "bicubic" (4-d; Keys with a = -0.75, with
        antialias -0.5), "area" (the mean of the pixels touched) or "lanczos" (three lobes; needs antialias).
    align_corners : bool, optional
        For linear, bilinear, bicubic and trilinear. False aligns the outer edges of the corner pixels, True their
        centers.
    recompute_scale_factor : bool, optional
        True computes positions from the rounded sizes, not from scale_factor.
    antialias : bool, default False
        For linear, bilinear, bicubic, trilinear and lanczos. Widens the filter when shrinking; the result agrees with
        Pillow's.
    out : array, optional
        Where to write the result, as for `tenter.resize`.
    **other
        PyTorch's `input` for x.

    Returns
    -------
    array
        A new array of x's library and dtype; channels-last stays channels-last. Integers are rounded half to even and
        saturated; antialiased uint8 of a given size is bit-identical to Pillow's.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If a value is not allowed, or arguments contradict each other.
    MemoryError
        If the result is larger than the machine's memory.

    See Also
    --------
    resize : Any axes, any filter, the rules of other libraries.
    tenter.torch.Upsample : The same as a layer.

    Notes
    -----
    Half and single precision are computed in float32 with weights from float64. Gradients, in PyTorch and JAX, apply
    the transposed map; they are bit-identical for any number of threads.

    Examples
    --------
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
            cached = find(
                "interpolate", x, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
            )  # fmt: skip
            if cached is not None:
                return cached
        given = interpolate_arguments.Arguments(
            size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
        )
        if out is not None and (written := calls.cached_into("interpolate", x, out, *given)) is not None:
            return written
        x = array("x", x)
        return calls.perform("interpolate", x, given, x, interpolate_arguments.checked(x, given), out)
    except Refusal as refusal:
        shown = {
            "size": size, "scale_factor": scale_factor, "mode": mode, "align_corners": align_corners,
            "recompute_scale_factor": recompute_scale_factor, "antialias": antialias or None,
        }  # fmt: skip
        raise error(refusal, "interpolate", x=x, **shown, out=out, **other) from None


show_signature(interpolate)
