"""What compare shows is so."""

from __future__ import annotations

import functools
import inspect
import re

import numpy as np
import pytest

import tenter
from roots import DOCS
from tenter._rules.axis_rule import EDGES
from tenter._rules.geometry import ALIGNS, TIES
from tenter._rules.presets import convention
from tenter.conventions import PRESETS, Convention, compare
from tenter.filters import cubic

PAGE = DOCS / "conventions.md"
WORDS = {
    "align": ALIGNS,
    "nearest_align": ALIGNS,
    "corners_antialias": ALIGNS,
    "nearest_tie": (*TIES, "torch", "pillow", "opencv", "jax", "scipy"),
    "edge": EDGES,
    "cubic": ("keys", "spline"),
    "antialias": (False, True, "gaussian"),
    "area": ("touched", "overlap"),
    "length_rounding": ("floor", "round", "round_even", "ceil"),
    "aspect_ratio": ("stretch", "not_larger", "not_smaller"),
    "positions_from": ("scale", "scale_unless_same", "sizes", "length"),
    "eight_bits": ("once", "pillow", "opencv"),
}


@pytest.mark.parametrize("like", PRESETS)
def test_presets_are_plain_rows(like):
    for field, value in PRESETS[like]._asdict().items():
        for one in value if field in ("edge", "cubic_a") and isinstance(value, tuple) else [value]:
            assert one in WORDS[field] if field in WORDS else isinstance(one, (float, tuple)), field


def test_every_field_is_explained():
    text = inspect.cleandoc(Convention.__doc__)
    assert re.findall(r"^(\w+) : ", text.split("See Also")[0], re.M) == list(Convention._fields)


def test_the_table_has_the_fields_that_differ():
    for names in ((), ("torch", "pillow"), ("jax", "tensorflow"), ("scipy",)):
        chosen = [PRESETS[n] for n in names or PRESETS]
        head, *rows = compare(*names).split("\n\n")[0].splitlines()
        assert head.split() == list(names or PRESETS)
        differ = [f for k, f in enumerate(Convention._fields) if len({c[k] for c in chosen}) > 1]
        assert [row.split()[0] for row in rows] == differ


@pytest.mark.parametrize("n_in, n_out", [(4, 6), (5, 3), (1, 4), (4, 1), (30, 20)])
def test_drawings_are_the_maps(n_in, n_out):
    """Every convention is named once for each of its modes, above numbers that are its map's."""
    mode, seen, drawn = "", set(), {}
    for line in compare(n_in=n_in, n_out=n_out).split("\n\n", 1)[1].splitlines():
        if found := re.fullmatch(r"([\w-]+), \d+ -> \d+", line):
            mode = found[1]
        elif re.match(r"^\d", line):
            cells = [float(c) / 100 if c != "." else 0.0 for c in line[3:].split()]
            for k, group in enumerate(drawn[mode, "now"]):
                for name in group:
                    row = cells[k * n_in : (k + 1) * n_in]
                    np.testing.assert_allclose(
                        row, tenter.axis_map(n_in, n_out, mode, like=name).dense()[int(line[:3])], atol=0.0051
                    )
        elif line.strip() and not line.startswith("in "):
            drawn[mode, "now"] = [g.split(", ") for g in re.split(r"(?<!,)\s{2,}", line.strip())]
            named = [(mode, n) for g in drawn[mode, "now"] for n in g]
            assert not seen & set(named)
            seen |= set(named)
        assert len(line) <= 140 or n_in > 20
    assert seen == {
        (m, n)
        for m in ("nearest", "nearest-exact", "linear", "cubic", "area")
        for n, c in PRESETS.items()
        if not c.modes or m in c.modes
    }


def test_refusals():
    with pytest.raises(ValueError, match=r"names: expected one of torch, .*, got 'piglet'\n  in conventions.compare"):
        compare("piglet")
    with pytest.raises(ValueError, match="n_in"):
        compare(n_in=0)
    with pytest.raises(TypeError, match="n_out"):
        compare(n_out="4")


def test_a_convention_of_ones_own():
    x, mine = np.arange(9.0), PRESETS["opencv"]._replace(cubic_a=-0.5)
    assert np.array_equal(
        tenter.resize(x, 5, mode="cubic", like=mine), tenter.resize(x, 5, mode=cubic(-0.5), like="opencv")
    )
    assert np.array_equal(
        tenter.resize(x, 5, mode=cubic(-0.75), like=mine), tenter.resize(x, 5, mode="cubic", like="torch")
    )


def test_exceptions_are_on_the_page_of_differences():
    from test_conventions_exceptions import CASES

    text = (PAGE.parent / "differences.md").read_text()
    for case in CASES:
        assert f"`{case.__name__}`" in text, case.__name__


SAID = [
    ({"edge": "wrap"}, {}),
    ({"edge": "reflect"}, {}),
    ({"edge": "replicate"}, {}),
    ({"edge": "constant"}, {"value": 2}),
    ({"align": "asymmetric"}, {}),
    ({"align": "half_pixel"}, {}),
]


@pytest.mark.parametrize("like", [None, *PRESETS])
def test_a_field_says_what_the_argument_of_its_name_says(like: str | None) -> None:
    """With antialias and without, also where that is the default, and in each mode that the argument is for."""
    x, ways = np.random.default_rng(0).random(9), ({}, {"antialias": False}, {"antialias": True})
    modes = convention(like).modes or ("linear", "cubic", "mitchell")
    calls = [(n, mode, how) for n in (6, 13) for mode in modes if not mode.startswith("nearest") for how in ways]
    for n, mode, how in calls:
        by = functools.partial(tenter.resize, x, n, mode=mode, **how)
        for field, value in SAID:
            said = by(like=Convention.of(like, **field), **value)
            assert np.array_equal(said, by(like=like, **field, **value)), (n, mode, how, field)
        if mode == "cubic" and convention(like).cubic == "keys":
            given = tenter.resize(x, n, mode=cubic(-0.6), like=like, **how)
            assert np.array_equal(by(like=Convention.of(like, cubic_a=-0.6)), given), (n, how)
    for word in ("half_pixel", "align_corners"):
        nearest = [tenter.resize(x, n, mode="nearest", like=Convention.of(like, nearest_align=word)) for n in (6, 13)]
        given = [tenter.resize(x, n, mode="nearest", like=like, align=word) for n in (6, 13)]
        assert all(map(np.array_equal, nearest, given)), word


def test_a_field_of_one_mode_leaves_others_as_they_are() -> None:
    x = np.random.default_rng(0).integers(0, 256, (9, 7), np.uint8)
    for like in PRESETS:
        floor = Convention.of(like, nearest_tie="floor")
        for mode in convention(like).modes or ("linear", "cubic", "area"):
            if not mode.startswith("nearest"):
                given = (tenter.resize(x, (14, 11), mode=mode, like=how) for how in (like, floor))
                assert np.array_equal(*given), (like, mode)
