"""Ragged helpers with lengths and values on a device: as on the host, without waiting where the total is known."""

from __future__ import annotations

import pytest
import torch
from cuda_helpers import some
from on_host import close, on_host, values
from torch.fx.experimental.proxy_tensor import make_fx

import tenter.torch
from tenter import ragged
from tenter._torch import traced_segments

pytestmark = pytest.mark.gpu

LENGTHS = [2, 0, 3, 1, 0, 70, 4]
SIDES = ("left", "right")
TOTAL, MOST = sum(LENGTHS), max(LENGTHS)
WAYS = {
    "offsets": lambda n, x: ragged.offsets(n),
    "row_ids": lambda n, x: ragged.row_ids(n, output_size=TOTAL),
    "positions": lambda n, x: ragged.positions(n, output_size=TOTAL),
    "ranges": lambda n, x: ragged.ranges(n * 3, n, 2, output_size=TOTAL),
    "mask": lambda n, x: ragged.mask(n, 72),
    "lengths": lambda n, x: ragged.lengths(ragged.offsets(n)),
    "lengths_from_row_ids": lambda n, x: (
        ragged.Plan.from_row_ids(ragged.row_ids(n, output_size=TOTAL), len(LENGTHS)).lengths
    ),
    "mask on the left": lambda n, x: ragged.mask(n, 72, padding_side="left"),
    "lengths_from_mask": lambda n, x: ragged.Plan.from_mask(ragged.mask(n, 72), padding_side="right").lengths,
    "lengths_from_left_mask": lambda n, x: (
        ragged.Plan.from_mask(ragged.mask(n, 72, padding_side="left").long(), padding_side="left").lengths
    ),
    "spans_to_mask": lambda n, x: ragged.spans_to_mask(n, n + 2, 80),
    "sum": lambda n, x: ragged.segment_sum(x, n),
    "mean": lambda n, x: ragged.segment_mean(x, n),
    "max": lambda n, x: ragged.segment_max(x, n),
    "min": lambda n, x: ragged.segment_min(x, n),
    "softmax": lambda n, x: ragged.segment_softmax(x, n),
    "pad": lambda n, x: ragged.pad(x, n, 71, value=2.5),
    "unpad": lambda n, x: ragged.unpad(x[: len(LENGTHS), None].expand(-1, 72, -1), n, output_size=TOTAL),
    "pad on the left": lambda n, x: ragged.pad(x, n, 71, value=2.5, padding_side="left"),
    "unpad from the left": lambda n, x: ragged.unpad(
        x[: len(LENGTHS), None].expand(-1, 72, -1), n, output_size=TOTAL, padding_side="left"
    ),
    "repeat": lambda n, x: ragged.Plan(n, output_size=TOTAL).repeat(x[: len(LENGTHS)]),
    "repeat_padded": lambda n, x: ragged.repeat_padded(x[None, : len(LENGTHS)], n[None], 90)[0],
}


BY_DTYPE = [(name, dtype) for name in WAYS for dtype in (torch.int64, torch.int32)]


@pytest.mark.parametrize("case", some(BY_DTYPE, 1, str, lambda c: c[0] in ("offsets", "mean", "pad", "softmax")))
def test_as_on_the_host(case, on):
    name, dtype = case
    lengths, x = torch.tensor(LENGTHS, dtype=dtype), values((TOTAL, 3), torch.float32)
    with on_host():
        here = x.clone().requires_grad_()
        want = WAYS[name](lengths, here)
    moved = x.to(on).clone().requires_grad_()
    got = WAYS[name](lengths.to(on), moved)
    assert got.dtype == want.dtype and got.shape == want.shape
    close(got, want, scale=30, bits=not want.dtype.is_floating_point)
    if want.requires_grad:
        g = values(tuple(want.shape), torch.float32, 1)
        with on_host():
            (wanted,) = torch.autograd.grad(want, here, g)
        (gradient,) = torch.autograd.grad(got, moved, g.to(on))
        close(gradient, wanted, scale=60)


@pytest.mark.parametrize("name", WAYS)
def test_nothing_waits_where_total_and_max_len_are_given(name, on, monkeypatch):
    lengths, x = torch.tensor(LENGTHS, device=on), values((TOTAL, 3), torch.float32).to(on)
    WAYS[name](lengths, x)  # compiles kernels
    monkeypatch.setattr(traced_segments, "_value", lambda *args: pytest.fail("waits for a device"))
    if on == "cpu":  # whose interpreter reads values
        WAYS[name](lengths, x)
        return
    torch.cuda.set_sync_debug_mode("error")
    try:
        WAYS[name](lengths, x)
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_lengths_of_the_host_for_values_on_a_device(on):
    x = values((TOTAL, 3), torch.float32)
    with on_host():
        plan = ragged.Plan(LENGTHS)
        want = [plan.sum(x), plan.max(x), plan.repeat(plan.mean(x)), plan.pad(x), plan.unpad(plan.pad(x))]
    moved = x.to(on)
    for _ in range(2):
        got = [
            plan.sum(moved),
            plan.max(moved),
            plan.repeat(plan.mean(moved)),
            plan.pad(moved),
            plan.unpad(plan.pad(moved)),
        ]
        for a, b in zip(got, want):
            close(a, b, scale=30)


