"""A program: tenter with one of PyTorch's private names missing or changed; its results are those of PyTorch.

    python tests/helpers/private_names.py CASE ...

Says "ok CASE" or "failed CASE" for each, and why. PyTorch is loaded once; each case is a child of this process, whose
name is spoiled while tenter is set up. Then PyTorch gets it back, as it needs the name itself.
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch._dynamo
import torch.distributed.tensor
import torch.nn.functional as F
from torch.autograd import forward_ad
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

MISSING = object()


class Silent(torch.autograd.Function):
    """Where it is a base, gradients are lost."""

    @classmethod
    def apply(cls, *args: Any) -> Any:
        return args[2]()


class Guard(contextlib.nullcontext):
    """Keeps nothing out."""


# What is spoiled: the name's holder, and what it is changed to.
NAMES: dict[str, tuple[Any, str, Any]] = {
    "functorch": (torch._C, "_are_functorch_transforms_active", lambda: False),
    "modes": (torch._C, "_len_torch_dispatch_stack", lambda: 1),
    "function modes": (torch._C, "_is_torch_function_mode_enabled", lambda: None),
    "autocast": (torch._C, "_is_any_autocast_enabled", lambda: False),
    "tracing": (torch._C, "_get_tracing_state", lambda: 0),
    "pausing": (torch._C, "_set_tracing_state", MISSING),
    "keys": (torch._C, "_dispatch_keys", lambda x: 1),
    "key names": (torch._C, "DispatchKeySet", lambda key: key),
    "levels": (forward_ad, "_current_level", "none"),
    "guard": (torch._C, "_AutoDispatchBelowAutograd", Guard),
    "single level": (torch.autograd.function, "_SingleLevelFunction", Silent),
    "context": (torch._guards, "TracingContext", type("Other", (), {"try_get": lambda: 1})),
    "disabled rules": (torch._C, "_disabled_torch_function_impl", None),
    "exchange": (torch.cuda, "_maybe_exchange_device", None),
    "stream": (torch._C, "_cuda_getCurrentRawStream", None),
    "exchange API": (torch.Tensor, "__dlpack_c_exchange_api__", MISSING),
}
# Spoiled for good: PyTorch has taken these for itself when it was loaded.
LASTING: dict[str, tuple[Any, str, Any]] = {
    "one level": (torch._functorch.utils, "enable_single_level_autograd_function", contextlib.nullcontext),
}


@contextlib.contextmanager
def spoiled(holder: Any, name: str, value: Any) -> Iterator[None]:
    before = vars(holder).get(name, MISSING)
    if before is not MISSING:
        delattr(holder, name) if value is MISSING else setattr(holder, name, value)
    yield
    if before is not MISSING:
        setattr(holder, name, before)


@contextlib.contextmanager
def replaced_apply() -> Iterator[None]:
    """What the engine calls can't be replaced: what is put there is dropped."""
    module = torch.autograd.function
    before: Any = module.BackwardCFunction

    class Sealed(type(before)):  # type: ignore[misc]
        def __setattr__(cls, name: str, value: Any) -> None:
            if name != "apply":
                super().__setattr__(name, value)

    module.BackwardCFunction = Sealed(before.__name__, (before,), {})  # type: ignore[misc]
    yield
    module.BackwardCFunction = before  # type: ignore[misc]


@contextlib.contextmanager
def unmarked() -> Iterator[None]:
    """The compiler's sources hold no mark that is known here."""
    from pathlib import Path

    read = Path.read_text
    Path.read_text = lambda self, *a, **k: "" if self.name == "decorators.py" else read(self, *a, **k)  # type: ignore
    yield
    Path.read_text = read  # type: ignore[method-assign]


CASES: dict[str, Callable[[], Any]] = {
    "nothing": contextlib.nullcontext,
    "backward": replaced_apply,
    "mark": unmarked,
    "DTensor": lambda: unremembered(),
    **{f"{k}, missing": lambda v=v: spoiled(v[0], v[1], MISSING) for k, v in (NAMES | LASTING).items()},
    **{f"{k}, changed": lambda v=v: spoiled(*v) for k, v in (NAMES | LASTING).items() if v[2] is not MISSING},
}


# ---- what is compared


def pairs() -> list[tuple[Callable[..., Any], Callable[..., Any], torch.Tensor]]:
    """Ours, PyTorch's, and an input."""
    import tenter

    x, image = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3), torch.randn(1, 2, 3, 4, dtype=torch.float64)
    counts = torch.tensor([2, 0, 3])
    return [
        (lambda x: tenter.repeat(x, 2, 2), lambda x: x.repeat(2, 2), x),
        (lambda x: tenter.repeat_interleave(x, counts, 1), lambda x: x.repeat_interleave(counts, 1), x),
        (lambda x: tenter.interpolate(x, (5, 3), mode="bilinear", antialias=True),
         lambda x: F.interpolate(x, (5, 3), mode="bilinear", antialias=True), image),
        (lambda x: tenter.interpolate(x, (7, 8), mode="nearest"), lambda x: F.interpolate(x, (7, 8), mode="nearest"), image),
        (lambda x: tenter.tile(x, (2,)).to(torch.float64), lambda x: x.tile(2).to(torch.float64), x.to(torch.float16)),
    ]  # fmt: skip


