"""Memory of large results: used again once nobody looks at it and never before, no more kept than was said."""

from __future__ import annotations

import copy
import ctypes
import gc
import io
import pickle
import random

import numpy as np
import pytest
import torch

import tenter
from memory_helpers import LARGE, PAGE, T, X, as_array, block_of, garbage, pages, poison, recycler  # noqa: F401
from tenter import memory

# ---- who looks at a block keeps it


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
