"""Errors under transforms and the compiler are those of eager calls."""

from __future__ import annotations

import itertools

import pytest
import torch

import tenter
import transforms
from sweeps import sampled
from tenter._arrays.oldest_versions import older

pytestmark = pytest.mark.usefixtures("fresh_compiler")
X = torch.arange(12.0).reshape(4, 3)
# Found when the code runs: counts are values.
RUN_TIME = {
    "negative counts": (lambda x, c: tenter.repeat_interleave(x, c, 0), [1, -2, 1, 1]),
    "output_size too small": (lambda x, c: tenter.repeat_interleave(x, c, 0, output_size=6), [1, 3, 0, 3]),
    "output_size too large": (lambda x, c: tenter.repeat_interleave(x, c, 0, output_size=9), [1, 3, 0, 3]),
    "negative counts, right output_size": (
        lambda x, c: tenter.repeat_interleave(x, c, 0, output_size=1),
        [1, -2, 1, 1],
    ),
    "a sum past int64": (lambda x, c: tenter.repeat_interleave(x, c, 0), [2**62, 2**62, 2**62, 2**62]),
}
# Found while tracing: shapes, dtypes, words.
TRACE_TIME = {
    "wrong number of counts": lambda x: tenter.repeat_interleave(x, torch.tensor([1, 2, 3]), 0),
    "float counts": lambda x: tenter.repeat_interleave(x, torch.tensor([1.0, 2.0, 1.0, 1.0]), 0),
    "2-D counts": lambda x: tenter.repeat_interleave(x, torch.ones(2, 2, dtype=torch.int64), 0),
    "negative int": lambda x: tenter.repeat_interleave(x, -1, 0),
    "bool": lambda x: tenter.repeat_interleave(x, True, 0),
    "dim": lambda x: tenter.repeat_interleave(x, 2, 5),
    "output_size of an int": lambda x: tenter.repeat_interleave(x, 2, 0, output_size=9),
    "repeat, too few sizes": lambda x: tenter.repeat(x, 2),
    "repeat, axis": lambda x: tenter.repeat(x, 2, axis=0),
    "tile, negative": lambda x: tenter.tile(x, (2, -1)),
    "tile, a float": lambda x: tenter.tile(x, 2.0),
    "expand, a dim that cannot": lambda x: tenter.expand(x, 5, 3),
    "interpolate, 2-d": lambda x: tenter.interpolate(x, 4),
    "mode": lambda x: tenter.interpolate(x[None], 4, mode="biliner"),
    "mode of another rank": lambda x: tenter.interpolate(x[None], 4, mode="bilinear"),
    "size and scale_factor": lambda x: tenter.interpolate(x[None], 4, scale_factor=2.0),
    "size 0": lambda x: tenter.interpolate(x[None], 0),
    "scale_factor 0": lambda x: tenter.interpolate(x[None], scale_factor=0.0),
    "antialias of nearest": lambda x: tenter.interpolate(x[None], 4, antialias=True),
    "align_corners of nearest": lambda x: tenter.interpolate(x[None], 4, align_corners=True),
}
# The same for axes of length 0, and for results that no memory holds.
EMPTY, IMAGE = torch.zeros(1, 2, 0, 5), torch.zeros(1, 2, 20, 4)
LENGTHS = {
    "a spatial dim of 0": (lambda x: tenter.interpolate(x, 4), EMPTY),
    "a spatial dim of 0, scale_factor": (lambda x: tenter.interpolate(x, scale_factor=0.5, mode="bilinear"), EMPTY),
    "a spatial dim of 0, area": (lambda x: tenter.interpolate(x, (3, 3), mode="area"), EMPTY),
    "an axis of 0": (lambda x: tenter.resize(x, 4, axes=2), EMPTY),
    "a factor that gives 0": (lambda x: tenter.interpolate(x, scale_factor=0.01), IMAGE),
    "a scale that gives 0": (lambda x: tenter.resize(x, scale=0.01, axes=2), IMAGE),
    "a factor past int64": (lambda x: tenter.interpolate(x, scale_factor=1e18), IMAGE),
    "a factor past memory": (lambda x: tenter.interpolate(x, scale_factor=1e17), IMAGE),
    "sizes past memory": (lambda x: tenter.interpolate(x, 2**40), IMAGE),
    "one size past memory": (lambda x: tenter.resize(x, 2**60, axes=2), IMAGE),
    "a count past int64": (lambda x: tenter.repeat_interleave(x, 2**62, 2), IMAGE),
    "a count past memory": (lambda x: tenter.repeat_interleave(x, 2**57, 2), IMAGE),
    "repeat past memory": (lambda x: tenter.repeat(x, 1, 2**61, 1, 1), IMAGE),
    "tile past memory": (lambda x: tenter.tile(x, (2**61, 1, 1, 1)), IMAGE),
}
REFUSALS = (TypeError, ValueError, IndexError, MemoryError)


