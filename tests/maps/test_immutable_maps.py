"""Maps stay what was checked when they were made: their tables cannot be written to, unlocked or reshaped, and copies and
pickles are made by the constructor."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import tenter
from cases import MAPS
from sweeps import in_one_test, sampled
from tenter.maps import Copy, Gather, Window

maps = in_one_test("m", [c.map for c in MAPS], [c.name for c in MAPS])
BY_AXIS_MAP = [
    tenter.axis_map(9, 5, mode, like=like, edge=edge)
    for mode, like in [("nearest", "torch"), ("linear", "pillow"), ("cubic", "torch"), ("area", "opencv")]
    for edge in (None, "wrap", "reflect", "constant")
] + [tenter.axis_map(5, 9, "linear"), tenter.axis_map(6, 6, "linear"), tenter.axis_map(40000, 20000, "linear")]


def tables(m):
    """Every array that a map gives to its users."""
    found = {name: getattr(m, name, None) for name in ("offsets", "start", "offset", "weight", "index", "block_index")}
    if isinstance(m, Copy):  # in blocks it is made for the call
        found["index"] = m.index() if m.block == 1 else None
    if isinstance(m, Window):
        if m.start is not None:
            found["first"], found["running"] = m.rows()
        found["taps"] = m.taps()[2] if m.weight is not None else None
    if isinstance(m, Gather):
        found["order"] = m._in_order[0]
    return {name: table for name, table in found.items() if isinstance(table, np.ndarray)}


def relatives(m):
    """A map, and those that come of it."""
    yield from (m, m.T, m.T.T, copy.copy(m), copy.deepcopy(m), copy.deepcopy(m.T))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.loads(pickle.dumps(m, protocol))
    if isinstance(m, Gather):
        yield from (m._in_order[1], m._in_order[1].T)


def cannot_be_changed(m):
    with pytest.raises(AttributeError):
        m.n_in = 5
    for name, table in tables(m).items():
        what, before = (type(m).__name__, name), table.copy()
        assert not table.flags.writeable, what
        for view in (table, table[:], table.view(), table.reshape(-1), table[::-1], np.asarray(table)):
            with pytest.raises(ValueError):
                view.flags.writeable = True
            with pytest.raises(ValueError):
                view.setflags(write=True)
        for field, value in (("dtype", np.int32), ("shape", (-1, 1)), ("strides", (0,))):
            try:
                setattr(tables(m)[name], field, value)
            except (ValueError, AttributeError):
                continue
            again = tables(m)[name]
            assert again.dtype == before.dtype and np.array_equal(again, before), (*what, field)


@in_one_test("case", sampled(MAPS, 3, lambda c: c.name, lambda c: c.name.startswith(("window", "gather"))))
@pytest.mark.filterwarnings("ignore:Setting the:DeprecationWarning")
def test_tables_cannot_be_changed(case):
    m = case.map
    for each in relatives(m):
        cannot_be_changed(each)


def given(way):
    """An array for a map, and a way to write to its memory that is still there."""
    start = np.zeros(200, np.int64)
    view = start[:]
    if way != "writable":
        (start if way == "frozen after a view" else view).flags.writeable = False
    return (view, start) if way == "a frozen view" else (start, view)


@pytest.mark.parametrize("way", ["writable", "frozen after a view", "a frozen view"])
def test_arrays_that_are_given_are_copied(way):
    """A kernel would read out of bounds after they were written to."""
    start, writable = given(way)
    m = Window(10, 200, start=start, offset=np.arange(201), weight=np.ones(200))
    writable[:] = 10**12
    assert m.apply(np.ones(10), 0).sum() == 200 and not m.start.any()


@pytest.mark.parametrize("m", BY_AXIS_MAP, ids=repr)
@pytest.mark.filterwarnings("ignore:Setting the:DeprecationWarning")
def test_tables_of_resize_cannot_be_changed(m):
    for each in (m, m.T, m.T.T):
        cannot_be_changed(each)


@maps
def test_copies_and_pickles_are_the_map(m):
    """Also after it was applied, with nothing of what it keeps for that."""
    x = np.random.default_rng(0).standard_normal((2, m.n_in, 3))
    y, g = m.apply(x, 1), m.T.apply(np.ones((2, m.n_out, 3)), 1)
    for each in [*relatives(m)][3:5] + [pickle.loads(pickle.dumps(m))]:
        assert each == m and each.T == m.T and hash(each) == hash(m) and repr(each) == repr(m)
        assert set(vars(each)) <= set(vars(m)) and "native" not in vars(each)
        assert np.array_equal(each.apply(x, 1), y)
        assert np.array_equal(each.T.apply(np.ones((2, m.n_out, 3)), 1), g)


class Old:
    """What pickle made of a dataclass: an empty one, and its fields."""

    def __init__(self, kind, state):
        self.how = object.__new__, (kind,), state

    def __reduce__(self):
        return self.how


LIES = [
    (Copy, {"n_in": 2, "n_out": 1000, "repeat": None, "offsets": np.array([0, 10**6, 1000]), "block": 1}),
    (Window, {"n_in": 2, "n_out": 1, "start": np.array([10**6]), "offset": np.array([0, 3]), "weight": None, "width": None, "block": 1}),
    (Gather, {"n_in": 2, "n_out": 1, "offset": np.array([0, 1]), "index": np.array([10**6]), "weight": np.ones(1)}),
]  # fmt: skip


@pytest.mark.parametrize("kind, state", LIES, ids=lambda v: getattr(v, "__name__", ""))
def test_a_crafted_pickle_brings_no_tables_in(kind, state):
    with pytest.raises(ValueError, match="axis map: expected"):
        pickle.loads(pickle.dumps(Old(kind, state), 2))
    with pytest.raises(ValueError, match="axis map: expected"):
        kind(**state)


def test_maps_whose_check_is_left_out_are_refused():
    class Fast(Copy):
        def __init__(self, n_in, n_out, offsets):
            self._set(n_in=n_in, n_out=n_out, repeat=None, offsets=offsets, block=1)

    with pytest.raises(TypeError, match=r"map: expected a Copy, a Window or a Gather, got test_immutable_maps\..*Fast"):
        Fast(2, 1000, offsets=[0, 10**6, 1000]).apply(np.zeros(2), 0)


def test_tables_whose_differences_wrap():
    for broken in (
        lambda: Window(2**63 - 1, 2, [0, 0], [0, 5, -(2**63)]),
        lambda: Window(3, 2, [0, 1], [0, 2**63 - 1, -(2**63) + 1]),
        lambda: Window(5, 1, [2**63 - 1], [0, 2**63 - 1]),
        lambda: Window(5, 1, [3], [0, 2**63 - 1]),
        lambda: Copy(2, 5, offsets=np.array([0, 2**63 + 1, 5], np.uint64)),
        lambda: Gather(2, 1, [0, 1], np.array([2**64 - 1], np.uint64), [1.0]),
    ):
        with pytest.raises(ValueError, match="axis map: expected"):
            broken()
