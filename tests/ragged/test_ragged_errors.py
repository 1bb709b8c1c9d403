"""Bad input to the helpers of ragged arrays: one clear error, which says what was expected, what was given and where."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from program_helpers import prints
from sweeps import in_one_test
from tenter import ragged

X = np.arange(6.0)
INT32 = np.full(3, 2**30, np.int32)
I = np.array  # noqa: E741
# name, call of a function that makes arrays of a library, error, what it says before the call, and the call's name
BAD = [
    ("negative", lambda a: ragged.offsets(a([2, -1, 3])), ValueError,
     "lengths: expected non-negative lengths, got -1 at position 1", "ragged.offsets"),
    ("negative in a plan", lambda a: ragged.Plan(a([-7])), ValueError,
     "lengths: expected non-negative lengths, got -7 at position 0", "ragged.Plan"),
    ("floats", lambda a: ragged.row_ids(a([2.0, 3.0])), TypeError,
     r"lengths: expected integers \(convert with .(long\(\)|astype\(np.int64\))\), got float64", "ragged.row_ids"),
    ("bools", lambda a: ragged.positions(a([True])), TypeError, "lengths: expected integers, got bool", "ragged.positions"),
    ("2-D", lambda a: ragged.Plan(a([[1, 2]])), ValueError, "lengths: expected 1-D integers, got 2-D", "ragged.Plan"),
    ("0-d", lambda a: ragged.mask(a(3)), ValueError, "lengths: expected 1-D integers, got 0-D", "ragged.mask"),
    ("text", lambda a: ragged.Plan("12"), TypeError,
     "lengths: expected integers: an array, a tensor or a list, got '12'", "ragged.Plan"),
    ("a list of floats", lambda a: ragged.Plan([1, 2.5]), TypeError, "lengths: expected integer counts, got 2.5", "ragged.Plan"),
    ("total", lambda a: ragged.row_ids(a([2, 3]), output_size=6), ValueError,
     "output_size: expected 5, the sum of the lengths, got 6", "ragged.row_ids"),
    ("total of a plan", lambda a: ragged.ranges(0, ragged.Plan(a([2, 3])), output_size=4), ValueError,
     "output_size: expected 5, the sum of the lengths, got 4", "ragged.ranges"),
    ("total in floats", lambda a: ragged.offsets(a([2, 3]), output_size=5.0), TypeError,
     "output_size: expected the sum of the lengths, an int, got 5.0", "ragged.offsets"),
    ("int32 too small", lambda a: ragged.offsets(a(INT32)), ValueError,
     r"lengths: expected a sum below 2\*\*31, as they are int32, got 3221225472", "ragged.offsets"),
    ("int64 too small", lambda a: ragged.Plan(a([2**62, 2**62])), ValueError,
     r"lengths: expected lengths whose sum is below 2\*\*63, got more from position 1 on", "ragged.Plan"),
    ("too much memory", lambda a: ragged.positions(a([2**50])), MemoryError, "result: expected at most the machine's", "ragged.positions"),
    ("offsets not sorted", lambda a: ragged.lengths(a([0, 3, 2])), ValueError,
     "offsets: expected ascending offsets, got 2 after 3 at position 2", "ragged.lengths"),
    ("offsets from 1", lambda a: ragged.Plan.from_offsets(a([1, 3])), ValueError,
     "offsets: expected offsets from 0 on, one more than there are rows, got 1 first", "ragged.Plan.from_offsets"),
    ("no offsets", lambda a: ragged.lengths(a(I([], np.int64))), ValueError,
     "offsets: expected offsets from 0 on, one more than there are rows, got none", "ragged.lengths"),
    ("offsets and total", lambda a: ragged.Plan.from_offsets(a([0, 3]), output_size=2), ValueError,
     "output_size: expected 3, the sum of the lengths, got 2", "ragged.Plan.from_offsets"),
    ("row ids not sorted", lambda a: ragged.Plan.from_row_ids(a([0, 2, 1])).lengths, ValueError,
     "row_ids: expected sorted row ids, got 1 after 2 at position 2", "ragged.Plan.from_row_ids"),
    ("negative row ids", lambda a: ragged.Plan.from_row_ids(a([-1, 0]), 2).lengths, ValueError,
     "row_ids: expected row ids from 0 to 1, got -1", "ragged.Plan.from_row_ids"),
    ("row ids past n", lambda a: ragged.Plan.from_row_ids(a([0, 5]), n=3), ValueError,
     "row_ids: expected row ids from 0 to 2, got 5", "ragged.Plan.from_row_ids"),
    ("n", lambda a: ragged.Plan.from_row_ids(a([0]), n=-1), ValueError, "n: expected a number of rows >= 0, got -1", "ragged.Plan"),
    ("positions from 1", lambda a: ragged.Plan.from_positions(a([1, 2])).lengths, ValueError,
     "positions: expected positions that begin with 0, got 1", "ragged.Plan.from_positions"),
    ("positions that jump", lambda a: ragged.Plan.from_positions(a([0, 1, 3])).lengths, ValueError,
     "positions: expected 0 or 2 after 1, got 3 at position 2", "ragged.Plan.from_positions"),
    ("a mask of floats", lambda a: ragged.Plan.from_mask(a([[1.0, 0.0]])).lengths, TypeError,
     "mask: expected a mask of bools, or of the integers 0 and 1, got float64", "ragged.Plan.from_mask"),
    ("a mask of other integers", lambda a: ragged.Plan.from_mask(a([[1, 1], [1, 2]])).lengths, ValueError,
     "mask: expected 0 or 1, got 2 at position 1 of row 1", "ragged.Plan.from_mask"),
    ("a negative mask", lambda a: ragged.Plan.from_mask(a([[0, -1, 1]])).lengths, ValueError,
     "mask: expected 0 or 1, got -1 at position 1 of row 0", "ragged.Plan.from_mask"),
    ("a mask with a hole", lambda a: ragged.Plan.from_mask(a([[1, 0, 0], [1, 0, 1]])).lengths, ValueError,
     "mask: expected padding at one side of each row, got a True after a False at position 2 of row 1", "ragged.Plan.from_mask"),
    ("a mask padded twice", lambda a: ragged.Plan.from_mask(a([[0, 1, 1], [0, 1, 0]])).lengths, ValueError,
     "mask: expected padding at one side of each row, got a False after a True at position 2 of row 1", "ragged.Plan.from_mask"),
    ("a mask of both sides", lambda a: ragged.Plan.from_mask(a([[True, False], [False, True]])).lengths, ValueError,
     "mask: expected padding at the same side of all rows, got it on the right of row 0 and on the left of row 1",
     "ragged.Plan.from_mask"),
    ("a mask of the other side", lambda a: ragged.Plan.from_mask(a([[1, 1], [0, 1]]), padding_side="right").lengths, ValueError,
     r"mask: expected padding on the right of all rows, got it on the left of row 1 \(padding_side='left' takes that\)",
     "ragged.Plan.from_mask"),
    ("a mask of the other side too", lambda a: ragged.Plan.from_mask(a([[1, 0]]), padding_side="left").lengths, ValueError,
     r"mask: expected padding on the left of all rows, got it on the right of row 0 \(padding_side='right' takes that\)",
     "ragged.Plan.from_mask"),
    ("another side", lambda a: ragged.Plan.from_mask(a([[1, 0]]), padding_side="top"), ValueError,
     "padding_side: expected 'left' or 'right', got 'top'", "ragged.Plan.from_mask"),
    ("pad on another side", lambda a: ragged.pad(a(X), a([6]), padding_side="Left"), ValueError,
     "padding_side: expected 'left' or 'right', got 'Left'", "ragged.pad"),
    ("unpad from a side by number", lambda a: ragged.Plan([6]).unpad(a(X[None]), padding_side=0), TypeError,
     "padding_side: expected 'left' or 'right', got 0", "Plan.unpad"),
    ("a mask on no side", lambda a: ragged.mask(a([6]), padding_side=""), ValueError,
     "padding_side: expected 'left' or 'right', got ''", "ragged.mask"),
    ("PyTorch's word by half", lambda a: ragged.pad(a(X), a([6]), side="left"), TypeError,
     r"side: expected no argument of this name, got 'left' \(did you mean padding_side='left'\?\)", "ragged.pad"),
    ("a side by its position", lambda a: ragged.pad(a(X), a([6]), 6, "left"), TypeError,
     "padding_side: expected it by its name, padding_side='left', got it by its position", "ragged.pad"),
    ("a 1-D mask", lambda a: ragged.Plan.from_mask(a([True])), ValueError,
     "mask: expected a 2-D mask: rows, positions, got 1-D", "ragged.Plan.from_mask"),
    ("max_len", lambda a: ragged.mask(a([2, 7, 3]), 6), ValueError,
     r"max_len: expected at least 7, the length of row 1, got 6 \(lengths.clip\(max=6\) cuts them, as sequence_mask does\)", "ragged.mask"),
    ("max_len in floats", lambda a: ragged.pad(a(X), [6], 6.0), TypeError, "max_len: expected a length, got 6.0", "ragged.pad"),
    ("starts", lambda a: ragged.ranges(a([1, 2, 3]), [2, 3]), ValueError,
     "starts: expected 2 integers, one for each row, got 3", "ragged.ranges"),
    ("steps in floats", lambda a: ragged.ranges(0, [2, 3], a([0.5, 1.0])), TypeError,
     r"steps: expected integers \(convert", "ragged.ranges"),
    ("a start in floats", lambda a: ragged.ranges(0.5, [2]), TypeError, "starts: expected an int, or integers", "ragged.ranges"),
    ("spans", lambda a: ragged.spans_to_mask(a([3]), a([2]), 5), ValueError,
     "starts: expected spans with 0 <= start <= end <= 5, got 3 .. 2", "ragged.spans_to_mask"),
    ("spans past n", lambda a: ragged.spans_to_mask(a([3]), a([6]), 5), ValueError, "starts: expected spans .* got 3 .. 6", "ragged.spans_to_mask"),
    ("spans of other shapes", lambda a: ragged.spans_to_mask(a([3]), a([4, 5]), 5), ValueError,
     r"ends: expected the shape of starts, \(1,\), got \(2,\)", "ragged.spans_to_mask"),
    ("x of another length", lambda a: ragged.segment_sum(a(X), [2, 3]), ValueError,
     "x: expected length 5, the sum of the lengths, got 6 along dim 0", "ragged.segment_sum"),
    ("x of another length than an array's sum", lambda a: ragged.segment_mean(a(X), a([2, 3])), ValueError,
     "x: expected length 5, the sum of the lengths, got 6 along dim 0", "ragged.segment_mean"),
    ("softmax of another length", lambda a: ragged.segment_softmax(a(X), a([7])), ValueError,
     "x: expected length 7, the sum of the lengths, got 6 along dim 0", "ragged.segment_softmax"),
    ("pad to less than a row", lambda a: ragged.pad(a(X), a([6]), 5), ValueError,
     "max_len: expected at least 6, the length of row 0, got 5", "ragged.pad"),
    ("pad x by an array", lambda a: ragged.pad(a(X), a([2, 3])), ValueError,
     "x: expected length 5, the sum of the lengths, got 6", "ragged.pad"),
    ("unpad by an array", lambda a: ragged.unpad(a(X.reshape(2, 3)), a([3, 4])), ValueError,
     "x: expected at least 4 positions a row, as the longest has, got 3", "ragged.unpad"),
    ("starts for other rows", lambda a: ragged.ranges(a([1, 2, 3]), a([2, 3])), ValueError,
     "starts: expected 2 integers, one for each row, got 3", "ragged.ranges"),
    ("the same of a plan", lambda a: ragged.Plan([2, 3]).max(a(X)), ValueError,
     "x: expected length 5, the sum of the lengths, got 6 along dim 0", "Plan.max"),
    ("dim", lambda a: ragged.segment_max(a(X), [6], axis=1), IndexError, "axis: expected a dim of a 1-d input", "ragged.segment_max"),
    ("x 0-d", lambda a: ragged.segment_min(a(1.0), []), ValueError, "x: expected an array with an axis to reduce, got 0-d", "ragged.segment_min"),
    ("sums of bools", lambda a: ragged.segment_sum(a([True]), [1]), TypeError, "x: expected numbers to take sums of, got bool", "ragged.segment_sum"),
    ("means of ints", lambda a: ragged.segment_mean(a([1]), [1]), TypeError,
     r"x: expected floats or complex numbers \(convert integers first\), got int64", "ragged.segment_mean"),
    ("extremes of complex numbers", lambda a: ragged.segment_max(a([1j]), [1]), TypeError, "x: expected real numbers", "ragged.segment_max"),
    ("softmax of ints", lambda a: ragged.segment_softmax(a([1]), [1]), TypeError, "x: expected floats of at most 64 bits, got int64", "ragged.segment_softmax"),
    ("pad x", lambda a: ragged.pad(a(X), [2, 3]), ValueError, "x: expected length 5, the sum of the lengths, got 6", "ragged.pad"),
    ("pad 0-d", lambda a: ragged.pad(a(1.0), []), ValueError, "x: expected positions along its first dim, got 0-d", "ragged.pad"),
    ("value", lambda a: ragged.pad(a([1, 2]), [2], value=0.5), ValueError, "value: expected a value of int64, got 0.5", "ragged.pad"),
    ("value in words", lambda a: ragged.pad(a(X), [6], value="0"), TypeError, "value: expected a number, got '0'", "ragged.pad"),
    ("unpad 1-D", lambda a: ragged.unpad(a(X), [6]), ValueError, "x: expected a padded array: rows, positions, ..., got 1-D", "ragged.unpad"),
    ("unpad rows", lambda a: ragged.unpad(a(X.reshape(2, 3)), [3]), ValueError, "x: expected 1 rows, one for each length, got 2", "ragged.unpad"),
    ("unpad length", lambda a: ragged.unpad(a(X.reshape(2, 3)), [3, 4]), ValueError,
     "x: expected at least 4 positions a row, as the longest has, got 3", "ragged.unpad"),
    ("counts of another shape", lambda a: ragged.repeat_padded(a(X.reshape(2, 3)), a([[1, 2]])), ValueError,
     r"repeats: expected shape \(2, 3\), one for each of x's positions, got \(1, 2\)", "ragged.repeat_padded"),
    ("counts of positions that are last", lambda a: ragged.repeat_padded(a(np.ones((2, 4, 3))), a([[1, 2, 3], [4, 5, 6]])), ValueError,
     r"repeats: expected shape \(2, 4\), one for each of x's positions, got \(2, 3\) "
     r"\(positions are x's second dim: did you mean (np.moveaxis\(x, -1, 1\)|x.movedim\(-1, 1\))\?\)", "ragged.repeat_padded"),
    ("unpad positions that are last", lambda a: ragged.unpad(a(np.ones((2, 4, 9))), [2, 9]), ValueError,
     r"x: expected at least 9 positions a row, as the longest has, got 4 "
     r"\(positions are x's second dim: did you mean (np.moveaxis\(x, -1, 1\)|x.movedim\(-1, 1\))\?\)", "ragged.unpad"),
    ("a list of rows", lambda a: ragged.pad([a(X), a(X[:4])], [6, 4]), (TypeError, ValueError),
     r"x: expected (one array \(torch.cat\(x\) makes one\), got a list of torch.Tensor|"
     r"an array, or a list that makes one, got a ragged list \(np.concatenate\(x\) joins its rows\))", "ragged.pad"),
    ("a list of rows to add", lambda a: ragged.Plan([6, 4]).sum([a(X), a(X[:4])]), (TypeError, ValueError),
     r"x: expected (one array \(torch.cat\(x\) makes one\)|an array, or a list that makes one, .*np.concatenate\(x\) joins)", "Plan.sum"),
    ("a plan of arrays to a device", lambda a: ragged.Plan([6, 4]).to("cpu"), TypeError,
     r"plan: expected one of tensors \(Plan\(torch.from_numpy\(plan.lengths\)\) makes one\), got one of NumPy arrays", "Plan.to"),
    ("a plan to nowhere", lambda a: ragged.Plan(torch.tensor([6])).to("host"), ValueError,
     "device: expected a device of PyTorch, got 'host'", "Plan.to"),
    ("counts in a list of another shape", lambda a: ragged.repeat_padded(a(X.reshape(2, 3)), [[1, 2]]), ValueError,
     r"repeats: expected shape \(2, 3\), one for each of x's positions, got \(1, 2\)", "ragged.repeat_padded"),
    ("1-D counts", lambda a: ragged.repeat_padded(a(X.reshape(2, 3)), a([1, 2])), ValueError, "repeats: expected 2-D integers, got 1-D", "ragged.repeat_padded"),
    ("negative counts", lambda a: ragged.repeat_padded(a(X.reshape(2, 3)), a([[1, 2, 3], [0, -3, 0]])), ValueError,
     "repeats: expected non-negative counts, got -3 at position 1 of row 1", "ragged.repeat_padded"),
    ("positions of a batch of one", lambda a: ragged.Plan.from_positions(a([[0, 1, 0]])).lengths, ValueError,
     r"positions: expected 1-D integers, got 2-D \(did you mean positions\[0\]\?\)", "ragged.Plan.from_positions"),
    ("padded too short", lambda a: ragged.repeat_padded(a(X.reshape(1, 6)), a([[1] * 6]), 5), ValueError,
     "max_len: expected at least 6, the length of row 0, got 5", "ragged.repeat_padded"),
    ("repeat", lambda a: ragged.Plan(a([1, 2])).repeat(a(X)), ValueError,
     "x: expected length 2 along axis 0, one for each row, got 6", "Plan.repeat"),
    ("x in words", lambda a: ragged.segment_sum("abc", [3]), TypeError, "x: expected an array, a tensor or a list of numbers, got str", "ragged.segment_sum"),
]  # fmt: skip


def tensor(values):
    return torch.from_numpy(np.asarray(values)) if not isinstance(values, str) else values


@in_one_test("make", [np.asarray, tensor], ids=["array", "tensor"])
@in_one_test("name, call, error, says, where", BAD, ids=[b[0] for b in BAD])
def test_bad_input(name, call, error, says, where, make):
    with pytest.raises(error) as raised:
        call(make)
    assert re.match(rf"({says})[^\n]*\n  in {re.escape(where)}", str(raised.value)), str(raised.value)


def test_tensors_that_have_no_values_or_memory():
    with pytest.raises(TypeError):
        ragged.Plan(torch.ones(3, dtype=torch.int64, device="meta")).row_ids
    x = torch.arange(6.0)
    x.untyped_storage().resize_(4)
    for f in (ragged.segment_max, ragged.segment_sum, ragged.pad):
        with pytest.raises(ValueError, match="storage is too small"):
            f(x, [6])
    lengths = torch.full((3,), 2)
    lengths.untyped_storage().resize_(8)
    with pytest.raises(ValueError, match="storage is too small"):
        ragged.offsets(lengths)
    for f in (ragged.segment_sum, ragged.pad):
        with pytest.raises(TypeError, match="sparse"):
            f(torch.ones(6).to_sparse(), [6])
    with pytest.raises(TypeError, match=r"own rules"):
        ragged.segment_sum(np.ma.masked_array(X, X > 3), [6])


@in_one_test("library", ["numpy", "torch"])
def test_arrays_that_only_promise_their_elements_are_refused_before_memory_is_taken(library):
    assert prints("ragged_of_promised.py", library) == ""
