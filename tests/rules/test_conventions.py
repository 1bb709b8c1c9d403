"""like= is what the libraries do: sweeps beside those that are installed, over sizes odd and even, both directions."""

from __future__ import annotations

import numpy as np
import pytest

import peers
import tenter
from sweeps import sampled

# One pixel, powers, ties, odd and even, ratios whole and not; an axis each, the other axis a few places on.
LENGTHS = [(1, 1), (1, 4), (1, 7), (5, 1), (8, 1), (2, 3), (3, 2), (4, 4), (4, 8), (8, 4), (5, 7), (7, 5), (8, 6),
           (6, 8), (9, 4), (4, 9), (10, 3), (3, 10), (13, 29), (29, 13), (16, 33), (64, 21), (7, 21), (21, 7), (49, 48)]  # fmt: skip
SIZES = [(h, w, a, b) for k, (h, a) in enumerate(LENGTHS) for w, b in (LENGTHS[(7 * k + 3) % len(LENGTHS)],)]
ALL = [peer for group in peers.PEERS.values() for peer in group]
# One for each library's nearest kinds, without boxes and edges.
NEAREST = {
    (p.says["like"], p.says["mode"]): p
    for p in reversed(ALL)
    if p.says.get("mode", "").startswith("nearest") and "box" not in p.says
}.values()


def image(rng, shape, dtype):
    if dtype.startswith("float"):
        return rng.random(shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape, dtype)


def agree(peer, x, size, **more):
    """Nearest kinds are equal, integers within 1, floats within 1e-5 of the range."""
    expected = np.asarray(peer.run(x, size))
    says = dict(peer.says)
    if "box" in says:
        says["box"] = [says["box"](n) for n in x.shape[:2]]
    found = tenter.resize(x, size, axes=(0, 1), **says)
    assert found.shape == expected.shape and found.dtype == x.dtype, (x.shape, size)
    whole = x.dtype.kind in "iu"
    exact = says.get("mode", "").startswith("nearest") or (whole and peer.name.startswith("pillow"))
    off = 0 if exact else 1 if whole else 1e-5
    worst = np.abs(found.astype(np.float64) - expected.astype(np.float64)).max()
    assert worst <= off, f"{x.shape} to {size}: off by {worst}"


@pytest.mark.parametrize("peer", sampled(ALL, 2, lambda p: p.name))
def test_peers(peer):
    rng = np.random.default_rng(0)
    for dtype in peer.dtypes:
        for channels in peer.channels:
            for h, w, a, b in SIZES:
                if peer.covers(h, w, a, b):
                    shape = (h, w) if channels == 1 else (h, w, channels)
                    agree(peer, image(rng, shape, dtype), (a, b))


@pytest.mark.parametrize("peer", sampled(NEAREST, 3, lambda p: p.name))
def test_nearest_of_every_length(peer):
    """Which side a position between two pixels comes out on is each library's rounding."""
    for n_in in range(1, 41):
        x = np.tile(np.arange(n_in, dtype=np.float32), (2, 1))
        for n_out in range(1, 41):
            agree(peer, x, (2, n_out))


@pytest.mark.slow
@pytest.mark.parametrize("peer", ALL, ids=lambda p: p.name)
def test_every_size(peer):
    rng = np.random.default_rng(0)
    for n_in in range(1, 64):
        for n_out in range(1, 64):
            for h, w, a, b in ((n_in, 3, n_out, 3), (5, n_in, 5, n_out)):
                if peer.covers(h, w, a, b):
                    agree(peer, image(rng, (h, w), peer.dtypes[0]), (a, b))


@pytest.mark.parametrize("edge", ["replicate", "reflect", "symmetric", "wrap", "renormalize"])
@pytest.mark.parametrize("like", ["skimage", "pillow", "onnx"])
def test_rows_of_blurred_maps_sum_to_one(like, edge):
    for n_in, n_out in LENGTHS:
        rows = tenter.axis_map(n_in, n_out, "linear", like=like, edge=edge, antialias=True).dense().sum(1)
        np.testing.assert_allclose(rows, 1.0)


@pytest.mark.parametrize("mode", sampled(["nearest", "cubic", "linear", "lanczos3"], 2))
@pytest.mark.parametrize("size", sampled(((s,) for s in SIZES), 24, lambda p: str(p[0])))
def test_jax(size, mode):
    jax = pytest.importorskip("jax")
    h, w, a, b = size
    x = np.random.default_rng(0).random((h, w), dtype=np.float32)
    expected = np.asarray(jax.image.resize(x, (a, b), mode))  # compiled for each size
    np.testing.assert_allclose(tenter.resize(x, (a, b), mode=mode, like="jax"), expected, atol=1e-5)
