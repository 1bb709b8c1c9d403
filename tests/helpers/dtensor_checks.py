"""DTensors: every operation, sharded along every dim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor, init_device_mesh
from torch.distributed.tensor.debug import CommDebugMode
from torch.testing import assert_close

import tenter
import tenter.torch
from ranks import CHECKS, RANKS, SLOW, check, mesh, need, same, sharded, slow_check
from roots import DOCS

COUNTS = torch.tensor([1, 0, 2, 3])


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
    "resize": Case(lambda x: tenter.resize(x, (7, 4), axes=(0, 2), mode="cubic", antialias=True), (5, 4, 6), {1: 1}),
    "resize_beyond": Case(lambda x: tenter.resize(x, 7, axes=1, box=[(6, -2)], edge="wrap"), (5, 4, 6), {0: 0, 2: 2}),
    "resize_constant": Case(
        lambda x: tenter.resize(x, 7, axes=1, box=[(-2, 6)], edge="constant", value=2), (5, 4, 6), {0: 0, 2: 2}
    ),
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
# Sharded by the same rule as a mode or a repeat among the default tests.
SLOW |= {
    "area",
    "bicubic",
    "lanczos",
    "linear",
    "nearest_exact",
    "repeat_more_dims",
    "resize_beyond",
    "tile",
    "trilinear",
}


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
def unequal_shards_flattened():
    """PyTorch's own reshape refuses them, so they are gathered first."""
    x, g = torch.randn(5, 3), torch.randn(15)
    for placement in (Shard(0), Shard(1)):
        ours = sharded(x, placement, requires_grad=True)
        y = tenter.repeat_interleave(ours, torch.arange(15) % 3)
        same(y.full_tensor(), tenter.repeat_interleave(x, torch.arange(15) % 3))
        y.backward(sharded(g, Replicate()))
        need(ours.grad.placements == (placement,), ours.grad.placements)
        plain = x.clone().requires_grad_()
        tenter.repeat_interleave(plain, torch.arange(15) % 3).backward(g)
        same(ours.grad.full_tensor(), plain.grad)


@check
def dim_of_length_0():
    x = sharded(torch.randn(0, 4), Shard(0))
    need(tenter.repeat(x, 1, 2).shape == (0, 8) and tenter.tile(x, (2,)).shape == (0, 8))


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
        (-COUNTS, "non-negative"),
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


@slow_check
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
    need(report.computed == {"repeat": 1, "repeat_interleave": 1, "interpolate": 1}, report)
    need(all(y.placements == (Shard(0),) for y in results))
    x, image = x.full_tensor(), image.full_tensor()
    same(results[0].full_tensor(), x.repeat(1, 2))
    same(results[1].full_tensor(), x.repeat_interleave(COUNTS, 1))
    assert_close(results[2].full_tensor(), F.interpolate(image, (7, 9), mode="bicubic"))


@check
def example_of_the_page():
    page = DOCS / "distributed.md"
    code = page.read_text().split("## DTensor")[1].split("```python\n")[1].split("```")[0]
    exec(compile(code, str(page), "exec"), {})
