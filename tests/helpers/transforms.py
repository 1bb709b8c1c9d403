"""What PyTorch does to functions and tensors besides calling them, as one table of checks: `TRANSFORMS`.

A transform takes a case's function, ours or PyTorch's, and compares it with PyTorch in eager code on the same input.
It raises `torch_cases.Wrong` where the results differ, anything else where the transform does not work at all.
"""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch.autograd import forward_ad
from torch.func import functionalize, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils.checkpoint import checkpoint

import compiled_transforms as c
from torch_cases import CASES, Case, Subject, batch, bent, need, same, stacked, subject

# ---- derivatives


def backward(s: Subject) -> None:
    for v in (s.cotangent(), s.cotangent().movedim(0, -1).contiguous().movedim(-1, 0)):
        got, want = (torch.autograd.grad(f(x), x, v)[0] for f in (s.f, s.truth) for x in [s.x.clone().requires_grad_()])
        same(got, want)


def double_backward(s: Subject) -> None:
    results = []
    for f in (s.f, s.truth):
        x = s.x.clone().requires_grad_()
        v = s.cotangent().requires_grad_()
        (g,) = torch.autograd.grad(f(x.sin()).exp(), x, v, create_graph=True)
        results.append(torch.autograd.grad((g * g).sum(), (x, v)))
    for got, want in zip(*results):
        same(got, want)


def batched_gradients(s: Subject) -> None:
    vs = torch.stack([s.cotangent(), s.cotangent().cos()])
    x = s.x.clone().requires_grad_()
    got = torch.autograd.grad(s.f(x), x, vs, is_grads_batched=True)[0]
    for g, v in zip(got, vs):
        same(g, torch.autograd.grad(s.truth(x), x, v)[0])


def forward_mode(s: Subject) -> None:
    with forward_ad.dual_level():
        got = forward_ad.unpack_dual(s.f(forward_ad.make_dual(s.x, s.x.cos())))
        need(got.tangent is not None, "no tangent")
        same(got.primal, s.truth(s.x))
        same(got.tangent, s.truth(s.x.cos()))


def forward_over_backward(s: Subject) -> None:
    product = lambda f: jvp(grad(bent(f)), (s.x,), (s.x.cos(),))[1]
    same(product(s.f), product(s.truth))


def func(transform: Callable[..., Any], scalar: bool) -> Callable[[Subject], None]:
    def check(s: Subject) -> None:
        got, want = (transform(bent(f) if scalar else f)(s.x) for f in (s.f, s.truth))
        same(got, want)

    return check


def func_jvp(s: Subject) -> None:
    for got, want in zip(jvp(s.f, (s.x,), (s.x.cos(),)), (s.truth(s.x), s.truth(s.x.cos()))):
        same(got, want)


def func_vjp(s: Subject) -> None:
    got, want = (vjp(f, s.x)[1](s.cotangent())[0] for f in (s.f, s.truth))
    same(got, want)


# ---- vmap


def vmap_first(s: Subject) -> None:
    same(vmap(s.f)(batch(s)), stacked(s.truth, batch(s)))


def vmap_last(s: Subject) -> None:
    got = vmap(s.f, in_dims=-1, out_dims=-1)(batch(s).movedim(0, -1))
    same(got.movedim(-1, 0), stacked(s.truth, batch(s)))


def vmap_nested(s: Subject) -> None:
    xs = torch.stack([batch(s), batch(s).cos()])
    got = vmap(vmap(s.f), in_dims=1, out_dims=1)(xs)
    same(got, torch.stack([stacked(s.truth, row) for row in xs]))


def vmap_of_grad(s: Subject) -> None:
    same(vmap(grad(bent(s.f)))(batch(s)), stacked(grad(bent(s.truth)), batch(s)))


def grad_of_vmap(s: Subject) -> None:
    got = grad(lambda xs: vmap(bent(s.f))(xs).sum())(batch(s))
    same(got, stacked(grad(bent(s.truth)), batch(s)))


def vmap_counts(s: Subject) -> None:
    """Counts of each example's own, of equal totals; with x mapped too and without."""
    rest = (sum(s.case.counts),) if s.case.total else ()
    counts = torch.stack([s.case.tensor(s.case.counts).roll(i) for i in range(3)])
    truth = [s.case.truth(x, c, *rest) for x, c in zip(batch(s), counts)]
    same(vmap(lambda x, c: s.by_counts(x, c, *rest))(batch(s), counts), torch.stack(truth))
    got = vmap(lambda c: s.by_counts(s.x, c, *rest), in_dims=-1)(counts.T.contiguous())
    same(got, torch.stack([s.case.truth(s.x, c, *rest) for c in counts]))
    g = vmap(grad(lambda x, c: bent(lambda x: s.by_counts(x, c, *rest))(x)))(batch(s), counts)
    wants = [grad(bent(lambda x: s.case.truth(x, c, *rest)))(x) for x, c in zip(batch(s), counts)]
    same(g, torch.stack(wants))


