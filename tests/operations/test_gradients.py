"""Gradients of eager calls, however they are asked for: batches, conj bits, modes, forward over reverse, compiled autograd."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch.autograd import forward_ad
from torch.utils.flop_counter import FlopCounterMode

import tenter
from sweeps import sampled

COUNTS = torch.tensor([1, 0, 2, 1])
CASES = {
    "repeat": (lambda x: tenter.repeat(x, 2, 3), lambda x: x.repeat(2, 3)),
    "tile": (lambda x: tenter.tile(x, (2,)), lambda x: torch.tile(x, (2,))),
    "one count": (lambda x: tenter.repeat_interleave(x, 3, 1), lambda x: x.repeat_interleave(3, 1)),
    "flat": (lambda x: tenter.repeat_interleave(x, 3), lambda x: x.repeat_interleave(3)),
    "counts": (lambda x: tenter.repeat_interleave(x, COUNTS, 0), lambda x: x.repeat_interleave(COUNTS, 0)),
    "many counts": (
        lambda x: tenter.repeat_interleave(x, COUNTS.tolist(), 0),
        lambda x: x.repeat_interleave(COUNTS, 0),
    ),
    "linear": (
        lambda x: tenter.interpolate(x[None], 7, mode="linear"),
        lambda x: F.interpolate(x[None], 7, mode="linear"),
    ),
    "nearest": (lambda x: tenter.interpolate(x[None], 7), lambda x: F.interpolate(x[None], 7)),
}
cases = pytest.mark.parametrize("name", CASES)


def twice(f, dtype=torch.float64, around=None, end=lambda g: g.sum()):
    """Second derivatives, the second backward under a context."""
    torch.manual_seed(0)
    x = torch.randn(4, 3, dtype=dtype, requires_grad=True)
    y = f(x)
    loss = (y * y * y).sum()
    (g,) = torch.autograd.grad(loss.real if dtype.is_complex else loss, x, create_graph=True)
    with around or torch.enable_grad():
        return torch.autograd.grad(end(g), x)[0]


@cases
def test_batched(name):
    x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(CASES[name][0], (x,), check_batched_grad=True, check_fwd_over_rev=True)
    hessians = [
        torch.autograd.functional.hessian(lambda x, f=f: (f(x) ** 3).sum(), x.detach(), vectorize=True)
        for f in CASES[name]
    ]
    torch.testing.assert_close(*hessians)


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("linear", "nearest")])  # which PyTorch refuses
def test_conj_bits(name):
    got, want = (twice(f, torch.complex128, end=lambda g: g.conj().abs().sum()) for f in CASES[name])
    torch.testing.assert_close(got, want)


@cases
def test_under_modes(name):
    ours, theirs = CASES[name]
    torch.testing.assert_close(twice(ours, around=FlopCounterMode(display=False)), twice(theirs))


@cases
def test_forward_over_reverse(name):
    def tangent(f):
        torch.manual_seed(0)
        x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
        y = f(x)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(torch.ones_like(y), torch.randn_like(y))
            return forward_ad.unpack_dual(torch.autograd.grad(y, x, dual)[0]).tangent

    torch.testing.assert_close(*[tangent(f) for f in CASES[name]])


@pytest.mark.parametrize("name", sampled(CASES, len(CASES)))
def test_compiled_autograd(name):
    """A backward that is compiled, for several calls of other shapes each."""
    import torch._dynamo.compiled_autograd as compiled_autograd

    torch._dynamo.reset()
    for rows in (4, 4, 8):
        grads = []
        for f, compiled in ((CASES[name][0], True), (CASES[name][1], False)):
            torch.manual_seed(rows)
            x = torch.randn(4, rows, dtype=torch.float64, requires_grad=True)
            loss = f(x).sin().sum()
            if compiled:
                with compiled_autograd._enable(torch.compile(backend="eager")):
                    loss.backward()
            else:
                loss.backward()
            grads.append(x.grad)
        torch.testing.assert_close(*grads)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.bool]
)
def test_small_tensors_with_counts(dtype):
    """The short way of its own, along every dim, with few and many values inside, counts of every dtype and stride."""
    for shape in ((4,), (4, 3), (4, 20), (2, 4, 3), (3, 4, 40), (2, 2, 4, 1), (5, 1, 4, 2)):
        dim = shape.index(4)
        for counts in (
            COUNTS,
            COUNTS.int(),
            COUNTS.to(torch.uint8),
            COUNTS.repeat_interleave(2)[::2],
            COUNTS.new_ones(1).expand(4),
        ):
            for d in (dim, dim - len(shape)):
                x = (torch.randn(shape) * 9).to(dtype)
                assert torch.equal(tenter.repeat_interleave(x, counts, d), torch.repeat_interleave(x, counts.long(), d))
                if dtype.is_floating_point:
                    x.requires_grad_()
                    dense = torch.randn(tenter.repeat_interleave(x, counts, d).shape).to(dtype)
                    for g in (
                        dense,
                        dense.mT.contiguous().mT if dense.ndim > 1 else dense,
                        dense[..., :1].expand_as(dense),
                    ):
                        got = torch.autograd.grad(tenter.repeat_interleave(x, counts, d), x, g)[0]
                        want = torch.autograd.grad(
                            torch.repeat_interleave(x.double(), counts.long(), d), x, g.double()
                        )[0]
                        torch.testing.assert_close(got, want.to(dtype))


def test_parameters_from_outside_of_a_transform():
    """Not its own tensors, and yet with a gradient to record."""
    weight = torch.nn.Parameter(torch.randn(3))
    y = torch.randn(6)
    for stretch in (
        lambda: tenter.repeat(weight, 2),
        lambda: tenter.repeat_interleave(weight, torch.tensor([1, 2, 3]), 0),
        lambda: tenter.interpolate(weight[None, None], 6, mode="linear")[0, 0],
    ):
        want = stretch().detach()
        torch.testing.assert_close(torch.func.grad(lambda y: (stretch() * y).sum())(y), want)
        torch.testing.assert_close(
            torch.func.vmap(lambda y: stretch() * y)(torch.stack([y, y])), torch.stack([want * y] * 2)
        )


def test_those_who_follow_see_the_operator():
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Dispatch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    class Function(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x, counts = torch.randn(4, 3), COUNTS
    for call, operator in [
        (lambda: tenter.repeat(x, 2, 2), "repeat"),
        (lambda: tenter.repeat_interleave(x, counts, 0), "repeat_counts"),
        (lambda: tenter.interpolate(x[None], 7), "interpolate"),
    ]:
        want = call()
        for mode in (Dispatch, Function):
            seen.clear()
            with mode():
                assert torch.equal(call(), want)
            assert getattr(torch.ops.tenter, operator).default in seen
        with FakeTensorMode(allow_non_fake_inputs=True):
            if operator != "repeat_counts":
                assert isinstance(call(), FakeTensor)


@pytest.mark.filterwarnings("ignore")
def test_traces_are_of_values_that_come():
    for f in (lambda x: tenter.repeat(x, 2, 2), lambda x: tenter.repeat_interleave(x, COUNTS, 0)):
        traced = torch.jit.trace(f, torch.zeros(4, 3))
        x = torch.randn(4, 3)
        assert torch.equal(traced(x), f(x))


def test_maps_by_themselves():
    x = torch.rand(3, dtype=torch.complex128, requires_grad=True)
    tenter.maps.Copy.repeats([1, 3, 2]).apply(x, axis=0).conj().abs().sum().backward()
    want = torch.autograd.grad(x.repeat_interleave(torch.tensor([1, 3, 2])).conj().abs().sum(), x)[0]
    torch.testing.assert_close(x.grad, want)


def test_counts_changed_before_backward():
    for n in (4, 30_000):
        counts = torch.arange(n) % 3
        x = torch.rand(n, requires_grad=True)
        y = tenter.repeat_interleave(x, counts, 0)
        want = counts.float().clone()
        counts.fill_(7)
        y.sum().backward()
        assert torch.equal(x.grad, want)


@pytest.mark.parametrize("shape", [(4,), (4, 3), (2, 4, 20)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_counts_of_zero_alone(shape, dtype, monkeypatch):
    """The gradient is zeros, by the core: without a plan."""
    monkeypatch.setattr("tenter._torch.gradients._adjoint_of_call", None)
    x = torch.randn(shape, dtype=dtype, requires_grad=True)
    dim = shape.index(4)
    y = tenter.repeat_interleave(x, torch.zeros(4, dtype=torch.int64), dim)
    assert y.shape[dim] == 0 and y.requires_grad
    junk = torch.full(shape, torch.nan, dtype=dtype)  # whose memory the gradient may get
    del junk
    (g,) = torch.autograd.grad(y, x, torch.empty_like(y))
    assert torch.equal(g, torch.zeros(shape, dtype=dtype))


def test_few_sums_have_the_bits_of_many():
    """Scalars so few that no kernel is called, as they are summed among many; signs of zeros and NaN included."""
    torch.manual_seed(0)
    for dtype in (torch.float32, torch.float64):
        counts = torch.randint(0, 6, (12,))
        few, many = counts, torch.cat([counts, torch.full((200,), 1)])
        g = torch.randn(int(counts.sum()), dtype=dtype)
        g[::7], g[3], g[5] = -0.0, torch.nan, torch.inf
        found = []
        for c in (few, many):
            x = torch.zeros(len(c), dtype=dtype, requires_grad=True)
            y = tenter.repeat_interleave(x, c, 0)
            full = torch.cat([g, torch.ones(len(y) - len(g), dtype=dtype)])
            found.append(torch.autograd.grad(y, x, full)[0][:12].numpy().tobytes())
        assert found[0] == found[1]


def test_a_backward_by_hand():
    """The node's own function, as PyTorch's documentation calls it."""
    x = torch.rand(4, 3, requires_grad=True)
    for y in (tenter.repeat_interleave(x, COUNTS, 0), tenter.repeat(x, 2, 2)):
        g = torch.rand(y.shape)
        (want,) = torch.autograd.grad(y, x, g, retain_graph=True)
        got = y.grad_fn.apply(g)
        assert torch.equal(got[0], want) and got[1] is None
        with pytest.raises(TypeError):
            y.grad_fn.apply()
