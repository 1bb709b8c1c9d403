"""Memory of large results: used again once nobody looks at it and never before, the same values in it, no more kept
than was said, nothing inherited by forked children."""

from __future__ import annotations

import copy
import ctypes
import gc
import io
import os
import pickle
import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import tenter
from cases import MAPS, OPS, values
from tenter import _native, frontends, memory
from tenter.apply import planned
from tenter.kernels import cpu
from tenter.maps import Copy, Gather, Window

PAGE = 2 << 20
LARGE = _native.LARGE
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of a process's memory are Linux's")


@pytest.fixture(autouse=True, scope="module")
def garbage():
    """Nothing that other tests have left is collected in the middle of these; collecting what these leave is quick."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def recycler():
    """Empty at first, whatever other tests have left there."""
    before = memory.limit()
    gc.collect()
    memory.clear()
    memory.limit(256 << 20)
    yield
    tenter.set_num_threads(None)
    memory.limit(before)
    memory.clear()


@pytest.fixture(params=_native.levels())
def level(request):
    assert _native.force_level(request.param)
    yield request.param
    assert _native.force_level("")


def occupied(n_bytes):
    """Bytes of the block of a result of so many."""
    grain = 64 << 10 if n_bytes < 16 << 20 else PAGE
    return -(-n_bytes // grain) * grain


def pages(n, fill=0):
    """An array that occupies n whole pages."""
    return tenter.repeat_interleave(np.full(PAGE // 2, fill, np.uint8), 2 * n)


def block_of(y):
    """The block that an array or a tensor lies in, None if there is none: its address; its bytes, the spare ones too."""
    if isinstance(y, torch.Tensor):  # alignment: other storage can't be resized either once NumPy has looked at it
        address, n_bytes = y.data_ptr(), y.untyped_storage().nbytes()
        held = address % PAGE == 0 and not y.untyped_storage().resizable()
    else:
        address, n_bytes = y.__array_interface__["data"][0], y.nbytes
        held = type(y.base) is _native.Block
    return (address, occupied(n_bytes)) if held else None


def poison(y):
    address, size = block_of(y)
    ctypes.memset(address, 0xFF, size)  # NaN, of floats
    return address


def run_python(code, timeout=120, args=(), **env):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *args],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **env},
    )


def prints(code, *args, timeout=120):
    done = run_python(code, timeout, args)
    assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stdout, done.stderr)
    return done.stdout


# ---- who looks at a block keeps it

X = (np.arange(700 * 400) % 997).astype(np.float32).reshape(700, 400)  # twice as much: 2.24 MB
T = torch.from_numpy(X)


def as_array(y):
    return y.detach().numpy() if isinstance(y, torch.Tensor) else np.asarray(y)


class Interface:
    def __init__(self, y):
        self.__array_interface__ = y.__array_interface__
        self.held = y


ARRAY_LOOKERS = {
    "itself": lambda y: y,
    "view": lambda y: y.view(),
    "slice": lambda y: y[3:700:2, ::-1],
    "transposed": lambda y: y.T,
    "reshaped": lambda y: y.reshape(-1, 8),
    "ravel": lambda y: y.ravel(),
    "another dtype": lambda y: y.view(np.int32),
    "views of views": lambda y: y[1:].view(np.uint32).T[5:, ::3][::-1][1:],
    "base": lambda y: y.T[1:].base,
    "memoryview": lambda y: memoryview(y),
    "memoryview of a view": lambda y: memoryview(y[1:]).cast("B"),
    "frombuffer": lambda y: np.frombuffer(y, np.int16),
    "the block's bytes": lambda y: memoryview(y.base),
    "ctypes": lambda y: np.ctypeslib.as_ctypes(y),
    "pickle buffer": lambda y: pickle.PickleBuffer(y),
    "flat": lambda y: y.flat,
    "interface": lambda y: Interface(y[2:]),
    "strides": lambda y: np.lib.stride_tricks.as_strided(y, (5, 5), (1600, 4)),
    "broadcast": lambda y: np.broadcast_to(y, (2, *y.shape)),
    "dlpack": lambda y: np.from_dlpack(y),
    "tensor": lambda y: torch.from_numpy(y),
    "a view of a tensor": lambda y: torch.from_numpy(y)[1:].t(),
    "as_tensor": lambda y: torch.as_tensor(y).view(torch.int32),
    "frombuffer of torch": lambda y: torch.frombuffer(y, dtype=torch.float32),
    "from_dlpack of torch": lambda y: torch.from_dlpack(y),
    "tenter's own view": lambda y: tenter.expand(y, 2, *y.shape),
}
TENSOR_LOOKERS = {
    "itself": lambda y: y,
    "detached": lambda y: y.detach(),
    "view": lambda y: y.view(-1),
    "transposed": lambda y: y.t(),
    "slice": lambda y: y[3:700:2, 7:],
    "unbound": lambda y: y.unbind(0)[5:7],
    "another dtype": lambda y: y.view(torch.int32),
    "views of views": lambda y: y[1:].t()[5:].unsqueeze(0).expand(2, -1, -1),
    "data": lambda y: y.data,
    "parameter": lambda y: torch.nn.Parameter(y),
    "storage": lambda y: y.untyped_storage(),
    "typed storage": lambda y: y._typed_storage(),
    "set_": lambda y: torch.empty(0).set_(y.untyped_storage(), 100, (300, 40)),
    "numpy": lambda y: y.numpy(),
    "asarray": lambda y: np.asarray(y[1:]),
    "memoryview": lambda y: memoryview(y.numpy()[5:]),
    "dlpack to NumPy": lambda y: np.from_dlpack(y),
    "dlpack to PyTorch": lambda y: torch.from_dlpack(y),
    "tenter's own view": lambda y: tenter.expand(y, 2, *y.shape),
}


def read(looker):
    """What a looker sees, copied."""
    if isinstance(looker, (tuple, list)):
        return b"".join(map(read, looker))
    if isinstance(looker, Interface):
        return np.array(np.asarray(looker)).tobytes()
    if isinstance(looker, (torch.UntypedStorage, torch.TypedStorage)):
        return torch.empty(0).set_(looker, 0, (700, 700)).numpy().tobytes()
    if isinstance(looker, torch.Tensor):
        return looker.detach().numpy().tobytes()
    return np.array(looker).tobytes() if isinstance(looker, np.flatiter) else np.asarray(looker).tobytes()


def outlives(make, look):
    """Other results are made while a looker alone holds a result; what it sees stays, its memory is not given away."""
    want = read(look(make()))
    gc.collect()
    in_use = memory.stats().in_use
    looker = look(make())
    gc.collect()
    held, reused = memory.stats().in_use, memory.stats().reused
    assert held > in_use
    others = [make() for _ in range(2)]
    for y in others:
        poison(y)
    assert memory.stats().reused == reused  # one block was idle, and the looker's result has it
    assert read(looker) == want
    del others, y
    make(), make()
    assert read(looker) == want
    del looker
    gc.collect()
    assert memory.stats().in_use == in_use


@pytest.mark.parametrize("look", ARRAY_LOOKERS.values(), ids=ARRAY_LOOKERS.keys())
def test_what_looks_at_an_array_keeps_its_memory(look):
    outlives(lambda: tenter.repeat_interleave(X, 2, 0), look)


@pytest.mark.parametrize("look", TENSOR_LOOKERS.values(), ids=TENSOR_LOOKERS.keys())
def test_what_looks_at_a_tensor_keeps_its_memory(look):
    outlives(lambda: tenter.repeat_interleave(T, 2, 0), look)


def test_capsules_keep_memory():
    for make, open_ in [
        (lambda: tenter.repeat_interleave(X, 2, 0).__dlpack__(), torch.utils.dlpack.from_dlpack),
        (lambda: tenter.repeat_interleave(T, 2, 0).__dlpack__(), torch.utils.dlpack.from_dlpack),
    ]:
        want = np.repeat(X, 2, 0)
        capsule = make()
        for _ in range(3):
            poison(tenter.repeat_interleave(X, 2, 0))
        assert np.array_equal(open_(capsule).numpy(), want)


def test_what_is_saved_for_backward_keeps_its_memory():
    weight = torch.rand(1400, 400, requires_grad=True)
    y = tenter.repeat_interleave(T, 2, 0)
    loss = (weight * y).sum()
    want = y.clone()
    del y
    for _ in range(3):
        poison(tenter.repeat_interleave(T, 2, 0))
    loss.backward()
    assert torch.equal(weight.grad, want)


def test_a_result_inside_a_graph_keeps_its_memory():
    """Its node holds it, and so do hooks and the gradient that is kept."""
    x = torch.rand(700, 400, requires_grad=True)
    want = 2 * 2 * x.detach()  # d/dx of the sum of two squares
    loss = (tenter.repeat_interleave(x, 2, 0) ** 2).sum()
    for _ in range(3):
        poison(tenter.repeat_interleave(T, 2, 0))
    loss.backward(retain_graph=True)
    grad = x.grad
    assert torch.equal(grad, want)
    x.grad = None
    for _ in range(3):
        poison(tenter.repeat_interleave(T, 2, 0))
    loss.backward()
    assert torch.equal(grad, want) and torch.equal(x.grad, want)


def saved(y):
    file = io.BytesIO()
    torch.save(y, file)
    assert file.tell() < y.untyped_storage().nbytes() + (1 << 16)  # the result alone, not its block
    file.seek(0)
    return torch.load(file)


@pytest.mark.parametrize(
    "copied",
    [
        lambda y: pickle.loads(pickle.dumps(y)),
        lambda y: pickle.loads(pickle.dumps(y, 5)),
        copy.deepcopy,
        copy.copy,
        lambda y: saved(torch.as_tensor(y)),
        lambda y: torch.as_tensor(y).clone(),
        lambda y: torch.as_tensor(y).share_memory_(),
        lambda y: y + 0,
    ],
)
@pytest.mark.parametrize("x", [X, T], ids=["array", "tensor"])
def test_copies_are_right_when_their_original_is_gone(copied, x):
    y = copied(tenter.repeat_interleave(x, 2, 0))
    for _ in range(3):
        poison(tenter.repeat_interleave(x, 2, 0))
    assert np.array_equal(as_array(y), np.repeat(X, 2, 0))


# ---- what is kept, and how much of it


def test_stats_are_exact_after_every_action():
    made = memory.stats()
    held = {}

    def make(name, n):
        held[name] = pages(n)

    def drop(*names):
        for name in names:
            del held[name]

    # action; then pages and blocks idle, pages and blocks in use, results in used and in fresh memory
    for k, (act, *want) in enumerate([
        (lambda: None, 0, 0, 0, 0, 0, 0),
        (lambda: make("a", 1), 0, 0, 1, 1, 0, 1),
        (lambda: make("b", 4), 0, 0, 5, 2, 0, 2),
        (lambda: drop("a"), 1, 1, 4, 1, 0, 2),
        (lambda: make("a", 1), 0, 0, 5, 2, 1, 2),
        (lambda: make("c", 4), 0, 0, 9, 3, 1, 3),
        (lambda: drop("b", "c"), 8, 2, 1, 1, 1, 3),
        (lambda: make("d", 3), 8, 2, 4, 2, 1, 4),  # a block of 4 would waste more than a quarter
        (lambda: drop("d"), 11, 3, 1, 1, 1, 4),
        (lambda: make("e", 4), 7, 2, 5, 2, 2, 4),
        (lambda: memory.clear(), 0, 0, 5, 2, 2, 4),
        (lambda: memory.limit(4 * PAGE), 0, 0, 5, 2, 2, 4),
        (lambda: make("f", 5), 0, 0, 10, 3, 2, 5),
        (lambda: drop("f"), 0, 0, 5, 2, 2, 5),  # larger than the limit
        (lambda: drop("e"), 4, 1, 1, 1, 2, 5),
        (lambda: drop("a"), 1, 1, 0, 0, 2, 5),  # the other was used less recently
        (lambda: memory.limit(PAGE - 1), 0, 0, 0, 0, 2, 5),
        (lambda: make("g", 1), 0, 0, 1, 1, 2, 6),
        (lambda: memory.limit(0), 0, 0, 1, 1, 2, 6),
        (lambda: drop("g"), 0, 0, 0, 0, 2, 6),
        (lambda: make("h", 1), 0, 0, 0, 0, 2, 6),  # ordinary memory
        (lambda: memory.limit(64 * PAGE), 0, 0, 0, 0, 2, 6),
        (lambda: drop("h"), 0, 0, 0, 0, 2, 6),
    ]):  # fmt: skip
        act()
        now = memory.stats()
        got = (now.idle, now.idle_blocks, now.in_use - made.in_use, now.blocks_in_use - made.blocks_in_use)
        got += (now.reused - made.reused, now.fresh - made.fresh)
        assert got == (want[0] * PAGE, want[1], want[2] * PAGE, *want[3:]), (k, want)
        assert now.limit == memory.limit()


def test_least_recently_used_goes_first():
    def sizes_kept(limit, order):
        memory.clear()
        memory.limit(64 * PAGE)
        held = {n: pages(n) for n in (1, 2, 3, 5, 8)}
        for n in order:
            del held[n]
        memory.limit(limit * PAGE)
        assert memory.stats().idle <= limit * PAGE
        reused, kept = memory.stats().reused, set()
        for n in (1, 2, 3, 5, 8):
            held[n] = pages(n)
            if memory.stats().reused > reused:
                reused = memory.stats().reused
                kept.add(n)
        return kept

    assert sizes_kept(64, (1, 2, 3, 5, 8)) == {1, 2, 3, 5, 8}
    assert sizes_kept(18, (1, 2, 3, 5, 8)) == {2, 3, 5, 8}
    assert sizes_kept(10, (1, 2, 3, 5, 8)) == {8}
    assert sizes_kept(10, (8, 5, 3, 2, 1)) == {1, 2, 3}
    assert sizes_kept(10, (5, 8, 2, 1, 3)) == {1, 2, 3}
    assert sizes_kept(1, (1, 8, 2, 5, 3)) == set()
    assert sizes_kept(0, (1, 2, 3, 5, 8)) == set()


def test_the_block_that_wastes_least_is_taken_and_of_equals_the_last_one_used():
    held = [pages(n) for n in (10, 8, 8, 9)]
    addresses = [block_of(y)[0] for y in held]
    for k in (3, 1, 2, 0):
        held[k] = None
    assert block_of(a := pages(8))[0] == addresses[2]
    assert block_of(b := pages(8))[0] == addresses[1]
    assert block_of(c := pages(8))[0] == addresses[3]
    assert block_of(d := pages(8))[0] == addresses[0]  # 10 of 8: a quarter is wasted, and no more
    assert block_of(e := pages(8))[0] not in addresses
    assert memory.stats().idle == 0
    assert all((y == 0).all() for y in (a, b, c, d, e))


def test_idle_memory_never_passes_the_limit():
    rng, held = random.Random(0), []
    for _ in range(400):
        act = rng.random()
        if act < 0.5:
            held.append(pages(rng.choice([1, 1, 2, 3])))
        elif held and act < 0.95:
            held.pop(rng.randrange(len(held)))
        else:
            memory.limit(rng.randrange(0, 12 * PAGE))
        if len(held) > 8:
            held.clear()
        now = memory.stats()
        assert 0 <= now.idle <= now.limit and now.idle_blocks <= now.idle // PAGE
        assert (now.idle == 0) == (now.idle_blocks == 0)


@pytest.mark.parametrize(
    "act", [memory.clear, lambda: memory.limit(0), lambda: memory.limit(PAGE), lambda: memory.limit(1), gc.collect]
)
def test_results_that_are_held_stay_as_they_are(act):
    arrays, tensors = [pages(1, k) for k in range(1, 4)], [tenter.repeat_interleave(T + k, 2, 0) for k in range(3)]
    del arrays[1], tensors[1]
    act()
    poison_all = [pages(1, 255) for _ in range(4)]
    assert (arrays[0] == 1).all() and (arrays[1] == 3).all() and len(poison_all) == 4
    want = torch.from_numpy(np.repeat(X, 2, 0))
    assert torch.equal(tensors[0], want) and torch.equal(tensors[1], want + 2)
    assert memory.stats().idle <= memory.limit()


@pytest.mark.parametrize(
    "n", [LARGE - 1, LARGE, LARGE + 1, PAGE - 1, PAGE, PAGE + 1, PAGE + 63, 2 * PAGE - 7, 3_000_001]
)
def test_sizes_around_the_threshold(n):
    x = (np.arange(n) % 251).astype(np.uint8)
    for _ in range(2):
        for y in (tenter.repeat(x, 1), tenter.repeat(torch.from_numpy(x), 1)):
            held = block_of(y)
            assert (held is None) == (n < LARGE)
            if held:
                assert held[0] % PAGE == 0 and memory.stats().in_use >= held[1] >= n
                poison(y)
        y = tenter.repeat(x, 1)
        assert np.array_equal(y, x) and not np.shares_memory(y, x)
        assert torch.equal(tenter.repeat(torch.from_numpy(x), 1), torch.from_numpy(x))


def test_nothing_is_written_past_a_result():
    for n in (LARGE, LARGE + 1, PAGE - 63, PAGE + 1, 16 * LARGE + 1, 16 * LARGE + 65):
        address, size = block_of(held := tenter.repeat(np.zeros(n, np.uint8), 1))
        ctypes.memset(address, 0xA5, size)
        del held
        y = tenter.repeat(np.full(n, 7, np.uint8), 1)
        assert block_of(y)[0] == address and (y == 7).all()
        assert set(ctypes.string_at(address + n, size - n)) <= {0xA5, 0}  # 0 where the system took the page


@pytest.mark.parametrize(
    "bad, error, says",
    [
        (True, TypeError, "the bool True"),
        (np.True_, TypeError, "bool"),
        (1.0, TypeError, "1.0"),
        (float("inf"), TypeError, "inf"),
        ("1 GiB", TypeError, "'1 GiB'"),
        ([1], TypeError, "n_bytes"),
        (-1, ValueError, ">= 0, got -1"),
        (-(2**80), ValueError, ">= 0"),
        (2**63, ValueError, "below 2**63"),
        (2**100, ValueError, "below 2**63"),
    ],
)
def test_limits_that_are_refused(bad, error, says):
    before = memory.stats()
    with pytest.raises(error, match="n_bytes: expected a number of bytes") as raised:
        memory.limit(bad)
    assert says in str(raised.value) and "in memory.limit(" in str(raised.value)
    assert memory.stats() == before


def test_limits_that_are_taken():
    for n in (0, 1, PAGE, 2**63 - 1, np.int64(5), np.uint8(200), torch.tensor(7)):
        assert memory.limit(n) == int(n) == memory.limit() == memory.stats().limit


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
    monkeypatch.setattr(memory, "PAST_CACHES", 0)
    streamed = []
    past = memory.past_caches
    monkeypatch.setattr(memory, "past_caches", lambda held, n: streamed.append(past(held, n)) or streamed[-1])
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


def sums(counts, n):
    """Segment sums of n values: so many in each, the last one whatever is left."""
    counts = [*counts, n]
    totals = np.minimum(np.cumsum(counts), n)
    return Copy.counts(np.diff(totals, prepend=0)).T


def check_call(call, x):
    """One call's plans, run again past the caches."""
    plans, run = [], cpu.Plan.run

    def remembered(plan, source, target, stream=False):
        plans.append((plan, source))
        run(plan, source, target, stream)

    cpu.Plan.run = remembered
    try:
        want = call()
    finally:
        cpu.Plan.run = run
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
            past_the_caches(how.steps, frontends.of(part).address(part), how.run(part), 0)


