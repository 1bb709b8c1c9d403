"""Arguments that take one value for all axes or one for each: any sequence is what the tuple is."""

from __future__ import annotations

import array
import collections

import numpy as np
import pytest

import tenter
from error_helpers import refused
from sweeps import in_one_test
from tenter._specs import resize_arguments

X = np.random.default_rng(0).random((2, 3, 4, 5))
FORMS = {
    "range": lambda v: range(v[0], v[-1] + 1),
    "list": list,
    "array of NumPy": np.array,
    "short ints": lambda v: np.array(v, np.int8),
    "NumPy's ints": lambda v: [np.int32(i) for i in v],
    "array of Python": lambda v: array.array("q", v),
    "deque": collections.deque,
}
CALLS = {
    "size": lambda s: tenter.resize(X, s((6, 7)), axes=(1, 3)),
    "axes": lambda s: tenter.resize(X, (7, 8), axes=s((1, 2))),
    "negative axes": lambda s: tenter.resize(X, (7, 8), axes=s((-3, -2))),
    "scale": lambda s: tenter.resize(X, scale=s((2, 3)), axes=(1, 3)),
    "pair of a box": lambda s: tenter.resize(X, (7, 8), axes=(1, 3), box=[s((0, 1)), s((2, 3))]),
    "size of interpolate": lambda s: tenter.interpolate(X, s((6, 7))),
    "scale_factor": lambda s: tenter.interpolate(X, scale_factor=s((2, 3))),
    "repeat": lambda s: tenter.repeat(X, s((1, 2, 3, 4))),
    "tile": lambda s: tenter.tile(X, s((2, 3))),
    "expand": lambda s: tenter.expand(X[:1, 0, 0, 0], s((2, 3))),
    "numpy.tile": lambda s: tenter.numpy.tile(X, s((2, 3))),
    "image.resize": lambda s: tenter.image.resize(X[0, ..., :3], s((6, 7))),
    "lazy": lambda s: np.asarray(tenter.lazy.resize(X, s((6, 7)), axes=s((1, 2)))),
    "axes and a box": lambda s: tenter.resize(X, (7, 8), axes=s((2, 3)), box=[(3, 0), (1, 4)]),
}


@in_one_test("name", CALLS)
def test_every_sequence_is_what_the_tuple_is(name):
    want = CALLS[name](tuple)
    for form, made in FORMS.items():
        for _ in range(2):  # the second may be one of the core's
            assert np.array_equal(CALLS[name](made), want), form


def test_every_sequence_is_what_the_tuple_is_for_tensors():
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(X)
    for form, made in {**FORMS, "tensor": torch.tensor, "torch.Size": torch.Size}.items():
        want = tenter.resize(x, (7, 6), axes=(1, 2))
        assert torch.equal(tenter.resize(x, (7, 6), axes=made((1, 2))), want), form
        assert torch.equal(tenter.tile(x, made((2, 3))), x.tile((2, 3))), form
        want, g = [], torch.ones(2, 8, 7, 5)
        for axes in ((2, 1), made((1, 2))[::-1] if form != "deque" and form != "tensor" else [2, 1]):
            y = x.clone().requires_grad_()
            for box in ([(0, 2), (1, 3)], [(0, 3), (1, 2)]):  # the second from a recorded call
                tenter.resize(y, (7, 8), axes=axes, box=box).backward(g)
            want.append(y.grad)
        assert torch.equal(*want), form


def test_what_has_no_order_is_no_sequence():
    for size in ({3, 4}, {3: 0, 4: 0}, "34", (n for n in (3, 4))):
        refused(lambda size=size: tenter.resize(X[0, 0], size), "size", TypeError, ["ints"])
        refused(
            lambda size=size: tenter.resize(X[0], 3, axes=size), "axes", TypeError, ["int" if size != "34" else "num"]
        )


def test_axes_of_an_array_are_those_of_the_tuple_where_calls_are_recorded():
    for axes in ((2, 1), [2, 1], np.array([2, 1]), range(2, 0, -1)):
        assert resize_arguments.order_of_axes(4, axes) == (1, 0)
