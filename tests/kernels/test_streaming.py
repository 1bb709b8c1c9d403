"""Plans that write past the caches: the same bits, and nothing outside of the result."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from fuzz.caches import forget, plans_kept_at_once

import tenter
from cases import MAPS, OPS, values
from maps_of import planned, resample
from memory_helpers import garbage, poison, recycler  # noqa: F401
from sweeps import sampled
from tenter import _native, memory
from tenter._arrays import library
from tenter._plans import core, specializations
from tenter.maps import Copy, Gather, Window


def past_the_caches(plan, source, want, at):
    """Runs a plan past the caches, into poisoned memory `at` bytes off a line: as want says and nothing outside of it."""
    room = np.full(want.nbytes + 192, 0xA5, np.uint8)
    start = -room.ctypes.data % 64 + at
    plan.run(source, room.ctypes.data + start, True)
    assert room[start : start + want.nbytes].tobytes() == want.tobytes("K")
    assert (room[:start] == 0xA5).all() and (room[start + want.nbytes :] == 0xA5).all()


NATIVE = [c for c in MAPS if not isinstance(c.map, Gather)]


@pytest.mark.parametrize("part", range(4))
def test_every_window_and_adjoint_past_the_caches(part, level):
    """The same bits as in the ordinary way, which tests/kernels/test_kernels.py compares with the reference."""
    dtypes = ["float32", "uint8", "float64", "float16", "int64", "int16", "complex64", "uint32", "complex128"]
    checked = 0
    for k, case in enumerate(NATIVE[part::4]):
        for m in (case.map, case.map.T):
            n = m.n_in
            for j, (shape, axis) in enumerate([((n,), 0), ((n, 41), 0), ((19, n), 1), ((3, n, 3), 1)]):
                if not isinstance(m, Window):
                    continue
                dtype = dtypes[(k + j) % len(dtypes)]
                x = values(shape, dtype, k)
                how = planned(x, ((axis, m),))
                want = how.run(x)
                if want.size:
                    past_the_caches(how.steps, x.ctypes.data, want, (k + j) % 5 * want.dtype.itemsize)
                    checked += 1
    assert checked > 150


def test_wide_and_tall_windows_past_the_caches(level):
    """Rows longer than a piece, pieces that end inside a line, two axes at once, in every dtype of the kernel."""
    for dtype in ("uint8", "int8", "uint16", "int16", "float16", "float32", "float64", "uint32", "int64", "complex64"):
        for shape, size in [
            ((1, 1, 3, 9001), (5, 9001)),
            ((1, 1, 7, 4099), (3, 8200)),
            ((1, 3, 5, 700), (9, 2111)),
            ((2, 1, 130, 9), (301, 5)),
            ((1, 2, 97, 61), (31, 17)),
        ]:
            x = values(shape, dtype)
            for mode, antialias in (("bilinear", False), ("bicubic", True)):
                check_call(lambda: tenter.interpolate(x, size, mode=mode, antialias=antialias), x)
        for shape in ((9001,), (3, 5003), (70, 33, 5), (2, 1, 40, 900)):
            x = torch.from_numpy(values(shape, "float32")).to(torch.bfloat16)
            counts = [1, 0, 3, 2][: shape[-1]] * (shape[-1] // 4) + [shape[-1] % 4]
            how = planned(x, ((len(shape) - 1, sums(counts, shape[-1])),))
            past_the_caches(how.steps, x.data_ptr(), how.run(x).view(torch.int16).numpy(), 6)


WIDTHS = [2048, 2050, 2047]
ROWS = itertools.product(["float32", "bfloat16", "uint8", "float64", "int32", "int64", "uint64"], WIDTHS)


@pytest.mark.parametrize("dtype, width", sampled(ROWS, 4))
def test_rows_that_are_whole_lines_and_rows_that_are_not(dtype, width, level):
    """Whole lines go to memory as they are summed, others by way of a piece; results that begin inside a line too."""
    for shape, maps in [
        ((2, 9, 1024), [("linear", 1, 20), ("linear", 2, width)]),
        ((2, 9, 700), [("cubic", 1, 20), ("cubic", 2, width)]),
        ((2, 30, 3000), [("linear", 1, 9), ("cubic", 2, width)]),
        ((9, width), [("cubic", 0, 31)]),
        ((9, width), [("area", 0, 4)]),
        ((3, 7, width, 2), [("linear", 1, 16)]),
        ((19, 1024), [("linear", 1, width)]),
        ((19, 1024, 3), [("cubic", 1, width)]),
        ((5, 6, 1024), [("linear", 0, 9), ("linear", 1, 11), ("linear", 2, width)]),
        ((9, 6, 1024), [("linear", 0, 5), ("cubic", 1, 11), ("linear", 2, width)]),
    ]:
        made = tuple((axis, resample(kind, shape[axis], n)) for kind, axis, n in maps)
        x = torch.from_numpy(values(shape, "float32" if dtype == "bfloat16" else dtype))
        x = x.bfloat16() if dtype == "bfloat16" else x
        how = planned(x, made)
        want = how.run(x)
        want = (want.view(torch.int16) if dtype == "bfloat16" else want).numpy()
        for at in (0, 64 - want.itemsize):
            past_the_caches(how.steps, x.data_ptr(), want, at)


@pytest.mark.parametrize(
    "dtype, width", sampled(itertools.product(["float32", "bfloat16", "uint8", "float64"], WIDTHS), 5)
)
def test_results_of_32_mebibytes_have_the_bits_of_small_ones(dtype, width, level):
    """A block that was used before is written past the caches."""
    memory.clear()
    x = torch.from_numpy(values((1, 3, 512, 512), "float32" if dtype == "bfloat16" else dtype))
    x = x.bfloat16() if dtype == "bfloat16" else x
    n = -(-_native.tuning.stream_bytes // (3 * 1024 * width * x.itemsize))
    x = torch.cat([x.roll(k, 3) for k in range(n)])
    want = [tenter.interpolate(x[k : k + 1], (1024, width), mode="bilinear") for k in range(n)]
    places = []
    for _ in range(2):
        y = tenter.interpolate(x, (1024, width), mode="bilinear")
        places.append(y.data_ptr())
        assert all(torch.equal(y[k : k + 1].view(torch.uint8), w.view(torch.uint8)) for k, w in enumerate(want))
        poison(y)
        del y
    assert places[0] == places[1]


def sums(counts, n):
    """Segment sums of n values: so many in each, the last one whatever is left."""
    counts = [*counts, n]
    totals = np.minimum(np.cumsum(counts), n)
    return Copy.repeats(np.diff(totals, prepend=0)).T


def check_call(call, x):
    """One call's plans, run again past the caches."""
    plans = []

    class Remembered:
        """A plan of the core's that Python runs."""

        def __init__(self, plan):
            self.plan = plan

        def __getattr__(self, name):
            return getattr(self.plan, name)

        def run(self, source, target, stream):
            plans.append((self.plan, source))
            self.plan.run(source, target, stream)

    made = core.host_plan
    with pytest.MonkeyPatch.context() as patch, plans_kept_at_once():
        patch.setattr(core, "host_plan", lambda *args, **how: Remembered(made(*args, **how)))
        patch.setattr(specializations, "store", lambda *args: False)
        forget()
        want = call()
    forget()
    if want.size and plans:
        ((plan, source),) = plans
        past_the_caches(plan, source, want, 3 * want.dtype.itemsize)
    return len(plans)


