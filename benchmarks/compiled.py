"""Compiled code: a step of a decoder as in segmentation and diffusion models, and tiny calls; each by tenter
and by PyTorch, compiled by Inductor, in turns.

`python -m benchmarks compiled` writes the tables of docs/pytorch.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812, its name everywhere

import tenter
from benchmarks import calls
from benchmarks.calls import Cost
from benchmarks.report import between

BEGIN, END = "<!-- compiled:begin -->", "<!-- compiled:end -->"
SHAPES = ((1, 32, 64, 64), (4, 64, 64, 64), (1, 32, 256, 256))
MODES = ("nearest", "bilinear")
LAYOUTS = {"contiguous": torch.contiguous_format, "channels-last": torch.channels_last}
THREADS = (1, 2)
COSTS = "tenter | PyTorch | ratio | forward and backward: tenter | PyTorch | ratio"
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


def measure(given: Step, mode: str) -> tuple[Cost, Cost]:
    torch._dynamo.reset()  # as the code has a number of threads in it, and one function is compiled a few times only
    ours, theirs = given.by(tenter.interpolate, mode), given.by(F.interpolate, mode)
    with torch.no_grad():
        torch.testing.assert_close(ours(*given), theirs(*given))
        g = torch.randn_like(theirs(*given))
        forward = calls.compare(lambda: ours(*given), lambda: theirs(*given), 2, lambda: None)
    wanted = [t.clone().requires_grad_() for t in given]

    def both(f: Function) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(f(*wanted), wanted, g)

    for a, b in zip(both(ours), both(theirs), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)
    return forward, calls.compare(lambda: both(ours), lambda: both(theirs), 2, lambda: None)


def row(cells: list[str], costs: tuple[Cost, Cost], unit: str = "ms") -> str:
    scale = {"ms": 1e3, "us": 1.0}[unit]
    shown = [f"{c.ours / scale:.2f} {unit} | {c.theirs / scale:.2f} {unit} | {c.ratio:.2f}" for c in costs]
    line = f"| {' | '.join([*cells, *shown])} |"
    print(line, flush=True)
    return line


def headed(head: str) -> list[str]:
    return [f"| {head} |", "|" + "---|" * (head.count("|") + 1)]


def main(about: str) -> int:
    lines, tiny = headed(HEAD), headed(TINY_HEAD)
    with torch._inductor.config.patch(force_disable_caches=True):  # what an earlier version left on disk
        for threads in THREADS:
            torch.set_num_threads(threads)
            for shape, (name, layout), mode in itertools.product(SHAPES, LAYOUTS.items(), MODES):
                size = " x ".join(map(str, shape))
                lines.append(row([str(threads), size, name, mode], measure(step(shape, layout), mode)))
        torch.set_num_threads(1)
        for case in calls.cases():
            torch._dynamo.reset()
            tiny.append(row([case.name], calls.measure(calls.compiled(case)), "us"))
    text = "\n\n".join([about, "\n".join(lines), "\n".join(tiny)])
    calls.PAGE.write_text(between(calls.PAGE, BEGIN, END, text))
    print(f"wrote {calls.PAGE}")
    return 0
