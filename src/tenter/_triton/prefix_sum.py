"""Launches of the kernel `prefix_sum`: the offsets of counts on a device, in one launch if there are few."""

import torch

from tenter._triton import launch
from tenter._triton.copies import next_power_of_two
from tenter._triton.runs import prefix_sum

BLOCK = 4096  # counts of one program


def offsets(
    counts: torch.Tensor, expected: int | None = None, report: torch.Tensor | None = None, ticket: int = 0
) -> torch.Tensor:
    """Returns the int64 offsets, from 0, of 1-D counts of any stride. Errors are written to `report` with the
    ticket."""
    n, step = len(counts), counts.stride()[0] if len(counts) > 1 else 1
    made = torch.empty(n + 1, dtype=torch.int64, device=counts.device)
    block = max(min(next_power_of_two(n), BLOCK), 16)
    n_blocks, before = max(-(-n // block), 1), None
    args = {"n": n, "step": step, "BLOCK": block, "expected": expected or 0, "ticket": ticket}
    if n_blocks > 1:
        sums = counts.new_empty(n_blocks, dtype=torch.int64)
        launch.run(prefix_sum, n_blocks, counts, sums, 4, **args, before=None, report=None, PART=True, VERIFY=False)
        before = offsets(sums)
    verify = expected is not None
    launch.run(prefix_sum, n_blocks, counts, made, 4, **args, before=before, report=report, PART=False, VERIFY=verify)
    return made
