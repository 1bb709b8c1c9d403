"""Layers with `torch.nn`'s names and arguments, that call tenter."""

from typing import TYPE_CHECKING, Any, NoReturn

import torch
import torch.nn.functional as F  # noqa: N812, its name everywhere

from tenter import interpolation
from tenter._arrays.arguments import describe, error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.names import as_written, parameters, show_signature, take_other_names
from tenter._specs import interpolate_arguments


class Upsample(torch.nn.Upsample):
    """`torch.nn.Upsample` that calls `tenter.interpolate`: a layer without parameters or buffers.

    Parameters
    ----------
    size : int or tuple of ints, optional
        The result's spatial shape in pixels, or one number for all spatial dims.
    scale_factor : float or tuple of floats, optional
        Output / input, in place of size.
    mode : str, default "nearest"
        "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic" or "area".
    align_corners : bool, optional
        For linear, bilinear, bicubic and trilinear. False aligns the outer edges of the corner pixels, True their
        centers.
    recompute_scale_factor : bool, optional
        True computes positions from the rounded sizes, not from scale_factor.

    Raises
    ------
    TypeError, ValueError
        When the layer is made, naming the argument.

    See Also
    --------
    tenter.interpolate : What is called.
    accelerate : For models that stay as they are.

    Notes
    -----
    It is a subclass of PyTorch's, so that code which looks for these layers finds it. `torch.jit.script` and
    `torch.jit.trace` record PyTorch's function instead.

    Examples
    --------
    >>> import torch
    >>> layer = Upsample(scale_factor=2, mode="bilinear")
    >>> layer(torch.ones(1, 3, 4, 5)).shape
    torch.Size([1, 3, 8, 10])
    >>> layer
    Upsample(scale_factor=2.0, mode='bilinear')
    """

    def __init__(
        self,
        size: int | tuple[int, ...] | None = None,
        scale_factor: float | tuple[float, ...] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
        *too_many: NoReturn,
        **no_other: NoReturn,
    ) -> None:
        how = {"mode": mode, "align_corners": align_corners, "recompute_scale_factor": recompute_scale_factor}
        _check(self, size, scale_factor, too_many, no_other, **how)
        super().__init__(size, scale_factor, mode, align_corners, recompute_scale_factor)

    if TYPE_CHECKING:  # to which a call of a module gives anything

        def __call__(self, input: torch.Tensor) -> torch.Tensor: ...

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        if torch.jit.is_scripting():  # type: ignore[attr-defined]
            return F.interpolate(
                input,
                self.size,
                self.scale_factor,
                self.mode,
                self.align_corners,
                recompute_scale_factor=self.recompute_scale_factor,
            )
        else:  # noqa: RET505  what follows an if without else is compiled by script too
            return _interpolated(self, input)


def _check(layer: Upsample, size: Any, scale_factor: Any, too_many: Any, other: dict[str, Any], **how: Any) -> None:
    """Refuses what a layer is made with. too_many, other: arguments by position and by name that it does not have."""
    try:
        if too_many or other:
            known = parameters(Upsample.__init__)
            other |= dict(zip((*known, "antialias")[len(parameters(type(layer).__init__)) :], too_many))
            for word, value in other.items():
                if word in known:
                    hint = f" (did you mean Upsample(..., {word}={describe(value)})?)"
                    refuse(TypeError, word, "no argument of this name", describe(value) + hint)
            take_other_names(type(layer).__init__, other)
        interpolate_arguments.check_without_x(size, scale_factor, **how)
    except Refusal as refusal:
        given = as_written(type(layer).__init__, {"size": size, "scale_factor": scale_factor, **how})
        raise error(refusal, f"tenter.torch.{type(layer).__name__}", **given, **other) from None


def _interpolated(layer: Any, x: torch.Tensor) -> torch.Tensor:
    how = (layer.size, layer.scale_factor, layer.mode, layer.align_corners, layer.recompute_scale_factor)
    made: torch.Tensor = interpolation.interpolate(x, *how)
    return made


class UpsamplingNearest2d(Upsample):
    """`torch.nn.UpsamplingNearest2d` that calls `tenter.interpolate`: `Upsample` with mode "nearest".

    Parameters
    ----------
    size : int or (int, int), optional
        (height, width) of the result in pixels, or one number for both.
    scale_factor : float or (float, float), optional
        Output / input, in place of size.

    Raises
    ------
    TypeError, ValueError
        When the layer is made, naming the argument.

    See Also
    --------
    Upsample : Other modes.

    Examples
    --------
    >>> import torch
    >>> UpsamplingNearest2d(scale_factor=2)(torch.tensor([[[[1, 2]]]]))
    tensor([[[[1, 1, 2, 2],
              [1, 1, 2, 2]]]])
    """

    def __init__(
        self,
        size: int | tuple[int, int] | None = None,
        scale_factor: float | tuple[float, float] | None = None,
        *too_many: NoReturn,
        **no_other: NoReturn,
    ) -> None:
        _check(self, size, scale_factor, too_many, no_other)
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """`torch.nn.UpsamplingBilinear2d` that calls `tenter.interpolate`: `Upsample` with mode "bilinear" and
    align_corners=True.

    Parameters
    ----------
    size : int or (int, int), optional
        (height, width) of the result in pixels, or one number for both.
    scale_factor : float or (float, float), optional
        Output / input, in place of size.

    Raises
    ------
    TypeError, ValueError
        When the layer is made, naming the argument.

    See Also
    --------
    Upsample : Other modes.

    Examples
    --------
    >>> import torch
    >>> UpsamplingBilinear2d(size=(1, 3))(torch.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """

    def __init__(
        self,
        size: int | tuple[int, int] | None = None,
        scale_factor: float | tuple[float, float] | None = None,
        *too_many: NoReturn,
        **no_other: NoReturn,
    ) -> None:
        _check(self, size, scale_factor, too_many, no_other)
        super().__init__(size, scale_factor, "bilinear", True)


for _layer in (Upsample, UpsamplingNearest2d, UpsamplingBilinear2d):
    show_signature(_layer.__init__)
