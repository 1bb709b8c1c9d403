"""resize of arrays with missing values: `where=` and `skipna=`."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import resize_oracle
import tenter
from sweeps import in_one_test
from tenter import ragged
from tenter._execution import missing

MODES = ("linear", "cubic", "catmull-rom", "mitchell", "bspline", "lanczos", "hamming", "area", "nearest")
POSITIVE = ("linear", "bspline", "hamming", "area", "nearest")


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


FIELD = np.random.default_rng(0).uniform(1, 100, (3, 12, 10))
HOLES = np.random.default_rng(1).random((12, 10)) < 0.3


@in_one_test("dtype", ["uint8", "int16", "uint32", "int64", "float16", "float32", "float64", "complex64", "complex128"])
def test_every_dtype_gives_what_float64_gives(dtype):
    x = FIELD.astype(dtype)
    wide = x.astype(complex if x.dtype.kind == "c" else float)
    want = tenter.resize(wide, (5, 4), axes=(1, 2), where=~HOLES, min_valid=0.6)
    got = tenter.resize(x, (5, 4), axes=(1, 2), where=~HOLES, min_valid=0.6, value=0 if x.dtype.kind in "fc" else 7)
    assert got.dtype == x.dtype and np.isnan(want).any()
    if x.dtype.kind in "iu":
        assert (got[np.isnan(want)] == 7).all()
        want = np.where(np.isnan(want), 7, want)
    tolerance = {"float16": 0.1, "float32": 1e-4, "complex64": 1e-4}.get(
        dtype, 0.5001 if x.dtype.kind in "iu" else 1e-9
    )
    np.testing.assert_allclose(got.astype(want.dtype), want, atol=tolerance, rtol=0)


@pytest.mark.parametrize("dtype", ["bool", "datetime64[s]", "U3", "int32"])
def test_nearest_modes_of_any_dtype_take_the_plain_input_or_none(dtype):
    x, there = np.arange(6).astype("int64").astype(dtype), np.array([True, False, True, True, False, True])
    got = tenter.resize(x, 4, mode="nearest-exact", where=there)
    index = tenter.resize(np.arange(6), 4, mode="nearest-exact")
    want = np.where(there[index], x[index], np.zeros((), x.dtype))
    assert got.dtype == x.dtype and (got == want).all()


def test_a_masked_array_gives_a_masked_array():
    for dtype in (float, np.int32):
        x = np.ma.array(FIELD[0].astype(dtype), mask=HOLES, fill_value=9)
        got = tenter.resize(x, (6, 3), mode="area", min_valid=0.7)
        want = tenter.resize(FIELD[0].astype(dtype), (6, 3), mode="area", where=~HOLES, min_valid=0.7)
        share = tenter.resize((~HOLES).astype(float), (6, 3), mode="area")
        assert type(got) is np.ma.MaskedArray and got.dtype == x.dtype and got.fill_value == 9
        assert (got.mask == (share < 0.7)).all() and got.mask.any() and not got.mask.all()
        assert (got.compressed() == want[~got.mask]).all()
    assert (tenter.resize(np.ma.array([1.0, 3.0]), 1).data == [2.0]).all()


def test_layouts_and_threads_change_no_bit():
    x = np.random.default_rng(2).standard_normal((9, 40, 50)).astype(np.float32)
    x[np.random.default_rng(3).random(x.shape) < 0.2] = np.nan
    how = {"size": (17, 13), "axes": (1, 2), "skipna": True}
    want = tenter.resize(x, **how)
    padded = np.full((9, 41, 60), 5, np.float32)
    padded[:, :40, 5:55] = x
    for same in (x[::-1][::-1], padded[:, :40, 5:55], np.ascontiguousarray(x[:, ::-1])[:, ::-1]):
        np.testing.assert_array_equal(tenter.resize(same, **how), want)
    rows = [tenter.resize(row, (17, 13), skipna=True) for row in x]
    np.testing.assert_array_equal(np.stack(rows), want)
    try:
        tenter.set_num_threads(1)
        np.testing.assert_array_equal(tenter.resize(x, **how), want)
    finally:
        tenter.set_num_threads(None)


CHUNKED = {  # shape, axes
    "images": ((5, 60, 70), (1, 2)),
    "one image": ((90, 80), (0, 1)),
    "channels": ((50, 60, 3), (0, 1)),
    "wide pixels": ((40, 30, 20), (0, 1)),
    "rows": ((90, 40), (0,)),
    "columns": ((90, 40), (1,)),
    "a volume": ((9, 20, 30), (0, 1, 2)),
    "apart": ((4, 30, 3, 25), (1, 3)),
}


@in_one_test("shape, axes", CHUNKED.values(), CHUNKED)
def test_the_size_of_chunks_changes_no_bit(shape, axes, monkeypatch):
    rng = np.random.default_rng(5)
    x = rng.standard_normal(shape)
    x[rng.random(shape) < 0.2] = np.nan
    of_axes = rng.random([n if k in axes else 1 for k, n in enumerate(shape)]) < 0.7
    for how in ({"skipna": True}, {"where": of_axes & np.ones(shape, bool), "skipna": True}, {"where": of_axes}):
        for mode, edge, scale in (("area", "replicate", 0.3), ("linear", "reflect", 2.2), ("cubic", "wrap", 0.7)):
            given = x if "skipna" in how else np.nan_to_num(x).astype(np.float32)
            how |= {"size": [round(shape[a] * scale) for a in axes], "axes": axes, "mode": mode, "edge": edge}
            made = []
            for n_bytes in (1 << 30, 4096, 1):
                monkeypatch.setattr(missing, "BYTES", n_bytes)
                made += [tenter.resize(some, **how) for some in (given, np.asfortranarray(given))]
            for same in made[2:]:
                np.testing.assert_array_equal(same, made[0] if same.flags.c_contiguous else made[1])


def test_a_mask_of_the_resized_axes_is_that_mask_for_each_channel():
    x = np.random.default_rng(2).standard_normal((60, 130, 150)).astype(np.float32)  # more than one block
    there = np.random.default_rng(3).random((130, 150)) < 0.7
    for mask in (there, np.broadcast_to(there, x.shape)):
        got = tenter.resize(x, (30, 40), axes=(1, 2), where=mask)
        np.testing.assert_array_equal(got[41], tenter.resize(x[41], (30, 40), where=there))
    last = np.moveaxis(x, 0, -1)
    got = tenter.resize(last, (30, 40), axes=(0, 1), where=there[..., None])
    np.testing.assert_allclose(got[..., 41], tenter.resize(x[41], (30, 40), where=there), rtol=1e-4, atol=1e-5)


def test_missing_values_never_reach_a_result():
    for bad in (np.nan, np.inf, -np.inf):
        x = FIELD[0].copy()
        x[HOLES] = bad
        for mode in ("linear", "lanczos", "area", "nearest-exact", "spline3"):
            zeros = tenter.resize(np.where(HOLES, 0, FIELD[0]), (30, 4), mode=mode, where=~HOLES)
            np.testing.assert_array_equal(tenter.resize(x, (30, 4), mode=mode, where=~HOLES), zeros)
    assert np.isnan(tenter.resize(FIELD[0], (3, 3), where=False)).all()
    assert tenter.resize(FIELD[:0], (3, 3), axes=(1, 2), where=~HOLES).shape == (0, 3, 3)


def test_an_edge_that_reads_value_reads_a_valid_input():
    x = np.array([1.0, np.nan, 5.0])
    how = {"box": [(-2, 3)], "mode": "area", "skipna": True}
    np.testing.assert_array_equal(tenter.resize(x, 5, edge="constant", value=9, **how), [9, 9, 1, np.nan, 5])
    np.testing.assert_allclose(tenter.resize(x, 1, edge="constant", value=9, **how), [(9 + 9 + 1 + 5) / 4])
    np.testing.assert_allclose(tenter.resize(x, 1, edge="renormalize", **how), [3])


def test_out_gets_the_result():
    x, out = np.where(HOLES, np.nan, FIELD[0]), np.zeros((5, 4))
    assert tenter.resize(x, (5, 4), skipna=True, out=out) is out
    np.testing.assert_array_equal(out, tenter.resize(x, (5, 4), skipna=True))


X = np.zeros((3, 4))
WRONG = [
    ({"where": [1, 0, 1, 1]}, TypeError, "where: expected bools, True where x is valid, got int64[4]"),
    ({"where": [True, False]}, ValueError, "where: expected a shape that broadcasts to x's, (3, 4), got (2,)"),
    ({"where": np.ones((1, 3, 4), bool)}, ValueError, "where: expected a shape that broadcasts to x's, (3, 4), got"),
    ({"where": "abcd"}, TypeError, "where: expected an array"),
    ({"where": np.ma.array([True] * 4)}, TypeError, "where: expected a plain array of bools"),
    ({"skipna": 1}, TypeError, "skipna: expected a bool, got 1"),
    ({"min_valid": 0.5}, ValueError, "min_valid: expected none without where or skipna, got 0.5"),
    ({"skipna": True, "min_valid": 2}, ValueError, "min_valid: expected a number from 0 to 1, got 2"),
    ({"skipna": True, "min_valid": "1"}, TypeError, "min_valid: expected a number from 0 to 1, got '1'"),
    ({"skipna": True, "value": 1}, ValueError, "value: expected 0, unless edge is constant or extrapolate, got 1"),
]


@in_one_test("how, error, message", WRONG, [str(how)[:30] for how, *_ in WRONG])
def test_wrong_masks_are_refused(how, error, message):
    with pytest.raises(error) as caught:
        tenter.resize(X, (2, 2), **how)
    assert str(caught.value).startswith(message) and "\n  in resize(x: float64[3, 4], size=(2, 2)" in str(caught.value)


def test_maps_and_lazy_arrays_have_no_masks():
    with pytest.raises(TypeError, match="where: expected none, as a lazy array holds sums of x"):
        tenter.lazy.resize(X, (2, 2), where=X == 0)
    with pytest.raises(TypeError, match="skipna: expected no argument of this name"):
        tenter.axis_map(4, 2, skipna=True)


# ---- rows


def compressed(f, x, lengths, there):
    """f of the rows without the positions that are not there."""
    rows = np.split(x, np.cumsum(lengths)[:-1])
    masks = np.split(there, np.cumsum(lengths)[:-1])
    return f(np.concatenate([r[m] for r, m in zip(rows, masks)]), [int(m.sum()) for m in masks])


@in_one_test("name", ["sum", "mean", "max", "min"])
def test_a_segment_of_valid_values_is_one_of_which_the_others_were_left_out(name):
    f = getattr(ragged, f"segment_{name}")
    for seed in range(40):
        rng = np.random.default_rng(seed)
        lengths = rng.integers(0, 6, 7)
        x, there = rng.standard_normal(lengths.sum()), rng.random(lengths.sum()) < 0.6
        want = compressed(f, x, lengths, there)
        if name == "mean":  # which is 0 for an empty row
            sums = compressed(ragged.segment_sum, np.ones(len(x)), lengths, there)
            want = np.where(sums > 0, want, np.nan)
        np.testing.assert_allclose(f(x, lengths, where=there), want, rtol=1e-14, atol=1e-15)
        gappy = np.where(there, x, np.nan)
        np.testing.assert_allclose(f(gappy, lengths, skipna=True), want, rtol=1e-14, atol=1e-15)
        if name != "mean":
            whole = (100 * x).astype(np.int16)
            got = f(np.stack([whole] * 2), lengths, axis=1, where=there)
            np.testing.assert_array_equal(got, np.stack([compressed(f, whole, lengths, there)] * 2))


def test_softmax_of_valid_values_is_zero_elsewhere():
    x, there = np.array([1.0, np.nan, 2.0, 5.0, 9.0]), np.array([True, False, True, False, False])
    want = np.exp([1.0, 2.0]) / np.exp([1.0, 2.0]).sum()
    got = ragged.segment_softmax(x, [3, 2], where=there)
    np.testing.assert_allclose(got, [want[0], 0, want[1], 0, 0], rtol=1e-14)


def test_wrong_masks_of_segments_are_refused():
    with pytest.raises(TypeError, match=r"where: expected bools.*\n  in ragged.segment_sum\("):
        ragged.segment_sum(X[0], [4], where=[1, 0, 1, 1])
    with pytest.raises(ValueError, match="where: expected a shape that broadcasts"):
        ragged.segment_max(X[0], [4], where=[True, False])
