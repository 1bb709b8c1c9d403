"""Words that mean the same: ONNX's names give the same bits as tenter's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tenter
import tenter.torch  # registers the operators
from tenter.conventions import Convention
from tenter.geometry import Geometry

X = np.random.default_rng(0).standard_normal((7, 9))
SAME = [
    ("align", "half_pixel", "center", {"mode": "linear"}),
    ("align", "align_corners", "corners", {"mode": "cubic"}),
    ("nearest_tie", "round_prefer_floor", "prefer_floor", {"mode": "nearest"}),
    ("nearest_tie", "round_prefer_ceil", "prefer_ceil", {"mode": "nearest"}),
]
OTHER = {"align": "asymmetric", "nearest_tie": "floor"}


@pytest.mark.parametrize(("field", "theirs", "ours", "how"), SAME)
def test_the_same_bits_in_a_convention(field, theirs, ours, how):
    got, want, other = (
        tenter.resize(X, (4, 6), **how, like=Convention.of("onnx", **{field: word}))
        for word in (theirs, ours, OTHER[field])
    )
    assert got.tobytes() == want.tobytes() != other.tobytes()


@pytest.mark.parametrize(("field", "theirs", "ours", "how"), [row for row in SAME if row[0] == "align"])
def test_the_same_bits_in_a_call(field, theirs, ours, how):
    got, want, other = (tenter.resize(X, (4, 6), **how, **{field: word}) for word in (theirs, ours, OTHER[field]))
    assert got.tobytes() == want.tobytes() != other.tobytes()


def test_in_a_geometry():
    assert Geometry(4, 8, "half_pixel") == Geometry(4, 8, "center") != Geometry(4, 8, "corners")


@pytest.mark.parametrize(("field", "theirs"), [("align", "half_pixel"), ("align", "centre"), ("edge", "renormalise")])
def test_a_graph_holds_tenters_own_words_alone(field, theirs):
    words = {"align": "center", "edge": "renormalize"} | {field: theirs}
    rule = f"cubic,{words['align']},,,,prefer_ceil,exact,{words['edge']},,-0.5"
    with pytest.raises(ValueError, match=r"rule: expected what axis_rule\.written wrote"):
        torch.ops.tenter.resize(torch.from_numpy(X), [4], [0], rule, False)


@pytest.mark.parametrize(
    "field",
    [
        "align",
        "nearest_align",
        "nearest_tie",
        "edge",
        "edge_antialias",
        "nearest_arithmetic",
        "area",
        "positions_from",
        "length_rounding",
        "aspect_ratio",
        "antialias_method",
    ],
)
def test_words_of_a_convention_are_checked(field):
    with pytest.raises(ValueError, match=rf"^like: expected a Convention whose {field} is one of .*, got 'left'"):
        tenter.resize(X, 3, like=Convention(**{field: "left"}))


def test_a_word_of_another_field_is_shown_as_given():
    with pytest.raises(ValueError, match="got 'round_prefer_floor'"):
        tenter.resize(X, 3, align="round_prefer_floor")
