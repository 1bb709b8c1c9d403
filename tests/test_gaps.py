"""resize of arrays with missing values: `where=` and `skipna=`."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import resize_oracle
import tenter

MODES = ("linear", "cubic", "catmull-rom", "mitchell", "bspline", "lanczos", "box", "hamming", "area", "nearest")
POSITIVE = ("linear", "bspline", "box", "hamming", "area", "nearest")


def along(x, axis, a):
    return np.moveaxis(np.tensordot(a, x, (1, axis)), 0, axis)


def formula(x, valid, matrices, value, least):
    """A(x m) / A(m) and A(m), where an edge reads `value` as a valid input."""
    some, share, inside = np.where(valid, x, 0), valid.astype(float), np.ones(x.shape)
    for axis, a in matrices.items():
        some, share, inside = (along(v, axis, a) for v in (some, share, inside))
    if value is not None:
        outside = np.where(abs(1 - inside) > 1e-9, 1 - inside, 0)
        some, share = some + value * outside, share + outside
    with np.errstate(all="ignore"):
        return np.where((share > 0) & (share >= least), some / share, np.nan), share


def case(seed):
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 4))
    shape = tuple(rng.integers(1, 12 if ndim > 1 else 60, ndim).tolist())
    axes = sorted(rng.choice(ndim, int(rng.integers(1, min(ndim, 2) + 1)), replace=False).tolist())
    size = rng.integers(1, 16, len(axes)).tolist()
    mode, edge = str(rng.choice(MODES)), str(rng.choice(resize_oracle.EDGES))
    antialias = bool(rng.integers(2)) and mode not in ("area", "nearest")
    how = {"mode": mode, "edge": edge, "antialias": antialias, "axes": axes, "size": size}
    if mode == "nearest":
        how |= {"mode": "nearest-exact", "antialias": None}
    if edge in ("constant", "extrapolate"):
        how["value"] = float(rng.integers(-2, 3))
    if rng.random() < 0.3:
        how["box"] = [tuple(sorted(rng.integers(0, 2 * shape[d] + 1, 2) / 2)) for d in axes]
        how["box"] = [(a, b) if b > a else None for a, b in how["box"]]
        if rng.random() < 0.5:
            how["box"] = [b and b[::-1] for b in how["box"]]
    x, valid = rng.standard_normal(shape), np.ones(shape, bool)
    gaps = {}
    if rng.random() < 0.6:
        some = tuple(n if rng.random() < 0.8 else 1 for n in shape)[int(rng.integers(ndim + 1)) :]
        gaps["where"] = rng.random(some) < rng.random()
        valid &= gaps["where"]
    if rng.random() < 0.5 or not gaps:
        x[rng.random(shape) < rng.random()] = np.nan
        gaps["skipna"] = True
        valid &= ~np.isnan(x)
    elif rng.random() < 0.5:
        x[~valid] = rng.choice([np.nan, np.inf, -np.inf], (~valid).sum())
    if rng.random() < 0.3:
        gaps["min_valid"] = float(rng.choice([0, 0.25, 0.5, 1]))
    return x, valid, how, gaps


def check_case(seed):
    x, valid, how, gaps = case(seed)
    name = {"nearest-exact": "nearest", "cubic": "catmull-rom"}.get(how["mode"], how["mode"])
    boxes = how.get("box") or [None] * len(how["axes"])
    matrices = {
        d: resize_oracle.matrix(x.shape[d], n, name, how["edge"], bool(how["antialias"]), box=box)
        for d, n, box in zip(how["axes"], how["size"], boxes)
    }
    least = gaps.get("min_valid", 0 if name in POSITIVE else 0.5)
    before = x.copy()
    got = tenter.resize(x, **how, **gaps)
    want, share = formula(x, valid, matrices, how.get("value"), least)
    assert got.dtype == x.dtype and got.shape == want.shape
    sure = abs(share - least) > (1e-4 if least else 1e-12)
    sure |= (share == 0) if not least else False
    assert (np.isnan(got) == np.isnan(want))[sure].all(), f"{seed} {how} {gaps}"
    both = sure & ~np.isnan(want)
    error = abs(got - want)[both] * np.minimum(abs(share[both]), 1)
    assert (error < 1e-9).all(), f"{seed} {how} {gaps}"
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize(
    "seeds", [range(150), pytest.param(range(150, 3150), marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_a_result_is_the_sum_of_valid_values_divided_by_their_share(seeds):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in seeds:
            check_case(seed)
