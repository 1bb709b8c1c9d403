"""Results in blocks are like any other, and the same values lie in them: in fresh memory and in used, past the caches
and not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import tenter
from cases import MAPS, OPS, values
from daily import daily
from maps_of import planned, resample
from memory_helpers import LARGE, T, X, as_array, block_of, garbage, level, poison, recycler  # noqa: F401
from tenter import _native, memory
from tenter._arrays import blocks, library
from tenter._kernels import cpu
from tenter.maps import Copy, Gather, Window

# ---- results in blocks are like any other

DTYPES = {
    getattr(torch, name): name
    for name in ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16",
                 "bfloat16", "float32", "float64", "complex32", "complex64", "complex128")
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES.keys(), ids=DTYPES.values())
def test_every_dtype_of_pytorch(dtype):
    raw = torch.from_numpy(values((300, 517, dtype.itemsize), "uint8") & (1 if dtype is torch.bool else 255))
    x = raw.view(dtype)[..., 0]
    for _ in range(2):
        y = tenter.repeat_interleave(x, 8, 0)
        assert y.dtype is dtype and y.shape == (2400, 517) and y.is_contiguous() and block_of(y)
        bits = y.view(torch.uint8).reshape(300, 8, -1)
        assert torch.equal(bits, x.contiguous().view(torch.uint8).reshape(300, 1, -1).expand_as(bits))
        poison(y)
        del y, bits


@pytest.mark.parametrize(
    "dtype",
    [
        "?", "i1", "<f2", ">f4", ">i8", "<c16", ">c8", "S5", "U3", "V7", "M8[ns]", "m8[s]", "f4,i2", "g",
        [("a", ">i4"), ("b", "S3"), ("c", "f8", (2,))],
    ],
)  # fmt: skip
def test_every_dtype_of_numpy(dtype):
    dtype = np.dtype(dtype)
    x = (values((300, 517, dtype.itemsize), "uint8") & (1 if dtype.char == "?" else 127)).view(dtype)[..., 0]
    for _ in range(2):
        y = tenter.repeat_interleave(x, 8, 0)
        assert y.dtype == dtype and y.flags.c_contiguous and y.flags.writeable and y.flags.aligned and block_of(y)
        assert y.tobytes() == np.repeat(x, 8, 0).tobytes()
        poison(y)
        del y


def test_objects_lie_in_ordinary_memory():
    x = np.array([{}, "text", 1.5] * 20_000, object)
    y = tenter.repeat_interleave(x, 4)
    assert y.nbytes > LARGE and block_of(y) is None and y.tolist() == np.repeat(x, 4).tolist()


def test_strides_in_blocks():
    for shape in ((2, 5, 40, 30), (1, 5, 40, 30), (2, 1, 40, 30)):
        for memory_format in (torch.contiguous_format, torch.channels_last):
            x = torch.randint(0, 255, shape, dtype=torch.uint8).contiguous(memory_format=memory_format)
            for mode in ("nearest", "bilinear", "area"):
                got = tenter.interpolate(x, (1200, 1000), mode=mode)
                want = torch.nn.functional.interpolate(x.float() if mode == "area" else x, (1200, 1000), mode=mode)
                assert block_of(got) and got.stride() == want.stride()
                assert mode != "nearest" or torch.equal(got, want)
    hwc = values((40, 30, 3), "uint8")
    y = tenter.interpolate(hwc.transpose(2, 0, 1)[None], (1000, 900), mode="bicubic")
    assert block_of(y.base) and y[0].transpose(1, 2, 0).flags.c_contiguous


def test_autograd_sees_no_views():
    x = torch.rand(700, 400, requires_grad=True)
    with torch.no_grad():
        without = tenter.repeat_interleave(x, 2, 0)
    with torch.inference_mode():
        inference = tenter.repeat_interleave(T, 2, 0)
    for y in (tenter.repeat_interleave(T, 2, 0), tenter.repeat_interleave(x, 2, 0), without, inference):
        assert block_of(y) and not y._is_view() and y._base is None and y.storage_offset() == 0
        assert type(y) is torch.Tensor
    assert tenter.repeat_interleave(x, 2, 0).requires_grad and not without.requires_grad and without.is_leaf
    assert inference.is_inference() and not inference.requires_grad
    leaf = without.requires_grad_()
    leaf.sum().backward()
    assert (leaf.grad == 1).all()


def test_results_may_be_changed_in_place():
    x = torch.rand(700, 400).sub_(0.5).requires_grad_()
    for change in (lambda y: y.relu_(), lambda y: y.mul_(3).add_(1), lambda y: y.__iadd__(x.detach().repeat(2, 1))):
        grads = []
        for repeat in (lambda x: tenter.repeat(x, 2, 1), lambda x: x.repeat(2, 1)):
            y = repeat(x)
            assert change(y) is y
            grads.append(torch.autograd.grad((y * y.detach()).sum(), x)[0])
        assert torch.equal(*grads)
    y = tenter.repeat(x.detach(), 2, 1)
    y[::2] = 0
    assert (y[::2] == 0).all() and torch.equal(y[1::2], x.detach().repeat(2, 1)[1::2])
    a = tenter.repeat(X, 2, 1)
    a += 1
    a[0] = 5
    assert (a[0] == 5).all() and np.array_equal(a[1:], (np.tile(X, (2, 1)) + 1)[1:])


def test_changes_behind_a_graphs_back_are_found():
    weight = torch.rand(1400, 400, requires_grad=True)
    for change in (lambda y: y.add_(1), lambda y: y.zero_(), lambda y: y[3:].t().mul_(2)):
        y = tenter.repeat_interleave(T, 2, 0)
        loss = (weight * y).sum()
        change(y)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


def test_what_a_result_in_a_block_cannot_do():
    """docs/memory.md says so; with the limit at 0 it can."""
    for large in (True, False):
        memory.limit(256 << 20 if large else 0)
        for grow in (
            lambda y: y.resize_(5000, 1000),
            lambda y: y.untyped_storage().resize_(1 << 25),
            lambda y: y.untyped_storage().resize_(0),
            lambda y: torch.add(torch.ones(2000, 1000), 1, out=y.resize_(0)),
        ):
            y = tenter.repeat_interleave(T, 2, 0)
            if large:
                with pytest.raises(RuntimeError, match="not resizable"):
                    grow(y)
            else:
                grow(y)
        y = tenter.repeat_interleave(T, 2, 0)
        assert y.resize_(3, 4).shape == (3, 4) and torch.add(torch.ones(9), 1, out=y.resize_(0)).sum() == 18
        a = tenter.repeat_interleave(X, 2, 0)
        assert a.flags.owndata is not large and (a.base is None) is not large
        if large:
            with pytest.raises(ValueError, match="does not own its data"):
                a.resize((3, 4), refcheck=False)


# ---- the same values wherever they lie


def everywhere(call):
    """The bytes of call's result in fresh, used and poisoned, and ordinary memory, at one and at two threads."""
    found = {}
    for threads in (1, 2):
        tenter.set_num_threads(threads)
        memory.limit(256 << 20)
        memory.clear()
        y = call()
        found[threads, "fresh"] = as_array(y).tobytes()
        poison(y)
        reused = memory.stats().reused
        del y
        y = call()
        assert memory.stats().reused > reused
        found[threads, "used"] = as_array(y).tobytes()
        del y
        memory.limit(0)
        y = call()
        assert block_of(y) is None
        found[threads, "ordinary"] = as_array(y).tobytes()
    return found


