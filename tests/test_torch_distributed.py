"""DTensor, DDP and FSDP2 on two gloo ranks: equal to one process, sharded as promised.

The ranks are started once and run every check of `CHECKS` in order; each test reports what became of one.
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
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")
dist = pytest.importorskip("torch.distributed")
if not dist.is_available() or not dist.is_gloo_available():
    pytest.skip("PyTorch without gloo", allow_module_level=True)
pytest.importorskip("torch.distributed.tensor.experimental")

import torch.nn.functional as F  # noqa: E402
from torch.distributed.tensor import (  # noqa: E402
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
)
from torch.distributed.tensor.debug import CommDebugMode  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402
from torch.testing import assert_close  # noqa: E402

import tenter  # noqa: E402
import tenter.torch  # noqa: E402

RANKS, SECONDS = 2, 240
COUNTS = torch.tensor([1, 0, 2, 3])
# name -> check, run by every rank
CHECKS: dict[str, Callable[[], None]] = {}


def check(f):
    CHECKS[f.__name__] = f
    return f


@functools.cache
def mesh():
    return init_device_mesh("cpu", (RANKS,))


def sharded(x, *placements, requires_grad=False):
    return distribute_tensor(x, mesh(), placements).requires_grad_(requires_grad)


def need(holds, *found):
    """An assertion; plain ones show no values outside of the process that pytest rewrote."""
    if not holds:
        raise AssertionError(*found)


def same(got, want):
    need(isinstance(got, DTensor) == isinstance(want, DTensor), type(got), type(want))
    assert_close(got, want, rtol=0, atol=0)


# ---- DTensor: every operation, sharded along every dim


class Case(NamedTuple):
    f: Callable[[Any], Any]
    shape: tuple[int, ...]
    stays: dict[int, int]  # dims that may be sharded -> where they are in the result


def images(**kwargs):
    return Case(lambda x: tenter.interpolate(x, **kwargs), (3, 4, 5, 6), {0: 0, 1: 1})


# Odd lengths: shards of unequal length.
CASES = {
    "repeat": Case(lambda x: tenter.repeat(x, 1, 2, 1), (5, 4, 3), {0: 0, 2: 2}),
    "repeat_more_dims": Case(lambda x: tenter.repeat(x, 2, 1, 3), (5, 4), {0: 1}),
    "tile": Case(lambda x: tenter.tile(x, (2,)), (5, 4), {0: 0}),
    "expand": Case(lambda x: tenter.expand(x[:, None], -1, 3, -1), (5, 4), {0: 0, 1: 2}),
    "interleave_one_count": Case(lambda x: tenter.repeat_interleave(x, 2, 1), (5, 4, 3), {0: 0, 2: 2}),
    "interleave_counts": Case(lambda x: tenter.repeat_interleave(x, COUNTS, -2), (5, 4, 3), {0: 0, 2: 2}),
    "interleave_flat": Case(lambda x: tenter.repeat_interleave(x, 3), (4, 3), {}),
    "interleave_flat_counts": Case(lambda x: tenter.repeat_interleave(x, torch.arange(12) % 3), (4, 3), {}),
    "nearest": images(size=(7, 9)),
    "nearest_exact": images(scale_factor=1.7, mode="nearest-exact"),
    "bilinear": images(scale_factor=(1.7, 0.6), mode="bilinear"),
    "bicubic": images(size=(3, 9), mode="bicubic", antialias=True),
    "area": images(size=(3, 4), mode="area"),
    "lanczos": images(size=(3, 4), mode="lanczos", antialias=True),
    "linear": Case(lambda x: tenter.interpolate(x, 9, mode="linear"), (3, 4, 5), {0: 0, 1: 1}),
    "trilinear": Case(lambda x: tenter.interpolate(x, (2, 3, 9), mode="trilinear"), (3, 4, 5, 2, 3), {0: 0, 1: 1}),
}


def compare(case, x, placements, expected=None):
    """Values and gradients of two orders are those of one process; placements are as expected."""
    results = []
    for x in (distribute_tensor(x, mesh(), placements).requires_grad_(), x.clone().requires_grad_()):  # noqa: B020
        y = case.f(x)
        (g,) = torch.autograd.grad((y * y * y).sum(), x, create_graph=True)
        (gg,) = torch.autograd.grad((g * g).sum(), x)
        results.append((y, g, gg))
    for got, want in zip(*results):
        same(got.full_tensor(), want)
    if expected is not None:
        y, g, gg = results[0]
        need(y.placements == expected, y.placements, expected)
        need(g.placements == gg.placements == tuple(placements), g.placements, gg.placements)


def run_case(case):
    x = torch.randn(case.shape)
    compare(case, x, [Replicate()], (Replicate(),))
    for d in range(x.ndim):
        compare(case, x, [Shard(d)], (Shard(case.stays[d]),) if d in case.stays else None)
        if d in case.stays:
            with CommDebugMode() as communication:
                ours = sharded(x, Shard(d), requires_grad=True)
                already = communication.get_total_counts()
                y = case.f(ours)
                torch.autograd.grad(y, ours, torch.ones_like(y))
            need(communication.get_total_counts() == already, communication.get_comm_counts())
    ours, plain = sharded(x, Replicate(), requires_grad=True), x.clone().requires_grad_()
    v = torch.randn(case.f(x).shape)
    for d in range(v.ndim):  # gradients may come sharded along any dim
        (g,) = torch.autograd.grad(case.f(ours), ours, sharded(v, Shard(d)))
        same(g.full_tensor(), torch.autograd.grad(case.f(plain), plain, v)[0])


for name, case in CASES.items():
    CHECKS[name] = lambda case=case: run_case(case)


@check
def two_meshes():
    """A mesh of two dims: the second shards within the first's shards."""
    two = init_device_mesh("cpu", (1, RANKS))
    x = torch.randn(3, 4, 5)
    for placements, result in [
        ((Shard(0), Shard(2)), (Shard(0), Shard(2))),
        ((Shard(0), Shard(0)), (Shard(0), Shard(0))),
        ((Shard(2), Shard(1)), (Shard(2), Replicate())),
    ]:
        y = tenter.repeat_interleave(distribute_tensor(x, two, placements), COUNTS, 1)
        need(y.placements == result, placements, y.placements)
        same(y.full_tensor(), tenter.repeat_interleave(x, COUNTS, 1))


