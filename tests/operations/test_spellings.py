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
    ("nearest_tie", "round_prefer_floor", "prefer_floor", {"mode": "nearest"}),
    ("nearest_tie", "round_prefer_ceil", "prefer_ceil", {"mode": "nearest"}),
]
OTHER = {"nearest_tie": "floor"}


@pytest.mark.parametrize(("field", "theirs", "ours", "how"), SAME)
def test_the_same_bits_in_a_convention(field, theirs, ours, how):
    got, want, other = (
        tenter.resize(X, (4, 6), **how, like=Convention.of("onnx", **{field: word}))
        for word in (theirs, ours, OTHER[field])
    )
    assert got.tobytes() == want.tobytes() != other.tobytes()


@pytest.mark.parametrize(("word", "meant"), [("center", "half_pixel"), ("corners", "align_corners")])
def test_words_that_are_no_alignment_name_the_one_that_is_meant(word, meant):
    with pytest.raises(ValueError, match=rf"^align: expected one of half_pixel, .*\(here it is '{meant}'\)"):
        tenter.resize(X, (4, 6), align=word)
    with pytest.raises(ValueError, match=r"^align: expected one of half_pixel"):
        Geometry(4, 8, word)
    with pytest.raises(ValueError, match=r"^align: expected one of half_pixel"):
        Convention.of(align=word)


@pytest.mark.parametrize(
    ("field", "theirs"), [("nearest_tie", "round_prefer_ceil"), ("align", "centre"), ("edge", "renormalise")]
)
def test_a_graph_holds_tenters_own_words_alone(field, theirs):
    words = {"align": "half_pixel", "edge": "renormalize", "nearest_tie": "prefer_ceil"} | {field: theirs}
    rule = f"cubic,{words['align']},,,,{words['nearest_tie']},exact,{words['edge']},,-0.5"
    with pytest.raises(ValueError, match=r"rule: expected what axis_rule\.written wrote"):
        torch.ops.tenter.resize(torch.from_numpy(X), [4], [0], rule, "once")


@pytest.mark.parametrize(
    "field",
    [
        "align",
        "nearest_align",
        "nearest_tie",
        "edge",
        "area",
        "positions_from",
        "length_rounding",
        "aspect_ratio",
        "antialias",
        "eight_bits",
    ],
)
def test_words_of_a_convention_are_checked(field):
    with pytest.raises(ValueError, match=rf"^like: expected a Convention whose {field} is one of .*, got 'left'"):
        tenter.resize(X, (3, 3), like=Convention(**{field: "left"}))


def test_a_word_of_another_field_is_shown_as_given():
    with pytest.raises(ValueError, match="got 'round_prefer_floor'"):
        tenter.resize(X, (3, 3), align="round_prefer_floor")
