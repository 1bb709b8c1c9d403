"""A result that PyTorch's allocator refuses."""

import torch
from limited import allow

import tenter

x = torch.ones(1 << 20)
tenter.tile(x, 2)
allow(64 << 20)
try:
    tenter.tile(x, 64)
except MemoryError:
    print("MemoryError")
