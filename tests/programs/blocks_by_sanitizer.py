"""A write into a block: blocks_by_sanitizer.py WHERE. `inside` a result, `past` it, or into a block that is `idle`."""

import ctypes
import sys

from tenter import _native

block = _native.Block((1 << 20) + 8)
at, past = block.address, block.address + (1 << 20) + 8
ctypes.memset(at, 1, (1 << 20) + 8)
if sys.argv[1] == "idle":
    del block
print("begun", flush=True)
ctypes.memset(past if sys.argv[1] == "past" else at, 1, 8)
print("ended")
