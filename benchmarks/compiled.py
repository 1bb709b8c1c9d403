"""Compiled code: a step of a decoder as in segmentation and diffusion models, and tiny calls; each by tenter
and by PyTorch, compiled by Inductor, in turns.

`python -m benchmarks compiled` writes the other tables of docs/measured/pytorch.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812, its name everywhere

import tenter
from benchmarks import calls
from benchmarks.calls import Case, Cost, per_call
from benchmarks.report import between
from benchmarks.summaries import Met, slower
from benchmarks.table import beside

BEGIN, END = "<!-- compiled:begin -->", "<!-- compiled:end -->"
SHAPES = ((1, 32, 64, 64), (4, 32, 64, 64))
MODES = ("nearest", "bilinear")
LAYOUTS = {"contiguous": torch.contiguous_format, "channels-last": torch.channels_last}
THREADS = (1, 2)
ROUNDS = 25
COSTS = "tenter | PyTorch | times faster | forward and backward: tenter | PyTorch | times faster"
HEAD = f"threads | input | memory | mode | forward: {COSTS}"
TINY_HEAD = f"compiled call on a tiny tensor | {COSTS}"
Function = Callable[..., torch.Tensor]


class Step(NamedTuple):
    """A convolution, an interpolation to twice the size, a concatenation with what skipped it, an activation."""

    x: torch.Tensor
    skip: torch.Tensor
    weight: torch.Tensor

    def by(self, interpolate: Function, mode: str) -> Function:
        def step(x: torch.Tensor, skip: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
            y = interpolate(F.conv2d(x, weight, padding=1), scale_factor=2, mode=mode)
            return F.silu(torch.cat([y, skip], 1))

        return torch.compile(step, fullgraph=True, dynamic=False)


def step(shape: tuple[int, ...], layout: torch.memory_format) -> Step:
    n, c, h, w = shape
    tensors = torch.randn(shape), torch.randn(n, c, 2 * h, 2 * w), torch.randn(c, c, 3, 3) / c
    return Step(*(t.contiguous(memory_format=layout) for t in tensors))


def measure(ours: Function, theirs: Function, given: tuple[torch.Tensor, ...], calls: int = 1) -> tuple[Cost, Cost]:
    """Without a gradient; forward and backward."""
    with torch.no_grad():
        torch.testing.assert_close(ours(*given), theirs(*given))
        g = torch.randn_like(theirs(*given))
        forward = fastest(lambda: ours(*given), lambda: theirs(*given), calls)
    wanted = [t.clone().requires_grad_() for t in given]

    def both(f: Function) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(f(*wanted), wanted, g)

    for a, b in zip(both(ours), both(theirs), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)
    return forward, fastest(lambda: both(ours), lambda: both(theirs), calls)


def fastest(ours: Callable[[], Any], theirs: Callable[[], Any], calls: int) -> Cost:
    """The shortest of many timings of each, in turns."""
    pairs = [(per_call(ours, calls, no_wait), per_call(theirs, calls, no_wait)) for _ in range(ROUNDS)]
    a, b = (min(times) for times in zip(*pairs, strict=True))
    return Cost(a, b, b / a)


def no_wait() -> None:
    """The CPU has done what a call says when it returns."""


def row(cells: list[str], costs: tuple[Cost, Cost], unit: str = "ms") -> str:
    scale = {"ms": 1e3, "us": 1.0}[unit]
    shown = [f"{c.ours / scale:.2f} {unit} | {c.theirs / scale:.2f} {unit} | {c.ratio:.2f}x" for c in costs]
    line = f"| {' | '.join([*cells, *shown])} |"
    print(line, flush=True)
    return line


def decoder(given: Step, mode: str) -> tuple[Cost, Cost]:
    torch._dynamo.reset()  # as the code has a number of threads in it, and one function is compiled a few times only
    return measure(given.by(tenter.interpolate, mode), given.by(F.interpolate, mode), given)


def tiny_call(case: Case) -> tuple[Cost, Cost]:
    torch._dynamo.reset()
    case = calls.compiled(case)
    return measure(case.ours, case.theirs, (case.x,), 100)


def headed(head: str) -> list[str]:
    return [f"| {head} |", "|" + "---|" * (head.count("|") + 1)]


def main(about: str) -> int:
    lines, tiny, met = headed(HEAD), headed(TINY_HEAD), list[Met]()
    with torch._inductor.config.patch(force_disable_caches=True):  # what an earlier version left on disk
        for threads in THREADS:
            torch.set_num_threads(threads)
            for shape, (name, layout), mode in itertools.product(SHAPES, LAYOUTS.items(), MODES):
                size = " x ".join(map(str, shape))
                costs = decoder(step(shape, layout), mode)
                lines.append(row([str(threads), size, name, mode], costs))
                met += calls.costs("Compiled decoder", f"{size}, {name}, {mode}", costs)
        torch.set_num_threads(1)
        for case in calls.cases():
            costs = tiny_call(case)
            tiny.append(row([case.name], costs, "us"))
            met += calls.costs("Compiled tiny calls", case.name, costs)
    link = beside(calls.PAGE, "compiled-decoder", "\n".join(lines), "All decoders")
    other = beside(calls.PAGE, "compiled-tiny-calls", "\n".join(tiny), "all tiny calls")
    text = "\n\n".join([about, f"{link}, {other}", slower(met)])
    calls.PAGE.write_text(between(calls.PAGE, BEGIN, END, text))
    print(f"wrote {calls.PAGE}")
    return 0
