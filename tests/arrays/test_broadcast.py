"""Arrays that take no memory, as `np.broadcast_to` makes them, and ranges: what would fill memory is refused at once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import tenter
import tenter.numpy
from sweeps import in_one_test
from tenter import lazy, ragged

N = 2**40
SHORT = np.arange(3.0)
IMAGE = SHORT[None, None]
OF = {
    "NumPy": lambda value, *shape: np.broadcast_to(np.asarray(value), shape),
    "PyTorch": lambda value, *shape: torch.tensor(value).expand(*shape),
}
# What is called with a maker of broadcast arrays, and the argument that the error names.
OF_X = {
    "sums": (lambda of: ragged.segment_sum(of(1.0, N), of(N, 1)), "x"),
    "maxima": (lambda of: ragged.segment_max(of(1.0, N), of(N, 1)), "x"),
    "softmax": (lambda of: ragged.segment_softmax(of(1.0, N), of(N, 1)), "x"),
    "sums along axis 1": (lambda of: ragged.segment_sum(of(1.0, 2, N), of(N, 1), 1), "x"),
    "a plan's sums": (lambda of: ragged.Plan([N]).sum(of(1.0, N)), "x"),
    "pad": (lambda of: ragged.pad(of(1.0, N), of(N, 1)), "x as a contiguous copy"),
    "repeat": (lambda of: tenter.repeat(of(1.0, N), 1), "result"),
    "tile": (lambda of: tenter.tile(of(1.0, N), 2), "result"),
}
OF_COUNTS = {
    "lengths": (lambda of: ragged.segment_sum(of(1.0, 1), of(0, N)), "lengths"),
    "counts": (lambda of: tenter.repeat_interleave(of(1.0, N), of(0, N)), "repeats"),
    "counts of rows": (lambda of: tenter.repeat_interleave(of(1.0, N, 2), of(0, N), 0), "repeats"),
    "counts alone": (lambda of: tenter.repeat_interleave(of(0, N)), "repeats"),
    "a plan": (lambda of: ragged.Plan(of(0, N)), "lengths"),
    "offsets": (lambda of: ragged.Plan.from_offsets(of(0, N)), "offsets"),
    "row ids": (lambda of: ragged.Plan.from_row_ids(of(0, N)), "row_ids"),
    "positions": (lambda of: ragged.Plan.from_positions(of(0, N)), "positions"),
    "a mask": (lambda of: ragged.Plan.from_mask(of(True, 2, N)), "mask"),
    "indices": (lambda of: ragged.row_ids(of(0, N)), "lengths"),
    "offsets of lengths": (lambda of: ragged.offsets(of(0, N)), "lengths"),
    "a mask of lengths": (lambda of: ragged.mask(of(0, N)), "lengths"),
    "spans": (lambda of: ragged.spans_to_mask(of(0, N), of(0, N), 4), "starts"),
    "unpad": (lambda of: ragged.unpad(of(1.0, N, 2), of(0, N)), "lengths"),
    "padded repeats": (lambda of: ragged.repeat_padded(of(1.0, 2, N), of(0, 2, N)), "repeats"),
    "a lazy array": (lambda of: lazy.repeat_interleave(of(1.0, N), of(0, N)), "repeats"),
}
OF_NUMPY = {
    "repeat": (lambda: tenter.numpy.repeat(OF["NumPy"](1.0, N), OF["NumPy"](0, N)), "repeats"),
    "repeat of strings": (lambda: tenter.numpy.repeat(OF["NumPy"]("a", N), OF["NumPy"](0, N)), "repeats"),
    "repeat by a range": (lambda: tenter.numpy.repeat(SHORT, range(N)), "repeats"),
    "tile": (lambda: tenter.numpy.tile(OF["NumPy"](1.0, N), 2), "result"),
    "tile by many": (lambda: tenter.numpy.tile(SHORT, OF["NumPy"](1, N)), "reps"),
    "tile by a range": (lambda: tenter.numpy.tile(SHORT, range(N)), "reps"),
    "a plan": (lambda: ragged.Plan(range(N)), "lengths"),
}
# What is called with many values where an array has one for each dim.
OF_DIMS = {
    "tile": (lambda many: tenter.tile(SHORT, many), "dims"),
    "repeat": (lambda many: tenter.repeat(SHORT, many), "sizes"),
    "expand": (lambda many: tenter.expand(SHORT, many), "sizes"),
    "size": (lambda many: tenter.resize(SHORT, many), "size"),
    "scale": (lambda many: tenter.resize(SHORT, scale=many), "scale"),
    "axes": (lambda many: tenter.resize(SHORT, 3, axes=many), "axes"),
    "box": (lambda many: tenter.resize(SHORT, 3, box=many), "box"),
    "interpolate": (lambda many: tenter.interpolate(IMAGE, many), "size"),
    "scale_factor": (lambda many: tenter.interpolate(IMAGE, scale_factor=many), "scale_factor"),
}


@in_one_test("library, name", itertools.product(OF, [*OF_X, *OF_COUNTS]))
def test_what_would_not_fit_in_memory_is_refused_by_name(library, name):
    call, argument = (OF_X | OF_COUNTS)[name]
    with pytest.raises(MemoryError, match=rf"^{argument}: expected at most the machine's .* GiB, got shape \("):
        call(OF[library])


@in_one_test("name", OF_NUMPY)
def test_numpys_dialect_and_ranges_are_refused_by_name(name):
    call, argument = OF_NUMPY[name]
    with pytest.raises(MemoryError, match=rf"^{argument}: expected at most the machine's .* GiB, got shape \("):
        call()


@in_one_test("name, many", itertools.product(OF_DIMS, [range(N), *(of(1, N) for of in OF.values())]))
def test_more_values_than_there_are_dims_are_never_listed(name, many):
    call, argument = OF_DIMS[name]
    with pytest.raises(ValueError, match=rf"^{argument}: expected at most 65536 values, got "):
        call(many)
