"""Calls of known families that the core plans by itself: the same bits as by Python's plans, whatever the layout."""

from __future__ import annotations

import contextlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import tenter
from tenter import _native
from tenter._arrays.layout import channels_last, memory_order, numpy_image_order, torch_image_order
from tenter._arrays.library import of
from tenter._execution import calls
from tenter._execution.torch import new_calls
from tenter._plans import cache, families
from tenter._rules import taps
from tenter._rules.axis_rule import AxisRule
from tenter._specs import axis_maps
from tenter.geometry import Geometry

DTYPES = ("uint8", "uint8", "int16", "float32", "float32", "float64", "float16", "complex64", "bool")
INTERPOLATED = {
    1: ("linear", "area", "nearest", "nearest-exact"),
    2: ("bilinear", "bicubic", "area", "lanczos", "nearest", "nearest-exact"),
    3: ("trilinear", "area", "nearest"),
}
LIKE = ("torch", "torch", "pillow", "opencv", "jax", "scipy", "onnx")
RESIZED = ("linear", "cubic", "area", "lanczos3", "mitchell", "hamming", "box", "nearest", "nearest-exact")


def forget() -> None:
    families.families.clear(), families.native.clear(), cache.plans.clear(), cache._noted.clear()


def laid_out(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Values in one of many layouts: dims in any order, cut out of a larger array, reversed."""
    order = rng.permutation(len(shape)) if rng.random() < 0.4 else np.arange(len(shape))
    room = [shape[d] + int(rng.integers(0, 3)) * int(rng.random() < 0.3) for d in order]
    x = rng.integers(0, 255, room).astype(dtype)[tuple(slice(shape[d]) for d in order)]
    x = x.transpose(np.argsort(order))
    if rng.random() < 0.25:
        x = np.flip(x, int(rng.integers(len(shape))))
    return x


def edges(rng: np.random.Generator, n: int, turned: bool) -> Any:
    """A box along an axis: whole pixels or parts of them, reversed or not, within the axis or beyond, or all of it."""
    if rng.random() < 0.05:
        return (n, 0) if turned else (0, n)
    a, b = sorted(rng.uniform(0, n, 2).tolist())
    if rng.random() < 0.15:
        a, b = a - rng.uniform(0, 5), b + rng.uniform(0, 5)
    kind = rng.integers(3)
    if kind == 0:
        a, b = int(a), int(b) + 1
    elif kind == 1:
        a, b = int(4 * a) / 4, int(4 * b) / 4 + 0.25
    draw = rng.random()
    number = np.asarray((a, b)).dtype.type if draw < 0.3 else lambda edge: edge
    if draw > 0.85:
        number = lambda edge: Fraction(edge).limit_denominator(90)
    pair = [number(b), number(a)] if turned else [number(a), number(b)]
    return pair if rng.random() < 0.5 else tuple(pair)


def scales(rng: np.random.Generator, n: int, exact: bool) -> Any:
    """One or one each, of the types that may be given. exact: fractions too."""
    factor = [
        lambda: 2 ** rng.uniform(-1, 1.5), lambda: int(rng.integers(1, 4)), lambda: float(rng.integers(1, 16)) / 4,
        lambda: np.float32(rng.uniform(0.5, 2)), lambda: Fraction(int(rng.integers(40, 200)), int(rng.integers(60, 90))),
    ][rng.integers(4 + exact)]  # fmt: skip
    return factor() if rng.random() < 0.5 else tuple(factor() for _ in range(n))


def drawn(rng: np.random.Generator) -> tuple[Any, Any]:
    """A function of an array, sizes and boxes, and what makes these for it; arrays lie alike."""
    dtype, tensors, scaled = str(rng.choice(DTYPES)), rng.random() < 0.5, rng.random() < 0.3
    listed = [tuple, tuple, list, torch.Size, lambda sizes: tuple(map(np.int64, sizes))][rng.integers(5)]
    boxed: tuple[str, ...] = ()  # of each axis: as it is, reversed, or none
    if rng.random() < 0.4:
        n = int(rng.integers(1, 4))
        mode, antialias = str(rng.choice(INTERPOLATED[n])), bool(rng.random() < 0.5)
        antialias = mode == "lanczos" or (antialias and mode in ("bilinear", "bicubic"))
        corners = bool(rng.random() < 0.3) if mode.endswith(("linear", "cubic")) else None
        lead, axes = [int(rng.choice((1, 1, 2, 3))), int(rng.choice((1, 3, 3, 4, 17)))], n
        how: dict[str, Any] = {"mode": mode, "antialias": antialias, "align_corners": corners}
        if scaled:
            how["recompute_scale_factor"] = [None, True][rng.choice(2, p=[0.7, 0.3])]
        named = "scale_factor" if scaled else "size"
        call = lambda x, size, box: tenter.interpolate(x, **{named: size}, **how)
        shape = lambda: (*lead, *(int(rng.integers(1, 60)) for _ in range(axes)))
    else:
        ndim = int(rng.integers(1, 5))
        n = int(rng.integers(1, min(ndim, 3) + 1))
        at = int(rng.integers(0, ndim - n + 1))
        which = tuple(range(at, at + n))
        how = {"axes": which, "mode": str(rng.choice(RESIZED)), "antialias": [None, True, False][rng.integers(3)]}
        how |= {
            "like": str(rng.choice(LIKE)),
            "align": [None, "corners", "asymmetric"][rng.choice(3, p=[0.6, 0.2, 0.2])],
        }
        if scaled:
            how["rounding"] = [None, "floor", "round", "round_even", "ceil"][rng.integers(5)]
        if rng.random() < 0.2:
            how["axes"] = list(which)
        if rng.random() < 0.6:
            boxed = tuple(str(rng.choice(["", "turned", "is", "is", "is"])) for _ in which)
        of_size = "scale" if scaled else "size"
        call = lambda x, size, box: tenter.resize(x, **{of_size: size}, box=box, **how)
        lead = [int(rng.choice((1, 3, 4, 20))) for _ in range(ndim)]
        shape = lambda: tuple(int(rng.integers(1, 60)) if d in which else lead[d] for d in range(ndim))
    long = n == 1 and rng.random() < 0.3
    seed = int(rng.integers(1 << 30))

    def made() -> tuple[Any, Any, Any]:
        lying = np.random.default_rng(seed)  # alike each time
        lengths = shape()
        if long:
            lengths = tuple(40 * m if k == len(lengths) - 1 else m for k, m in enumerate(lengths))
        x = laid_out(lying, lengths, dtype)
        resized = [lengths[d] for d in which] if boxed else lengths[-n:]
        sizes = listed(int(m * 2 ** rng.uniform(-2, 2)) + 1 if rng.random() < 0.9 else m for m in resized)
        if scaled:
            sizes = scales(np.random.default_rng(seed + int(rng.integers(3))), len(resized), bool(boxed))
        box = (list if rng.random() < 0.5 else tuple)(
            edges(rng, m, how == "turned") if how else None for m, how in zip(resized, boxed)
        ) or None
        return (torch.from_numpy(x) if tensors and min(x.strides, default=1) >= 0 else x), sizes, box

    return call, made


def compared(seed: int, monkeypatch: pytest.MonkeyPatch) -> tuple[bool, bool]:
    """Compares a call that the core may plan with Python's plan of it; whether the core planned it, and whether it has
    a box."""
    rng = np.random.default_rng(seed)
    call, made = drawn(rng)
    x, size, box = made()
    forget()
    try:
        wanted = call(x, size, box)
    except (TypeError, ValueError):
        return False, False
    forget()
    for _ in range(4):
        with contextlib.suppress(ValueError):  # a box of one point
            call(*made())
    cache.plans.clear(), cache._noted.clear()
    planned: list[Any] = []
    plan = calls.plan
    with monkeypatch.context() as patched:
        patched.setattr(calls, "plan", lambda *args: planned.append(args) or plan(*args))
        found = call(x, size, box)
    assert type(found) is type(wanted) and found.dtype == wanted.dtype and found.shape == wanted.shape
    assert of(found).strides(found) == of(wanted).strides(wanted)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))
    again = call(x, size, box)
    np.testing.assert_array_equal(np.asarray(again), np.asarray(wanted))
    return not planned, box is not None


def repeat_call(rng: np.random.Generator, ndim: int) -> Any:
    times = [int(rng.choice((0, 1, 1, 2, 3, 7))) for _ in range(max(1, ndim + int(rng.integers(-1, 3))))]
    dim = None if rng.random() < 0.3 else int(rng.integers(-ndim, ndim)) if ndim else 0
    given = [times, tuple(times)][rng.integers(2)]
    return [
        lambda x: tenter.repeat_interleave(x, times[0], dim),
        lambda x: tenter.repeat(x, *times),
        lambda x: tenter.repeat(x, given),
        lambda x: tenter.tile(x, given),
        lambda x: tenter.numpy.repeat(np.asarray(x), times[0], dim),
        lambda x: tenter.numpy.tile(np.asarray(x), given),
    ][rng.integers(6)]


def repeats_compared(seed: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """The same of repeats by ints, which have no families."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.choice((0, 1, 2, 5, 33), int(rng.integers(1, 5)), p=[0.03, 0.27, 0.3, 0.3, 0.1]))
    x: Any = laid_out(rng, shape, str(rng.choice(DTYPES)))
    x = torch.from_numpy(x) if rng.random() < 0.5 and min(x.strides, default=1) >= 0 else x
    call, planned, plan = repeat_call(rng, len(shape)), [], calls.plan
    with monkeypatch.context() as patched:
        forget()
        patched.setattr(cache, "SELDOM", 0)
        try:
            wanted = call(x)
        except (TypeError, ValueError):
            return False
        forget()
        patched.setattr(cache, "SELDOM", 1)
        patched.setattr(calls, "plan", lambda *args: planned.append(args) or plan(*args))
        found = call(x)
    assert type(found) is type(wanted) and found.dtype == wanted.dtype and found.shape == wanted.shape
    assert of(found).strides(found) == of(wanted).strides(wanted)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))
    return not planned