def test_every_operation_past_the_caches():
    checked = 0
    for k, case in enumerate(OPS):
        x = values(case.shape, ["float32", "uint8", "float64", "int32", "float16"][k % 5], k)
        x = np.ascontiguousarray(x).reshape(case.shape)
        checked += check_call(lambda: getattr(tenter, case.op)(x, *case.args, **case.kwargs), x)
    assert checked > 200


def big_copies():
    """Copies of a mebibyte and more, which alone are streamed: lines and pieces that end anywhere."""
    for itemsize in (1, 2, 3, 4, 8, 16):
        kind = np.dtype(f"V{itemsize}") if itemsize in (3, 16) else np.dtype(f"u{itemsize}")
        n = (1 << 20) // itemsize
        for shape, maps in [
            ((n + 13,), ((0, Copy.repeat_each(n + 13, 1)),)),  # bytes as they are
            ((n // 3 + 5,), ((0, Copy.repeat_each(n // 3 + 5, 3)),)),
            ((n // 7 + 5,), ((0, Copy.repeat_each(n // 7 + 5, 7)),)),
            ((999,), ((0, Copy.repeat_each(999, n // 999 + 1)),)),
            ((n // 2 + 3,), ((0, Copy.repeats(np.arange(n // 2 + 3) % 5)),)),
            ((n // 2 + 3,), ((0, Copy.repeat_each(n // 2 + 3, 2)),)),
            ((n // 2 + 3,), ((0, Copy.repeats(np.arange(n // 2 + 3) % 2 * 4)),)),  # by index
            ((3, n // 3 // 5 + 7), ((0, Copy.repeat_each(3, 5)),)),  # long runs, some of them again
            ((7, 1, n // 49 + 1), ((1, Copy.repeat_each(1, 7)),)),
            ((5, 111), ((0, Copy.tile(5, n // 555 + 1)),)),
            ((61, 33), ((1, Copy.tile(33, n // 61 // 33 + 1)),)),
            (
                (40, 9, 11),
                (
                    (0, Copy.repeat_each(40, 6)),
                    (1, Copy.repeat_each(9, 7)),
                    (2, Copy.repeat_each(11, n // (240 * 63 * 11) + 1)),
                ),
            ),
        ]:
            yield values((*shape, itemsize), "uint8").view(kind)[..., 0], maps


def test_large_copies_past_the_caches(level):
    for x, maps in big_copies():
        how = planned(x, maps)
        for threads in (1, 2):
            tenter.set_num_threads(threads)
            past_the_caches(how.steps, x.ctypes.data, how.run(x), x.dtype.itemsize * (threads + 2))
        part = x[..., ::2] if x.shape[-1] % 2 == 0 else x[..., ::-1]
        if part.shape == x.shape:
            how = planned(part, maps)
            past_the_caches(how.steps, library.of(part).address(part), how.run(part), 0)
