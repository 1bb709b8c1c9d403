"""resize against matrices made a second time: every filter, edge, alignment, size; any axes; what lies where."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import resize_oracle
import tenter
from resize_oracle import EDGES, TIES
from sweeps import in_one_test, sampled
from tenter.conventions import Convention
from tenter.filters import cubic

ALIGNS = ("half_pixel", "align_corners", "asymmetric")
SIZES = [(1, 1), (1, 4), (4, 1), (2, 3), (3, 2), (4, 8), (5, 5), (8, 6), (7, 12), (17, 5), (31, 10)]
BOXES = [
    (Fraction(0), Fraction(3)), (Fraction(1, 3), Fraction(5, 2)), (Fraction(-3), Fraction(9)),
    (Fraction(-7, 2), Fraction(-1)), (Fraction(2), Fraction(5, 2)), (Fraction(40), Fraction(47)),
]  # fmt: skip


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("mode, edge", sampled(itertools.product(resize_oracle.FILTERS, EDGES), 3, "-".join))
def test_weights_of_every_filter(mode, edge):
    named = cubic(-0.75) if mode == "cubic" else mode  # with antialias, too
    for (n_in, n_out), align, antialias in itertools.product(SIZES, ALIGNS, (False, True)):
        if align == "align_corners" and antialias:
            continue
        how = {"edge": edge, "antialias": antialias, "align": align}
        got = tenter.axis_map(n_in, n_out, named, **how).dense()
        want = resize_oracle.matrix(n_in, n_out, mode, **how)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12, err_msg=f"{n_in} to {n_out}, {how}")


BOXED = ["linear", "cubic", "lanczos", "box", "mitchell", "area", "nearest"]


@pytest.mark.parametrize("mode, edge", sampled(itertools.product(BOXED, EDGES), 8, "-".join))
def test_weights_of_boxes(mode, edge):
    named, like = cubic(-0.75) if mode == "cubic" else mode, Convention.of("torch", nearest_tie="prefer_ceil")
    for box, n_in, n_out, antialias in itertools.product(BOXES, (1, 2, 5, 8), (1, 3, 10), (False, True)):
        if antialias and mode in ("area", "nearest"):
            continue
        got = tenter.axis_map(
            n_in, n_out, named, box=[box], edge=edge, antialias=antialias, like=like, align="half_pixel",
        )  # fmt: skip
        want = resize_oracle.matrix(n_in, n_out, mode, edge, antialias, box=box)
        np.testing.assert_allclose(got.dense(), want, rtol=0, atol=1e-12, err_msg=f"{n_in} to {n_out}, {box}")


@pytest.mark.parametrize("edge", EDGES)
def test_weights_of_areas(edge):
    for n_in, n_out in SIZES:
        close(tenter.axis_map(n_in, n_out, "area", edge=edge).dense(), resize_oracle.matrix(n_in, n_out, "area", edge))
        for scale in (Fraction(1, 2), Fraction(3, 7), 0.7, 2.5):
            m = int(n_in * scale)
            if m:
                got = tenter.resize(np.eye(n_in), scale=scale, axes=0, mode="area", edge=edge)
                close(got, resize_oracle.matrix(n_in, m, "area", edge, scale=Fraction(scale)))


@pytest.mark.parametrize("align, tie", sampled(itertools.product(ALIGNS, TIES), 7, "-".join))
def test_which_pixel_is_nearest(align, tie):
    """Every tie falls to its side: no position is a rounding away from it."""
    like = Convention.of("torch", nearest_tie=tie)
    for n_in, n_out in itertools.product(range(1, 13), range(1, 25)):
        for edge in ("replicate", "wrap", "constant"):
            got = tenter.axis_map(n_in, n_out, "nearest", align=align, like=like, edge=edge).dense()
            want = resize_oracle.matrix(n_in, n_out, "nearest", edge, align=align, tie=tie)
            assert np.array_equal(got, want), (n_in, n_out, edge)


@pytest.mark.parametrize("mode", ["linear", "cubic", "lanczos", "area", "nearest"])
def test_a_scale_is_followed(mode):
    named = cubic(-0.75) if mode == "cubic" else mode
    for n, scale in itertools.product((1, 4, 9), (Fraction(1, 3), Fraction(7, 5), Fraction(2), 0.77, 1.3)):
        for rounding, edge in itertools.product(("floor", "round", "ceil"), ("replicate", "wrap")):
            exact = n * Fraction(scale) if isinstance(scale, Fraction) else Fraction(n * scale)
            out = {"floor": exact // 1, "round": (exact + Fraction(1, 2)) // 1, "ceil": -(-exact // 1)}[rounding]
            if out < 1:
                continue
            like = Convention.of(
                "torch",
                positions_from="scale",  # PyTorch leaves axes alone that keep their length
                nearest_tie="prefer_ceil",
                length_rounding=rounding,
            )
            got = tenter.resize(
                np.eye(n), scale=scale, axes=0, mode=named, antialias=False, edge=edge, align="half_pixel", like=like
            )
            want = resize_oracle.matrix(n, out, mode, edge, scale=Fraction(scale))
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-12, err_msg=f"{n} by {scale}, {rounding}")


# ---- any axes of any array

SHAPES = [
    ((7,), (0,)), ((7, 5), (0,)), ((7, 5), (1, 0)), ((7, 5, 3), (0, 1)), ((3, 7, 5), (1, 2)), ((2, 7, 5, 3), (1, 2)),
    ((4, 7, 5), (0, 1, 2)), ((2, 3, 2, 4, 2, 5), (0, 3, 5)), ((3, 2, 4, 2, 3, 2), (0, 1, 2, 3, 4, 5)),
    ((6, 5, 512), (0, 1)), ((512, 6, 5), (-2, -1)), ((5, 4, 0), (0, 1)), ((0, 4, 5), (1, 2)), ((1, 1), (0, 1)),
    ((2, 3, 4, 5), (3, 0)),
]  # fmt: skip
WAYS = [
    {}, {"mode": "cubic", "antialias": True}, {"mode": "area"}, {"mode": "nearest"}, {"mode": "lanczos", "edge": "wrap"},
    {"edge": "reflect", "outside": True}, {"edge": "constant", "outside": True}, {"edge": "extrapolate", "outside": True},
    {"like": "pillow", "turned": True},
]  # fmt: skip


def one_axis(way, n):
    """The way's arguments for one axis of n pixels."""
    how = {k: v for k, v in way.items() if k not in ("outside", "turned")}
    if way.get("outside"):
        how["box"] = [(-1, n + 2)]
    return how | ({"box": [(n, 0)]} if way.get("turned") else {})