def func_functionalize(s: Subject) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        x.view(-1).mul_(2)
        return s.f(x).clone().add_(1)

    same(functionalize(f, remove="mutations_and_views")(s.x), s.truth(s.x * 2) + 1)


# ---- kinds of tensors, and what surrounds a call


def autocast(s: Subject) -> None:
    """The dtype is the one that PyTorch's function gives, for inputs of every float dtype."""
    for dtype in (torch.bfloat16, torch.float32, torch.float64):
        x = s.x.to(dtype)
        with torch.autocast(s.case.device, dtype=torch.bfloat16):
            got = s.f(x)
            try:
                kept = s.truth(x).dtype
            except NotImplementedError:  # antialias of half types
                kept = dtype
        need(got.dtype == kept, f"{got.dtype} of {dtype}, not {kept}")
        same(got.double(), s.truth(x.double()), 1e-10 if dtype == torch.float64 else 2e-2)


def checkpointed(reentrant: bool) -> Callable[[Subject], None]:
    def check(s: Subject) -> None:
        x = s.x.clone().requires_grad_()
        y = checkpoint(lambda x: s.f(x.sin()).exp(), x, use_reentrant=reentrant)
        (got,) = torch.autograd.grad(y.sum(), x) if not reentrant else (y.sum().backward(), x.grad)[1:]
        same(got, torch.autograd.grad(s.truth(x.sin()).exp().sum(), x)[0])

    return check


def inference_mode(s: Subject) -> None:
    want = s.truth(s.x)
    with torch.inference_mode():
        for x in (s.x, s.x.clone(), s.x.clone().requires_grad_()):
            y = s.f(x)
            same(y, want)
            need(y.is_inference() or s.case.row == "expand", "a result that autograd would track")
        inside = s.x.clone()
    same(s.f(inside), want)


class Tagged(torch.Tensor):
    """Its results are of its type, as PyTorch's default for subclasses is."""


class Watched(torch.Tensor):
    """Sees what is called with it."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        calls.append(func)
        return super().__torch_function__(func, types, args, kwargs or {})


calls: list[Any] = []


def function_subclass(s: Subject) -> None:
    for kind in (Tagged, Watched):
        calls.clear()
        y = s.f(s.x.as_subclass(kind))
        need(type(y) is kind, f"a {type(y).__name__}")
        same(y.as_subclass(torch.Tensor), s.truth(s.x))
    need(len(calls) > 0, "went unseen")
    x = s.x.clone().as_subclass(Tagged).requires_grad_()
    g = torch.autograd.grad(s.f(x).exp().sum(), x)[0]
    same(g.as_subclass(torch.Tensor), c.gradients(s.truth, s.x))


def dispatch_subclass(s: Subject) -> None:
    """A wrapper of two tensors, eager, differentiated and compiled."""
    pair = TwoTensor(s.x.clone(), s.x.cos()).requires_grad_()
    y = s.f(pair)
    need(type(y) is TwoTensor, f"a {type(y).__name__}")
    same(y.a, s.truth(s.x))
    same(y.b, s.truth(s.x.cos()))
    g = torch.autograd.grad(y.exp().sum(), pair)[0]
    same(g.a, c.gradients(s.truth, s.x))
    same(g.b, c.gradients(s.truth, s.x.cos()))
    with c.compiled(lambda x: s.f(x * 2)) as f:
        same(f(TwoTensor(s.x, s.x.cos())).b, s.truth(s.x.cos() * 2))


def by_parts(f: Callable[..., torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    return torch.complex(f(x.real.clone()), f(x.imag.clone()))


def complex_numbers(s: Subject) -> None:
    x = torch.complex(s.x, s.x.cos()).requires_grad_()
    same(s.f(x.detach()), by_parts(s.truth, x.detach()))
    v = torch.complex(s.cotangent(), s.cotangent().cos())
    same(torch.autograd.grad(s.f(x), x, v)[0], torch.autograd.grad(by_parts(s.truth, x), x, v)[0])


def conj_and_neg(s: Subject) -> None:
    """Flags on a tensor that say what its memory does not."""
    x = torch.complex(s.x, s.x.cos())
    need(x.conj().is_conj() and x.conj().imag.is_neg(), "no flags")
    same(s.f(x.conj()), by_parts(s.truth, x.conj().resolve_conj()))
    same(s.f(x.conj().imag), s.truth(-x.imag))


# ---- the table


class Transform(NamedTuple):
    """`column` of the docs' table; `applies` says of which cases it makes sense."""

    column: str
    check: Callable[[Subject], None]
    applies: Callable[[Case], bool] = lambda case: True


