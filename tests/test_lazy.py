"""Lazy arrays: every expression equals its materialized twin, with gradients; what is not needed is not made."""

from __future__ import annotations

import copy
import os
import pickle
import re
import warnings

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings, strategies as st

import tenter
from lazy_expressions import assert_twins, both, changes, stretched
from memory_helpers import needs_linux
from program_helpers import prints
from tenter import lazy
from tenter.lazy import LazyArray

# TENTER_LAZY_EXPRESSIONS: how many random expressions, for long runs.
MANY = settings(
    max_examples=int(os.environ.get("TENTER_LAZY_EXPRESSIONS", 300)),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
COUNTS = [1, 0, 2, 3]


@MANY
@given(st.data())
def test_expressions_equal_their_materialized_twins(data):
    library, dtype, (s, twin), stretch = data.draw(stretched())
    assert_twins(s, twin)
    x = s.base
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(data.draw(st.integers(1, 3))):
            if not isinstance(s, LazyArray):
                break
            pair = both(data.draw(changes(library, dtype, twin, stretch, x)), s, twin)
            if pair is None:
                break
            rounded_to = str(twin.dtype).removeprefix("torch.")
            s, twin = (y[0] if isinstance(pair[1], tuple) else y for y in pair)
            assert_twins(s, twin, rounded_to)
            if isinstance(s, LazyArray):
                twin = s.materialize()  # so that what differs by rounding does not compare unlike in the next step


# ---- on the small side: what is lazy stays so, and the result is not made from the stretched array

X = np.arange(1.0, 13.0).reshape(4, 3)
STAYS = {
    "ufunc": lambda f, s: f.exp(s),
    "comparison": lambda f, s: s > 3,
    "scalars": lambda f, s: 2 - s * 3 / 4 + 1,
    "constant along the stretched dim": lambda f, s: s * s.base[:1] + s.base[0],
    "equally stretched": lambda f, s: s * lazy.repeat_interleave(s.base + 1, COUNTS, 0),
    "where": lambda f, s: f.where(s > 3, s, 0),
    "several results": lambda f, s: f.frexp(s)[0],
    "slice": lambda f, s: s[1:5],
    "other dims": lambda f, s: s[:, 1],
    "picked columns": lambda f, s: s[:, [2, 0, 0]],
    "new dim": lambda f, s: s[:, None],
    "sum of the other dim": lambda f, s: s.sum(1),
    "largest of the other dim": lambda f, s: f.amax(s, 1),
    "product": lambda f, s: s @ s.base[:3, :2],
    "product of both sides": lambda f, s: s @ lazy.repeat_interleave(s.base[:3], 2, 1),
    "transposed": lambda f, s: s.T + 1,
    "stretched again": lambda f, s: lazy.tile(lazy.repeat_interleave(s, [1, 2, 0, 1, 1, 1], 0), (1, 2)),
}  # fmt: skip


@pytest.mark.parametrize("make", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
@pytest.mark.parametrize("name", STAYS)
def test_what_stays_lazy(name, make):
    s = lazy.repeat_interleave(make(X), COUNTS, 0)
    y = STAYS[name](np if make is np.asarray else torch, s)
    assert isinstance(y, LazyArray) and np.prod(y.base.shape) < np.prod(y.shape)
    assert "materialized" not in lazy.explain(y)


LINEAR = {
    "scalars": lambda s: 2 * s / 3 - 1,
    "constant": lambda s: s * s.base[:, :1] + s.base[:, :1],
    "equal": lambda s: s - lazy.resize(s.base * 2, 7, axes=1),
    "rows": lambda s: s.sum(0),
    "slice": lambda s: s[:, 2:5],
}


@pytest.mark.parametrize("make", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
@pytest.mark.parametrize("name", LINEAR)
def test_what_is_linear_goes_past_weights(name, make):
    y = LINEAR[name](lazy.resize(make(X), 7, axes=1))
    assert isinstance(y, LazyArray) and "materialized" not in lazy.explain(y)


REASONS = {
    "exp is not linear": lambda s: np.exp(s),
    "both operands are stretched": lambda s: s * s,
    "infinite": lambda s: s * np.inf,
    "an operand as long is not stretched": lambda s: s + np.ones((4, 7)),
    "by unlike maps": lambda s: s + lazy.resize(X, 7, axes=1, mode="cubic"),
    "do not sum to one": lambda s: _added_to(lazy.resize(X, 7, axes=1, box=[(-2, 3)], edge="constant")),
    "the product sums over": lambda s: s @ np.ones(7),
    "cumsum is no function": lambda s: np.cumsum(s),
    "a key other than": lambda s: s[True],
}


def _added_to(s):
    s + 1
    return s


@pytest.mark.parametrize("reason", REASONS)
def test_what_materializes_says_why(reason):
    s = lazy.resize(X, 7, axes=1)
    y = REASONS[reason](s)
    assert reason in lazy.explain(y if isinstance(y, LazyArray) else s)


def test_integers_are_not_weighed_before_they_are_rounded():
    x = np.array([[0, 1, 0, 3]], np.uint8)
    s = lazy.resize(x, 7, axes=1)
    assert np.array_equal(s + s, tenter.resize(x, 7, axes=1) * 2) and "rounded" in lazy.explain(s)
    photo = np.random.default_rng(0).integers(0, 256, (9, 8), np.uint8)
    both_axes = lazy.resize(photo, (31, 29), axes=(0, 1))  # rounded once, after both
    assert all(np.array_equal(both_axes[o], both_axes.materialize()[o]) for o in range(31))
    twice = tenter.resize(tenter.resize(photo, 31, axes=0), 29, axes=1)  # rounded after each
    assert np.array_equal(lazy.resize(lazy.resize(photo, 31, axes=0), 29, axes=1), twice)
    assert not np.array_equal(both_axes, twice)
    how = {"axes": (0, 1), "antialias": True, "like": "pillow"}
    part = lazy.resize(photo, (5, 4), **how)[1:4, 2]
    assert np.array_equal(part, tenter.resize(photo, (5, 4), **how)[1:4, 2])
    assert np.array_equal(lazy.resize(photo, (5, 4), **how).T, tenter.resize(photo, (5, 4), **how).T)


def test_what_is_not_finite_is_added_after_the_weights():
    """As weights below 0 would make NaN of infinity."""
    for mode in ("linear", "cubic"):
        s = lazy.resize(X, 7, axes=1, mode=mode)
        for other in (np.inf, np.nan, np.array([[1.0], [np.inf], [0.0], [-np.inf]])):
            with np.errstate(invalid="ignore"):
                assert np.array_equal(s + other, s.materialize() + other, equal_nan=True)
                assert np.array_equal(s * other, s.materialize() * other, equal_nan=True)
        with np.errstate(divide="ignore"):
            assert np.array_equal(s / 0, s.materialize() / 0)
        assert "what is added is not finite" in lazy.explain(s)


def test_what_no_output_reads_shows_nowhere():
    x = np.array([np.inf, 1.0, np.nan, 2.0])
    s = lazy.repeat_interleave(x, [0, 2, 0, 1])
    assert s.sum() == 4 and s.max() == 2 and s.mean() == 4 / 3 and not np.isnan(s).any()
    assert s.segment_sum([0, 2, 0, 1]).tolist() == [0, 2, 0, 2]
    t = lazy.repeat_interleave(torch.tensor([3, 0]), [2, 0])
    assert (6 // t).tolist() == [2, 2]  # of which 6 // 0 is none
    assert (2 ** lazy.repeat_interleave(np.array([3, -1]), [2, 0])).tolist() == [8, 8]
    with pytest.raises(ValueError, match="negative integer powers"):
        2 ** lazy.repeat_interleave(np.array([3, -1]), [2, 1])


def test_dims_of_length_one_broadcast_like_those_of_arrays():
    one, four = lazy.repeat_interleave(X, [0, 1, 0, 0], 0), lazy.repeat_interleave(X[:1], 4, 0)
    for a, b in (
        (one, four),
        (four, one),
        (one, X),
        (four, X),
        (four, four),
        (one, one),
        (four, lazy.tile(X[:2], (2, 1))),
    ):
        assert_twins(a * b, np.asarray(a) * np.asarray(b))
        assert_twins(lazy.tile(a, (1, 2)) + lazy.tile(b, (1, 2)), np.tile(a, (1, 2)) + np.tile(b, (1, 2)))


def test_where_dims_come_to_lie_beside_index_arrays():
    x = np.arange(60.0).reshape(3, 4, 5)
    w = slice(None)
    keys = [
        ([0, 1], w, [1, 0]), (0, w, [1, 0]), ([0, 1], w, 0), (w, w, [1, 0]), ([[0, 1], [1, 2]], w), ([0, 1], None, w, 0),
        ([0, 1], w, None, [0, 0]), (None, w, w, [3]), (..., [0, 1]), ([0, 1], w, [[1], [0]]), (0, w, 0), (w, [0, 5, 5], [1, 2, 3]),
    ]  # fmt: skip
    for make in (np.asarray, torch.from_numpy):
        s = lazy.repeat_interleave(make(x), [1, 0, 3, 2], 1)
        for key in keys:
            y = s[key]
            assert isinstance(y, LazyArray) == (key[1:] != ([0, 5, 5], [1, 2, 3])), key
            assert_twins(y, s.materialize()[key])
        s = lazy.repeat_interleave(make(x.reshape(3, 4, 1, 5)), [1, 2, 0], 0)
        for key in [
            (w, [0, 1], w, [1, 0]),
            (w, [0, 1], 0, [1, 0]),
            (w, 0, w, [1, 0, 2]),
            (w, [0, 1], None, 0),
            (w, w, [0]),
        ]:
            assert isinstance(s[key], LazyArray)
            assert_twins(s[key], s.materialize()[key])


def test_linear_layers():
    layer = torch.nn.Linear(3, 5, dtype=torch.float64)
    s = lazy.repeat_interleave(torch.from_numpy(X), COUNTS, 0)
    y = layer(s)
    assert isinstance(y, LazyArray) and y.base.shape == (4, 5)
    assert_twins(y, layer(s.materialize()))
    assert_twins(torch.nn.functional.linear(s, layer.weight), s.materialize() @ layer.weight.T)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        layer(s.T)


def test_products_that_sum_over_a_stretched_dim():
    for x in (X, torch.from_numpy(X)):
        s = lazy.repeat_interleave(x, COUNTS, 0)
        assert_twins(s.T @ s, s.materialize().T @ s.materialize())
        assert "the dim that the product sums over is materialized" in lazy.explain(s)
        assert_twins(s[:, 0] @ s, s.materialize()[:, 0] @ s.materialize())


def test_sums_of_integers_wrap_as_theirs():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = np.array([2**62, 3, -7])
        for counts in ([3, 1, 2**20], 2**20):
            s, twin = lazy.repeat_interleave(x, counts), tenter.repeat_interleave(x, counts)
            assert s.sum() == twin.sum() and s.sum(dtype=np.int8) == twin.sum(dtype=np.int8)
            assert s.sum(dtype=np.uint64) == twin.sum(dtype=np.uint64)
            assert lazy.repeat_interleave(torch.from_numpy(x), counts).sum() == torch.from_numpy(twin).sum()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint32", "int32", "int64", "uint64", "float16", "float32"])
def test_segment_sums_multiply_by_the_counts(dtype):
    """As the transposed map sums the copies: narrow integers are saturated."""
    x = np.array([[100, 3], [127, 0], [7, 1], [5, 9]]).astype(dtype)
    if dtype.startswith("int"):
        x[0] = -x[0]
    counts = [3, 2, 0, 40]
    runs = tenter.maps.Copy.counts(counts)
    twin = runs.T.apply(tenter.repeat_interleave(x, counts, 0), 0)
    for how in (counts, np.array(counts, np.int32), runs):
        s = lazy.repeat_interleave(x, counts, 0)
        assert_twins(s.segment_sum(how), twin)
        assert "materialized" not in lazy.explain(s)
    assert_twins(lazy.repeat_interleave(x, counts, 0).T.segment_sum(counts, -1), twin.T)
    others = [1, 20, 0, 24]
    s = lazy.repeat_interleave(x, counts, 0)
    assert_twins(s.segment_sum(others), tenter.maps.Copy.counts(others).T.apply(np.asarray(s), 0))
    assert "the lengths are not the counts" in lazy.explain(s)
    if dtype in ("float32", "int64"):
        assert_twins(
            lazy.repeat_interleave(torch.from_numpy(x), counts, 0).segment_sum(torch.tensor(counts)),
            torch.from_numpy(twin),
        )


def test_segment_sums_of_more_copies_than_there_is_memory_for():
    s = lazy.repeat_interleave(np.array([1, -1, 0], np.int32), [2**40, 2**40, 2**40])
    assert s.segment_sum([2**40] * 3).tolist() == [2**31 - 1, -(2**31), 0]
    assert s.sum() == 0 and s.max() == 1 and s[2**40 - 1 : 2**40 + 1].materialize().tolist() == [1, -1]


# ---- gradients

DIFFERENTIABLE = {
    "elements": lambda o, a: torch.exp(o.repeat_interleave(a, COUNTS, 0)),
    "sum": lambda o, a: o.repeat_interleave(a, COUNTS, 0).sum(0) ** 2,
    "mean": lambda o, a: o.repeat_interleave(a, COUNTS, 0).mean() ** 2,
    "amax, with ties": lambda o, a: o.repeat_interleave(a, COUNTS, 0).amax(0) ** 2,
    "max, with ties": lambda o, a: torch.max(o.repeat_interleave(a, COUNTS, 0)) ** 2,
    "largest of tiles": lambda o, a: o.tile(a, (2, 3)).amax((0, 1)) ** 2,
    "picked": lambda o, a: o.repeat_interleave(a, COUNTS, 0)[[0, 2, 2, 5]] ** 2,
    "slice": lambda o, a: o.repeat_interleave(a, COUNTS, 0)[1:4] ** 2,
    "product": lambda o, a: (o.repeat_interleave(a, COUNTS, 0) @ a) ** 2,
    "linear": lambda o, a: o.resize(a, 9, axes=0) * 3 + 1,
    "sum of linear": lambda o, a: (o.resize(a, 9, axes=0) * 3).sum(0) ** 2,
    "square of linear": lambda o, a: o.resize(a, 9, axes=0)[2:7] ** 2,
    "both kinds": lambda o, a: o.resize(o.repeat_interleave(a, COUNTS, 1), 5, axes=0).mean(1) ** 2,
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_gradients_are_those_of_the_twin(name, dtype):
    x = torch.rand(4, 4, dtype=dtype, generator=torch.Generator().manual_seed(0))
    x[:3, 0] = 1  # the largest, in unlike numbers of copies
    found = []
    for ops in (lazy, tenter):
        a = x.clone().requires_grad_()
        y = DIFFERENTIABLE[name](ops, a)
        y = y.materialize() if isinstance(y, LazyArray) else y
        (first,) = torch.autograd.grad(y.sum(), a, create_graph=True)
        second = torch.autograd.grad((first**2).sum(), a)[0] if first.requires_grad else torch.zeros(())
        found.append((y.detach(), first.detach(), second))
    tolerance = 1e-12 if dtype == torch.float64 else 2e-2
    for got, want in zip(*found):
        assert torch.allclose(got, want, tolerance, tolerance)


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


def test_transforms_serve_what_needs_no_map():
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


@needs_linux
@pytest.mark.parametrize("library", ["numpy", "torch"])
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
    (lambda f: lazy.repeat_interleave(f(X), 2, 0).segment_sum([9, -1]), "lengths", ValueError, "not negative"),
    (lambda f: lazy.repeat_interleave(f(X), 2, 0).segment_sum([8.0]), "lengths", TypeError, "integer counts"),
    (lambda f: lazy.repeat_interleave(f(X), 2, 0).segment_sum([8], 2), "dim", IndexError, "got 2"),
    (lambda f: lazy.repeat_interleave(f(X > 0), 2, 0).segment_sum([8]), "s", TypeError, "bool"),
    (lambda f: lazy.explain(f(X)), "s", TypeError, "a lazy array"),
    (lambda f: lazy.to_arrow(f(X)), "s", TypeError, "a lazy array"),
    (lambda f: tenter.repeat_interleave(lazy.tile(f(X), 2), 2), "x", TypeError, "x.materialize()"),
]  # fmt: skip


@pytest.mark.parametrize("kind", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
@pytest.mark.parametrize("n", range(len(ERRORS)))
def test_errors(n, kind):
    call, argument, error, words = ERRORS[n]
    with pytest.raises(error) as caught:
        call(kind)
    message = str(caught.value)
    assert re.fullmatch(rf"{argument}: expected [^\n]+, got [^\n]+\n  in [\w.]+\([^\n]*\)", message), message
    assert words in message, message


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
