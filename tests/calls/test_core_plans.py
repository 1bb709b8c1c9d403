"""Calls of known specializations that the core plans by itself: the same bits as by Python's plans, whatever the layout."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
import torch
from fuzz.caches import forget, forget_plans

import tenter
from planned_calls import by_plan, by_python, drawn, into, laid_out, noted, plans_counted
from tenter import _native
from tenter._arrays.layout import channels_last, memory_order, numpy_image_order, torch_image_order
from tenter._arrays.library import of
from tenter._execution import calls
from tenter._rules.axis_rule import EDGES, PERIODIC
from tenter._rules.geometry import ALIGNS
from tenter._specs import axis_maps
from tenter._torch import gradients
from tenter.conventions import Convention

# Autograd's nodes whose gradients lie as in the core; those of PyTorch's functions, which follow where Python's
# code adds what lies past the edges, have layouts of their own.
KEEPING = ("_LinearBackward", "FlipBackward0")


def compared(seed: int, monkeypatch: pytest.MonkeyPatch) -> tuple[bool, bool]:
    """Compares a call that the core may plan with Python's plan of it; whether the core planned it, and whether it has
    a box."""
    rng = np.random.default_rng(seed)
    call, made = drawn(rng)
    x, size, box = made()
    try:
        with by_python():
            wanted = call(x, size, box)
    except (TypeError, ValueError):
        return False, False
    forget()
    for _ in range(4):
        with contextlib.suppress(ValueError):  # a box of one point
            call(*made())
    forget_plans()
    with plans_counted(monkeypatch) as planned:
        found = call(x, size, box)
    assert type(found) is type(wanted) and found.dtype == wanted.dtype and found.shape == wanted.shape
    assert of(found).strides(found) == of(wanted).strides(wanted)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))
    again = call(x, size, box)
    np.testing.assert_array_equal(np.asarray(again), np.asarray(wanted))
    forget_plans()
    with plans_counted(monkeypatch) as planned_into:
        into(rng, lambda **to: call(x, size, box, **to), wanted)
    assert planned or not planned_into
    return not planned, box is not None


def gradients_compared(seed: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """The same of gradients, which lie in many ways too."""
    rng = np.random.default_rng(seed)
    call, made = drawn(rng)
    x, size, box = made()
    dtype = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64][rng.integers(5)]
    lies = int(rng.integers(1 << 30))

    def of(x: Any, size: Any, box: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        x = (torch.from_numpy(x.copy()) if isinstance(x, np.ndarray) else x).real.to(dtype)
        x.requires_grad_()
        y = call(x, size, box)
        g = torch.from_numpy(laid_out(np.random.default_rng(lies), tuple(y.shape), "float32").copy(order="K")).to(dtype)
        return x, y, g

    monkeypatch.setattr(
        gradients._Linear._backward_cls, "apply", lambda ctx, *grads: gradients._Linear.backward(ctx, *grads)
    )
    monkeypatch.setattr(gradients._Linear, "forward", staticmethod(by_plan))
    try:
        with by_python():
            x, y, g = of(x, size, box)
    except (TypeError, ValueError):
        monkeypatch.undo()
        return False
    wanted = torch.autograd.grad(y, x, g)[0]
    monkeypatch.undo()
    forget()
    for _ in range(3):
        with contextlib.suppress(ValueError):  # a box of one point
            a, b, c = of(*made())
            torch.autograd.grad(b, a, c)
    forget_plans()
    planned: list[Any] = []
    for module, name in ((calls, "plan"), (gradients, "plan"), (gradients, "plan_adjoint")):
        monkeypatch.setattr(module, name, noted(getattr(module, name), planned))
    a, b, c = of(x.detach(), size, box)
    found = [torch.autograd.grad(b, a, c, retain_graph=True)[0] for _ in range(10)]
    once = len(planned)
    monkeypatch.undo()
    layout = torch.Tensor.stride if type(y.grad_fn).__name__ in KEEPING else lambda _: ()
    for one in found:
        assert (one.dtype, one.shape, layout(one)) == (wanted.dtype, wanted.shape, layout(wanted))
        np.testing.assert_array_equal(one.to(torch.complex128).numpy(), wanted.to(torch.complex128).numpy())
    np.testing.assert_array_equal(b.detach().to(torch.complex128).numpy(), y.detach().to(torch.complex128).numpy())
    return once == 1  # of the ninth gradient, which is kept


def test_the_core_plans_as_python_does(monkeypatch):
    found = [compared(seed, monkeypatch) for seed in range(100)]
    assert sum(native for native, _ in found) > 40 and sum(native and boxed for native, boxed in found) > 8


def test_the_core_plans_long_axes_as_python_does(monkeypatch):
    axis_maps.cached_axis_map.cache_clear()
    _native.tuning.long_axis = 0
    try:
        found = [compared(seed, monkeypatch) for seed in range(200, 320)]
    finally:
        _native.tuning.reset()
        axis_maps.cached_axis_map.cache_clear()
    assert sum(native for native, _ in found) > 40 and sum(native and boxed for native, boxed in found) > 10


def test_the_core_plans_gradients_as_python_does(monkeypatch):
    assert sum(gradients_compared(seed, monkeypatch) for seed in range(30)) > 2


def test_gradients_of_planned_calls_are_checked_and_differentiable():
    forget()
    xs = [torch.randn(1, 2, n, dtype=torch.float64, requires_grad=True) for n in (60, 61, 62, 63)]
    ys = [tenter.interpolate(x, x.shape[-1] + 9, mode="linear") for x in xs]
    assert type(ys[-1].grad_fn).__name__ == "_LinearBackward"
    with pytest.raises(
        ValueError, match=r"^grad: expected shape \(1, 2, 72\), as the result had, got float64\[1, 2, 3\]"
    ):
        ys[-1].grad_fn.apply(torch.zeros(1, 2, 3, dtype=torch.float64))
    g = torch.randn_like(ys[-1], requires_grad=True)
    first = torch.autograd.grad(ys[-1], xs[-1], g, create_graph=True)[0]
    back = torch.autograd.grad(first.square().sum(), g)[0]
    A = tenter.interpolate(torch.eye(63, dtype=torch.float64)[None], 72, mode="linear")[0]
    torch.testing.assert_close(first[0], g[0] @ A.T)
    torch.testing.assert_close(back[0], 2 * first[0] @ A)


def test_the_order_of_a_result_follows_from_how_dims_lie_to_each_other():
    orders: dict[bytes, Any] = {}
    rng, seen = np.random.default_rng(0), 0
    for _ in range(6000):
        tensors, ndim = rng.random() < 0.5, int(rng.integers(3, 6))
        shape = tuple(int(rng.choice((1, 1, 2, 3, 5))) for _ in range(ndim))
        x = laid_out(rng, shape, "uint8")
        steps = [s if n > 1 or rng.random() < 0.5 else int(rng.choice((0, 1, 3, 40))) for n, s in zip(shape, x.strides)]
        x = np.lib.stride_tricks.as_strided(x, shape, steps)
        if tensors and min(steps) < 0:
            continue
        t = torch.from_numpy(np.zeros(200000, np.uint8)).as_strided(shape, steps) if tensors else x
        key = _native.Specialization.key("resize", t, 5)
        if key is None:
            continue
        image_order = torch_image_order if tensors else numpy_image_order
        lies = tuple(of(t).strides(t))
        found = memory_order(shape, lies), image_order(shape, lies), channels_last(shape, lies)
        seen += key in orders
        assert orders.setdefault(key, found) == found, (shape, lies)
    assert seen > 1500


@pytest.mark.parametrize("dtype", ("float32", "uint8"))
@pytest.mark.parametrize("edge", EDGES)
def test_new_sizes_past_every_edge_are_planned_in_the_core(edge, dtype, monkeypatch):
    outside = edge in ("constant", "extrapolate")
    for value in (0, 7) if outside else (0,):
        for mode in ("linear", "cubic", "area", "nearest", "mitchell"):
            wide = None if mode in ("area", "nearest") else True
            for antialias, axes, box in ((None, (0,), None), (wide, (0, 1), None), (None, (0, 1), ((-3, 20), (30, 5)))):
                box = box and box[: len(axes)]
                call = lambda x, size, axes=axes, box=box: tenter.resize(
                    x, size, axes=axes, mode=mode, antialias=antialias, edge=edge, value=value, box=box
                )
                x = np.random.default_rng(0).integers(0, 256, (40, 50)).astype(dtype)
                with by_python():
                    wanted = call(x, (57,) * len(axes))
                forget()
                call(x, (31,) * len(axes)), forget_plans()
                with plans_counted(monkeypatch) as planned:
                    found = call(x, (57,) * len(axes))
                assert not planned, (value, mode, antialias, axes, box)
                np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("edge", EDGES)
def test_gradients_of_new_sizes_past_every_edge_are_planned_in_the_core(edge, monkeypatch):
    gradient = torch.rand(57, 57)
    for value in (0, 7) if edge in ("constant", "extrapolate") else (0,):
        for mode in ("linear", "nearest"):
            x = torch.rand(40, 50, requires_grad=True)
            how = {"axes": (0, 1), "mode": mode, "edge": edge, "value": value, "box": ((-3, 20), (30, 5))}
            back = lambda size, x=x, how=how: torch.autograd.grad(
                tenter.resize(x, (size, size), **how), x, gradient[:size, :size].contiguous()
            )
            with by_python():
                wanted = back(57)[0]
            forget()
            for size in (31, 33, 35):
                back(size)
            with monkeypatch.context() as patched, plans_counted(patched) as planned:
                for name in ("plan", "plan_adjoint"):
                    patched.setattr(gradients, name, noted(getattr(gradients, name), planned))
                found = back(57)[0]
            assert not planned, (value, mode)
            assert torch.equal(found, wanted)


@pytest.mark.parametrize("align", ALIGNS)
def test_every_align_of_one_output_and_more(align):
    x = np.arange(30, dtype=np.float32).reshape(5, 6) ** 2
    for how in ({}, {"antialias": True}, {"mode": "nearest"}, {"mode": "area"}, {"box": ((1, 4), (0.5, 5))}):
        call = lambda size, how=how: tenter.resize(x, size, align=align, like="onnx", **how)
        for size in ((1, 1), (1, 3), (4, 1), (9, 7)):
            with by_python():
                wanted = call(size)
            forget(), call((2, 2)), forget_plans()
            np.testing.assert_array_equal(call(size), wanted)


def planned_as_python_does(monkeypatch: pytest.MonkeyPatch, call: Any, other: Any, size: Any) -> None:
    """call: of a size, after one of another size."""
    with by_python():
        wanted = call(size)
    forget(), call(other)
    forget_plans()
    with plans_counted(monkeypatch) as planned:
        found = call(size)
    assert not planned
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("modes", [("linear", "cubic"), ("nearest", "linear"), ("area", "nearest")])
@pytest.mark.parametrize(
    "shape, axes", [((5, 200, 30, 60), (1, 3)), ((2, 3, 150, 70, 90), (2, 4)), ((1, 240, 2, 3000), (1, 3))]
)
def test_what_lies_between_passes_is_made_a_slice_at_a_time(shape, axes, modes, monkeypatch):
    x = np.random.default_rng(0).integers(0, 255, shape, np.uint8)
    call = lambda size: tenter.resize(x, size, axes=axes, mode=modes)
    planned_as_python_does(monkeypatch, call, (20, 20), tuple(shape[axis] - 9 for axis in axes))


@pytest.mark.parametrize("axes", [(0, 2), (2, 0), (-1, 1), (1, -1), (1, 0)])
def test_axes_in_any_order(axes, monkeypatch):
    x = np.random.default_rng(0).integers(0, 255, (40, 31, 50), np.uint8)
    boxes = [(3, 29), (1.5, 20)], [(2, 25), (0.5, 27)]
    for how in ({}, {"antialias": True, "mode": "cubic"}, {"mode": ["nearest", "area"]}):
        by = lambda **given: tenter.resize(x, axes=axes, **given, **how)
        planned_as_python_does(monkeypatch, lambda size: by(size=size), (9, 11), (9, 70))
        planned_as_python_does(monkeypatch, lambda size: by(size=size), (9, 11), (70, 12))
        planned_as_python_does(
            monkeypatch,
            lambda size: by(size=size, like=Convention.of("torch", aspect_ratio="not_larger")),
            (9, 11),
            (17, 70),
        )
        planned_as_python_does(monkeypatch, lambda scale: by(scale=scale), (0.7, 1.1), (0.4, 1.2))
        planned_as_python_does(monkeypatch, lambda box: by(size=(20, 9), box=box), *boxes)


@pytest.mark.parametrize("axes, sizes", [(0, (11, 12, 48, 6)), ((0, 1), ((11, 9), (12, 30), (48, 48), (12, 24)))])
@pytest.mark.parametrize("antialias", (False, True))
def test_bytes_that_are_gathered_are_summed_in_integers_where_weights_fit(axes, sizes, antialias, monkeypatch):
    x = np.random.default_rng(0).integers(0, 255, (24, 48, 3), np.uint8)
    call = lambda size: tenter.resize(x, size, axes=axes, antialias=antialias, edge="wrap")
    for size in sizes[1:]:
        planned_as_python_does(monkeypatch, call, sizes[0], size)


@pytest.mark.parametrize("edge", [edge for edge in EDGES if edge not in PERIODIC])
def test_edges_of_axes_apart(edge, monkeypatch):
    for value in (0, 7) if edge in ("constant", "extrapolate") else (0,):
        for dtype in ("float32", "int16", "uint8"):
            x = np.random.default_rng(0).integers(0, 99, (9, 2, 8, 3, 7)).astype(dtype)
            for modes in ("linear", ("cubic", "linear", "mitchell"), "nearest"):
                call = lambda size, x=x, how=(modes, value): tenter.resize(
                    x, size, axes=(0, 2, 4), mode=how[0], box=[(1, 8)] * 3, edge=edge, value=how[1]
                )
                planned_as_python_does(monkeypatch, call, (5, 6, 4), (11, 5, 9))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 13000, 1000))
def test_the_core_plans_as_python_does_in_thousands_of_calls(first, monkeypatch):
    found = [compared(seed, monkeypatch) for seed in range(first, first + 1000)]
    assert sum(native for native, _ in found) > 300 and sum(native and boxed for native, boxed in found) > 100
    assert sum(gradients_compared(seed, monkeypatch) for seed in range(first, first + 200)) > 50
