"""Corners that only breaking the kernels and rules on purpose showed: each of these turned red for a change that no other
test saw."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import tenter
from cases import INTEGERS, values
from tenter import build
from tenter.maps import Copy, Gather, Window
from test_kernels import check, level  # noqa: F401


# ---- test_maps.py
def test_equality_sees_the_matrix():
    assert Copy.counts([1, 2]) != Copy.counts([2, 1])
    assert Copy.every(4, 2) != Copy.cycle(4, 2)
    assert Window(2, 1, [0], [0, 2], [1.0, 2.0]) != Window(2, 1, [0], [0, 2], [2.0, 1.0])
    a, b = Gather(2, 1, [0, 2], [0, 1], [1.0, 2.0]), Gather(2, 1, [0, 2], [1, 0], [2.0, 1.0])
    assert a == b and a != Gather(2, 1, [0, 2], [1, 0], [1.0, 2.0])


@pytest.mark.parametrize(
    "m",
    [
        Copy(6, 8, offsets=[0, 1, 1, 4], block=2),
        Window(5, 2, [0, 2], [0, 2, 4]),
        Window(4, 3, [0, 0, 2], [0, 1, 2, 4]),
        Gather(7, 2, [0, 1, 2], [3, 1], [1.0, 2.0]),
    ],
)
def test_more_maps(m):
    assert np.array_equal(m.T.dense(), m.dense().T)
    assert np.array_equal(m.T.T.dense(), m.dense())
    x = np.random.default_rng(1).standard_normal((3, m.n_in, 2))
    np.testing.assert_allclose(m.apply(x, 1), np.einsum("oi,aib->aob", m.dense(), x), atol=1e-13)
    assert not m.dense()[:, m.n_in :].any()
    r = m.reads(0, m.n_out)
    outside = m.dense().copy()
    outside[:, r] = 0
    assert not outside.any()


def test_memory_of_maps_is_their_own():
    base = np.array([0, 1])
    view = base.view()
    view.flags.writeable = False
    w = Window(3, 2, view, [0, 1, 2], [1.0, 1.0])
    base[0] = 1
    assert w.start.tolist() == [0, 1]
    for t in (build.resample("linear", 4, 8).T, Copy.counts([1, 2]).T):
        for part in (t.start, t.offset, t.weight):
            assert part is None or not part.flags.writeable


@pytest.mark.parametrize(
    "broken",
    [
        lambda: Copy(5, 9, repeat=2, block=2),
        lambda: Copy(2, 3, offsets=[0, 1, 2, 3]),
        lambda: Window(3, 2, [-1, 0], [0, 1, 2], [1.0] * 2),
        lambda: Window(4, 2, [0, 1], [0, 3, 4], [1.0] * 4),
        lambda: Window(4, 2, [1, 0], [0, 1, 4], [1.0] * 4),
        lambda: Window(3, 1, [0], [1, 2], [1.0] * 2),
        lambda: Gather(3, 1, [0, 1], [-1], [1.0]),
        lambda: Gather(3, 2, [0, 2, 1], [1], [1.0]),
    ],
)
def test_more_broken_maps(broken):
    with pytest.raises(ValueError, match="axis map: expected"):
        broken()


def test_an_axis_that_keeps_its_length_is_copied():
    for kind, antialias in [("linear", False), ("cubic", False), ("area", False), ("linear", True), ("cubic", True)]:
        assert build.resample(kind, 9, 9, None, False, antialias) == Copy.every(9, 1)
    big = np.full((1, 1, 9), 2**62 + 1)
    assert (tenter.interpolate(big, 9, mode="linear") == big).all()


def test_a_pixel_of_weight_zero_spreads_nothing():
    for mode, shape in (("linear", (1, 1, 3)), ("bicubic", (1, 1, 1, 5))):
        x = np.zeros(shape)
        x[..., 1] = np.inf
        size = (5,) if len(shape) == 3 else (1, 9)
        y = tenter.interpolate(x, size, mode=mode, align_corners=True)[0, 0].reshape(-1)
        assert y[0] == 0 and y[-1] == 0 and np.isinf(y[2])


# ---- test_torch.py
def test_scales_that_keep_the_length_or_leave_one_pixel():
    x = torch.from_numpy(values((1, 2, 4, 5), "float64"))
    for mode in ("bilinear", "bicubic"):
        for antialias in (False, True):
            kw = {"mode": mode, "antialias": antialias}
            got, want = tenter.interpolate(x, scale_factor=1.15, **kw), F.interpolate(x, scale_factor=1.15, **kw)
            assert got.shape == x.shape and torch.allclose(got, want, rtol=0, atol=1e-12)
            for corners in (False, True):
                got = tenter.interpolate(x, (1, 7), align_corners=corners, **kw)
                assert torch.allclose(got, F.interpolate(x, (1, 7), align_corners=corners, **kw), rtol=0, atol=1e-12), (
                    kw,
                    corners,
                )


def test_nearest_of_a_transposed_signal():
    for n_in in range(2, 200):
        x = torch.arange(n_in, dtype=torch.float32)[None, :, None].repeat(1, 1, 5).transpose(1, 2)
        for n_out in range(3, 260, 7):
            for mode in ("nearest", "nearest-exact"):
                assert torch.equal(tenter.interpolate(x, n_out, mode=mode), F.interpolate(x, n_out, mode=mode))


def test_nearest_of_many_never_leaves_the_input():
    m = build.resample("nearest-exact", 3, 8388610)
    assert m.n_out == 8388610


# ---- test_kernels.py
def test_large_copies_whose_tasks_begin_inside(level):
    rng = np.random.default_rng(0)
    x = values((1_000_000,), "float32")
    counts = rng.integers(0, 3, len(x))
    assert np.array_equal(tenter.repeat_interleave(x, counts), np.repeat(x, counts))
    assert np.array_equal(tenter.repeat_interleave(np.repeat(x, 2)[::2], counts), np.repeat(x, counts))
    odd = values((1_500_001,), "float32")
    assert np.array_equal(tenter.tile(odd, (1,)), odd)
    y = values((4, 600, 300), "float32")[:, ::2]
    assert np.array_equal(tenter.repeat_interleave(y, 5, 0), np.repeat(y, 5, 0))
    assert np.array_equal(tenter.repeat_interleave(y, [3, 0, 9, 1], 0), np.repeat(y, [3, 0, 9, 1], 0))


@pytest.mark.parametrize(
    "shape, axis, n_out",
    [
        ((700, 40), 0, 900),
        ((30, 9000), 0, 17),
        ((5, 9000), 1, 12000),
        ((12000,), 0, 9000),
        ((20, 30000), 1, 3000),
        ((3, 9000, 3), 1, 12000),
        ((2, 30000, 5), 1, 800),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "uint8", "float64"])
def test_large_windows_on_one_axis(shape, axis, n_out, dtype):
    check(values(shape, dtype), ((axis, build.resample("linear", shape[axis], n_out)),))
    m = Copy.counts(np.random.default_rng(0).multinomial(shape[axis], np.full(n_out, 1 / n_out))).T
    check(values(shape, dtype), ((axis, m),))


@pytest.mark.parametrize("shape", [(1, 6, 9000, 3), (1, 40, 9000), (1, 9, 30000, 5)])
def test_wide_images_on_two_axes(shape):
    for rows in (4, 70):
        check(
            values(shape, "float32"),
            (
                (1, build.resample("linear", shape[1], rows)),
                (2, build.resample("area", 9000 if shape[2] == 9000 else 30000, 2900)),
            ),
        )


@pytest.mark.parametrize("dtype", [*INTEGERS, "float16", "float32", "float64"])
def test_segments_of_every_length_in_one_row(dtype, level):
    m = Copy.counts(np.arange(140) % 35).T
    x = values((m.n_in, 3), dtype)
    for laid in (x[:, 0].copy(), x[:, 0], np.asfortranarray(x), np.concatenate([x, x])[::2]):
        check(laid, ((0, m),))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_ties_go_to_even(dtype, level):
    low = 0 if dtype.startswith("u") else -40
    x = np.arange(low, low + 81).astype(dtype)
    m = Window(81, 80, np.arange(80), np.arange(81) * 2, np.full(160, 0.5))
    want = np.rint((x[:-1].astype(float) + x[1:].astype(float)) / 2).astype(dtype)
    assert np.array_equal(m.apply(x, 0), want)
    assert np.array_equal(m.apply(np.tile(x, (20, 1)), 1), np.tile(want, (20, 1)))
    assert np.array_equal(m.apply(np.tile(x[:, None], 37), 0), np.tile(want[:, None], 37))
    below = Window(81, 81, np.arange(81), np.arange(82), np.full(81, 0.75))
    assert np.array_equal(below.apply(x, 0), np.rint(x * 0.75).astype(dtype))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("w", [1.0, 0.3, 1.5, 2.0**-9])
def test_every_value_of_half_types(w, level):
    n = 1 << 16
    m = Window(n, n, np.arange(n), np.arange(n + 1), np.full(n, w))
    bits = np.arange(n).astype(np.uint16)
    x = bits.view(np.float16)
    want = (x.astype(np.float32) * np.float32(w)).astype(np.float16)
    for laid, back in ((x, lambda y: y), (np.tile(x, (17, 1)), lambda y: y[16])):
        y = back(m.apply(laid, laid.ndim - 1))
        assert np.array_equal(y, want, equal_nan=True)
        assert np.array_equal(np.signbit(y)[~np.isnan(y)], np.signbit(want)[~np.isnan(want)])
    t = torch.from_numpy(bits.view(np.int16).copy()).view(torch.bfloat16)
    got, want = m.apply(t, 0), (t.float() * w).bfloat16()
    assert torch.equal(got.isnan(), want.isnan()) and torch.equal(got[~got.isnan()], want[~want.isnan()])


def test_bfloat16_nan_of_low_bits_stays_nan(level):
    x = torch.full((40,), float("nan"), dtype=torch.bfloat16)
    m = Window(40, 20, np.arange(20) * 2, np.arange(21) * 2, np.full(40, 0.5))
    assert m.apply(x, 0).isnan().all() and m.apply(x * -1, 0).isnan().all()


def test_the_sign_of_zero_is_the_same_in_every_loop(level):
    m = build.resample("linear", 40, 9, None, False, True)
    wide = m.apply(np.full((40, 100), -0.0, np.float32), 0)
    narrow = m.apply(np.full((40, 3), -0.0, np.float32), 0)
    row = m.apply(np.full((20, 40), -0.0, np.float32), 1)
    assert np.signbit(wide).all() == np.signbit(narrow).all() == np.signbit(row).all()
    assert np.signbit(wide).all()


def test_the_same_bits_in_every_loop(level):
    """One row, many rows, few columns and many: the same sums, fused or not."""
    for dtype in ("float32", "float64", "float16"):
        x = values((70, 100), dtype)
        for m in (
            build.resample("cubic", 70, 33, None, False, True),
            build.resample("cubic", 70, 91),
            build.resample("area", 70, 91).T if 0 else build.resample("linear", 91, 70).T,
        ):
            want = m.apply(x, 0)
            assert m.apply(x[:, :1].copy(), 0).tobytes() == want[:, :1].tobytes()
            assert m.apply(x[:, :3].copy(), 0).tobytes() == want[:, :3].tobytes()
            assert m.apply(np.ascontiguousarray(x.T), 1).T.tobytes() == want.tobytes()


def test_slices_of_a_temporary(monkeypatch):
    from tenter.kernels import cpu

    x = values((7, 6, 9, 11, 3), "float32")
    maps = (
        (1, build.resample("linear", 6, 4)),
        (2, build.resample("area", 9, 5)),
        (3, build.resample("cubic", 11, 20)),
    )
    want = check(x, maps)
    for room in (1, 20_000):
        monkeypatch.setattr(cpu, "TEMPORARY", room)
        assert check(x, maps).tobytes() == want.tobytes()
        check(x[::-2], maps)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex64"])
def test_wide_insides_that_do_not_lie_together(dtype):
    m = build.resample("linear", 9, 5)
    for x, axis in (
        (values((9, 80), dtype)[:, ::2], 0),
        (values((3, 9, 5, 80), dtype)[..., ::2], 1),
        (values((9, 40), dtype)[:, ::-1], 0),
        (values((40, 3, 9), dtype).transpose(2, 0, 1), 0),
        (values((9, 1), dtype).repeat(2, 1)[:, :1] + np.zeros((9, 1), dtype), 0),
        (np.broadcast_to(values((9, 1), dtype), (9, 40)), 0),
    ):
        check(x, ((axis, m),))


def test_unsigned_counts():
    for dtype, big in (("uint8", 200), ("uint16", 40_000), ("uint32", 2**31 + 5), ("uint64", 2**40)):
        got = tenter.repeat_interleave(np.zeros((3, 0)), np.array([1, big, 2], dtype), 0)
        assert got.shape == (big + 3, 0)


def test_a_forked_child_has_one_thread():
    import os
    import subprocess
    import sys

    code = (
        "import os, tenter\npid = os.fork()\n"
        "if pid == 0: os._exit(tenter.get_num_threads())\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), tenter.get_num_threads())"
    )
    env = {**os.environ, "OMP_NUM_THREADS": "5"}
    assert subprocess.check_output([sys.executable, "-c", code], text=True, env=env) == "1 5\n"


def test_recompute_scale_factor():
    x = torch.from_numpy(values((1, 2, 7, 9), "float64"))
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic"):
        for recompute in (None, False, True):
            kw = {"scale_factor": 1.37, "mode": mode, "recompute_scale_factor": recompute}
            assert torch.allclose(tenter.interpolate(x, **kw), F.interpolate(x, **kw), rtol=0, atol=1e-12), kw


def test_unwritable_out_is_refused_before_any_work():
    m = Copy.every(3, 2)
    frozen = np.zeros((2, 6))
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="out: expected an array that can be written to, got a read-only array"):
        m.apply(np.zeros((2, 3)), 1, out=frozen)
    with pytest.raises(ValueError, match="out: expected .* requires grad"):
        m.apply(torch.zeros(2, 3), 1, out=torch.zeros(2, 6, requires_grad=True))
    x = torch.ones(2, 3, requires_grad=True)
    out = torch.zeros(2, 6)
    assert m.apply(x, 1, out=out) is out and not out.requires_grad and (out == 1).all()


def test_bools_are_no_counts():
    for bad in ([True, 2, 1], np.array([True, False, True])):
        with pytest.raises(TypeError, match="repeats: expected integer counts.*bool"):
            tenter.repeat_interleave(np.zeros((2, 3)), bad, 1)


def test_objects_are_counted():
    import sys

    thing = object()
    x = np.array([thing, None], object)
    before = sys.getrefcount(thing)
    y = tenter.repeat_interleave(x, 5, 0)
    assert sys.getrefcount(thing) == before + 5
    del y
    assert sys.getrefcount(thing) == before
    z = tenter.tile(x, 3)
    assert sys.getrefcount(thing) == before + 3


def test_apply_to_a_number_and_to_bools():
    assert Copy.every(1, 3).apply(np.array(2.5), 0).tolist() == [2.5] * 3
    assert Copy.every(1, 3).apply(torch.tensor(2.5), -1).tolist() == [2.5] * 3
    for x in (np.zeros((2, 3), bool), torch.zeros(2, 3, dtype=torch.bool)):
        with pytest.raises(TypeError, match="x: expected numbers, to take sums of, got bool"):
            Copy.every(1, 3).T.apply(x, 1)


def test_copies_of_channels_last_are_contiguous():
    x = torch.rand(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    for y in (
        tenter.repeat(x, 1, 2, 1, 1),
        tenter.tile(x, 2),
        tenter.repeat_interleave(x, 2, 2),
        Copy.every(5, 2).apply(x, 3),
    ):
        assert y.is_contiguous()


def test_layouts_that_only_look_like_channels_last():
    cl = torch.channels_last
    for x in (
        torch.rand(2, 1, 4, 5).contiguous(memory_format=cl),
        torch.rand(2, 4, 5, 3).permute(0, 3, 2, 1),
        torch.rand(3, 1, 1, 3).permute(0, 3, 1, 2).expand(3, 3, 4, 5),
        torch.rand(1, 3, 1, 1).expand(2, 3, 4, 5),
        torch.rand(2, 1, 5, 3).expand(2, 4, 5, 3).permute(0, 3, 1, 2),
        torch.rand(2, 8, 9, 6).contiguous(memory_format=cl)[:, :3, ::2, 1:5],
    ):
        for mode in ("nearest", "bilinear"):
            got, want = tenter.interpolate(x, (6, 7), mode=mode), F.interpolate(x, (6, 7), mode=mode)
            assert torch.allclose(got, want, atol=1e-6), (x.shape, x.stride())


def test_memory_that_the_allocator_refuses():
    import subprocess
    import sys

    code = (
        "import resource, torch, tenter; x = torch.ones(1 << 20); tenter.tile(x, 2)\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), -1))\n"
        "try: tenter.tile(x, 64)\n"
        "except MemoryError: print('MemoryError')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "MemoryError\n", done.stderr


def test_transposed_gathers_keep_the_order_of_rows():
    m = Gather(2, 200, np.arange(201), np.arange(200) % 2, np.ones(200))
    assert m.T.index.tolist() == [*range(0, 200, 2), *range(1, 200, 2)]


@pytest.mark.parametrize(
    "dtype, shape, mode",
    [
        ("int16", (1, 1, 12, 12), "bicubic"),
        ("uint16", (1, 1, 12, 12), "lanczos"),
        ("uint8", (1, 1, 5, 12, 12), "lanczos"),
    ],
)
def test_only_images_of_eight_bits_are_cut_between_axes(dtype, shape, mode):
    info = np.iinfo(dtype)
    x = np.random.default_rng(0).choice([info.min, info.max], shape).astype(dtype)
    size = tuple(n + 19 for n in shape[2:])
    got = tenter.interpolate(x, size, mode=mode, antialias=True)
    want = tenter.interpolate(x.astype(np.float64), size, mode=mode, antialias=True)
    assert np.abs(got.astype(float) - np.clip(np.rint(want), info.min, info.max)).max() <= 1


def test_result_strides_follow_torch():
    cl = torch.channels_last
    for x in (
        torch.rand(2, 1, 4, 5).contiguous(memory_format=cl),
        torch.rand(2, 4, 5, 3).permute(0, 3, 2, 1),
        torch.rand(1, 3, 1, 1).expand(2, 3, 4, 5),
        torch.rand(2, 1, 5, 3).expand(2, 4, 5, 3).permute(0, 3, 1, 2),
        torch.rand(2, 3, 1, 1).contiguous(memory_format=cl),
        torch.rand(2, 4, 1, 5).contiguous(memory_format=cl),
        torch.rand(2, 4, 5, 1).contiguous(memory_format=cl),
        torch.rand(2, 1, 5, 3).expand(2, 4, 5, 3),
    ):
        for mode in ("nearest", "nearest-exact"):
            for size in ((6, 7), (99, 77)):
                got, want = tenter.interpolate(x, size, mode=mode), F.interpolate(x, size, mode=mode)
                assert torch.equal(got, want), (x.shape, x.stride())
                assert got.stride() == want.stride()


def test_strides_of_dims_of_length_one_mean_nothing():
    for h in range(20, 60):
        x = torch.rand(3, 4, h, h + 5).contiguous(memory_format=torch.channels_last)[::2][:1]
        for n in range(70, 110):
            for mode in ("nearest", "nearest-exact"):
                assert torch.equal(
                    tenter.interpolate(x, (n, n + 1), mode=mode), F.interpolate(x, (n, n + 1), mode=mode)
                )
