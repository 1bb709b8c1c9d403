"""What lies between resized axes in memory, and the strides of dims of length 1, decide on no bits."""

from __future__ import annotations

import itertools

import cv2
import numpy as np
import pytest
import torch

import tenter
from sweeps import in_one_test, sampled

MODES = [
    {}, {"mode": "cubic"}, {"antialias": True}, {"mode": "cubic", "antialias": True}, {"mode": "area"}, {"like": "opencv"},
    {"mode": "cubic", "like": "opencv"}, {"mode": "area", "like": "opencv"}, {"like": "onnx", "antialias": True},
    {"edge": "wrap"}, {"mode": "lanczos", "edge": "reflect"}, {"edge": "constant", "value": 7}, {"mode": ["linear", "area"]},
    {"box": [(0.5, 1.5), (1.75, 1)]},
]  # fmt: skip
DTYPES = ("uint8", "float32", "uint16", "float16", "complex64")


def numbers(shape, dtype, rng):
    made = rng.random(shape) * 255
    return (made + 1j * made[::-1] if dtype == "complex64" else made).astype(dtype)


def moved(x, order):
    """A copy of x whose dims lie in memory in this order, as an array whose dims are in it too."""
    return np.ascontiguousarray(x.transpose(order))


def check_two(dtype, how, seed):
    rng = np.random.default_rng(seed)
    h, w, m, p = (int(n) for n in rng.integers(2, 60, 4))
    x = numbers((h, w, int(rng.integers(2, 6))), dtype, rng)
    want = tenter.resize(x, (m, p), axes=(0, 1), **how)
    for order in ((0, 2, 1), (2, 0, 1)):
        at = order.index(0), order.index(1)
        got = tenter.resize(moved(x, order), (m, p), axes=at, **how)
        assert np.array_equal(got, want.transpose(order)), (x.shape, (m, p), order)
        strided = moved(x, order).transpose(np.argsort(order))  # the dims of x, in another order in memory
        assert np.array_equal(tenter.resize(strided, (m, p), axes=(0, 1), **how), want), (x.shape, (m, p), order)


@in_one_test("dtype", DTYPES)
@in_one_test("how", MODES)
@pytest.mark.parametrize("seed", sampled(range(12), 12))
def test_a_dim_between_two_axes_changes_no_bits(seed, how, dtype):
    check_two(dtype, how, seed)


LONGEST = {3: 14, 4: 9, 5: 6}  # by the number of axes


@pytest.mark.parametrize("seed", sampled(range(120), 12))
@in_one_test(
    "n, how", itertools.product(LONGEST, [{}, {"antialias": True}, {"mode": "area"}, {"mode": "cubic", "edge": "wrap"}])
)
def test_a_dim_between_more_axes_changes_no_bits(n, how, seed):
    rng = np.random.default_rng(seed)
    lengths, size = rng.integers(1, LONGEST[n], n), tuple(rng.integers(1, LONGEST[n], n).tolist())
    x = numbers((*lengths, 3), str(rng.choice(["float32", "float64", "uint8"])), rng)
    want = tenter.resize(x, size, axes=tuple(range(n)), **how)
    for place in range(n):
        order = (*range(place), n, *range(place, n))
        at = tuple(order.index(d) for d in range(n))
        got = tenter.resize(moved(x, order), size, axes=at, **how)
        assert np.array_equal(got, want.transpose(order)), (x.shape, size, order)


def test_an_expanded_dim_between_has_the_bits_of_a_copied_one():
    rng = np.random.default_rng(0)
    for dtype, how in itertools.product(("uint8", "float32"), MODES):
        x = np.broadcast_to(numbers((23, 1, 31), dtype, rng), (23, 3, 31))
        for size in ((40, 11), (9, 50), (7, 13)):
            got = tenter.resize(x, size, axes=(0, 2), **how)
            assert np.array_equal(got, tenter.resize(x.copy(), size, axes=(0, 2), **how)), (dtype, how, size)


@pytest.mark.parametrize("seed", sampled(range(40), 8))
def test_a_dim_between_two_axes_leaves_opencvs_bytes(seed):
    rng = np.random.default_rng(seed)
    for _ in range(5):
        h, w, m, p = (int(n) for n in rng.integers(2, 90, 4))
        x = rng.integers(0, 256, (3, h, w), np.uint8)
        want = np.stack([cv2.resize(plane, (p, m), interpolation=cv2.INTER_LINEAR) for plane in x])
        got = tenter.resize(x.transpose(1, 0, 2).copy(), (m, p), axes=(0, 2), like="opencv")
        assert np.array_equal(got.transpose(1, 0, 2), want)
        gray = torch.empty_strided((3, 1, h, w), (h * w, 1, w, 1), dtype=torch.uint8)  # in channels_last
        gray[:, 0] = torch.from_numpy(x)
        assert np.array_equal(tenter.resize(gray, (m, p), axes=(2, 3), like="opencv")[:, 0].numpy(), want)


def test_a_part_of_an_array_with_a_dim_between_has_the_bits_of_the_whole():
    rng = np.random.default_rng(0)
    for dtype, how in itertools.product(
        ("uint8", "float32"), ({"like": "opencv"}, {}, {"mode": "cubic"}, {"mode": "area"})
    ):
        for x in (numbers((30, 3, 40), dtype, rng), np.asfortranarray(numbers((30, 3, 40), dtype, rng))):
            whole = tenter.resize(x, (17, 50), axes=(0, 2), **how)
            lazily = tenter.lazy.resize(x, (17, 50), axes=(0, 2), **how)
            for part in (
                np.s_[3:9],
                np.s_[4:5],
                np.s_[:, 1],
                np.s_[:, :, 7:8],
                np.s_[16:, :, 10:11],
                np.s_[5, 1, 3:40],
            ):
                assert np.array_equal(np.asarray(lazily[part]), whole[part]), (dtype, how, part)


@in_one_test("dtype", ("uint8", "float32"))
@in_one_test(
    "how", [{}, {"like": "opencv"}, {"antialias": True}, {"mode": "area"}, {"like": "pillow", "mode": "cubic"}]
)
@pytest.mark.parametrize("seed", sampled(range(16), 8))
def test_strides_of_dims_of_length_one_decide_on_no_bits_and_no_layout(seed, how, dtype):
    rng = np.random.default_rng(seed)
    shape = [int(n) for n in rng.integers(2, 12, 4)]
    for d in rng.permutation(4)[: int(rng.integers(1, 3))]:
        shape[d] = 1
    axes = tuple(sorted(rng.permutation(4)[:2].tolist()))
    order = rng.permutation(4)
    x = numbers([shape[d] for d in order], dtype, rng).transpose(np.argsort(order))
    want = tenter.resize(x, (7, 5), axes=axes, **how)
    for odd in (0, 1, x.itemsize, -x.itemsize, 3 * x.itemsize, 1 << 20):
        strides = [odd if n == 1 else s for n, s in zip(x.shape, x.strides)]
        y = np.lib.stride_tricks.as_strided(x, x.shape, strides)
        got = tenter.resize(y, (7, 5), axes=axes, **how)
        assert np.array_equal(got, want), (shape, order, odd)
        assert got.strides == want.strides, (shape, order, odd)
