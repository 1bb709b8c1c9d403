"""The playground's calls and its rows of code: run, they give what the page draws."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import playground_helpers as playground
import tenter
from tenter._rules.presets import PRESETS

torch = pytest.importorskip("torch")
LOOK = """(fragment) => {
    const {state, refused} = State.parse(fragment), result = Calls.of(state);
    const {error, shapeOut: shape, y} = result;
    const rows = error ? [] : Code.rows(state, result);
    return {refused, error, shape, y, setup: Code.setup(result), call: Code.call(state), rows};
}"""


def namespace(library: str) -> dict[str, Any] | None:
    """What a library's code runs in; None where it is not installed."""
    names: dict[str, Any] = {"np": np, "tenter": tenter, "torch": torch, "F": torch.nn.functional}
    try:
        if library == "JAX":
            import jax
            import jax.numpy

            names |= {"jax": jax, "jnp": jax.numpy}
        elif library == "einops":
            import einops

            names |= {"einops": einops}
        elif library == "Pillow":
            from PIL import Image

            names |= {"Image": Image}
        elif library == "OpenCV":
            import cv2

            names |= {"cv2": cv2}
        elif library == "SciPy":
            import scipy.ndimage

            names |= {"scipy": scipy}
        elif library == "scikit-image":
            import skimage.transform

            names |= {"skimage": skimage}
    except ImportError:
        return None
    return names


def evaluated(library: str, setup: str, code: str) -> np.ndarray | None:
    names = namespace(library)
    if names is None:
        return None
    exec(setup, names)
    if library == "PyTorch":
        names["x"] = torch.tensor(names["x"])
    elif library == "JAX":
        names["x"] = names["jnp"].array(names["x"])
    return np.asarray(eval(code, names))


def stretches() -> list[str]:
    """Fragments of repeats, tiles and expansions; some are refused."""
    found = []
    repeats = ["2", "1", "0", "-1", "1,3,2", "1,2", "3,1", "0,2,1", "2,-1,0", "1,2,1,2,1,2", "2,0,1,1,2,0,1,3"]
    sizes = ["2", "1", "0", "2,2", "1,3", "2,1,2", "0,2", "-1", "2,-1"]
    to = ["3", "4", "-1", "2,3", "2,2,3", "-1,3", "3,4", "2,-1,3", "-1,2,3", "-2", "4,-1", "0,3", "2,4,2", "1,3"]
    for rows, cols in [(0, 3), (0, 1), (2, 3), (1, 3), (3, 1), (4, 2)]:
        x = f"rows={rows}&cols={cols}"
        found += [f"op=repeat_interleave&{x}&dim={dim}&repeats={r}" for dim in ("none", "0", "1") for r in repeats]
        found += [f"op={op}&{x}&sizes={s}" for op in ("repeat", "tile") for s in sizes]
        found += [f"op=expand&{x}&to={s}" for s in to]
    return found


def resamplings(sizes: list[tuple[int, int]]) -> list[str]:
    found = []
    modes = ("nearest", "nearest-exact", "linear", "cubic", "area", "lanczos3")
    more = ("catmull-rom", "mitchell", "bspline", "box", "hamming")
    for n, out in sizes:
        at = f"n={n}&out={out}"
        for mode, corners, antialias in itertools.product(modes, ("no", "yes"), ("no", "yes")):
            found.append(f"op=interpolate&{at}&mode={mode}&corners={corners}&antialias={antialias}")
        for like, convention in PRESETS.items():
            its = [m for m in modes + more if not convention.modes or m in convention.modes]
            # The playground has one name of a spline.
            its = [m for m in its if (m, convention.cubic) != ("cubic", "spline")]
            its += ["spline3"] * (convention.cubic == "spline")
            found += [f"op=resize&{at}&mode={mode}&like={like}" for mode in its]
        for mode in ("nearest", "linear", "mitchell", "area"):
            for align, antialias in itertools.product(("half_pixel", "align_corners", "asymmetric"), ("auto", "yes")):
                found.append(f"op=resize&{at}&mode={mode}&align={align}&antialias={antialias}")
    return found


def check(fragments: list[str], jax_every: int = 1) -> set[str]:
    """Runs all rows of code; returns the libraries that had one. jax_every: of how many fragments one runs JAX's, which
    compiles for each shape."""
    ran = set()
    for k, (fragment, found) in enumerate(zip(fragments, playground.results(LOOK, fragments), strict=True)):
        assert not found["refused"], fragment
        names = namespace("tenter")
        exec(found["setup"], names)
        if found["error"]:
            with pytest.raises((ValueError, TypeError, IndexError)) as raised:
                eval(found["call"], names)
            assert str(raised.value).split("\n")[0] == found["error"], fragment
            continue
        rows = dict(found["rows"])
        assert rows["tenter"] == found["call"]
        expected = np.array(found["y"], np.float64).reshape(found["shape"])
        for library, code in rows.items():
            if code is None or (library == "JAX" and k % jax_every):
                continue
            if (y := evaluated(library, found["setup"], code)) is None:
                continue
            ran.add(library)
            assert y.shape == expected.shape, (fragment, library, code)
            np.testing.assert_allclose(y, expected, rtol=2e-5, atol=2e-4, err_msg=f"{fragment} {library}: {code}")
    return ran


