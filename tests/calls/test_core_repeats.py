"""Repeats by ints that the core plans by itself, and their gradients: the same bits as by Python's plans."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from fuzz.caches import forget

import tenter
from planned_calls import (
    DTYPES,
    by_plan,
    gradient,
    into,
    laid_out,
    noted,
    plans_counted,
    repeat_call,
)
from tenter import _native
from tenter._arrays.library import of
from tenter._execution import calls
from tenter._plans import cache
from tenter._torch import gradients


def repeats_compared(seed: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Compares a repeat with Python's plan of it; whether the core planned it."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.choice((0, 1, 2, 5, 33), int(rng.integers(1, 5)), p=[0.03, 0.27, 0.3, 0.3, 0.1]))
    x: Any = laid_out(rng, shape, str(rng.choice(DTYPES)))
    x = torch.from_numpy(x) if rng.random() < 0.5 and min(x.strides, default=1) >= 0 else x
    call, takes_out = repeat_call(rng, len(shape))
    with monkeypatch.context() as patched:
        forget()
        usual = _native.tuning.planned_bytes
        patched.setattr(_native.tuning, "planned_bytes", 0)
        try:
            wanted = call(x)
        except (TypeError, ValueError):
            return False
        forget()
        patched.setattr(_native.tuning, "planned_bytes", usual)
        patched.setattr(_native.tuning, "seldom_calls", int(rng.integers(2)))
        with plans_counted(patched) as planned:
            found = call(x)
    assert type(found) is type(wanted) and found.dtype == wanted.dtype and found.shape == wanted.shape
    assert of(found).strides(found) == of(wanted).strides(wanted)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))
    if takes_out and 0 not in wanted.shape:
        forget()
        into(rng, lambda **to: call(x, **to), wanted)
    return not planned


def repeats_gradients_compared(seed: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """The same of their gradients."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.choice((0, 1, 2, 5, 33), int(rng.integers(0, 5)), p=[0.03, 0.25, 0.3, 0.3, 0.12]))
    dtype = REAL_OR_COMPLEX[rng.integers(len(REAL_OR_COMPLEX))]
    call, _ = repeat_call(rng, len(shape), 4)
    return repeat_gradients_compared(rng, call, shape, dtype, monkeypatch)


REAL_OR_COMPLEX = (
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex32, torch.complex64, torch.complex128,
)  # fmt: skip


def repeat_gradients_compared(
    rng: np.random.Generator, call: Any, shape: tuple[int, ...], dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> bool:
    x = gradient(rng, shape, dtype).requires_grad_()
    planned: list[Any] = []
    forget()
    with monkeypatch.context() as patched:
        for module, name in ((calls, "plan"), (gradients, "plan"), (gradients, "plan_adjoint")):
            patched.setattr(module, name, noted(getattr(module, name), planned))
        try:
            y = call(x)
        except (TypeError, ValueError):
            return False
        g = gradient(rng, tuple(y.shape), dtype)
        found = [torch.autograd.grad(y, x, g, retain_graph=True)[0] for _ in range(2)]
    forget()
    with monkeypatch.context() as patched:
        patched.setattr(_native.tuning, "planned_bytes", 0)
        planned_y = call(x)
        wanted = torch.autograd.grad(planned_y, x, g)[0]
    for a, b in ((y, planned_y), *((one, wanted) for one in found)):
        assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
        np.testing.assert_array_equal(a.detach().to(torch.complex128).numpy(), b.detach().to(torch.complex128).numpy())
    assert "_Linear" in type(planned_y.grad_fn).__name__
    return not planned


def test_the_core_repeats_as_python_plans():
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert sum(repeats_compared(seed, monkeypatch) for seed in range(300)) > 120


def test_the_core_plans_gradients_of_repeats_as_python_does(monkeypatch):
    assert sum(repeats_gradients_compared(seed, monkeypatch) for seed in range(300)) > 130


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_gradients_of_repeats_along_several_dims_go_a_slice_at_a_time(dtype, monkeypatch):
    """Of which the last has fewer positions than the others."""
    rng = np.random.default_rng(0)
    assert 2 * _native.tuning.chunk_bytes < 5 * 600 * 750 * 4
    assert repeat_gradients_compared(rng, lambda x: tenter.tile(x, (1, 2, 3)), (5, 300, 250), dtype, monkeypatch)


def test_gradients_of_a_call_that_is_made_often_are_planned_once():
    for call in (
        lambda x: tenter.repeat(x, 2, 3),
        lambda x: tenter.repeat(x, 2, 1, 3),
        lambda x: tenter.resize(x, (9, 3)),
    ):
        forget()
        x = torch.randn(4, 5, requires_grad=True)
        g = torch.randn(call(x).shape)
        found = [torch.autograd.grad(call(x), x, g)[0] for _ in range(30)]
        assert all(torch.equal(one, found[0]) for one in found) and len(cache.plans) == 2


def test_gradients_of_planned_repeats_are_checked_and_differentiable():
    forget()
    for call in (lambda x: tenter.repeat(x, 2, 1, 3), lambda x: tenter.repeat_interleave(x, 3)):
        x = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
        y = call(x)
        assert type(y.grad_fn).__name__ == "_LinearBackward"
        with pytest.raises(ValueError, match=r"^grad: expected shape \(.*\), as the result had, got float64\[2, 3\]"):
            y.grad_fn.apply(torch.zeros(2, 3, dtype=torch.float64))
        assert torch.autograd.gradcheck(call, x) and torch.autograd.gradgradcheck(call, x)


def test_planned_repeats_that_the_core_gives_up_are_planned_in_python(monkeypatch):
    monkeypatch.setattr(gradients._Linear, "forward", staticmethod(by_plan))
    forget()
    x = torch.randn(4, 5, requires_grad=True)
    y = tenter.repeat(x, 2, 1, 3)
    y.backward(torch.ones_like(y))
    assert torch.equal(y, x.repeat(2, 1, 3)) and (x.grad == 6).all()


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 13000, 1000))
def test_the_core_repeats_as_python_plans_in_thousands_of_calls(first, monkeypatch):
    assert sum(repeats_compared(seed, monkeypatch) for seed in range(first, first + 1000)) > 400
    assert sum(repeats_gradients_compared(seed, monkeypatch) for seed in range(first, first + 1000)) > 450