def along(matrix, x, axis):
    return np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)


@in_one_test("way", WAYS, ids=str)
@in_one_test("shape, axes", SHAPES, ids=str)
def test_axis_after_axis(shape, axes, way):
    """All at once is one after another, with the map that axis_map shows."""
    x = np.random.default_rng(0).standard_normal(shape)
    size = [3 + 4 * (k % 2) + k for k in range(len(axes))]
    hows = [one_axis(way, shape[a]) for a in axes]
    want = x
    for axis, n, how in zip(axes, size, hows):
        turned = "turned" in way
        box = {} if turned else {k: v for k, v in how.items() if k == "box"}
        matrix = tenter.axis_map(shape[axis], n, **{k: v for k, v in how.items() if k != "box"}, **box).dense()
        want = along(matrix[:, ::-1] if turned else matrix, want, axis)
    how = {k: v for k, v in hows[0].items() if k != "box"}
    if "box" in hows[0]:
        how["box"] = [h["box"][0] for h in hows]
    before = x.copy()
    got = tenter.resize(x, size, axes=axes, **how)
    close(got, want)
    assert np.array_equal(x, before) and not np.shares_memory(got, x)


def test_axes_by_themselves():
    """All axes of a signal and, by a size for each, of any other array; else there is no guessing."""
    assert tenter.resize(np.zeros(4), 7).shape == (7,)
    assert tenter.resize(np.zeros((4, 5)), (7, 7)).shape == (7, 7)
    assert tenter.resize(np.zeros((4, 5)), scale=2).shape == (8, 10)
    for size in (7, (7,)):
        with pytest.raises(ValueError, match="size: expected 2 lengths, one per axis"):
            tenter.resize(np.zeros((4, 5)), size)
    assert tenter.resize(np.zeros((4, 5, 3)), (7, 7, 3)).shape == (7, 7, 3)
    with pytest.raises(ValueError, match=r"axes: expected the axes to resize, such as \(0, 1\)"):
        tenter.resize(np.zeros((4, 5, 3)), 7)
    x = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(tenter.resize(x, (), axes=()), x)


