"""The end of a process that holds results wherever Python and PyTorch hold objects."""

from __future__ import annotations

import atexit
import builtins
import sys
import threading
from typing import Any

import torch

import tenter

x = torch.ones(700, 400)
tensor, array = tenter.repeat_interleave(x, 2, 0), tenter.repeat_interleave(x.numpy(), 2, 0)


class Node:
    pass


class Late:
    def __del__(self, x: Any = x, repeat: Any = tenter.repeat_interleave) -> None:
        repeat(x, 2, 0)


class Module(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("held", tenter.repeat_interleave(x, 2, 0))
        self.weight = torch.nn.Parameter(tenter.repeat_interleave(x, 2, 0))

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        return y + self.held * self.weight


node: Any = Node()
node.node, node.tensor, node.array = node, tensor, array
module = Module()
scripted = torch.jit.script(Module())
frozen = torch.jit.freeze(torch.jit.script(Module().eval()))
frozen(tensor)
traced = torch.jit.trace(lambda t: t + tenter.repeat_interleave(x, 2, 0), tensor)
leaf = x.clone().requires_grad_()
graph = (tenter.repeat_interleave(leaf, 2, 0) ** 2).sum()
leaf.register_hook(lambda g, y=tensor: g)
capsule = torch.utils.dlpack.to_dlpack(tenter.repeat_interleave(x, 2, 0))
future: Any = torch.futures.Future()
future.set_result(tenter.repeat_interleave(x, 2, 0))
library = torch.library.Library("tenter_ends", "DEF")
library.define("f(Tensor x) -> Tensor")
library.impl("f", lambda t: t + tensor, "CPU")
local = threading.local()
builtins.held, sys.modules["held"] = tenter.repeat_interleave(x, 2, 0), array  # type: ignore[attr-defined, assignment]
local.held, builtins.late, late = tenter.repeat_interleave(x, 2, 0), Late(), Late()  # type: ignore[attr-defined]


def wait() -> None:
    held = tenter.repeat_interleave(x, 2, 0)
    ready.set()
    threading.Event().wait()
    del held


ready = threading.Event()
threading.Thread(target=wait, daemon=True).start()
ready.wait()
atexit.register(lambda: print(int(tenter.repeat_interleave(x, 2, 0).sum())))
