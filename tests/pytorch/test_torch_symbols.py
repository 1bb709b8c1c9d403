"""Ints that change from call to call, which PyTorch's compiler makes symbols of, in every argument that takes a number:
one graph or one for each, without a break, and the eager results."""

from __future__ import annotations

import pytest
import torch

import tenter
from sweeps import sampled

X = torch.arange(240.0).reshape(2, 3, 5, 8)
LENGTHS = torch.tensor([2, 1, 2])
CALLS = {
    "resize, box": lambda x, a: tenter.resize(x, 5, axes=-1, box=[(a, a + 3)]),
    "resize, axes": lambda x, a: tenter.resize(x, 6, axes=a),
    "interpolate, size": lambda x, a: tenter.interpolate(x, (a, a + 2)),
    "repeat_interleave, counts": lambda x, a: tenter.repeat_interleave(x, [a, 1, a + 1], 1),
    "repeat_interleave, dim": lambda x, a: tenter.repeat_interleave(x, 2, a),
    "repeat, sizes": lambda x, a: tenter.repeat(x, a, 1, 1, a + 1),
    "resize, size": lambda x, a: tenter.resize(x, a, axes=-1),
    "resize, sizes": lambda x, a: tenter.resize(x, (a, a + 1), axes=(-2, -1), mode="cubic"),
    "resize, scale": lambda x, a: tenter.resize(x, scale=a, axes=-1),
    "resize, scales": lambda x, a: tenter.resize(x, scale=[a, a + 1], axes=(-2, -1)),
    "resize, scale of a product": lambda x, a: tenter.resize(x, scale=a * 0.5, axes=-1),
    "resize, tuples of a box": lambda x, a: tenter.resize(x, 5, axes=-1, box=((a, a + 3),)),
    "resize, box of floats": lambda x, a: tenter.resize(x, 5, axes=-1, box=[(a + 0.5, a + 3.25)]),
    "resize, box by the shape": lambda x, a: tenter.resize(x, 5, axes=-1, box=[(a, x.shape[-1] + a)]),
    "resize, reversed box": lambda x, a: tenter.resize(x, 5, axes=-1, box=[(a + 3, a)]),
    "resize, axes from the end": lambda x, a: tenter.resize(x, 6, axes=-a),
    "resize, value": lambda x, a: tenter.resize(x, 9, axes=-1, edge="constant", value=a, box=[(-2, 9)]),
    "interpolate, one size": lambda x, a: tenter.interpolate(x, a, mode="bilinear"),
    "interpolate, factor": lambda x, a: tenter.interpolate(x, scale_factor=a),
    "interpolate, factors": lambda x, a: tenter.interpolate(x, scale_factor=(a, a + 1), mode="bicubic"),
    "interpolate, recomputed": lambda x, a: tenter.interpolate(x, scale_factor=a, recompute_scale_factor=True),
    "repeat_interleave, a count": lambda x, a: tenter.repeat_interleave(x, a, 1),
    "repeat_interleave, flat": lambda x, a: tenter.repeat_interleave(x, a),
    "repeat_interleave, size": lambda x, a: tenter.repeat_interleave(x, LENGTHS + a, 1, output_size=5 + 3 * a),
    "repeat, a tuple": lambda x, a: tenter.repeat(x, (a, 1, 1, a + 1)),
    "tile": lambda x, a: tenter.tile(x, a),
    "tile, a tuple": lambda x, a: tenter.tile(x, (a, 2)),
    "expand": lambda x, a: tenter.expand(x, a, -1, -1, -1, -1),
    "image": lambda x, a: tenter.image.resize(x[0].permute(1, 2, 0).contiguous(), (a, a + 1)),
    "ragged, total": lambda x, a: tenter.ragged.row_ids(LENGTHS + a, output_size=5 + 3 * a),
    "ragged, max_len": lambda x, a: tenter.ragged.pad(x[0, 0], LENGTHS, max_len=a + 1),
    "ragged, value": lambda x, a: tenter.ragged.pad(x[0, 0], LENGTHS, value=a),
    "ragged, rows": lambda x, a: tenter.ragged.Plan.from_row_ids(torch.tensor([0, 0, 1]), a + 2).lengths,
    "ragged, steps": lambda x, a: tenter.ragged.ranges(LENGTHS, LENGTHS, a),
    "ragged, dim": lambda x, a: tenter.ragged.segment_sum(x[:2, :2, :2], torch.tensor([1, 1]), a - 1),
}
KEYS = list(CALLS)


@pytest.mark.parametrize("name", sampled(KEYS, len(KEYS)))
def test_an_int_may_change_from_call_to_call(name):
    torch._dynamo.reset()
    compiled = torch.compile(CALLS[name], fullgraph=True, backend="eager")
    for a in (1, 2, 3):
        want, got = CALLS[name](X, a), compiled(X, a)
        assert type(want) is type(got)
        for w, g in zip(want, got) if isinstance(want, tuple) else [(want, got)]:
            torch.testing.assert_close(torch.as_tensor(g), torch.as_tensor(w), rtol=0, atol=0)