def test_a_mode_per_axis():
    x = np.random.default_rng(0).standard_normal((4, 6, 7))
    got = tenter.resize(x, (9, 5, 8), axes=(0, 1, 2), mode=["nearest", "cubic", "cubic"])
    want = tenter.resize(tenter.resize(x, (5, 8), axes=(1, 2), mode="cubic"), 9, axes=0, mode="nearest")
    close(got, want)


def test_a_filter_of_ones_own():
    hat = tenter.filters.Filter(lambda x: np.maximum(0.0, 1 - np.abs(x)), 1.0)
    x = np.random.default_rng(0).standard_normal((9, 7))
    for antialias in (False, True):
        how = {"antialias": antialias, "edge": "replicate"}
        close(tenter.resize(x, (4, 10), mode=hat, **how), tenter.resize(x, (4, 10), mode="linear", **how))
    wide = tenter.filters.Filter(np.ones_like, 1.5)  # nothing counts from its support on
    close(tenter.resize(x, 9, axes=0, mode=wide, edge="wrap"), (np.roll(x, 1, 0) + x + np.roll(x, -1, 0)) / 3)


# ---- exact geometry


def test_sizes_from_scales():
    image = np.zeros((88, 66, 3), np.uint8)
    for n in range(1, 200):
        assert tenter.resize(np.zeros(n), scale=Fraction(120, n)).shape == (120,)
        assert tenter.resize(np.zeros(n), scale=Fraction(7, n)).shape == (7,)
    assert tenter.resize(image, scale=Fraction(120, 88), axes=(0, 1)).shape == (120, 90, 3)
    assert tenter.resize(image, scale=[Fraction(1, 2), 2.0], axes=(0, 1)).shape == (44, 132, 3)
    shapes = {
        r: tenter.resize(np.zeros(5), scale=Fraction(1, 2), like=Convention.of("torch", length_rounding=r)).shape
        for r in ("floor", "round", "ceil")
    }
    assert shapes == {"floor": (2,), "round": (3,), "ceil": (3,)}
    assert tenter.resize(np.zeros(5), scale=2, box=[(0.5, 2)]).shape == (3,)


def test_policies_of_onnx():
    x = np.zeros((40, 30))
    assert tenter.resize(x, (20, 20), like=Convention.of("torch", aspect_ratio="not_larger")).shape == (20, 15)
    assert tenter.resize(x, (20, 20), like=Convention.of("torch", aspect_ratio="not_smaller")).shape == (27, 20)
    assert tenter.resize(x, (20, 20), like=Convention.of("torch", aspect_ratio="stretch")).shape == (20, 20)


def test_a_whole_box_is_no_box():
    x = np.random.default_rng(0).standard_normal((7, 9))
    for mode in ("nearest", "linear", "area"):
        want = tenter.resize(x, (5, 4), mode=mode)
        assert np.array_equal(want, tenter.resize(x, (5, 4), mode=mode, box=[(0, 7), (0, 9.0)]))
        assert np.array_equal(want, tenter.resize(x, (5, 4), mode=mode, box=[None, None]))


def test_a_reversed_box_is_the_array_turned_round():
    x = np.random.default_rng(0).standard_normal((7, 9))
    for how in (
        {"mode": "nearest"},
        {"mode": "cubic", "antialias": True},
        {"edge": "wrap"},
        {"align": "align_corners"},
    ):
        got = tenter.resize(x, (5, 4), box=[(6, Fraction(1, 2)), None], **how)
        close(got, tenter.resize(x[::-1], (5, 4), box=[(1, Fraction(13, 2)), None], **how))


# ---- the same as interpolate