def noted(f: Any, calls: list[Any]) -> Any:
    return lambda *args: calls.append(args) or f(*args)


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

    forget()
    monkeypatch.setattr(new_calls._New._backward_cls, "apply", lambda ctx, *grads: new_calls._New.backward(ctx, *grads))
    monkeypatch.setattr(_native, "run_recorded", lambda *_: None)
    try:
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
    cache.plans.clear(), cache._noted.clear()
    planned: list[Any] = []
    for module, name in ((calls, "plan"), (new_calls, "plan"), (new_calls, "plan_adjoint")):
        monkeypatch.setattr(module, name, noted(getattr(module, name), planned))
    a, b, c = of(x.detach(), size, box)
    found = [torch.autograd.grad(b, a, c, retain_graph=True)[0] for _ in range(10)]
    once = len(planned)
    monkeypatch.undo()
    for one in found:
        assert (one.dtype, one.shape, one.stride()) == (wanted.dtype, wanted.shape, wanted.stride())
        np.testing.assert_array_equal(one.to(torch.complex128).numpy(), wanted.to(torch.complex128).numpy())
    np.testing.assert_array_equal(b.detach().to(torch.complex128).numpy(), y.detach().to(torch.complex128).numpy())
    return once == 1  # of the ninth gradient, which is kept


