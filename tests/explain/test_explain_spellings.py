"""What `explain` gives as the same call in other libraries is run, where they are installed, and compared."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tenter
from tenter import _explain
from tenter._explain import wrong_calls

RNG = np.random.default_rng(0)
ONE, TWO, FOUR = RNG.random(6), RNG.random((4, 6)), RNG.random((2, 3, 4, 6)).astype(np.float32)
BYTES = RNG.integers(0, 256, (8, 6, 3), np.uint8)
REPEATS = np.array([1, 0, 2, 1, 3, 1, 0, 0, 2, 1])
CALLS = [
    (tenter.repeat_interleave, (TWO, 3), {}),
    (tenter.repeat_interleave, (TWO, 3), {"dim": 0}),
    (tenter.repeat_interleave, (TWO, [1, 0, 2, 3]), {"dim": -2}),
    (tenter.repeat_interleave, (TWO, RNG.integers(0, 3, 24)), {}),
    (tenter.repeat_interleave, (RNG.random((2, 10)), REPEATS), {"dim": 1}),
    (tenter.repeat_interleave, (ONE, 0), {}),
    (tenter.repeat_interleave, (TWO, 1), {"dim": 1}),
    (tenter.repeat_interleave, (np.arange(3) > 1, 2), {}),
    (tenter.repeat_interleave, (np.float32(3), 2), {}),
    (tenter.repeat_interleave, ([1, 0, 2],), {}),
    (tenter.repeat_interleave, (REPEATS,), {}),
    (tenter.numpy.repeat, (TWO, 2), {"axis": 1}),
    (tenter.repeat, (ONE, 3), {}),
    (tenter.repeat, (TWO, 3, 1, 2), {}),
    (tenter.repeat, (TWO, 2, 0), {}),
    (tenter.tile, (ONE, 2), {}),
    (tenter.tile, (TWO, 2), {}),
    (tenter.tile, (TWO, (2, 1, 3)), {}),
    (tenter.tile, (TWO, 1), {}),
    (tenter.tile, (np.float32(2), (2, 2)), {}),
    (tenter.numpy.tile, (TWO, (2, 2)), {}),
    (tenter.expand, (TWO[:, :1], -1, 5), {}),
    (tenter.expand, (TWO[:1], 2, 3, 6), {}),
    (tenter.expand, (TWO, 4, 6), {}),
    (tenter.interpolate, (FOUR, 8), {}),
    (tenter.interpolate, (FOUR, (7, 5)), {}),
    (tenter.interpolate, (FOUR, (2, 4)), {"mode": "nearest-exact"}),
    (tenter.interpolate, (FOUR, (8, 9)), {"mode": "bilinear"}),
    (tenter.interpolate, (FOUR, (8, 9)), {"mode": "bilinear", "align_corners": True}),
    (tenter.interpolate, (FOUR, (2, 5)), {"mode": "bilinear", "antialias": True}),
    (tenter.interpolate, (FOUR, (5, 9)), {"mode": "bicubic"}),
    (tenter.interpolate, (FOUR, (2, 3)), {"mode": "area"}),
    (tenter.interpolate, (FOUR, (3, 4)), {"mode": "area"}),
    (tenter.interpolate, (FOUR,), {"scale_factor": 1.7, "mode": "bilinear"}),
    (tenter.interpolate, (FOUR[0], 9), {"mode": "linear"}),
    (tenter.interpolate, (FOUR, (4, 6)), {"mode": "bilinear"}),
    (tenter.interpolate, (FOUR, (2, 3)), {"mode": "lanczos", "antialias": True}),
    (tenter.resize, (ONE, 9), {}),
    (tenter.resize, (ONE, 9), {"align": "align_corners"}),
    (tenter.resize, (ONE, 4), {"mode": "nearest"}),
    (tenter.resize, (ONE, 4), {"mode": "nearest-exact"}),
    (tenter.resize, (ONE, 3), {"mode": "area"}),
    (tenter.resize, (ONE, 3), {"like": "jax"}),
    (tenter.resize, (ONE, 12), {"mode": "cubic", "like": "jax"}),
    (tenter.resize, (ONE, 8), {"mode": "cubic", "edge": "wrap"}),
    (tenter.resize, (TWO, (2, 12)), {"mode": "cubic"}),
    (tenter.resize, (TWO, 8), {"axes": 0}),
    (tenter.resize, (TWO, (8, 12)), {"mode": "nearest"}),
    (tenter.resize, (BYTES, (4, 4)), {"axes": (0, 1), "antialias": True}),
    (tenter.resize, (BYTES, (4, 4)), {"axes": (0, 1)}),
    (tenter.resize, (BYTES, (12, 4)), {"axes": (0, 1), "mode": "nearest"}),
    (tenter.resize, (FOUR, (4, 9)), {"axes": (1, 3)}),
    (tenter.resize, (RNG.random((2, 3, 2, 4, 6)), (2, 3)), {"axes": (-2, -1), "mode": "area"}),
    (tenter.resize, (RNG.random((2, 3, 4, 5)), (4, 6, 3)), {"axes": (0, 1, 2), "mode": "linear"}),
    (tenter.resize, (FOUR, (1, 2, 3, 5)), {}),
]  # fmt: skip
# Libraries for which code is given less often could lose it all without a test that fails.
LEAST = {"PyTorch": 43, "NumPy": 34, "einops": 20, "JAX": 37}


def run(library: str, code: str, x: np.ndarray, repeats):
    """The result of one line of code, in NumPy."""
    if library == "PyTorch":
        torch = pytest.importorskip("torch")
        names = {"torch": torch, "F": torch.nn.functional, "x": torch.from_numpy(np.array(x))}
        names["repeats"] = torch.tensor(repeats)
    elif library == "JAX":
        jax = pytest.importorskip("jax")
        import jax.numpy as jnp

        names = {"jax": jax, "jnp": jnp, "x": jnp.asarray(x), "repeats": jnp.asarray(repeats)}
    elif library == "einops":
        names = {"einops": pytest.importorskip("einops"), "x": np.asarray(x)}
    else:
        names = {"np": np, "x": np.asarray(x), "repeats": repeats}
    return np.asarray(eval(code, names))


@pytest.mark.parametrize(
    ("library", "part"),
    [
        ("PyTorch", 1),
        ("NumPy", 1),
        ("einops", 1),
        pytest.param("JAX", 18, marks=pytest.mark.slow),
        pytest.param("JAX", 1, marks=pytest.mark.slow),
    ],
)
def test_spelled_calls_give_the_same(library, part):
    """part: every which call is run, as JAX compiles each for a while."""
    wrong, given = [], 0
    for operation, args, how in CALLS[::part]:
        e = tenter.explain(operation, *args, **how)
        code = e.spellings[library]
        if re.fullmatch(r"\(none.*\)", code):
            continue
        given += 1
        repeats = args[1] if len(args) > 1 else args[0]
        try:
            found, expected = run(library, code, args[0], repeats), operation(*args, **how)
            if found.shape != expected.shape or not np.allclose(found, expected, rtol=2e-5, atol=2e-5):
                wrong.append((e.facts.call, code, found.shape, expected.shape))
        except pytest.skip.Exception:
            raise
        except Exception as failed:  # of any type: each library has its own
            wrong.append((e.facts.call, code, repr(failed)[:200]))
    assert wrong == []
    assert given >= LEAST[library] // part, given


@pytest.mark.parametrize("call", [
    (tenter.resize, (ONE, 4), {"edge": "wrap", "box": [(-2, 9)]}),
    (tenter.resize, (ONE, 4), {"mode": "mitchell"}),
    (tenter.resize, (ONE, 8), {"mode": tenter.filters.cubic(-0.2)}),
])  # fmt: skip
def test_no_code_is_given_where_none_gives_the_same(call):
    operation, args, how = call
    assert all(code.startswith("(none") for code in tenter.explain(operation, *args, **how).spellings.values())


def test_dtypes_that_a_library_lacks():
    strings = tenter.explain(tenter.tile, np.array(["a", "b"]), 2).spellings
    assert strings["PyTorch"].startswith("(none: it has no dtype") and strings["NumPy"] == "np.tile(x, 2)"
    halves = tenter.explain(tenter.tile, tenter.Shape(2, dtype="bfloat16"), 2).spellings
    assert halves["NumPy"].startswith("(none") and halves["JAX"] == "jnp.tile(x, 2)"
    ints = tenter.explain(tenter.interpolate, np.arange(6).reshape(1, 1, 6), 3).spellings
    assert ints["PyTorch"] == "(none: F.interpolate has no int64)"
    photograph = np.arange(48, dtype=np.uint8).reshape(1, 3, 4, 4)  # which PyTorch's kernel computes in fixed point
    bytes_ = tenter.explain(tenter.interpolate, photograph, 7, mode="bilinear").spellings
    assert bytes_["PyTorch"] == "(none: F.interpolate rounds uint8 in its own way)"


@pytest.mark.parametrize("mode, shape", [("linear", (1, 1, 8)), ("trilinear", (1, 1, 8, 8, 8))])
def test_antialias_that_pytorch_refuses(mode, shape):
    code = tenter.explain(tenter.interpolate, np.ones(shape), 4, mode=mode, antialias=True).spellings["PyTorch"]
    assert code == "(none: F.interpolate antialiases two axes alone)"


def mistaken(operation, *args, **how) -> dict[str, str]:
    return dict(tenter.explain(operation, *args, **how).easily_confused)


def test_the_nearest_wrong_calls():
    each = mistaken(tenter.repeat_interleave, [1, 2, 3], 2)["Tensor.repeat, torch.tile, np.tile"]
    assert "[1 2 3 1 2 3], not [1 1 2 2 3 3]" in each
    assert "dim=0" in mistaken(tenter.repeat_interleave, TWO, 2) and "dim=0" not in mistaken(
        tenter.repeat_interleave, ONE, 2
    )
    whole = mistaken(tenter.repeat, [7, 8], 2)
    assert "[7 7 8 8], not [7 8 7 8]" in whole["np.repeat, torch.repeat_interleave"] and "tile" in whole
    assert "read-only" in mistaken(tenter.expand, [1], 3)["repeat, tile, repeat_interleave"]


def test_what_differs_is_what_the_maps_say():
    x = np.arange(5.0).reshape(1, 1, 5)
    words = mistaken(tenter.interpolate, x, 3)['mode="nearest-exact"']
    assert words == "takes other inputs for 2 of 3 outputs: y[1] = x[2], not y[1] = x[1]"
    assert tenter.interpolate(x, 3, mode="nearest-exact")[0, 0].tolist() == [0, 2, 4]
    assert tenter.interpolate(x, 3)[0, 0].tolist() == [0, 1, 3]
    assert mistaken(tenter.interpolate, x, 10)['mode="nearest-exact"'] == "the same here"
    words = mistaken(tenter.interpolate, x, 9, mode="linear")["align_corners=True"]
    other = tenter.interpolate(x, 9, mode="linear", align_corners=True)
    differ = int(np.sum(~np.isclose(other, tenter.interpolate(x, 9, mode="linear"))))
    assert f"for {differ} of 9 outputs" in words
    assert "align_corners=False" in mistaken(tenter.interpolate, x, 9, mode="linear", align_corners=True)
    assert "unread" in mistaken(tenter.resize, np.ones(100), 10, antialias=False)["antialias=True"]
    assert (
        "(6, 4) here; this call takes (4, 6)"
        in mistaken(tenter.resize, np.ones((8, 8)), (4, 6))["cv2.resize, Image.resize"]
    )
    assert wrong_calls.wrong_calls(tenter.explain(tenter.resize, np.ones(4), 4).facts) == ()


def test_words_of_each_are_one_sentence():
    for operation, args, how in CALLS:
        e = tenter.explain(operation, *args, **how)
        for code, what in e.easily_confused:
            assert code and what and "\n" not in what
        assert isinstance(e, _explain.Explanation)