SMALL_IMAGE, BYTES = values((2, 3, 90, 110), "float32"), values((1, 3, 301, 303), "uint8")
TALL = torch.from_numpy(values((6, 5, 150, 190), "float32"))
SAME = {
    "repeat_interleave": lambda: tenter.repeat_interleave(X, 3, 1),
    "counts": lambda: tenter.repeat_interleave(T, torch.arange(700) % 5, 0),
    "repeat": lambda: tenter.repeat(T.half(), 2, 3, 2),
    "tile": lambda: tenter.tile(X[:, :399], (2, 2)),
    "nearest": lambda: tenter.interpolate(BYTES, (1001, 503), mode="nearest"),
    "bilinear": lambda: tenter.interpolate(SMALL_IMAGE, (401, 399), mode="bilinear"),
    "bicubic, 8 bits": lambda: tenter.interpolate(torch.from_numpy(BYTES), (999, 701), mode="bicubic"),
    "antialias": lambda: tenter.interpolate(TALL, (140, 170), mode="bilinear", antialias=True),
    "area": lambda: tenter.interpolate(TALL, (131, 90), mode="area"),
    "trilinear": lambda: tenter.interpolate(TALL[None, :, :, :40, :50], (12, 70, 90), mode="trilinear"),
    "adjoint": lambda: torch.autograd.functional.vjp(
        lambda x: tenter.interpolate(x, (70, 380), mode="bicubic"), TALL, torch.ones(6, 5, 70, 380)
    )[1],
    "larger than the caches": lambda: tenter.interpolate(SMALL_IMAGE, (863, 901), mode="bilinear"),
    "a copy larger than the caches": lambda: tenter.repeat_interleave(BYTES, 63, 3),
}


