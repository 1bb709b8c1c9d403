"""A call whose first time is inside of a CUDA graph's capture: first_capture.py CALL KEPT

CALL: of x, as Python. KEPT: true if its graph replays it after a first call outside. Prints the refusal, then 0.0."""

from __future__ import annotations

import sys

import torch

import tenter  # noqa: F401  # what CALL names

x = torch.randn(1, 2, 6, 7, device="cuda")
f = eval(f"lambda: {sys.argv[1]}")
graph = torch.cuda.CUDAGraph()
try:
    with torch.cuda.graph(graph):
        f()
except RuntimeError as error:
    print(str(error).splitlines()[0])
want = f()
if sys.argv[2] == "True":
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        f()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = f()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(y, want)
print(float(want.sum() * 0 + x.cos().sum() - x.cos().sum()))
