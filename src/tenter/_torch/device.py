"""CUDA tensors: results on a device, and checks that are made after a call has returned.

Nothing here waits for a device, except what raises errors. A kernel reads the counts after the call has returned. What
it finds wrong it writes to a report in host memory, with the call's ticket. Every later call on that device reads the
report first. `tenter.torch.synchronize` waits, and then reads it.
"""

import itertools
from typing import Any, NamedTuple

import torch

from tenter._arrays.arguments import describe
from tenter._arrays.errors import refuse
from tenter._plans.plan import CallPlan
from tenter._specs.repeat import RepeatCounts
from tenter._specs.segments import OF_MASK, ROWS


class DeferredError(ValueError):
    """Wrong counts on a CUDA device, in an earlier call that returned before the device checked them.

    See Also
    --------
    synchronize : Raises it now.

    Examples
    --------
    >>> issubclass(DeferredError, ValueError)
    True
    """


def run(x: torch.Tensor, plan: CallPlan, out: torch.Tensor | None = None) -> torch.Tensor:
    """Applies the plan's maps on the device's current stream, and returns fresh memory or `out`."""
    if _reports:
        raise_found(x.device)
    spec, steps, y = plan.spec, plan.steps, out
    if steps is None:
        refuse(TypeError, "x", "numbers to take sums of", f"{x.dtype}")
    if y is None:
        y = x.new_empty_strided(plan.shape_out, plan.strides)  # torch's function for this takes twice as long
    steps.run(x, y, spec.offsets if isinstance(spec, RepeatCounts) else None)
    return y


# ---- counts


class Report:
    """What kernels of one device found wrong. They write it to host memory.

    prefix_sum: the module that starts them; to import it in each call takes longer than to look up a plan
    """

    def __init__(self, device: torch.device) -> None:
        from tenter._triton import launch, prefix_sum  # imports Triton

        if device.type == "cuda":
            launch.refuse_under_capture()
        self.prefix_sum = prefix_sum
        self.words = torch.zeros(4, dtype=torch.int64, device="cpu", pin_memory=device.type == "cuda")
        self.view = self.words.numpy()


_reports: dict[torch.device, Report] = {}
_tickets = itertools.count(1)


class Words(NamedTuple):
    """What errors call the counts, one count, and their sum."""

    name: str
    values: str
    total: str


COUNTS, LENGTHS = Words("repeats", "counts", "output_size"), Words("lengths", "lengths", "output_size")


class CountsCall(NamedTuple):
    """called: the function's name; "" for repeat_interleave. output_size: the user's"""

    called: str
    dtype: torch.dtype
    shape: torch.Size
    output_size: int | None

    def words(self) -> tuple[Words, str]:
        """Returns what errors call the counts, and the call as they show it."""
        words = LENGTHS if self.called else COUNTS
        total = "" if self.output_size is None else f", {words.total}={self.output_size}"
        counts = describe(torch.empty(self.shape, dtype=self.dtype, device="meta"))
        return words, f"{self.called or 'repeat_interleave'}({words.name}: {counts}{total})"


# Calls by their tickets. Each new one drops the one so many tickets before it.
_calls: dict[int, CountsCall] = {}
MOST_CALLS = 4096


def offsets(counts: torch.Tensor, output_size: int | None, called: str = "") -> torch.Tensor:
    """Returns the int64 prefix sums of 1-D counts, starting with 0. The device checks the counts when it reads them."""
    on = counts.device
    raise_found(on)
    # setdefault, because threads must share one report.
    report = _reports.get(on) or _reports.setdefault(on, Report(on))
    ticket = next(_tickets)
    _calls[ticket] = CountsCall(called, counts.dtype, counts.shape, output_size)
    _calls.pop(ticket - MOST_CALLS, None)
    return report.prefix_sum.offsets(counts, output_size, report.words, ticket)


def totals(offsets: torch.Tensor) -> list[int]:
    """Returns the last of the prefix sums, along their last dim. It waits for the device, and raises what the device
    found wrong."""
    found: list[int] = offsets.select(-1, -1).flatten().tolist()
    raise_found(offsets.device)
    return found


def sent(offsets: Any, x: torch.Tensor) -> torch.Tensor:
    """Copies prefix sums from the host to x's device."""
    from tenter._triton.tables import DeviceTables

    return DeviceTables([offsets], x.device).tensors[0]


def synchronize() -> None:
    """Waits for the devices whose report was not read, and raises what they found."""
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
        torch.cuda.synchronize(device)  # otherwise later writes of kernels would be lost or raised twice
    ticket, negative, over, other = report.view.tolist()
    if not (negative or over or other):
        return  # the other words of the report are still on their way
    report.view[:] = 0
    known = _calls.get(ticket)
    words, call = known.words() if known is not None else (COUNTS, "an earlier call")
    call = f"{call}, as {device} found"
    if negative and known is not None and known.called == OF_MASK:
        refuse(DeferredError, "mask", ROWS, f"another row {negative - 1}, as {device} found")
    if negative:
        got = f"one at position {negative - 1}, in {call}"
        refuse(DeferredError, words.name, f"non-negative {words.values}", got)
    if over:
        refuse(DeferredError, words.name, f"{words.values} whose sum is below 2**63", f"more, in {call}")
    refuse(DeferredError, words.total, f"{other - 1}, the sum of the {words.values}", f"another, in {call}")