@check
def empty_shards():
    for n in (1, 0):
        compare(Case(lambda x: tenter.repeat_interleave(x, COUNTS, 1), (), {}), torch.randn(n, 4), [Shard(0)])
        compare(Case(lambda x: tenter.interpolate(x, 7, mode="linear"), (), {}), torch.randn(n, 2, 4), [Shard(0)])


@check
def other_dtypes():
    x = torch.arange(3 * 4 * 5, dtype=torch.uint8).reshape(3, 4, 5)
    for dtype in (torch.uint8, torch.bool, torch.int64, torch.bfloat16, torch.complex64):
        ours = sharded(x.to(dtype), Shard(0))
        same(tenter.repeat(ours, 1, 2, 1).full_tensor(), tenter.repeat(x.to(dtype), 1, 2, 1))
        if dtype != torch.bool:
            want = tenter.interpolate(x.to(dtype), 7, mode="linear")
            same(tenter.interpolate(ours, 7, mode="linear").full_tensor(), want)


@check
def counts_of_every_kind():
    x = torch.randn(4, 3)
    want = tenter.repeat_interleave(x, COUNTS, 0)
    halves = DTensor.from_local(COUNTS if dist.get_rank() == 0 else 0 * COUNTS, mesh(), [Partial()])
    given = [COUNTS, COUNTS.tolist(), COUNTS.numpy(), sharded(COUNTS, Shard(0)), sharded(COUNTS, Replicate()), halves]
    for counts in given:
        for output_size in (None, 6):
            y = tenter.repeat_interleave(sharded(x, Shard(1)), counts, 0, output_size=output_size)
            need(y.placements == (Shard(1),), y.placements)
            same(y.full_tensor(), want)
    for counts in given[3:]:
        plain = x.clone().requires_grad_()
        y = tenter.repeat_interleave(plain, counts, 0)
        same(y.detach(), want)
        y.sum().backward()
        same(plain.grad, COUNTS[:, None].float().expand(4, 3))


@check
def wrong_counts_are_refused():
    x = sharded(torch.randn(4, 3), Shard(1))
    for counts, words in [
        (-COUNTS, "not negative"),
        (COUNTS[:3], "4 counts"),
        (sharded(-COUNTS, Shard(0)), "negative"),
    ]:
        with pytest.raises(ValueError, match=words):
            tenter.repeat_interleave(x, counts, 0)


@check
def calls_are_told_apart_by_sizes():
    """PyTorch remembers what it once worked out for an operator."""
    x, image = torch.randn(4, 4), torch.randn(2, 2, 12)
    for k in (2, 3, 4):
        compare(Case(lambda x: tenter.repeat(x, k, 1), (), {}), x, [Shard(1)], (Shard(1),))
        compare(Case(lambda x: tenter.repeat_interleave(x, k, 0), (), {}), x, [Shard(1)], (Shard(1),))
        compare(Case(lambda x: tenter.repeat_interleave(x, k * COUNTS, 0), (), {}), x, [Shard(1)], (Shard(1),))
        compare(Case(lambda x: tenter.interpolate(x, 5 * k), (), {}), image, [Shard(0)], (Shard(0),))
        for mode in ("linear", "area"):  # one size from several
            shrink = Case(lambda x: tenter.interpolate(x, 5, mode=mode), (), {})
            compare(shrink, image[..., : 3 * k], [Shard(0)], (Shard(0),))


