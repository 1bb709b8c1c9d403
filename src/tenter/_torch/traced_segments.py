"""Segments of tensors that are traced or on a device, by expressions of PyTorch's functions and tenter's operators.

Nothing here waits for a device, except `total` and `longest`. The operator `offsets` checks values that only a device
knows. `verified` checks values that the host will know. Reads stay in bounds for all values.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tenter._arrays import torch_private, torch_tensors
from tenter._arrays.arguments import integer
from tenter._arrays.dtypes import is_numeric
from tenter._arrays.errors import refuse
from tenter._arrays.library import surely
from tenter._arrays.limits import INT64_MAX
from tenter._specs import segments as spec
from tenter._specs.segments import INT32_MAX, RAGGED, TOTAL, Segments
from tenter._torch.schema import OPS
from tenter._torch.verified import verified, verifies

# ---- segments, from the forms that describe them


def of_lengths(lengths: Any, total: Any, called: str = RAGGED) -> Segments:
    lengths = _tensor("lengths", lengths)
    spec.check_integers("lengths", lengths)
    return _of_lengths(lengths, None if total is None else integer("output_size", total, TOTAL, 0), called)


def _of_lengths(lengths: Tensor, total: Any, called: str = RAGGED) -> Segments:
    int32 = lengths.dtype == torch.int32
    if total is not None:
        spec.check_int32("lengths", total, int32)
    offsets = OPS.offsets.default(lengths, lengths.shape[0], total, called)
    return Segments(offsets, lengths.shape[0], total, int32, torch_tensors, {}, called)


def of_offsets(offsets: Tensor, total: Any) -> Segments:
    """Takes the differences of offsets as lengths, which the operator checks."""
    offsets = _tensor("offsets", offsets)
    spec.check_integers("offsets", offsets)
    if surely(offsets.shape[0] < 1):
        refuse(ValueError, "offsets", "offsets from 0 on, one more than there are rows", "none")
    return of_lengths(verified("offsets", offsets).diff(), total)


def of_row_ids(row_ids: Tensor, n: Any) -> Segments:
    row_ids = _tensor("row_ids", row_ids)
    spec.check_integers("row_ids", row_ids)
    if n is not None:
        n = integer("n", n, "a number of rows", 0)
    row_ids = verified("row_ids", row_ids, n)
    if n is None:
        last = row_ids[-1:].to(torch.int64)
        n = _value(torch.cat([last.new_zeros(1), last + 1]).sum())
    rows = torch.arange(n + 1, dtype=row_ids.dtype, device=row_ids.device)
    return _of_lengths(torch.searchsorted(row_ids.contiguous(), rows).diff().to(row_ids.dtype), row_ids.shape[0])


def of_positions(positions: Tensor) -> Segments:
    positions = _tensor("positions", positions)
    spec.check_integers("positions", positions)
    positions = verified("positions", positions)
    begins = torch.nonzero(positions == 0)[:, 0]
    ends = torch.cat([begins[1:], begins.new_full((1,), positions.shape[0])])[: begins.shape[0]]
    return _of_lengths((ends - begins).to(positions.dtype), positions.shape[0])


def of_mask(mask: Tensor, side: Any) -> Segments:
    """Waits for the device to find the side, if it is not given. In traced code the side is then a tensor: True for the
    left one."""
    spec.check_mask("mask", mask)
    spec.check_side(side)
    dtype = torch.int32 if mask.dtype == torch.int32 else torch.int64
    if not torch_tensors.traced(mask) and not mask.is_meta:
        total = None
        if side is None:
            known = spec.of_mask("mask", torch_tensors.to_numpy(mask.cpu()))
            side, total = known.padding_side, known.total
        return spec.padded_on(of_lengths((mask != 0).sum(1, dtype=dtype), total), side)
    mask = verified(f"{side or 'any'} mask", mask)
    held = mask != 0
    lengths = held.sum(1, dtype=dtype)
    first, last = held[:, :1], held[:, -1:]
    on_left, on_right = (~first & last).any(1), (first & ~last).any(1)
    left = on_left.any() if side is None else torch.full((), side == "left", device=mask.device)
    if not verifies(mask):  # the operator `offsets` finds lengths of -1
        wrong = ((held[:, 1:] != held[:, :-1]).sum(1) > 1) | torch.where(left, on_right, on_left)
        wrong = wrong | (held.to(mask.dtype) != mask).any(1)
        lengths = lengths.masked_fill(wrong, -1)
    s = _of_lengths(lengths, None, spec.OF_MASK)
    return spec.padded_on(s, side) if side is not None else Segments(*s[:-1], left)


def moved(s: Segments, device: Any) -> Segments:
    try:
        to = torch.device(device)
    except (RuntimeError, TypeError):
        refuse(ValueError, "device", "a device of PyTorch", repr(device))
    offsets = _offsets(s)
    if to.type == "cpu" and not torch_tensors.traced(offsets):
        return s if s.known() else spec.of_offsets("offsets", offsets.cpu()).changed(
            int32=s.int32, called=s.called, padding_side=side(s)
        )  # fmt: skip
    found, left = _on(offsets, to), s.padding_side
    if isinstance(left, Tensor):
        left = _on(left, to)
    return s if found is s.offsets else s.changed(offsets=found, cached={}, padding_side=left)


def side(s: Segments) -> str:
    """Returns the side of the padding. It waits for the device if only the device knows it."""
    if isinstance(s.padding_side, Tensor):
        return "left" if s.padding_side else "right"
    return s.padding_side


def _tensor(name: str, values: Any) -> Tensor:
    """Returns a tensor. Lists and arrays get here while a compiler follows the code."""
    if isinstance(values, Tensor):
        return values
    if isinstance(values, np.ndarray):
        return torch.from_numpy(values)
    spec.check_integers(name, values)
    return torch.tensor([integer(name, v, "integers") for v in values], dtype=torch.int64)


def placed(name: str, values: Any, like: Tensor) -> Tensor:
    """Returns integers as a tensor on the device of `like`."""
    values = _tensor(name, values)
    if values.device == like.device:
        return values
    return (values.pin_memory() if like.device.type == "cuda" else values).to(like.device, non_blocking=True)


def total(s: Segments) -> Any:
    """Returns the total. It waits for the device if only the device knows it."""
    return s.total if s.total is not None else _value(_offsets(s)[-1])


def longest(s: Segments) -> Any:
    """Returns the largest length. It waits for the device if only the device knows it."""
    return _value(_largest(_offsets(s).diff()))


def _largest(lengths: Tensor) -> Tensor:
    return torch.cat([lengths.new_zeros(1), lengths]).max()


def _value(of: Tensor) -> Any:
    if torch_private.tracing():  # torch.jit.trace has no symbols
        return int(of)
    found = OPS.total.default(of.reshape(1))
    torch._check(found >= 0)
    return found


def _offsets(s: Segments) -> Tensor:
    return torch.from_numpy(s.offsets.copy()) if isinstance(s.offsets, np.ndarray) else s.offsets


def beside(s: Segments, x: Tensor) -> Tensor:
    """Returns the offsets on x's device."""
    if isinstance(s.offsets, np.ndarray) and x.device.type == "cuda" and not torch_tensors.traced(x):
        return _sent(s, x.device)
    offsets = _offsets(s)
    if offsets.device == x.device:
        return offsets  # type: ignore[no-any-return]
    if offsets.device.type != "cpu":
        refuse(TypeError, "lengths", f"lengths on the host or on {x.device}", f"some on {offsets.device}")
    return _on(offsets, x.device)


