"""Triton kernels, compiled before their first launch for what a plan knows.

On the CPU with TRITON_INTERPRET=1, kernels are interpreted and called by Triton's launcher.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tenter._arrays.dtypes import DTYPES
from tenter._arrays.errors import refuse

POINTERS = {dtype.name: dtype.pointer for dtype in DTYPES.values() if dtype.pointer is not None}
POINTEES: dict[str, torch.dtype] = {pointer: getattr(torch, name) for name, pointer in POINTERS.items()}
POINTERS_TO = {dtype: pointer for pointer, dtype in POINTEES.items()}
# Placeholder for an argument that changes with each call: the offsets of its counts.
PER_CALL = object()


class Kernel(NamedTuple):
    """A specialization of a kernel: everything that its compilation depends on.

    types: the types of the arguments; constants are "constexpr", and their values are in `constants`, in order
    aligned: which arguments are pointers to addresses divisible by 16
    """

    function: Any
    types: tuple[str, ...]
    constants: tuple[Any, ...]
    aligned: tuple[bool, ...]
    warps: int

    def source(self) -> ASTSource:
        values = iter(self.constants)
        return ASTSource(
            self.function,
            dict(zip(self.function.arg_names, self.types)),
            {(k,): next(values) for k, kind in enumerate(self.types) if kind == "constexpr"},
            {(k,): [["tt.divisibility", 16]] for k, is_aligned in enumerate(self.aligned) if is_aligned},
        )

    def compiled(self, target: GPUTarget) -> Any:
        # Only explicit multiply-adds are fused, so that every tile gives the same bits.
        options = {"num_warps": self.warps, "enable_fp_fusion": False}
        return triton.compile(self.source(), target=target, options=options)


def specialize(
    function: Any, pointers: Sequence[str], aligned: Sequence[bool], args: dict[str, Any], int64: bool, warps: int
) -> tuple[Kernel, tuple[Any, ...]]:
    """Returns the kernel for its leading pointers and named arguments, and the values of its arguments. aligned:
    whether each leading pointer is divisible by 16; tables always are."""
    types, constants, all_aligned, values = list(pointers), [], list(aligned), []
    for name in function.arg_names[len(types) :]:
        value = args[name]
        is_table = isinstance(value, torch.Tensor)
        if value is None or name.isupper():
            types.append("constexpr")
            constants.append(value)
        else:
            integer = "i64" if int64 else "i32"
            types.append(POINTERS_TO[value.dtype] if is_table else "*i64" if value is PER_CALL else integer)
        all_aligned.append(is_table)
        values.append(value.data_ptr() if is_table and value.is_cuda else value)
    return Kernel(function, tuple(types), tuple(constants), tuple(all_aligned), warps), tuple(values)


def refuse_under_capture() -> None:
    """Refuses to load a kernel or to send a table during a capture, because a graph cannot record that."""
    if torch.cuda.is_current_stream_capturing():
        refuse(
            RuntimeError, "x", "under a graph's capture a call like one made before it, and counts on the device",
            "the first such call, or counts on the host")  # fmt: skip


_loaded: dict[tuple[int, Kernel], Any] = {}


def loaded(kernel: Kernel, device: int) -> Any:
    """Returns a kernel, compiled by Triton and loaded on a device, which must be current."""
    found = _loaded.get((device, kernel))
    if found is None:
        refuse_under_capture()
        target = triton.runtime.driver.active.get_current_target()
        found = kernel.compiled(target)
        found[1, 1, 1]  # loads it
        # Another thread may have loaded it meanwhile. Triton unloads what nothing refers to.
        found = _loaded.setdefault((device, kernel), found)
    return found


def interpret(kernel: Kernel, grid: int, args: Sequence[Any]) -> None:
    """Runs a kernel on tensors in host memory."""
    kernel.function[(grid,)](*args)


def typed(x: torch.Tensor, at: int, pointer: str) -> torch.Tensor:
    """Returns x's memory, from `at` bytes after its first element, as elements of another type."""
    dtype = POINTEES[pointer]
    offset, left = divmod(int(x.storage_offset()) * x.itemsize + at, dtype.itemsize)
    assert left == 0
    storage = x.untyped_storage()
    return torch.empty(0, dtype=dtype, device=x.device).set_(storage, offset, (min(1, storage.nbytes()),), (1,))
