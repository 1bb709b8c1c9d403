"""resize under PyTorch: gradients of every kind, transforms, tracers, and how results lie."""

from __future__ import annotations

import gc
import weakref
from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fuzz import caches  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.func import functionalize, grad, jacfwd, jacrev, jvp, vmap  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

import tenter  # noqa: E402
from sweeps import sampled  # noqa: E402
from tenter._execution import chunks  # noqa: E402
from tenter.conventions import Convention  # noqa: E402

pytestmark = pytest.mark.usefixtures("fresh_compiler")
HAT = tenter.filters.Filter(lambda x: np.maximum(0.0, 1 - np.abs(x)), 1.0)
BEYOND = [(-2, 9), (7, -1)]
WAYS = {
    "linear": {},
    "cubic antialias": {"mode": "cubic", "antialias": True},
    "cubic of one's own": {"mode": tenter.filters.cubic(-0.6)},
    "area": {"mode": "area"},
    "lanczos": {"mode": "lanczos2", "antialias": True},
    "filter": {"mode": HAT, "antialias": True},
    "nearest": {"mode": "nearest"},
    "modes": {"mode": ["cubic", "nearest"]},
    "pillow": {"like": "pillow"},
    "float scale": {"size": None, "scale": 1.7},
    "exact scale": {"size": None, "scale": Fraction(3, 2), "like": "opencv", "mode": "area"},
    "fraction, ceil": {"size": None, "scale": Fraction(2, 3), "like": Convention.of("torch", length_rounding="ceil")},
    "policy": {"like": Convention.of("torch", aspect_ratio="not_larger")},
    "box": {"box": [(Fraction(1, 2), 3), None]},
    "turned": {"box": [(4, 0.5), (6, 0)], "mode": "cubic"},
    "wrap": {"box": BEYOND, "edge": "wrap"},
    "reflect": {"box": BEYOND, "edge": "reflect", "mode": "cubic"},
    "renormalize": {"box": BEYOND, "edge": "renormalize"},
    "constant": {"box": BEYOND, "edge": "constant", "value": 2.5},
    "constant nearest": {"box": BEYOND, "edge": "constant", "value": 2.5, "mode": "nearest"},
    "extrapolate": {"box": BEYOND, "edge": "extrapolate", "value": 2.5},
}  # fmt: skip
ways = pytest.mark.parametrize("name", WAYS)
# Tracing takes a part of a second each, compiling a second.
TRACED = ("linear", "cubic antialias", "exact scale", "policy", "turned", "wrap", "constant", "constant nearest")
COMPILED = ("cubic antialias",)
traced = pytest.mark.parametrize("name", sampled(WAYS, len(WAYS), always=TRACED.__contains__))
compiled = pytest.mark.parametrize("name", sampled(WAYS, len(WAYS), always=COMPILED.__contains__))


def resized(name):
    return lambda x: tenter.resize(x, **({"size": (3, 7), "axes": (1, 2)} | WAYS[name]))


def image(seed=0, shape=(2, 5, 6)):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def same(got, want):
    torch.testing.assert_close(got, want, rtol=0, atol=1e-12)


@ways
def test_as_numpy(name):
    same(resized(name)(image()), torch.from_numpy(np.ascontiguousarray(resized(name)(image().numpy()))))


@pytest.mark.parametrize("name", sampled(WAYS, 3))
def test_derivatives(name):
    x, f = image(shape=(1, 4, 3)).requires_grad_(), resized(name)
    if "box" in WAYS[name]:
        f = lambda x: tenter.resize(x, (3, 5), axes=(1, 2), **(WAYS[name] | {"box": [(3.5, -1), (0.5, 5)]}))
    assert torch.autograd.gradcheck(f, (x,), check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: f(x) ** 2, (x,), check_fwd_over_rev=True)


