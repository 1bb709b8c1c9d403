"""What a call costs beside its work: tiny tensors, ours and PyTorch's in turns, median of paired ratios.

`python -m benchmarks calls` writes the first table of docs/measured/pytorch.md.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812, its name everywhere

import tenter
from benchmarks.summaries import Met, slower
from benchmarks.table import beside

PAGE = Path("docs/measured/pytorch.md")
BEGIN, END = "<!-- calls:begin -->", "<!-- calls:end -->"
HEAD = (
    "| call on a tiny tensor | tenter | PyTorch | times faster "
    "| forward and backward: tenter | PyTorch | times faster |",
    "|---|---|---|---|---|---|---|",
)
CALLS, ROUNDS = 300, 21


class Case(NamedTuple):
    name: str
    x: torch.Tensor
    ours: Callable[[torch.Tensor], torch.Tensor]
    theirs: Callable[[torch.Tensor], torch.Tensor]


class Cost(NamedTuple):
    """Microseconds a call, and the median of paired ratios theirs / ours: how many times faster we are."""

    ours: float
    theirs: float
    ratio: float


def cases(device: str = "cpu") -> list[Case]:
    rows, image, volume = (torch.randn(shape, device=device) for shape in ((8, 4), (1, 3, 8, 8), (1, 2, 4, 4, 4)))
    counts = torch.tensor([0, 1, 2, 3, 1, 1, 1, 1], device=device)
    ours, theirs = tenter.repeat_interleave, torch.repeat_interleave
    found = [
        Case("`repeat_interleave(x, 2, 0)`", rows, lambda x: ours(x, 2, 0), lambda x: theirs(x, 2, 0)),
        Case("`repeat_interleave(x, counts, 0)`", rows, lambda x: ours(x, counts, 0), lambda x: theirs(x, counts, 0)),
        Case(
            "the same, `output_size=10`",
            rows,
            lambda x: ours(x, counts, 0, output_size=10),
            lambda x: theirs(x, counts, 0, output_size=10),
        ),
        Case("`repeat(x, 2, 2)`", rows, lambda x: tenter.repeat(x, 2, 2), lambda x: x.repeat(2, 2)),
        Case("`tile(x, (2, 2))`", rows, lambda x: tenter.tile(x, (2, 2)), lambda x: torch.tile(x, (2, 2))),
        Case("`expand(x, 3, 8, 4)`", rows, lambda x: tenter.expand(x, 3, 8, 4), lambda x: x.expand(3, 8, 4)),
    ]
    found += [resampled(image[0], (16,), "linear"), resampled(volume, (7, 7, 7), "trilinear")]
    found += [resampled(image, (16, 16), m) for m in ("nearest", "nearest-exact", "bilinear", "bicubic", "area")]
    found.append(resampled(image, (5, 5), "bilinear", True))
    return found


def compiled(case: Case) -> Case:
    ours, theirs = (torch.compile(f, fullgraph=True) for f in (case.ours, case.theirs))
    return Case(f"{case.name}, compiled", case.x, ours, theirs)


def resampled(x: torch.Tensor, size: tuple[int, ...], mode: str, antialias: bool = False) -> Case:
    return Case(
        f"`interpolate`, {mode}" + ", antialias" * antialias,
        x,
        lambda x: tenter.interpolate(x, size, mode=mode, antialias=antialias),
        lambda x: F.interpolate(x, size, mode=mode, antialias=antialias),
    )


def compare(ours: Callable[[], Any], theirs: Callable[[], Any], calls: int, wait: Callable[[], Any]) -> Cost:
    for _ in range(calls):
        ours(), theirs()
    pairs = [(per_call(ours, calls, wait), per_call(theirs, calls, wait)) for _ in range(ROUNDS)]
    return Cost(
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        statistics.median(b / a for a, b in pairs),
    )


def per_call(f: Callable[[], Any], calls: int, wait: Callable[[], Any]) -> float:
    """Microseconds; wait: until a device has done what it was told."""
    wait()
    start = time.perf_counter()
    for _ in range(calls):
        f()
    wait()
    return (time.perf_counter() - start) / calls * 1e6


def measure(case: Case, calls: int = CALLS) -> tuple[Cost, Cost]:
    """Without a gradient; forward and backward."""
    wait: Callable[[], None] = torch.cuda.synchronize if case.x.is_cuda else lambda: None
    torch.testing.assert_close(case.ours(case.x), case.theirs(case.x))
    with torch.no_grad():
        plain = compare(lambda: case.ours(case.x), lambda: case.theirs(case.x), calls, wait)
    x = case.x.clone().requires_grad_()
    g = torch.randn_like(case.theirs(case.x))

    def both(f: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
        return torch.autograd.grad(f(x), x, g)[0]

    torch.testing.assert_close(both(case.ours), both(case.theirs))
    return plain, compare(lambda: both(case.ours), lambda: both(case.theirs), max(1, calls // 3), wait)


def costs(kind: str, name: str, of: tuple[Cost, Cost]) -> list[Met]:
    return [Met(f"{kind}{way}", name, "PyTorch", cost.ratio) for way, cost in zip(("", ", forward and backward"), of)]


def main(about: str) -> int:
    lines, met = list(HEAD), list[Met]()
    torch.set_num_threads(1)
    found = cases()
    for case in found + [compiled(c) for c in found if c.name in ("`repeat(x, 2, 2)`", "`interpolate`, bilinear")]:
        plain, both = measure(case)
        cells = [f"{c.ours:.1f} us | {c.theirs:.1f} us | {c.ratio:.2f}x" for c in (plain, both)]
        lines.append(f"| {case.name} | {cells[0]} | {cells[1]} |")
        met += costs("Tiny calls", case.name, (plain, both))
        print(lines[-1], flush=True)
    link = beside(PAGE, "tiny-calls", "\n".join(lines), "All calls")
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text("\n\n".join([before + BEGIN, about, link, slower(met), END]) + after)
    print(f"wrote {PAGE}")
    return 0
