"""A count for each of many scalars: as NumPy repeats them, whatever the counts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import tenter
import tenter.numpy
from cases import values
from counts_helpers import CHUNK, SIZES, scalars, sparse, with_room
from maps_of import planned
from sweeps import sampled
from tenter import _native, memory
from tenter._arrays.dtypes import NUMBERS
from tenter._execution import calls
from tenter.maps import Copy

N = 11 * CHUNK + 4321
SMALL = _native.tuning.many_scalars
RNG = np.random.default_rng(0)


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


@pytest.mark.parametrize("name, kind", sampled(itertools.product([*SKEWED, *COUNTS], ["int64", "int32"]), 3, "-".join))
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


@pytest.mark.parametrize("name", sampled(COUNTS, 2))
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
    for counts in COUNTS.values():
        assert _native.testing.Runs(counts.ctypes.data, False, counts.size, 1).total == counts.sum()
    for counts in SKEWED.values():
        assert _native.testing.Runs(counts.ctypes.data, False, N, 1).total == -1


@pytest.mark.parametrize("size", sampled([1, 4, 8, 16], 4))
def test_results_around_what_the_caches_hold(size):
    """A result of 32 MiB and more goes past them once its memory has been used before."""
    for n_bytes in (_native.tuning.stream_bytes - (1 << 20), _native.tuning.stream_bytes + (1 << 20)):
        counts = np.random.default_rng(1).integers(0, 9, n_bytes // size // 4)
        counts[-1] += n_bytes // size - counts.sum() if counts.sum() < n_bytes // size else 0
        x = scalars(counts.size, size)
        want = np.repeat(x, counts).tobytes()
        reused = memory.stats().reused
        for _ in range(2):
            assert tenter.repeat_interleave(x, counts).tobytes() == want
        if size < 16:
            t, c = torch.from_numpy(x.view(f"i{size}")), torch.from_numpy(counts)
            for _ in range(2):
                assert tenter.repeat_interleave(t, c).numpy().tobytes() == want
        assert memory.stats().reused > reused


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
        (bad, {}, ValueError, rf"non-negative counts, got -3 at position {N - 2}"),
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


def summed(g: torch.Tensor, counts: np.ndarray) -> torch.Tensor:
    """The gradient of a repeat along dim 0: one addition after the other, in order."""
    wide = g.float() if g.dtype.itemsize == 2 else g
    starts, sums = np.cumsum(counts) - counts, torch.zeros((counts.size, *g.shape[1:]), dtype=wide.dtype)
    for k in range(counts.max(initial=0)):
        has = counts > k
        sums[has] = wide[starts[has] + k] + (sums[has] if k else -0.0)
    return sums.to(g.dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 7, 8, 9, 15])
def test_gradients_of_narrow_rows_are_sums_in_order(width, dtype, level, monkeypatch):
    """Both gradients end where memory does."""
    monkeypatch.setattr(_native.tuning, "guard_blocks", True)
    monkeypatch.setattr(_native.tuning, "large_bytes", 1)
    rng = np.random.default_rng(width)
    for most in (1, 2, 3, 5, 9, 16, 17, 40):
        for n in (1, 2, 9, 700):
            counts = rng.integers(0, most + 1, n)
            counts[n // 2 :][rng.random(n - n // 2) < 0.1] = 0
            leaf = torch.zeros((n, width), dtype=dtype, requires_grad=True)
            y = tenter.repeat_interleave(leaf, torch.from_numpy(counts), 0)
            g = y.detach().copy_(torch.from_numpy(rng.standard_normal(tuple(y.shape))))
            for value in (-0.0, float("nan"), float("inf")):
                g[torch.from_numpy(rng.random(tuple(y.shape)) < 0.03)] = value
            (found,) = torch.autograd.grad(y, leaf, g)
            want = summed(g, counts)
            assert torch.equal(found.isnan(), want.isnan()), (most, n)
            found, want = found.nan_to_num(7.0), want.nan_to_num(7.0)
            assert torch.equal(found, want) and torch.equal(found.signbit(), want.signbit()), (most, n)


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
        made = _native.testing.Counts(counts.ctypes.data, NUMBERS["int64"], 8, counts.size)
        made.copy(x.ctypes.data, room.ctypes.data + zone, 1, width)
        assert (room[:zone] == 0xA5).all() and (room[-zone:] == 0xA5).all(), width
        assert np.array_equal(room[zone:-zone].reshape(want.shape), want), width
        assert np.array_equal(tenter.repeat_interleave(x, counts, 0), want), width


STRIDED = {
    "every other row": lambda x: x[::2], "every other column": lambda x: x[:, ::2], "transposed": lambda x: x.T,
    "expanded": lambda x: np.broadcast_to(x[:1], x.shape), "of three dims": lambda x: x.reshape(4, 5, 6)[:, 1:4, ::3],
    "reversed": lambda x: x[::-1, ::-2], "with dims of length 1": lambda x: x[:, None, ::2, None],
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "complex128", "bool"])
@pytest.mark.parametrize("lies", STRIDED)
def test_arrays_of_any_strides_are_repeated_in_the_core(lies, dtype, monkeypatch):
    tenter.repeat_interleave(torch.ones(1), torch.ones(1, dtype=torch.int64), 0)  # the first call imports the executor
    monkeypatch.setattr(calls, "plan", None)
    x = STRIDED[lies](np.arange(120).reshape(10, 12).astype(dtype))
    rng = np.random.default_rng(0)
    for dim in (None, *range(-x.ndim, x.ndim)):
        counts = rng.integers(0, 4, x.size if dim is None else x.shape[dim])
        want = np.repeat(x, counts, dim)
        found = tenter.repeat_interleave(x, counts, dim)
        assert found.flags.c_contiguous and found.dtype == want.dtype
        np.testing.assert_array_equal(found, want)
        if min(x.strides) >= 0 and lies != "expanded":
            t = torch.from_numpy(x)
            assert torch.equal(tenter.repeat_interleave(t, torch.from_numpy(counts), dim), torch.from_numpy(want))


def test_gradients_by_counts_of_strided_tensors():
    base = torch.rand(6, 8, dtype=torch.float64)
    for x in (base[:, ::2], base.t(), base[::3]):
        leaf = x.detach().requires_grad_()
        for dim in (0, 1):
            counts = torch.arange(x.shape[dim]) % 3
            g = torch.rand(*(int(counts.sum()) if d == dim else n for d, n in enumerate(x.shape)), dtype=torch.float64)
            found, want = (
                torch.autograd.grad(f(leaf, counts, dim), leaf, g)[0]
                for f in (tenter.repeat_interleave, torch.repeat_interleave)
            )
            torch.testing.assert_close(found, want)


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_short_segments_after_a_long_one_read_nothing_past_their_block(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sanitized builds see what is read: blocks of converted inputs end in scratch memory."""
    monkeypatch.setattr(_native.tuning, "widened_values", 300)
    counts = np.array(([1] * 9 + [200] + [1] * 6) * 20)
    x = np.random.default_rng(0).integers(0, 9, (rows, counts.sum())).astype("float16")
    want = np.add.reduceat(x.astype(float), np.cumsum(counts) - counts, axis=1)
    assert np.array_equal(planned(x, ((1, Copy.repeats(counts).T),)).run(x), want)
