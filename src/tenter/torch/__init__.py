"""tenter in place of PyTorch's own functions, in code that stays as it is."""

from tenter.torch.accelerate import accelerate, install, uninstall
from tenter.torch.report import Report, report

__all__ = ["Report", "accelerate", "install", "report", "synchronize", "uninstall"]


def synchronize() -> None:
    """Waits for checks that were put off so as not to wait for a device, and raises what they found.

    On the CPU every check is made before memory is touched, so none is ever put off and this returns at once.
    Operations on other devices may check counts after the call has returned; this is where their errors surface at the
    latest.

    >>> synchronize()
    """