@pytest.mark.parametrize("call", SAME.values(), ids=SAME.keys())
def test_the_same_bits_in_fresh_and_used_and_ordinary_memory(call):
    found = everywhere(call)
    assert len(set(found.values())) == 1, [k for k, v in found.items() if v != found[1, "ordinary"]]


@pytest.mark.parametrize("call", SAME.values(), ids=SAME.keys())
def test_the_same_bits_past_the_caches(call, level, monkeypatch):
    memory.limit(0)
    want = as_array(call()).tobytes()
    memory.limit(256 << 20)
    monkeypatch.setattr(_native.tuning, "stream_bytes", 0)
    streamed = []
    past = blocks.past_caches
    monkeypatch.setattr(blocks, "past_caches", lambda held, n: streamed.append(past(held, n)) or streamed[-1])
    poison(call())
    tenter.set_num_threads(2)
    assert as_array(call()).tobytes() == want
    assert streamed[-1] is True


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
    """The same bits as in the ordinary way, which tests/test_kernels.py compares with the reference."""
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


@pytest.mark.parametrize("dtype, width", daily(ROWS, 4))
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
    "dtype, width", daily(itertools.product(["float32", "bfloat16", "uint8", "float64"], WIDTHS), 5)
)
def test_results_of_32_mebibytes_have_the_bits_of_small_ones(dtype, width, level, monkeypatch):
    streamed, past = [], blocks.past_caches
    monkeypatch.setattr(blocks, "past_caches", lambda held, n: streamed.append(past(held, n)) or streamed[-1])
    x = torch.from_numpy(values((1, 3, 512, 512), "float32" if dtype == "bfloat16" else dtype))
    x = x.bfloat16() if dtype == "bfloat16" else x
    n = -(-_native.tuning.stream_bytes // (3 * 1024 * width * x.itemsize))
    x = torch.cat([x.roll(k, 3) for k in range(n)])
    want = [tenter.interpolate(x[k : k + 1], (1024, width), mode="bilinear") for k in range(n)]
    for again in (False, True):
        y = tenter.interpolate(x, (1024, width), mode="bilinear")
        assert streamed[-1] is again
        assert all(torch.equal(y[k : k + 1].view(torch.uint8), w.view(torch.uint8)) for k, w in enumerate(want))
        poison(y)
        del y


def sums(counts, n):
    """Segment sums of n values: so many in each, the last one whatever is left."""
    counts = [*counts, n]
    totals = np.minimum(np.cumsum(counts), n)
    return Copy.counts(np.diff(totals, prepend=0)).T


def check_call(call, x):
    """One call's plans, run again past the caches."""
    plans, run = [], cpu.Steps.run

    def remembered(plan, source, target, stream=False):
        plans.append((plan, source))
        run(plan, source, target, stream)

    cpu.Steps.run = remembered
    try:
        want = call()
    finally:
        cpu.Steps.run = run
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
            ((n + 13,), ((0, Copy.every(n + 13, 1)),)),  # bytes as they are
            ((n // 3 + 5,), ((0, Copy.every(n // 3 + 5, 3)),)),
            ((n // 7 + 5,), ((0, Copy.every(n // 7 + 5, 7)),)),
            ((999,), ((0, Copy.every(999, n // 999 + 1)),)),
            ((n // 2 + 3,), ((0, Copy.counts(np.arange(n // 2 + 3) % 5)),)),
            ((n // 2 + 3,), ((0, Copy.every(n // 2 + 3, 2)),)),
            ((n // 2 + 3,), ((0, Copy.counts(np.arange(n // 2 + 3) % 2 * 4)),)),  # by index
            ((3, n // 3 // 5 + 7), ((0, Copy.every(3, 5)),)),  # long runs, some of them again
            ((7, 1, n // 49 + 1), ((1, Copy.every(1, 7)),)),
            ((5, 111), ((0, Copy.cycle(5, n // 555 + 1)),)),
            ((61, 33), ((1, Copy.cycle(33, n // 61 // 33 + 1)),)),
            (
                (40, 9, 11),
                ((0, Copy.every(40, 6)), (1, Copy.every(9, 7)), (2, Copy.every(11, n // (240 * 63 * 11) + 1))),
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
