"""Arrays and tensors, and how they lie in memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from .draw import INTEGERS, Draw
from .memory import room

FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
STRUCTURED = "i4,f8,S3"
NUMPY = (*INTEGERS, *FLOATS, *COMPLEX, "bool", "longdouble", "clongdouble", "M8[s]", "m8[D]", "S3", "S17", "U2", "V6",
         STRUCTURED, "object")  # fmt: skip
# What NumPy has no name for, by what holds the same bits there.
BITS = {"bfloat16": "uint16", "complex32": "uint32", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
TORCH = (*INTEGERS, *FLOATS, *COMPLEX, "bool", *BITS)
NUMERIC = (*INTEGERS, *FLOATS, *COMPLEX)
WIDE = {torch.bfloat16: torch.float64, torch.complex32: torch.complex128}


class Array(NamedTuple):
    """How an array is made. values: a way to draw them, or what they are; order: axes from slow to fast in memory;
    steps: of each axis, in elements of the dense layout; odd: strides in elements that axes of length 1 claim; shift: bytes
    off alignment; guard: where a page that may not be touched lies; flag: conj or neg, of tensors that were not read
    yet."""

    library: str
    dtype: str
    shape: tuple[int, ...]
    values: Any = "normal"
    seed: int = 0
    order: tuple[int, ...] | None = None
    steps: tuple[int, ...] | None = None
    odd: tuple[tuple[int, int], ...] = ()
    shift: int = 0
    guard: str | None = None
    swapped: bool = False
    readonly: bool = False
    flag: str | None = None

    def made(self) -> Any:
        x = _laid_out(self)
        if self.library == "torch":
            return {None: lambda x: x, "conj": torch.conj, "neg": torch._neg_view}[self.flag](x)
        if self.readonly:
            x.flags.writeable = False
        return x

    def __repr__(self) -> str:
        given = [f"{v!r}" for v in self[:4]]
        given += [f"{n}={v!r}" for n, v in zip(self._fields[4:], self[4:]) if v != self._field_defaults[n]]
        return f"Array({', '.join(given)})"


def drawn(r: Draw, shape: tuple[int, ...], dtype: str, library: str, values: Any = None) -> Array:
    """Of random values and a random layout."""
    n = len(shape)
    if values is None:
        values = r.pick(("normal", "extreme", "special"), (6, 2, 1))
    found = Array(library, dtype, shape, values, r.int(0, 9999), guard=r.pick((None, "after", "before"), (2, 2, 1)))
    if r.chance(0.3):
        return found
    order = tuple(range(n))
    if n > 1 and r.chance(0.4):
        order = tuple(r.some(range(n), n))
        if r.chance(0.5):  # channels last
            order = (0, *range(2, n), 1)
    steps = [1] * n
    for axis in range(n):
        if r.chance(0.25):
            steps[axis] = r.pick((2, 3, 0, -1, -2), (3, 1, 1, 3, 1) if library == "numpy" else (3, 1, 1, 0, 0))
    lone = [axis for axis in range(n) if shape[axis] == 1]
    odd = tuple((axis, r.pick((0, 2, 7, 40, 999))) for axis in lone if r.chance(0.5))
    shift = r.int(1, 9) if library == "numpy" and r.chance(0.2) else 0
    swapped = library == "numpy" and dtype not in ("object", "bool") and r.chance(0.12)
    readonly = library == "numpy" and r.chance(0.1)
    if library == "torch" and dtype in ("complex64", "complex128") and r.chance(0.2):
        found = found._replace(flag=r.pick(("conj", "neg")))
    if dtype == "object":
        return found._replace(order=order, guard=None)
    return found._replace(order=order, steps=tuple(steps), odd=odd, shift=shift, swapped=swapped, readonly=readonly)


def elements(how: Array) -> np.ndarray:
    """The values, contiguous, in a dtype of the same bits."""
    name = BITS.get(how.dtype, how.dtype) if how.library == "torch" else how.dtype
    dtype = np.dtype(name).newbyteorder(">" if how.swapped else "=")
    if not isinstance(how.values, str):
        return np.asarray(how.values).astype(dtype).reshape(how.shape)
    rng, shape, kind = np.random.default_rng(how.seed), how.shape, dtype.kind
    if how.dtype == "bfloat16":
        return (elements(how._replace(dtype="float32")).view(np.uint32) >> 16).astype(np.uint16)
    if how.dtype == "complex32":
        pairs = elements(how._replace(dtype="float16", shape=(*shape, 2)))
        return pairs.view(np.uint32).reshape(shape)
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        info = np.iinfo(dtype)
        if how.values == "extreme":
            picks = [info.min, info.max, 0, info.max // 2, info.max - 1]
            x = np.array(picks, dtype)[rng.integers(0, 5, shape)]
        else:
            x = rng.integers(max(-100, info.min), min(256, info.max), shape, endpoint=True)
        return np.asarray(x).astype(dtype)
    if kind in "fc":
        return np.asarray(_floats(rng, shape, dtype, how.values)).astype(dtype)  # a scalar if there are no dims
    if kind == "O":
        made = np.empty(shape, object)
        made.reshape(-1)[:] = [(k % 7, "a", None, 2.5)[k % 4] for k in range(made.size)]
        return made
    if kind in "Mm":
        return np.asarray(rng.integers(-(10**6), 10**6, shape)).astype(dtype)
    if kind == "U":
        return rng.integers(32, 100, (*shape, 2), dtype=np.uint32).astype(dtype.byteorder + "u4").view(dtype)[..., 0]
    raw = rng.integers(1, 256, (*shape, dtype.itemsize), dtype=np.uint8)
    return raw.view(dtype)[..., 0] if raw.size else np.empty(shape, dtype)


def _floats(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype, how: str) -> np.ndarray:
    if dtype.kind == "c":
        part = np.dtype("longdouble" if dtype.char == "G" else f"f{dtype.itemsize // 2}")
        return _floats(rng, shape, part, how) + 1j * _floats(rng, shape, part, "normal" if how == "special" else how)
    x = np.asarray(rng.random(shape) if how == "unit" else rng.standard_normal(shape) * 10)
    if how == "extreme":
        info = np.finfo(np.float64 if dtype.char == "g" else dtype.newbyteorder("="))
        scale = np.array([float(info.max) / 4, float(info.tiny), float(info.smallest_subnormal) * 8, 1.0])
        x = rng.uniform(-1, 1, shape) * scale[rng.integers(0, 4, shape)]
    if how == "special":
        odd = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0])[rng.integers(0, 5, shape)]
        x = np.where(rng.random(shape) < min(0.2, 3 / max(1, x.size)), odd, x)
    return np.asarray(x)


def target(r: Draw, how: Array, shape: tuple[int, ...]) -> Array:
    """Memory in a random layout for a result of what is drawn so."""
    drawn_one = drawn(r, shape, how.dtype, how.library)
    steps = drawn_one.steps and tuple(s or 1 for s in drawn_one.steps)
    return drawn_one._replace(values="normal", steps=steps, readonly=False, swapped=how.swapped, flag=None)


def _laid_out(how: Array) -> Any:
    values = np.asarray(elements(how))
    n, size = values.ndim, values.itemsize
    order, steps = how.order or tuple(range(n)), how.steps or (1,) * n
    if values.dtype.hasobject:
        made = np.empty([values.shape[d] for d in order], object).transpose(np.argsort(order)) if n else values
        made[...] = values
        return made
    strides, step = [0] * n, size
    for axis in reversed(order):
        strides[axis] = step * steps[axis]
        step *= max(1, abs(steps[axis]) * values.shape[axis])
    reach = [(length - 1) * s for length, s in zip(values.shape, strides)]
    n_bytes = sum(map(abs, reach)) + size if values.size else 0
    memory = room(n_bytes, how.guard, how.shift)
    first = -sum(s for s in reach if s < 0)
    if not values.size:
        x = np.ndarray(values.shape, values.dtype, np.empty(0, np.uint8))
    else:
        x = np.ndarray(values.shape, values.dtype, memory, first, strides)
        x[...] = values
        for axis, claimed in how.odd:
            strides[axis] = claimed * size
        x = np.lib.stride_tricks.as_strided(x, strides=strides)
    return _tensor(x, memory, how.dtype, [s // size for s in strides]) if how.library == "torch" else x


def _tensor(x: np.ndarray, memory: np.ndarray, dtype: str, strides: list[int]) -> torch.Tensor:
    kind = getattr(torch, dtype)
    if not x.size:
        return torch.empty(x.shape, dtype=kind)
    # A storage of its own memory: one byte more than its elements would hide what is read past them.
    flat = torch.frombuffer(memory.data, dtype=kind, count=memory.size // x.itemsize)
    return torch.as_strided(flat, x.shape, strides)


def bits(x: Any) -> np.ndarray:
    """An array of the same bits, contiguous: what copies are compared by."""
    if isinstance(x, torch.Tensor):
        x = x.detach().resolve_conj().resolve_neg()
        held = {torch.bfloat16: torch.int16, torch.complex32: torch.int32}.get(x.dtype, x.dtype)
        x = x.contiguous().view(torch.uint8 if str(x.dtype).startswith("torch.float8") else held).numpy()
    return np.array(x, order="C")


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.hasobject:
        return bool(np.array_equal(a, b))
    if a.dtype.char in "gG":  # whose bytes hold padding
        return bool(np.array_equal(a, b, equal_nan=True))
    return a.tobytes() == b.tobytes()


def numbers(x: Any) -> np.ndarray:
    """The values in a dtype that NumPy computes with, without loss."""
    if isinstance(x, torch.Tensor):
        x = x.detach().resolve_conj().resolve_neg()
        x = x.to(WIDE.get(x.dtype, x.dtype)).numpy()
    return np.array(x, x.dtype.newbyteorder("="), order="C")


def dtype_name(x: Any) -> str:
    return str(x.dtype).removeprefix("torch.") if isinstance(x, torch.Tensor) else x.dtype.newbyteorder("=").name


def shrunk(x: torch.Tensor, n_bytes: int = 0) -> torch.Tensor:
    """The tensor after its storage was made so small; a read of it goes past the end."""
    x = x.clone()
    x.untyped_storage().resize_(n_bytes)
    return x


def readable(x: torch.Tensor) -> bool:
    """Has it the memory that its shape and strides promise?"""
    reach = sum((n - 1) * s for n, s in zip(x.shape, x.stride())) + 1 if x.numel() else 0
    return x.untyped_storage().nbytes() >= (x.storage_offset() + reach) * x.itemsize or not reach
