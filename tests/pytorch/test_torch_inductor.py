"""The operators in Inductor's code: which are expressions there, and that these are what the kernels compute."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch._inductor.utils import run_and_get_code
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import tenter
from sweeps import sampled
from tenter._specs.repeat import Repeat
from tenter._specs.resize import KINDS, Interpolate
from tenter._torch import in_graph, inductor, operators as operators_of_torch
from tenter._torch.expressions import Formula, reads
from torch_cases import CASES, subject

pytestmark = pytest.mark.usefixtures("fresh_compiler", "fresh_code")


@pytest.fixture
def fresh_code():
    """Code that this version of tenter makes, and not what an earlier one has left on disk."""
    with torch._inductor.config.patch(force_disable_caches=True):
        yield


def compiled(f, x, g=None, **options):
    """Result, gradient and Inductor's code for both; f has neighbors that expressions are fused with."""
    x = x.detach().requires_grad_()
    graph = torch.compile(lambda x: f(x * 2), fullgraph=True, **options)

    def both():
        y = graph(x)
        return y.detach(), torch.autograd.grad(y, x, torch.ones_like(y) if g is None else g)[0]

    (y, gradient), code = run_and_get_code(both)
    return y, gradient, "\n".join(code)


def operators(code):
    """The operators that the code calls."""
    calls = [line.partition(" = torch.ops.tenter.")[2] for line in code.splitlines()]
    return sorted(call.split(".")[0] for call in calls if call)


# ---- expressions without a compiler


def dense(r, n_in, n_out):
    """The matrix of what outputs read."""
    o = np.arange(n_out)
    matrix = np.zeros((n_out, n_in))
    for tap in range(r.taps):
        if isinstance(r.inputs, Formula):
            start = o if r.inputs.modulo is None else o % r.inputs.modulo
            at = start // r.inputs.divide * r.inputs.times + tap * r.inputs.each + r.inputs.first
        else:
            at = r.inputs[tap]
        weight = np.ones(n_out) if r.weight is None else r.weight[tap]
        np.add.at(matrix, (o, at), weight if r.empty is None else np.where(r.empty, 0, weight))
    return matrix


LENGTHS = [(1, 1), (1, 5), (5, 1), (4, 8), (8, 4), (7, 5), (5, 7), (3, 9), (12, 4), (13, 2)]
MODES = [(k, a, c) for k, a, c in itertools.product(sorted(set(KINDS.values())), (False, True), (False, True))
         if not (a and k not in ("linear", "cubic", "lanczos")) and not (c and k not in ("linear", "cubic"))
         and (k != "lanczos" or a)]  # fmt: skip


@pytest.mark.parametrize("kind, antialias, corners", MODES)
def test_expressions_are_the_maps(kind, antialias, corners):
    """Entry by entry, and no row with halved weights reads what the map does not."""
    for (n_in, n_out), transposed in itertools.product(LENGTHS, (False, True)):
        spec, shape = Interpolate((n_out,), None, kind, corners, antialias, False), (1, 1, n_in)
        found = reads(spec, shape, transposed, "float32", False)
        m = spec.maps(shape, "float32", False)[0][1]
        want = (m.T if transposed else m).dense()
        taps = int((want != 0).sum(1).max())
        assert (found is None) == (taps > 16)
        if found is not None:
            assert np.array_equal(dense(found[0], *want.shape[::-1]), want), (kind, n_in, n_out, transposed)


@pytest.mark.parametrize("each", [False, True])
def test_repeats_are_the_maps(each):
    for n, r, transposed in itertools.product((1, 2, 5), (2, 3, 16), (False, True)):
        spec = Repeat((r,), each)
        (found,) = reads(spec, (n,), transposed, "float32", False)
        m = spec.maps((n,), "float32", False)[0][1]
        want = (m.T if transposed else m).dense()
        assert np.array_equal(dense(found, *want.shape[::-1]), want)
        if not transposed:
            assert np.array_equal(found.inputs.table(n * r), want.argmax(1)[None])


def nearest(x):
    return tenter.interpolate(x, scale_factor=2, mode="nearest")


def bilinear(x):
    return tenter.interpolate(x, scale_factor=2, mode="bilinear")


def bicubic(x):
    return tenter.interpolate(x, scale_factor=2, mode="bicubic")


def pays(f, x):
    """Whether each operator of f(x) and of its gradient is fused, by the rule alone."""
    both = (lambda x: torch.func.vjp(f, x)[1](f(x))[0]) if x.is_floating_point() else f
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        graph = make_fx(both)(mode.from_tensor(x))
    nodes = {node.target: node for node in graph.graph.nodes if "tenter" in str(node.target)}
    found = []
    for op, transposed in itertools.product(inductor.OPERATORS.values(), (False, True)):
        target = (inductor.schema.adjoint if transposed else inductor.schema.forward)(op)
        if node := nodes.get(target):
            r = inductor._found(op, transposed, node)
            found.append(r is not None and inductor._pays(r, node.args[0].meta["val"], node.meta["val"]))
    return found


