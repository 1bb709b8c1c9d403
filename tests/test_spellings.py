"""Words that mean the same: ONNX's names and the spelling of earlier versions give the same bits as tenter's own."""

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
    ("align", "center", "center", {"mode": "cubic"}),
    ("tie", "round_prefer_floor", "prefer_floor", {"mode": "nearest"}),
    ("tie", "round_prefer_ceil", "prefer_ceil", {"mode": "nearest"}),
    ("edge", "renormalize", "renormalize", {"mode": "cubic"}),
]
OTHER = {"align": "asymmetric", "tie": "floor", "edge": "wrap"}


@pytest.mark.parametrize(("field", "theirs", "ours", "how"), SAME)
def test_the_same_bits(field, theirs, ours, how):
    got, want, other = (tenter.resize(X, (4, 6), **how, **{field: word}) for word in (theirs, ours, OTHER[field]))
    assert got.tobytes() == want.tobytes() != other.tobytes()


@pytest.mark.parametrize(("field", "theirs", "ours", "how"), [row for row in SAME if row[0] == "edge"])
def test_in_a_convention(field, theirs, ours, how):
    got, want = (tenter.resize(X, (4, 6), **how, like=Convention(**{field: word})) for word in (theirs, ours))
    assert got.tobytes() == want.tobytes()


def test_in_a_geometry():
    assert (
        Geometry(4, 8, "half_pixel")
        == Geometry(4, 8, "center")
        == Geometry(4, 8, "center")
        != Geometry(4, 8, "corners")
    )


def test_in_a_graph_of_an_earlier_version():
    x = torch.from_numpy(X)
    words = "cubic,centre,,,,prefer_ceil,exact,renormalise,,-0.5"
    got = torch.ops.tenter.resize(x, [4], [0], words, False)
    want = tenter.resize(
        x, 4, axes=0, mode="cubic", cubic=-0.5, edge="renormalize", align="center", like="pillow", antialias=False
    )
    assert torch.equal(got, want)


@pytest.mark.parametrize(
    "field", ["align", "nearest_align", "tie", "edge", "edge_antialias", "arithmetic", "area", "follows"]
)
def test_words_of_a_convention_are_checked(field):
    with pytest.raises(ValueError, match=rf"^like: expected a Convention whose {field} is one of .*, got 'left'"):
        tenter.resize(X, 3, like=Convention(**{field: "left"}))


def test_a_word_of_another_field_is_shown_as_given():
    with pytest.raises(ValueError, match="got 'round_prefer_floor'"):
        tenter.resize(X, 3, align="round_prefer_floor")
