"""What checks on several ranks share."""

from __future__ import annotations

import functools
from collections.abc import Callable

from torch.distributed.tensor import DTensor, distribute_tensor, init_device_mesh
from torch.testing import assert_close

RANKS = 2
# name -> check, run by every rank
CHECKS: dict[str, Callable[[], None]] = {}
# What compiles takes a second on each rank: names of slow tests.
SLOW: set[str] = set()


def check(f):
    CHECKS[f.__name__] = f
    return f


def slow_check(f):
    SLOW.add(f.__name__)
    return check(f)


@functools.cache
def mesh():
    return init_device_mesh("cpu", (RANKS,))


def sharded(x, *placements, requires_grad=False):
    return distribute_tensor(x, mesh(), placements).requires_grad_(requires_grad)


def need(holds, *found):
    """An assertion; plain ones show no values outside of the process that pytest rewrote."""
    if not holds:
        raise AssertionError(*found)


def same(got, want):
    need(isinstance(got, DTensor) == isinstance(want, DTensor), type(got), type(want))
    assert_close(got, want, rtol=0, atol=0)
