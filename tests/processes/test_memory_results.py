"""Results in blocks are like any other: dtypes, strides, autograd, changes in place."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import torch

import tenter
from cases import values
from memory_helpers import LARGE, T, X, block_of, garbage, poison, recycler  # noqa: F401
from tenter import memory

DTYPES = {
    getattr(torch, name): name
    for name in ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16",
                 "bfloat16", "float32", "float64", "complex32", "complex64", "complex128")
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES.keys(), ids=DTYPES.values())
def test_every_dtype_of_pytorch(dtype):
    raw = torch.from_numpy(values((300, 517, dtype.itemsize), "uint8") & (1 if dtype is torch.bool else 255))
    x = raw.view(dtype)[..., 0]
    for given, each in [(x, 8), (x, 8), (x.contiguous(), torch.full((300,), 8))]:
        y = tenter.repeat_interleave(given, each, 0)
        assert y.dtype is dtype and y.shape == (2400, 517) and y.is_contiguous() and block_of(y)
        bits = y.view(torch.uint8).reshape(300, 8, -1)
        assert torch.equal(bits, x.contiguous().view(torch.uint8).reshape(300, 1, -1).expand_as(bits))
        poison(y)
        del y, bits


@pytest.mark.parametrize(
    "dtype",
    [
        "?", "i1", "<f2", ">f4", ">i8", "<c16", ">c8", "S5", "U3", "V7", "M8[ns]", "m8[s]", "f4,i2", "g",
        [("a", ">i4"), ("b", "S3"), ("c", "f8", (2,))],
    ],
)  # fmt: skip
def test_every_dtype_of_numpy(dtype):
    dtype = np.dtype(dtype)
    x = (values((300, 517, dtype.itemsize), "uint8") & (1 if dtype.char == "?" else 127)).view(dtype)[..., 0]
    for _ in range(2):
        y = tenter.repeat_interleave(x, 8, 0)
        assert y.dtype == dtype and y.flags.c_contiguous and y.flags.writeable and y.flags.aligned and block_of(y)
        assert y.tobytes() == np.repeat(x, 8, 0).tobytes()
        poison(y)
        del y


def test_objects_lie_in_ordinary_memory():
    x = np.array([{}, "text", 1.5] * 20_000, object)
    y = tenter.repeat_interleave(x, 4)
    assert y.nbytes > LARGE and block_of(y) is None and y.tolist() == np.repeat(x, 4).tolist()


def test_strides_in_blocks():
    for shape in ((2, 5, 40, 30), (1, 5, 40, 30), (2, 1, 40, 30)):
        for memory_format in (torch.contiguous_format, torch.channels_last):
            x = torch.randint(0, 255, shape, dtype=torch.uint8).contiguous(memory_format=memory_format)
            for mode in ("nearest", "bilinear", "area"):
                got = tenter.interpolate(x, (1200, 1000), mode=mode)
                want = torch.nn.functional.interpolate(x.float() if mode == "area" else x, (1200, 1000), mode=mode)
                assert block_of(got) and got.stride() == want.stride()
                assert mode != "nearest" or torch.equal(got, want)
    hwc = values((40, 30, 3), "uint8")
    y = tenter.interpolate(hwc.transpose(2, 0, 1)[None], (1000, 900), mode="bicubic")
    assert block_of(y.base) and y[0].transpose(1, 2, 0).flags.c_contiguous


def test_autograd_sees_no_views():
    x = torch.rand(700, 400, requires_grad=True)
    with torch.no_grad():
        without = tenter.repeat_interleave(x, 2, 0)
    with torch.inference_mode():
        inference = tenter.repeat_interleave(T, 2, 0)
    for y in (tenter.repeat_interleave(T, 2, 0), tenter.repeat_interleave(x, 2, 0), without, inference):
        assert block_of(y) and not y._is_view() and y._base is None and y.storage_offset() == 0
        assert type(y) is torch.Tensor
    assert tenter.repeat_interleave(x, 2, 0).requires_grad and not without.requires_grad and without.is_leaf
    assert inference.is_inference() and not inference.requires_grad
    leaf = without.requires_grad_()
    leaf.sum().backward()
    assert (leaf.grad == 1).all()


def test_results_may_be_changed_in_place():
    x = torch.rand(700, 400).sub_(0.5).requires_grad_()
    for change in (lambda y: y.relu_(), lambda y: y.mul_(3).add_(1), lambda y: y.__iadd__(x.detach().repeat(2, 1))):
        grads = []
        for repeat in (lambda x: tenter.repeat(x, 2, 1), lambda x: x.repeat(2, 1)):
            y = repeat(x)
            assert change(y) is y
            grads.append(torch.autograd.grad((y * y.detach()).sum(), x)[0])
        assert torch.equal(*grads)
    y = tenter.repeat(x.detach(), 2, 1)
    y[::2] = 0
    assert (y[::2] == 0).all() and torch.equal(y[1::2], x.detach().repeat(2, 1)[1::2])
    a = tenter.repeat(X, 2, 1)
    a += 1
    a[0] = 5
    assert (a[0] == 5).all() and np.array_equal(a[1:], (np.tile(X, (2, 1)) + 1)[1:])


def test_changes_behind_a_graphs_back_are_found():
    weight = torch.rand(1400, 400, requires_grad=True)
    for change in (lambda y: y.add_(1), lambda y: y.zero_(), lambda y: y[3:].t().mul_(2)):
        y = tenter.repeat_interleave(T, 2, 0)
        loss = (weight * y).sum()
        change(y)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


def test_small_results_whose_gradient_is_recorded_are_as_large_ones():
    """Unless the limit is 0, as docs/memory.md says."""
    x = torch.ones(2, 3, requires_grad=True)
    for limit, match in ((256 << 20, "not resizable"), (0, None)):
        memory.set_limit(limit)
        for call in (lambda: tenter.repeat(x, 2, 1), lambda: tenter.resize(x, 5, axes=1)):
            y = [call(), call()][1]  # Python may make the first one
            with nullcontext() if match is None else pytest.raises(RuntimeError, match=match):
                y.untyped_storage().resize_(1 << 12)


def test_what_a_result_in_a_block_cannot_do():
    """docs/memory.md says so; with the limit at 0 it can."""
    for large in (True, False):
        memory.set_limit(256 << 20 if large else 0)
        for grow in (
            lambda y: y.resize_(5000, 1000),
            lambda y: y.untyped_storage().resize_(1 << 25),
            lambda y: y.untyped_storage().resize_(0),
            lambda y: torch.add(torch.ones(2000, 1000), 1, out=y.resize_(0)),
        ):
            y = tenter.repeat_interleave(T, 2, 0)
            if large:
                with pytest.raises(RuntimeError, match="not resizable"):
                    grow(y)
            else:
                grow(y)
        y = tenter.repeat_interleave(T, 2, 0)
        assert y.resize_(3, 4).shape == (3, 4) and torch.add(torch.ones(9), 1, out=y.resize_(0)).sum() == 18
        a = tenter.repeat_interleave(X, 2, 0)
        assert a.flags.owndata is not large and (a.base is None) is not large
        if large:
            with pytest.raises(ValueError, match="does not own its data"):
                a.resize((3, 4), refcheck=False)