def refusal(f, *args):
    """Kind and first line of the error; the rest shows the call, which is an operator's in compiled code."""
    with pytest.raises(REFUSALS) as caught:
        f(*args)
    return type(caught.value), str(caught.value).splitlines()[0]


# Compiling takes a second, of C++ seconds.
@pytest.mark.parametrize("name, backend", sampled(itertools.product(RUN_TIME, ("aot_eager", "inductor")), 4, "-".join))
def test_errors_at_run_time(name, backend):
    """The same error, and the same graph takes good counts before and after."""
    f, counts = RUN_TIME[name]
    eager = refusal(f, X, torch.tensor(counts))
    compiled = torch.compile(lambda x, c: f(x.sin(), c).cos(), backend=backend, fullgraph=True)
    for x in (X, X.clone().requires_grad_()):
        assert refusal(compiled, x, torch.tensor(counts)) == eager
    if "output_size" not in name:
        assert compiled(X, torch.tensor([1, 3, 0, 3])).shape == (7, 3)
        assert refusal(compiled, X, torch.tensor(counts)) == eager


# Dynamo takes a second or two to give up on each.
@pytest.mark.slow
@pytest.mark.parametrize("name", TRACE_TIME)
def test_errors_while_tracing(name):
    """Under fullgraph Dynamo wraps them; otherwise it leaves the call to eager code, whose error this is."""
    f = TRACE_TIME[name]
    eager = refusal(f, X)
    assert refusal(torch.compile(lambda x: f(x * 1), backend="aot_eager"), X) == eager
    torch._dynamo.reset()
    with pytest.raises((torch._dynamo.exc.TorchDynamoException, *REFUSALS)) as caught:
        torch.compile(lambda x: f(x * 1), backend="aot_eager", fullgraph=True)(X)
    assert eager[1] in str(caught.value)


@pytest.mark.parametrize("name", sampled(LENGTHS, len(LENGTHS)))
def test_errors_of_lengths_are_those_of_eager_calls(name):
    f, x = LENGTHS[name]
    eager = refusal(f, x)
    assert refusal(torch.compile(lambda x: f(x * 1), backend="aot_eager"), x) == eager
    torch._dynamo.reset()
    with pytest.raises((torch._dynamo.exc.TorchDynamoException, *REFUSALS)) as caught:
        torch.compile(lambda x: f(x * 1), backend="aot_eager", fullgraph=True)(x)
    # PyTorch 2.8 says that there was an exception, and not which.
    unnamed = older(torch.__version__, (2, 10)) and "Observed exception" in str(caught.value)
    assert unnamed or eager[1] in str(caught.value)


@pytest.mark.parametrize("name", TRACE_TIME)
def test_errors_of_export(name):
    with pytest.raises(REFUSALS) as caught:
        torch.export.export(transforms.c.OfOne(TRACE_TIME[name]), (X,), strict=False)
    assert refusal(TRACE_TIME[name], X)[1] in str(caught.value)


def test_vmap_refuses_counts_of_unequal_sums():
    counts = torch.tensor([[1, 2, 0, 1], [1, 1, 1, 4]])
    per_row = torch.func.vmap(lambda c: tenter.repeat_interleave(X, c, 0))
    kind, line = refusal(per_row, counts)
    assert kind is ValueError and line == (
        "repeats: expected counts of equal sums for all that vmap maps over, got sums [4, 7]"
    )
    assert per_row(torch.tensor([[1, 2, 0, 1], [0, 0, 4, 0]])).shape == (2, 4, 3)
    nested = torch.func.vmap(per_row)
    assert refusal(nested, torch.stack([counts, counts])) == (kind, line.replace("[4, 7]", "[4, 7, 4, 7]"))
    with_total = torch.func.vmap(lambda c: tenter.repeat_interleave(X, c, 0, output_size=4))
    assert refusal(with_total, counts) == (ValueError, "output_size: expected 7, the sum of the counts, got 4")
    assert refusal(torch.compile(per_row, backend="aot_eager", fullgraph=True), counts) == (kind, line)


def test_a_plain_if_on_an_unknown_size_breaks_the_graph():
    """As of PyTorch's own function: there is no one graph of it."""

    def f(x, counts):
        y = tenter.repeat_interleave(x, counts, 0)
        return y.sin() if y.shape[0] > 6 else y.cos()

    with pytest.raises(torch._dynamo.exc.UserError, match="data-dependent expression"):
        torch.compile(f, backend="aot_eager", fullgraph=True)(X, torch.tensor([1, 3, 0, 3]))
