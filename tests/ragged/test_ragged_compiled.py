"""Compiled ragged code on the host verifies what eager code verifies, with the same errors, and keeps right values."""

from __future__ import annotations

import itertools

import pytest
import torch

from sweeps import sampled
from tenter import ragged

T = torch.tensor
X = torch.arange(12.0).reshape(6, 2)
# A call, values that it takes, and values that it refuses.
CALLS = {
    "row ids": (lambda v: ragged.Plan.from_row_ids(v, 3).lengths, [0, 0, 2], ([0, 2, 1], [0, 2, 3], [-1, 2, 2])),
    "row ids alone": (lambda v: ragged.Plan.from_row_ids(v).lengths, [0, 0, 2], ([0, 2, 1], [-1, 0, 1])),
    "positions": (lambda v: ragged.Plan.from_positions(v).lengths, [0, 1, 0], ([0, 1, 3, 0], [1, 2, 0])),
    "mask": (
        lambda v: ragged.Plan.from_mask(v > 0).lengths,
        [[1, 1, 0], [0, 0, 0]],
        ([[1, 0, 1], [1, 1, 0]], [[0, 1, 0]]),
    ),
    "mask of ints": (
        lambda v: ragged.Plan.from_mask(v, padding_side="left").mask(4),
        [[0, 1, 1], [0, 0, 0]],
        ([[1, 0, 1], [1, 1, 1]], [[1, 1, 0]], [[0, 1, 2]]),
    ),
    "spans": (lambda v: ragged.spans_to_mask(v, 2 * v, 4), [0, 1, 2], ([0, 3], [0, -1])),
    "offsets": (lambda v: ragged.Plan.from_offsets(v).row_ids, [0, 2, 3], ([0, 3, 2], [1, 3, 4])),
    "max_len": (lambda v: ragged.mask(v, max_len=2), [0, 2, 1], ([1, 3], [1, -3])),
    "plan of row ids": (lambda v: ragged.Plan.from_row_ids(v, 3).sum(X[:3]), [0, 1, 1], ([0, 2, 1],)),
    "plan of a mask": (lambda v: ragged.Plan.from_mask(v > 0).lengths, [[1, 1, 0]], ([[1, 0, 1]],)),
    "lengths": (lambda v: ragged.row_ids(v), [1, 2], ([1, -1],)),
    "total": (lambda v: ragged.row_ids(v, output_size=3), [1, 2], ([1, 1],)),
}


def first_line(call):
    with pytest.raises(ValueError) as raised:
        call()
    return str(raised.value).splitlines()[0]


@pytest.mark.parametrize("backend, name", sampled(itertools.product(["eager", "inductor"], CALLS), 2 * len(CALLS)))
def test_compiled_code_refuses_what_eager_code_refuses(backend, name):
    torch._dynamo.reset()
    call, right, wrong = CALLS[name]
    compiled = torch.compile(call, fullgraph=True, backend=backend)
    assert torch.equal(compiled(T(right)), call(T(right)))
    for values in wrong:
        assert first_line(lambda: compiled(T(values))) == first_line(lambda: call(T(values))), values


PADDED = torch.ones(3, 4, 2)
METHODS = {
    "pad": lambda plan: plan.pad(X, 4),
    "pad on the left": lambda plan: plan.pad(X, 4, padding_side="left"),
    "unpad": lambda plan: plan.unpad(PADDED),
    "unpad from the left": lambda plan: plan.unpad(PADDED, padding_side="left"),
    "sum": lambda plan: plan.sum(X),
    "softmax along axis 1": lambda plan: plan.softmax(X.T, 1),
    "repeat": lambda plan: plan.repeat(X[:3]),
    "to": lambda plan: plan.to("cpu").lengths,
    "indices": lambda plan: plan.row_ids + plan.positions,
}
MAKERS = {
    "lengths": ragged.Plan,
    "a mask": lambda n: ragged.Plan.from_mask(torch.arange(4) < n[:, None], padding_side="right"),
    "row ids": lambda n: ragged.Plan.from_row_ids(torch.arange(3).repeat_interleave(n, output_size=6), 3),
    "outside": None,
}


@pytest.mark.parametrize("method, maker", sampled(itertools.product(METHODS, MAKERS), 9))
def test_one_graph_holds_a_plan_and_its_methods(method, maker):
    """In each PyTorch: older compilers do not follow all of what a named tuple and a class can do."""
    torch._dynamo.reset()
    call, make, lengths = METHODS[method], MAKERS[maker], T([2, 0, 4])
    outside = ragged.Plan(lengths)
    want = call(outside), outside.sum(X)  # it holds plans for layouts now
    f = lambda n: (call(outside if make is None else make(n)), n + 1)
    assert torch.equal(torch.compile(f, fullgraph=True, backend="eager")(lengths)[0], want[0])