def test_totals_that_a_device_alone_knows_are_waited_for(on):
    lengths = torch.tensor(LENGTHS, device=on)
    plan = ragged.Plan(lengths)
    assert (plan.n, plan.output_size, plan.max_len) == (len(LENGTHS), TOTAL, MOST)
    assert plan.mask().shape == (len(LENGTHS), MOST) and plan.row_ids.shape == (TOTAL,)
    assert ragged.Plan.from_positions(ragged.positions(lengths)).lengths.tolist() == [n for n in LENGTHS if n]


def test_the_side_of_a_mask_that_a_device_alone_knows_is_waited_for(on):
    x = values((TOTAL, 3), torch.float32)
    for side in SIDES:
        mask = ragged.mask(LENGTHS, padding_side=side)
        plan = ragged.Plan.from_mask(torch.from_numpy(mask).long().to(on))
        assert plan.padding_side == side and plan.offsets.device.type == torch.device(on).type
        close(plan.pad(x.to(on)), torch.from_numpy(ragged.pad(x.numpy(), LENGTHS, padding_side=side)))
        close(plan.unpad(plan.pad(x.to(on))), x)
    with pytest.raises(ValueError, match="got a True after a False at position 2 of row 0"):
        ragged.Plan.from_mask(torch.tensor([[1, 0, 1]], device=on))


def test_a_plan_moves_to_a_device_and_back(on):
    x = values((TOTAL, 3), torch.float32).to(on)
    for dtype in (torch.int64, torch.int32):
        mask = ragged.mask(LENGTHS, padding_side="left")
        with on_host():
            here = ragged.Plan.from_mask(torch.from_numpy(mask).to(dtype))
        there = here.to(on)
        assert there.to(on) is there and (there.n, there.output_size, there.max_len) == (len(LENGTHS), TOTAL, MOST)
        for name in ("lengths", "offsets", "row_ids", "positions"):
            found = getattr(there, name)
            assert found.device.type == torch.device(on).type and found.dtype == dtype
            assert found.tolist() == getattr(here, name).tolist()
        assert torch.equal(there.pad(x), here.pad(x)) and there.to("cpu").mask().tolist() == mask.tolist()


@pytest.mark.parametrize("trace", ["make_fx", "vmap"])
def test_the_side_of_a_mask_is_found_in_the_graph_and_what_is_no_mask_is_raised_later(trace, on, monkeypatch):
    """The host verifies nothing, as it does not for tensors on a device."""
    monkeypatch.setattr(traced_segments, "verifies", lambda values: False)
    monkeypatch.setattr(traced_segments, "verified", lambda name, values, *rest: values)
    x = values((6, 3), torch.float32).to(on)

    def padded(mask):
        plan = ragged.Plan.from_mask(mask)
        return plan.pad(x, 5, value=2.5), plan.mask(4)

    masks = {side: torch.from_numpy(ragged.mask([2, 4, 0], padding_side=side)).long().to(on) for side in SIDES}
    given = masks["right"]
    call = make_fx(padded)(given) if trace == "make_fx" else lambda m: [y[0] for y in torch.vmap(padded)(m[None])]
    for side, mask in masks.items():
        want = torch.from_numpy(ragged.pad(x.cpu().numpy(), [2, 4, 0], 5, value=2.5, padding_side=side))
        close(call(mask)[0], want)
        assert torch.equal(call(mask)[1], mask > 0)
    wrong = torch.tensor([[0, 1, 1, 1], [1, 1, 1, 0], [0, 0, 0, 0]], device=on)
    expected = "mask: expected 0 and 1, with padding at one side, the same for all rows, got another row 1, as"
    with pytest.raises(tenter.torch.DeferredError, match=expected):
        call(wrong)
        tenter.torch.synchronize()


@pytest.mark.parametrize("wrong", ["negative", "total", "longer than max_len"])
def test_what_a_device_finds_wrong_is_raised_later(wrong, on):
    lengths = torch.tensor([-1, 3, 4] if wrong == "negative" else [2, 3, 1], device=on)
    x = values((7 if wrong == "total" else 6, 2), torch.float32).to(on)
    with pytest.raises(tenter.torch.DeferredError):
        if wrong == "longer than max_len":
            ragged.pad(x, lengths, 2)
        else:
            ragged.segment_sum(x, lengths)
        tenter.torch.synchronize()
