"""Compiled code in which other functions stand before and after ours: Inductor joins the indices of all of them.

All compositions: `python -m pytest -m slow tests/pytorch/test_torch_compositions.py`.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import sympy
import torch
import torch.nn.functional as F
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.graph import GraphLowering
from torch._inductor.virtualized import V
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._sympy.functions import FloorDiv

import tenter
from sweeps import sampled
from tenter._torch import inductor, operators

pytestmark = pytest.mark.usefixtures("fresh_compiler", "fresh_code")


@pytest.fixture
def fresh_code():
    with torch._inductor.config.patch(force_disable_caches=True):
        yield


def resized(x, **how):
    return tenter.interpolate(x[None, None], **how)[0, 0]


def row_resized(x, **how):
    return tenter.interpolate(x.flatten()[None, None], **how)[0]


# All on matrices, of which `x.T.flatten()` and the like are rows of one.
BEFORE = {
    "x": lambda x: x,
    "flattened transpose": lambda x: x.T.flatten()[None],
    "transpose": lambda x: x.T,
    "flip": lambda x: x.flip(0, 1),
    "flip of a flattened transpose": lambda x: x.T.flatten().flip(0)[None],
    "flattened transpose of a flip": lambda x: x.flip(1).T.flatten()[None],
    "step": lambda x: x[::2, 1::2],
    "tail": lambda x: x[1:, 1:],
    "roll": lambda x: x.roll((1, -1), (0, 1)),
    "cat": lambda x: torch.cat([x, x.flip(1)], 1),
    "circular pad": lambda x: F.pad(x[None, None], (1, 1, 1, 1), "circular")[0, 0],
    "elementwise": lambda x: x * 2 + 1,
    "expand": lambda x: x[:, None].expand(-1, 3, -1).flatten(0, 1),
    "reshape": lambda x: x.T.reshape(x.shape),
    "square": lambda x: x @ x.T,
}
OURS = {
    "each row": lambda x: tenter.repeat_interleave(x, 2, 0),
    "each column": lambda x: tenter.repeat_interleave(x, 3, 1),
    "each element": lambda x: tenter.repeat_interleave(x, 2)[None],
    "repeat": lambda x: tenter.repeat(x, 2, 3),
    "tile": lambda x: tenter.tile(x, 2),
    "each of a tile": lambda x: tenter.repeat_interleave(tenter.tile(x.flatten(), 2), 2)[None],
    "tile of each": lambda x: tenter.tile(tenter.repeat_interleave(x, 2), 2)[None],
    "nearest": lambda x: resized(x, scale_factor=2),
    "nearest of a row": lambda x: row_resized(x, scale_factor=4),
    "nearest-exact": lambda x: resized(x, scale_factor=(4, 2), mode="nearest-exact"),
    "nearest to a size": lambda x: resized(x, size=(5, 7)),
    "nearest by 1.5": lambda x: resized(x, scale_factor=1.5),
    "area": lambda x: resized(x, scale_factor=2, mode="area"),
    "area to a size": lambda x: resized(x, size=(3, 2), mode="area"),
    "bilinear": lambda x: resized(x, scale_factor=2, mode="bilinear"),
    "linear of a row": lambda x: row_resized(x, size=9, mode="linear"),
    "resize": lambda x: tenter.resize(x, scale=2, mode="nearest"),
}
AFTER = {
    "y": lambda y: y,
    "flip": lambda y: y.flip(0, 1),
    "flattened flip": lambda y: y.flatten().flip(0),
    "tail": lambda y: y[1:, 1:],
    "tail of a flip": lambda y: y.flip(1)[:, 1:],
    "roll": lambda y: y.roll((1, -2), (0, 1)),
    "circular pad": lambda y: F.pad(y[None, None], (1, 0, 0, 1), "circular")[0, 0],
    "flattened transpose of a flip": lambda y: y.flip(1).T.flatten(),
    "flip of a flattened transpose": lambda y: y.T.flatten().flip(0),
    "cat": lambda y: torch.cat([y, y.flip(0, 1)]),
    "gather": lambda y: y.gather(1, torch.zeros_like(y, dtype=torch.int64) + y.shape[1] - 1),
    "sum of a flip": lambda y: (y.flip(1) * torch.arange(y.shape[1])).sum(1),
}
SHAPES = ((2, 3), (4, 5), (7, 3))
# One in twelve, in which each two of the three functions meet.
ALL = [
    names
    for i, j, k in itertools.product(range(len(BEFORE)), range(len(OURS)), range(len(AFTER)))
    for names in [(list(BEFORE)[i], list(OURS)[j], list(AFTER)[k])]
    if (i + j + k) % len(AFTER) == 0
    if (names[0], names[2]) != ("tail", "roll")  # whose index Inductor does not simplify, of any operation between
]
# Functions that read one element of x for each element of the result, at an index without tables.
VIEWS_BEFORE = ("flattened transpose", "x", "flip of a flattened transpose", "reshape")
COPIES = ("each column", "each element", "tile", "each of a tile", "tile of each", "nearest of a row")
VIEWS_AFTER = ("y", "flip", "flip of a flattened transpose")


def inside(shape):
    """A matrix in the middle of memory that is NaN, so that reads outside of it show."""
    n = torch.Size(shape).numel()
    around = torch.full((n + 2000,), torch.nan, dtype=torch.float64)
    x = around[1000 : n + 1000].view(shape)
    return x.copy_(torch.arange(1.0, n + 1).view(shape)).detach().requires_grad_()


def compare(some, dynamic, backend):
    functions = [(BEFORE[before], OURS[ours], AFTER[after]) for before, ours, after in some]
    f = lambda x: [after(ours(before(x))) for before, ours, after in functions]
    graph = torch.compile(f, dynamic=dynamic, backend=backend, fullgraph=True)
    for shape in SHAPES:
        x = inside(shape)
        got, want = graph(x), f(x)
        for names, y, w in zip(some, got, want, strict=True):
            assert torch.allclose(y, w, rtol=1e-13, atol=0), (shape, names, y, w)
        g, h = (
            torch.autograd.grad(sum((y * torch.arange(y.numel()).view(y.shape)).sum() for y in ys), x)[0]
            for ys in (got, want)
        )
        assert torch.allclose(g, h, rtol=1e-12, atol=0), (shape, g, h)


def lowered(f, *args):
    """Inductor's graph of f for args of any shape, without its C++."""
    traced = make_fx(f, tracing_mode="symbolic", decomposition_table=select_decomp_table())(*args)
    x = next(iter(traced.graph.nodes)).meta["val"]
    inductor.prepare(operators._count)
    graph = GraphLowering(traced, shape_env=x.fake_mode.shape_env)
    with V.set_graph_handler(graph), V.set_fake_mode(x.fake_mode):
        graph.run(*(n.meta["val"] for n in traced.graph.nodes if n.op == "placeholder"))
        yield graph, x


