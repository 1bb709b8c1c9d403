"""Operations as PyTorch's transforms see them: ours, PyTorch's own, and the truth, which is PyTorch in eager code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F

import tenter

Function = Callable[..., torch.Tensor]


class Wrong(AssertionError):
    """It has a result that is not PyTorch's in eager code."""


class Case(NamedTuple):
    """A call of an operation. With `counts`, its functions take them after x; `total` says that they take their sum too.

    `ours` is tenter's function, `theirs` PyTorch's or None where it has none, `truth` what eager results must equal.
    `other` is another shape of x that the call fits; `device` is where its tensors are.
    """

    name: str
    row: str
    shape: tuple[int, ...]
    other: tuple[int, ...]
    ours: Function
    theirs: Function | None
    truth: Function
    counts: tuple[int, ...] | None = None
    total: bool = False
    device: str = "cpu"

    def bind(self, f: Function) -> Function:
        """f as a function of x alone."""
        if self.counts is None:
            return f
        counts = self.tensor(self.counts)
        return (lambda x: f(x, counts, sum(self.counts))) if self.total else (lambda x: f(x, counts))

    def tensor(self, counts: tuple[int, ...]) -> torch.Tensor:
        return torch.tensor(counts, device=self.device)


class Subject(NamedTuple):
    """What a transform looks at: f and the truth as functions of x, `by_counts` as the case has it."""

    f: Function
    truth: Function
    x: torch.Tensor
    other: torch.Tensor
    case: Case
    by_counts: Function

    def randn(self, *shape: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(7)
        return torch.randn(*shape, dtype=torch.float64, generator=generator).to(self.x.device)

    def cotangent(self) -> torch.Tensor:
        return self.randn(*self.truth(self.x).shape)


def subject(case: Case, f: Function) -> Subject:
    generator = torch.Generator().manual_seed(0)
    shapes = (case.shape, case.other)
    x, other = (torch.randn(s, dtype=torch.float64, generator=generator).to(case.device) for s in shapes)
    return Subject(case.bind(f), case.bind(case.truth), x, other, case, f)


# ---- operations


def _interleave(name: str, shape: tuple[int, ...], other: tuple[int, ...], repeats: Any, dim: int | None) -> Case:
    """Counts given as a tensor are an argument of the call, others a part of it."""
    if isinstance(repeats, torch.Tensor):
        ours, theirs = (
            lambda x, counts, f=f: f(x, counts, dim) for f in (tenter.repeat_interleave, torch.repeat_interleave)
        )
        row = "repeat_interleave, counts"
        return Case(name, row, shape, other, ours, theirs, theirs, tuple(repeats.tolist()))
    ours = lambda x: tenter.repeat_interleave(x, repeats, dim)
    if isinstance(repeats, list):
        truth = lambda x: torch.repeat_interleave(x, torch.tensor(repeats, device=x.device), dim)
        return Case(name, "repeat_interleave, counts in a list", shape, other, ours, None, truth)
    theirs = lambda x: torch.repeat_interleave(x, repeats, dim)
    return Case(name, "repeat_interleave, an int", shape, other, ours, theirs, theirs)


def _with_total(name: str, shape: tuple[int, ...], other: tuple[int, ...], counts: tuple[int, ...], dim: int) -> Case:
    ours, theirs = (
        lambda x, c, n, f=f: f(x, c, dim, output_size=n) for f in (tenter.repeat_interleave, torch.repeat_interleave)
    )
    row = "repeat_interleave, counts and output_size"
    return Case(name, row, shape, other, ours, theirs, theirs, counts, True)


def _resize(mode: str, shape: tuple[int, ...], other: tuple[int, ...], **kw: Any) -> Case:
    row = "interpolate, " + ("antialias" if kw.get("antialias") else mode)
    row = (
        "interpolate, linear modes"
        if row.endswith("linear")
        else row.replace("-exact", "").replace("nearest", "nearest modes")
    )
    scaled = " by scale" if "scale_factor" in kw else ""
    extras = "".join(f" {k}" for k in ("antialias", "align_corners") if kw.get(k))
    ours = lambda x: tenter.interpolate(x, mode=mode, **kw)
    theirs = lambda x: F.interpolate(x, mode=mode, **kw)
    return Case(f"{mode}{extras}{scaled}", row, shape, other, ours, theirs, theirs)


# Tracers take sizes of 1 for fixed and equal sizes for the same, so the dims that differ in `other` are neither.
IMAGE, OTHER_IMAGE = (2, 3, 4, 5), (3, 3, 6, 7)
COUNTS = (0, 3, 1, 2, 1)
CASES = [
    _interleave("int", (3, 4), (5, 2), 3, 1),
    _interleave("int flat", (3, 4), (5, 2), 2, None),
    _interleave("counts", (5, 3), (5, 6), torch.tensor(COUNTS), 0),
    _interleave("counts last dim", (2, 5), (4, 5), torch.tensor(COUNTS), -1),
    _interleave("counts flat", (2, 3), (3, 2), torch.tensor((*COUNTS, 0)), None),
    _interleave("list", (5, 3), (5, 6), list(COUNTS), 0),
    _with_total("counts total", (5, 3), (5, 6), COUNTS, 0),
    Case("repeat", "repeat", (3, 2), (5, 4), lambda x: tenter.repeat(x, 2, 1, 3), *[lambda x: x.repeat(2, 1, 3)] * 2),
    Case("tile", "tile", (2, 3), (4, 5), lambda x: tenter.tile(x, (3,)), *[lambda x: torch.tile(x, (3,))] * 2),
    Case(
        "expand", "expand", (3, 1, 2), (5, 1, 4),
        lambda x: tenter.expand(x, 2, -1, 5, -1), *[lambda x: x.expand(2, -1, 5, -1)] * 2,
    ),
    _resize("nearest", IMAGE, OTHER_IMAGE, size=(7, 3)),
    _resize("nearest", IMAGE, OTHER_IMAGE, scale_factor=1.7),
    _resize("nearest-exact", (2, 3, 7), (3, 3, 6), size=5),
    _resize("linear", (2, 3, 7), (3, 2, 4), size=5),
    _resize("bilinear", IMAGE, OTHER_IMAGE, size=(7, 3)),
    _resize("bilinear", IMAGE, OTHER_IMAGE, scale_factor=(1.7, 0.6)),
    _resize("bilinear", IMAGE, OTHER_IMAGE, size=(7, 3), align_corners=True),
    _resize("trilinear", (2, 1, 3, 4, 5), (3, 1, 5, 2, 4), size=(3, 2, 5)),
    _resize("bicubic", IMAGE, OTHER_IMAGE, size=(7, 3)),
    _resize("area", IMAGE, OTHER_IMAGE, size=(3, 2)),
    _resize("bilinear", (2, 3, 7, 4), (4, 3, 5, 8), size=(4, 3), antialias=True),
    _resize("bicubic", (2, 3, 7, 4), (4, 3, 5, 8), scale_factor=0.6, antialias=True),
]  # fmt: skip


# ---- comparing


def same(got: torch.Tensor, want: torch.Tensor, tolerance: float = 1e-10) -> None:
    if not isinstance(got, torch.Tensor):
        raise Wrong(f"{type(got).__name__}, not a tensor")
    if (got.shape, got.dtype) != (want.shape, want.dtype):
        raise Wrong(f"{got.dtype}{list(got.shape)}, not {want.dtype}{list(want.shape)}")
    error = (got.detach() - want.detach()).abs().max().item() if want.numel() else 0
    if not error <= tolerance * max(1, want.detach().abs().max().item() if want.numel() else 0):
        raise Wrong(f"values differ by {error:.2g}")


def need(condition: bool, what: str) -> None:
    if not condition:
        raise Wrong(what)


def bent(f: Function) -> Function:
    """A scalar whose derivatives of first and second order all depend on x."""
    return lambda x: (f(x.sin()).exp() * 0.5).sum()


def stacked(f: Function, xs: Any) -> torch.Tensor:
    return torch.stack([f(x) for x in xs])


def batch(s: Subject) -> torch.Tensor:
    return torch.stack([s.x, s.x.cos(), s.x * 2])
