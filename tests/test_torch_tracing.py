"""Programs that are traced, exported and vectorized: lengths that depend on data, other processes."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

import tenter

pytestmark = pytest.mark.usefixtures("fresh_compiler")
UNKNOWN = {
    "signal to size": ((1, 2, 4), 2, lambda y: tenter.interpolate(y, 9, mode="linear")),
    "signal by scale": ((1, 2, 4), 2, lambda y: tenter.interpolate(y, scale_factor=2.0, mode="linear")),
    "image to size": ((1, 2, 5, 4), 3, lambda y: tenter.interpolate(y, (9, 9), mode="bicubic")),
    "image by scale": ((1, 4, 5, 4), 3, lambda y: tenter.interpolate(y, scale_factor=1.5, mode="nearest-exact")),
    "batch": ((4, 2, 5, 6), 0, lambda y: tenter.interpolate(y, 7, mode="bilinear", antialias=True)),
    "repeat": ((4, 2), 0, lambda y: tenter.repeat(y, 2, 3)),
    "counts": ((4, 2), 0, lambda y: tenter.repeat_interleave(y, torch.ones(y.shape[0], dtype=torch.int64), 0)),
}


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
        "repeats: expected counts that are not negative, got -3 at position 3",
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
    with pytest.raises(ValueError, match="repeats: expected counts that are not negative"):
        compiled(-counts[0])


def test_the_first_call_of_a_process_may_be_compiled():
    """Nothing that tenter sets up then makes its graph stale."""
    code = (
        "import torch, tenter\n"
        "f = torch.compile(lambda x: tenter.repeat(x, 2, 1), backend='eager', fullgraph=True, dynamic=True)\n"
        "f(torch.ones(2, 3))\n"
        "with torch.compiler.set_stance('fail_on_recompile'): assert f(torch.ones(4, 5)).shape == (8, 5)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-400:]


@pytest.mark.parametrize("call", [
    "with FakeTensorMode() as mode: y = make_fx(f)(mode.from_tensor(x))",
    pytest.param("y = make_fx(torch.func.functionalize(f))(x)", marks=pytest.mark.slow),
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
        "assert torch_tensors.plain(x)\n"
        "f(x)\n"
        "assert tenter._native.known_call('repeat', x, 2, 2) is not None"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-400:]