@ways
def test_gradients_are_the_transposed_maps(name):
    """The gradient of a linear function is its matrix, turned; twice the same bits."""
    x, f = image().requires_grad_(), resized(name)
    y = f(x)
    g = torch.randn(y.shape, dtype=y.dtype, generator=torch.Generator().manual_seed(1))
    (got,) = torch.autograd.grad(y, x, g)
    assert torch.equal(got, torch.autograd.grad(f(x), x, g)[0])
    matrix = torch.stack([f(e.reshape(2, 5, 6)) - f(torch.zeros_like(x)) for e in torch.eye(60, dtype=x.dtype)])
    same(got.flatten(), matrix.detach().flatten(1) @ g.flatten())


@ways
def test_transforms(name):
    x, f = image(), resized(name)
    want, other = f(x), f(x * 2)
    same(vmap(f, in_dims=-1, out_dims=1)(torch.stack([x, x * 2], -1)), torch.stack([want, other], 1))
    same(vmap(vmap(f))(torch.stack([x, x * 2])[None])[0], torch.stack([want, other]))
    same(jacrev(f)(x), jacfwd(f)(x))
    same(jvp(f, (x,), (x,))[1], want - f(x * 0))
    loss = lambda x: (f(x.sin()) ** 3).sum()
    y = x.clone().requires_grad_()
    same(grad(loss)(x), torch.autograd.grad(loss(y), y)[0])
    same(vmap(grad(loss))(torch.stack([x, x * 2]))[0], grad(loss)(x))
    same(functionalize(f)(x), want)


@compiled
def test_compiled(name):
    """One graph, for other batches too; gradients through it."""
    f, x, y = resized(name), image(), image(1, (7, 5, 6))
    want = f(x.sin())  # first, as a Filter must have been seen
    compiled = torch.compile(lambda x: f(x.sin()), fullgraph=True, backend="aot_eager")
    same(compiled(x), want)
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: f(x.sin()), fullgraph=True, backend="aot_eager", dynamic=True)
    x.requires_grad_()
    same(torch.autograd.grad((compiled(x) ** 2).sum(), x), torch.autograd.grad((f(x.sin()) ** 2).sum(), x))
    y.requires_grad_()
    with torch.compiler.set_stance("fail_on_recompile"):
        same(compiled(y), f(y.sin()))


@traced
def test_exported(name):
    class Module(torch.nn.Module):
        def forward(self, x):
            return resized(name)(x.sin())

    batch = ({0: torch.export.Dim.DYNAMIC},)
    program = torch.export.export(Module(), (image(),), dynamic_shapes=batch, strict=False).module()
    for x in (image(), image(1, (7, 5, 6))):
        same(program(x), Module()(x))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["exact scale", "linear", "float scale", "cubic antialias"])
def test_compiled_for_images_of_any_size(name):
    f = resized(name)
    compiled = torch.compile(f, fullgraph=True, backend="aot_eager", dynamic=True)
    compiled(image())
    for shape in ((3, 9, 8), (4, 7, 11)):
        same(compiled(image(1, shape)), f(image(1, shape)))


# ---- how results lie


def laid_out():
    x = torch.randn(2, 4, 5, 6)
    return {
        "contiguous": x, "channels last": x.contiguous(memory_format=torch.channels_last), "transposed": x.mT,
        "permuted": x.permute(3, 1, 0, 2), "cut": x[:, 1:3, ::2, 1:], "expanded": x[:1].expand(3, 4, 5, 6),
        "one": torch.randn(1, 1, 5, 1).permute(3, 2, 1, 0), "empty": torch.randn(0, 4, 5, 6).mT,
        "channels last empty": torch.randn(2, 0, 5, 6).contiguous(memory_format=torch.channels_last),
    }  # fmt: skip