# ---- transforms, modes and other processes


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_transforms_and_modes():
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils.checkpoint import checkpoint

    class Function(TorchFunctionMode):
        def __torch_function__(self, f, types, args=(), kwargs=None):
            return f(*args, **(kwargs or {}))

    class Dispatch(TorchDispatchMode):
        def __torch_dispatch__(self, f, types, args=(), kwargs=None):
            return f(*args, **(kwargs or {}))

    def f(x):
        return tenter.interpolate(x, (701, 803), mode="bilinear")

    def within(mode):
        with mode:
            return f(x)

    x = TALL[:1, :1]
    leaf = x.clone().requires_grad_()
    memory.limit(0)
    want = f(x)
    memory.limit(256 << 20)
    for call in (
        lambda: torch.func.functionalize(f)(x),
        lambda: torch.vmap(f)(x[None])[0],
        lambda: torch.func.vjp(f, x)[0],
        lambda: torch.func.jvp(f, (x,), (x,))[1],
        lambda: torch.compile(f, backend="aot_eager", fullgraph=True)(x),
        lambda: torch.compile(lambda x: f(x).relu_() + f(x) - f(x).relu(), backend="aot_eager")(x),
        lambda: torch.jit.trace(f, x)(x),
        lambda: checkpoint(f, leaf, use_reentrant=False).detach(),
        lambda: within(torch.device("meta")),
        lambda: within(torch.inference_mode()),
        lambda: within(Function()),
        lambda: within(Dispatch()),
    ):
        for _ in range(2):
            made = memory.stats()
            y = call()
            now = memory.stats()
            assert now.fresh + now.reused > made.fresh + made.reused and torch.allclose(y, want, atol=1e-6)
            if block_of(y):
                poison(y)
            del y