@pytest.mark.slow
def test_repeats_run_in_every_library():
    fragments = stretches()
    assert check(fragments[::7], 16) >= {"tenter", "PyTorch", "NumPy"}


def test_resampling_runs_in_every_library():
    assert check(resamplings([(4, 8), (8, 4), (5, 3)])[::5], 16) >= {"tenter", "PyTorch", "NumPy"}


@pytest.mark.slow
def test_every_repeat_runs_in_every_library():
    check(stretches())


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 12, 24])
def test_all_resampling_runs_in_every_library(n):
    check(resamplings([(n, out) for out in (1, 2, 3, 5, 6, 8, 13, 24, 36, 48)]))


def test_a_call_that_another_library_lacks_has_no_code():
    fragments = ["op=interpolate&n=7&out=3&mode=cubic", "op=repeat_interleave&repeats=1,3,2"]
    fragments.append("op=resize&n=4&out=8&mode=mitchell")
    einops_has = [dict(found["rows"])["einops"] for found in playground.results(LOOK, fragments)]
    assert einops_has == [None, None, None]
    (mitchell,) = playground.results(LOOK, fragments[2:])
    assert [library for library, code in mitchell["rows"] if code] == ["tenter"]


def test_the_sentence_counts_the_inputs_that_are_left_out():
    modes = ("nearest", "nearest-exact", "linear", "cubic", "lanczos3", "area", "box")
    cases = list(itertools.product(modes, (3, 9, 20), (2, 4, 24)))
    fragments = [f"op=resize&mode={mode}&n={n}&out={out}" for mode, n, out in cases]
    say = "(fragment) => { const {state} = State.parse(fragment); return Words.sentence(state, Calls.of(state)); }"
    for (mode, n, out), said in zip(cases, playground.results(say, fragments), strict=True):
        unread = int((tenter.axis_map(n, out, mode).dense() == 0).all(axis=0).sum())
        assert (f" {unread} of {n} inputs count" in said) if unread else (" of " + str(n)) not in said, said


def test_fragments_come_back_from_what_they_say():
    fragments = [*stretches()[::7], *resamplings([(4, 8)])[::5], "op=tile&width=100&blur=yes&zoom=4", ""]
    function = """(fragment) => {
        const first = State.parse(fragment), second = State.parse("#" + State.written(first.state));
        return [first, second, State.written(second.state) === State.written(first.state)];
    }"""
    for fragment, (first, second, same) in zip(fragments, playground.results(function, fragments), strict=True):
        used = set(first["state"]) - {"mode", "like", "dim"}
        assert same and not first["refused"] and not second["refused"], fragment
        assert first["state"]["op"] == second["state"]["op"] and used <= set(second["state"])


BAD = {
    "op=flip": ["op"], "n=0&out=99": ["n", "out"], "n=1e3": ["n"], "cols=-1": ["cols"], "rows=2.5": ["rows"],
    "repeats=<img src=x>": ["repeats"], "repeats=": ["repeats"], "repeats=" + "1," * 40 + "1": ["repeats"],
    "constructor=1&__proto__=2&toString=3": ["constructor", "__proto__", "toString"], "mode=sharp": ["mode"],
    "op=interpolate&mode=mitchell": ["mode"], "op=resize&like=scipy&mode=cubic": ["mode"], "%E0%A4%A": ["\ufffd%A"],
    "a" * 10_000: ["a" * 40], "like=constructor": ["like"],
}  # fmt: skip


def test_bad_fragments_are_refused_by_name_and_draw_what_is_usual():
    for (fragment, names), found in zip(BAD.items(), playground.results(LOOK, list(BAD)), strict=True):
        assert [line.partition(":")[0] for line in found["refused"]] == names, fragment
        assert found["error"] is None and found["rows"], fragment


def test_the_page_says_what_it_does_not_draw():
    large = ["op=repeat&cols=8&sizes=99", "op=expand&to=30,30,3", "op=repeat&sizes=1,1,1,2"]
    large.append("op=tile&rows=4&cols=8&sizes=9")
    for found in playground.results(LOOK, large):
        assert "This page draws up to" in found["error"] and not found["refused"]
