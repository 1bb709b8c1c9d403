"""Inputs that are rare: keys of JAX, Dask arrays of objects, empty batches of vmap, outputs whose elements share memory.
Results are right, or errors have the usual form."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import tenter
from tenter._arrays.layout import overlaps

jax = pytest.importorskip("jax")
da = pytest.importorskip("dask.array")
KEYS = jax.random.split(jax.random.key(0), 4)
COPIES = {
    "repeat_interleave": lambda x: tenter.repeat_interleave(x, 2),
    "counts": lambda x: tenter.repeat_interleave(x, [1, 2, 0, 1]),
    "repeat": lambda x: tenter.repeat(x, 2),
    "tile": lambda x: tenter.tile(x, 2),
    "expand": lambda x: tenter.expand(x, 2, 4),
    "nearest": lambda x: tenter.resize(x, 8, mode="nearest"),
}
KEYS_REFUSED = {
    "sums": lambda k: tenter.resize(k, 8),
    "counts": lambda k: tenter.repeat_interleave(np.arange(4), k),
    "scale": lambda k: tenter.resize(np.arange(4.0), scale=k),
    "box": lambda k: tenter.resize(np.arange(4.0), 8, box=k),
    "size": lambda k: tenter.resize(np.arange(4.0), k),
    "dim": lambda k: tenter.repeat_interleave(np.arange(4), 2, dim=k[0]),
    "numpy.repeat": lambda k: tenter.numpy.repeat(k, 2),
    "ragged": tenter.ragged.row_ids,
    "lazy": lambda k: tenter.lazy.repeat(k, 2),
}


@pytest.mark.parametrize("name", COPIES)
def test_keys_of_random_numbers_are_copied(name):
    data = jax.random.key_data(COPIES[name](KEYS))
    at = np.asarray(COPIES[name](np.arange(4)))
    np.testing.assert_array_equal(data, np.asarray(jax.random.key_data(KEYS))[at])


@pytest.mark.parametrize("name", KEYS_REFUSED)
def test_keys_of_random_numbers_are_refused_elsewhere(name):
    with pytest.raises(TypeError, match=r"(?s)^\w+: expected .*, got .*\n  in "):
        KEYS_REFUSED[name](KEYS)


@pytest.mark.parametrize("call", [
    lambda x: tenter.repeat_interleave(x, 0), lambda x: tenter.repeat_interleave(x, 2), lambda x: tenter.repeat(x, 0, 1),
    lambda x: tenter.tile(x, 0), lambda x: tenter.expand(x, 0, *x.shape), lambda x: tenter.resize(x, 0, axes=1, mode="nearest"),
])  # fmt: skip
@pytest.mark.parametrize("shape", [(0, 4), (2, 3)])
def test_dask_arrays_of_objects_give_results_of_no_size(call, shape):
    x = np.full(shape, None, object)
    np.testing.assert_array_equal(call(da.from_array(x, chunks=2)).compute(), call(x))


@pytest.mark.parametrize("shape", [(0, 3), (0, 0), (0, 3, 2), (2, 0)])
def test_vmap_over_an_empty_batch_flattens(shape):
    found = torch.vmap(lambda x: tenter.repeat_interleave(x, 2))(torch.ones(shape))
    assert found.shape == torch.vmap(lambda x: torch.repeat_interleave(x, 2))(torch.ones(shape)).shape
    each = torch.vmap(lambda x, c: tenter.repeat_interleave(x, c, output_size=3))
    assert each(torch.ones(0, 2), torch.ones(0, 2, dtype=torch.int64)).shape == (0, 3)


def strided(memory, shape, strides):
    """An array, or a tensor, of strides in elements."""
    if isinstance(memory, torch.Tensor):
        return memory.as_strided(shape, strides)
    return np.lib.stride_tricks.as_strided(memory, shape, [s * memory.itemsize for s in strides])


OUTS = {
    "repeat": lambda x, out: tenter.repeat(x, 2, 1, out=out),
    "repeat_interleave": lambda x, out: tenter.repeat_interleave(x, [1, 3], 0, out=out),
    "resize": lambda x, out: tenter.resize(x, 4, axes=0, out=out),
    "interpolate": lambda x, out: tenter.interpolate(x[None, None], (4, 4), out=out[None, None]),
    "map": lambda x, out: tenter.axis_map(2, 4).apply(x, 0, out=out),
    "lazy": lambda x, out: tenter.lazy.repeat(x, 2, 1).materialize(out=out),
    "pad": lambda x, out: tenter.ragged.pad(x.reshape(-1), [3, 1, 2, 2], max_len=4, out=out),
    "segment_sum": lambda x, out: tenter.ragged.segment_sum(x, [1, 1, 0, 0], out=out),
}


@pytest.mark.parametrize("make", [np.zeros, torch.zeros], ids=["numpy", "torch"])
@pytest.mark.parametrize("name", OUTS)
def test_an_out_whose_elements_share_memory_is_refused(name, make):
    x = make((2, 4)) + 1
    for strides in ((1, 1), (3, 1), (2, 1), (1, 2)):
        memory = make(32)
        for _ in range(2):  # the second call may be one that is known
            with pytest.raises(ValueError, match=r"^out: expected .*share memory\n  in "):
                OUTS[name](x, strided(memory, (4, 4), strides))
        assert not memory.any()
        OUTS[name](x, make((4, 4)))
    for strides in ((4, 1), (1, 4), (5, 1), (1, 7), (8, 2)):  # of their own
        OUTS[name](x, strided(make(64), (4, 4), strides))


def test_overlap_is_what_places_say():
    for shape in itertools.product((1, 2, 3, 4), repeat=3):
        for strides in itertools.product((0, 1, 2, 3, 5, 8), repeat=3):
            places = [sum(map(lambda i, s: i * s, at, strides)) for at in np.ndindex(shape)]
            for itemsize in (1, 2):
                taken = [p + b for p in places for b in range(itemsize)]
                assert overlaps(shape, strides, itemsize) == (len(set(taken)) < len(taken)), (shape, strides, itemsize)