def _on(offsets: Tensor, device: torch.device) -> Tensor:
    if device.type == "cuda" and offsets.device.type == "cpu" and not torch_tensors.traced(offsets):
        offsets = offsets.pin_memory()  # a copy from pageable memory waits for the device
    return offsets.to(device, non_blocking=True)


def _sent(s: Segments, where: torch.device) -> Tensor:
    """Copies offsets from the host to a device once."""
    from tenter._triton.tables import DeviceTables  # imports Triton

    tables = s.cached.get(where) or s.cached.setdefault(where, DeviceTables([s.offsets], where))
    with torch.cuda.device(where):
        tables.await_on(torch_private.current_stream(where.index))
    return tables.tensors[0]


# ---- indices


def lengths(s: Segments) -> Tensor:
    return _offsets(s).diff().to(_dtype(s))  # type: ignore[no-any-return]


def offsets(s: Segments) -> Tensor:
    """Returns the offsets. In int32, larger offsets are clamped to its largest number, because nothing here waits for
    the total."""
    found = _offsets(s)
    return found.clamp(max=INT32_MAX).to(torch.int32) if s.int32 else found.clone()  # type: ignore[no-any-return]


def row_ids(s: Segments) -> Tensor:
    offsets = _offsets(s)
    return _repeated(torch.arange(s.n, dtype=_dtype(s), device=offsets.device), offsets, total(s))


