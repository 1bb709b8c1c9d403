"""Programs that are traced, exported and vectorized: lengths that depend on data, other processes."""

from __future__ import annotations

import itertools
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import torch

import tenter
from sweeps import sampled
from tenter._torch import in_graph

pytestmark = pytest.mark.usefixtures("fresh_compiler")
X = torch.arange(48.0).reshape(2, 2, 3, 4)
KEPT = {
    "repeat_interleave": lambda x: tenter.repeat_interleave(x, 2, 1),
    "of all": lambda x: tenter.repeat_interleave(x, 2),
    "counts": lambda x: tenter.repeat_interleave(x, torch.tensor([1, 2]), 0),
    "listed counts": lambda x: tenter.repeat_interleave(x, [1, 2], 0, output_size=3),
    "repeat": lambda x: tenter.repeat(x, 2, 1, 1, 1, 3),
    "tile": lambda x: tenter.tile(x, (2, 3)),
    "expand": lambda x: tenter.expand(x, 5, -1, -1, -1, 4),
    "interpolate": lambda x: tenter.interpolate(x, scale_factor=2, mode="bilinear"),
    "resize": lambda x: tenter.resize(x, (2, 5), axes=[3, 2], mode="cubic", box=((0, 2.5), (0, 3))),
}
FOLLOWED = {
    "fractions within": lambda x: tenter.resize(x, 5, axes=3, box=[(0, Fraction(7, 2))]),
    "a fraction": lambda x: tenter.resize(x, scale=Fraction(3, 2), axes=3),
    "a reversed box": lambda x: tenter.resize(x, 4, axes=3, box=[(4, 0)]),
    "a value outside": lambda x: tenter.resize(x, 4, axes=3, box=[(0, 6)], edge="constant", value=7),
    "counts under vmap": torch.vmap(lambda x: tenter.repeat_interleave(x, torch.tensor([1, 2]), 0)),
}
UNKNOWN = {
    "signal to size": ((1, 2, 4), 2, lambda y: tenter.interpolate(y, 9, mode="linear")),
    "signal by scale": ((1, 2, 4), 2, lambda y: tenter.interpolate(y, scale_factor=2.0, mode="linear")),
    "image to size": ((1, 2, 5, 4), 3, lambda y: tenter.interpolate(y, (9, 9), mode="bicubic")),
    "image by scale": ((1, 4, 5, 4), 3, lambda y: tenter.interpolate(y, scale_factor=1.5, mode="nearest-exact")),
    "batch": ((4, 2, 5, 6), 0, lambda y: tenter.interpolate(y, 7, mode="bilinear", antialias=True)),
    "repeat": ((4, 2), 0, lambda y: tenter.repeat(y, 2, 3)),
    "counts": ((4, 2), 0, lambda y: tenter.repeat_interleave(y, torch.ones(y.shape[0], dtype=torch.int64), 0)),
}


def functions_of_graph(f):
    """What the compiler puts into the graph of f(X), whose result is the eager one."""
    graphs = []

    def backend(module, inputs):
        graphs.append(module.graph)
        return module.forward

    torch._dynamo.reset()
    want = f(X)  # before, as a first call of a process is followed
    assert torch.equal(torch.compile(lambda x: f(x), fullgraph=True, backend=backend)(X), want)
    return [node.target for node in graphs[0].nodes if node.op == "call_function"]


@pytest.mark.parametrize("name", KEPT)
def test_calls_are_kept_whole(name):
    """The compiler follows none of their Python, of which compiled code would check every name in every call."""
    assert in_graph.whole in functions_of_graph(KEPT[name])


@pytest.mark.parametrize("name", sampled(FOLLOWED, 3))
def test_calls_that_a_graph_cannot_hold_are_followed(name):
    found = functions_of_graph(FOLLOWED[name])
    assert any("tenter" in str(function) and function is not in_graph.whole for function in found)


