"""The same values lie in fresh memory, in used memory and in ordinary memory, past the caches and not."""

from __future__ import annotations

import pytest
import torch

import tenter
from cases import values
from memory_helpers import T, X, as_array, block_of, garbage, poison, recycler  # noqa: F401
from tenter import _native, memory
from tenter._arrays import blocks


def everywhere(call):
    """The bytes of call's result in fresh, used and poisoned, and ordinary memory, at one and at two threads."""
    found = {}
    for threads in (1, 2):
        tenter.set_num_threads(threads)
        memory.set_limit(256 << 20)
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
        memory.set_limit(0)
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
    memory.set_limit(0)
    want = as_array(call()).tobytes()
    memory.set_limit(256 << 20)
    monkeypatch.setattr(_native.tuning, "stream_bytes", 0)
    streamed = []
    past = blocks.past_caches
    monkeypatch.setattr(blocks, "past_caches", lambda held, n: streamed.append(past(held, n)) or streamed[-1])
    for _ in range(2):  # until there is a block for each of a call's results
        poison(call())
    tenter.set_num_threads(2)
    reused = memory.stats().reused
    assert as_array(call()).tobytes() == want
    assert memory.stats().reused > reused  # what the core makes is streamed into blocks that were used
    assert all(streamed[-1:])  # what Python's code makes