def same(ours: Any, theirs: Any) -> None:
    torch.testing.assert_close(
        ours, theirs, rtol={torch.float16: 1e-3, torch.float32: 1e-5}.get(theirs.dtype, 1e-9), atol=1e-6
    )


def eager() -> None:
    bent = lambda f: lambda x: (f(x.sin()) ** 2).sum()
    for ours, theirs, x in pairs():
        same(ours(x), theirs(x))
        same(*(first_and_second(f, x) for f in (ours, theirs)))
        for transform in (grad, jacrev, hessian) if x.dtype == torch.float64 else (grad,):
            same(*(transform(bent(f))(x) for f in (ours, theirs)))
        same(*(jacfwd(f)(x) for f in (ours, theirs)))
        same(*(jvp(f, (x,), (x.cos(),))[1] for f in (ours, theirs)))
        same(*(vjp(f, x)[1](theirs(x))[0] for f in (ours, theirs)))
        xs = torch.stack([x, x.cos()])
        same(vmap(ours)(xs), torch.stack([theirs(x) for x in xs]))
        same(vmap(grad(bent(ours)))(xs), torch.stack([grad(bent(theirs))(x) for x in xs]))
        same(grad(lambda xs: vmap(bent(ours))(xs).sum())(xs), torch.stack([grad(bent(theirs))(x) for x in xs]))
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, x.cos())
            same(*(forward_ad.unpack_dual(f(dual)).tangent for f in (ours, theirs)))
    by_counts()


def first_and_second(f: Callable[..., Any], x: torch.Tensor) -> torch.Tensor:
    x = x.clone().requires_grad_()
    (g,) = torch.autograd.grad((f(x.sin()) ** 2).sum(), x, create_graph=True)
    return torch.stack([g, *torch.autograd.grad(g.sum(), x)]).detach()


def by_counts() -> None:
    import tenter

    counts, xs = torch.tensor([[1, 2, 1], [0, 1, 3]]), torch.randn(2, 3)
    want = torch.stack([x.repeat_interleave(c) for x, c in zip(xs, counts)])
    same(vmap(tenter.repeat_interleave)(xs, counts), want)
    x = xs[0].clone().requires_grad_()
    same(torch.autograd.grad(tenter.repeat_interleave(x, counts[0]).exp().sum(), x)[0], xs[0].exp() * counts[0])


def compiled() -> None:
    for ours, theirs, x in pairs()[:4]:
        torch._dynamo.reset()
        x = x.clone().requires_grad_()
        ys = [torch.compile(lambda x: f(x * 2), backend="aot_eager", fullgraph=True)(x) for f in (ours, theirs)]
        same(*ys)
        same(*(torch.autograd.grad(y.exp().sum(), x)[0] for y in ys))


def sharded() -> None:
    """On one process; of one function with several sizes."""
    from torch.distributed.tensor import Replicate, distribute_tensor, init_device_mesh

    import tenter

    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    mesh = init_device_mesh("cpu", (1,))
    for size in (5, 3, 7):
        x = torch.randn(1, 2, 4)
        given = distribute_tensor(x, mesh, [Replicate()]).requires_grad_()
        y = tenter.interpolate(given, size, mode="linear")
        same(y.full_tensor(), F.interpolate(x, size, mode="linear"))
        (g,) = torch.autograd.grad((y * y * y).sum(), given)
        x.requires_grad_()
        same(g.full_tensor(), torch.autograd.grad((F.interpolate(x, size, mode="linear") ** 3).sum(), x)[0])


@contextlib.contextmanager
def unremembered() -> Iterator[None]:
    """DTensors' calls can't be told apart by all of their arguments. (PyTorch uses what is spoiled in the same line.)"""
    import tenter  # noqa: F401
    from tenter._arrays import torch_private

    torch_private.caches_by_all_arguments = lambda operator: False
    yield


def tried(case: str) -> None:
    with CASES[case]():
        import tenter

        tenter.repeat(torch.ones(2), 2)  # which sets up all
    if kind := next((kind for kind in LASTING if case.startswith(kind)), None):
        holder, name, value = LASTING[kind]
        delattr(holder, name) if case.endswith("missing") else setattr(holder, name, value)
    eager()
    if case in ("DTensor", "nothing"):
        sharded()
    if (
        case in ("nothing", "mark", "functorch, missing", "guard, missing", "single level, changed")
        or "context" in case
    ):
        compiled()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    one = torch.ones(1)
    jvp(lambda x: x * 2, (one,), (one,))  # loads what forward mode takes
    for case in sys.argv[1:] or CASES:
        if child := os.fork():
            _, status = os.waitpid(child, 0)
            print("failed" if status else "ok", case, flush=True)
            continue
        try:
            tried(case)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)


if __name__ == "__main__":
    main()
