"""Hostile input: operators called by hand, storage that is gone, memory that is refused. Nothing crashes or is changed."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
import torch
from test_errors import ERRORS

import tenter
import tenter.image
import tenter.lazy
from program_helpers import prints
from roots import ROOT
from sweeps import sampled
from tenter import ragged
from tenter.maps import Copy


@pytest.mark.filterwarnings("ignore")
def test_tensors_that_are_refused():
    x = torch.zeros(1, 1, 4)
    for bad, words in [
        (x.to_sparse(), "plain tensor, got a sparse"),
        (torch.nested.nested_tensor([x]), "plain tensor, got a nested"),
        (torch.quantize_per_tensor(x, 0.1, 0, torch.quint8), "plain tensor, got a nested or quantized"),
    ]:
        for call in (
            lambda: tenter.repeat_interleave(bad, 2),
            lambda: tenter.interpolate(bad, 2),
            lambda: tenter.repeat(bad, 2, 2, 2),
            lambda: tenter.tile(bad, 2),
            lambda: tenter.maps.Copy.repeat_each(4, 2).apply(bad, 2),
        ):
            with pytest.raises(TypeError, match=words):
                call()


@pytest.mark.slow  # calls of the kind "storage too small" are among the fuzzer's
@pytest.mark.parametrize("rows, every", [(6, 9), (6, 1), (40_000, 1)])
def test_a_storage_that_is_too_small_is_refused_wherever_it_is_read_or_written(rows, every):
    assert prints("storages.py", rows, every, timeout=900) == "refused\n"


def test_memory_of_tensors_is_read_in_one_place():
    """`address`, `to_numpy` and the core's `read_array` see to it that storages hold what they give. The rest is in
    memory of tenter's own, or compared and not read."""
    reads = re.compile(r"(data_ptr|\.numpy)\(\)")
    found = {}
    for path in sorted((ROOT / "src" / "tenter").rglob("*.py")):
        if n := len(reads.findall(path.read_text())):
            found[path.relative_to(ROOT / "src" / "tenter").as_posix()] = n
    assert found == {
        "_arrays/torch_tensors.py": 4,  # two of them say where a device's memory is aligned
        "_torch/device.py": 1,
        "_torch/executor.py": 1,
        "_torch/cached.py": 1,
        "_torch/segmented.py": 1,
        "_triton/launch.py": 1,  # after `address` of what a call was given
        "_triton/launches.py": 4,
        "_triton/prefix_sum.py": 1,
        "lazy/stretched.py": 2,
        "torch/normalized.py": 2,  # a result that was made just now
    }
    core = "".join(path.read_text() for path in (ROOT / "native").rglob("*.cpp"))
    assert core.count("torch.read(") == 2  # of an array's head, and of a result that was made just now


@pytest.mark.slow
def test_arguments_that_run_code_change_no_other_while_these_are_read():
    assert prints("objects.py", 1, timeout=600) == "answered\n"


def nested(kind):
    found = kind()
    for _ in range(100_000):
        found = kind([found])
    return found


DEEP = [
    lambda x, n: tenter.resize(x, n),
    lambda x, n: tenter.resize(n, 2),
    lambda x, n: tenter.resize(x, [n, 2]),
    lambda x, n: tenter.resize(x, 2, axes=n),
    lambda x, n: tenter.resize(x, 2, axes=0, box=n),
    lambda x, n: tenter.resize(x, 2, axes=0, box=[n]),
    lambda x, n: tenter.resize(x, scale=n),
    lambda x, n: tenter.resize(x, 2, mode=n),
    lambda x, n: tenter.resize(x, 2, edge=n),
    lambda x, n: tenter.resize(x, 2, like=n),
    lambda x, n: tenter.resize(x, 2, antialias=n),
    lambda x, n: tenter.resize(x, 2, value=n, edge="constant"),
    lambda x, n: tenter.resize(x, 2, out=n),
    lambda x, n: tenter.interpolate(x[None], n),
    lambda x, n: tenter.interpolate(x[None], scale_factor=n),
    lambda x, n: tenter.interpolate(x[None], 2, mode=n),
    lambda x, n: tenter.interpolate(n, 2),
    lambda x, n: tenter.image.resize(x, n),
    lambda x, n: tenter.repeat_interleave(x, n),
    lambda x, n: tenter.repeat_interleave(x, n, 0),
    lambda x, n: tenter.repeat_interleave(x, 2, n),
    lambda x, n: tenter.repeat_interleave(x, 2, 0, output_size=n),
    lambda x, n: tenter.repeat_interleave(n),
    lambda x, n: tenter.repeat(x, n),
    lambda x, n: tenter.repeat(x, 2, n),
    lambda x, n: tenter.tile(x, n),
    lambda x, n: tenter.tile(n, 2),
    lambda x, n: tenter.expand(x, n),
    lambda x, n: ragged.row_ids(n),
    lambda x, n: ragged.lengths(n),
    lambda x, n: ragged.ranges(n, [1]),
    lambda x, n: ragged.mask([1], n),
    lambda x, n: ragged.pad(x, n),
    lambda x, n: ragged.pad(n, [1]),
    lambda x, n: ragged.Plan.from_mask(n).lengths,
    lambda x, n: ragged.Plan(n),
    lambda x, n: ragged.segment_sum(x, n),
    lambda x, n: ragged.repeat_padded(x, n),
    lambda x, n: ragged.spans_to_mask(n, n, 3),
    lambda x, n: tenter.lazy.resize(x, n),
    lambda x, n: tenter.lazy.repeat_interleave(x, n, 0),
    lambda x, n: tenter.lazy.repeat_interleave(x, 2, 0)[n],
    lambda x, n: tenter.lazy.repeat_interleave(x, 2, 0)[[0, n]],
    lambda x, n: tenter.lazy.repeat_interleave(x, 2, 0) + n,
    lambda x, n: Copy.repeat_each(4, 2).apply(n, 0),
    lambda x, n: Copy.repeat_each(4, 2).apply(x, n),
]


@pytest.mark.parametrize("kind", sampled([list, tuple], 2))
def test_lists_in_a_hundred_thousand_others_are_refused_as_others_are(kind):
    deep = nested(kind)
    for x in (np.ones((4, 4)), torch.ones(4, 4)):
        for k, call in enumerate(DEEP):
            if kind is tuple and k == 41:
                continue  # one index for each dim, as a tuple is for PyTorch
            with pytest.raises((TypeError, ValueError)) as raised:
                call(x, deep)
            assert re.match(r"\w[\w. ]*: expected [^\n]+, got [^\n]+\n  in [\w.]+\(", str(raised.value)), (
                k,
                raised.value,
            )


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
        lambda: tenter.maps.Copy.repeat_each(4, 2).apply(x, 1, out=out),
        lambda: tenter.maps.Copy.repeat_each(3, 3).apply(x, 1, out=out),
    ):
        with pytest.raises(ValueError):
            bad()
    assert (out == 7).all() and x.ravel().tolist() == list(range(6))


def test_hostile_input_never_crashes():
    """In a process of its own, so that a crash is seen and not only an exception."""
    assert prints("hostile.py") == "survived\n"


@pytest.mark.slow
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


@pytest.mark.slow
def test_memory_that_the_allocator_refuses():
    assert prints("allocator_refuses.py") == "MemoryError\n"
