"""CUDA tensors: results on a device, and checks that are made after a call has returned.

Nothing here waits for a device, but what raises. What a kernel finds wrong with counts, which it reads when the device
comes to it, it writes to a report in memory of the host, with the ticket of the call; every later call on that device
looks at the report first, and `tenter.torch.synchronize` waits and looks.
"""

import itertools
from collections import OrderedDict
from typing import Any, NamedTuple

import torch

from tenter._arrays.arguments import describe
from tenter._arrays.errors import refuse
from tenter._plans.plan import Plan


class DeferredError(ValueError):
    """Counts on a device that were wrong in an earlier call, which had returned when the device came to them."""


def run(x: torch.Tensor, plan: Plan, out: torch.Tensor | None = None) -> torch.Tensor:
    """Fresh memory, or out, with the plan's maps applied, on the device's current stream."""
    raise_found(x.device)
    if plan.steps is None:
        refuse(TypeError, "x", "numbers to take sums of", f"{x.dtype}")
    y = out
    if y is None:
        order = plan.order or tuple(range(len(plan.shape_out)))
        y = torch.empty_permuted(plan.shape_out, order, dtype=x.dtype, device=x.device)
    plan.steps.run(x, y, plan.offsets)
    return y


# ---- counts


class Report:
    """What kernels of one device found wrong; written by them, in memory of the host."""

    def __init__(self, device: torch.device) -> None:
        if device.type == "cuda":
            from tenter._kernels.triton import launch  # as it imports Triton

            launch.refuse_under_capture()
        self.words = torch.zeros(4, dtype=torch.int64, device="cpu", pin_memory=device.type == "cuda")
        self.view = self.words.numpy()


_reports: dict[torch.device, Report] = {}
_tickets = itertools.count(1)


class Words(NamedTuple):
    """What a function calls counts in its arguments, one of many, and their sum."""

    name: str
    values: str
    total: str


COUNTS, LENGTHS = Words("repeats", "counts", "output_size"), Words("lengths", "lengths", "total")
# What calls were, by their tickets; those of long ago are forgotten.
_calls: OrderedDict[int, tuple[Words, str]] = OrderedDict()
REMEMBERED = 4096


def offsets(counts: torch.Tensor, output_size: int | None, called: str = "") -> torch.Tensor:
    """Prefix sums of 1-D counts from 0, verified when the device comes to it: int64, one more than counts."""
    from tenter._kernels.triton import prefix_sum

    raise_found(counts.device)
    # Kernels write to the one that others find too.
    report = _reports.get(counts.device) or _reports.setdefault(counts.device, Report(counts.device))
    ticket = next(_tickets)
    words = LENGTHS if called else COUNTS
    total = "" if output_size is None else f", {words.total}={output_size}"
    _calls[ticket] = words, f"{called or 'repeat_interleave'}({words.name}: {describe(counts)}{total})"
    if len(_calls) > REMEMBERED:
        _calls.popitem(last=False)
    return prefix_sum.offsets(counts, output_size, report.words, ticket)


def total(offsets: torch.Tensor) -> torch.Tensor:
    """The last of prefix sums, along their last dim, on the host: waits for the device, and raises what it found."""
    found = offsets[..., -1:].flatten().cpu()
    raise_found(offsets.device)
    return found


def sent(offsets: Any, x: torch.Tensor) -> torch.Tensor:
    """Prefix sums that are known on the host, sent to x's device."""
    from tenter._kernels.triton.tables import DeviceTables

    return DeviceTables([offsets], x.device).tensors[0]


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
    words, call = _calls.get(ticket, (COUNTS, "an earlier call"))
    call = f"{call}, as {device} found"
    if negative:
        got = f"one at position {negative - 1}, in {call}"
        refuse(DeferredError, words.name, f"{words.values} that are not negative", got)
    if over:
        refuse(DeferredError, words.name, f"{words.values} whose sum is below 2**63", f"more, in {call}")
    refuse(DeferredError, words.total, f"{other - 1}, the sum of the {words.values}", f"another, in {call}")