def positions(s: Segments) -> Tensor:
    offsets, n, dtype = _offsets(s), total(s), _dtype(s)
    return torch.arange(n, dtype=dtype, device=offsets.device) - _repeated(offsets[:-1].to(dtype), offsets, n)


def ranges(s: Segments, starts: Any, steps: Any, int32: bool) -> Tensor:
    offsets, n, dtype = _offsets(s), total(s), torch.int32 if int32 else torch.int64
    starts, steps = (v.to(torch.int64) if isinstance(v, Tensor) else v for v in (starts, steps))
    each = _repeated(steps, offsets, n) if isinstance(steps, Tensor) else steps
    first = (starts - offsets[:-1] * steps).expand(s.n).contiguous()
    return (_repeated(first, offsets, n) + torch.arange(n, device=offsets.device) * each).to(dtype)


def mask(s: Segments, length: Any) -> Tensor:
    lengths = verified("max_len", _offsets(s).diff(), length)
    return _in_rows(s, lengths, length)[1]


def spans(starts: Tensor, ends: Tensor, n: int) -> Tensor:
    """Marks spans. They are clamped to 0 .. n, because maybe only a device knows their values."""
    starts = verified("starts", starts, n, ends)
    starts, ends = starts.to(torch.int64).clamp(0, n), ends.to(torch.int64).clamp(0, n)
    ends = torch.maximum(starts, ends)
    change = torch.zeros((*starts.shape[:-1], n + 1), dtype=torch.int32, device=starts.device)
    one = torch.ones_like(starts, dtype=torch.int32)
    return change.scatter_add(-1, starts, one).scatter_add(-1, ends, -one).cumsum(-1)[..., :-1] > 0


def _dtype(s: Segments) -> torch.dtype:
    return torch.int32 if s.int32 else torch.int64


def _repeated(x: Tensor, offsets: Tensor, n: Any) -> Tensor:
    return OPS.repeat_counts.default(x, offsets, 0, n)  # type: ignore[no-any-return]


# ---- padded tensors


def pad(x: Tensor, s: Segments, length: Any, value: Any) -> Tensor:
    places, held = _places(x, s, length, x.shape[0])
    if is_numeric(torch_tensors.dtype_name(x)):
        y = OPS.repeat_counts_adjoint.default(x, places, 0)
    else:  # bool
        y = OPS.repeat_counts_adjoint.default(x.view(torch.uint8), places, 0).view(x.dtype)
    y = y.unflatten(0, (s.n, length))
    if type(value) is int and value == 0:  # -0.0 differs from 0
        return y
    shape = (s.n, length, *(1,) * (x.ndim - 1))
    return torch.where(held.reshape(shape), y, torch.full((), value, dtype=x.dtype, device=x.device))


def unpad(x: Tensor, s: Segments) -> Tensor:
    n = total(s)
    places, _ = _places(x, s, x.shape[1], n)
    return OPS.repeat_counts.default(x.flatten(0, 1), places, 0, n)  # type: ignore[no-any-return]