FORKS = """
import gc, os, sys, numpy as np, tenter, torch
from tenter import _native, memory
memory.limit(256 << 20)
torch.set_num_threads(1)                                   # its own threads would hang the children
x = np.ones((700, 400), np.float32)
def child(body):
    pid = os.fork()
    if pid == 0:
        code = 1
        try: code = 0 if body() else 2
        finally: os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
array, tensor = tenter.repeat_interleave(x, 2, 0), tenter.repeat_interleave(torch.from_numpy(x), 2, 0)
early = [tenter.repeat_interleave(x, 2, 0) for _ in range(3)]
del early[2]
assert memory.stats().idle_blocks == 1
def in_child():
    global array, tensor, early
    assert memory.stats().idle == 0 and not _native.recycles()
    assert (array == 1).all() and (tensor == 1).all()
    made = memory.stats()
    for t in (x, torch.from_numpy(x)):
        for _ in range(3): y = tenter.repeat_interleave(t, 2, 0)
        assert bool((y == 1).all())
        assert type(getattr(y, "base", None)) is not _native.Block
        assert t is x or y.untyped_storage().resizable()
    now = memory.stats()
    assert (now.fresh, now.reused) == (made.fresh, made.reused)
    array[...] = 5; tensor.fill_(6)
    del array, tensor, early; gc.collect()
    assert memory.stats().idle == 0 and memory.stats().blocks_in_use == made.blocks_in_use - 4
    memory.clear(); memory.limit(0); memory.limit(1 << 30)
    assert not _native.recycles()
    return child(lambda: not _native.recycles() and bool((tenter.repeat_interleave(x, 3, 0) == 1).all())) == 0
print(child(in_child))
assert (array == 1).all() and (tensor == 1).all()          # the child's writes are its own
assert memory.stats().idle == 0                            # given back before the fork
made = memory.stats()
del early; gc.collect()
assert memory.stats().idle == 0                            # from before the fork: not kept
y = tenter.repeat_interleave(x, 2, 0)
assert memory.stats().reused == made.reused and memory.stats().fresh == made.fresh + 1
del y
y = tenter.repeat_interleave(x, 2, 0)
assert memory.stats().reused == made.reused + 1            # from after it: kept again
r, w = os.pipe()
pid = os.fork()
if pid == 0:                                               # nor does the child see what the parent writes
    os.read(r, 1)
    os._exit(0 if (array == 1).all() and (tensor == 1).all() else 1)
array[...] = 3; tensor.fill_(4); os.write(w, b"x")
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@needs_fork
def test_forked_children_share_nothing():
    assert prints(FORKS) == "0\n0\n"


FORK_LOOP = """
import os, random, signal, sys, threading, time, numpy as np, tenter
from tenter import build, memory
from tenter.apply import planned
tenter.set_num_threads(2)
x, image, stop = np.ones((700, 400), np.float32), np.ones((1, 1, 300, 300), np.float32), threading.Event()
def busy(k):
    while not stop.is_set():
        tenter.repeat_interleave(x, 2, 0)
        tenter.interpolate(image, (600, 600), mode="bilinear")
        if k == 0: memory.clear()
