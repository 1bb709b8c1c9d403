"""The operators' arguments, which a graph's author may write by hand: the same rules for memory, for shapes alone and
under vmap. What the public functions pass has been checked.

Sizes may be symbols; what is not known of them while tracing, the kernels find out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from tenter import build, check, frontends, limits
from tenter.frontends import surely
from tenter.limits import refuse
from tenter.sampling import made, read
from tenter.stretch import Repeat, Resample, Resize

Shape = tuple[Any, ...]


def refusing(name: str, kernel: Callable[..., Any], first: int = 0) -> Callable[..., Any]:
    """A kernel whose refusals become errors. first: where the operator's own arguments begin."""

    def checked(*args: Any) -> Any:
        try:
            return kernel(*args)
        except limits.Refusal as refusal:
            given = args[first:]
            if name == "offsets":
                raise check.error(refusal, "repeat_interleave", repeats=given[0], output_size=given[2]) from None
            if name == "total":
                raise check.error(refusal, "repeat_interleave") from None
            raise check.error(refusal, f"torch.ops.tenter.{name}", *given) from None

    return checked


def repeated(shape: Shape, sizes: Sequence[int], each: bool) -> Repeat:
    if len(sizes) != len(shape) or any(surely(r < 0) for r in sizes):
        refuse(ValueError, "sizes", f"{len(shape)} sizes >= 0, one per dim", f"{list(sizes)}")
    return Repeat(tuple(sizes), each)


def unrepeated(shape: Shape, n_in: Sequence[int], sizes: Sequence[int], each: bool) -> tuple[Repeat, Shape]:
    """For a gradient of that shape: what was done, and to what shape."""
    does = repeated(shape, sizes, each)
    if len(n_in) != len(shape) or any(surely(n < 0) for n in n_in):
        refuse(ValueError, "n_in", f"{len(shape)} lengths", f"{list(n_in)}")
    for n, m, r in zip(shape, n_in, sizes):
        if surely(r != 1) and surely(m * r != n):
            refuse(ValueError, "n_in", f"lengths that are {list(shape)} times {list(sizes)}", f"{list(n_in)}")
    return does, tuple(n if surely(r == 1) else m for n, m, r in zip(shape, n_in, sizes))


def resampled(
    shape: Shape, n_in: Sequence[int], dtype: str, size: Sequence[int], scales: Sequence[float] | None, kind: str,
    *rule: bool,
) -> Resample:  # fmt: skip
    """What makes size of n_in, the spatial dims of an array of that shape or of the one that a gradient is of."""
    n = len(shape) - 2
    if not 1 <= n <= 3 or len(size) != n or len(n_in) != n or any(surely(m < 1) for m in (*size, *n_in)):
        got = f"{list(n_in)} to {list(size)} for {len(shape)} dims"
        refuse(ValueError, "size", "1 to 3 sizes > 0, one per spatial dim > 0", got)
    if scales:
        if len(scales) != n or not all(0 < s < math.inf for s in scales):
            refuse(ValueError, "scales", f"{n} finite numbers above 0", f"{list(scales)}")
        # As floor(n_in * scale) has it, with what tracers round.
        if any(surely(m * s + 1e-6 < o) or surely(m * s - 1e-6 >= o + 1) for m, o, s in zip(n_in, size, scales)):
            refuse(ValueError, "scales", f"those of {list(n_in)} to {list(size)}", f"{list(scales)}")
    if kind not in build.KINDS.values():
        refuse(ValueError, "kind", f"one of {', '.join(sorted(set(build.KINDS.values())))}", repr(kind))
    if kind == "lanczos" and not rule[1]:
        refuse(ValueError, "antialias", "True, which lanczos needs", "False")
    if not kind.startswith("nearest") and not frontends.is_numeric(dtype):
        refuse(TypeError, "x", f"numbers for {kind}", dtype)
    return Resample(tuple(size), tuple(scales) if scales else None, kind, *rule)


def resized(
    shape: Shape, n_in: Sequence[int] | None, dtype: str, size: Sequence[int] | None, axes: Sequence[int], rule: str,
    saturate: bool,
) -> tuple[Resize, Sequence[int]]:  # fmt: skip
    """What makes size of n_in, and n_in; the one that is None is that of an array of that shape."""
    if list(axes) != sorted(set(axes)) or any(not 0 <= a < len(shape) for a in axes):
        refuse(ValueError, "axes", f"ascending dims of a {len(shape)}-d tensor", f"{list(axes)}")
    own = [shape[a] for a in axes]
    n_in, size, name = (own, size or (), "size") if n_in is None else (n_in, own, "n_in")
    found = read(rule)
    made(rule)  # refuses filters that are gone
    given = size if name == "size" else n_in
    if len(given) != len(axes) or len(found) != len(axes) or any(surely(n < 0) for n in given):
        got = f"{list(given)} and {len(found)} rules"
        refuse(ValueError, name, f"{len(axes)} lengths >= 0 and rules, one per axis", got)
    if any(surely(m == 0) and surely(n != 0) for m, n in zip(n_in, size)):
        refuse(ValueError, "x", "axes of at least 1 to resize", f"{list(n_in)} to {list(size)}")
    if any(r.kind not in ("nearest", "nearest-exact") for r in found) and not frontends.is_numeric(dtype):
        refuse(TypeError, "x", "numbers to take sums of", dtype)
    return Resize(tuple(axes), tuple(size), found, saturate), n_in


def counted(shape: Shape, offsets: Shape, kind: Any, dim: int, n_out: Any = None) -> None:
    """A dim to repeat by running totals of that shape and dtype, or, if n_out is None, to sum by them."""
    if not 0 <= dim < len(shape):
        refuse(IndexError, "dim", f"a dim of a {len(shape)}-d tensor, from 0 to {len(shape) - 1}", f"{dim}")
    if kind != torch.int64 or len(offsets) != 1 or surely(offsets[0] < 1):
        got = f"{str(kind).removeprefix('torch.')}{list(offsets)}"
        refuse(ValueError, "offsets", "1-D running totals in int64, from 0", got)
    if n_out is not None and surely(offsets[0] != shape[dim] + 1):
        refuse(ValueError, "offsets", f"{shape[dim] + 1} running totals", f"{offsets[0]}")
    if n_out is not None and surely(n_out < 0):
        refuse(ValueError, "n_out", "a length >= 0", f"{n_out}")


def to_count(shape: Shape, dtype: str, n: Any, output_size: Any) -> None:
    if len(shape) < 1 or surely(shape[-1] != n):
        refuse(ValueError, "repeats", f"{n} counts", f"shape {list(shape)}")
    check.count_shape("repeats", dtype, shape[-1:], n, None)
    if output_size is not None and surely(output_size < 0):
        refuse(ValueError, "output_size", f"{check.TOTAL} >= 0", f"{output_size}")


def to_total(shape: Shape, kind: Any) -> None:
    if kind != torch.int64 or len(shape) < 1 or surely(shape[-1] < 1):
        got = f"{str(kind).removeprefix('torch.')}{list(shape)}"
        refuse(ValueError, "offsets", "running totals in int64", got)


def addressable(x: Tensor, shape: Sequence[Any]) -> tuple[Any, ...]:
    """The shape of a result like x, where it is known to be too large refused."""
    if all(type(n) is int for n in shape):
        limits.addressable("result", shape, x.element_size())
    return tuple(shape)
