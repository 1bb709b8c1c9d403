"""A step of training under DDP and FSDP2 is the step of one process."""

from __future__ import annotations

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.tensor import DTensor, Shard
from torch.nn.parallel import DistributedDataParallel
from torch.testing import assert_close

import tenter
import tenter.torch
from ranks import RANKS, check, mesh, need, slow_check


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
    need(report.computed == {"interpolate": 1, "repeat_interleave": 1, "repeat": 1}, report)
    equals_one_process(got)


@slow_check
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
    need({"interpolate", "repeat_interleave", "repeat"} <= report.computed.keys(), report)
    equals_one_process(got)


@slow_check
def fsdp_step_compiled():
    model = fully_sharded(True)
    equals_one_process(step(torch.compile(model, backend="aot_eager"), own(), model))