threads = [threading.Thread(target=busy, args=(k,)) for k in range(3)]
for t in threads: t.start()
def children(n, body, wait):
    for k in range(n):
        time.sleep(wait(k))
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)                               # ends a child that hangs
            body(k); os._exit(0)
        if os.waitpid(pid, 0)[1]: return f"child {k} failed"
    return "fine"
def results(k):
    assert (tenter.repeat_interleave(x, 2, 0) == 1).all() and memory.stats().idle == 0
    assert abs(tenter.interpolate(image, (600, 600), mode="bilinear") - 1).max() < 1e-6
print(children(40, results, lambda k: random.random() / 500))
stop.set()
for t in threads: t.join()
"""


@needs_fork
def test_forks_while_other_threads_are_busy():
    assert prints(FORK_LOOP) == "fine\n"


# Each child is forked in the middle of another thread's first call of a map, which the child then calls.
FORK_IN_MAP = """
import os, signal, sys, threading, time, numpy as np, tenter
from tenter import build
from tenter.apply import planned
tenter.set_num_threads(1)
x = np.ones((2, 100000), np.float32)
for k in range(12):
    how = planned(x, ((1, build.resample("linear", 100000, 200000 + k)),))
    t = threading.Thread(target=how.run, args=(x,)); t.start()
    time.sleep(k / 4000)
    pid = os.fork()
    if pid == 0:
        signal.alarm(10)
        os._exit(0 if abs(how.run(x) - 1).max() < 1e-6 else 1)
    t.join()
    if os.waitpid(pid, 0)[1]: print(f"child {k} failed"); break
