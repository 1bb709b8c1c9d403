"""Every kind of index into a lazy array gives what it gives of the materialized array: values, shapes, errors."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
import torch

import tenter
from sweeps import sampled

X = np.random.default_rng(0).standard_normal((2, 3, 4))
ENTRIES = {
    "...": ...,
    "None": None,
    "int": 1,
    "negative": -2,
    "numpy": np.int64(2),
    "out": 99,
    ":": slice(None),
    "1:3": slice(1, 3),
    "::2": slice(None, None, 2),
    "::-1": slice(None, None, -1),
    "list": [0, 1],
    "backward": [3, -1],
    "one": [2],
    "none": [],
    "2-D": np.array([[0, 2], [3, 1]]),
    "0-D": np.array(1),
    "mask": np.array([True, False, False, True, False, True]),
    "2-D mask": np.add.outer(np.arange(6), np.arange(6)) % 4 == 1,
    "True": True,
}
# Three dims of 6, by maps of every kind.
MAKERS = {
    "copies": lambda x: tenter.lazy.repeat(tenter.lazy.repeat_interleave(x, [2, 0, 4], 1), 3, 1, 1)[
        ..., [0, 1, 2, 3, 1, 1]
    ],
    "closed": lambda x: tenter.lazy.tile(tenter.lazy.repeat_interleave(x, 2, 1)[:, :, :3], (3, 1, 2)),
    "weights": lambda x: tenter.lazy.resize(x, (6, 6, 6), mode="linear"),
    "one weighs": lambda x: tenter.lazy.resize(tenter.lazy.repeat(x[..., :3], 3, 1, 2), 6, axes=1, mode="cubic"),
}
LIBRARIES = {"numpy": np.asarray, "torch": torch.from_numpy}


def outcome(of, key):
    """The values, or the kind of the error."""
    try:
        found = of[key]
    except (IndexError, ValueError, TypeError) as error:
        return type(error)
    return np.asarray(found.materialize() if isinstance(found, tenter.lazy.LazyArray) else found)


def compare(library, maker, keys):
    s = MAKERS[maker](LIBRARIES[library](X))
    assert s.shape == (6, 6, 6)
    whole = s.materialize()
    for names in keys:
        entries = [ENTRIES[name] for name in names]
        key = tuple([LIBRARIES[library](e) if isinstance(e, np.ndarray) else e for e in entries])
        want, got = outcome(whole, key), outcome(s, key)
        if isinstance(want, type):
            assert got is want, names
        else:
            assert got.shape == want.shape, (names, got.shape, want.shape)
            np.testing.assert_allclose(got, want, 0, 1e-12, err_msg=str(names))


@pytest.mark.parametrize("library, maker", sampled(itertools.product(LIBRARIES, MAKERS), 3))
def test_an_index_gives_what_it_gives_of_the_materialized_array(library, maker):
    short = [names for n in (0, 1, 2) for names in itertools.product(ENTRIES, repeat=n)]
    some = random.Random(maker)
    long = [some.choices([*ENTRIES], k=some.randint(3, 5)) for _ in range(400)]
    compare(library, maker, short + long)


@pytest.mark.slow
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_many_indices_of_three_to_five_entries(library, maker):
    some = random.Random(f"{library} {maker}")
    compare(library, maker, [some.choices([*ENTRIES], k=some.randint(3, 5)) for _ in range(20_000)])


@pytest.mark.parametrize(
    "apart", [np.s_[:, [0, 1], ..., [0, 1]], np.s_[:, 0, ..., [0, 1]], np.s_[:, [0, 1], None, [0, 1]]]
)
def test_dims_of_arrays_that_an_ellipsis_holds_apart_come_first(apart):
    s = tenter.lazy.repeat_interleave(X, [3, 3], 0)
    np.testing.assert_array_equal(s[apart], np.repeat(X, 3, 0)[apart])


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_outputs_that_are_few_are_computed_alone(mode):
    """Of 4 TB, which no machine of a test has."""
    x = np.arange(1000, dtype=np.float32)
    s = tenter.lazy.resize(x, 10**12, mode=mode)
    got = s[np.array([[0, -1], [10**12 // 2, 10**11]])]
    want = tenter.resize(x, 10**6, mode=mode)[np.array([[0, -1], [10**6 // 2, 10**5]])]
    np.testing.assert_allclose(got, want, 0, 0.1)
    assert s[:: 10**10].shape == (100,)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("how", [{}, {"mode": "cubic", "edge": "wrap"}, {"mode": "area"}, {"mode": "lanczos"}], ids=str)
@pytest.mark.parametrize("n", [300, 40_000])
def test_outputs_that_are_few_have_the_bits_of_all(how, n, library):
    random = np.random.default_rng(n)
    for x in (random.standard_normal((50, 3)).astype(np.float32), random.integers(0, 255, (70_000, 2), np.uint8)):
        x = LIBRARIES[library](x)
        whole, s = np.asarray(tenter.resize(x, n, axes=0, **how)), tenter.lazy.resize(x, n, axes=0, **how)
        for key in (
            random.integers(-n, n, n // 20),
            random.integers(0, n, (3, 4)),
            slice(5, None, 17),
            slice(-3, None, 99),
        ):
            got = s[LIBRARIES[library](key) if isinstance(key, np.ndarray) else key]
            got = np.asarray(got.materialize() if isinstance(got, tenter.lazy.LazyArray) else got)
            assert got.tobytes() == whole[key].tobytes(), (x.shape, key)