def test_the_core_plans_as_python_does(monkeypatch):
    found = [compared(seed, monkeypatch) for seed in range(200)]
    assert sum(native for native, _ in found) > 70 and sum(native and boxed for native, boxed in found) > 20


def test_the_core_plans_long_axes_as_python_does(monkeypatch):
    """Whose inputs around a box are not left out: which axis is summed first may depend on that."""
    axis_maps._kept.cache_clear()
    _native.tuning.long_axis = 0
    try:
        found = [compared(seed, monkeypatch) for seed in range(200, 320)]
    finally:
        _native.tuning.reset()
        axis_maps._kept.cache_clear()
    assert sum(native for native, _ in found) > 40 and sum(native and boxed for native, boxed in found) > 10


def test_the_core_repeats_as_python_plans():
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert sum(repeats_compared(seed, monkeypatch) for seed in range(300)) > 120


def test_the_core_plans_gradients_as_python_does(monkeypatch):
    assert sum(gradients_compared(seed, monkeypatch) for seed in range(120)) > 15


def test_gradients_of_planned_calls_are_checked_and_differentiable():
    forget()
    xs = [torch.randn(1, 2, n, dtype=torch.float64, requires_grad=True) for n in (60, 61, 62, 63)]
    ys = [tenter.interpolate(x, x.shape[-1] + 9, mode="linear") for x in xs]
    assert type(ys[-1].grad_fn).__name__ == "_NewBackward"
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
    tenter.resize(torch.zeros(2), 3)  # from a first call on the core reads tensors
    for _ in range(6000):
        tensors, ndim = rng.random() < 0.5, int(rng.integers(3, 6))
        shape = tuple(int(rng.choice((1, 1, 2, 3, 5))) for _ in range(ndim))
        x = laid_out(rng, shape, "uint8")
        steps = [s if n > 1 or rng.random() < 0.5 else int(rng.choice((0, 1, 3, 40))) for n, s in zip(shape, x.strides)]
        x = np.lib.stride_tricks.as_strided(x, shape, steps)
        if tensors and min(steps) < 0:
            continue
        t = torch.from_numpy(np.zeros(200000, np.uint8)).as_strided(shape, steps) if tensors else x
        key = _native.family_key("call", t, 5)
        if key is None:
            continue
        image_order = torch_image_order if tensors else numpy_image_order
        lies = tuple(of(t).strides(t))
        found = memory_order(shape, lies), image_order(shape, lies), channels_last(shape, lies)
        seen += key in orders
        assert orders.setdefault(key, found) == found, (shape, lies)
    assert seen > 1500


@pytest.mark.parametrize("align", taps.WHOLE)
def test_whole_axes_lie_where_their_geometry_says(align):
    box = tenter.filters.NAMED["linear"]
    rule = AxisRule("linear", align, None, None, "floor", "exact", "replicate", False, -0.75)
    whole = taps.whole_axis(rule, box)
    assert whole is not None
    for n_in in (1, 2, 3, 7, 50, 1000):
        for n_out in (1, 2, 3, 5, 49, 50, 333):
            geometry = Geometry(n_in, n_out, align)
            by_units = taps._sampling(taps.FILTERED, geometry, geometry.units(), box, (1, 1), False, "replicate")
            for one, other in zip(whole.sampling(n_in, n_out).untrimmed(), by_units.untrimmed()):
                np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 13000, 1000))
def test_the_core_plans_as_python_does_in_thousands_of_calls(first, monkeypatch):
    found = [compared(seed, monkeypatch) for seed in range(first, first + 1000)]
    assert sum(native for native, _ in found) > 300 and sum(native and boxed for native, boxed in found) > 100
    assert sum(gradients_compared(seed, monkeypatch) for seed in range(first, first + 200)) > 50
