"""Which blocks the recycler keeps, how many, and what its numbers say."""

from __future__ import annotations

import ctypes
import gc
import random

import numpy as np
import pytest
import torch

import tenter
from memory_helpers import (
    LARGE,
    PAGE,
    T,
    X,
    alignment,
    block_of,
    garbage,  # noqa: F401
    needs_linux,
    pages,
    poison,
    recycler,  # noqa: F401
)
from tenter import memory


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
        (lambda: make("d", 1), 8, 2, 2, 2, 1, 4),  # a block of 4 would be more than twice as large
        (lambda: drop("d"), 9, 3, 1, 1, 1, 4),
        (lambda: make("e", 4), 5, 2, 5, 2, 2, 4),
        (lambda: memory.clear(), 0, 0, 5, 2, 2, 4),
        (lambda: memory.set_limit(4 * PAGE), 0, 0, 5, 2, 2, 4),
        (lambda: make("f", 5), 0, 0, 10, 3, 2, 5),
        (lambda: drop("f"), 0, 0, 5, 2, 2, 5),  # larger than the limit
        (lambda: drop("e"), 4, 1, 1, 1, 2, 5),
        (lambda: drop("a"), 1, 1, 0, 0, 2, 5),  # the other was used less recently
        (lambda: memory.set_limit(PAGE - 1), 0, 0, 0, 0, 2, 5),
        (lambda: make("g", 1), 0, 0, 1, 1, 2, 6),
        (lambda: memory.set_limit(0), 0, 0, 1, 1, 2, 6),
        (lambda: drop("g"), 0, 0, 0, 0, 2, 6),
        (lambda: make("h", 1), 0, 0, 0, 0, 2, 6),  # ordinary memory
        (lambda: memory.set_limit(64 * PAGE), 0, 0, 0, 0, 2, 6),
        (lambda: drop("h"), 0, 0, 0, 0, 2, 6),
    ]):  # fmt: skip
        act()
        now = memory.stats()
        got = (now.idle_bytes, now.idle_blocks, now.used_bytes - made.used_bytes, now.used_blocks - made.used_blocks)
        got += (now.reused - made.reused, now.fresh - made.fresh)
        assert got == (want[0] * PAGE, want[1], want[2] * PAGE, *want[3:]), (k, want)
        assert now.limit == memory.get_limit()


def test_least_recently_used_goes_first():
    unlike = (1, 3, 7, 15, 20)  # so that none is used for another

    def sizes_kept(limit, order):
        memory.clear()
        memory.set_limit(64 * PAGE)
        held = {n: pages(n) for n in unlike}
        for n in order:
            del held[n]
        memory.set_limit(limit * PAGE)
        assert memory.stats().idle_bytes <= limit * PAGE
        reused, kept = memory.stats().reused, set()
        for n in unlike:
            held[n] = pages(n)
            if memory.stats().reused > reused:
                reused = memory.stats().reused
                kept.add(n)
        return kept

    assert sizes_kept(64, unlike) == {1, 3, 7, 15, 20}
    assert sizes_kept(45, unlike) == {3, 7, 15, 20}
    assert sizes_kept(24, unlike) == {20}
    assert sizes_kept(24, (20, 15, 7, 3, 1)) == {1, 3, 7}
    assert sizes_kept(24, (15, 20, 3, 1, 7)) == {1, 3, 7}
    assert sizes_kept(1, (1, 20, 3, 15, 7)) == set()
    assert sizes_kept(0, unlike) == set()


def test_of_large_blocks_the_one_that_wastes_least_is_taken_and_of_equals_the_last_one_used():
    held = [pages(n) for n in (10, 8, 8, 9)]
    addresses = [block_of(y)[0] for y in held]
    for k in (3, 1, 2, 0):
        held[k] = None
    assert block_of(a := pages(8))[0] == addresses[2]
    assert block_of(b := pages(8))[0] == addresses[1]
    assert block_of(c := pages(8))[0] == addresses[3]
    assert block_of(d := pages(8))[0] == addresses[0]  # 10 of 8: a quarter is wasted, and no more
    assert block_of(e := pages(8))[0] not in addresses
    assert memory.stats().idle_bytes == 0
    assert all((y == 0).all() for y in (a, b, c, d, e))


