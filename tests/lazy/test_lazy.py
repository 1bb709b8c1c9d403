"""Lazy arrays: every expression equals its materialized twin, with gradients; what is not needed is not made."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings, strategies as st

import tenter
from lazy_expressions import assert_twins, both, changes, explained, stretched
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
    assert "materialized" not in explained(y)


NAMED = {
    "sum": lambda f, name, s: f.sum(**{name: s}),
    "sum of the other dim": lambda f, name, s: f.sum(**{name: s, "axis": 1}),
    "largest": lambda f, name, s: f.amax(axis=(0, 1), **{name: s}),
    "any": lambda f, name, s: f.any(**{name: s > 7}),
    "swapped": lambda f, name, s: f.swapaxes(axis0=0, axis1=1, **{name: s}) if f is torch else f.swapaxes(s, 0, axis2=1),
    "moved": lambda f, name, s: f.moveaxis(source=0, destination=1, **{name: s}),
    # Before 2.1 NumPy has no `min` and `max`.
    "elements": lambda f, name, s: f.clip(**{name: s}, min=1, max=5) if f is torch else f.clip(a_min=1, a_max=5, **{name: s}),
}  # fmt: skip


@pytest.mark.parametrize("library, make, name", [(np, np.asarray, "a"), (torch, torch.from_numpy, "input")])
@pytest.mark.parametrize("call", NAMED)
def test_an_array_may_be_passed_by_its_name(call, library, make, name):
    s = lazy.repeat_interleave(make(X), COUNTS, 0)
    made = NAMED[call](library, name, s)
    assert_twins(made, NAMED[call](library, name, s.materialize()))
    assert "materialized" not in explained(made if isinstance(made, LazyArray) else s)


def test_functions_whose_first_argument_is_no_array_take_one_by_its_name():
    s = lazy.repeat_interleave(X, COUNTS, 0)
    keep = np.arange(len(s)) % 2 == 0
    assert_twins(np.compress(condition=keep, a=s, axis=0), s.materialize()[keep])
    with pytest.raises((TypeError, ValueError), match="copy"):
        np.copyto(dst=s, src=np.zeros(3))


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
    assert isinstance(y, LazyArray) and "materialized" not in explained(y)


REASONS = {
    "exp is not linear": lambda s: np.exp(s),
    "both operands are stretched": lambda s: s * s,
    "infinite": lambda s: s * np.inf,
    "an operand as long is not stretched": lambda s: s + np.ones((4, 7)),
    "by different maps": lambda s: s + lazy.resize(X, 7, axes=1, mode="cubic"),
    "do not sum to one": lambda s: _added_to(lazy.resize(X, 7, axes=1, box=[(-2, 3)], edge="constant")),
    "the product sums over": lambda s: s @ np.ones(7),
    "cumsum works along each stretched dim": lambda s: np.cumsum(s, 1),
    "unique is none of the functions": lambda s: np.unique(s),
    "a key other than": lambda s: s[True],
}


def _added_to(s):
    s + 1
    return s


@pytest.mark.parametrize("reason", REASONS)
def test_what_materializes_says_why(reason):
    s = lazy.resize(X, 7, axes=1)
    y = REASONS[reason](s)
    assert reason in explained(y if isinstance(y, LazyArray) else s)


def test_integers_are_not_weighed_before_they_are_rounded():
    x = np.array([[0, 1, 0, 3]], np.uint8)
    s = lazy.resize(x, 7, axes=1)
    assert np.array_equal(s + s, tenter.resize(x, 7, axes=1) * 2) and "rounded" in explained(s)
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
        assert "what is added is not finite" in explained(s)


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
        assert "the dim that the product sums over is materialized" in explained(s)
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
    runs = tenter.maps.Copy.repeats(counts)
    twin = runs.T.apply(tenter.repeat_interleave(x, counts, 0), 0)
    for how in (counts, np.array(counts, np.int32), runs):
        s = lazy.repeat_interleave(x, counts, 0)
        assert_twins(s.segment_sum(how), twin)
        assert "materialized" not in explained(s)
    assert_twins(lazy.repeat_interleave(x, counts, 0).T.segment_sum(counts, -1), twin.T)
    others = [1, 20, 0, 24]
    s = lazy.repeat_interleave(x, counts, 0)
    assert_twins(s.segment_sum(others), tenter.maps.Copy.repeats(others).T.apply(np.asarray(s), 0))
    assert "the lengths are not the counts" in explained(s)
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
