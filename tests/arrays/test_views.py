"""Views that the core makes of arrays, compared with NumPy's."""

import numpy as np
import pytest

import tenter
from tenter import _native

RNG = np.random.default_rng(5)
DTYPES = [np.bool_, np.int8, np.float16, np.float32, np.complex128, np.dtype(">f4"), np.dtype("M8[s]"), object]


def some_array() -> np.ndarray:
    shape = tuple(
        int(n) for n in RNG.choice([1, 1, 2, 3, 5, 0], RNG.integers(0, 5), p=[0.3, 0.2, 0.2, 0.15, 0.1, 0.05])
    )
    x = np.zeros(tuple(2 * n + 1 for n in shape), DTYPES[RNG.integers(len(DTYPES))])
    x = x[(..., *(slice(1, None, 2) for _ in shape))].transpose(RNG.permutation(len(shape)))
    x = x[::-1] if x.ndim and RNG.random() < 0.2 else x.copy() if RNG.random() < 0.3 else x
    x.flags.writeable = RNG.random() < 0.5
    return x


def sizes_of(x: np.ndarray) -> tuple[int, ...]:
    inner = [
        -1 if RNG.random() < 0.2 else int(RNG.integers(0 if RNG.random() < 0.1 else 1, 7)) if n == 1 else n
        for n in x.shape
    ]
    return (*(int(n) for n in RNG.integers(1, 4, RNG.integers(0, 3))), *inner)


def test_views_are_those_of_numpy_in_every_layout():
    for _ in range(2000):
        x = some_array()
        sizes = sizes_of(x)
        if not sizes:
            continue
        front = len(sizes) - x.ndim
        shape = tuple(x.shape[d - front] if n == -1 else n for d, n in enumerate(sizes))
        y, z = tenter.expand(x, *sizes), np.broadcast_to(x, shape)
        assert type(y) is np.ndarray and y.dtype == z.dtype and y.shape == z.shape and y.strides == z.strides
        assert [y.flags[f] for f in "CFWAO"] == [z.flags[f] for f in "CFWAO"]
        assert y.ctypes.data == z.ctypes.data and (y.base is z.base or y.base is x)


def test_a_view_keeps_its_array():
    view = tenter.expand(np.arange(1000.0), 3, 1000)
    junk = [np.full(1000, 7.0) for _ in range(50)]
    assert (view == np.arange(1000.0)).all() and len(junk) == 50


@pytest.mark.parametrize("sizes", [((2, 3),), (2, 3)], ids=["a tuple", "one by one"])
def test_the_core_makes_the_view(sizes):
    x = np.ones((1, 3))
    assert _native.expand_view(x, sizes).shape == (2, 3)


WRONG = [(), (3,), (2, 4), (-1, 1, 3), (1, -2), (2.0, 3), (True, 3), (2**62, 2, 3), (2**80, 3), ((2, 3), 3), ("2", 3)]


@pytest.mark.parametrize("sizes", WRONG, ids=str)
def test_python_looks_at_sizes_that_are_wrong(sizes):
    assert _native.expand_view(np.ones((1, 3)), sizes) is None
