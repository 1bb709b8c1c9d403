"""Layers, transforms of images (`tenter.torch.transforms`), and tenter in place of PyTorch's own functions."""

from tenter._arrays.arguments import error
from tenter._arrays.errors import Refusal
from tenter._execution.torch import device
from tenter._execution.torch.device import DeferredError
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
    """Waits for checks that were put off so as not to wait for a device, and raises what they found.

    On the CPU every check is made before memory is touched. On a CUDA device counts that lie there are checked when the
    device comes to them: what is wrong with them, a count that is negative or a sum unlike output_size, is raised by a
    later call on that device, or here. Such results are 0 past the sum of the counts, and nothing else was touched.

    Raises DeferredError, a ValueError, which names the call that was wrong.

    >>> synchronize()
    """
    try:
        device.synchronize()
    except Refusal as refusal:
        raise error(refusal, "synchronize") from None