@needs_linux
def test_a_block_that_is_a_little_too_small_grows():
    made = memory.stats()

    def made_of(n):
        y = pages(n, n)
        assert (y == n).all() and y.ctypes.data % PAGE == 0
        return y

    # pages of results one after the other, and of the block that is idle then
    for n, idle in [(8, 8), (10, 10), (12, 12), (10, 12)]:
        made_of(n)
        now = memory.stats()
        assert (now.idle_bytes, now.idle_blocks, now.fresh - made.fresh) == (idle * PAGE, 1, 1), n
    made_of(8)  # of 12 it would waste a third
    assert (memory.stats().idle_blocks, memory.stats().fresh - made.fresh) == (2, 2)
    held = [made_of(9), made_of(12)]  # the one that is too small grows, the other is taken as it is
    now = memory.stats()
    assert (now.idle_bytes, now.idle_blocks, now.used_bytes - made.used_bytes, now.fresh - made.fresh) == (
        0,
        0,
        21 * PAGE,
        2,
    )
    assert [int(y.min()) for y in held] == [int(y.max()) for y in held] == [9, 12]


def test_of_small_blocks_the_last_one_used_is_taken():
    """Most of it is in cache. It is at most twice as large as the result."""
    held = [pages(n) for n in (5, 4, 5, 9)]
    addresses = [block_of(y)[0] for y in held]
    for k in (1, 0, 2, 3):
        held[k] = None
    for _ in range(3):
        assert block_of(pages(4))[0] == addresses[2]
    assert block_of(pages(6))[0] == addresses[3]


def test_the_last_one_used_may_be_twice_as_large():
    def kib(n):
        return tenter.repeat_interleave(np.zeros(n << 9, np.uint8), 2)

    held = [kib(n) for n in (1024, 512, 640)]
    addresses = [block_of(y)[0] for y in held]
    for k in (2, 1, 0):
        held[k] = None
    again = [kib(n) for n in (512, 448, 320)]
    assert [block_of(y)[0] for y in again] == addresses
    del again[0]
    assert block_of(kib(511))[0] == addresses[0]
    again.append(kib(448))
    assert block_of(again[-1])[0] not in addresses
    assert not any(y.any() for y in again)


@needs_linux
def test_small_blocks_share_mappings():
    """The system has a limit to the number of separate ones."""

    def mappings():
        with open("/proc/self/maps") as file:
            return len(file.readlines())

    before = mappings()
    held = [tenter.repeat_interleave(np.zeros(LARGE // 2, np.uint8), 2) for _ in range(300)]
    assert all(block_of(y) for y in held)
    assert mappings() - before < 100


def test_idle_memory_never_passes_the_limit():
    rng, held = random.Random(0), []
    for _ in range(400):
        act = rng.random()
        if act < 0.5:
            held.append(pages(rng.choice([1, 1, 2, 3])))
        elif held and act < 0.95:
            held.pop(rng.randrange(len(held)))
        else:
            memory.set_limit(rng.randrange(0, 12 * PAGE))
        if len(held) > 8:
            held.clear()
        now = memory.stats()
        assert 0 <= now.idle_bytes <= now.limit and now.idle_blocks <= now.idle_bytes // PAGE
        assert (now.idle_bytes == 0) == (now.idle_blocks == 0)


@pytest.mark.parametrize(
    "act",
    [
        memory.clear,
        lambda: memory.set_limit(0),
        lambda: memory.set_limit(PAGE),
        lambda: memory.set_limit(1),
        gc.collect,
    ],
)
def test_results_that_are_held_stay_as_they_are(act):
    arrays, tensors = [pages(1, k) for k in range(1, 4)], [tenter.repeat_interleave(T + k, 2, 0) for k in range(3)]
    del arrays[1], tensors[1]
    act()
    poison_all = [pages(1, 255) for _ in range(4)]
    assert (arrays[0] == 1).all() and (arrays[1] == 3).all() and len(poison_all) == 4
    want = torch.from_numpy(np.repeat(X, 2, 0))
    assert torch.equal(tensors[0], want) and torch.equal(tensors[1], want + 2)
    assert memory.stats().idle_bytes <= memory.get_limit()


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
                assert held[0] % alignment(n) == 0 and memory.stats().used_bytes >= held[1] >= n
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
        memory.set_limit(bad)
    assert says in str(raised.value) and "in memory.set_limit(" in str(raised.value)
    assert memory.stats() == before


def test_limits_that_are_taken():
    for n in (0, 1, PAGE, 2**63 - 1, np.int64(5), np.uint8(200), torch.tensor(7)):
        memory.set_limit(n)
        assert int(n) == memory.get_limit() == memory.stats().limit
