"""Deliberate faults, by which the fuzzer's own test sees that it can fail: TENTER_FUZZ_FAULT names one."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import numpy as np

import tenter
from tenter._execution import numpy_executor
from tenter.maps import Window


def install(name: str) -> None:
    if name:
        FAULTS[name]()


def _bent(change: Any) -> None:
    """Results of tenter.repeat_interleave are changed."""
    usual = tenter.repeat_interleave

    def bent(*args: Any, **named: Any) -> Any:
        return change(usual(*args, **named))

    tenter.repeat_interleave = bent


def _element(y: Any) -> Any:
    if isinstance(y, np.ndarray) and y.size > 3 and y.dtype.kind in "iuf":
        y.reshape(-1)[3] += 1
    return y


def _weight() -> None:
    """The last weight of every map that resize makes is that of its neighbour."""
    from tenter._specs import axis_maps

    usual = axis_maps.computed

    def bent(*args: Any) -> Any:
        made = usual(*args)
        if not isinstance(made, Window):
            return made
        return Window(made.n_in, made.n_out, made.start, made.offset, np.roll(made.weight, 1))

    axis_maps.computed = bent


def _crash(y: Any) -> Any:
    os.kill(os.getpid(), signal.SIGSEGV)
    return y


def _hang(y: Any) -> Any:
    time.sleep(3600)
    return y


def _leak() -> None:
    """A plan's result is NaN throughout where one input is."""
    usual = numpy_executor.run

    def bent(x: Any, plan: Any) -> Any:
        y = usual(x, plan)
        y.reshape(-1).view(np.uint8)[:4] = 0xFF
        return y

    numpy_executor.run = numpy_executor.execute = numpy_executor.run_read = bent


FAULTS: dict[str, Any] = {
    "element": lambda: _bent(_element), "weight": _weight, "crash": lambda: _bent(_crash), "hang": lambda: _bent(_hang),
    "leak": _leak,
}  # fmt: skip
