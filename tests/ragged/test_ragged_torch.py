"""Ragged helpers on tensors: gradients of both orders, forward mode, vmap, and code for PyTorch's compiler."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from sweeps import sampled
from tenter import ragged

LENGTHS = [2, 0, 3, 1, 0]
COUNTS = [[2, 0, 1], [1, 1, 3]]
N, TOTAL = len(LENGTHS), sum(LENGTHS)


def finite(y):
    """Without the infinite extremes of empty rows, which have no gradient."""
    return y.nan_to_num(0, 0, 0)


def doubles(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


# name: function of lengths and x, x's shape
FLOATS = {
    "sum": (lambda n, x: ragged.segment_sum(x, n), (TOTAL, 3)),
    "sum of a middle dim": (lambda n, x: ragged.segment_sum(x, n, 1), (2, TOTAL, 2)),
    "mean": (lambda n, x: ragged.segment_mean(x, n), (TOTAL, 3)),
    "max": (lambda n, x: finite(ragged.segment_max(x, n)), (TOTAL, 3)),
    "min of the last dim": (lambda n, x: finite(ragged.segment_min(x, n, -1)), (2, TOTAL)),
    "softmax": (lambda n, x: ragged.segment_softmax(x, n), (TOTAL, 3)),
    "softmax of the last dim": (lambda n, x: ragged.segment_softmax(x, n, -1), (2, TOTAL)),
    "repeat": (lambda n, x: ragged.Plan(n, output_size=TOTAL).repeat(x), (N, 2)),
    "pad": (lambda n, x: ragged.pad(x, n, 4, value=2.5), (TOTAL, 2)),
    "unpad": (lambda n, x: ragged.unpad(x, n, output_size=TOTAL), (N, 4, 2)),
    "pad on the left": (lambda n, x: ragged.pad(x, n, 4, value=2.5, padding_side="left"), (TOTAL, 2)),
    "unpad from the left": (lambda n, x: ragged.unpad(x, n, output_size=TOTAL, padding_side="left"), (N, 4, 2)),
}
INDICES = {
    "offsets": lambda n: ragged.offsets(n),
    "row_ids": lambda n: ragged.row_ids(n),
    "row_ids, total": lambda n: ragged.row_ids(n, output_size=TOTAL),
    "positions": lambda n: ragged.positions(n),
    "ranges": lambda n: ragged.ranges(n * 3, n, 2),
    "mask": lambda n: ragged.mask(n),
    "mask, max_len": lambda n: ragged.mask(n, 5),
    "lengths": lambda n: ragged.lengths(ragged.offsets(n)),
    "lengths_from_row_ids": lambda n: ragged.Plan.from_row_ids(ragged.row_ids(n), N).lengths,
    "lengths_from_positions": lambda n: ragged.Plan.from_positions(ragged.positions(n)).lengths,
    "lengths_from_mask": lambda n: ragged.Plan.from_mask(ragged.mask(n, 4)).lengths,
    "spans_to_mask": lambda n: ragged.spans_to_mask(n, n + 2, 9),
    "mask on the left": lambda n: ragged.mask(n, 5, padding_side="left"),
    "lengths_from_left_mask": lambda n: (
        ragged.Plan.from_mask(ragged.mask(n, padding_side="left").to(n.dtype), padding_side="left").lengths
    ),
}


def given(dtype=torch.int64):
    return torch.tensor(LENGTHS, dtype=dtype)


def leaf(name):
    return doubles(*FLOATS[name][1]).requires_grad_()


@pytest.mark.parametrize("name", FLOATS)
def test_gradients_of_both_orders(name):
    f, x = FLOATS[name][0], leaf(name)
    assert gradcheck(lambda v: f(given(), v), x) and gradgradcheck(lambda v: f(given(), v), x)


@pytest.mark.parametrize("value", [0, 3.0])
def test_gradients_of_padded_repeats(value):
    x = doubles(2, 3, 2).requires_grad_()
    for room in (None, 7):
        f = lambda v: ragged.repeat_padded(v, torch.tensor(COUNTS), room, value=value)[0]
        assert gradcheck(f, x) and gradgradcheck(f, x)


@pytest.mark.parametrize("name", sampled(FLOATS, 3))
def test_transforms_of_functions(name):
    f, x = FLOATS[name][0], leaf(name).detach()
    t = doubles(*x.shape, seed=1)
    want = f(given(), x)
    y, tangent = torch.func.jvp(lambda v: f(given(), v), (x,), (t,))
    step = 1e-6
    assert torch.equal(y, want)
    torch.testing.assert_close(
        tangent, (f(given(), x + step * t) - f(given(), x - step * t)) / (2 * step), rtol=1e-6, atol=1e-8
    )
    pull = torch.func.vjp(lambda v: f(given(), v), x)[1]
    g = doubles(*want.shape, seed=2)
    assert torch.allclose((pull(g)[0] * t).sum(), (g * tangent).sum(), 1e-9)
    batch = torch.stack([x, t, x - t])
    for dim in (0, 1):
        many = torch.func.vmap(lambda v: f(given(), v), dim)(batch.movedim(0, dim))
        assert torch.allclose(many, torch.stack([f(given(), v) for v in batch]))


@pytest.mark.parametrize(
    "name, dtype", sampled(itertools.product(INDICES, [torch.int64, torch.int32]), 2 * len(INDICES))
)
def test_indices_in_compiled_code(name, dtype, fresh_compiler):
    want = INDICES[name](given(dtype))
    got = torch.compile(INDICES[name], fullgraph=True, backend="aot_eager")(given(dtype))
    assert torch.equal(got, want) and got.dtype == want.dtype


@pytest.mark.parametrize("name", sampled(FLOATS, len(FLOATS)))
def test_values_and_gradients_in_compiled_code(name, fresh_compiler):
    """By lengths that are a tensor of the graph, a list, and a plan from outside of it."""
    f, x = FLOATS[name][0], leaf(name)
    want = f(given(), x)
    g = doubles(*want.shape, seed=2)
    (wanted,) = torch.autograd.grad(want, x, g)
    plan = ragged.Plan(given())
    for way in (lambda n, x: f(n, x), lambda n, x: f(LENGTHS, x), lambda n, x: f(plan, x)):
        if name == "repeat" and way.__code__.co_freevars == ("f", "plan"):
            way = lambda n, x: plan.repeat(x)
        torch._dynamo.reset()
        got = torch.compile(way, fullgraph=True, backend="aot_eager")(given(), x)
        assert torch.allclose(got, want, 1e-12) and torch.allclose(torch.autograd.grad(got, x, g)[0], wanted, 1e-12)


@pytest.mark.slow
def test_code_that_inductor_generates(fresh_compiler):
    def f(n, x):
        plan = ragged.Plan(n, output_size=x.shape[0])
        centered = x - plan.repeat(plan.mean(x))
        weighed = plan.softmax(centered) * plan.positions[:, None] + plan.row_ids[:, None]
        return plan.pad(weighed, 8), plan.sum(weighed), plan.mask(8)

    for lengths in (LENGTHS, [1, 5, 2], [7, 0]):
        n, x = torch.tensor(lengths), doubles(sum(lengths), 3).requires_grad_()
        want, got = f(n, x), torch.compile(f, fullgraph=True, dynamic=True)(n, x)
        for a, b in zip(got, want):
            assert torch.allclose(a.double(), b.double(), 1e-9) and a.dtype == b.dtype
        first, second = (torch.autograd.grad(y[0].sum() + y[1].square().sum(), x)[0] for y in (got, want))
        assert torch.allclose(first, second, 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["sum", "softmax", "pad"])
def test_a_plan_that_does_not_know_its_total_names_the_call(how, fresh_compiler):
    f = torch.compile(lambda n, x: getattr(ragged.Plan(n), how)(x), fullgraph=True, backend="eager")
    n, x = torch.tensor([2, 0, 3]), doubles(5)
    assert torch.equal(f(n, x), getattr(ragged.Plan(n), how)(x))
    with pytest.raises(ValueError, match=rf"expected 5, the sum of the lengths, got 4\n  in ragged\.Plan\.{how}\("):
        f(n, x[:4])


def test_wrong_lengths_are_refused_in_compiled_code(fresh_compiler):
    f = torch.compile(lambda n, x: ragged.segment_sum(x, n), fullgraph=True, backend="aot_eager")
    where = r"\n  in ragged\.segment_sum\(lengths: int64\[3\], output_size=6\)"
    with pytest.raises(ValueError, match=rf"lengths: expected non-negative lengths, got -1 at position 1{where}"):
        f(torch.tensor([3, -1, 4]), torch.ones(6))
    with pytest.raises(ValueError, match=rf"output_size: expected 5, the sum of the lengths, got 6{where}"):
        f(torch.tensor([3, 1, 1]), torch.ones(6))


@pytest.mark.slow
def test_padded_repeats_in_compiled_code(fresh_compiler):
    x, counts = doubles(2, 3, 2).requires_grad_(), torch.tensor(COUNTS, dtype=torch.int32)
    for room in (None, 7):
        f = lambda x, c: ragged.repeat_padded(x, c, room, value=-1)
        (want, lengths), (got, sums) = f(x, counts), torch.compile(f, fullgraph=True, backend="aot_eager")(x, counts)
        assert torch.equal(got, want) and torch.equal(sums, lengths) and sums.dtype == lengths.dtype
        g = doubles(*want.shape)
        assert torch.equal(torch.autograd.grad(got, x, g)[0], torch.autograd.grad(want, x, g)[0])


def test_arrays_and_tensors_together():
    """Lengths in any library; the result is x's."""
    x = doubles(TOTAL, 2)
    for lengths in (
        LENGTHS,
        tuple(LENGTHS),
        np.array(LENGTHS),
        np.array(LENGTHS, np.uint8),
        given(),
        given(torch.int32),
    ):
        assert torch.equal(ragged.segment_sum(x, lengths), ragged.segment_sum(x, given()))
        assert np.array_equal(ragged.segment_sum(x.numpy(), lengths), ragged.segment_sum(x, given()).numpy())
        assert isinstance(ragged.pad(x.numpy(), lengths), np.ndarray) and isinstance(
            ragged.pad(x, lengths), torch.Tensor
        )


def test_a_plan_is_used_forward_and_backward(monkeypatch):
    """Its lengths are read when it is made, and never again."""
    plan = ragged.Plan(given())
    from tenter._specs import counts

    monkeypatch.setattr(counts, "offsets", lambda *args: pytest.fail("lengths are added up again"))
    x = doubles(TOTAL, 2).requires_grad_()
    y = plan.repeat(plan.sum(plan.softmax(x))) + plan.unpad(plan.pad(x)) - plan.repeat(plan.mean(x))
    (g,) = torch.autograd.grad(y.square().sum(), x)
    assert g.shape == x.shape


def test_results_need_gradients_only_where_x_does():
    x = doubles(TOTAL, 2)
    for name in ("sum", "mean", "max", "softmax", "pad"):
        f = FLOATS[name][0]
        assert not f(given(), x).requires_grad and f(given(), x.clone().requires_grad_()).requires_grad
        with torch.no_grad():
            assert not f(given(), x.clone().requires_grad_()).requires_grad
        with torch.inference_mode():
            assert torch.equal(f(given(), x), f(given(), x))