@pytest.mark.parametrize("name", UNKNOWN)
def test_lengths_that_depend_on_data_go_on_to_other_operations(name):
    """In one graph, whose lengths are symbols without a value."""
    shape, dim, f = UNKNOWN[name]
    x, counts = torch.randn(shape), torch.tensor([1, 2, 0, 3])
    both = lambda x, counts: f(tenter.repeat_interleave(x, counts, dim))
    torch._dynamo.reset()
    compiled = torch.compile(both, fullgraph=True, backend="aot_eager")
    for given in (counts, counts.flip(0) * 2):
        torch.testing.assert_close(compiled(x, given), both(x, given), rtol=0, atol=0)


RECOMPUTED = {
    "nearest": {},
    "bilinear": {"mode": "bilinear"},
    "area": {"mode": "area"},
    "antialias": {"mode": "bicubic", "antialias": True},
}


WAYS = itertools.product(("export", "compile"), RECOMPUTED, (False, True))


@pytest.mark.parametrize("way, mode, pair", sampled(WAYS, 16))
def test_a_scale_that_is_read_from_a_tensor_changes_in_one_program(way, mode, pair):
    """Where positions follow the sizes. Else the scale must be known, and the error says so."""

    class Model(torch.nn.Module):
        def forward(self, x, t):
            scale = (t.item(), 2.0) if pair else t.item()
            return tenter.interpolate(x, scale_factor=scale, recompute_scale_factor=self.recompute, **RECOMPUTED[mode])

    model, x, scales = Model(), torch.rand(1, 2, 8, 12), [torch.tensor(s, dtype=torch.float64) for s in (2, 0.5, 1.7)]
    model.recompute = True
    if way == "export":
        program = torch.export.export(model, (x, scales[0])).module()
    else:
        program = torch.compile(model, fullgraph=True, backend="aot_eager")
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        for t in scales:
            torch.testing.assert_close(program(x, t), model(x, t), rtol=0, atol=0)
    model.recompute = False
    if mode != "area":
        with pytest.raises(TypeError, match="or recompute_scale_factor=True, got one that is read from a tensor"):
            torch.export.export(model, (x, scales[0]))


def test_counts_on_the_host_repeat_a_tensor_without_values():
    """As PyTorch's function does: the host knows the counts, whatever holds them."""
    x, numbers = torch.rand(3, 2, device="meta"), [1, 2, 3]
    counts = torch.tensor(numbers)
    for given in (counts, counts.to(torch.int32), numbers, np.array(numbers)):
        for total in (None, 6):
            y = tenter.repeat_interleave(x, given, dim=0, output_size=total)
            assert y.shape == (6, 2) and y.device.type == "meta"
    assert tenter.repeat_interleave(x, torch.tensor(2), dim=0).shape == (6, 2)
    y, lengths = tenter.ragged.repeat_padded(x[None], counts[None])
    assert y.shape == (1, 6, 2) and lengths.shape == (1,)
    for wrong, total in (([1, 2, -3], None), (counts, 5), (counts[:2], None)):
        with pytest.raises(ValueError, match=r"(repeats|output_size): expected"):
            tenter.repeat_interleave(x, wrong, dim=0, output_size=total)
    with pytest.raises(TypeError, match="repeats: expected counts with values"):
        tenter.repeat_interleave(torch.rand(3, 2), counts.to("meta"), dim=0, output_size=6)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("call", [
    lambda x: tenter.repeat_interleave(x, 2, 2),
    lambda x: tenter.repeat_interleave(x, x[0, 0, 0].abs().to(torch.int64) % 3, 3),
    lambda x: tenter.repeat(x, x.shape[2], 1, 1, 2),
    lambda x: tenter.tile(x, (1, x.shape[3])),
    lambda x: tenter.expand(x, x.shape[3], *x.shape),
    lambda x: tenter.resize(x, scale=2, axes=(2, 3)),
    lambda x: tenter.interpolate((x * 5).to(torch.uint8), scale_factor=1.5, mode="bilinear"),
])  # fmt: skip
def test_a_trace_keeps_lengths_that_change(call):
    traced = torch.jit.trace(call, (X,), check_trace=False)
    for x in (X, torch.rand(1, 2, 7, 5) * 9):
        torch.testing.assert_close(traced(x), call(x), rtol=0, atol=1 if call(x).dtype == torch.uint8 else 1e-5)