else: print("fine")
"""


@needs_fork
def test_forks_while_a_map_is_used_for_the_first_time():
    assert prints(FORK_IN_MAP) == "fine\n"


WORKERS = """
import numpy as np, torch, tenter, torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset
x = torch.arange(280000.).reshape(700, 400)
class Large(Dataset):
    def __len__(self): return 6
    def __getitem__(self, i): return tenter.repeat_interleave(x + i, 2, 0), tenter.repeat_interleave(x.numpy() + i, 2, 0)
def put(queue, n, fetched):
    for i in range(n): queue.put(tenter.repeat_interleave(x + i, 2, 0))
    fetched.wait()
def want(i): return (x + i).repeat_interleave(2, 0)
if __name__ == "__main__":
    torch.set_num_threads(1)
    for workers in (0, 2):
        for i, (tensor, array) in enumerate(DataLoader(Large(), batch_size=None, num_workers=workers, timeout=60 if workers else 0)):
            assert torch.equal(tensor, want(i)) and torch.equal(torch.as_tensor(array), want(i))
            tenter.repeat_interleave(x * 0 - 1, 2, 0)
    queue = mp.get_context("fork").SimpleQueue()
    held = [tenter.repeat_interleave(x + i, 2, 0) for i in range(3)]
    for y in held: queue.put(y)                            # the parent's own results, moved to shared memory
    del y, held
    for _ in range(3): tenter.repeat_interleave(x * 0 - 1, 2, 0)
    assert all(torch.equal(queue.get(), want(i)) for i in range(3))
    process = mp.get_context("fork").Process(target=put, args=(queue, 3, fetched := mp.get_context("fork").Event()))
    process.start()
    assert all(torch.equal(queue.get(), want(i)) for i in range(3))
    fetched.set(); process.join()
    print("done")
