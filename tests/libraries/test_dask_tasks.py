"""Tasks of Dask arrays: what they read and hold, that they can be sent to another process, and their threads."""

from __future__ import annotations

import cloudpickle
import dask.array as da
import numpy as np
import pytest

import tenter
from dask_helpers import computed, numbers, same_bits, short_chunks  # noqa: F401
from tenter._arrays.thread_count import one_thread, thread_count
from tenter._parts.part import Part
from tenter.filters import Filter
from tenter.maps import Copy


def test_a_chunk_computes_what_it_reads_alone() -> None:
    read = []

    def block(at, block_id):
        read.append(block_id[0])
        return at

    d = da.map_blocks(block, da.arange(100.0, chunks=10), dtype=float, meta=np.empty(0))
    y = tenter.resize(d, 50, mode="linear", antialias=True)
    assert not read
    computed(y[10:20])
    assert sorted(set(read)) == [1, 2, 3, 4]


def test_tasks_are_small_and_can_be_sent() -> None:
    """Of a long axis a task holds no table, of counts the chunk's own; users' filters go along."""
    long = da.zeros(10**8, chunks=10**7)
    hat = Filter(lambda v: np.maximum(0, 1 - np.abs(v)), 1.0)
    made = {
        3000: (tenter.resize(long, 3 * 10**7, mode="lanczos"), tenter.resize(long, 3 * 10**7, mode="nearest")),
        30_000: (tenter.repeat_interleave(da.zeros(10**5, chunks=1000), np.arange(10**5) % 3, 0),),
        20_000: (tenter.resize(da.zeros((50, 60), chunks=20), (30, 200), mode=hat),),
    }
    for most, arrays in made.items():
        for y in arrays:
            tasks = [task for key, task in dict(y.dask).items() if key[0] == y.name]
            assert max(len(cloudpickle.dumps(task)) for task in tasks) < most
    for f in (lambda x: tenter.resize(x, (30, 200), mode=hat), lambda x: tenter.resize(x, (70, 33), edge="wrap"),
              lambda x: tenter.repeat_interleave(x, np.arange(50) % 4, 0), lambda x: Copy.repeats([3, 2] * 25).T.T.apply(x, 0),
              lambda x: tenter.axis_map(50, 20, "lanczos").apply(x, 0), lambda x: tenter.tile(x, 2),
              lambda x: tenter.resize(x, (9, 9), box=[(-4, 60), (5, 50)], edge="constant", value=2)):  # fmt: skip
        x = numbers((50, 60), "float32")
        y = f(da.from_array(x, chunks=20))
        sent = {key: cloudpickle.loads(cloudpickle.dumps(task)) for key, task in dict(y.dask).items()}
        same_bits(da.Array(sent, y.name, y.chunks, dtype=y.dtype), f(x))


def test_a_piece_of_another_shape_than_promised_is_refused() -> None:
    d = da.from_array(np.zeros((8, 8)), chunks=4).map_blocks(lambda b: b[:2], dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match=r"x: expected a piece of shape .*, as its chunks say, got one of shape"):
        computed(tenter.resize(d, (8, 9)))


# ---- threads


def test_inside_a_task_the_kernels_run_on_one_thread(monkeypatch) -> None:
    seen = []
    applied = Part._applied
    monkeypatch.setattr(Part, "_applied", lambda *args: (seen.append(tenter.get_num_threads()), applied(*args))[1])
    tenter.set_num_threads(7)
    try:
        y = tenter.resize(da.zeros((40, 40), chunks=20), (60, 60))
        y.compute(scheduler="threads", num_workers=3)
        assert seen and set(seen) == {1} and tenter.get_num_threads() == 7
    finally:
        tenter.set_num_threads(None)


def test_one_thread_holds_in_its_thread_alone_and_until_it_ends() -> None:
    import threading

    tenter.set_num_threads(5)
    found = []
    try:
        with pytest.raises(KeyError), one_thread():
            other = threading.Thread(target=lambda: found.append(thread_count()))
            other.start()
            other.join()
            with one_thread():
                pass
            found.append(thread_count())
            raise KeyError
        assert found == [5, 1] and thread_count() == 5
    finally:
        tenter.set_num_threads(None)