def indices(some):
    """Inductor's index of each output into x, for x of any shape."""
    f = lambda x: [AFTER[after](OURS[ours](BEFORE[before](x))) for before, ours, after in some]
    for graph, x in lowered(f, torch.empty(SHAPES[0])):
        lengths = [n.node.expr for n in x.shape]
        for buffer in graph.graph_outputs:
            (read,) = graph.get_buffer(buffer.get_name()).get_read_writes().reads
            yield lengths, read.index, read.var_names, read.size


def in_c(index, lengths, shape, names, sizes):
    """An index's values, by the rules of C for remainders of negative numbers."""
    rules = {"FloorDiv": np.floor_divide, "ModularIndexing": lambda x, d, m: np.fmod(np.floor_divide(x, d), m)}
    known = dict(zip(lengths, shape))
    grid = np.indices([int(n.subs(known)) for n in sizes])
    values = sympy.lambdify([*lengths, *names], index, [rules, "numpy"])(*shape, *grid)
    return np.broadcast_to(values, grid.shape[1:])


@pytest.mark.parametrize("before", sampled(VIEWS_BEFORE, len(VIEWS_BEFORE)))
def test_indices_in_compiled_code_are_those_of_what_eager_code_reads(before):
    some = list(itertools.product([before], COPIES, VIEWS_AFTER))
    for names, (lengths, *found) in zip(some, indices(some), strict=True):
        _, ours, after = names
        # A loop without more code needs none, if sympy knows that a quotient of its indices is not negative.
        knows = FloorDiv(sympy.Symbol("i", integer=True, nonnegative=True), 2).is_nonnegative
        assert after != "y" or not knows or not found[0].has(sympy.Abs), names
        for shape in SHAPES:
            x = torch.arange(torch.Size(shape).numel()).view(shape)
            want = AFTER[after](OURS[ours](BEFORE[before](x)))
            got = in_c(found[0], lengths, shape, *found[1:])
            assert np.array_equal(got.ravel(), want.ravel()), (shape, names, found)


WRITTEN_IN_PLACE = torch.zeros(3, 2), torch.tensor([[0, 1], [1, 1], [1, 0]]), torch.arange(1.0, 7).view(3, 2)


def test_a_call_reads_what_a_call_writes_in_place(monkeypatch):
    """Inductor calls scatter_add if there are threads."""
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    f = lambda a, *args: tenter.repeat_interleave(a.scatter_add(1, *args), 2, 1)
    for graph, _ in lowered(f, *WRITTEN_IN_PLACE):
        called = [getattr(call, "python_kernel_name", None) for call in graph.operations]
        assert called[-2:].count("torch.ops.tenter.repeat.default.kernel") == 1, called


@pytest.mark.slow
def test_compiled_code_reads_what_a_call_wrote_in_place():
    """The last sum is over a loop of one dim, which Inductor splits into two."""

    def f(x, a, *args):
        w = (x.t() + 1).contiguous()
        return w, w * 2 + tenter.interpolate(a.scatter_add(1, *args)[None], size=(2,), mode="area")[0]

    x = torch.arange(1.0, 7).view(2, 3)
    got, want = (g(x, *WRITTEN_IN_PLACE) for g in (torch.compile(f, fullgraph=True), f))
    assert all(map(torch.equal, got, want))


@pytest.mark.slow
@pytest.mark.parametrize("dynamic, backend", [(None, "inductor"), (True, "aot_eager")])
@pytest.mark.parametrize("ours", OURS)
def test_compositions_compiled_are_those_that_are_not(ours, dynamic, backend):
    """dynamic=None compiles for the first shape, and then for all."""
    compare([names for names in ALL if names[1] == ours], dynamic, backend)