def _places(x: Tensor, s: Segments, length: Any, n: Any) -> tuple[Tensor, Tensor]:
    """Returns the offsets of a count of 0 or 1 for each position of a padded tensor, and the same as a mask. The counts
    add up to n only if no row is longer than `length`, which the operator checks."""
    lengths = beside(s, x).diff().clamp(max=length)
    offsets = OPS.offsets.default(lengths, s.n, n, s.called)
    before, held = _in_rows(s, lengths, length)
    return torch.cat([(offsets[:-1, None] + before).flatten(), offsets[-1:]]), held


def _in_rows(s: Segments, lengths: Tensor, length: Any) -> tuple[Tensor, Tensor]:
    """Returns for each place of rows that are padded to `length`: how many positions of its row are before it, and
    whether it holds one."""
    at, lengths = torch.arange(length, device=lengths.device), lengths[:, None]
    left = s.padding_side
    if isinstance(left, str) and left == "right":
        return torch.minimum(at, lengths), at < lengths
    room = length - lengths
    at = at - (room if isinstance(left, str) else left * room)
    return torch.minimum(at.clamp(min=0), lengths), (at >= 0) & (at < lengths)


def repeat_padded(x: Tensor, counts: Any, max_len: Any, value: Any) -> tuple[Tensor, Tensor]:
    """Repeats and pads. The operator `offsets` refuses negative counts and rows longer than max_len."""
    given = counts if isinstance(counts, Tensor) else torch.as_tensor(counts)
    if max_len is not None:
        room = integer("max_len", max_len, "a length", 0)
    else:  # before x's device has the counts: a meta tensor has no values
        room = _value(_largest(given.to(torch.int64).sum(1)))
    counts = placed("repeats", given, x)
    rows, _ = x.shape[:2]
    int32, counts = counts.dtype == torch.int32, counts.to(torch.int64)
    each = counts.sum(1)
    more = torch.cat([counts, room - each[:, None]], 1).flatten()
    offsets = OPS.offsets.default(more, more.shape[0], rows * room, "ragged.repeat_padded")
    joined = torch.cat([x, x.new_full((rows, 1, *x.shape[2:]), value)], 1).flatten(0, 1)
    y = _repeated(joined, offsets, rows * room).unflatten(0, (rows, room))
    return y, each.to(torch.int32) if int32 else each


# ---- extremes


def extremes(x: Tensor, s: Segments, dim: int, largest: bool) -> Tensor:
    """Returns the extremes. Their positions are found without gradients, and then the values are taken, with
    gradients."""
    offsets, n = beside(s, x), x.shape[dim]
    shape = (*x.shape[:dim], s.n, *x.shape[dim + 1 :])
    rows = _repeated(torch.arange(s.n, device=x.device), offsets, n)
    rows, places = (
        v.reshape(-1, *(1,) * (x.ndim - dim - 1)).expand(x.shape) for v in (rows, torch.arange(n, device=x.device))
    )
    with torch.no_grad():
        given = x.detach()
        none = torch.full(shape, _none(x.dtype, largest), dtype=x.dtype, device=x.device)
        values = none.scatter_reduce(dim, rows, given, "amax" if largest else "amin")
        best = (given == values.gather(dim, rows)) | (given != given)
        at = torch.full(shape, INT64_MAX, dtype=torch.int64, device=x.device)
        at = at.scatter_reduce(dim, rows, torch.where(best, places, INT64_MAX), "amin")
        at = torch.where(at == INT64_MAX, -1, at)
    return taken_at(x, dim, at, values)


def _none(dtype: torch.dtype, largest: bool) -> Any:
    """Returns the value of an empty row."""
    if dtype.is_floating_point:
        return -torch.inf if largest else torch.inf
    return torch.iinfo(dtype).min if largest else torch.iinfo(dtype).max


def taken_at(x: Tensor, dim: int, at: Tensor, values: Tensor) -> Tensor:
    """Takes x at positions along dim; differentiable. Positions below 0 give `values`."""
    if surely(x.shape[dim] == 0):
        return values + x.sum(dim, keepdim=True)
    return torch.where(at >= 0, x.gather(dim, at.clamp(min=0)), values)