"""


@needs_fork
def test_results_from_other_processes(tmp_path):
    file = tmp_path / "workers.py"
    file.write_text(WORKERS)
    done = subprocess.run([sys.executable, "-W", "ignore", file], capture_output=True, text=True, timeout=120)
    assert done.stdout == "done\n", done.stderr


def test_eight_threads_while_another_clears_and_limits():
    want, wrong, stop = {n: np.repeat(X[:300], n, 0) for n in (3, 4, 6, 9, 13)}, [], threading.Event()
    in_use = memory.stats().in_use, memory.stats().blocks_in_use

    def work(seed):
        rng, held = random.Random(seed), []
        for _ in range(60):
            n, x = rng.choice(list(want)), rng.choice([X[:300], T[:300]])
            held.append((n, tenter.repeat_interleave(x, n, 0)))
            if len(held) > 3:
                n, y = held.pop(rng.randrange(3))
                if not np.array_equal(y, want[n]):
                    wrong.append(n)
                if block_of(y):
                    poison(y)

    def disturb():
        while not stop.is_set():
            for n in (None, 0, 6 * PAGE, 256 << 20):
                memory.clear() if n is None else memory.limit(n)
                now = memory.stats()
                if not (0 <= now.idle <= now.limit and now.in_use >= now.blocks_in_use * LARGE):
                    wrong.append(now)

    other = threading.Thread(target=disturb)
    other.start()
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
    finally:
        stop.set()
        other.join()
    gc.collect()
    assert wrong == []
    assert (memory.stats().in_use, memory.stats().blocks_in_use) == in_use


SCARCE = """
import resource, numpy as np, torch, tenter
from tenter import memory
memory.limit(64 << 20)
tenter.set_num_threads(1)
x = np.ones((4, 1024, 1024), np.uint8)
kept = tenter.repeat_interleave(x, 4, 0)
for _ in range(2): tenter.repeat_interleave(x, 10, 0)                   # 40 MiB idle
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (30 << 20), -1))
before = memory.stats()
assert before.idle == 40 << 20 and before.blocks_in_use == 1
for t in (x, torch.from_numpy(x)):
    for _ in range(2):
        try: tenter.repeat_interleave(t, 100, 0)
        except MemoryError as error: print(error)
    now = memory.stats()
    assert now == before._replace(idle=0, idle_blocks=0), now              # idle memory went first
