"""The transforms of `transforms.py` that trace: torch.compile, torch.export, make_fx, fake and meta tensors."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import Dim, export
from torch.func import grad, jvp, vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from torch_cases import Subject, Wrong, batch, bent, need, same, stacked


def other_counts(s: Subject) -> tuple[int, ...]:
    """Of a smaller sum, which takes another branch."""
    return (4, 0, 0, 1, 0, 0)[: len(s.case.counts)]


@contextlib.contextmanager
def compiled(f: Callable[..., Any], backend: str = "aot_eager", **options: Any) -> Iterator[Callable[..., Any]]:
    """f compiled as one graph by the first call inside, whose graph must fit the others."""
    torch._dynamo.reset()
    graph = torch.compile(f, backend=backend, fullgraph=True, **options)
    stances = itertools.chain(["default"], itertools.repeat("fail_on_recompile"))

    def call(*args: Any) -> Any:
        with torch.compiler.set_stance(next(stances)):
            return graph(*args)

    yield call
    torch._dynamo.reset()


def static(s: Subject) -> None:
    with compiled(lambda x: s.f(x * 2).sin(), dynamic=False) as f:
        same(f(s.x), s.truth(s.x * 2).sin())
        same(f(s.x.cos()), s.truth(s.x.cos() * 2).sin())


def dynamic(s: Subject) -> None:
    with compiled(lambda x: s.f(x * 2).sin(), dynamic=True) as f:
        for x in (s.x, s.other):
            same(f(x), s.truth(x * 2).sin())


def gradients(f: Callable[..., torch.Tensor], x: torch.Tensor, *rest: Any) -> torch.Tensor:
    x = x.clone().requires_grad_()
    return torch.autograd.grad(f(x, *rest).exp().sum(), x)[0]


def static_backward(s: Subject) -> None:
    with compiled(lambda x: s.f(x.sin()), dynamic=False) as f:
        same(gradients(f, s.x), gradients(lambda x: s.truth(x.sin()), s.x))


def dynamic_backward(s: Subject) -> None:
    with compiled(lambda x: s.f(x.sin()), dynamic=True) as f:
        for x in (s.x, s.other):
            same(gradients(f, x), gradients(lambda x: s.truth(x.sin()), x))


def inductor(s: Subject) -> None:
    with compiled(lambda x: s.f(x.sin()).cos(), backend="inductor", dynamic=True) as f:
        for x in (s.x, s.other):
            same(gradients(f, x), gradients(lambda x: s.truth(x.sin()).cos(), x))


def counts_as_argument(s: Subject) -> None:
    """One graph for counts of any sum, gradients included."""
    calls = [(s.case.tensor(c), *([sum(c)] if s.case.total else [])) for c in (s.case.counts, other_counts(s))]
    with compiled(lambda x, *rest: s.by_counts(x.sin(), *rest).cos(), dynamic=True) as f:
        for rest in calls:
            same(f(s.x, *rest), s.case.truth(s.x.sin(), *rest).cos())
    with compiled(lambda x, *rest: s.by_counts(x.sin(), *rest).cos(), dynamic=True) as f:
        for rest in calls:
            same(gradients(f, s.x, *rest), gradients(lambda x, *r: s.case.truth(x.sin(), *r).cos(), s.x, *rest))


SMALL = 6  # sums of the two counts lie on either side


def branch_on_known_size(s: Subject) -> None:
    """With output_size a plain `if` works: a graph for either side."""

    def f(g: Callable[..., torch.Tensor], x: torch.Tensor, counts: torch.Tensor, n: int) -> torch.Tensor:
        y = g(x, counts, n)
        return y.sin().sum() if y.shape[0] > SMALL else y.cos().sum()

    torch._dynamo.reset()
    by_if = torch.compile(partial(f, s.by_counts), backend="aot_eager", fullgraph=True, dynamic=True)
    for c in (s.case.counts, other_counts(s)):
        args = s.x, s.case.tensor(c), sum(c)
        same(by_if(*args), f(s.case.truth, *args))


def stretched_dim(s: Subject) -> int:
    shape = s.truth(s.x).shape
    return next((d for d, (a, b) in enumerate(zip(shape, s.x.shape)) if a != b), 0)


def branch_on_unknown_size(s: Subject) -> None:
    """Without output_size the size is known when the code runs: torch.cond chooses, in one graph. An `if` takes a
    size that torch._check has bounded, or any at the price of a graph break."""
    dim = stretched_dim(s)
    counts = [s.case.tensor(c) for c in (s.case.counts, other_counts(s))]

    def branch(g: Callable[..., torch.Tensor], x: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        y = g(x, counts)
        return y.sin().sum() if y.shape[dim] > SMALL else y.cos().sum()

    def by_cond(x: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        y = s.by_counts(x, counts)
        return torch.cond(y.shape[dim] > SMALL, lambda y: y.sin().sum(), lambda y: y.cos().sum(), (y,))

    def bounded(x: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        y = s.by_counts(x, counts)
        torch._check(y.shape[dim] < 100)
        return y.sin().sum() if y.shape[dim] < 200 else y.cos().sum()

    with compiled(by_cond) as f:
        for c in counts:
            same(f(s.x, c), branch(s.case.truth, s.x, c))
    with compiled(bounded) as f:
        same(f(s.x, counts[0]), s.truth(s.x).sin().sum())
    torch._dynamo.reset()
    by_if = torch.compile(partial(branch, s.by_counts), backend="aot_eager")
    for c in counts:
        same(by_if(s.x, c), branch(s.case.truth, s.x, c))


def branch_on_size(s: Subject) -> None:
    (branch_on_known_size if s.case.total else branch_on_unknown_size)(s)


def wrong_total(s: Subject) -> None:
    """Compiled code refuses a wrong output_size, too small or too large, as eager code does."""
    counts = s.case.tensor(s.case.counts)
    for n in (sum(s.case.counts) - 1, sum(s.case.counts) + 2):
        with compiled(lambda x, c, n=n: s.by_counts(x, c, n).sin(), backend="inductor") as f:
            try:
                y = f(s.x, counts)
            except (ValueError, RuntimeError):
                continue
        raise Wrong(f"{y.shape[0]} rows for counts of sum {sum(s.case.counts)} and output_size {n}")


def of_vmap(s: Subject) -> None:
    with compiled(lambda xs: vmap(s.f)(xs.sin())) as f:
        same(f(batch(s)), stacked(s.truth, batch(s).sin()))


def of_jvp(s: Subject) -> None:
    with compiled(lambda x, t: jvp(s.f, (x,), (t,))) as f:
        for got, want in zip(f(s.x, s.x.cos()), (s.truth(s.x), s.truth(s.x.cos()))):
            same(got, want)


def of_grad(s: Subject) -> None:
    with compiled(grad(bent(s.f))) as f:
        same(f(s.x), grad(bent(s.truth))(s.x))


class OfOne(torch.nn.Module):
    def __init__(self, f: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.f = f

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.f(x.sin()).cos()


class OfCounts(OfOne):
    def forward(self, x: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return self.f(x.sin(), counts).cos()


def exported(strict: bool) -> Callable[[Subject], None]:
    """Every dim that may vary is dynamic; counts are an input of the program too."""

    def check(s: Subject) -> None:
        dims = {d: Dim.DYNAMIC for d, (a, b) in enumerate(zip(s.x.shape, s.other.shape)) if a != b}
        program = export(OfOne(s.f), (s.x,), dynamic_shapes=(dims,), strict=strict).module()
        for x in (s.x, s.other):
            same(program(x), s.truth(x.sin()).cos())
        if s.case.counts and not s.case.total:
            program = export(OfCounts(s.by_counts), (s.x, s.case.tensor(s.case.counts)), strict=strict).module()
            for c in map(s.case.tensor, (s.case.counts, other_counts(s))):
                same(program(s.x, c), s.case.truth(s.x.sin(), c).cos())

    return check


def symbolic_trace(s: Subject) -> None:
    graph = make_fx(s.f, tracing_mode="symbolic", _allow_non_fake_inputs=True)(s.x)
    for x in (s.x, s.other):
        same(graph(x), s.truth(x))


def fake(s: Subject) -> None:
    """Shape, dtype and strides without values; what counts add up to is a symbol."""
    want = s.truth(s.x)
    with FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True) as mode:
        x = mode.from_tensor(s.x, static_shapes=True)
        y = s.f(x)
        need(y.dtype == want.dtype and y.ndim == want.ndim, f"{y.dtype}, {y.ndim} dims")
        if not s.case.counts or s.case.total:
            need(y.shape == want.shape and y.stride() == want.stride(), f"{tuple(y.shape)}, {y.stride()}")
        else:
            need(all(isinstance(a, torch.SymInt) or a == b for a, b in zip(y.shape, want.shape)), f"{tuple(y.shape)}")
            need(any(isinstance(a, torch.SymInt) for a in y.shape), "sizes that cannot be known")


def meta(s: Subject) -> None:
    """Counts are on meta too, so their sum must be given."""
    want = s.truth(s.x)
    rest = [torch.tensor(s.case.counts, device="meta"), sum(s.case.counts)] if s.case.counts else []
    x = s.x.to("meta").requires_grad_()
    y = s.by_counts(x, *rest)
    need(
        (y.shape, y.dtype, y.device.type) == (want.shape, want.dtype, "meta"), f"{y.dtype}{list(y.shape)} on {y.device}"
    )
    need(y.stride() == want.stride(), f"strides {y.stride()}")
    need(torch.autograd.grad(y.sum(), x)[0].shape == x.shape, "a gradient of another shape")
