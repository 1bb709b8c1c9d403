"""Products, sums, multiples and rows of maps are those of their matrices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tenter import axis_map
from tenter.maps import Copy, Gather, Window

LONG = axis_map(100_000, 6, "lanczos", antialias=True)  # has no tables
MAPS = [
    axis_map(6, 4, "area"),
    axis_map(4, 6),
    axis_map(6, 6, "cubic", align="align_corners", box=[(-1.0, 5.0)], edge="wrap"),
    axis_map(6, 9, "cubic", edge="wrap"),
    Copy.repeats([1, 0, 3, 2]),
    Copy.repeats([1, 0, 3, 2]).T,
    Copy.tile(3, 2),
    Copy.tile(2, 3).T,
    Copy.repeat_each(2, 3),
    Copy.repeat_each(2, 2).T,
    Copy.repeat_each(3, 0),
    Copy.repeat_each(0, 3),
    Window(4, 2, width=2),
    Window(4, 4, start=[0, 0], offset=[0, 1, 2], weight=[0.5, 0.25], block=2),
    Gather(4, 6, offset=[0, 2, 2, 3, 4, 6, 7], index=[3, 0, 1, 1, 2, 2, 0], weight=[1, 2, -1, 0, 0.5, 0.5, 3.0]),
]
PAIRS = [*itertools.product(MAPS, MAPS)]
named = pytest.mark.parametrize("m", MAPS, ids=repr)


def test_a_product_is_that_of_the_matrices():
    products = [(a, b, b @ a) for a, b in PAIRS if b.n_in == a.n_out]
    assert len(products) > 50 and {type(product) for *_, product in products} == {Copy, Window, Gather}
    for a, b, product in products:
        assert np.allclose(product.dense(), b.dense() @ a.dense(), atol=1e-15), (a, b)
        assert np.allclose(product.T.dense(), product.dense().T, atol=0), (a, b)
    assert np.allclose((Window(6, 1, width=6) @ LONG).dense(), LONG.dense().sum(0), atol=1e-12)


def test_a_sum_is_that_of_the_matrices():
    sums = [(a, b, a + b) for a, b in PAIRS if (a.n_in, a.n_out) == (b.n_in, b.n_out)]
    assert len(sums) > len(MAPS)
    for a, b, total in sums:
        assert np.allclose(total.dense(), a.dense() + b.dense(), atol=0), (a, b)


@named
def test_multiples_and_rows_are_those_of_the_matrix(m):
    for factor in (2, 0.5, np.float32(0.25), np.int8(-3), True):
        assert np.array_equal((factor * m).dense(), float(factor) * m.dense())
        assert np.array_equal((m * factor).dense(), float(factor) * m.dense())
    for lo, hi in ((0, m.n_out), (1, 3), (-2, None), (None, -1), (3, 1), (2, 2), (1, 99)):
        assert np.array_equal(m[lo:hi].dense(), m.dense()[lo:hi]), (lo, hi)


def test_rows_of_a_long_axis_are_made_without_its_tables():
    assert np.array_equal(LONG[2:4].dense(), LONG.dense()[2:4])
    long = axis_map(50_000_000, 20_000_000, "cubic", antialias=True)
    assert long[7:9].n_out == 2 and not long._core.has_tables


@named
def test_a_map_times_an_array_is_matmul_of_the_matrix(m):
    x = np.random.default_rng(0).random((3, m.n_in, 2))
    for each in (x, x[0], x[0, :, 0]):
        assert np.allclose(m @ each, m.dense() @ each, atol=1e-14)
    assert np.allclose(m @ x[0].tolist(), m.dense() @ x[0], atol=1e-14) if m.n_in else True


def test_a_map_times_a_tensor_has_a_gradient():
    torch = pytest.importorskip("torch")
    x = torch.rand(3, 6, 2, requires_grad=True)
    m = axis_map(6, 4, "area") @ axis_map(6, 6, "bspline")
    (m @ x).sum().backward()
    assert np.allclose(x.grad[0, :, 0].numpy(), m.dense().sum(0), atol=1e-6)


def test_the_simplest_kind_holds_the_result():
    assert Copy.repeat_each(6, 2) @ Copy.repeats([1, 0, 3, 2]) == Copy.repeats([2, 0, 6, 4])
    assert axis_map(6, 3, "area") @ Copy.repeat_each(3, 2) == Copy.repeat_each(3, 1)
    assert isinstance(axis_map(9, 4, "area") @ axis_map(9, 9, "bspline"), Window)  # of windows whose rows overlap
    assert isinstance(axis_map(6, 6, "linear", edge="wrap", box=[(0.5, 6.5)]) @ axis_map(6, 6, "bspline"), Gather)
    assert (2 * Window(4, 4, start=[0, 0], offset=[0, 1, 2], weight=[0.5, 0.25], block=2)).block == 2


@named
def test_scipy_has_the_same_matrix(m):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = m.to_scipy()
    assert matrix.format == "csr" and np.array_equal(matrix.toarray(), m.dense())
    for made in (matrix, matrix.tocsc(), matrix.tocoo(), sparse.csr_matrix(matrix)):
        assert np.array_equal(Gather.from_scipy(made).dense(), m.dense())
    try:
        window = Window.from_scipy(matrix)
    except ValueError as error:
        assert "Gather.from_scipy takes any" in str(error)
        assert not isinstance(m, Window) or m.block > 1
    else:
        assert np.array_equal(window.dense(), m.dense())


def test_entries_of_scipy_at_one_place_are_added():
    sparse = pytest.importorskip("scipy.sparse")
    twice = sparse.coo_array(([1, 2, 4], ([0, 0, 1], [1, 1, 2])), shape=(2, 3))
    assert Window.from_scipy(twice).dense().tolist() == [[0, 3, 0], [0, 0, 4]]


M = axis_map(6, 4)


@pytest.mark.parametrize("call, error, words", [
    (lambda: M @ M, ValueError, r"right: expected a map to 6 positions, .* got one to 4\n  in Window\(6 -> 4: .* @ Window"),
    (lambda: M + M.T, ValueError, r"right: expected a map from 6 to 4 positions, .* got one from 4 to 6\n  in "),
    (lambda: M @ np.ones(5), ValueError, r"x: expected length 6 along axis 0, got 5\n  in Window.apply"),
    (lambda: M @ [[1, 2], [3]], ValueError, r"x: expected an array, or a list that makes one, got a ragged list\n  in Window.apply"),
    (lambda: M @ "123456", TypeError, "x: expected an array"),
    (lambda: M[2], TypeError, r"rows: expected a slice of outputs without a step, got 2\n  in "),
    (lambda: M[::2], TypeError, r"without a step, got slice\(None, None, 2\)"),
    (lambda: M["a":], TypeError, "indices"),
    (lambda: M + 1, TypeError, "unsupported operand"),
    (lambda: M * 2j, TypeError, "unsupported operand"),
    (lambda: np.ones(3) * M, TypeError, "unsupported operand"),
    (lambda: np.ones(4) @ M, TypeError, "unsupported operand"),
    (lambda: Window.from_scipy(np.eye(3)), TypeError, r"matrix: expected a 2-d sparse array of SciPy, got ndarray\n  in Window.from_scipy"),
])  # fmt: skip
def test_what_has_no_meaning_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