for t in (x, torch.from_numpy(x)):
    y = tenter.repeat_interleave(t, 15, 0)                                # fits where the idle memory was
    assert y.min() == y.max() == 1
    del y
assert kept.min() == kept.max() == 1
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
assert (tenter.repeat_interleave(x, 30, 0) == 1).all() and memory.stats().blocks_in_use == 1
"""


@needs_linux
def test_memory_that_cannot_be_had():
    said = prints(SCARCE).splitlines()
    assert len(said) == 4 and all(line.startswith("result: ") and "419430400 bytes" in line for line in said), said


# A thread whose first call comes when memory is short.
SCARCE_IN_A_THREAD = """
import resource, threading, numpy as np, tenter
tenter.memory.PAST_CACHES = 0
tenter.set_num_threads(1)
x = np.ones((1, 1024, 1024), np.float32)
for n in (1, 2): tenter.repeat_interleave(x, 2, 2)
def late():
    hog, used = [], int(open("/proc/self/statm").read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (used, -1))
    for n in (1 << 16, 1 << 15, 1 << 14, 1 << 13):
        try:
            while True: hog.append(bytearray(n))
        except MemoryError: pass
    try: said = int(tenter.repeat_interleave(x, 2, 2).sum())
    except MemoryError: said = "MemoryError"
    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
    print(said, int(tenter.repeat_interleave(x, 2, 2).sum()))
