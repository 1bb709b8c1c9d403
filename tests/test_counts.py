"""A count for each of many scalars: as NumPy repeats them, whatever the counts, and nothing written but the result even
where the counts change while they are used."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
import torch

import tenter
import tenter.numpy
from cases import values
from daily import daily
from tenter import _native
from tenter._arrays import blocks
from tenter._arrays.dtypes import NUMBERS
from tenter._execution.numpy_executor import repeat_counts

CHUNK = 1 << 14  # inputs that a task of the kernel takes
N = 11 * CHUNK + 4321
SMALL = _native.tuning.many_scalars
RNG = np.random.default_rng(0)
SIZES = [1, 2, 4, 8]


def sparse(n, count, every):
    """Zeros, and a count here and there."""
    counts = np.zeros(n, np.int64)
    counts[every // 2 :: every] = count
    return counts


COUNTS = {
    "0..8": RNG.integers(0, 9, N),
    "ones": np.ones(N, np.int64),
    "0 and 1": RNG.integers(0, 2, N),
    "just above the small ones": RNG.integers(0, 9, SMALL + 1),
    "whole chunks": RNG.integers(0, 9, 2 * CHUNK),
    "a chunk and one": RNG.integers(0, 4, CHUNK + 1),
    "about 64": np.where(RNG.random(SMALL + 100) < 0.4, RNG.integers(60, 70, SMALL + 100), 0),
    "runs past 64": np.where(RNG.random(N) < 0.02, RNG.integers(60, 140, N), RNG.integers(0, 4, N)),
    "runs past 4096": sparse(N, 4099, 5000) + RNG.integers(0, 2, N),
    "the last one alone": sparse(N, 1, 2 * N - 2),
    "a long last one": np.concatenate([np.ones(N, np.int64), [5000]]),
    "multiples of 128": sparse(N, 128, 60),
}
SKEWED = {
    "one huge count": sparse(N, 1 << 21, N),
    "a huge first one": np.concatenate([[1 << 20], np.zeros(N, np.int64)]),
}


def scalars(n, size):
    return values((n, size), "uint8").view(f"V{size}" if size == 16 else f"u{size}")[:, 0]


def with_room(x, counts, stream, change=None, n_threads=2):
    """What the kernel writes, and what each task of it had room for; change: of the counts, once they are summed."""
    runs = _native.Runs(counts.ctypes.data, counts.itemsize == 4, x.size, n_threads)
    before = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])[[*range(0, x.size, CHUNK), x.size]]
    assert runs.total == before[-1]
    if change is not None:
        counts[...] = change
    zone = 4096 + 64
    room = np.full(before[-1] * x.itemsize + 2 * zone, 0xA5, np.uint8)
    runs.copy(x.ctypes.data, room.ctypes.data + zone, x.itemsize, n_threads, stream)
    assert (room[:zone] == 0xA5).all() and (room[-zone:] == 0xA5).all(), "written outside of the result"
    return room[zone:-zone].view(x.dtype), before


@pytest.mark.parametrize("name, kind", daily(itertools.product([*SKEWED, *COUNTS], ["int64", "int32"]), 3, "-".join))
def test_as_numpy_repeats(name, kind):
    counts = {**COUNTS, **SKEWED}[name].astype(kind)
    for size in (*SIZES, 16):
        x = scalars(counts.size, size)
        want = np.repeat(x, counts)
        for n_threads in (1, 2):
            tenter.set_num_threads(n_threads)
            try:
                for dim in (None, 0, -1):
                    for output_size in (None, want.size):
                        got = tenter.repeat_interleave(x, counts, dim, output_size=output_size)
                        assert got.dtype == x.dtype and got.tobytes() == want.tobytes()
            finally:
                tenter.set_num_threads(None)
        assert tenter.numpy.repeat(x, counts).tobytes() == want.tobytes()
        if size < 16:
            t, c = torch.from_numpy(x.view(f"i{size}")), torch.from_numpy(counts)
            for dim in (None, 0, -1):
                for output_size in (None, want.size):
                    got = tenter.repeat_interleave(t, c, dim, output_size=output_size)
                    assert got.dtype is t.dtype and got.numpy().tobytes() == want.tobytes()


@pytest.mark.parametrize("name", daily(COUNTS, 2))
def test_every_level_to_memory_and_past_the_caches(name, level):
    counts = COUNTS[name]
    for size in SIZES:
        x = scalars(counts.size, size)
        want = np.repeat(x, counts)
        for kind in (np.int64, np.int32):
            for n_threads in (1, 2):
                for stream in (False, True):
                    got, _ = with_room(x, counts.astype(kind), stream, n_threads=n_threads)
                    assert got.tobytes() == want.tobytes(), (size, kind, n_threads, stream)


def test_which_counts_need_no_table():
    x = scalars(N, 4)
    for counts in COUNTS.values():
        assert repeat_counts(scalars(counts.size, 4), counts, None, None) is not None
    for counts in SKEWED.values():
        assert repeat_counts(x, counts[:N], None, None) is None
    assert repeat_counts(scalars(N, 16), COUNTS["0..8"], None, None) is None
    assert repeat_counts(x, COUNTS["0..8"].astype(np.int16), None, None) is not None
    assert repeat_counts(x, np.zeros(N, np.int64), None, None) is None


@pytest.mark.parametrize("size", [1, 4, 8, 16])
def test_results_around_what_the_caches_hold(size, monkeypatch):
    """A result of 32 MiB and more goes past them once its memory has been used before."""
    streamed, past = [], blocks.past_caches
    monkeypatch.setattr(blocks, "past_caches", lambda held, n: streamed.append(past(held, n)) or streamed[-1])
    for least, n_bytes in (
        (False, _native.tuning.stream_bytes - (1 << 20)),
        (True, _native.tuning.stream_bytes + (1 << 20)),
    ):
        counts = np.random.default_rng(1).integers(0, 9, n_bytes // size // 4)
        counts[-1] += n_bytes // size - counts.sum() if counts.sum() < n_bytes // size else 0
        x = scalars(counts.size, size)
        want = np.repeat(x, counts).tobytes()
        for _ in range(2):
            assert tenter.repeat_interleave(x, counts).tobytes() == want
        if size < 16:
            t, c = torch.from_numpy(x.view(f"i{size}")), torch.from_numpy(counts)
            for _ in range(2):
                assert tenter.repeat_interleave(t, c).numpy().tobytes() == want
        assert streamed[-1] is least


def test_counts_and_values_that_lie_oddly():
    counts = COUNTS["0..8"]
    for size in SIZES:
        x = scalars(N, size)
        want = np.repeat(x, counts).tobytes()
        readonly = counts.copy()
        readonly.flags.writeable = False
        crooked = np.zeros(counts.nbytes + 1, np.uint8)[1:].view(np.int64)
        crooked[...] = counts
        wide = np.zeros((N, 2), x.dtype)
        wide[:, 0] = x
        torn = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype)
        torn[...] = x
        strided = np.repeat(counts, 2)[::2]
        for odd in (
            readonly,
            crooked,
            strided,
            counts[::-1].copy()[::-1],
            counts.astype(">i8"),
            counts.astype(np.uint8),
        ):
            assert tenter.repeat_interleave(x, odd).tobytes() == want
        for laid in (wide[:, 0], torn, x[::-1].copy()[::-1]):
            assert tenter.repeat_interleave(laid, counts).tobytes() == want
        t = torch.from_numpy(x.view(f"i{size}"))
        for odd in (torch.from_numpy(strided), torch.from_numpy(np.repeat(counts, 2))[::2]):
            assert tenter.repeat_interleave(t, odd).numpy().tobytes() == want
        assert (
            tenter.repeat_interleave(torch.stack([t, t], 1)[:, 0], torch.from_numpy(counts)).numpy().tobytes() == want
        )
    square = scalars(3 * CHUNK, 4).reshape(3, CHUNK)
    flat = RNG.integers(0, 4, 3 * CHUNK)
    assert tenter.repeat_interleave(square, flat).tobytes() == np.repeat(square, flat).tobytes()
    assert tenter.repeat_interleave(square.T, flat).tobytes() == np.repeat(square.T, flat).tobytes()


@pytest.mark.parametrize("f", [np.asarray, torch.from_numpy], ids=["array", "tensor"])
def test_what_is_refused_stays_refused(f):
    x, counts = f(values((N,), "float32")), COUNTS["0..8"]
    total, bad = int(counts.sum()), counts.copy()
    bad[N - 2] = -3
    for given, kwargs, error, says in [
        (bad, {}, ValueError, rf"not negative, got -3 at position {N - 2}"),
        (bad.astype(np.int32), {}, ValueError, rf"-3 at position {N - 2}"),
        (np.full(N, 2**62), {}, ValueError, r"below 2\*\*63"),
        (np.full(N, 2**47), {}, (ValueError, MemoryError), "result|repeats"),
        (np.full(N, 2**31 - 1, np.int32), {}, MemoryError, "result"),
        (counts[:-1], {}, ValueError, f"{N} counts"),
        (counts, {"output_size": total + 1}, ValueError, f"expected {total}"),
        (counts, {"output_size": float(total)}, TypeError, "output_size"),
        (counts, {"dim": 1}, IndexError, "from -1 to 0, got 1"),
        (counts, {"dim": -2}, IndexError, "got -2"),
        (counts, {"dim": 0.0}, TypeError, "0.0"),
        (counts, {"dim": False}, TypeError, "bool"),
        (counts.astype(np.float32), {}, TypeError, "float32"),
    ]:  # fmt: skip
        with pytest.raises(error, match=says):
            tenter.repeat_interleave(x, f(given), **kwargs)
    with pytest.raises(np.exceptions.AxisError):
        tenter.numpy.repeat(np.asarray(x), counts, axis=1)


def test_all_zeros_give_nothing():
    x = values((N,), "float32")
    for kind in (np.int64, np.int32):
        assert tenter.repeat_interleave(x, np.zeros(N, kind)).shape == (0,)
        t = tenter.repeat_interleave(torch.from_numpy(x), torch.from_numpy(np.zeros(N, kind)))
        assert t.shape == (0,) and t.dtype is torch.float32


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_gradients_go_the_long_way(dtype):
    counts = torch.from_numpy(COUNTS["0..8"])
    leaf = torch.from_numpy(values((N,), "float32")).to(dtype).requires_grad_()
    y = tenter.repeat_interleave(leaf, counts)
    assert y.requires_grad and torch.equal(y.detach(), leaf.detach().repeat_interleave(counts))
    y.backward(torch.ones_like(y))
    assert torch.equal(leaf.grad, counts.to(dtype))
    with torch.no_grad():
        assert torch.equal(tenter.repeat_interleave(leaf, counts), y.detach())
    with torch.inference_mode():
        assert torch.equal(tenter.repeat_interleave(leaf.detach(), counts), y.detach())


CHANGES = {
    "one more": lambda c: c + 1,
    "many more": lambda c: c * 40 + 3,
    "fewer": lambda c: c // 2,
    "none": lambda c: c * 0,
    "none but the last": lambda c: sparse(c.size, 3, 2 * c.size - 2),
    "negative": lambda c: -c - 1,
    "some negative": lambda c: np.where(np.arange(c.size) % 1000 == 500, -c - 1, c),
    "negative, low bits small": lambda c: c - (1 << 30),
    "the largest": lambda c: np.full(c.size, np.iinfo(c.dtype).max),
    "the least": lambda c: np.full(c.size, np.iinfo(c.dtype).min),
    "one of the largest": lambda c: c + sparse(c.size, np.iinfo(c.dtype).max - 64, c.size),
    "past 64, low bits small": lambda c: c + 128,
    "shuffled": lambda c: np.random.default_rng(2).permutation(c),
    "any bits": lambda c: np.random.default_rng(3).integers(np.iinfo(c.dtype).min, np.iinfo(c.dtype).max, c.size),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_counts_that_change_before_they_are_used(change, level):
    """Each task writes what its counts say now, as far as there is room for what they said before."""
    n = 2 * CHUNK + 777
    for kind in (np.int64, np.int32):
        counts = np.random.default_rng(4).integers(0, 9, n).astype(kind)
        counts[CHUNK + 5 :: 3000] = 70
        with np.errstate(over="ignore"):
            now = change(counts.copy()).astype(kind)
        for size in SIZES:
            x = scalars(n, size)
            for stream in (False, True):
                got, before = with_room(x, counts.copy(), stream, now)
                for c, (lo, hi) in enumerate(itertools.pairwise(before)):
                    of = slice(c * CHUNK, min(n, (c + 1) * CHUNK))
                    most = np.where(now[of] < 0, hi - lo, np.minimum(now[of].astype(np.int64), hi - lo))
                    ends = np.minimum(np.cumsum(most), hi - lo)
                    want = np.repeat(x[of], np.diff(ends, prepend=0))
                    assert got[lo : lo + want.size].tobytes() == want.tobytes(), (kind, size, stream, c)


def test_counts_that_change_while_they_are_used(level):
    n = 8 * CHUNK + 5
    kept = np.random.default_rng(5).integers(0, 9, n)
    counts, stop = kept.copy(), threading.Event()
    other = [kept, kept * 9, -kept, np.full(n, 2**63 - 1), np.zeros(n, np.int64)]

    def disturb():
        while not stop.is_set():
            for now in other:
                counts[...] = now

    thread = threading.Thread(target=disturb)
    x, zone = scalars(n, 2), 4096
    runs = _native.Runs(counts.ctypes.data, False, n, 2)
    room = np.full(runs.total * 2 + 2 * zone, 0xA5, np.uint8)
    thread.start()
    try:
        for k in range(20):
            runs.copy(x.ctypes.data, room.ctypes.data + zone, 2, 1 + k % 2, k % 4 > 1)
    finally:
        stop.set()
        thread.join()
    assert (room[:zone] == 0xA5).all() and (room[-zone:] == 0xA5).all()
    assert tenter.repeat_interleave(x, kept).tobytes() == np.repeat(x, kept).tobytes()


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_counts_that_change_while_they_are_read(kind, monkeypatch):
    """Whatever another thread writes there, offsets ascend to the total that is returned, and all is written within."""
    for name, small in {"runs_chunk": 64, "shared_counts": 0, "parallel_bytes": 0}.items():
        monkeypatch.setattr(_native.tuning, name, small)
    counts, done = np.zeros(5000, kind), threading.Event()

    def change():
        while not done.is_set():
            counts[::3] = 100
            counts[::3] = 0

    changing = threading.Thread(target=change)
    changing.start()
    try:
        offsets = np.empty(counts.size + 1, np.int64)
        for _ in range(300):
            number = NUMBERS[counts.dtype.name]
            total = _native.offsets(counts.ctypes.data, number, counts.itemsize, counts.size, offsets.ctypes.data, 2)
            assert offsets[0] == 0 and offsets[-1] == total and (np.diff(offsets) >= 0).all()
            if counts.itemsize > 1:
                runs = _native.Runs(counts.ctypes.data, counts.itemsize == 4, counts.size, 2)
                room = np.full(runs.total + 64, 0xA5, np.uint8)
                x = np.ones(counts.size, np.uint8)
                runs.copy(x.ctypes.data, room.ctypes.data, 1, 2, False)
                assert (room[: runs.total] <= 1).all() and (room[runs.total :] == 0xA5).all()
    finally:
        done.set()
        changing.join()


def test_lists_of_unlike_integers_and_arrays_in_any_order():
    """NumPy joins uint64 and int64 to float64; PyTorch has no negative strides and one byte order."""
    assert tenter.repeat_interleave([5, 6], [np.uint64(1), np.int8(2)]).tolist() == [5, 6, 6]
    x = torch.tensor([5.0, 6.0, 7.0], requires_grad=True)
    for counts in (np.array([3, 0, 2])[::-1], np.array([2, 0, 3], ">i4"), [np.uint64(2), 0, np.int16(3)]):
        y = tenter.repeat_interleave(x.conj(), counts)
        assert y.tolist() == [5, 5, 7, 7, 7]
        assert torch.autograd.grad(y.sum(), x)[0].tolist() == [2, 0, 3]


@pytest.mark.parametrize("streamed", [False, True])
def test_rows_of_any_width(streamed, monkeypatch):
    """Below and above what is copied in place; nothing is written but the result."""
    if streamed:
        monkeypatch.setattr(_native.tuning, "parallel_bytes", 0)
    counts = np.array([0, 3, 1, 0, 7, 2, 1])
    for width in (1, 5, 63, 64, 65, 127, 129, 500, 511, 512, 513, 575, 577, 1031, 16383, 16384, 16385):
        x = values((counts.size, width), "uint8")
        want, zone = np.repeat(x, counts, axis=0), 4096 + 16
        room = np.full(want.size + 2 * zone, 0xA5, np.uint8)
        made = _native.Counts(counts.ctypes.data, NUMBERS["int64"], 8, counts.size)
        made.copy(x.ctypes.data, room.ctypes.data + zone, 1, width)
        assert (room[:zone] == 0xA5).all() and (room[-zone:] == 0xA5).all(), width
        assert np.array_equal(room[zone:-zone].reshape(want.shape), want), width
        assert np.array_equal(tenter.repeat_interleave(x, counts, 0), want), width
