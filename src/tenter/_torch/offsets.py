"""The two operators of counts: `offsets`, their checked prefix sums, and `total`, the last of these as an int."""

from typing import Any

import torch
from torch import Tensor

from tenter import _native
from tenter._arrays import torch_private, torch_tensors
from tenter._arrays.errors import refuse
from tenter._arrays.library import surely
from tenter._arrays.torch_tensors import dtype_name, stored, to_numpy
from tenter._specs import counts as counts_spec, segments as segments_spec
from tenter._specs.operands import check_int64
from tenter._torch import device


def offsets(counts: Tensor, n: int, output_size: int | None, called: str = "") -> Tensor:
    found: Tensor | None = None
    if torch_tensors.device(counts) is None:
        found = _native.row_offsets(counts, n, output_size)
    if found is not None:
        return found
    check_counts(counts.shape, dtype_name(counts), n, output_size)
    stored("repeats", counts)
    if counts.ndim == 1:
        return _row_offsets(counts, output_size, called)
    if 0 in counts.shape[:-1]:
        return offsets_shape(counts, n, output_size)
    made = [_row_offsets(row, output_size, called) for row in counts.flatten(0, -2)]
    return torch.stack(made).reshape((*counts.shape[:-1], n + 1))


def _row_offsets(counts: Tensor, output_size: int | None, called: str) -> Tensor:
    if torch_tensors.device(counts) is not None:
        return device.offsets(counts, output_size, called)
    if called:
        if called == segments_spec.OF_MASK:
            segments_spec.check_rows(to_numpy(counts))
        made = counts_spec.offsets("lengths", to_numpy(counts), "lengths")
        segments_spec.check_total(output_size, int(made[-1]))
    else:
        made = counts_spec.offsets("repeats", to_numpy(counts))
        counts_spec.check_total(int(made[-1]), output_size)
    return torch.from_numpy(made)


def offsets_shape(counts: Tensor, n: Any, output_size: Any, called: str = "") -> Tensor:
    check_counts(counts.shape, dtype_name(counts), n, output_size)
    return counts.new_empty((*counts.shape[:-1], n + 1), dtype=torch.int64)


def check_counts(shape: Any, dtype: str, n: Any, output_size: Any) -> None:
    if len(shape) < 1 or surely(shape[-1] != n):
        refuse(ValueError, "repeats", f"{n} counts", f"shape {list(shape)}")
    counts_spec.check_shape("repeats", dtype, shape[-1:], n, None)
    if output_size is not None and surely(output_size < 0):
        refuse(ValueError, "output_size", f"{counts_spec.TOTAL} >= 0", f"{output_size}")


def total(offsets: Tensor) -> int:
    """Returns the total. Under vmap there are many, but their results are stacked, so they are equal."""
    found = _native.last_offset(offsets) if torch_tensors.device(offsets) is None else None
    if found is not None:
        return found
    check_offsets(offsets, offsets.shape)
    stored("offsets", offsets)
    totals = device.totals(offsets)
    if not totals:
        refuse(ValueError, "offsets", "prefix sums", f"shape {tuple(offsets.shape)}")
    if len(set(totals)) > 1:
        refuse(ValueError, "repeats", "counts of equal sums for all that vmap maps over", f"sums {totals[:8]}")
    return totals[0]


def total_symbol(offsets: Tensor) -> Any:
    check_offsets(offsets, offsets.shape)
    symbol = None if offsets.device.type == "meta" else torch_private.new_symbol()
    if symbol is None:
        refuse(TypeError, "repeats", "counts with values, or output_size given", "counts without values")
    return symbol


def check_offsets(offsets: Tensor, shape: Any) -> None:
    check_int64(offsets)
    if len(shape) < 1 or surely(shape[-1] < 1):
        refuse(ValueError, "offsets", "prefix sums in int64", f"int64{list(shape)}")
