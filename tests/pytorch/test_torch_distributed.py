"""DTensor, DDP and FSDP2 on two gloo ranks: equal to one process, sharded as promised.

The ranks are started once for the default tests and once for the slow ones, and run their checks of `CHECKS` in order;
each test reports what became of one.
"""

from __future__ import annotations

import datetime
import functools
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import traceback

import pytest

torch = pytest.importorskip("torch")
dist = pytest.importorskip("torch.distributed")
if not dist.is_available() or not dist.is_gloo_available():
    pytest.skip("PyTorch without gloo", allow_module_level=True)
pytest.importorskip("torch.distributed.tensor.experimental")

import dtensor_checks  # noqa: E402, F401
import training_checks  # noqa: E402, F401
from ranks import CHECKS, RANKS, SLOW  # noqa: E402
from sweeps import sampled  # noqa: E402

SECONDS = 240


def rank_main(rank, folder, names):
    """Runs the checks and writes down what became of each. A check that only one rank fails ends them all: the ranks are
    no longer at the same place."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo0" if sys.platform == "darwin" else "lo"
    torch.set_num_threads(1)
    patience = datetime.timedelta(seconds=60)
    dist.init_process_group("gloo", f"file://{folder}/group", rank=rank, world_size=RANKS, timeout=patience)
    said = dist.FileStore(f"{folder}/said", RANKS)
    said.set_timeout(patience)
    with open(f"{folder}/{rank}", "w", buffering=1) as results:
        for name in names:
            error = ""
            torch.manual_seed(0)
            try:
                CHECKS[name]()
            except Exception:
                error = traceback.format_exc()
            results.write(json.dumps([name, error]) + "\n")
            said.set(f"{name} {rank}", "failed" if error else "passed")
            if len({said.get(f"{name} {r}") for r in range(RANKS)}) > 1:
                os._exit(1)
    dist.destroy_process_group()


@functools.cache
def results(folder, slow):
    """For each rank, the error of each check that it came to, empty if it passed."""
    folder = folder / f"slow {slow}"
    folder.mkdir()
    names = [name for name in CHECKS if (name in SLOW) is slow]
    # One process imports what the ranks need, and is forked before it has threads.
    way = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(way)
    if way == "forkserver":
        context.set_forkserver_preload([__name__])
    ranks = [context.Process(target=rank_main, args=(r, str(folder), names), daemon=True) for r in range(RANKS)]
    for process in ranks:
        process.start()
    deadline = datetime.datetime.now() + datetime.timedelta(seconds=SECONDS)
    for process in ranks:
        process.join(max(0.0, (deadline - datetime.datetime.now()).total_seconds()))
    for process in ranks:
        process.kill()
        process.join()
    files = [pathlib.Path(folder, str(r)) for r in range(RANKS)]
    return [dict(map(json.loads, f.read_text().splitlines())) if f.exists() else {} for f in files]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ranks")


@pytest.mark.parametrize("name", sampled(CHECKS, len(CHECKS), always=lambda name: name not in SLOW))
def test_two_ranks(name, folder):
    for rank, errors in enumerate(results(folder, name in SLOW)):
        assert name in errors, f"rank {rank} did not finish it"
        assert not errors[name], f"rank {rank}:\n{errors[name]}"


@pytest.mark.slow
def test_distributed_is_imported_by_need_alone():
    code = """
import sys, torch, tenter
x = torch.ones(3, requires_grad=True)
tenter.repeat(x, 2).sum().backward()
torch.func.vmap(lambda x: tenter.repeat_interleave(x, 2))(torch.ones(2, 3))
assert "tenter._torch.dispatch" in sys.modules
assert not [m for m in ("torch.distributed.tensor", "tenter._torch.sharding") if m in sys.modules]
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
