"""What compare shows is so."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import tenter
from tenter._rules.axis_rule import ARITHMETIC, EDGES
from tenter._rules.geometry import ALIGNS, TIES
from tenter.conventions import PRESETS, Convention, compare
from tenter.filters import cubic

PAGE = Path(__file__).resolve().parent.parent / "docs" / "conventions.md"
WORDS = {
    "align": ALIGNS,
    "nearest_align": ALIGNS,
    "corners_antialias": ALIGNS,
    "nearest_tie": TIES,
    "nearest_arithmetic": ARITHMETIC,
    "nearest_exact_arithmetic": ARITHMETIC,
    "edge": EDGES,
    "edge_antialias": EDGES,
    "cubic": ("keys", "spline"),
    "antialias_method": ("filter", "gaussian"),
    "area": ("touched", "overlap"),
    "length_rounding": ("floor", "round", "round_even", "ceil"),
    "aspect_ratio": ("stretch", "not_larger", "not_smaller"),
    "positions_from": ("scale", "sizes", "length"),
}


@pytest.mark.parametrize("like", PRESETS)
def test_presets_are_plain_rows(like):
    for field, value in PRESETS[like]._asdict().items():
        assert value in WORDS[field] if field in WORDS else isinstance(value, (bool, float, tuple)), field


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
