"""Launches by CUDA's driver: all of a plan in one call of the core, which gets a few numbers.

Triton's launcher takes as long as a small kernel for each launch: it examines all arguments, and asks for hooks.
"""

import ctypes
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from tenter import _native
from tenter._arrays import torch_private
from tenter._arrays.errors import refuse
from tenter._triton import launch
from tenter._triton.tables import DeviceTables, await_all

# A number of a launch: (index of a number of the call, what is added to it). FIXED is the index of none.
Number = tuple[int, int]
FIXED = -1
NO_CONTEXT = 201  # CUDA_ERROR_INVALID_CONTEXT


class Launch(NamedTuple):
    """numbers: how many programs, then the kernel's arguments except constants"""

    kernel: launch.Kernel
    numbers: Sequence[Number]


class Launcher:
    """Launches on a device. Their kernels are loaded before the first."""

    def __init__(self, device: int, launches: Sequence[Launch], tables: Sequence[DeviceTables] = ()) -> None:
        self.device, self.launches, self.tables = device, launches, tables
        self.loaded: _native.DeviceLaunches | None = None

    def run(self, *numbers: int) -> None:
        """Starts the kernels on the device's current stream. numbers: those of the call."""
        device = self.device
        before = torch_private.exchange_device(device)
        try:
            stream = torch_private.current_stream(device)
            if self.tables:
                await_all(self.tables, stream)
            if (loaded := self.loaded) is None:
                loaded = self.loaded = self._load()
            error = loaded.run(stream, *numbers)
            if error == NO_CONTEXT:  # nothing else has run on the device in this thread
                _enter_context(device)
                error = loaded.run(stream, *numbers)
            if error:
                refuse(RuntimeError, "x", "a device that starts kernels", f"{_name(error)} from CUDA")
        finally:
            if before != device:
                torch_private.exchange_device(before)

    def _load(self) -> _native.DeviceLaunches:
        function = ctypes.cast(_driver().cuLaunchKernel, ctypes.c_void_p).value
        assert function is not None
        steps = []
        for kernel, numbers in self.launches:
            found = launch.loaded(kernel, self.device)
            its = found.metadata
            assert not wants_more(its)
            steps.append((found.function, 32 * its.num_warps, its.shared, [*numbers, (FIXED, 0), (FIXED, 0)]))
        return _native.DeviceLaunches(function, steps)


def wants_more(its: Any) -> bool:
    """True for the metadata of a kernel that uses scratch memory, for which Triton adds one pointer (from 3.5 on two),
    or needs a cooperative launch. These kernels do neither."""
    profiled = getattr(its, "profile_scratch_size", 0)
    return bool(its.global_scratch_size or profiled or its.launch_cooperative_grid)


@cache
def _driver() -> Any:
    return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


def _enter_context(device: int) -> None:
    """Makes the context that PyTorch uses current in this thread. It may be done during a capture."""
    context = ctypes.c_void_p()
    _driver().cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    _driver().cuCtxSetCurrent(context)


def _name(error: int) -> str:
    name = ctypes.c_char_p()
    _driver().cuGetErrorName(error, ctypes.byref(name))
    return (name.value or b"an unknown error").decode()
