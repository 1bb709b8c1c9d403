"""Triton's kernels, compiled ahead of their first launch for what a plan knows, and launched with addresses alone.

Triton's own launcher looks at every argument of every call, which takes as long as a small kernel; a plan looks once.
On the CPU, where TRITON_INTERPRET=1 lets kernels be run step by step, they are called as Triton has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tenter._arrays import errors as limits, torch_private as private

POINTERS = {
    "*i8": torch.int8, "*i16": torch.int16, "*i32": torch.int32, "*i64": torch.int64, "*u8": torch.uint8,
    "*u16": torch.uint16, "*u32": torch.uint32, "*u64": torch.uint64, "*fp16": torch.float16, "*bf16": torch.bfloat16,
    "*fp32": torch.float32, "*fp64": torch.float64,
}  # fmt: skip
NAMES = {dtype: name for name, dtype in POINTERS.items()}
# An argument that only the call brings: the offsets of counts.
LATER = object()


class Kernel(NamedTuple):
    """A kernel for arguments of some types: all that decides what is compiled.

    types: of each argument, "constexpr" for constants. constants: their values, in order. aligned: which arguments are
    pointers to whole 16 bytes.
    """

    function: Any
    types: tuple[str, ...]
    constants: tuple[Any, ...]
    aligned: tuple[bool, ...]
    warps: int

    def source(self) -> ASTSource:
        names = self.function.arg_names
        values = iter(self.constants)
        return ASTSource(
            self.function,
            dict(zip(names, self.types)),
            {(k,): next(values) for k, kind in enumerate(self.types) if kind == "constexpr"},
            {(k,): [["tt.divisibility", 16]] for k, is_aligned in enumerate(self.aligned) if is_aligned},
        )

    def compiled(self, target: GPUTarget) -> Any:
        # Multiplies and adds are fused where a kernel says so and nowhere else: the same bits whatever the tile.
        options = {"num_warps": self.warps, "enable_fp_fusion": False}
        return triton.compile(self.source(), target=target, options=options)


def kernel(
    function: Any, pointers: Sequence[str], whole: Sequence[bool], args: dict[str, Any], wide: bool, warps: int
) -> tuple[Kernel, tuple[Any, ...]]:
    """The kernel for arguments by name, and what follows its leading pointers, of which `whole` says whether they are
    to whole 16 bytes."""
    types, constants, aligned, values = list(pointers), [], list(whole), []
    for name in function.arg_names[len(types) :]:
        value = args.pop(name)
        is_table = isinstance(value, torch.Tensor)
        if value is None or name.isupper():
            types.append("constexpr")
            constants.append(value)
        else:
            types.append(NAMES[value.dtype] if is_table else "*i64" if value is LATER else "i64" if wide else "i32")
        aligned.append(is_table)
        values.append(value.data_ptr() if is_table and value.is_cuda else value)
    assert not args, f"no argument of {function}: {sorted(args)}"
    return Kernel(function, tuple(types), tuple(constants), tuple(aligned), warps), tuple(values)


def refuse_under_capture() -> None:
    """Where a kernel has to be loaded or a table sent, which a graph can't hold."""
    if torch.cuda.is_current_stream_capturing():
        limits.refuse(
            RuntimeError, "x", "under a graph's capture a call like one made before it, and counts on the device",
            "the first such call, or counts on the host",
        )  # fmt: skip


_loaded: dict[tuple[int, Kernel], Any] = {}


def loaded(kernel: Kernel, device: int, grid: int) -> Callable[..., None]:
    """What launches so many programs of a kernel on a device, which is the current one: called with all arguments,
    pointers being addresses, and the stream."""
    found = _loaded.get((device, kernel))
    if found is None:
        refuse_under_capture()
        target = triton.runtime.driver.active.get_current_target()
        found = _loaded[device, kernel] = kernel.compiled(target)
    start: Callable[..., None] = found[(grid, 1, 1)]
    return start


def now(function: Any, grid: int, source: torch.Tensor, target: torch.Tensor, n_warps: int, **args: Any) -> None:
    """One launch on two tensors, whose addresses are whole and whose numbers have 64 bits."""
    whole = [t.data_ptr() % 16 == 0 for t in (source, target)]
    made, rest = kernel(function, (NAMES[source.dtype], NAMES[target.dtype]), whole, args, True, n_warps)
    if source.device.type == "cpu":
        interpret(made, grid, (source, target, *rest))
        return
    assert source.device.index is not None
    with current(source.device.index) as stream:
        addresses = [value.data_ptr() if isinstance(value, torch.Tensor) else value for value in rest]
        start = loaded(made, source.device.index, grid)
        start(source.data_ptr(), target.data_ptr(), *addresses, stream=stream)


def interpret(kernel: Kernel, grid: int, args: Sequence[Any]) -> None:
    """Runs a kernel on tensors in memory of the host."""
    kernel.function[(grid,)](*args)


def typed(x: torch.Tensor, at: int, pointer: str) -> torch.Tensor:
    """x's memory from `at` bytes after its first element on, as elements of another type."""
    dtype = POINTERS[pointer]
    offset, left = divmod(int(x.storage_offset()) * x.itemsize + at, dtype.itemsize)
    assert left == 0
    storage = x.untyped_storage()
    return torch.empty(0, dtype=dtype, device=x.device).set_(storage, offset, (min(1, storage.nbytes()),), (1,))


@contextmanager
def current(device: int) -> Iterator[int]:
    """A device as the current one, and its current stream. What was the current device is so again afterwards."""
    before = private.exchange_device(device)
    try:
        yield private.current_stream(device)
    finally:
        if before != device:
            private.exchange_device(before)