with_counts = lambda case: case.counts is not None
with_total = lambda case: case.total
with_known_size = lambda case: case.counts is None or case.total
# Compiling C++ takes seconds.
two = lambda case: case.name in ("counts", "bilinear")

TRANSFORMS = {
    "backward": Transform("backward", backward),
    "double backward": Transform("double backward", double_backward),
    "batched gradients": Transform("batched gradients", batched_gradients),
    "forward mode": Transform("forward mode", forward_mode),
    "forward over backward": Transform("forward mode", forward_over_backward),
    "grad": Transform("grad, vjp", func(grad, scalar=True)),
    "vjp": Transform("grad, vjp", func_vjp),
    "jvp": Transform("jvp", func_jvp),
    "jacrev": Transform("jacrev, jacfwd, hessian", func(jacrev, scalar=False)),
    "jacfwd": Transform("jacrev, jacfwd, hessian", func(jacfwd, scalar=False)),
    "hessian": Transform("jacrev, jacfwd, hessian", func(hessian, scalar=True)),
    "vmap": Transform("vmap", vmap_first),
    "vmap last dim": Transform("vmap", vmap_last),
    "vmap of vmap": Transform("vmap", vmap_nested),
    "vmap of grad": Transform("vmap and grad", vmap_of_grad),
    "grad of vmap": Transform("vmap and grad", grad_of_vmap),
    "vmap over counts": Transform("vmap over counts", vmap_counts, with_counts),
    "functionalize": Transform("functionalize", func_functionalize),
    "compile": Transform("compile", c.static),
    "compile dynamic": Transform("compile, dynamic", c.dynamic),
    "compile backward": Transform("compile, backward", c.static_backward),
    "compile dynamic backward": Transform("compile, backward", c.dynamic_backward),
    "inductor": Transform("compile", c.inductor, two),
    "counts as argument": Transform("compile, counts an argument", c.counts_as_argument, with_counts),
    "branch on size": Transform("compile, branch on size", c.branch_on_size, with_counts),
    "wrong output_size": Transform("compile, wrong output_size refused", c.wrong_total, with_total),
    "compile of vmap": Transform("compile of vmap, jvp, grad", c.of_vmap),
    "compile of jvp": Transform("compile of vmap, jvp, grad", c.of_jvp),
    "compile of grad": Transform("compile of vmap, jvp, grad", c.of_grad),
    "export": Transform("export", c.exported(strict=False)),
    "export strict": Transform("export", c.exported(strict=True)),
    "make_fx": Transform("make_fx", c.symbolic_trace),
    "fake": Transform("fake", c.fake),
    "meta": Transform("meta", c.meta, with_known_size),
    "autocast": Transform("autocast", autocast),
    "checkpoint": Transform("checkpoint", checkpointed(reentrant=False)),
    "checkpoint reentrant": Transform("checkpoint", checkpointed(reentrant=True)),
    "inference_mode": Transform("inference_mode", inference_mode),
    "__torch_function__": Transform("subclass", function_subclass),
    "__torch_dispatch__": Transform("wrapper subclass", dispatch_subclass),
    "complex": Transform("complex", complex_numbers),
    "conj, neg": Transform("conj, neg bits", conj_and_neg),
}

# The docs' tables: title, columns.
COLUMNS = {
    "Derivatives": ["backward", "double backward", "batched gradients", "forward mode", "grad, vjp", "jvp",
                    "jacrev, jacfwd, hessian", "checkpoint"],
    "Batches": ["vmap", "vmap and grad", "vmap over counts"],
    "Compiler": ["compile", "compile, dynamic", "compile, backward", "compile, counts an argument",
                 "compile, branch on size", "compile, wrong output_size refused", "compile of vmap, jvp, grad"],
    "Tracing": ["export", "make_fx", "functionalize", "fake", "meta"],
    "Tensors and modes": ["autocast", "inference_mode", "subclass", "wrapper subclass", "complex", "conj, neg bits"],
}  # fmt: skip

CHECKS = [(transform, case) for transform in TRANSFORMS for case in CASES if TRANSFORMS[transform].applies(case)]

# (transform, case): why ours does not pass. Each must fail.
_UNKNOWN = "PyTorch's forward mode compares sizes that are known when the code runs; its own function fails likewise"
EXCEPTIONS = {("compile of jvp", name): _UNKNOWN for name in ("counts", "counts last dim", "counts flat")}


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """What PyTorch warns of and logs of its own workings is no result."""
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


def run(transform: str, case: Case, f: Callable[..., torch.Tensor]) -> None:
    with quiet():
        TRANSFORMS[transform].check(subject(case, f))
