"""`tenter.image.resize`: sizes that keep the ratio of the sides, against plain arithmetic in fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tenter
from tenter.image import Fill, Fit, resize

SIDES = st.integers(1, 60)
PHOTO = np.random.default_rng(0).integers(0, 256, (30, 40, 3), np.uint8)


def half_up(exact: Fraction) -> int:
    return max(1, (2 * exact.numerator + exact.denominator) // (2 * exact.denominator))


@settings(max_examples=50, deadline=None)
@given(SIDES, SIDES, SIDES, SIDES, st.booleans())
def test_fit_is_the_largest_within(height: int, width: int, most_h: int, most_w: int, enlarge: bool) -> None:
    factor = min(Fraction(most_h, height), Fraction(most_w, width))
    factor = factor if enlarge else min(factor, Fraction(1))
    expected = (half_up(height * factor), half_up(width * factor))
    made = resize(np.zeros((height, width), np.uint8), Fit((most_h, most_w), enlarge), mode="nearest")
    assert made.shape == expected
    assert made.shape[0] <= most_h and made.shape[1] <= most_w
    if enlarge or height > most_h or width > most_w:
        assert made.shape[0] == most_h or made.shape[1] == most_w


@settings(max_examples=40, deadline=None)
@given(SIDES, SIDES, SIDES)
def test_one_side_is_exact_and_the_other_follows(height: int, width: int, side: int) -> None:
    x = np.zeros((height, width), np.uint8)
    assert resize(x, (None, side), mode="nearest").shape == (half_up(Fraction(height * side, width)), side)
    assert resize(x, (side, None), mode="nearest").shape == (side, half_up(Fraction(width * side, height)))
    assert resize(x, Fit(side), mode="nearest").shape == resize(x, Fit((side, side)), mode="nearest").shape


@settings(max_examples=50, deadline=None)
@given(SIDES, SIDES, SIDES, SIDES, st.sampled_from(["center", "north", "southwest", "east"]))
def test_fill_is_one_resample_of_a_window(height: int, width: int, to_h: int, to_w: int, gravity: str) -> None:
    x = np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8)
    factor = max(Fraction(to_h, height), Fraction(to_w, width))
    window = (to_h / factor, to_w / factor)
    assert all(0 < part <= whole for part, whole in zip(window, (height, width)))
    assert height in window or width in window or window == (height, width)
    vertical = 0 if "north" in gravity else 1 if "south" in gravity else Fraction(1, 2)
    horizontal = 0 if "west" in gravity else 1 if "east" in gravity else Fraction(1, 2)
    top, left = (height - window[0]) * vertical, (width - window[1]) * horizontal
    expected = resize(x, (to_h, to_w), box=((top, top + window[0]), (left, left + window[1])))
    np.testing.assert_array_equal(resize(x, Fill((to_h, to_w), gravity)), expected)


@pytest.mark.parametrize(("gravity", "rows"), [("north", (0, 20)), ("center", (5, 25)), ("south", (10, 30))])
def test_whole_pixels_are_cut_as_slices_are(gravity: str, rows: tuple[int, int]) -> None:
    np.testing.assert_array_equal(resize(PHOTO, Fill((20, 40), gravity)), PHOTO[slice(*rows)])


def test_a_box_is_taken_for_the_picture_and_may_run_backwards() -> None:
    box = ((20, 4), (3, 35))
    np.testing.assert_array_equal(resize(PHOTO, Fit((8, 8)), box=box), resize(PHOTO, (4, 8), box=box))
    upright = resize(PHOTO[::-1], Fill((5, 7), "south"), box=((10, 26), (0, 40)))
    np.testing.assert_array_equal(resize(PHOTO, Fill((5, 7), "south"), box=((20, 4), (0, 40))), upright)


def test_alpha_light_and_out() -> None:
    rgba = np.dstack([PHOTO, PHOTO[..., :1]])
    np.testing.assert_array_equal(
        resize(rgba, (None, 20), alpha=True, linear_light=True), resize(rgba, (15, 20), alpha=True, linear_light=True)
    )
    out = np.empty((15, 20, 3), np.uint8)
    assert resize(PHOTO, Fit(np.int64(20)), out=out) is out


@pytest.mark.parametrize(("height", "width"), [(1, 100_000), (100_000, 1)])
def test_no_side_is_ever_nothing(height: int, width: int) -> None:
    x = np.zeros((height, width), np.uint8)
    assert resize(x, Fit((10, 10))).shape == (min(height, 10), min(width, 10))


@pytest.mark.parametrize(
    ("how", "message", "call"),
    [
        (
            lambda: resize(PHOTO, Fit(3), scale=4),
            "size: expected size or scale, not both",
            "resize(x: uint8[30, 40, 3]",
        ),
        (
            lambda: resize(PHOTO, (None, None)),
            "size: expected (height, width), at most one of them None",
            "size=(None, None)",
        ),
        (lambda: resize(PHOTO, (None, 2.5)), "size: expected sizes that are ints, got 2.5", "size=(None, 2.5)"),
        (lambda: resize(PHOTO, (None, 3, 4)), "size: expected (height, width)", "size=(None, 3, 4)"),
        (lambda: resize(PHOTO, (0, None)), "size: expected sizes that are ints >= 1, got 0", "size=(0, None)"),
        (lambda: resize(PHOTO, width=3), "width: expected no argument of this name", "(did you mean size=(None, 3)?)"),
        (lambda: resize(PHOTO, fit=(3, 4)), "fit: expected no argument", "(did you mean size=Fit((3, 4))?)"),
        (lambda: resize(PHOTO, 3, edge="wrap"), "edge: expected no argument", "Convention.of(edge='wrap')"),
        (lambda: Fit(0), "size: expected sizes that are ints >= 1, got 0", "image.Fit(0"),
        (lambda: Fit((1, 2, 3)), "size: expected 2 values", "image.Fit((1, 2, 3)"),
        (lambda: Fit("640x480"), "size: expected sizes that are ints", "image.Fit('640x480'"),
        (lambda: Fit(True), "size: expected", "got the bool True"),
        (lambda: Fit(3, 1), "enlarge: expected two sides in one size, (3, 1), got 1", "image.Fit(3, enlarge=1)"),
        (lambda: Fill(3, "nort"), "got 'nort' (did you mean 'north'?)", "image.Fill(3, gravity='nort')"),
        (lambda: Fill(3, 1), "gravity: expected two sides in one size, (3, 1), got 1", "image.Fill(3, gravity=1)"),
    ],
)
def test_refused(how: Any, message: str, call: str) -> None:
    with pytest.raises((ValueError, TypeError)) as raised:
        how()
    assert message in str(raised.value) and call in str(raised.value) and "\n  in image." in str(raised.value)


def test_a_picture_without_pixels_has_no_ratio() -> None:
    with pytest.raises(ValueError, match=r"x: expected at least one pixel, .* got shape \(0, 4\)"):
        tenter.image.resize(np.zeros((0, 4), np.uint8), Fit(3))
