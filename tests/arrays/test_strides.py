"""Strides that say nothing: of dims of length 1, which may have any, and of counts that lie apart or are one."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import tenter  # noqa: E402
from tenter.maps import Copy  # noqa: E402


def odd_strides(shape, dtype=np.float64):
    """Arrays of one shape, equal and contiguous, whose dims of length 1 have any stride."""
    x = np.arange(1, 1 + np.prod(shape), dtype=dtype).reshape(shape)
    strides = torch.from_numpy(x).stride()
    for step in (0, 1, 7, 1 << 40):
        yield torch.from_numpy(x).as_strided(shape, [step if n == 1 else s for n, s in zip(shape, strides)])


@pytest.mark.parametrize(
    "shape", [(1,), (1, 5), (5, 1), (1, 1), (2, 1, 3), (1, 3, 1), (3, 1, 1), (1, 1, 4, 1), (2, 3, 1, 1)]
)
@pytest.mark.parametrize("grad", [False, True])
def test_a_row_is_not_as_long_as_a_stride_says(shape, grad):
    for dim in range(-len(shape), len(shape)):
        n = shape[dim]
        for counts in ([3] * n, ([0, 2, 1] * 2)[:n], ([7, 0, 1] * 2)[:n]):
            for c in (torch.tensor(counts), torch.tensor(counts * 2)[::2] if n == 1 else torch.tensor(counts)):
                for x in odd_strides(shape):
                    want = x.numpy().repeat(counts, dim)
                    x = x.detach().requires_grad_(grad)
                    y = tenter.repeat_interleave(x, c, dim)
                    assert np.array_equal(y.detach().numpy(), want)
                    assert np.array_equal(tenter.repeat_interleave(x.detach().numpy(), c.numpy(), dim), want)
                    if grad and sum(counts):
                        g = torch.arange(1.0, 1 + y.numel(), dtype=y.dtype).reshape(y.shape)
                        theirs = torch.repeat_interleave(x, c, dim)
                        for given in (
                            g,
                            g.as_strided(g.shape, [9 if n == 1 else s for n, s in zip(g.shape, g.stride())]),
                        ):
                            (ours,) = torch.autograd.grad(y, x, given, retain_graph=True)
                            assert torch.equal(ours, torch.autograd.grad(theirs, x, g, retain_graph=True)[0])


def test_counts_of_any_stride():
    x = np.arange(12.0).reshape(3, 4)
    base = torch.arange(40) % 4
    for x_ in (x, x[:1], x[:0]):
        n = len(x_)
        for c in (
            base[:n],
            base[5 : 5 + 7 * n : 7],
            base[1:2].expand(n),
            base.as_strided((n,), (0,), 3),
            base.as_strided((n,), (3,), 2),
        ):
            want = x_.repeat(c.numpy(), 0)
            assert np.array_equal(tenter.repeat_interleave(torch.from_numpy(x_), c, 0).numpy(), want)
            for counts in (c.numpy(), c.numpy()[::-1][::-1], np.broadcast_to(c.numpy(), (2, n))[1]):
                assert np.array_equal(tenter.repeat_interleave(x_, counts, 0), want)
            assert np.array_equal(tenter.repeat_interleave(x_, c.numpy()[::-1], 0), x_.repeat(c.numpy()[::-1], 0))
    one = base.as_strided((1,), (1 << 40,), 3)
    assert tenter.repeat_interleave(torch.ones(1), one, 0).tolist() == [1.0] * 3
    assert tenter.repeat_interleave(torch.ones(10_000)[:1], one, 0).tolist() == [1.0] * 3
    assert tenter.repeat_interleave(torch.arange(10_000.0), one).shape == (30_000,)


def test_operations_on_dims_of_length_one_with_any_stride():
    for shape in [(1, 1, 4), (1, 2, 1), (2, 1, 3, 1), (1, 1, 1, 5), (1, 3, 1, 4), (4, 1, 1, 1)]:
        for x in odd_strides(shape):
            plain = x.numpy().copy()
            calls = [
                lambda x: tenter.repeat(x, *range(2, 2 + len(shape))), lambda x: tenter.tile(x, 3), lambda x: tenter.repeat_interleave(x, 2, 1),
                lambda x: tenter.interpolate(x, 3, mode="area"), lambda x: tenter.interpolate(x, 5), lambda x: tenter.resize(x, 3, axes=0),
                lambda x: tenter.resize(x, (3,) * len(shape), mode="cubic"), lambda x: Copy.repeat_each(shape[1], 2).apply(x, 1),
                lambda x: Copy.repeat_each(shape[2], 2).T.apply(tenter.repeat_interleave(x, 2, 2), 2),
            ]  # fmt: skip
            for call in calls:
                want = call(plain)
                assert np.array_equal(call(x).numpy(), want) and np.array_equal(call(x.numpy()), want)
                leaf = x.detach().requires_grad_()
                y = call(leaf)
                (g,) = torch.autograd.grad(y, leaf, torch.ones_like(y))
                other = torch.from_numpy(plain).requires_grad_()
                y = call(other)
                torch.testing.assert_close(g, torch.autograd.grad(y, other, torch.ones_like(y))[0])  # axes by strides


COUNTS = torch.tensor([2, 0, 3, 1])
# By function: the call, and the shape of x.
EXPANDED = {
    "repeat_interleave": (lambda x: tenter.repeat_interleave(x, 5, 1), (3, 4, 2)),
    "repeat_interleave of the last dim": (lambda x: tenter.repeat_interleave(x, 9, -1), (3, 4)),
    "repeat_interleave of one dim": (lambda x: tenter.repeat_interleave(x, 9), (70,)),
    "repeat_interleave by counts": (lambda x: tenter.repeat_interleave(x, COUNTS, 1), (3, 4, 2)),
    "repeat": (lambda x: tenter.repeat(x, 2, 1, 3, 1), (3, 4, 2)),
    "tile": (lambda x: tenter.tile(x, 3, 2), (5, 4)),
    "linear": (lambda x: tenter.interpolate(x, size=7, mode="linear"), (2, 3, 12)),
    "nearest": (lambda x: tenter.interpolate(x, size=(7, 9)), (2, 3, 12, 4)),
    "bicubic, antialiased": (lambda x: tenter.interpolate(x, size=(5, 9), mode="bicubic", antialias=True), (2, 3, 12, 4)),
    "trilinear": (lambda x: tenter.interpolate(x, size=(5, 3, 9), mode="trilinear"), (2, 3, 4, 5, 6)),
    "resize": (lambda x: tenter.resize(x, (5, 9), axes=(0, 1), mode="lanczos"), (12, 4, 3)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", EXPANDED)
def test_expanded_arrays_give_the_bits_of_contiguous_ones(name, dtype):
    call, shape = EXPANDED[name]
    rng = np.random.default_rng(4)

    def expanded(shape, which):
        made = rng.standard_normal([1 if which >> d & 1 else n for d, n in enumerate(shape)])
        return torch.from_numpy(made).to(dtype).expand(shape)

    def same(ours, wanted):
        assert torch.equal(ours, wanted) and ours.stride() == wanted.stride()

    for which in range(2 ** len(shape)):
        x = expanded(shape, which)
        for _ in range(10):  # until the call is cached
            same(call(x), call(x.contiguous()))
        x = x.contiguous().requires_grad_()
        y = call(x)
        g = expanded(y.shape, which)
        (wanted,) = torch.autograd.grad(call(x), x, g.contiguous())
        for _ in range(3):
            same(torch.autograd.grad(y, x, g, retain_graph=True)[0], wanted)