@check
def nearest_rounds_by_all_channels():
    """PyTorch rounds channels-last images of more than 3 channels in a way of their own."""
    x = torch.randn(2, 4, 2, 2).contiguous(memory_format=torch.channels_last)
    case = Case(lambda x: tenter.interpolate(x, (109, 47), mode="nearest-exact"), (), {})
    packed, dense = case.f(x), case.f(x.contiguous())
    need(not torch.equal(packed, dense), "the two ways agree here, so this shows nothing")
    for d in range(4):
        compare(case, x, [Shard(d)])
        compare(case, x.contiguous(), [Shard(d)])
    y = case.f(sharded(x, Shard(0)))
    need(y.placements == (Shard(0),), y.placements)


@check
def sums_over_ranks():
    """An operation's input is summed first; the gradient of a float is summed after it has shrunk."""
    x = torch.randn(4, 3)
    for dtype in (torch.float32, torch.int64):
        local = (x * 9).to(dtype) * (dist.get_rank() + 1)
        for reduce in ("sum", "max"):
            part = DTensor.from_local(local, mesh(), [Partial(reduce)])
            need(not any(p.is_partial() for p in tenter.repeat(part, 2, 1).placements))
            same(tenter.repeat(part, 2, 1).full_tensor(), tenter.repeat(part.full_tensor(), 2, 1))
    position, batch = torch.randn(3, 4), torch.randn(4, 6, 4)
    ours = sharded(position, Replicate(), requires_grad=True)
    (sharded(batch, Shard(0)) * tenter.repeat(ours, 2, 1)).sum().backward()
    need(ours.grad.placements == (Partial(),), ours.grad.placements)
    assert_close(ours.grad.full_tensor(), batch.sum(0).reshape(2, 3, 4).sum(0))
    whole = DTensor.from_local(torch.ones(6, 3, dtype=torch.int64), mesh(), [Partial()])
    y = torch.ops.tenter.repeat_adjoint.default(whole, [3, 3], [2, 1], False)
    need(not any(p.is_partial() for p in y.placements), y.placements)
    same(y.full_tensor(), torch.full((3, 3), 2 * RANKS))


@check
def compiled():
    def f(x, counts):
        y = tenter.repeat_interleave(x, counts, 1, output_size=6)
        y = tenter.interpolate(tenter.repeat(y, 1, 1, 2), 7, mode="linear")
        return y.sin()

    x = torch.randn(5, 4, 3)
    for counts in (COUNTS, sharded(COUNTS, Shard(0))):
        ours = sharded(x, Shard(0), requires_grad=True)
        y = torch.compile(f, backend="aot_eager", fullgraph=True)(ours, counts)
        (g,) = torch.autograd.grad(y.square().sum(), ours)
        plain = x.clone().requires_grad_()
        (want,) = torch.autograd.grad(f(plain, COUNTS).square().sum(), plain)
        need(y.placements == g.placements == (Shard(0),), y.placements, g.placements)
        assert_close(y.full_tensor(), f(x, COUNTS))
        assert_close(g.full_tensor(), want)


@check
def accelerated():
    x, image = sharded(torch.randn(5, 4), Shard(0)), sharded(torch.randn(3, 2, 4, 4), Shard(0))
    with tenter.torch.accelerate() as report:
        results = [x.repeat(1, 2), torch.repeat_interleave(x, COUNTS, 1), F.interpolate(image, (7, 9), mode="bicubic")]
    need(report.served == {"repeat": 1, "repeat_interleave": 1, "interpolate": 1}, report)
    need(all(y.placements == (Shard(0),) for y in results))
    x, image = x.full_tensor(), image.full_tensor()
    same(results[0].full_tensor(), x.repeat(1, 2))
    same(results[1].full_tensor(), x.repeat_interleave(COUNTS, 1))
    assert_close(results[2].full_tensor(), F.interpolate(image, (7, 9), mode="bicubic"))


@check
def example_of_the_page():
    page = pathlib.Path(__file__).parent.parent / "docs" / "distributed.md"
    code = page.read_text().split("```python\n")[1].split("```")[0]
    exec(compile(code, str(page), "exec"), {})


# ---- training steps


