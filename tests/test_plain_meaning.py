"""No argument means something other than its reader thinks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch

import tenter

X = np.arange(12.0).reshape(3, 4)


# ---- scales


@pytest.mark.parametrize("scale", [(2, 1), [2, 1], np.array([2, 1]), (2.0, 1.0), (Fraction(2), 1)])
def test_several_scales_are_one_for_each_axis(scale):
    assert tenter.resize(X, scale=scale, axes=(0, 1)).shape == (6, 4)


def test_a_ratio_is_a_fraction():
    assert tenter.resize(X, scale=Fraction(2, 3), axes=0).shape == (2, 4)
    for scale in ((2, 3), [2, 3]):
        with pytest.raises(ValueError, match="^scale: expected one, or 1, one per axis, got 2"):
            tenter.resize(X, scale=scale, axes=0)
    with pytest.raises(TypeError, match=r"^scale: expected numbers or fractions.Fraction, .*, got \(1, 2\)"):
        tenter.resize(X, scale=[(1, 2), 1], axes=(0, 1))


# ---- counts that are missing, and None, which is no count


@pytest.mark.parametrize("call", [lambda r: tenter.repeat_interleave(X, r), lambda r: tenter.repeat_interleave(X, repeats=r),
                                  lambda r: tenter.repeat_interleave(torch.ones(3), r), lambda r: tenter.repeat_interleave(X, r, 0, output_size=3)])  # fmt: skip
def test_none_is_no_count(call):
    with pytest.raises(TypeError, match="^repeats: expected integer counts.*, got None"):
        call(None)
    for theirs in (lambda: np.repeat(X, None), lambda: torch.repeat_interleave(torch.ones(3), None)):
        with pytest.raises(TypeError):
            theirs()


def test_counts_alone_have_no_x():
    counts = [1, 0, 2]
    assert tenter.repeat_interleave(counts).tolist() == [0, 2, 2]
    assert tenter.repeat_interleave(repeats=counts).tolist() == [0, 2, 2]
    counts = torch.tensor(counts)
    assert torch.equal(tenter.repeat_interleave(repeats=counts), torch.repeat_interleave(repeats=counts))
    compiled = torch.compile(lambda c: tenter.repeat_interleave(c, output_size=3), fullgraph=True, backend="eager")
    assert compiled(counts).tolist() == [0, 2, 2]


@pytest.mark.parametrize(
    "function", [tenter.repeat_interleave, tenter.repeat, tenter.tile, tenter.expand, tenter.interpolate]
)
def test_x_is_needed(function):
    with pytest.raises(TypeError, match="^(x|repeats): expected .*, got none\n  in "):
        function()


# ---- PyTorch's names of arguments, and NumPy's axis

T = torch.arange(6.0).reshape(2, 3)
PAIRS = [
    (lambda **k: tenter.repeat_interleave(**k), {"x": T, "repeats": 2, "dim": 1}, {"input": T, "repeats": 2, "axis": 1}),
    (lambda **k: tenter.repeat(T, **k), {"sizes": (2, 1)}, {"repeats": (2, 1)}),
    (lambda **k: tenter.repeat(**k), {"x": T, "sizes": [2, 1, 3]}, {"input": T, "repeats": [2, 1, 3]}),
    (lambda **k: tenter.tile(**k), {"x": T, "dims": (2,)}, {"input": T, "dims": 2}),
    (lambda **k: tenter.expand(**k), {"x": T, "sizes": (4, 2, 3)}, {"input": T, "size": (4, -1, 3)}),
    (lambda **k: tenter.interpolate(**k, size=2), {"x": T[None]}, {"input": T[None]}),
]  # fmt: skip


@pytest.mark.parametrize(("call", "ours", "theirs"), PAIRS)
def test_an_argument_by_each_of_its_names(call, ours, theirs):
    assert torch.equal(call(**ours), call(**theirs))
    others = {k: v for k, v in theirs.items() if k not in ours}
    for name, value in others.items():
        with pytest.raises(
            TypeError, match=f"^{name}: expected {name} or [a-z]+, which are one argument, got both\n  in "
        ):
            call(**ours, **{name: value})
    with pytest.raises(
        TypeError, match=r"^inputs: expected no argument of this name \(did you mean 'input'\?\), got 3\n  in "
    ):
        call(**ours, inputs=3)


def test_names_beside_positions():
    assert tenter.tile(T, dims=(1, 2)).shape == (2, 6)
    assert tenter.repeat_interleave(X, 2, axis=-1).shape == (3, 8)
    assert tenter.expand(np.ones((2, 1)), size=(2, 5)).shape == (2, 5)
    for call in (lambda: tenter.tile(T, 2, input=T), lambda: tenter.repeat_interleave(X, 2, 0, axis=0), lambda: tenter.tile(T, 2, dims=3),
                 lambda: tenter.repeat(input=T, sizes=(2, 2), repeats=(2, 2))):  # fmt: skip
        with pytest.raises(TypeError, match="got both"):
            call()
    with pytest.raises(TypeError, match="^axis: expected only sizes"):
        tenter.repeat(T, 2, axis=1)


def test_names_in_compiled_code():
    def f(x):
        return tenter.tile(input=tenter.repeat_interleave(input=x, repeats=2, axis=0), dims=(2,))

    assert torch.equal(torch.compile(f, fullgraph=True, backend="eager")(T), f(T))
