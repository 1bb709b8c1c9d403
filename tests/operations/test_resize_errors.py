"""Everything that resize refuses: the kind of error, the argument it names, one form for all; remembered calls."""

from __future__ import annotations

import gc
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import dask.array
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from PIL import Image

import tenter
from error_helpers import refused
from sweeps import in_one_test
from tenter._plans import cache
from tenter._specs.modes import NO_ANTIALIAS
from tenter.conventions import PRESETS

NAN, INF, HUGE = float("nan"), float("inf"), 10**400
X, ROW = np.arange(12, dtype=np.float32).reshape(3, 4), np.arange(5, dtype=np.float32)
Filter = tenter.filters.Filter
NOT_LARGER = PRESETS["torch"]._replace(aspect_ratio="not_larger")


class Unhashable:
    __hash__ = None

    def __call__(self, x):
        return x


# Arguments after x, which is X unless it is among them: the argument named, the error, words in the message.
ERRORS = [
    ({}, "size", ValueError, ["size or scale, got neither"]),
    ({"size": (3, 3), "scale": 2}, "size", ValueError, ["not both"]),
    ({"size": "3"}, "size", TypeError, ["'3'"]),
    ({"size": 3.0}, "size", TypeError, ["3.0"]),
    ({"size": True}, "size", TypeError, ["True"]),
    ({"size": (3, -3)}, "size", ValueError, [">= 0", "-3"]),
    ({"size": (3, 4, 5)}, "size", ValueError, ["2 lengths, one per axis", "got 3"]),
    ({"size": 3}, "size", ValueError, ["2 lengths, one per axis", "size=(3, 3) for all", "got 3"]),
    ({"size": (3,)}, "size", ValueError, ["2 lengths, one per axis", "got 1"]),
    ({"size": ()}, "size", ValueError, ["got 0"]),
    ({"size": (3, 2**70)}, "size", ValueError, ["2**63"]),
    ({"size": (2**62, 2**62)}, "result", MemoryError, ["2**63"]),
    ({"size": (10**9, 10**9)}, "result", MemoryError, ["GiB"]),
    ({"scale": NAN}, "scale", ValueError, ["finite", "nan"]),
    ({"scale": INF}, "scale", ValueError, ["finite", "inf"]),
    ({"scale": 0}, "scale", ValueError, ["above 0"]),
    ({"scale": -1.5}, "scale", ValueError, ["above 0"]),
    ({"scale": 5e-324, "like": PRESETS["torch"]._replace(length_rounding="ceil")}, "scale", ValueError, ["2**-53"]),
    ({"scale": HUGE}, "scale", ValueError, ["2**63"]),
    ({"scale": 2e18, "x": ROW}, "scale", ValueError, ["2**63"]),
    ({"scale": 10**18}, "result", MemoryError, ["2**63"]),
    ({"scale": Fraction(10**19, 3), "x": ROW}, "scale", ValueError, ["2**63"]),
    ({"scale": (0, 1)}, "scale", ValueError, ["above 0"]),
    ({"scale": [(1, 2), 2]}, "scale", TypeError, ["fractions.Fraction", "got (1, 2)"]),
    ({"scale": 0.1}, "scale", ValueError, ["at least 1", "floor(3 * 0.1) = 0"]),
    ({"scale": Fraction(1, 10)}, "scale", ValueError, ["at least 1"]),
    ({"scale": "2"}, "scale", TypeError, ["'2'"]),
    ({"scale": True}, "scale", TypeError, ["True"]),
    ({"scale": 1j}, "scale", TypeError, ["1j"]),
    ({"scale": []}, "scale", ValueError, ["got 0"]),
    ({"size": 3, "axes": 2}, "axes", IndexError, ["from -2 to 1"]),
    ({"size": (3, 3), "axes": (0, -3)}, "axes", IndexError, ["got -3"]),
    ({"size": (3, 3), "axes": (0, -2)}, "axes", ValueError, ["each axis once"]),
    ({"size": 3, "axes": 0.0}, "axes", TypeError, ["0.0"]),
    ({"size": 3, "axes": True}, "axes", TypeError, ["True"]),
    ({"size": 3, "axes": "ab"}, "axes", TypeError, ["'ab'"]),
    ({"size": 3, "x": X[None]}, "axes", ValueError, ["(H, W, C)", "got none"]),
    ({"size": 3, "x": np.float32(3)}, "x", ValueError, ["0-d"]),
    ({"size": [], "x": np.float32(3)}, "x", ValueError, ["0-d"]),
    ({"size": (3, 3), "x": X[:0]}, "x", ValueError, ["at least 1", "(0, 4)"]),
    ({"size": (3, 3), "x": X > 0}, "x", TypeError, ["mode 'linear'", "bool"]),
    ({"size": (3, 3), "mode": "biliner"}, "mode", ValueError, ["linear, cubic", "'biliner'"]),
    ({"size": (3, 3), "mode": None}, "mode", TypeError, ["None"]),
    ({"size": (3, 3), "mode": []}, "mode", ValueError, ["got 0"]),
    ({"size": (3, 3), "mode": ["linear"] * 3}, "mode", ValueError, ["2 values, one per axis"]),
    ({"size": (3, 3), "mode": ["linear", 3]}, "mode", TypeError, ["got 3"]),
    ({"size": (3, 3), "mode": Filter(abs, "1")}, "mode", TypeError, ["support is a finite number above 0", "support="]),
    ({"size": (3, 3), "mode": Filter("abs", 1.0)}, "mode", TypeError, ["function"]),
    ({"size": (3, 3), "mode": Filter(Unhashable(), 1.0)}, "mode", TypeError, ["function"]),
    ({"size": (3, 3), "mode": Filter(abs, INF)}, "mode", ValueError, ["support is a finite number above 0", "support="]),
    ({"size": (3, 3), "mode": Filter(abs, 0)}, "mode", ValueError, ["above 0"]),
    ({"size": (3, 3), "mode": Filter(lambda x: x[:1], 1.0)}, "mode", ValueError, ["each distance", "[1] for"]),
    ({"size": (3, 3), "mode": Filter(lambda x: x * NAN, 1.0)}, "mode", ValueError, ["finite weight", "= nan"]),
    ({"size": (3, 3), "mode": Filter(lambda x: "no", 1.0)}, "mode", ValueError, ["finite weight"]),
    ({"size": (3, 3), "mode": Filter(abs, -1)}, "mode", ValueError, ["support=-1"]),
    ({"size": (3, 3), "mode": Filter(lambda x: None, 1.0)}, "mode", ValueError, ["gives an array", "NoneType"]),
    ({"size": (3, 3), "mode": Filter(lambda x: 0 * x, 1.0)}, "mode", ValueError, ["other than 0", "got zeros"]),
    ({"size": (3, 3), "like": 3}, "like", TypeError, ["pillow", "got 3"]),
    ({"size": (3, 3), "like": "gimp"}, "like", ValueError, ["pillow", "'gimp'"]),
    ({"size": (3, 3), "like": "scipy", "mode": "lanczos"}, "mode", ValueError, ["like='scipy'", "'lanczos'"]),
    ({"size": (2, 3), "mode": "lanczos", "like": "torch"}, "antialias", ValueError, ["True or False for mode 'lanczos'"]),
    ({"size": (3, 3), "antialias": "yes"}, "antialias", TypeError, ["'yes'"]),
    ({"size": (3, 3), "antialias": 1}, "antialias", TypeError, ["got 1"]),
    ({"size": (3, 3), "antialias": True, "mode": "nearest"}, "antialias", ValueError, ["mode 'nearest', which has none"]),
    ({"size": (3, 3), "antialias": True, "mode": "nearest-exact", "like": "pillow"}, "antialias", ValueError, ["'nearest-exact'"]),
    ({"size": (3, 3), "antialias": True, "mode": ["area", "nearest"]}, "antialias", ValueError, ["['area', 'nearest']"]),
    ({"size": (3, 3), "like": PRESETS["torch"]._replace(length_rounding="up")}, "like", ValueError, ["floor, round, round_even, ceil"]),
    ({"size": (3, 3), "like": PRESETS["torch"]._replace(length_rounding=1)}, "like", ValueError, ["got 1"]),
    ({"size": (3, 3), "like": PRESETS["torch"]._replace(aspect_ratio="fit")}, "like", ValueError, ["not_larger"]),
    ({"scale": 2, "like": NOT_LARGER}, "like", ValueError, ["as scale is given"]),
    ({"size": (0, 0), "like": NOT_LARGER}, "size", ValueError, ["at least 1"]),
    ({"size": (3, 3), "align": "middle"}, "align", ValueError, ["half_pixel, align_corners"]),
    ({"size": (3, 3), "align": "center"}, "align", ValueError, ["here it is 'half_pixel'"]),
    ({"size": (3, 3), "align": "corners"}, "align", ValueError, ["here it is 'align_corners'"]),
    ({"size": (3, 3), "like": PRESETS["torch"]._replace(nearest_tie=1)}, "like", ValueError, ["floor, ceil"]),
    ({"size": (3, 3), "edge": "mirror"}, "edge", ValueError, ["reflect, symmetric"]),
    ({"size": (3, 3), "like": PRESETS["torch"]._replace(cubic_a="a")}, "like", ValueError, ["'a'"]),
    ({"size": (3, 3), "like": PRESETS["torch"]._replace(cubic_a=NAN)}, "like", ValueError, ["nan"]),
    ({"size": (3, 3), "like": PRESETS["torch"]._replace(cubic_a=(-0.5, HUGE))}, "like", ValueError, ["finite"]),
    ({"size": (3, 3), "box": 4}, "box", TypeError, ["got 4"]),
    ({"size": (3, 3), "box": "ab"}, "box", TypeError, ["'ab'"]),
    ({"size": (3, 3), "box": [(0, 2)]}, "box", ValueError, ["2 pairs", "got 1"]),
    ({"size": (3, 3), "box": [0, 2]}, "box", ValueError, ["pairs", "got 0"]),
    ({"size": (3, 3), "box": [(0, 1, 2), None]}, "box", ValueError, ["(0, 1, 2)"]),
    ({"size": (3, 3), "box": [(1, 1.0), None]}, "box", ValueError, ["differs from its begin"]),
    ({"size": (3, 3), "box": [(0, NAN), None]}, "box", ValueError, ["finite"]),
    ({"size": (3, 3), "box": [(0, HUGE), None]}, "box", ValueError, ["2**53"]),
    ({"size": (3, 3), "box": [("0", 1), None]}, "box", TypeError, ["numbers"]),
    ({"size": (3, 3), "box": [(0, 2**50), None], "antialias": True, "edge": "wrap"}, "the tables of the axis maps", MemoryError, ["GiB"]),
    ({"size": (3, 3), "value": 3}, "value", ValueError, ["unless edge is constant"]),
    ({"size": (3, 3), "edge": "constant", "value": "a"}, "value", TypeError, ["'a'"]),
    ({"size": (3, 3), "edge": "constant", "value": None}, "value", TypeError, ["None"]),
    ({"size": (3, 3), "edge": "constant", "value": True}, "value", TypeError, ["True"]),
    ({"size": (3, 3), "edge": "constant", "value": 1j}, "value", ValueError, ["float32"]),
    ({"size": (3, 3), "edge": "constant", "value": 1e39}, "value", ValueError, ["float32"]),
    ({"size": (3, 3), "edge": "constant", "value": HUGE}, "value", ValueError, ["float32"]),
    ({"size": (3, 3), "edge": "constant", "value": 256, "x": X.astype(np.uint8)}, "value", ValueError, ["uint8", "256"]),
    ({"size": (3, 3), "edge": "constant", "value": -1, "x": X.astype(np.uint8)}, "value", ValueError, ["uint8"]),
    ({"size": (3, 3), "edge": "constant", "value": 0.5, "x": X.astype(np.int64)}, "value", ValueError, ["int64"]),
    ({"size": (3, 3), "edge": "constant", "value": NAN, "x": X.astype(np.int64)}, "value", ValueError, ["nan"]),
    ({"size": (3, 3), "edge": "constant", "value": INF, "x": X.astype(np.int64)}, "value", ValueError, ["inf"]),
    ({"size": (3, 3), "edge": "constant", "value": 2, "x": X > 0, "mode": "nearest"}, "value", ValueError, ["bool"]),
]  # fmt: skip


