"""`AxisMap.apply` is an operator of PyTorch's: transforms, the compiler and exports see it."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch

import tenter
from sweeps import sampled
from tenter._torch import uncompiled
from tenter.maps import Copy, Gather, Window
from tenter.maps._written import read, written

MAPS = {
    "counts": Copy.repeats([1, 3, 0, 2]),
    "every": Copy.repeat_each(4, 3),
    "cycle": Copy.tile(4, 2),
    "linear": tenter.axis_map(4, 7),
    "antialias": tenter.axis_map(4, 2, "cubic", antialias=True),
    "sums": Copy.repeats([1, 3, 0, 2]).T,
    "blocks": Window(4, 2, [0], [0, 2], [0.5, 2.0], block=2),
    "gather": Gather(4, 3, [0, 2, 2, 5], [3, 0, 1, 1, 2], [1.0, 2.0, -1.0, 0.5, 4.0]),
}
each_map = pytest.mark.parametrize("m", MAPS.values(), ids=MAPS)
SOME = sampled(MAPS, 3)


def given(m, *, dim: int = 1) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(*[m.n_in if d == dim else 2 for d in range(3)], dtype=torch.float64, generator=generator)


def same(got: torch.Tensor, want: torch.Tensor) -> None:
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SOME)
def test_transforms(name: str) -> None:
    m = MAPS[name]
    x, f = given(m), lambda x: m.apply(x, 1)
    want = torch.from_numpy(m.apply(x.numpy(), 1))
    same(torch.func.vmap(f)(torch.stack([x, 2 * x]))[1], 2 * want)
    inside = torch.func.vmap(lambda x: m.apply(x, -1), in_dims=2, out_dims=2)
    same(inside(x.movedim(1, 0)[None].expand(3, -1, -1, -1).movedim(1, 3)).movedim(-1, 1)[0], want.movedim(1, 0))
    same(torch.func.jvp(f, (x,), (x,))[1], want)
    same(torch.func.functionalize(f)(x), want)
    forth, back = torch.func.jacfwd(f)(x), torch.func.jacrev(f)(x)
    same(forth, back)
    assert torch.autograd.gradcheck(f, x.clone().requires_grad_())
    assert torch.autograd.gradgradcheck(f, x.clone().requires_grad_())


@pytest.mark.slow
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.usefixtures("fresh_compiler")
def test_one_graph_with_its_gradient(name: str) -> None:
    m = MAPS[name]
    x, f = given(m).requires_grad_(), lambda x: m.apply(x, 1) * 2
    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    same(compiled(x), f(x))
    same(torch.autograd.grad(compiled(x).square().sum(), x)[0], torch.autograd.grad(f(x).square().sum(), x)[0])


@pytest.mark.parametrize("name", sampled(MAPS, 8))
@pytest.mark.usefixtures("fresh_compiler")
def test_the_graph_ends_before_a_map_that_it_cannot_hold(name: str, monkeypatch) -> None:
    """Before PyTorch 2.12 its compiler gives no maps to the functions that it does not follow."""
    monkeypatch.setattr(uncompiled, "gives_objects", False)
    x, f = given(MAPS[name]), lambda x: MAPS[name].apply(x.sin(), 1) * 2
    same(torch.compile(f, backend="eager")(x), f(x))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["linear", "counts"])
@pytest.mark.usefixtures("fresh_compiler")
def test_inductor(name: str) -> None:
    x, f = given(MAPS[name]).requires_grad_(), lambda x: MAPS[name].apply(x, 1) + 1
    compiled = torch.compile(f, fullgraph=True)
    same(compiled(x), f(x))
    same(torch.autograd.grad(compiled(x).square().sum(), x)[0], torch.autograd.grad(f(x).square().sum(), x)[0])


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_compiler")
def test_the_compiler_tells_maps_apart() -> None:
    f = torch.compile(lambda x, m: m.apply(x, 0), fullgraph=True, backend="aot_eager")
    for counts in ([1, 3, 2], [3, 1, 2], [1, 3, 2]):
        assert f(torch.arange(3), Copy.repeats(counts)).tolist() == np.repeat(np.arange(3), counts).tolist()


@pytest.mark.parametrize("name", SOME)
def test_an_exported_program_has_its_maps_in_it(name: str) -> None:
    m = MAPS[name]

    class Module(torch.nn.Module):
        def forward(self, x):
            return m.apply(x, 1)

    x, kept = given(m), io.BytesIO()
    torch.export.save(torch.export.export(Module(), (x,), strict=False), kept)
    kept.seek(0)
    same(torch.export.load(kept).module()(x), m.apply(x, 1))


@each_map
def test_shapes_alone(m) -> None:
    assert m.apply(torch.zeros(2, m.n_in, device="meta"), 1).shape == (2, m.n_out)


@each_map
def test_a_map_in_words_is_the_map(m) -> None:
    assert read(written(m)) == m and type(read(written(m))) is type(m)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Copy",
        "Copy,3,6,,i!!,1",
        "Copy,3,6,,,1",
        "Window,3,2,,,,1,1",
        "Copy,-1,0,2,,1",
        "Map,1,1,1,,1",
        "Copy,3,6,2,,1,9",
    ],
)
def test_words_that_are_no_map_are_refused(words: str) -> None:
    tenter.torch.report()  # registers the operators
    with pytest.raises(ValueError, match="map: expected what an axis map was written as"):
        torch.ops.tenter.apply(torch.zeros(3), 0, words)


def test_lengths_and_dtypes_that_do_not_fit_are_refused() -> None:
    words = written(tenter.axis_map(3, 5))
    for x, axis in ((torch.zeros(2), 0), (torch.zeros(3), 1), (torch.zeros(3, dtype=torch.bool), 0)):
        with pytest.raises((ValueError, TypeError), match=r"(x|axes): expected"):
            torch.ops.tenter.apply(x, axis, words)
    with pytest.raises(TypeError, match="to apply a map to"):
        torch.func.vmap(lambda x: Copy.repeat_each(3, 2).apply(x, 0, out=torch.zeros(6)))(torch.zeros(2, 3))
