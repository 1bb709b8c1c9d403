"""The same graphs on a cluster of two worker processes, one of which is killed in the middle."""

from __future__ import annotations

import os
import signal
import time

import dask
import dask.array as da
import numpy as np
import pytest

import tenter
from cases import values

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    quiet = {
        "distributed.worker.use-file-locking": False, "distributed.scheduler.allowed-failures": 10,
        "distributed.diagnostics.nvml": False, "distributed.logging.distributed": "critical",
    }  # fmt: skip
    with dask.config.set(quiet), distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster, distributed.Client(cluster) as client:  # fmt: skip
        yield client


def slow(block: np.ndarray) -> np.ndarray:
    time.sleep(0.02)
    return block


@pytest.mark.slow
def test_a_cluster_gives_the_bits_of_the_whole(client) -> None:
    x = values((90, 80), "uint8")
    d = da.from_array(x, chunks=20)
    calls = [
        lambda x: tenter.resize(x, (33, 170), mode="cubic", antialias=True),
        lambda x: tenter.resize(x, (200, 31), box=[(-9, 70), (3, 99)], edge="constant", value=9),
        lambda x: tenter.repeat_interleave(x, np.arange(90) % 4, 0),
        lambda x: tenter.tile(x, (2, 3)),
    ]
    for got, f in zip(dask.compute(*[f(d) for f in calls]), calls):
        assert got.tobytes() == f(x).tobytes()


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_nothing(client) -> None:
    x = values((600, 64), "float32")
    with dask.config.set({"array.chunk-size": "1KiB"}):
        y = tenter.resize(
            da.from_array(x, chunks=(10, 64)).map_blocks(slow), (311, 128), mode="lanczos", antialias=True
        )
    assert y.npartitions > 30
    pids = client.run(os.getpid)
    running = client.persist(y)
    parts = distributed.futures_of(running)
    while sum(f.status == "finished" for f in parts) < 3:
        time.sleep(0.01)
    assert sum(f.status == "finished" for f in parts) < len(parts)
    os.kill(next(iter(pids.values())), signal.SIGKILL)
    got = running.compute()
    assert got.tobytes() == tenter.resize(x, (311, 128), mode="lanczos", antialias=True).tobytes()
    assert set(client.run(os.getpid).values()) != set(pids.values())
