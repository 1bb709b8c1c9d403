"""`out=`: the bits of a fresh result, in memory that the caller gives."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest
import torch

import tenter
from memory_helpers import needs_linux
from out_helpers import CALLS, given, rooms, values
from program_helpers import prints
from sweeps import in_one_test
from tenter import _native
from tenter._arrays import blocks
from tenter._execution import calls, chunks, numpy_executor
from tenter.maps import Copy

DTYPES = ["uint8", "float32", "float64"]


@in_one_test("library", ["numpy", "torch"])
@in_one_test("dtype", DTYPES)
@in_one_test("name", CALLS)
def test_the_bits_of_a_fresh_result_and_nothing_beside_them(library, dtype, name):
    call, x = CALLS[name], given(library, dtype)
    before, want = values(x), call(x)
    for kind, whole, out in rooms(want):
        around = values(whole)
        assert call(x, out=out) is out, kind
        assert values(out).tobytes() == values(want).tobytes(), kind
        out[...] = 77 if kind != "at an odd address" else around[1:].view(dtype).reshape(out.shape)
        assert np.array_equal(whole, around), kind
    assert np.array_equal(x, before)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("name", CALLS)
def test_the_same_bits_by_python_alone(library, name, monkeypatch):
    """Of x in C order and in another; of float32, and of bytes where that is another way."""
    monkeypatch.setattr(chunks, "BYTES", 64)
    monkeypatch.setattr(calls, "cached_into", lambda *how: None)
    call = CALLS[name]
    for dtype in ("float32", "uint8") if name in ("picture", "light", "resize") else ("float32",):
        x = given(library, dtype)
        turned = np.asfortranarray(x) if library == "numpy" else x.permute(2, 0, 1).contiguous().permute(1, 2, 0)
        for one in (x, turned):
            want = call(one)
            for kind, _, out in rooms(want):
                assert values(call(one, out=out)).tobytes() == values(want).tobytes(), kind


@pytest.mark.parametrize("shape", [(700, 900), (40, 50, 60), (1, 90000), (90000, 1), (3, 1, 70, 80)])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "complex64", "complex128"])
def test_large_results_are_copied_to_memory_of_any_layout(shape, dtype, monkeypatch):
    """By several threads, whose tasks begin anywhere."""
    monkeypatch.setattr(_native.tuning, "parallel_bytes", 1 << 12)
    monkeypatch.setattr(_native.tuning, "task_bytes", 10007)
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    want = np.repeat(x, 2, 0)
    try:
        for kind, whole, out in rooms(want):
            assert tenter.repeat_interleave(x, 2, 0, out=out) is out, kind
            assert out.tobytes() == want.tobytes(), kind
            out[...] = (
                77
                if kind != "at an odd address"
                else np.full(want.nbytes, 77, np.uint8).view(dtype).reshape(want.shape)
            )
            assert (whole == 77).all(), kind
    finally:
        _native.tuning.reset()


# Of no elements: NumPy's strides are 0 then, as of elements that share memory.
EMPTY = {
    "repeat": lambda x, **to: tenter.repeat(x, 2, 1, 1, **to),
    "by counts": lambda x, **to: tenter.repeat_interleave(x, [1, 2], 0, **to),
    "resize": lambda x, **to: tenter.resize(x, 5, axes=0, mode="cubic", **to),
    "nearest": lambda x, **to: tenter.resize(x, 5, axes=0, mode="nearest", **to),
    "map": lambda x, **to: Copy.tile(2, 3).apply(x, 0, **to),
    "sums": lambda x, **to: Copy.tile(1, 2).T.apply(x, 0, **to),
    "pad": lambda x, **to: tenter.ragged.pad(x[:0], [0, 0], **to),
}


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("name", EMPTY)
def test_results_of_no_elements(library, name):
    call = EMPTY[name]
    x = np.empty((2, 0, 3), "float32") if library == "numpy" else torch.empty(2, 0, 3)
    want = call(x)
    expanded = torch.empty(1, 0, 1).expand(tuple(want.shape))
    for out in (values(want).copy(), np.empty(want.shape, "float32")[::-1]) if library == "numpy" else (want, expanded):
        assert call(x, out=out) is out


KINDS = {
    "objects": np.array([["a", 1, None], [2, 3.5, "z"]], object), "text": np.array([["a", "bb"], ["c", "d"]]),
    "times": np.arange(6).astype("M8[s]").reshape(2, 3), "records": np.ones((2, 3), [("a", "i4"), ("b", "f8")]),
    "swapped": np.arange(6.0).astype(">f4").reshape(2, 3), "long": np.arange(6, dtype=np.longdouble).reshape(2, 3),
    "complex": np.arange(6, dtype=np.complex64).reshape(2, 3) * 1j,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_dtypes_of_which_the_core_knows_less(kind):
    x = KINDS[kind]
    for call in (lambda **to: tenter.repeat(x, 2, 3, **to), lambda **to: tenter.resize(x, (3, 5), mode="nearest", **to),
                 lambda **to: tenter.resize(x, (3, 5), edge="wrap", **to), lambda **to: Copy.tile(1, 2).T.apply(x, 0, **to)):  # fmt: skip
        try:
            want = call()
        except TypeError:  # no sums of it
            continue
        for out in (np.empty_like(want.T).T, np.empty(2 * want.size, want.dtype)[::2].reshape(want.shape)):
            assert (call(out=out) == want).all()


@pytest.mark.parametrize("dtype", ["bfloat16", "complex32", "float8_e5m2", "uint16"])
def test_dtypes_of_which_numpy_or_pytorch_knows_less(dtype):
    size = getattr(torch, dtype).itemsize
    x = torch.arange(6 * size, dtype=torch.uint8).view(getattr(torch, dtype)).reshape(2, 3)
    for call in (lambda **to: tenter.repeat(x, 2, 3, **to), lambda **to: tenter.resize(x, (3, 5), mode="nearest", edge="wrap", **to),
                 lambda **to: tenter.resize(x, 4, axes=1, box=[(-2, 5)], edge="constant", value=1, **to)):  # fmt: skip
        try:
            want = call()
        except ValueError:  # float8 has no 1 past the edges
            continue
        for out in (torch.empty_like(want.T).T, want.new_empty((want.shape[0], 2 * want.shape[1]))[:, ::2]):
            got = call(out=out).clone(memory_format=torch.contiguous_format)
            assert torch.equal(got.view(torch.uint8), want.view(torch.uint8))


@needs_linux
@pytest.mark.parametrize("step", [1, 2])
def test_a_signal_is_answered_before_out_is_written_or_once_it_is_whole(step):
    """At any moment of a call that takes long enough to ask for signals, of kernels that write to out, and of a result
    that is copied there."""
    x = np.random.default_rng(0).random((1200, 900), np.float32)
    calls = (
        (lambda **to: tenter.resize(x, (3000, 3000), mode="lanczos5", axes=(0, 1), **to)),
        (lambda **to: tenter.ragged.pad(x, np.array([300, 900]), 1500, value=2, **to)),
    )
    tenter.set_num_threads(1)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    for call in calls:
        want = call()
        began = time.perf_counter()
        call()
        took = time.perf_counter() - began
        for part in np.linspace(0.05, 0.95, 7):
            out = np.full((*want.shape, step), -1, np.float32)[..., 0]
            with pytest.raises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, part * took)
                call(out=out)
                time.sleep(60)  # for a signal that comes after the call
            assert (out == -1).all() or np.array_equal(out, want)
    signal.signal(signal.SIGALRM, before)
    tenter.set_num_threads(None)


def test_channels_of_one_picture_do_not_overlap(monkeypatch):
    both = np.random.default_rng(0).random((40, 40, 2), np.float32)
    x, out = both[..., 0], both[..., 1]
    want = tenter.resize(x.copy(), (40, 40), box=[(0, 20), None])
    assert numpy_executor.disjoint(x, out)
    assert np.array_equal(tenter.resize(x, (40, 40), box=[(0, 20), None], out=out), want)


@pytest.mark.parametrize("name", ["interpolate", "resize"])
def test_in_the_order_of_a_fresh_result_that_is_not_c(name):
    for x in (
        given("numpy", "float32").transpose(0, 2, 1)[:, :4, :],
        torch.arange(60.0).reshape(1, 3, 4, 5).contiguous(memory_format=torch.channels_last)[0],
    ):
        call = CALLS[name]
        want = call(x)
        out = np.empty_like(want) if isinstance(want, np.ndarray) else torch.empty_like(want)
        assert np.array_equal(call(x, out=out), want)


@pytest.mark.parametrize("name", CALLS)
def test_a_file_in_memory(name, tmp_path):
    x = given("numpy", "float32")
    want = CALLS[name](x)
    out = np.memmap(tmp_path / "out", np.float32, "w+", shape=want.shape)
    assert CALLS[name](x, out=out) is out
    out.flush()
    assert np.fromfile(tmp_path / "out", np.float32).tobytes() == want.tobytes()


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_out_that_overlaps_x(library):
    memory = given(library, "float32").reshape(-1)
    for out_at, x_at in ((0, 0), (0, 4), (4, 0), (30, 0)):
        for call, n in ((lambda x, **to: tenter.repeat_interleave(x, 2, **to), 20), (lambda x, **to: tenter.repeat(x, 2, **to), 20),
                        (lambda x, **to: tenter.resize(x, 20, mode="cubic", **to), 20), (lambda x, **to: tenter.resize(x, 10, box=[(10, 0)], **to), 10)):  # fmt: skip
            here = memory.copy() if library == "numpy" else memory.clone()
            x = here[x_at : x_at + 10]
            want = values(call(x))
            assert np.array_equal(call(x, out=here[out_at : out_at + n]), want)
    counts = np.array([1, 2, 0, 1])
    assert tenter.repeat_interleave(np.arange(4), counts, out=counts).tolist() == [0, 1, 1, 3] == counts.tolist()


@pytest.mark.parametrize("library", [np.asarray, torch.as_tensor])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_out_that_overlaps_counts_of_many_scalars(library, dtype, monkeypatch):
    """The core reads such counts again while it writes."""
    monkeypatch.setattr(_native.tuning, "many_scalars", 2)
    x = library(np.arange(12, dtype=dtype))
    for at in (0, 3, 10, 30):
        memory = library(np.resize(np.array([1, 2, 0, 3], dtype), 50))
        counts = memory[8:20]
        want = values(tenter.repeat_interleave(x, values(counts).tolist()))
        out = memory[at : at + len(want)]
        assert tenter.repeat_interleave(x, counts, out=out) is out
        assert values(out).tobytes() == want.tobytes()


# ---- PyTorch


def test_autograd_sees_that_out_was_written_to():
    for _ in range(2):  # of a call that may be new, and of a known one
        w, out = torch.ones(6, requires_grad=True), torch.zeros(6)
        product = (w * out).sum()
        tenter.repeat(torch.ones(3), 2, out=out)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.backward()


def test_in_compiled_code_and_under_modes():
    x = torch.arange(6.0).reshape(2, 3)

    def f(x, out):
        return tenter.resize(x, 5, out=out), tenter.tile(x, 2, out=out[:2, :6])

    def g(x):
        out = torch.zeros(5, 6)
        return tenter.repeat_interleave(x, 2, 1, out=out[:2]) + 1, out

    got, want = torch.compile(g, fullgraph=True, backend="eager")(x), g(x)
    assert torch.equal(got[0], want[0]) and torch.equal(got[1], want[1])
    with torch.inference_mode():
        out = torch.empty(4)
        assert tenter.repeat(torch.ones(2), 2, out=out).tolist() == [1.0] * 4


# ---- memory


def test_no_memory_is_taken_for_a_result(monkeypatch):
    x = np.random.default_rng(0).random((512, 600, 3)).astype(np.float32)
    calls = [lambda **to: tenter.repeat(x, 2, 1, 1, **to), lambda **to: tenter.resize(x, (700, 500), axes=(0, 1), **to),
             lambda **to: tenter.repeat_interleave(x, [3] * 512, 0, **to), lambda **to: tenter.image.resize(x, (700, 500), **to)]  # fmt: skip
    for call in calls:
        want = call()
        out = np.empty_like(want)
        shapes = []
        empty = blocks.empty
        monkeypatch.setattr(blocks, "empty", lambda shape, *of: shapes.append(shape) or empty(shape, *of))
        assert np.array_equal(call(out=out), want)
        monkeypatch.undo()
        assert want.shape not in shapes


@pytest.mark.slow  # `test_memory_peaks` has the memory that a call with `out` takes
@needs_linux
@pytest.mark.parametrize("ways", [(), ("all",)], ids=["one", "all"])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_where_there_is_no_memory_for_a_result(library, ways):
    """Of 16 to 50 MiB, in a process that may have 12 MiB more: with an out that kernels write to there is no need of it.

    PyTorch with one thread alone has memory left of earlier calls."""
    found, *failed = prints("without_room.py", library, *ways, OMP_NUM_THREADS="2").split("\n")[0].split(" ", 1)
    assert not failed and int(found) < 8
