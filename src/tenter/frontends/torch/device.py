"""CUDA tensors: which device serves a tensor, results there, and checks that are made after a call has returned.

Nothing here waits for a device, but what raises. What a kernel finds wrong with counts, which it reads when the device
comes to it, it writes to a report in memory of the host, with the ticket of the call; every later call on that device
looks at the report first, and `tenter.torch.synchronize` waits and looks.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import torch

from tenter import limits

if TYPE_CHECKING:
    from tenter.apply import Planned


class DeferredError(ValueError):
    """Counts on a device that were wrong in an earlier call, which had returned when the device came to them."""


def name(x: torch.Tensor) -> str | None:
    """The device whose own kernels serve x; None for memory of the host."""
    return None if x.is_cpu or x.device.type != "cuda" else str(x.device)


def problem(x: torch.Tensor) -> str | None:
    """Why x's device can't serve it."""
    if x.device.type in ("cpu", "meta") or (x.device.type == "cuda" and has_triton()):
        return None
    return f"a tensor on {x.device.type}" + (", without Triton to serve it" if x.device.type == "cuda" else "")


@cache
def has_triton() -> bool:
    return find_spec("triton") is not None


def run(x: torch.Tensor, planned: Planned) -> torch.Tensor:
    """Fresh memory with the planned maps applied, on the device's current stream."""
    raise_found(x.device)
    if planned.steps is None:
        limits.refuse(TypeError, "x", "numbers to take sums of", f"{x.dtype}")
    order = planned.order or tuple(range(len(planned.shape_out)))
    y = torch.empty_permuted(planned.shape_out, order, dtype=x.dtype, device=x.device)
    planned.steps.run(x, y, planned.offsets)
    return y


# ---- counts


class Report:
    """What kernels of one device found wrong; written by them, in memory of the host."""

    def __init__(self, device: torch.device) -> None:
        if device.type == "cuda":
            from tenter.kernels.triton import launch

            launch.refuse_under_capture()
        self.words = torch.zeros(4, dtype=torch.int64, device="cpu", pin_memory=device.type == "cuda")
        self.view = self.words.numpy()


_reports: dict[torch.device, Report] = {}
_tickets = itertools.count(1)
# What calls were, by their tickets; those of long ago are forgotten.
_calls: OrderedDict[int, str] = OrderedDict()
REMEMBERED = 4096


def offsets(counts: torch.Tensor, output_size: int | None) -> torch.Tensor:
    """Running totals of 1-D counts from 0 on, verified when the device comes to it: int64, one more than counts."""
    from tenter import frontends  # late: it reads this package
    from tenter.kernels.triton import prefix_sum

    raise_found(counts.device)
    # Kernels write to the one that others find too.
    report = _reports.get(counts.device) or _reports.setdefault(counts.device, Report(counts.device))
    ticket = next(_tickets)
    total = "" if output_size is None else f", output_size={output_size}"
    _calls[ticket] = f"repeat_interleave(repeats: {frontends.describe(counts)}{total})"
    if len(_calls) > REMEMBERED:
        _calls.popitem(last=False)
    return prefix_sum.offsets(counts, output_size, report.words, ticket)


def total(offsets: torch.Tensor) -> torch.Tensor:
    """The last of running totals, along their last dim, on the host: waits for the device, and raises what it found."""
    found = offsets[..., -1:].flatten().cpu()
    raise_found(offsets.device)
    return found


def running(offsets: Any, x: torch.Tensor) -> torch.Tensor:
    """Running totals that are known on the host, sent to x's device."""
    from tenter.kernels.triton.tables import DeviceTables

    return DeviceTables([offsets], torch.device(name(x) or "cpu")).tensors[0]


def synchronize() -> None:
    """Waits for the devices that owe a report, and raises what they found."""
    for device in list(_reports):
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        raise_found(device)


def raise_found(device: torch.device) -> None:
    report = _reports.get(device)
    if report is not None and report.view[0]:
        _raise(report, device)


def _raise(report: Report, device: torch.device) -> None:
    if device.type == "cuda" and not torch.cuda.is_current_stream_capturing():
        torch.cuda.synchronize(device)  # or what kernels still write would be lost, or raised again
    ticket, negative, over, other = report.view.tolist()
    if not (negative or over or other):
        return  # the words that say so are still on their way
    report.view[:] = 0
    call = f"{_calls.get(ticket, 'an earlier call')}, as {device} found"
    if negative:
        limits.refuse(
            DeferredError, "repeats", "counts that are not negative", f"one at position {negative - 1}, in {call}"
        )
    if over:
        limits.refuse(DeferredError, "repeats", "counts whose sum is below 2**63", f"more, in {call}")
    limits.refuse(DeferredError, "output_size", f"{other - 1}, the sum of the counts", f"another, in {call}")
