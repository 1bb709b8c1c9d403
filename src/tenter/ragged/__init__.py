"""Ragged arrays: variable-length rows, one after the other, without padding, and what describes them.

A batch of sequences, the words of sentences, the edges of a graph's nodes: `x` holds all positions, row after row, and
one of these says where rows begin and end::

    lengths    [2, 0, 3]           how many positions each row has: counts, durations, sizes, repeats
    offsets    [0, 2, 2, 5]        where each row begins, and the end: cu_seqlens, indptr, crow_indices, row_splits,
                                   splits, row pointers
    row_ids    [0, 0, 2, 2, 2]     the row of each position: segment ids, batch index, value_rowids, COO rows
    positions  [0, 1, 0, 1, 2]     the place of each position in its row: position ids
    mask       [[1, 1, 0], ...]    which places of a padded array hold a position: padding or attention mask

Functions take lengths, or a `Plan`, which keeps what it has computed for the next call; the class
methods of `Plan` and `lengths` read the other forms. A row of a ragged array is a run of an axis map
(`tenter.maps.Copy`): `repeat` applies it, `segment_sum` its transpose.

What all functions share:

- NumPy in, NumPy out; a tensor in, a tensor on its device out. Lists give NumPy arrays. Lengths on the host may
  describe a tensor on a device.
- Indices have the dtype of what they come from: int32 from int32, else int64. Sums that int32 cannot hold are refused.
- Padded arrays have their padding on the right, or on the left: `padding_side="left"`, or a plan of such a mask.
- `output_size`, the sum of the lengths, and `max_len`, the largest, are verified where they are given. With lengths on
  a device they must be given, or the call waits for the device. There lengths are verified when the device comes to
  them, and a later call raises (`tenter.torch.synchronize` waits for that).
- Results on PyTorch are differentiable, to any order, and the same bits for any number of threads.
- Errors: TypeError for dtypes, ValueError for values and shapes, in tenter's form.
"""

from typing import Any

from tenter._arrays.arguments import did_you_mean
from tenter._arrays.elsewhere import ROWS_ELSEWHERE
from tenter._arrays.names import unknown
from tenter.ragged._indices import (
    lengths,
    offsets,
    positions,
    ranges,
    row_ids,
)
from tenter.ragged._padding import mask, pad, repeat_padded, spans_to_mask, unpad
from tenter.ragged._plan import Plan
from tenter.ragged._segments import segment_max, segment_mean, segment_min, segment_softmax, segment_sum

__all__ = [
    "Plan",
    "lengths",
    "mask",
    "offsets",
    "pad",
    "positions",
    "ranges",
    "repeat_padded",
    "row_ids",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_softmax",
    "segment_sum",
    "spans_to_mask",
    "unpad",
]


def __getattr__(name: str) -> Any:
    meant = ROWS_ELSEWHERE.get(name)
    raise unknown(__name__, name, f" (did you mean ragged.{meant}?)" if meant else did_you_mean(name, __all__))


def __dir__() -> list[str]:
    return __all__