def test_expressions_are_chosen_where_they_take_less_time():
    small, large, last = torch.empty(1, 8, 8, 8), torch.empty(4, 32, 64, 64), torch.channels_last
    assert pays(nearest, small) == pays(bilinear, small) == [True, True]
    assert pays(nearest, large) == pays(bilinear, large) == [False, False]
    large = large.contiguous(memory_format=last)
    assert pays(nearest, large) == pays(bilinear, large) == [True, True]
    assert pays(bicubic, large) == [False, False] and pays(bicubic, small) == [True, False]
    assert pays(nearest, torch.empty(4, 3, 64, 64).contiguous(memory_format=last)) == [False, False]
    rows = torch.empty(4096, 256)
    assert pays(lambda x: tenter.repeat_interleave(x, 4, 0), rows) == [True, True]
    assert pays(lambda x: tenter.repeat_interleave(x, 4, 1), rows) == [False, False]
    assert pays(lambda x: tenter.repeat_interleave(x, 64, 0), rows) == [True, False]
    assert pays(bilinear, torch.empty(1, 3, 8, 8, dtype=torch.uint8)) == [False]  # rounded by the kernels


# ---- compiled code


@pytest.mark.parametrize("case", sampled(CASES, len(CASES), ids=lambda case: case.name))
def test_compiled_equals_eager(case):
    """Copies bit for bit; sums but for the order of the axes, in float64, to a few units in the last place."""
    s = subject(case, case.ours)
    want = s.f(s.x.requires_grad_() * 2)
    g = s.randn(*want.shape)
    (truth,) = torch.autograd.grad(want, s.x, g)
    y, gradient, code = compiled(s.f, s.x, g, dynamic=False)
    assert (y.shape, y.stride(), y.dtype) == (want.shape, want.stride(), want.dtype)
    exactly = not any(word in case.row for word in ("linear", "cubic", "area", "antialias"))
    torch.testing.assert_close(y, want, rtol=0 if exactly else 1e-14, atol=0 if exactly else 1e-14)
    torch.testing.assert_close(gradient, truth, rtol=1e-13, atol=1e-13)
    kernels = {"bicubic": ["interpolate_adjoint"], "bicubic antialias by scale": ["interpolate"]}
    if case.counts is None and case.name != "list":
        assert operators(code) == kernels.get(case.name, []), code


@pytest.mark.slow
def test_one_graph_for_all_lengths():
    """Also where the lengths that change are those that are doubled: their quotient is known."""
    nearest(torch.randn(1, 1, 2, 2))
    graph = torch.compile(lambda x: nearest(x * 2).relu(), fullgraph=True, dynamic=True)
    _, code = run_and_get_code(graph, torch.randn(2, 3, 4, 5))
    assert not operators("\n".join(code)), code
    with torch.compiler.set_stance("fail_on_recompile"):
        for shape in ((3, 3, 6, 7), (5, 3, 40, 50)):
            x = torch.randn(shape)
            assert torch.equal(graph(x), nearest(x * 2).relu())


@pytest.mark.slow
def test_copies_of_every_dtype_keep_their_bits():
    xs = [torch.randn(1, 2, 3, 4).mul(100).to(dtype) for dtype in inductor.COPIED]
    f = lambda *xs: [g(x) for x in xs for g in (nearest, lambda x: tenter.tile(x, (2, 3)))]
    got, code = run_and_get_code(torch.compile(f, fullgraph=True, dynamic=False), *xs)
    assert not operators("\n".join(code))
    for y, want in zip(got, f(*xs), strict=True):
        assert y.dtype == want.dtype and torch.equal(y, want)


@pytest.mark.slow
def test_inf_and_nan_stay_where_they_are():
    """At the edges too, where rows are shorter than others; in halves rounding happens once."""
    x = torch.randn(6, 1, 4, 4)
    for k, (i, j) in enumerate(((0, 0), (0, 3), (2, 1))):
        x[2 * k, 0, i, j], x[2 * k + 1, 0, i, j] = float("inf"), float("nan")
    xs = [x, x.half(), x.bfloat16()]
    f = lambda *xs: [tenter.interpolate(x, size, mode="bilinear") for x in xs for size in ((7, 9), (3, 2))]
    got, code = run_and_get_code(torch.compile(f, fullgraph=True, dynamic=False), *xs)
    assert not operators("\n".join(code))
    for y, want in zip(got, f(*xs), strict=True):
        torch.testing.assert_close(y, want, equal_nan=True, rtol=2 * torch.finfo(y.dtype).eps, atol=1e-6)


