"""Layers, transforms of images (`tenter.torch.transforms`), and tenter in place of PyTorch's own functions."""

from typing import TYPE_CHECKING, Any

import tenter
from tenter._arrays.arguments import did_you_mean, error
from tenter._arrays.errors import Refusal
from tenter._arrays.names import unknown
from tenter._torch import device
from tenter._torch.device import DeferredError
from tenter.torch import transforms as transforms
from tenter.torch.accelerate import accelerate, install, uninstall
from tenter.torch.modules import Upsample, UpsamplingBilinear2d, UpsamplingNearest2d
from tenter.torch.report import Report, report

__all__ = [
    "DeferredError",
    "Report",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "accelerate",
    "install",
    "report",
    "synchronize",
    "transforms",
    "uninstall",
]


def synchronize() -> None:
    """Waits for the pending checks of CUDA devices, and raises the errors that they found.

    Raises
    ------
    DeferredError
        A ValueError that names the call that was wrong.

    See Also
    --------
    DeferredError : What is raised.

    Notes
    -----
    On the CPU every check is made before memory is touched. A CUDA device checks counts when it runs the call. A
    negative count, or a sum that is not output_size, is raised by a later call on that device, or here. The result of
    the wrong call is 0 after the sum of the counts; no other memory was touched.

    Examples
    --------
    >>> synchronize()
    """
    try:
        device.synchronize()
    except Refusal as refusal:
        raise error(refusal, "synchronize") from None


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # which would take every name for one that there is

    def __getattr__(name: str) -> Any:
        near = {"transforms": transforms.__all__, "tenter": tenter.__all__}
        place = next((place for place, names in near.items() if name in names), None)
        hint = f" (did you mean {place}.{name}?)" if place else did_you_mean(name, __all__)
        raise unknown(__name__, name, hint)
