"""Launches of `totals`: running totals of counts on a device, in one launch where there are few."""

from __future__ import annotations

from typing import Any

import torch

from tenter.kernels.triton import launch
from tenter.kernels.triton.copies import power
from tenter.kernels.triton.runs import totals

BLOCK = 4096


def running(counts: torch.Tensor, expected: int | None, report: torch.Tensor, ticket: int) -> torch.Tensor:
    """Of 1-D counts of any stride: int64, from 0 on. What is wrong with them will be in report, with the ticket."""
    made = torch.empty(len(counts) + 1, dtype=torch.int64, device=counts.device)
    _totals(counts, made, report, expected, ticket)
    return made


def _totals(
    counts: torch.Tensor, made: torch.Tensor, report: torch.Tensor | None, expected: int | None, ticket: int
) -> None:
    n = len(counts)
    block = max(min(power(n), BLOCK), 16)
    blocks = max(-(-n // block), 1)
    before = None
    if blocks > 1:
        sums, before = counts.new_empty(blocks, dtype=torch.int64), counts.new_empty(blocks + 1, dtype=torch.int64)
        _launch(
            blocks,
            counts,
            sums,
            n,
            before=None,
            report=None,
            expected=0,
            ticket=0,
            PART=True,
            VERIFY=False,
            BLOCK=block,
        )
        _totals(sums, before, None, None, 0)
    _launch(
        blocks, counts, made, n, before=before, report=report, expected=expected or 0, ticket=ticket, PART=False,
        VERIFY=expected is not None, BLOCK=block,
    )  # fmt: skip


def _launch(grid: int, counts: torch.Tensor, target: torch.Tensor, n: int, **args: Any) -> None:
    step = counts.stride()[0] if n > 1 else 1
    launch.now(totals, grid, counts, target, 4, n=n, step=step, **args)