PEERS = [
    ("nearest", "nearest", {}), ("nearest-exact", "nearest-exact", {}), ("area", "area", {}),
    ("bilinear", "linear", {}), ("bilinear", "linear", {"antialias": True}), ("bicubic", "cubic", {}),
    ("bicubic", "cubic", {"antialias": True}), ("lanczos", "lanczos", {"antialias": True}),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("theirs, mode, how", PEERS, ids=str)
def test_equal_to_interpolate(theirs, mode, how, dtype):
    """Bit for bit, but for sums of floats, whose weights differ in their last bit: resize's positions are rounded
    once."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        shape, size = rng.integers(1, 70, 2), tuple(rng.integers(1, 90, 2).tolist())
        x = (rng.standard_normal((2, 3, *shape)) * 50 + 100).clip(0, 255).astype(dtype)
        for corners in (False, True) if mode in ("linear", "cubic") else (False,):
            align = {"align": "align_corners"} if corners else {}
            wide = how.get("antialias", False)
            want = tenter.interpolate(x, size, mode=theirs, align_corners=corners or None, antialias=wide)
            got = tenter.resize(x, size, axes=(2, 3), mode=mode, like="torch", **how, **align)
            if dtype == "uint8" or mode.startswith(("nearest", "area")):
                assert np.array_equal(got, want), (shape, size, corners)
            else:
                np.testing.assert_allclose(got, want, rtol=0, atol=1e-4 if dtype == "float32" else 1e-11)


# ---- what spreads, and what does not


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("mode", ["linear", "cubic", "lanczos", "area", "box", "nearest"])
def test_a_nan_stays_where_it_counts(mode, edge):
    for n, m, box in ((5, 8, None), (9, 4, None), (6, 7, (-3, 8)), (8, 3, (0, 1)), (7, 20, (5, 30))):
        how = {"mode": mode, "edge": edge, "box": [box]}
        found = tenter.axis_map(n, m, **how)
        matrix, reads = found.dense(), [found.reads(o, o + 1) for o in range(m)]
        for j in range(n):
            x = np.zeros(n)
            x[j] = np.nan
            spread = np.isnan(tenter.resize(x, m, **how))
            if mode in ("cubic", "lanczos"):  # which have zeros between their taps, that windows may include
                held = np.array([read.start <= j < read.stop for read in reads])
                assert np.all(spread >= (matrix[:, j] != 0)) and np.all(spread <= held), (n, m, box, j)
            else:
                assert np.array_equal(spread, matrix[:, j] != 0), (n, m, box, j)


def test_values_outside():
    x, box = np.arange(1.0, 6), [(-2, 6)]
    for value in (7.0, np.nan, np.inf, -3):
        got = tenter.resize(x, 8, box=box, edge="constant", value=value)
        assert np.array_equal(got, [value, value, 1, 2, 3, 4, 5, value], equal_nan=True)
        assert np.array_equal(got, tenter.resize(x, 8, box=box, edge="extrapolate", value=value), equal_nan=True)
    half = tenter.resize(np.zeros(2), 4, edge="constant", value=8.0)
    close(half, [2, 0, 0, 2])
    area = tenter.resize(np.zeros(2), 2, box=[(-1, 2)], mode="area", edge="constant", value=6.0)
    close(area, [4, 0])


def test_a_box_at_a_tie_keeps_a_pixel():
    """A scale that is a float puts the tie a rounding away from where it is."""
    x = np.arange(1.0, 4.0)
    for scale in (0.8333333333333334, 0.8333333333333333, 5 / 6, Fraction(5, 6)):
        for edge in ("wrap", "replicate", "renormalize"):
            got = tenter.resize(
                x,
                scale=scale,
                like=Convention.of("torch", length_rounding="ceil"),
                mode="box",
                edge=edge,
                antialias=False,
            )
            assert got.tolist() == [1, 2, 1 if edge == "wrap" else 3 if edge == "replicate" else 0], (scale, edge)


@pytest.mark.parametrize("make", [np.asarray, pytest.importorskip("torch").from_numpy], ids=["numpy", "torch"])
def test_areas_keep_the_mean_at_any_factor(make):
    """Conservative regridding: what goes in comes out, however outputs cut inputs. PyTorch's area does not."""
    rng = np.random.default_rng(0)
    spike = np.zeros(10)
    spike[3] = 1.0
    assert tenter.resize(make(spike), 7, mode="area").sum().item() * 10 / 7 == pytest.approx(1)
    assert tenter.interpolate(make(spike[None, None]), 7, mode="area").sum().item() * 10 / 7 == pytest.approx(
        0.476, abs=1e-3
    )
    for _ in range(30):
        shape, size = rng.integers(1, 50, 2), tuple(rng.integers(1, 60, 2).tolist())
        x = rng.random(shape)
        assert tenter.resize(make(x), size, mode="area").mean().item() == pytest.approx(x.mean(), rel=1e-12)
        assert tenter.resize(make(x), size, mode="area", like="opencv").mean().item() == pytest.approx(
            x.mean(), rel=1e-12
        )