thread = threading.Thread(target=late); thread.start(); thread.join()
"""


@needs_linux
def test_a_thread_that_begins_when_memory_is_short():
    said = prints(SCARCE_IN_A_THREAD).split()
    assert said in (["2097152", "2097152"], ["MemoryError", "2097152"])


ENDS = """
import atexit, builtins, sys, threading, numpy as np, torch, tenter
x = torch.ones(700, 400)
tensor, array = tenter.repeat_interleave(x, 2, 0), tenter.repeat_interleave(x.numpy(), 2, 0)
class Node: pass
class Late:
    def __del__(self, x=x, repeat=tenter.repeat_interleave): repeat(x, 2, 0)
node = Node(); node.node, node.tensor, node.array = node, tensor, array
class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("held", tenter.repeat_interleave(x, 2, 0))
        self.weight = torch.nn.Parameter(tenter.repeat_interleave(x, 2, 0))
    def forward(self, y): return y + self.held * self.weight
module = Module()
scripted = torch.jit.script(Module())
frozen = torch.jit.freeze(torch.jit.script(Module().eval())); frozen(tensor)
traced = torch.jit.trace(lambda t: t + tenter.repeat_interleave(x, 2, 0), tensor)
leaf = x.clone().requires_grad_()
graph = (tenter.repeat_interleave(leaf, 2, 0) ** 2).sum()
leaf.register_hook(lambda g, y=tensor: g)
capsule = torch.utils.dlpack.to_dlpack(tenter.repeat_interleave(x, 2, 0))
future = torch.futures.Future(); future.set_result(tenter.repeat_interleave(x, 2, 0))
library = torch.library.Library("tenter_ends", "DEF"); library.define("f(Tensor x) -> Tensor")
library.impl("f", lambda t: t + tensor, "CPU")
builtins.held, sys.modules["held"], local = tenter.repeat_interleave(x, 2, 0), array, threading.local()
local.held, builtins.late, late = tenter.repeat_interleave(x, 2, 0), Late(), Late()
def wait():
    held = tenter.repeat_interleave(x, 2, 0); ready.set(); threading.Event().wait()
ready = threading.Event(); threading.Thread(target=wait, daemon=True).start(); ready.wait()
atexit.register(lambda: print(int(tenter.repeat_interleave(x, 2, 0).sum())))
"""


def test_the_end_of_a_process_that_holds_results(tmp_path):
    file = tmp_path / "ends.py"  # PyTorch scripts only what it can read
    file.write_text(ENDS)
    done = subprocess.run([sys.executable, "-W", "ignore", file], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "560000\n", "")