class Model(torch.nn.Module):
    """Grows features, stretches them by counts and adds a repeated position, with tenter's or PyTorch's functions."""

    def __init__(self, ours):
        super().__init__()
        torch.manual_seed(0)
        self.ours = ours
        self.conv = torch.nn.Conv2d(3, 6, 3, padding=1)
        self.linear = torch.nn.Linear(6, 8)
        self.position = torch.nn.Parameter(torch.randn(5, 8))

    def forward(self, x, counts):
        x = (tenter.interpolate if self.ours else F.interpolate)(self.conv(x), size=(4, 5), mode="bilinear")
        x = self.linear(x.flatten(2).transpose(1, 2))
        x = (tenter.repeat_interleave if self.ours else torch.repeat_interleave)(x, counts, 1, output_size=40)
        return x * (tenter.repeat(self.position, 8, 1) if self.ours else self.position.repeat(8, 1))


BATCH = torch.randn(4, 3, 3, 4, generator=torch.Generator().manual_seed(1))
# 20 positions made into 40
STRETCH = torch.arange(20) % 5


def step(model, batch, root=None):
    optimizer = torch.optim.SGD((root or model).parameters(), lr=0.1)
    model(batch, STRETCH).square().mean().backward()
    optimizer.step()
    return {name: p.detach() for name, p in (root or model).named_parameters()}


def own():
    return BATCH.chunk(RANKS)[dist.get_rank()]


def equals_one_process(got):
    start = dict(Model(False).named_parameters())
    for name, want in step(Model(False), BATCH).items():
        found = got[name].full_tensor() if isinstance(got[name], DTensor) else got[name]
        need((want - start[name]).abs().max() > 1e-3, "a step too small to show anything", name)
        assert_close(found, want, rtol=1e-5, atol=1e-6)


def fully_sharded(ours):
    from torch.distributed.fsdp import fully_shard

    model = Model(ours)
    for layer in (model.conv, model.linear, model):
        fully_shard(layer, mesh=mesh())
    need(all(p.placements == (Shard(0),) for p in model.parameters()))
    return model


@check
def ddp_step():
    model = Model(True)
    equals_one_process(step(DistributedDataParallel(model), own(), model))


@check
def ddp_step_accelerated():
    model = Model(False)
    with tenter.torch.accelerate() as report:
        got = step(DistributedDataParallel(model), own(), model)
    need(report.served == {"interpolate": 1, "repeat_interleave": 1, "repeat": 1}, report)
    equals_one_process(got)


@check
def ddp_step_compiled():
    model = Model(True)
    equals_one_process(step(torch.compile(DistributedDataParallel(model), backend="aot_eager"), own(), model))


@check
def fsdp_step():
    equals_one_process(step(fully_sharded(True), own()))


@check
def fsdp_step_accelerated():
    model = fully_sharded(False)
    with tenter.torch.accelerate() as report:
        got = step(model, own())
    need({"interpolate", "repeat_interleave", "repeat"} <= report.served.keys(), report)
    equals_one_process(got)


@check
def fsdp_step_compiled():
    model = fully_sharded(True)
    equals_one_process(step(torch.compile(model, backend="aot_eager"), own(), model))


# ---- the ranks


def rank_main(rank, folder):
    """Runs the checks and writes down what became of each. A check that only one rank fails ends them all: the ranks are
    no longer at the same place."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo0" if sys.platform == "darwin" else "lo"
    torch.set_num_threads(1)
    patience = datetime.timedelta(seconds=60)
    dist.init_process_group("gloo", f"file://{folder}/group", rank=rank, world_size=RANKS, timeout=patience)
    said = dist.FileStore(f"{folder}/said", RANKS)
    said.set_timeout(patience)
    with open(f"{folder}/{rank}", "w", buffering=1) as results:
        for name, run in CHECKS.items():
            error = ""
            torch.manual_seed(0)
            try:
                run()
            except Exception:
                error = traceback.format_exc()
            results.write(json.dumps([name, error]) + "\n")
            said.set(f"{name} {rank}", "failed" if error else "passed")
            if len({said.get(f"{name} {r}") for r in range(RANKS)}) > 1:
                os._exit(1)
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """For each rank, the error of each check that it came to, empty if it passed."""
    folder = tmp_path_factory.mktemp("ranks")
    context = multiprocessing.get_context("spawn")
    ranks = [context.Process(target=rank_main, args=(r, str(folder)), daemon=True) for r in range(RANKS)]
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


@pytest.mark.parametrize("name", CHECKS)
def test_two_ranks(name, results):
    for rank, errors in enumerate(results):
        assert name in errors, f"rank {rank} did not finish it"
        assert not errors[name], f"rank {rank}:\n{errors[name]}"


def test_distributed_is_imported_by_need_alone():
    code = """
import sys, torch, tenter
x = torch.ones(3, requires_grad=True)
tenter.repeat(x, 2).sum().backward()
torch.func.vmap(lambda x: tenter.repeat_interleave(x, 2))(torch.ones(2, 3))
assert "tenter.frontends.torch.library" in sys.modules
assert not [m for m in ("torch.distributed.tensor", "tenter.frontends.torch.sharding") if m in sys.modules]
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
