"""The playground's maps, in JavaScript, are the library's."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import playground_helpers as playground
import tenter
from tenter import maps
from tenter._rules import filters
from tenter._rules.presets import PRESETS, convention
from tenter._specs.modes import NO_ANTIALIAS

SLOW = pytest.mark.slow
MODES = ("nearest", "nearest-exact", "linear", "cubic", "lanczos", "area", *(m for m in filters.NAMED if m != "linear"))
MODES = tuple(m for m in MODES if m not in ("spline2", "spline4", "spline5"))  # which the playground lacks
WITH_SPLINES = (None, "skimage", "scipy")
SIZES = [*itertools.product((1, 2, 3, 4, 7, 12, 24), (1, 2, 3, 5, 8, 17, 48)), (64, 24), (48, 192), (64, 64)]
LIKES: list[dict[str, Any]] = [{}, *({"like": like} for like in PRESETS)]


def resamplings() -> list[tuple[int, int, str, dict[str, Any]]]:
    """Every size, mode, convention and flag."""
    flags = itertools.product(LIKES, (None, True, False), (None, "half_pixel", "align_corners", "asymmetric"))
    each = itertools.product(SIZES, MODES, flags)
    return [
        (n_in, n_out, mode, {**like, "antialias": antialias, "align": align})
        for (n_in, n_out), mode, (like, antialias, align) in each
        if mode in (convention(like.get("like")).modes or MODES) and not (antialias and mode in NO_ANTIALIAS)
        if (mode, convention(like.get("like")).cubic) != ("cubic", "spline")
        if mode != "spline3" or like.get("like") in WITH_SPLINES
        if antialias is not None or convention(like.get("like")).antialias or not mode.startswith("lanczos")
    ]


def check_resampling(cases: list[tuple[int, int, str, dict[str, Any]]]) -> None:
    found = playground.results("([n, out, mode, how]) => Maps.dense(Maps.resized(n, out, mode, how))", cases)
    for (n_in, n_out, mode, how), weights in zip(cases, found, strict=True):
        expected = tenter.axis_map(n_in, n_out, mode, **how).dense()
        np.testing.assert_allclose(np.array(weights), expected, rtol=0, atol=1e-12, err_msg=f"{n_in, n_out, mode, how}")


def test_resampling_has_the_weights_of_axis_map():
    cases = resamplings()
    usual = [c for c in cases if c[3] == {"antialias": None, "align": None}]
    check_resampling(usual[::3] + cases[::211])


@SLOW
@pytest.mark.parametrize("part", range(4))
def test_resampling_has_the_weights_of_axis_map_everywhere(part):
    check_resampling(resamplings()[part::4])


@SLOW
def test_nearest_rounds_as_the_libraries_at_every_size():
    sizes = itertools.product(range(1, 25), range(1, 193))
    check_resampling([(i, o, m, how) for (i, o), m, how in itertools.product(sizes, MODES[:2], LIKES)])


def test_copies_have_the_weights_of_copy():
    counts = [[2], [1, 3, 2], [0, 2, 0, 1], [0, 0], [5] * 7]
    results = playground.results("(counts) => Maps.dense(Maps.counts(counts))", counts)
    for found, each in zip(results, counts, strict=True):
        expected = maps.Copy.repeats(each).dense()
        assert np.array_equal(np.array(found).reshape(expected.shape), expected)
    pairs = [(n, r) for n in (1, 3, 8) for r in (0, 1, 2, 5)]
    for name, ours in (("every", maps.Copy.repeat_each), ("cycle", maps.Copy.tile)):
        function = f"([n, times]) => Maps.dense(Maps.{name}(n, times))"
        for found, pair in zip(playground.results(function, pairs), pairs, strict=True):
            expected = ours(*pair).dense()
            assert np.array_equal(np.array(found).reshape(expected.shape), expected)


def test_transposes_are_those_of_maps():
    cases = resamplings()[::1201]
    function = "([n, out, mode, how]) => Maps.dense(Maps.transpose(Maps.resized(n, out, mode, how)))"
    for (n_in, n_out, mode, how), found in zip(cases, playground.results(function, cases), strict=True):
        expected = tenter.axis_map(n_in, n_out, mode, **how).T.dense()
        np.testing.assert_allclose(np.array(found), expected, rtol=0, atol=1e-12)


def test_pictures_are_those_of_resize():
    (scene,) = playground.results("() => Array.from(Scene.pixels())", [None])
    image = np.array(scene, np.float32).reshape(48, 64, 3)
    sizes = [(6, 8), (53, 71), (80, 48)]
    modes = ["nearest", "nearest-exact", "linear", "cubic", "lanczos3", "area"]
    cases = [(s, m, a) for s, m, a in itertools.product(sizes, modes, (False, True)) if not (a and m in NO_ANTIALIAS)]
    function = "([[h, w], mode, antialias]) => Array.from(Scene.resized(Scene.pixels(), h, w, mode, antialias))"
    for (size, mode, antialias), found in zip(cases, playground.results(function, cases), strict=True):
        expected = tenter.resize(image, size, axes=(0, 1), mode=mode, antialias=antialias)
        np.testing.assert_allclose(np.array(found).reshape(expected.shape), expected, rtol=0, atol=1e-3)