@pytest.mark.slow
def test_kernels_are_called_without_the_dispatcher(monkeypatch):
    monkeypatch.setattr(inductor, "FEW_READS", 0)
    x = torch.randn(1, 2, 3, 4)
    y, gradient, code = compiled(bilinear, x, dynamic=False)
    assert operators(code) == ["interpolate", "interpolate_adjoint"]
    assert "torch.ops.tenter.interpolate.default.kernel(" in code
    assert torch.equal(y, bilinear(x * 2))
    (want,) = torch.autograd.grad(bilinear(x.requires_grad_() * 2).sum(), x)
    assert torch.equal(gradient, want)


@pytest.mark.slow
def test_fused_calls_count_when_they_are_compiled():
    x = torch.randn(1, 2, 3, 4)
    with tenter.torch.accelerate() as report:
        graph = torch.compile(lambda x: torch.nn.functional.interpolate(x, scale_factor=2).repeat(1, 2, 1, 1).sin())
        for _ in range(3):
            graph(x)
    assert report.computed == {"interpolate": 1, "repeat": 1}


def test_exported_programs_keep_the_operators():
    class Doubled(torch.nn.Module):
        def forward(self, x):
            return nearest(x).relu()

    program = torch.export.export(Doubled(), (torch.randn(1, 2, 3, 4),))
    for some in (program, program.run_decompositions()):
        assert torch.ops.tenter.interpolate.default in [node.target for node in some.graph.nodes]


def buffers_on_cuda(f):
    """What Inductor would compute on a CUDA device, which the machine need not have."""
    from torch._inductor.decomposition import select_decomp_table
    from torch._inductor.graph import GraphLowering
    from torch._inductor.virtualized import V

    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        x = torch.empty(2, 8, 64, 64, device="cuda")
        traced = make_fx(f, decomposition_table=select_decomp_table())(x)
    inductor.prepare(operators_of_torch._count)
    graph = GraphLowering(traced)
    with V.set_graph_handler(graph), V.set_fake_mode(mode):
        graph.run(x)
    return graph.buffers


def test_expressions_on_cuda(monkeypatch):
    from tenter._torch import lowering

    table = lowering._table
    monkeypatch.setattr(lowering, "_table", lambda values, dtype, device: table(values, dtype, torch.device("cpu")))
    for f in (nearest, bilinear, lambda x: tenter.tile(x, (2, 3)), lambda x: tenter.repeat_interleave(x, 3, 1)):
        buffers = buffers_on_cuda(lambda x: f(x.abs()).relu())
        assert {type(b).__name__ for b in buffers} == {"ComputedBuffer"}  # and no call of a kernel
        assert len(buffers) == 1 or f is bilinear


def test_code_of_other_versions_is_not_taken_from_disk():
    inductor.prepare(operators_of_torch._count)
    marked = torch._inductor.config.unsafe_marked_cacheable_functions
    assert marked[f"{in_graph.__name__}.{in_graph.whole.__name__}"] == tenter.__version__


@pytest.mark.slow
def test_code_is_kept_on_disk_with_its_tables(tmp_path):
    code = (
        "import torch, tenter\n"
        "from torch._dynamo.utils import counters\n"
        "x = torch.arange(24.0).reshape(1, 2, 3, 4).requires_grad_()\n"
        "f = lambda x: tenter.interpolate(x * 2, (5, 7), mode='bilinear').relu()\n"
        "y = torch.compile(f, fullgraph=True)(x)\n"
        "torch.testing.assert_close(y, f(x))\n"
        "(g,), (w,) = (torch.autograd.grad(z.sum(), x) for z in (y, f(x)))\n"
        "torch.testing.assert_close(g, w)\n"
        "print(counters['aot_autograd']['autograd_cache_hit'], counters['inductor']['fxgraph_cache_hit'])"
    )
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    for hits in ("0 0", "1 "):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
        assert done.returncode == 0 and done.stdout.startswith(hits), done.stdout + done.stderr[-800:]


@pytest.mark.gpu
@pytest.mark.parametrize("f", [nearest, bilinear, bicubic], ids=["nearest", "bilinear", "bicubic"])
def test_compiled_on_cuda_equals_eager(f):
    if not torch.cuda.is_available():
        pytest.skip("compiles for a CUDA device")
    for layout in (torch.contiguous_format, torch.channels_last):
        x = torch.randn(2, 8, 33, 40, device="cuda").contiguous(memory_format=layout).requires_grad_()
        want = f(x * 2)
        y, gradient, code = compiled(f, x, dynamic=False)
        assert "interpolate" not in operators(code) and y.stride() == want.stride()
        torch.testing.assert_close(y, want, rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(gradient, torch.autograd.grad(want.sum(), x)[0], rtol=1e-5, atol=1e-5)
