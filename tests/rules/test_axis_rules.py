"""Rules of axes in the core: its positions are the exact ones, and numbers that it cannot keep give the same maps."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from sweeps import sampled
from tenter import _native
from tenter._rules import filters
from tenter._rules.axis_rule import AxisRule
from tenter._rules.geometry import ALIGNS, TIES
from tenter._specs import axis_maps
from tenter._specs.axis_maps import axis_map, in_core, new_axis_map
from tenter.maps import Copy, Gather, Window

SCALES = (None, "2", "1/3", "7/5", "6004799503160661/18014398509481984")
BOXES = (None, ("1/2", "5"), ("-3", "20/3"), ("3602879701896397/36028797018963968", "3"), ("2", "7/3"))
LENGTHS = (1, 2, 5, 7, 50)
# Parts of a pixel that take hundreds of bits.
FINE = Fraction(1, 3**200)


def rule(kind, align, scale=None, box=None, tie="floor", arithmetic="exact", edge="replicate", antialias=False):
    return AxisRule(kind, align, scale, box, tie, arithmetic, edge, antialias, -0.5)


@pytest.mark.parametrize("align, antialias", sampled(itertools.product(ALIGNS, [False, True]), 7))
def test_the_cores_positions_are_those_of_geometry(align, antialias):
    """Maps by positions that the core computes, and by those that Geometry gives it."""
    differ = 0
    for scale, box, n_in, n_out in itertools.product(SCALES, BOXES, LENGTHS, LENGTHS):
        for kind in ("linear", "overlap"):
            r = rule(kind, align, scale, box, antialias=antialias and kind == "linear")
            core, _ = in_core(r)
            wide = axis_maps._wide(r, r._replace(align=core.lined_up_by).geometry(n_in, n_out))
            by_core, given = (axis_maps._made(core, r, n_in, n_out, numbers) for numbers in (None, wide))
            if not isinstance(by_core, _native.Sampling) or not isinstance(given, _native.Sampling):
                continue
            one, other = (axis_maps.computed(n_in, n_out, rows) for rows in (by_core, given))
            assert one == other or np.allclose(one.dense(), other.dense(), rtol=0, atol=1e-12), (r, n_in, n_out)
            differ += one != other
    assert differ < 40  # last bits, where a ratio in lowest terms is exact


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("edge", ["replicate", "reflect", "wrap"])
def test_positions_of_hundreds_of_bits_are_exact(tie, edge):
    for align, n_in, n_out in itertools.product(("half_pixel", "asymmetric", "align_corners"), (3, 10), (2, 7, 31)):
        for low in (-FINE, FINE, Fraction(1, 2) - FINE, Fraction(1, 2) + FINE):
            box = (str(low), str(n_in - 1 + 3 * FINE))
            r = rule("nearest", align, None, box, tie, edge=edge)
            found = r.geometry(n_in, n_out).nearest(tie)
            want = _native.folded(found, n_in, edge)
            made = axis_map(r, n_in, n_out)
            index = made.index() if isinstance(made, Copy) else made.index
            assert np.array_equal(index, want), (align, n_in, n_out, low)


@pytest.mark.parametrize("kind", ["linear", "cubic", "overlap", "gaussian"])
@pytest.mark.parametrize("antialias", [False, True])
def test_a_hair_of_hundreds_of_bits_changes_no_weight_by_more(kind, antialias):
    """The core rounds such positions to 80 bits of a pixel."""
    for edge in ("replicate", "reflect", "renormalize"):
        fine = rule(kind, "half_pixel", None, (str(1 + FINE), str(7 - FINE)), edge=edge, antialias=antialias)
        coarse = fine._replace(box=("1", "7"))
        for n_in, n_out in ((9, 4), (9, 23)):
            one, other = (new_axis_map(r, n_in, n_out).dense() for r in (fine, coarse))
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-8)


def test_positions_that_descend_are_picked_and_weighed():
    """As corners of a box below one pixel are."""
    r = rule("nearest", "align_corners", None, ("1", "3/2"))
    index = r.geometry(4, 3).nearest("floor")
    assert index[0] > index[-1]
    assert axis_map(r, 4, 3).index.tolist() == index.tolist()
    dense = axis_map(r._replace(kind="linear"), 4, 3).dense()
    np.testing.assert_allclose(dense.sum(1), 1)
    np.testing.assert_allclose(dense @ np.arange(4.0), r.geometry(4, 3).index())


def folded_by_hand(column, n_in, edge):
    period = {"reflect": 2 * n_in - 2, "symmetric": 2 * n_in, "wrap": n_in}.get(edge, 0)
    if not period:
        return min(max(column, 0), n_in - 1)
    at = column % period
    return at if at < n_in else period - at - (edge == "symmetric")


@pytest.mark.parametrize("edge", _native.WORDS["edge"])
def test_edges_fold_positions_onto_pixels(edge):
    for n_in in (1, 2, 3, 8):
        column = np.arange(-40, 40)
        want = [folded_by_hand(c, n_in, edge) for c in column.tolist()]
        assert _native.folded(column, n_in, edge).tolist() == want


def test_a_gaussian_goes_before_linear_and_the_rest_of_its_rows_sums_to_one():
    r = rule("gaussian", "half_pixel", edge="renormalize", antialias=True)
    made = axis_map(r, 40, 10)
    assert isinstance(made, Window)
    np.testing.assert_allclose(made.dense().sum(1), 1)
    distance, bell = filters.gaussian((4 - 1) / 2)
    linear = axis_map(rule("linear", "half_pixel"), 40, 10).dense()
    want = np.zeros(40)
    for column in np.flatnonzero(linear[5]):
        want[column + distance] += linear[5, column] * bell
    np.testing.assert_allclose(made.dense()[5], want / want.sum(), atol=1e-15)


REFUSED = {
    "a kind": ("kind", "none"), "an align": ("align", "middle"), "a tie": ("tie", "up"), "an edge": ("edge", "abyss"),
    "an arithmetic": ("arithmetic", "roman"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_words_that_the_core_does_not_know_are_refused(name):
    field, word = REFUSED[name]
    fields = {"kind": "area", "align": "half_pixel", "tie": "floor", "arithmetic": "exact", "edge": "wrap"} | {
        field: word
    }
    with pytest.raises(ValueError, match=f"{field}: expected a word"):
        _native.AxisRule(*fields.values(), False)


@pytest.mark.parametrize(("n_in", "n_out"), [(-1, 3), (3, -1), (0, 3)])
def test_lengths_of_no_axis_are_refused(n_in, n_out):
    core, _ = in_core(rule("nearest", "half_pixel"))
    with pytest.raises(ValueError, match="axis: expected"):
        core.map(n_in, n_out, None, None, axis_maps._check_memory, filters.gaussian, None)


@pytest.mark.parametrize("words", ["", "-", "1/0", "one", "1/3/4", "1.5", "0", "-1/3", "1" * 60])
def test_scales_that_the_core_cannot_read_are_left_to_python(words):
    core, _ = in_core(rule("nearest", "half_pixel"))
    assert core.map(4, 8, words, None, axis_maps._check_memory, filters.gaussian, None) is None


@pytest.mark.parametrize("seed", sampled(range(20), 5))
def test_nearest_inputs_are_those_of_geometry(seed):
    """Any tie, of boxes and scales with fractions: the input at each position, by plain fractions."""
    rng = np.random.default_rng(seed)
    for _ in range(60):
        n_in, n_out = (int(n) for n in rng.integers(1, 40, 2))
        scale = SCALES[rng.integers(len(SCALES))]
        box = BOXES[rng.integers(len(BOXES))]
        align, tie = ALIGNS[rng.integers(len(ALIGNS))], TIES[rng.integers(len(TIES))]
        r = rule("nearest", align, scale, box, tie)
        want = np.clip(r.geometry(n_in, n_out).nearest(tie), 0, n_in - 1)
        made = axis_map(r, n_in, n_out)
        assert (made.index() if isinstance(made, Copy) else made.index).tolist() == want.tolist(), (r, n_in, n_out)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighs", [False, True])
def test_transposes_of_tables_are_transposes(seed, weighs):
    """Of any windows, with empty rows among them, and of any gathers."""
    rng = np.random.default_rng(seed)
    for _ in range(40):
        n_in, n_out = (int(n) for n in rng.integers(1, 30, 2))
        start = np.sort(rng.integers(0, n_in + 1, n_out))
        stop = np.maximum.accumulate(np.minimum(start + rng.integers(0, 5, n_out), n_in))
        start = np.minimum(start, stop)
        offset = np.concatenate([[0], np.cumsum(stop - start)])
        window = Window(n_in, n_out, start, offset, rng.random(offset[-1]) if weighs else None)
        index = rng.integers(0, n_in, offset[-1])
        for m in (window, Gather(n_in, n_out, offset, index, rng.random(offset[-1]))):
            assert np.array_equal(m.T.dense(), m.dense().T)
            assert np.array_equal(m.T.T.dense(), m.dense())


@pytest.mark.parametrize(
    "given",
    [
        (-1, [], [0]), (4, [0], [0]), (4, [0, 1], [0, 1, 3, 4]), (4, [1, 0], [0, 1, 2]), (4, [0, 1], [0, 4, 5]),
        (4, [-1], [0, 1]), (4, [3], [0, 2]), (4, [0], [1, 2]),
    ],
)  # fmt: skip
def test_windows_that_are_none_have_no_transpose(given):
    n_in, start, offset = given
    with pytest.raises(ValueError, match="rows: expected"):
        _native.transposed_window(n_in, np.array(start, np.int64), np.array(offset, np.int64), None)


@pytest.mark.parametrize(
    "given",
    [
        (-1, [0, 1], [0], [1.0]), (4, [0, 1], [4], [1.0]), (4, [0, 1], [-1], [1.0]), (4, [0, 1], [0], [1.0, 2.0]),
        (4, [0, 2, 1], [0], [1.0]), (4, [1, 1], [0], [1.0]),
    ],
)  # fmt: skip
def test_gathers_that_are_none_have_no_transpose(given):
    n_in, offset, index, weight = given
    with pytest.raises(ValueError, match="rows: expected"):
        _native.transposed_gather(n_in, np.array(offset, np.int64), np.array(index, np.int64), np.array(weight))