@pytest.mark.slow
def test_an_exported_program_is_loaded_elsewhere(tmp_path):
    class Stretch(torch.nn.Module):
        def forward(self, x, counts):
            return tenter.interpolate(tenter.repeat_interleave(x, counts, 2), 9, mode="linear")

    inputs = torch.randn(2, 2, 4), torch.tensor([1, 2, 0, 3])
    batch = {0: torch.export.Dim("batch")}
    torch.export.save(torch.export.export(Stretch(), inputs, dynamic_shapes=(batch, None)), tmp_path / "program.pt2")
    code = f"""
import torch, tenter.torch
program = torch.export.load({str(tmp_path / "program.pt2")!r}).module()
print(tuple(program(torch.randn(3, 2, 4), torch.tensor([5, 2, 0, 3])).shape))
try: program(torch.randn(3, 2, 4), torch.tensor([5, 2, 0, -3]))
except ValueError as error: print(str(error).splitlines()[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "(3, 2, 9)",
        "repeats: expected non-negative counts, got -3 at position 3",
    ], done.stderr[-800:]


def test_vmap_over_some_of_the_arguments():
    x, counts = torch.randn(3, 4, 2), torch.tensor([[1, 0, 2, 3], [2, 2, 1, 1], [0, 0, 6, 0]])
    one = lambda x, c: tenter.repeat_interleave(x, c, 0)
    inner = torch.vmap(one, in_dims=(0, None))
    want = torch.stack([torch.stack([one(a, c) for a in x]) for c in counts])
    assert torch.equal(torch.vmap(inner, in_dims=(None, 0))(x, counts), want)
    want = torch.stack([torch.stack([one(a, c) for c in counts]) for a in x])
    assert torch.equal(torch.vmap(torch.vmap(one, in_dims=(None, 0)), in_dims=(0, None))(x, counts), want)


def test_positions_of_counts():
    """repeat_interleave of one argument."""
    counts = torch.tensor([[1, 0, 2, 3], [2, 2, 1, 1]], dtype=torch.int32)
    want = torch.stack([torch.repeat_interleave(c) for c in counts])
    got = torch.vmap(tenter.repeat_interleave)(counts)
    assert torch.equal(got, want) and got.dtype == want.dtype
    torch._dynamo.reset()
    compiled = torch.compile(lambda c: tenter.repeat_interleave(c), fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(counts[0]), want[0])
    with pytest.raises(ValueError, match="repeats: expected non-negative counts"):
        compiled(-counts[0])


def in_a_new_process(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-400:]


@pytest.mark.slow  # `test_first_calls.test_and_so_in_compiled_code` has a first call of one kind by default
def test_the_first_call_of_a_process_may_be_compiled():
    """Nothing that tenter sets up then makes its graph stale."""
    code = (
        "import torch, tenter\n"
        "f = torch.compile(lambda x: tenter.repeat(x, 2, 1), backend='eager', fullgraph=True, dynamic=True)\n"
        "f(torch.ones(2, 3))\n"
        "with torch.compiler.set_stance('fail_on_recompile'): assert f(torch.ones(4, 5)).shape == (8, 5)"
    )
    in_a_new_process(code)


@pytest.mark.slow
@pytest.mark.parametrize("call", [
    "with FakeTensorMode() as mode: y = make_fx(f)(mode.from_tensor(x))",
    "y = make_fx(torch.func.functionalize(f))(x)",
])  # fmt: skip
def test_the_first_call_of_a_process_may_be_followed(call):
    """What tenter sets up then is neither recorded nor made of the tracer's tensors: later calls are as quick."""
    code = (
        "import tenter, torch\n"
        "from torch.fx.experimental.proxy_tensor import make_fx\n"
        "from torch._subclasses.fake_tensor import FakeTensorMode\n"
        "f, x = lambda x: tenter.repeat(x, 2, 2), torch.ones(2, 3)\n"
        f"{call}\n"
        "assert 'aten' not in y.code, y.code\n"
        "from tenter._arrays import torch_tensors\n"
        "assert torch_tensors.is_ordinary(x)\n"
        "f(x)\n"
        "assert tenter._native.cached_call('repeat', x, 2, 2) is not None"
    )
    in_a_new_process(code)
