"""Bad arguments under PyTorch's own names: hostile_torch.py EVERY

To tenter's functions in their place, to accelerated code, and one in EVERY to accelerated code that is compiled. Each must
be an exception; PyTorch's own functions crash on some.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

import tenter
import tenter.torch

T = torch.tensor
x, image = torch.zeros(2, 3), torch.zeros(1, 2, 4, 5)
BAD: list[Callable[[], Any]] = [
    lambda: torch.repeat_interleave(T([-1, -1, 2]), output_size=0),
    lambda: torch.repeat_interleave(x, T([-1, 2]), 0), lambda: x.repeat_interleave(T([-1, 2, 3]), 1, output_size=4),
    lambda: x.repeat_interleave(T([1, 2]), 0, output_size=2), lambda: x.repeat_interleave(T([1, 2]), 0, output_size=7),
    lambda: x.repeat_interleave(T([2**62, 2**62]), 0), lambda: x.repeat_interleave(-1), lambda: x.repeat_interleave(2**62),
    lambda: x.repeat_interleave(2, 5), lambda: x.repeat_interleave(T([1.0, 2.0]), 0), lambda: x.repeat(2), lambda: x.repeat(2, -1),
    lambda: x.repeat(2**40, 2**40), lambda: torch.tile(x, (2, -3)), lambda: torch.tile(x, (2**62, 4)),
    lambda: F.interpolate(image, size=0), lambda: F.interpolate(image, size=-3), lambda: F.interpolate(image, scale_factor=-1.0),
    lambda: F.interpolate(image, scale_factor=1e-9), lambda: F.interpolate(image, size=(3, 4, 5)), lambda: F.interpolate(image),
    lambda: F.interpolate(image, size=2**40, mode="bilinear"), lambda: F.interpolate(x, 3), lambda: F.interpolate(image, 2, mode="x"),
    lambda: F.interpolate(image, 2, align_corners=True), lambda: F.interpolate(image[:, :, :0], 2, mode="bilinear"),
]  # fmt: skip


def must_raise(n: int, call: Callable[[], Any]) -> None:
    try:
        call()
    except Exception:
        return
    sys.exit(f"no error from {n}")


NAMES = {
    (F, "interpolate"): tenter.interpolate, (torch, "repeat_interleave"): tenter.repeat_interleave,
    (torch, "tile"): tenter.tile, (torch.Tensor, "repeat"): tenter.repeat,
    (torch.Tensor, "repeat_interleave"): tenter.repeat_interleave,
}  # fmt: skip


def run_all() -> None:
    for n, call in enumerate(BAD):
        must_raise(n, call)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    theirs = {place: getattr(*place) for place in NAMES}
    for place, ours in NAMES.items():
        setattr(*place, ours)
    run_all()
    for place, function in theirs.items():
        setattr(*place, function)
    with tenter.torch.accelerate():
        run_all()
        for n, call in enumerate(BAD[:: int(sys.argv[1])]):
            torch._dynamo.reset()
            must_raise(n, torch.compile(call, backend="eager", fullgraph=True))
            must_raise(n, torch.compile(call, backend="eager"))
