"""The nearest valid input: `value="nearest"` of `tenter.resize`."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tenter
from sweeps import in_one_test
from tenter._execution.nearest_valid import nearest

RNG = np.random.default_rng(0)


def by_hand(valid: Any, axes: tuple[int, ...]) -> Any:
    """The smallest squared distance to a valid element along axes."""
    found = np.full(valid.shape, np.inf)
    for at in itertools.product(*map(range, valid.shape)):
        for source in itertools.product(*map(range, valid.shape)):
            if valid[source] and all(a == b for d, (a, b) in enumerate(zip(at, source)) if d not in axes):
                found[at] = min(found[at], sum((a - b) ** 2 for a, b in zip(at, source)))
    return found


@in_one_test(
    "shape, axes", [((9,), (0,)), ((5, 6), (0, 1)), ((5, 6), (1,)), ((3, 4, 5), (0, 2)), ((3, 4, 4), (0, 1, 2))]
)
def test_no_valid_input_is_nearer(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    for share in (0.05, 0.3, 0.9):
        valid = RNG.random(shape) < share
        at, grid = nearest(valid, axes), np.indices(shape)
        source = tuple(np.broadcast_to(at[d], shape) if d in axes else grid[d] for d in range(valid.ndim))
        wanted = by_hand(valid, axes)
        reached = wanted < np.inf
        assert valid[source][reached].all()
        found = sum((np.asarray(s, float) - g) ** 2 for s, g in zip(source, grid))
        np.testing.assert_array_equal(found[reached], wanted[reached])


def test_a_nearest_mode_takes_the_nearest_valid_input_by_a_word() -> None:
    x, nan = np.array([1.0, np.nan, np.nan, np.nan, 4.0, 5.0]), np.nan
    for mode in ("nearest", "nearest-exact"):
        got = tenter.resize(x, 12, mode=mode, skipna=True, value="nearest")
        assert got.tolist() == [1, 1, 1, 1, 1, 1, 4, 4, 4, 4, 5, 5]
        plain = tenter.resize(x, 12, mode=mode, skipna=True)
        np.testing.assert_array_equal(plain, [1, 1, nan, nan, nan, nan, nan, nan, 4, 4, 5, 5])


@in_one_test("dtype", ["uint8", "int64", "bool", "float16", "complex64", "U3", "datetime64[D]"])
def test_the_nearest_valid_input_has_any_dtype(dtype: str) -> None:
    x = (np.arange(24).reshape(4, 6) % 2 if dtype == "bool" else np.arange(24).reshape(4, 6)).astype(dtype)
    there = RNG.random((4, 6)) < 0.4
    got = tenter.resize(x, (9, 7), mode="nearest-exact", where=there, value="nearest")
    at = nearest(there, (0, 1))
    filled = x[np.broadcast_to(at[0], x.shape), np.broadcast_to(at[1], x.shape)]
    np.testing.assert_array_equal(got, tenter.resize(filled, (9, 7), mode="nearest-exact"))


def test_what_no_valid_input_reaches_stays_missing() -> None:
    x = RNG.random((3, 4, 5))
    x[1], x[0, 1:3] = np.nan, np.nan
    got = tenter.resize(x, (8, 8), axes=(1, 2), mode="nearest-exact", skipna=True, value="nearest")
    assert np.isnan(got).mean((1, 2)).tolist() == [0, 1, 0]
    masked = tenter.resize(np.ma.masked_invalid(x), (8, 8), axes=(1, 2), mode="nearest-exact", value="nearest")
    np.testing.assert_array_equal(masked.mask, np.isnan(got))
    whole = tenter.resize(x[:, ::-1], (8, 8), axes=(1, 2), box=[(4, 0), None], mode="nearest-exact", skipna=True, value="nearest")  # fmt: skip
    np.testing.assert_array_equal(np.isnan(whole).mean((1, 2)), [0, 1, 0])


def test_libraries_take_the_nearest_valid_input_alike() -> None:
    torch, jnp = pytest.importorskip("torch"), pytest.importorskip("jax.numpy")
    x = RNG.random((4, 5)).astype(np.float32)
    x[1:3, 1:4] = np.nan
    how = {"mode": "nearest-exact", "skipna": True, "value": "nearest"}
    wanted = tenter.resize(x, (7, 9), **how)
    leaf = torch.tensor(x, requires_grad=True)
    made = tenter.resize(leaf, (7, 9), **how)
    made.sum().backward()
    np.testing.assert_array_equal(made.detach(), wanted)
    assert leaf.grad.sum() == 63 and (leaf.grad[np.isnan(x)] == 0).all()
    np.testing.assert_array_equal(tenter.resize(jnp.array(x), (7, 9), **how), wanted)


@in_one_test("how, kind, message", [
    ({}, TypeError, "value: expected a number, got 'nearest'"),
    ({"skipna": True}, ValueError, "value: expected a number, or 'nearest' in modes nearest and nearest-exact"),
    ({"skipna": True, "value": "near"}, TypeError, "value: expected a number, got 'near'"),
])  # fmt: skip
def test_the_word_goes_with_gaps_and_nearest_modes(how: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        tenter.resize(np.ones(4), 3, **{"value": "nearest", **how})
