"""Launches of the kernel `prefix_sum`: the offsets of counts on a device, in one launch if there are few."""

from typing import Any

import torch

from tenter._triton import launch
from tenter._triton.copies import next_power_of_two
from tenter._triton.driver import Launch, Launcher
from tenter._triton.runs import prefix_sum

# The most counts of a program, and those of a warp. With more, a warp's counts do not fit in its registers.
BLOCK, WARP = 1024, 256
# By what the kernel's specialization depends on.
_launchers: dict[Any, Launcher] = {}


def offsets(
    counts: torch.Tensor, expected: int | None = None, report: torch.Tensor | None = None, ticket: int = 0
) -> torch.Tensor:
    """Returns the int64 offsets, from 0, of 1-D counts of any stride. Errors are written to `report` with the
    ticket."""
    n = counts.shape[0]
    step = counts.stride(0) if n > 1 else 1
    made = counts.new_empty(n + 1, dtype=torch.int64)
    block = max(min(next_power_of_two(n), BLOCK), 16)
    n_blocks, before = max(-(-n // block), 1), None
    integers = (n, step, expected or 0, ticket)
    if n_blocks > 1:
        sums = counts.new_empty(n_blocks, dtype=torch.int64)
        _run(n_blocks, (counts, sums, None, None), integers, (True, False, block))
        before = offsets(sums)
    _run(n_blocks, (counts, made, before, report), integers, (False, expected is not None, block))
    return made


def _run(
    n_blocks: int, tensors: tuple[torch.Tensor | None, ...], integers: tuple[int, ...], constants: tuple[Any, ...]
) -> None:
    """Runs the kernel on its arguments in order, absent tensors None."""
    counts, target, before, report = tensors
    assert counts is not None and target is not None
    addresses = [t.data_ptr() for t in tensors if t is not None]
    aligned = addresses[0] % 16 == 0
    key = (counts.device, counts.dtype, aligned, before is None, report is None, constants)
    launcher = _launchers.get(key)
    if launcher is None:
        args = dict(zip(prefix_sum.arg_names[2:], (before, report, *integers, *constants), strict=True))
        pointers = [launch.POINTERS_TO[t.dtype] for t in (counts, target)]
        kernel, values = launch.specialize(
            prefix_sum, pointers, (aligned, True), args, True, max(constants[-1] // WARP, 1)
        )
        if counts.device.type == "cpu":
            launch.interpret(kernel, n_blocks, (counts, target, *values))
            return
        numbers = [(k, 0) for k in range(1 + len(addresses) + len(integers))]
        launcher = _launchers[key] = Launcher(counts.device.index, [Launch(kernel, numbers)])
    launcher.run(n_blocks, *addresses, *integers)
