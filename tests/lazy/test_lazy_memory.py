"""Lazy arrays: whose memory they read and how much they take, what is refused, what they show."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch

import tenter
from error_helpers import refused
from memory_helpers import needs_linux
from program_helpers import prints
from sweeps import sampled
from tenter import lazy
from tenter.lazy import LazyArray

COUNTS = [1, 0, 2, 3]
X = np.arange(1.0, 13.0).reshape(4, 3)

# ---- read-only, and the input's memory

WRITES = [
    lambda s: s.__setitem__(0, 1), lambda s: s.__iadd__(1), lambda s: s.__imatmul__(s), lambda s: np.add(s, 1, out=s),
    lambda s: np.copyto(s, 1), lambda s: s.sort(), lambda s: s.fill(0), lambda s: np.put(s, 0, 1),
]  # fmt: skip
TORCH_WRITES = [
    lambda s: s.__setitem__(0, 1), lambda s: s.__isub__(1), lambda s: s.add_(1), lambda s: torch.add(s, 1, out=s),
    lambda s: torch.relu_(s), lambda s: torch.nn.functional.relu(s, inplace=True), lambda s: s.copy_(torch.ones(7, 3)),
]  # fmt: skip
FORM = (
    r"s: expected an array to write to, as s\.materialize\(\) gives, got a lazy array, which is read-only\n  in [^\n]+"
)


@pytest.mark.parametrize("make, n", [(np.asarray, k) for k in range(len(WRITES))] + [(torch.from_numpy, k) for k in range(len(TORCH_WRITES))])  # fmt: skip
def test_writing_is_refused(make, n):
    x = make(X.copy())
    s = lazy.repeat_interleave(x, COUNTS, 0)
    with pytest.raises(TypeError, match=FORM):
        (WRITES if make is np.asarray else TORCH_WRITES)[n](s)
    assert (np.asarray(x) == X).all()


@pytest.mark.parametrize("make", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_shares_the_input_and_gives_away_none_of_it(make):
    x = make(X.copy())
    s = lazy.repeat_interleave(x, COUNTS, 0)
    again = lazy.repeat_interleave(lazy.repeat_interleave(s, [1, 2, 0, 1, 1, 1], 0), 2, 0)  # one map after another
    assert all(np.shares_memory(np.asarray(t.base), np.asarray(x)) for t in (s, s[1:4], s.T, again))
    results = [s[0], s[:1, 0][0], s.materialize(), s[[0]], lazy.repeat_interleave(x, 1, 0).materialize(), s[0, :2].real,
               lazy.repeat_interleave(x, 1, 0).T, lazy.repeat_interleave(x, 1, 0)[1:]]  # fmt: skip
    for y in results:
        if not np.isscalar(y):
            y[...] = -1  # allowed, and seen nowhere else
    assert (np.asarray(x) == X).all()
    x[1] = 5.0  # by no output
    x[0] = 7.0
    assert s[0, 0] == 7 and s.materialize()[0, 0] == 7


def test_the_input_may_lie_in_any_way():
    frozen = X.copy()
    frozen.flags.writeable = False
    for x in (frozen, X[::-1, ::2], np.asfortranarray(X), X[:0], X[:, :0], X[1:2], X.astype(">f8"), X.astype("M8[s]"),
              X.astype(str), X.astype(object)):  # fmt: skip
        counts = [2] * len(x)
        s, twin = lazy.repeat_interleave(x, counts, 0), tenter.repeat_interleave(x, counts, 0)
        assert np.array_equal(s, twin) and s.dtype == twin.dtype
        assert np.array_equal(s[1:] == s[1:], np.ones_like(twin[1:], bool))
    for x in (
        torch.arange(12.0).reshape(4, 3).T,
        torch.ones(3, 1).expand(3, 5),
        torch.ones(2, dtype=torch.complex64).conj(),
    ):
        assert torch.equal(lazy.repeat_interleave(x, 2, 0).materialize(), tenter.repeat_interleave(x, 2, 0))


def test_python_reads_it_as_an_array():
    s = lazy.repeat_interleave(np.arange(3.0), [1, 0, 2])
    assert len(s) == 3 and list(s) == [0, 2, 2] and 2 in s and 1 not in s and s.tolist() == [0, 2, 2]
    one = lazy.tile(torch.tensor([1]), 1)
    assert int(one) == float(one) == complex(one) == 1 and bool(one) and [10, 20][one] == 20 and s.item(1) == 2
    assert s.size == 3 and s.nbytes == 24 and s.ndim == 1 and s.shape == (3,) and s.itemsize == 8
    for again in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        assert np.array_equal(again, s) and isinstance(again, LazyArray)
    t = lazy.repeat_interleave(torch.ones(2, 3), 2, 0)
    assert t.size() == t.shape == torch.Size((4, 3)) and t.size(0) == 4 and t.numel() == 12 and t.dim() == 2
    assert t.device == torch.device("cpu") and not t.requires_grad and torch.zeros_like(t).shape == (4, 3)
    with pytest.raises(TypeError, match="unhashable"):
        hash(s)
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'; s\.materialize\(\) may have it"):
        s.nothing
    with pytest.raises(ValueError, match="no memory to share"):
        np.asarray(s, copy=False)


def test_numpy_writes_elsewhere_and_torch_joins():
    s, out = lazy.repeat_interleave(np.arange(2.0), 2), np.ones(4)
    assert np.add(s, 1, out=out) is out and out.tolist() == [1, 1, 2, 2]
    out += s
    assert out.tolist() == [1, 1, 3, 3] and np.concatenate([s, [7]]).tolist() == [0, 0, 1, 1, 7]
    t = lazy.repeat_interleave(torch.ones(2), 2)
    assert torch.cat([t, torch.zeros(1)]).tolist() == [1, 1, 1, 1, 0]
    assert np.add.reduce(s) == 2 and np.asarray(t).tolist() == [1, 1, 1, 1]


def test_transforms_take_what_needs_no_map():
    x = torch.rand(4, 3)

    def total(a):
        return (lazy.repeat_interleave(a, COUNTS, 0) * 2).sum()

    assert torch.equal(torch.func.grad(total)(x)[:, 0], torch.tensor(COUNTS) * 2.0)
    with pytest.raises(
        TypeError, match=r"x: expected an array or a plain tensor to apply maps to, got a torch\.Tensor under"
    ):
        torch.func.grad(lambda a: lazy.repeat_interleave(a, COUNTS, 0).cumsum(0).sum())(x)


# ---- memory

LEAST_SAVED = 128  # of a gigabyte: no expression grows by more than 8 MiB


@pytest.mark.slow
@needs_linux
@pytest.mark.parametrize("library", sampled(["numpy", "torch"], 2))
def test_work_on_a_gigabyte_takes_a_few_megabytes(library):
    peaks = dict(line.split(":") for line in prints("lazy_peaks.py", library).splitlines())
    assert len(peaks) >= 23 and all(float(peak) < 1024 / LEAST_SAVED for peak in peaks.values()), peaks


# ---- errors

ERRORS = [
    (lambda f: lazy.repeat_interleave(f(X), [1, 2], 0), "repeats", ValueError, "4 counts, one per position of dim 0"),
    (lambda f: lazy.repeat_interleave(f(X), [1, 2, -1, 0], 0), "repeats", ValueError, "-1 at position 2"),
    (lambda f: lazy.repeat_interleave(f(X), [1.0] * 4, 0), "repeats", TypeError, "integer counts"),
    (lambda f: lazy.repeat_interleave(f(X), True, 0), "repeats", TypeError, "bool"),
    (lambda f: lazy.repeat_interleave(f(X), 2**62, 0), "repeats", ValueError, "2**63"),
    (lambda f: lazy.repeat_interleave(f(X), 2, 2), "dim", IndexError, "got 2"),
    (lambda f: lazy.repeat_interleave(f(X), 2, 0, output_size=9), "output_size", ValueError, "expected 8"),
    (lambda f: lazy.repeat_interleave("text", 2), "x", TypeError, "an array"),
    (lambda f: lazy.repeat(f(X), 2), "sizes", ValueError, "at least 2 numbers"),
    (lambda f: lazy.tile(f(X), -1), "dims", ValueError, "-1"),
    (lambda f: lazy.tile(f(X), (2**40, 2**40)), "dims", MemoryError, "2**63"),
    (lambda f: lazy.interpolate(f(X), 4), "x", ValueError, "batch, channels"),
    (lambda f: lazy.resize(f(X), 4, axes=3), "axes", IndexError, "3"),
    (lambda f: lazy.resize(f(X), 5, axes=1, edge="constant", value=3), "value", ValueError, "got 3"),
    (lambda f: lazy.repeat_interleave(f(X), 2**40, 0).materialize(), "result", MemoryError, "GiB"),
    (lambda f: lazy.repeat_interleave(f(X), 2, 0).segment_sum([1, 2]), "lengths", ValueError, "a sum of 8"),
    (lambda f: lazy.repeat_interleave(f(X), 2, 0).segment_sum([[8]]), "lengths", ValueError, "1-D"),
    (lambda f: lazy.repeat_interleave(f(X), 2, 0).segment_sum([9, -1]), "lengths", ValueError, "non-negative"),
    (lambda f: lazy.repeat_interleave(f(X), 2, 0).segment_sum([8.0]), "lengths", TypeError, "integer counts"),
    (lambda f: lazy.repeat_interleave(f(X), 2, 0).segment_sum([8], 2), "axis", IndexError, "got 2"),
    (lambda f: lazy.repeat_interleave(f(X > 0), 2, 0).segment_sum([8]), "s", TypeError, "bool"),
    (lambda f: lazy.to_arrow(f(X)), "s", TypeError, "a lazy array"),
    (lambda f: tenter.repeat_interleave(lazy.tile(f(X), 2), 2), "x", TypeError, "x.materialize()"),
]  # fmt: skip


@pytest.mark.parametrize("kind", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
@pytest.mark.parametrize("n", range(len(ERRORS)))
def test_errors(n, kind):
    call, argument, error, words = ERRORS[n]
    refused(lambda: call(kind), argument, error, [words])


SHAPES = [
    lambda s: s + s.base,
    lambda s: s[9],
    lambda s: s[0, 0, 0],
    lambda s: s[1.5],
    lambda s: s @ s,
    lambda s: s.sum(5),
]


@pytest.mark.parametrize("make", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
@pytest.mark.parametrize("call", SHAPES)
def test_errors_of_the_library_are_its_own(call, make):
    s = lazy.repeat_interleave(make(X), COUNTS, 0)

    class Twin:  # the materialized array, with the base that the call asks for
        base = s.base
        __getitem__ = lambda self, key: s.materialize()[key]
        __add__ = lambda self, other: s.materialize() + other
        __matmul__ = lambda self, other: s.materialize() @ s.materialize()
        sum = lambda self, dim: s.materialize().sum(dim)

    raised = []
    for either in (s, Twin()):
        with pytest.raises(Exception) as caught:
            call(either)
        raised.append(caught.type)
    assert raised[0] is raised[1]


# ---- compiled code


def compiled(x):
    s = lazy.repeat_interleave(x * 2, COUNTS, 0)
    t = torch.exp(s) + s[:, :1]
    return t.sum(0) + 1, t[1:3].materialize(), s.segment_sum(COUNTS), s.shape, s @ x[:3, :2]


@pytest.mark.slow
def test_compiled_code_breaks_its_graph_for_lazy_arrays(fresh_compiler):
    x = torch.from_numpy(X).requires_grad_()
    want, got = compiled(x), torch.compile(compiled, backend="aot_eager")(x)
    assert isinstance(got[-1], LazyArray) and got[3] == want[3]
    for a, b in zip((*got[:3], got[-1].materialize()), (*want[:3], want[-1].materialize())):
        assert torch.equal(a, b)
        assert torch.equal(*(torch.autograd.grad(y.sum(), x, retain_graph=True)[0] for y in (a, b)))
    torch._dynamo.reset()  # which keeps graphs of a function whatever fullgraph says
    with pytest.raises(Exception, match=r"tenter\.lazy: expected code without fullgraph=True, as lazy arrays"):
        torch.compile(compiled, fullgraph=True, backend="aot_eager")(x)


def test_counts_on_a_device_are_read_by_the_host(monkeypatch):
    from tenter.lazy import making

    class OnDevice(torch.Tensor):
        """A tensor that is somewhere else until it is asked for."""

    counts = torch.tensor(COUNTS).as_subclass(OnDevice)
    monkeypatch.setattr(making, "on_device", lambda x: type(x) is OnDevice)
    monkeypatch.setattr(OnDevice, "cpu", lambda self: self.as_subclass(torch.Tensor))
    s = lazy.repeat_interleave(torch.from_numpy(X), counts, 0)
    assert torch.equal(s.materialize(), tenter.repeat_interleave(torch.from_numpy(X), COUNTS, 0))


@needs_linux
def test_tables_without_room_are_refused_in_our_words():
    words = "memory: expected enough for a result and its tables, got none from the system\n"
    assert prints("tables_without_room.py") == 2 * words
