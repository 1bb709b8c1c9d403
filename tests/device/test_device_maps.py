"""Every map on a device gives what the reference gives, along any axis, and so does its transpose."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from cuda_helpers import INTERPRETED, some
from on_host import close, values

from cases import MAPS, MapCase
from tenter._plans import reference
from tenter.maps import Copy, Window

pytestmark = pytest.mark.gpu
# Shapes around an axis: by itself, as the last and the first, between others, with a narrow and a wide inside.
AROUND = [((), ()), ((3,), ()), ((), (2,)), ((2,), (5,)), ((), (40,))]


@pytest.mark.parametrize(
    "case", some(MAPS, 22, lambda c: c.name, lambda c: c.name in ("window-in-blocks", "window-with-empty-row"))
)
def test_equals_the_reference(case: MapCase, on: str) -> None:
    for m in (case.map, case.map.T):
        for before, after in AROUND[:: 2 if INTERPRETED else 1]:  # interpreted it takes a while
            x = values((*before, m.n_in, *after), torch.float32)
            got = m.apply(x.to(on), len(before))
            want = reference.run(x.numpy(), ((len(before), m),))
            close(got, torch.from_numpy(np.ascontiguousarray(want)), scale=4, bits=isinstance(m, Copy))


@pytest.mark.parametrize("name", ["counts33-33", "linear17to5", "cubic5to17", "gather", "cubic-antialias100to37"])
def test_the_dot_test(name: str, on: str) -> None:
    """<Ax, g> == <x, A'g>."""
    m = next(c.map for c in MAPS if c.name == name)
    x, g = values((3, m.n_in), torch.float64), values((3, m.n_out), torch.float64, 1)
    left = (m.apply(x.to(on), 1).cpu() * g).sum()
    right = (x * m.T.apply(g.to(on), 1).cpu()).sum()
    assert abs(left - right) < 1e-10


LONG = [
    ("one for all", Window(5000, 1, [0], [0, 5000], np.linspace(0, 1, 5000))),
    ("overlapping", Window(5000, 3, [0, 100, 900], [0, 3000, 6000, 10100], np.linspace(0, 1, 10100))),
    ("some empty", Copy.repeats([0, 700, 0, 3000, 1]).T),
    ("by width", Copy.repeat_each(3, 1000).T),
    ("of blocks", Copy.tile(40, 300).T),
]


@pytest.mark.parametrize("case", some(itertools.product(LONG, AROUND[:4]), 6, lambda c: f"{c[0][0]}-{c[1]}"))
def test_windows_that_have_a_program_of_their_own(case: tuple[Any, Any], on: str) -> None:
    (_, m), (before, after) = case
    for dtype in (torch.float32, torch.float64, torch.int64):
        if dtype == torch.int64 and m.weight is not None:
            continue
        x = values((*before, m.n_in, *after), dtype)
        want = torch.from_numpy(reference.run(x.numpy(), ((len(before), m),)))
        close(m.apply(x.to(on), len(before)), want, scale=100)


@pytest.mark.parametrize("case", some(LONG, 1, lambda c: c[0], lambda c: c[0] in ("some empty", "by width")))
def test_windows_of_parts_whose_outer_dims_are_not_one(case: tuple[str, Window], on: str) -> None:
    _, m = case
    part = values((2, 3, m.n_in), torch.float32)[:, 1:]
    want = torch.from_numpy(reference.run(part.numpy(), ((2, m),)))
    close(m.apply(part.to(on), 2), want, scale=100)


def test_what_kernels_touch_is_checked(watch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check itself: a kernel that is told to read too far is caught, as is one that writes too little."""
    from tenter._triton import launches

    m, x = Copy.repeat_each(8, 2), torch.arange(8.0)
    m.apply(x, 0)
    assert watch.loads and watch.stores
    add = launches.Launches.add
    for wrong in ({"inner_stride": 9}, {"n_columns": 8}, {"column_stride": 2}):

        def lied(self: Any, *args: Any, wrong: dict[str, int] = wrong, **named: Any) -> None:
            add(self, *args, **{**named, **wrong})

        monkeypatch.setattr(launches.Launches, "add", lied)
        with pytest.raises(Exception, match=r"outside of every argument|not written once"):
            m.apply(x, 0)
