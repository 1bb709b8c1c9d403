"""Hostile input: operators called by hand, storage that is gone, memory that is refused. Nothing crashes or is changed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

import tenter
from program_helpers import prints
from test_errors import ERRORS


@pytest.mark.filterwarnings("ignore")
def test_tensors_that_are_refused():
    x = torch.zeros(1, 1, 4)
    shrunk = torch.zeros(1, 1, 4)
    shrunk.untyped_storage().resize_(8)
    for bad, words in [
        (x.to_sparse(), "plain tensor, got a sparse"),
        (torch.nested.nested_tensor([x]), "plain tensor, got a nested"),
        (torch.quantize_per_tensor(x, 0.1, 0, torch.quint8), "plain tensor, got a nested or quantized"),
        (shrunk, "storage is too small"),
    ]:
        for call in (
            lambda: tenter.repeat_interleave(bad, 2),
            lambda: tenter.interpolate(bad, 2),
            lambda: tenter.repeat(bad, 2, 2, 2),
            lambda: tenter.tile(bad, 2),
            lambda: tenter.maps.Copy.every(4, 2).apply(bad, 2),
        ):
            with pytest.raises(TypeError, match=words):
                call()
    short = torch.ones(3, dtype=torch.int64)
    short.untyped_storage().resize_(8)
    with pytest.raises(TypeError, match="storage is too small"):
        tenter.repeat_interleave(torch.zeros(3), short, 0)


def shrunk(x):
    x.untyped_storage().resize_(0)
    return x


def by_hand():
    """Registered operators, which anyone can put into a graph, with arguments that the public functions never pass."""
    ops, x, image, i64 = torch.ops.tenter, torch.zeros(2, 3), torch.zeros(1, 2, 4, 5), torch.int64
    rule = ("linear", False, False, False)
    return [
        lambda: ops.repeat(x, [-1, 2], False),
        lambda: ops.repeat(x, [2], False),
        lambda: ops.repeat(x, [2**62, 2**62], False),
        lambda: ops.repeat_adjoint(x, [5, 5], [2, 3], False),
        lambda: ops.repeat_adjoint(x, [], [2, 3], False),
        lambda: ops.repeat_counts(x, torch.tensor([0, 5, 1]), 0, 1),
        lambda: ops.repeat_counts(x, torch.tensor([0, 5, 1]), 9, 1),
        lambda: ops.repeat_counts(x, torch.tensor([0.0, 5, 7]), 0, 7),
        lambda: ops.repeat_counts(x, torch.tensor([0, 5, 7]), 0, 8),
        lambda: ops.repeat_counts(x, torch.tensor([-1, 5, 7]), 0, 7),
        lambda: ops.repeat_counts_adjoint(x, torch.tensor([0, 1, 9]), 0),
        lambda: ops.repeat_counts_adjoint(x, torch.tensor([], dtype=i64), 0),
        lambda: ops.repeat_counts_adjoint(x, torch.tensor(2), 0),
        lambda: ops.interpolate(image, [3], None, *rule),
        lambda: ops.interpolate(image, [3, -3], None, *rule),
        lambda: ops.interpolate(image, [3, 3], [1.0], *rule),
        lambda: ops.interpolate(image, [3, 3], None, "bogus", False, False, False),
        lambda: ops.interpolate(image.bool(), [3, 3], None, *rule),
        lambda: ops.interpolate(image, [2**40, 2**20], None, *rule),
        lambda: ops.interpolate_adjoint(image, [3], None, *rule),
        lambda: ops.interpolate_adjoint(image, [3, 0], None, *rule),
        lambda: ops.interpolate_adjoint(image, [3, -5], None, *rule),
        lambda: ops.offsets(torch.tensor([1.5]), 1, None),
        lambda: ops.offsets(torch.tensor(1), 1, None),
        lambda: ops.offsets(torch.tensor([1, 2]), 5, None),
        lambda: ops.repeat_counts(x, shrunk(torch.tensor([0, 5, 7])), 0, 7),
        lambda: ops.repeat_counts(x, torch.tensor([0, 5, 7], device="meta"), 0, 7),
        lambda: ops.repeat_counts(x, torch.tensor([0, 5, 7]), -1, 7),
        lambda: ops.repeat(shrunk(x.clone()), [2, 2], False),
        lambda: ops.repeat_adjoint(shrunk(x.bool()), [1, 3], [2, 1], False),
        lambda: ops.interpolate(image, [3, 3], [0.0, 1.0], *rule),
        lambda: ops.interpolate(image, [3, 3], [float("nan"), 1.0], *rule),
        lambda: ops.interpolate(image, [3, 3], None, "lanczos", False, False, False),
        lambda: ops.offsets(shrunk(torch.tensor([1, 2])), 2, None),
        lambda: ops.total(torch.tensor([], dtype=i64)),
        lambda: ops.total(torch.tensor(3)),
    ]


@pytest.mark.parametrize("n", range(len(by_hand())))
def test_operators_called_by_hand(n):
    tenter.torch.report()  # registers them
    with pytest.raises((TypeError, ValueError, IndexError, MemoryError)):
        by_hand()[n]()


def test_a_failed_call_leaves_everything_unchanged():
    x, out = np.arange(6.0).reshape(2, 3), np.full((2, 6), 7.0)
    for bad in (
        lambda: tenter.maps.Copy.every(4, 2).apply(x, 1, out=out),
        lambda: tenter.maps.Copy.every(3, 3).apply(x, 1, out=out),
    ):
        with pytest.raises(ValueError):
            bad()
    assert (out == 7).all() and x.ravel().tolist() == list(range(6))


def test_hostile_input_never_crashes():
    """In a process of its own, so that a crash is seen and not only an exception."""
    assert prints("hostile.py") == "survived\n"


def test_each_bad_input_in_its_own_process_of_this_list():
    """Every call of ERRORS again, one interpreter for all of one kind: a crash ends it."""
    code = (
        "import sys; sys.path.insert(0, {!r}); import numpy, torch; from test_errors import ERRORS\n"
        "for n, (call, _, error, _) in enumerate(ERRORS):\n"
        "    for kind in (numpy.asarray, torch.as_tensor):\n"
        "        try: call(kind)\n"
        "        except error: print(n)\n"
    ).format(str(__import__("pathlib").Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(n) for n in range(len(ERRORS)) for _ in range(2)]


def test_memory_that_the_allocator_refuses():
    assert prints("allocator_refuses.py") == "MemoryError\n"
