"""Sanitized builds verify what the kernels trust: tables and lengths that lie are refused before memory is touched."""

from __future__ import annotations

import os

import numpy as np
import pytest

import tenter
from program_helpers import run_program
from tenter import _native
from tenter._plans.core import CoreLayout, MappedAxis

pytestmark = pytest.mark.skipif(
    not _native.testing.VERIFIES, reason="only sanitized builds verify (python -m tests.sanitize)"
)
F32 = 0


def ints(*values):
    return np.array(values, np.int64)


# n_in, n_out, and the offsets of runs or the indices
COPIES = {
    "an index past the inputs": (3, None, ints(0, 1, 2, 3)),
    "a negative index": (3, None, ints(-1, 0)),
    "runs that descend": (3, 9, ints(0, 3, 2, 9)),
    "runs past the outputs": (2, 5, ints(0, 3, 6)),
    "runs that begin late": (2, 5, ints(1, 3, 5)),
    "few outputs, of runs that descend": (3, 4, ints(0, 3, 2, 4)),
    "few outputs, of runs past them": (3, 4, ints(0, 3, 4, 5)),
}


@pytest.mark.parametrize("lies", COPIES.values(), ids=COPIES.keys())
def test_copies_that_lie(lies):
    n_in, n_out, table = lies
    x, y, form = np.zeros(16, np.float32), np.full(16, 7, np.float32), _native.AxisMap()
    form.set_index(n_in, table) if n_out is None else form.set_runs(n_in, n_out, table)
    with pytest.raises(RuntimeError, match="native call: expected"):
        plan_of(form, (n_in,), (4,)).run(x.ctypes.data, y.ctypes.data, False)
    assert (y == 7).all()


def plan_of(form, shape, strides):
    """Of a map on the first axis."""
    layout = CoreLayout(shape, strides, F32, False, 4)
    return _native.HostPlan(layout, [MappedAxis(0, form, 1, None)], None, "once", None)


def form_of(m):
    form = _native.AxisMap()
    form.set_map(m)
    return form


# n_in, n_out, width, start, offset, weight, and the length of the axis
WINDOWS = {
    "past the inputs": (4, 2, 0, ints(0, 3), ints(0, 2, 4), None, 4),
    "before the inputs": (4, 2, 0, ints(-1, 2), ints(0, 2, 4), None, 4),
    "starts that descend": (4, 2, 0, ints(2, 0), ints(0, 1, 4), None, 4),
    "stops that descend": (4, 2, 0, ints(0, 1), ints(0, 4, 5), None, 4),
    "offsets that descend": (4, 2, 0, ints(0, 1), ints(0, 2, 1), None, 4),
    "too few starts": (4, 2, 0, ints(0), ints(0, 2, 4), None, 4),
    "too few weights": (4, 2, 0, ints(0, 2), ints(0, 2, 4), np.ones(3), 4),
    "a width past the inputs": (4, 3, 2, None, None, None, 4),
    "an axis of another length": (4, 2, 0, ints(0, 2), ints(0, 2, 4), None, 3),
}


@pytest.mark.parametrize("row", [True, False], ids=["rows", "columns"])
@pytest.mark.parametrize("lies", WINDOWS.values(), ids=WINDOWS.keys())
def test_windows_that_lie(lies, row):
    *tables, length = lies
    x, y = np.zeros(64, np.float32), np.full(64, 7, np.float32)
    with pytest.raises((RuntimeError, ValueError), match="expected"):
        shape, strides = ((length, 16), (64, 4)) if row else ((length,), (4,))
        plan_of(form_of(_native.WindowMap(*tables)), shape, strides).run(x.ctypes.data, y.ctypes.data, False)
    assert (y == 7).all()


def test_tables_that_change_after_a_map_was_made():
    start, offset = ints(0, 2), ints(0, 2, 4)
    x, y = np.ones(4, np.float32), np.full(2, 7, np.float32)
    m = _native.WindowMap(4, 2, 0, start, offset, None)
    plan = plan_of(form_of(m), (4,), (4,))
    plan.run(x.ctypes.data, y.ctypes.data, False)
    assert (y == 2).all()
    start[1] = 1000
    with pytest.raises(RuntimeError, match="native call: expected windows inside of the inputs"):
        plan.run(x.ctypes.data, y.ctypes.data, False)


def test_what_is_true_passes():
    assert tenter.repeat_interleave(np.arange(3), [2, 0, 1]).tolist() == [0, 0, 2]
    assert tenter.resize(np.arange(4.0), 2, mode="area").tolist() == [0.5, 2.5]


@pytest.mark.skipif(
    os.environ.get("TENTER_SANITIZED") != "address", reason="only AddressSanitizer knows whose memory is"
)
@pytest.mark.parametrize("where, ends", [("inside", True), ("past", False), ("idle", False)])
def test_blocks_are_for_their_result_alone(where, ends, tmp_path):
    # Reports go to a folder of their own: these are meant.
    options = os.environ["ASAN_OPTIONS"].split(":log_path=")[0] + f":log_path={tmp_path}/report"
    done = run_program("blocks_by_sanitizer.py", where, ASAN_OPTIONS=options)
    assert done.stdout == ("begun\nended\n" if ends else "begun\n"), done.stderr
    said = "".join(report.read_text() for report in tmp_path.glob("report.*"))
    assert ends or "use-after-poison" in said