def call(n, make):
    how = dict(ERRORS[n][0])
    return tenter.resize(make(how.pop("x", X)), **how)


@in_one_test("make", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
@in_one_test("n", range(len(ERRORS)), ids=lambda n: f"{n}-{ERRORS[n][1]}")
def test_errors(n, make):
    _, argument, error, words = ERRORS[n]
    for _ in range(2):  # the second time as the first
        caught = refused(lambda: call(n, make), argument, error, words, "resize")
        assert type(caught) is error, caught


def test_what_is_no_array():
    for x in (None, "text", object(), [[1], [2, 3]]):
        with pytest.raises((TypeError, ValueError), match="x: expected"):
            tenter.resize(x, 3)
    for x in (np.array(["a"]), np.array([None]), np.zeros(3, "M8[s]"), np.zeros(2, "V3")):
        with pytest.raises(TypeError, match="x: expected numbers for mode 'linear'"):
            tenter.resize(x, 3)


def test_modes_without_antialias_refuse_it_in_every_function_and_need_no_word_of_it():
    image = np.zeros((8, 6), np.uint8)
    palette = Image.fromarray(image).convert("P")
    for mode in NO_ANTIALIAS:
        for call in (
            lambda **how: tenter.resize(image, (3, 3), **how),
            lambda **how: tenter.resize(torch.from_numpy(image), (3, 3), **how),
            lambda **how: tenter.resize(dask.array.from_array(image), (3, 3), **how),
            lambda **how: tenter.resize(jnp.asarray(image), (3, 3), **how),
            lambda **how: tenter.axis_map(8, 3, **how),
            lambda **how: tenter.lazy.resize(image, (3, 3), **how),
            lambda **how: tenter.image.resize(image, (3, 3), **how),
            lambda **how: tenter.image.resize([image, image], (3, 3), **how),
            lambda **how: tenter.image.resize(palette, (3, 3), **how),
            lambda **how: torch.compile(lambda x: tenter.resize(x, 3, **how), backend="eager")(torch.zeros(8)),
        ):
            with pytest.raises(
                Exception, match="antialias: expected False or None for modes nearest, nearest-exact, area"
            ):
                call(mode=mode, antialias=True)
            for antialias in (None, False):
                call(mode=mode, antialias=antialias)
    tenter.image.resize(palette, (3, 3), antialias=True)  # whose pixels are copied, as no mode could mix them
    tenter.resize(image, (3, 3), mode=["area", "linear"], antialias=True)
    for like in PRESETS:  # also those that antialias by default
        tenter.resize(image, (3, 3), mode="nearest-exact", like=like)


def test_errors_of_axis_map():
    for args, error, words in [
        ((0, 3), ValueError, "at least 1"), ((-1, 3), ValueError, "n_in: expected"), ((4, "3"), TypeError, "size"),
        ((4, 2, "no"), ValueError, "mode"),
    ]:  # fmt: skip
        with pytest.raises(error, match=words):
            tenter.axis_map(*args)
    with pytest.raises(MemoryError, match="GiB"):
        tenter.axis_map(5, 10**13, edge="wrap")
    with pytest.raises(MemoryError, match="GiB"):
        tenter.axis_map(5, 10**13).dense()
    with pytest.raises(ValueError, match="box: expected one in ascending order"):
        tenter.axis_map(4, 2, box=[(4, 0)])


def test_what_is_computed():
    """Odd, and no error."""
    assert tenter.resize(X, (0, 0)).shape == (0, 0) and tenter.resize(X[:0], (0, 5)).shape == (0, 5)
    assert tenter.resize(X[:0], 5, axes=1).shape == (0, 5) and tenter.resize(X[:0], scale=2.5).shape == (0, 10)
    for edge in ("reflect", "symmetric", "wrap", "constant", "renormalize", "extrapolate"):
        assert tenter.resize(ROW[:0], 0, edge=edge).shape == (0,)
    assert tenter.resize([1, 2, 3], np.int64(5)).shape == tenter.resize(ROW, np.array([5])).shape == (5,)
    assert tenter.resize(ROW, scale=np.float32(2)).shape == tenter.resize(ROW, scale=np.array([2.0])).shape == (10,)
    assert tenter.resize(ROW, 3, box=np.array([[0, 2]])).shape == (3,)
    far = tenter.resize(ROW, 3, box=[(2**53 - 9, 2**53)], edge="renormalize")
    assert far.tolist() == [0, 0, 0]
    assert tenter.resize(ROW, 2, box=[(-(2**50), 2**50)], antialias=True, edge="renormalize") == pytest.approx([2, 2])
    assert tenter.resize(X > 0, (3, 3), mode="nearest", edge="constant", value=True).dtype == bool


GARBAGE = [
    "", "nonsense", "linear,center,,,,floor,torch,replicate,,0", ",,,,,,,,,", "linear", "linear,half_pixel,,,,floor,torch,replicate,,nan", "x" * 10**6,
    "linear,half_pixel,0,,,floor,torch,replicate,,0", "linear,half_pixel,-1/2,,,floor,torch,replicate,,0",
    "linear,half_pixel,1/0,,,floor,torch,replicate,,0", "linear,half_pixel,1e999999999,,,floor,torch,replicate,,0",
    f"linear,half_pixel,1/{HUGE},,,floor,torch,replicate,,0", "linear,half_pixel,,2,2,floor,torch,replicate,,0",
    "linear,half_pixel,,3,1,floor,torch,replicate,,0", "linear,half_pixel,,1,,floor,torch,replicate,,0",
    f"linear,half_pixel,,0,{HUGE},floor,torch,replicate,,0", "linear,half_pixel,,a,b,floor,torch,replicate,,0",
    "filter 999999,half_pixel,,,,floor,torch,replicate,,0", "linear,middle,,,,floor,torch,replicate,,0",
    "linear,half_pixel,,,,never,torch,replicate,,0", "linear,half_pixel,,,,floor,torch,mirror,,0",
    "linear,half_pixel,,,,floor,abacus,replicate,,0", "linear,half_pixel,,0,1125899906842624,floor,torch,wrap,1,0",
]  # fmt: skip
RULE = "linear,half_pixel,,,,floor,torch,replicate,,-0.75"


def by_hand():
    ops, x = torch.ops.tenter, torch.zeros(2, 3, 4)
    calls = [
        lambda rule=rule, op=op: op(x, [5], [1], rule, "once")
        for rule in GARBAGE
        for op in (ops.resize, ops.resize_adjoint)
    ]
    for axes, sizes in [([3], [5]), ([-1], [5]), ([1, 1], [5, 5]), ([2, 1], [5, 5]), ([2**62], [5]), ([1], [-5]), ([1], []),
                        ([], [5]), ([1], [2**62]), ([1], [2**40])]:  # fmt: skip
        rule = ";".join([RULE] * len(axes))
        calls += [
            lambda op=op, a=axes, s=sizes, r=rule: op(x, s, a, r, "once") for op in (ops.resize, ops.resize_adjoint)
        ]
    calls += [lambda op=op: op(x.bool(), [5], [1], RULE, "once") for op in (ops.resize, ops.resize_adjoint)]
    calls += [lambda op=op: op(x, [5], [1], RULE, "twice") for op in (ops.resize, ops.resize_adjoint)]
    calls += [
        lambda: ops.resize(x[:, :0], [5], [1], RULE, "once"),
        lambda: ops.resize_adjoint(x, [0], [1], RULE, "once"),
    ]
    return calls


@pytest.mark.parametrize("grad", [False, True])
def test_operators_called_by_hand(grad):
    tenter.torch.report()  # registers them
    for n, each in enumerate(by_hand()):
        with pytest.raises((TypeError, ValueError, IndexError, MemoryError)):
            print(n, each())


@pytest.mark.slow
def test_each_bad_call_in_an_interpreter_of_its_own():
    """A crash ends it."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import numpy, torch, tenter.torch; from test_resize_errors import *\n"
        "tenter.torch.report()\n"
        "for n in range(len(ERRORS)):\n"
        "    for make in (numpy.asarray, torch.as_tensor):\n"
        "        try: call(n, make)\n"
        "        except ERRORS[n][2]: pass\n"
        "for each in by_hand():\n"
        "    try: each()\n"
        "    except (TypeError, ValueError, IndexError, MemoryError): pass\n"
        "print('survived')"
    )
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, "survived\n"), done.stderr[-800:]


# ---- remembered calls


@pytest.mark.parametrize("make", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def test_equal_arguments_of_unlike_types_are_told_apart(make):
    x = make(X)
    for good, bad in [
        ({"size": 1, "axes": 0}, {"size": True, "axes": 0}), ({"size": (1, 1)}, {"size": (1, 1.0)}), ({"size": (2, 1)}, {"size": (2, True)}),
        ({"scale": 1}, {"scale": True}), ({"size": (3, 3), "axes": (0, 1)}, {"size": (3, 3), "axes": (0.0, 1)}),
        ({"size": (3, 3), "antialias": True}, {"size": (3, 3), "antialias": 1}),
        ({"size": (3, 3), "box": ((0, 1), None)}, {"size": (3, 3), "box": ((False, 1), None)}),
        ({"size": (3, 3), "value": 0}, {"size": (3, 3), "value": False}),
    ]:  # fmt: skip
        for _ in range(2):
            tenter.resize(x, **good)
            with pytest.raises(TypeError):
                tenter.resize(x, **bad)


def test_equal_scales_are_the_same_scale():
    """Whether a float or a fraction: unlike sizes where the product is rounded."""
    for one, other in [(0.5, Fraction(1, 2)), (2, 2.0), (Fraction(2), 2)]:
        assert np.array_equal(tenter.resize(X, scale=one), tenter.resize(X, scale=other))
    assert tenter.resize(np.zeros(49), scale=Fraction(1, 49)).shape == (1,)
    with pytest.raises(ValueError, match=r"floor\(49 \* 0.0204"):
        tenter.resize(np.zeros(49), scale=1 / 49)


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux how much memory there is")
def test_many_sizes_do_not_fill_the_memory():
    x = np.zeros((20, 20), np.float32)
    for n in range(1, 2500):
        tenter.resize(x, (n % 50 + 1, n // 2), mode="nearest" if n % 2 else "linear")
        assert len(cache.plans) <= cache.MOST and cache._positions <= cache.MOST_POSITIONS
    gc.collect()
    first = resident()
    for n in range(1, 2500):
        tenter.resize(x, (n % 51 + 1, n // 2), mode="nearest" if n % 2 else "linear")
    gc.collect()
    assert resident() - first < 64 << 20
