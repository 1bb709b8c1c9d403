"""The samples with which PyTorch tests these operations, under derivatives of both orders and modes, vmap and compile."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from test_opinfo import DTYPES, GRADIENT_CASES, OURS, evaluate, gradient_samples, opinfo, samples_without_stacks  # noqa: E402, F401
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

import transforms  # noqa: E402
from sweeps import sampled  # noqa: E402

# PyTorch's gradient samples are small; one that is not would take numerical differences of everything.
MOST = 20_000
# Samples of each case in the default tests; the others are slow.
SOME = 4
CASES = [case for case in GRADIENT_CASES if case[1] in ("float64", "complex128")]


def samples(op, dtype):
    """Those that tenter can say; see `test_opinfo.aten_antialiased`."""
    torch.manual_seed(0)
    for sample in gradient_samples(op, dtype):
        ours = evaluate(OURS[op.name], sample, sample.input.detach())
        if ours is not NotImplemented and max(ours.numel(), sample.input.numel()) <= MOST:
            yield sample


def check_gradcheck(f, x, truth):
    options = {"check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True}
    assert gradcheck(f, (x,), fast_mode=True, check_undefined_grad=False, **options)


def check_gradgradcheck(f, x, truth):
    assert gradgradcheck(lambda x: f(x).square(), (x,), fast_mode=True, check_fwd_over_rev=True)


def check_forward_mode(f, x, truth):
    value, tangent = torch.func.jvp(f, (x.detach(),), (x.detach().cos(),))
    torch.testing.assert_close(value, truth(x.detach()), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(tangent, truth(x.detach().cos()), rtol=1e-12, atol=1e-12)


def check_vmap(f, x, truth):
    for dim in {0, -1}:
        xs = torch.stack([x, x.cos(), x * 2], dim).detach()
        got = torch.func.vmap(f, in_dims=dim)(xs)
        torch.testing.assert_close(got, torch.stack([truth(t) for t in xs.unbind(dim)]), rtol=1e-12, atol=1e-12)


def check_compile(f, x, truth):
    torch._dynamo.reset()
    y = torch.compile(lambda x: f(x.sin()), backend="aot_eager", fullgraph=True)(x)
    want = truth(x.sin())
    torch.testing.assert_close(y, want, rtol=1e-12, atol=1e-12)
    if want.numel():
        v = torch.randn(want.shape, dtype=want.dtype)
        ours, theirs = (torch.autograd.grad(out, x, v)[0] for out in (y, want))
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


CHECKS = {
    "gradcheck": check_gradcheck,
    "gradgradcheck": check_gradgradcheck,
    "forward mode": check_forward_mode,
    "vmap": check_vmap,
    "compile": check_compile,
}


def run(name, case, some=None):
    """Checks of a case's samples, or of some from first to last; how many there were."""
    op, dtype = opinfo(case)
    # Numerical derivatives need a value to vary.
    found = [s for s in samples(op, dtype) if s.input.numel() or name not in ("gradcheck", "gradgradcheck")]
    if some and len(found) > some:
        found = [found[i * (len(found) - 1) // (some - 1)] for i in range(some)]
    with transforms.quiet():
        for sample in found:
            x = sample.input.detach().clone().requires_grad_()
            ours, theirs = (lambda x, f=f, s=sample: evaluate(f, s, x) for f in (OURS[op.name], op))
            try:
                CHECKS[name](ours, x, theirs)
            except Exception as error:
                where = f"{case}, {name}, shape {tuple(x.shape)}, {sample.args}, {sample.kwargs}"
                raise AssertionError(f"{where}: {type(error).__name__}: {error}") from error
    print(f"{case}: {name} of {len(found)} samples")
    return len(found)


# Compiling takes a second or two, and knows no difference between the operations of a kind.
COMPILED = [(name, "float64") for name in ("repeat_interleave", "bilinear", "_upsample_bilinear2d_aa")]


def pairs(compiled):
    return [(case, name) for case in CASES for name in CHECKS if compiled(case) or name != "compile"]


def by_name(pair):
    return "-".join((*pair[0], pair[1]))


@pytest.mark.parametrize("case, name", sampled(pairs(COMPILED.__contains__), 12, by_name))
def test_some_samples(case, name):
    assert run(name, case, SOME) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("case, name", [pytest.param(*p, id=by_name(p)) for p in pairs(lambda case: True)])
def test_every_sample(case, name):
    assert run(name, case) >= 4


@pytest.mark.slow
def test_no_generator_runs_dry():
    found = {case: sum(1 for _ in samples(*opinfo(case))) for case in CASES}
    print(f"{sum(found.values())} samples: {found}")
    assert {name for name, _ in CASES} == set(DTYPES)
    assert sum(found.values()) >= 280  # PyTorch 2.13: 312