@pytest.mark.parametrize("how", [{}, {"mode": "cubic", "antialias": True}, {"edge": "wrap"}], ids=str)
@pytest.mark.parametrize("name", laid_out())
def test_results_lie_as_inputs_do(name, how):
    """Eager, fake and meta tensors agree on strides."""
    x = laid_out()[name]
    axes = (1, 3) if name == "one" else (2, 3)
    for dtype in (torch.float32, torch.uint8):
        x = x.to(dtype)
        f = lambda x: tenter.resize(x, (7, 3), axes=axes, **how)
        y = f(x)
        assert f(x.to("meta")).stride() == y.stride()
        with FakeTensorMode() as mode:
            assert f(mode.from_tensor(x)).stride() == y.stride()
    x = x.float().requires_grad_()
    y = tenter.resize(x, (7, 3), axes=axes, **how)
    torch.testing.assert_close(y, tenter.resize(x.contiguous(), (7, 3), axes=axes, **how))
    if name in ("contiguous", "channels last", "transposed", "permuted"):
        assert np.argsort(y.stride()).tolist() == np.argsort(x.stride()).tolist()


def test_channels_last_stays_channels_last():
    for dtype in (torch.float32, torch.uint8, torch.bfloat16):
        x = (torch.rand(2, 3, 9, 14) * 255).to(dtype).contiguous(memory_format=torch.channels_last)
        for mode in ("nearest", "linear", "cubic", "area"):
            y = tenter.resize(x, (5, 20), axes=(-2, -1), mode=mode)
            assert y.is_contiguous(memory_format=torch.channels_last)
            assert torch.equal(y, tenter.resize(x.contiguous(), (5, 20), axes=(-2, -1), mode=mode))


def test_lengths_that_depend_on_data():
    x, counts = image(), torch.tensor([1, 2])
    f = lambda x, counts: tenter.resize(tenter.repeat_interleave(x, counts, 0), (3, 7), axes=(1, 2))
    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    for given in (counts, counts * 3):
        same(compiled(x, given), f(x, given))


def hat(height, held=None):
    return tenter.filters.Filter(lambda x: np.maximum(0.0, height - np.abs(x) + 0 * len(str(held))), 2.0)


def test_a_compiled_function_is_not_given_another_filter():
    """Of the same code, with other values."""
    f = lambda x, m: tenter.resize(x, 3, axes=1, mode=m)
    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    for m in (hat(1.0), hat(1.7)):  # new to resize
        same(compiled(image(), m), f(image(), m))


def test_a_graph_of_a_filter_that_is_gone_is_refused():
    held = [hat(1.0)]
    program = make_fx(lambda x: tenter.resize(x, 3, axes=1, mode=held[0]))(image())
    same(program(image()), tenter.resize(image(), 3, axes=1, mode=held[0]))
    held.clear()
    gc.collect()
    with pytest.raises(ValueError, match=r"mode: expected a Filter .* got one that is new or gone"):
        program(image())


class Held:
    """What a filter closes over."""


def plainly(x, m):
    return tenter.resize(x, 3, axes=1, mode=m, antialias=True)


class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


def by_operators(x, m):
    with Mode():
        return plainly(x, m)


@pytest.mark.parametrize("call", [plainly, by_operators])
def test_gradients_keep_a_filter_and_nothing_else_does(call):
    held = Held()
    ref, m = weakref.ref(held), hat(1.0, held)
    x = image().requires_grad_()
    want = torch.autograd.grad(plainly(x.tanh(), m).square().sum(), x)[0]
    y = call(x.tanh(), m).square().sum()
    del m, held
    gc.collect()
    assert ref() is not None
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    same(g, want)
    torch.autograd.grad(g.sum(), x)
    del y, g
    gc.collect()
    assert ref() is None


def test_large_results_with_a_value_past_the_edges_keep_their_gradients(monkeypatch):
    monkeypatch.setattr(chunks, "BYTES", 64)
    for dtype in (torch.float16, torch.float32, torch.float64):
        caches.forget()
        x = torch.rand(1, 9, 8, dtype=dtype).requires_grad_()
        y = tenter.resize(x, (12, 10), axes=(1, 2), mode="cubic", edge="constant", value=1.5)
        without = tenter.resize(x, (12, 10), axes=(1, 2), mode="cubic", edge="constant")
        g = torch.rand(y.shape).to(dtype)
        (found,), (want,) = (torch.autograd.grad(made, x, g) for made in (y, without))
        torch.testing.assert_close(found, want, rtol=2e-3, atol=2e-3)
