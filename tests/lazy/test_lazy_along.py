"""Functions that work along some dims of a lazy array: rows that are repeated are computed once; values, shapes,
gradients and errors are the twin's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lazy_expressions import assert_twins, both, explained
from tenter import lazy
from tenter.lazy import LazyArray

COUNTS = [2, 0, 3]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4, 6))
W, V, IMAGE = (torch.from_numpy(RNG.normal(size=shape)) for shape in ((6,), (4,), (2, 4, 3)))


def _attention(x, **how):
    return F.scaled_dot_product_attention(x, x * 2, x - 1, **how)


TORCH = {
    "softmax": lambda x: F.softmax(x, -1),
    "softmax of another dim": lambda x: x.softmax(1),
    "log_softmax": lambda x: torch.log_softmax(x, 2),
    "normalize": lambda x: F.normalize(x, dim=-1),
    "layer_norm": lambda x: F.layer_norm(x, (6,), W, W),
    "layer_norm of two dims": lambda x: F.layer_norm(x, (4, 6)),
    "rms_norm": lambda x: F.rms_norm(x, (6,), W),
    "group_norm": lambda x: F.group_norm(x, 2),
    "batch_norm": lambda x: F.batch_norm(x, V, V.abs()),
    "glu": lambda x: F.glu(x),
    "dropout in evaluation": lambda x: F.dropout(x, 0.5, False),
    "conv1d": lambda x: F.conv1d(x, IMAGE, padding=1),
    "cumsum": lambda x: x.cumsum(-1),
    "sort": lambda x: x.sort(-1).values,
    "topk": lambda x: torch.topk(x, 2, dim=1).indices,
    "chunk": lambda x: x.chunk(3, -1)[1],
    "split": lambda x: x.split([1, 5], dim=2)[1],
    "flip": lambda x: x.flip(1, 2),
    "cat": lambda x: torch.cat([x, x * 2, x[..., :1]], 2),
    "argmax": lambda x: x.argmax(1),
    "var": lambda x: x.var(-1, keepdim=True),
    "norm": lambda x: torch.linalg.vector_norm(x, dim=(1, 2)),
    "logsumexp": lambda x: x.logsumexp(2),
    "attention": _attention,
    "causal attention": lambda x: _attention(x, is_causal=True),
    "masked attention": lambda x: _attention(x, attn_mask=torch.ones(4, 4, dtype=torch.bool).tril()),
    "embedding": lambda x: F.embedding((x > 0).long(), IMAGE[:, :, 0]),
    "split heads": lambda x: x.view(5, 4, 2, 3).transpose(1, 2),
    "merged heads": lambda x: x.view(5, 2, 2, 6).transpose(1, 2).reshape(5, 4, 6),
    "rows and columns merged": lambda x: x.flatten(1),
    "rows merged with positions": lambda x: x.view(-1, 6),
    "and split again": lambda x: (x.view(20, 6) * 2).view(5, 4, 6),
    "all merged": lambda x: x.ravel(),
    "length one goes": lambda x: x[:, :, :1].squeeze(-1),
    "unflatten": lambda x: x.unflatten(2, (3, -1)),
}
NUMPY = {
    "cumsum": lambda x: np.cumsum(x, -1),
    "sort": lambda x: np.sort(x),
    "argsort": lambda x: np.argsort(x, axis=1),
    "flip": lambda x: np.flip(x, (1, 2)),
    "concatenate": lambda x: np.concatenate([x, x + 1], axis=1),
    "split": lambda x: np.split(x, 2, axis=-1)[1],
    "var": lambda x: x.var(1),
    "median": lambda x: np.median(x, axis=2, keepdims=True),
    "norm": lambda x: np.linalg.norm(x, axis=-1),
    "reshape": lambda x: x.reshape(5, 2, -1),
    "merged": lambda x: np.reshape(x, (20, 6)),
    "ravel": lambda x: np.ravel(x),
    "squeeze": lambda x: np.squeeze(x[:, :1], axis=1),
}
CALLS = [(torch.from_numpy, name, f) for name, f in TORCH.items()] + [(np.asarray, *row) for row in NUMPY.items()]


@pytest.mark.parametrize("make, name, f", CALLS, ids=[f"{make.__name__}-{name}" for make, name, _ in CALLS])
def test_repeated_rows_are_computed_once(make, name, f):
    for s in (lazy.repeat_interleave(make(X), COUNTS, 0), lazy.tile(make(X[:1]), (5, 1, 1))):
        y = f(s)
        assert isinstance(y, LazyArray) and np.prod(y.base.shape) < np.prod(y.shape), name
        assert "materialized" not in explained(y), name
        assert_twins(y, f(s.materialize()))


@pytest.mark.parametrize("make, name, f", CALLS, ids=[f"{make.__name__}-{name}" for make, name, _ in CALLS])
def test_functions_along_a_stretched_dim_have_the_values_of_the_twin(make, name, f):
    lengths = {1: [1, 0, 3, 0], 2: [0, 1, 2, 0, 3, 0]}
    for dim, counts in lengths.items():
        s = lazy.repeat_interleave(make(np.concatenate([X, X[:2]])), counts, dim)
        both_sides = both(f, s, s.materialize())
        if both_sides is not None:
            assert_twins(*both_sides)


def test_what_works_along_each_stretched_dim_says_so():
    s = lazy.repeat_interleave(torch.from_numpy(X), COUNTS, 0)
    assert_twins(s.softmax(0), s.materialize().softmax(0))
    assert "softmax works along each stretched dim" in explained(s)
    t = lazy.repeat_interleave(s, 2, 2)
    y = F.layer_norm(t, (12,))
    assert y.maps[0] is not None and y.maps[2] is None and "dim 2 is materialized: layer_norm" in explained(y)
    assert_twins(y, F.layer_norm(t.materialize(), (12,)))
    z = t.view(5, 4, 3, 4)
    assert z.maps[0] is not None and "dim 2 is materialized: view splits or merges it" in explained(z)
    assert_twins(z, t.materialize().view(5, 4, 3, 4))


def test_linear_functions_go_past_weights_and_others_do_not():
    s = lazy.resize(torch.from_numpy(X), 7, axes=0, mode="linear")
    for f in (lambda x: x.cumsum(1), lambda x: x.flip(2), lambda x: x.chunk(2, 2)[1], lambda x: x.view(7, 2, 2, 6)):
        assert isinstance(f(s), LazyArray)
        assert_twins(f(s), f(s.materialize()))
    y = s.softmax(-1)
    assert not isinstance(y, LazyArray) and "softmax is not linear, and the map interpolates" in explained(s)
    assert_twins(y, s.materialize().softmax(-1))
    integers = lazy.resize(RNG.integers(0, 99, (4, 5, 2)), (7, 9), axes=(0, 1), mode="linear")
    assert_twins(np.cumsum(integers, 2), np.cumsum(integers.materialize(), 2))
    assert_twins(integers.reshape(7, -1), integers.materialize().reshape(7, -1))


def test_arrays_beside_a_lazy_one_are_aligned():
    x = torch.from_numpy(X)
    s, twin = lazy.repeat_interleave(x, COUNTS, 0), torch.repeat_interleave(x, torch.tensor(COUNTS), 0)
    one, spread = lazy.repeat_interleave(x[:1], 5, 0), x[:1].expand(5, -1, -1)
    for a, b, stays in ((s, s, True), (s, twin, False), (one, twin, False), (one, one, True), (s, one, True)):
        plain = [v.materialize() if isinstance(v, LazyArray) else v for v in (a, b)]
        joined, attended = torch.cat([a, b], 1), F.scaled_dot_product_attention(a, b, b)
        assert isinstance(joined, LazyArray) == stays and isinstance(attended, LazyArray) == stays
        assert_twins(joined, torch.cat(plain, 1))
        assert_twins(attended, F.scaled_dot_product_attention(plain[0], plain[1], plain[1]))
    mask = torch.rand(5, 4, 4, generator=torch.Generator().manual_seed(0)) > 0.3
    assert_twins(_attention(s, attn_mask=mask), _attention(twin, attn_mask=mask))  # a mask for each row
    assert_twins(_attention(one, attn_mask=mask[:1]), _attention(spread, attn_mask=mask[:1]))
    own = lazy.repeat_interleave(mask[:3], COUNTS, 0)
    y = _attention(s, attn_mask=own)
    assert isinstance(y, LazyArray)
    assert_twins(y, _attention(twin, attn_mask=own.materialize()))
    assert_twins(
        F.scaled_dot_product_attention(query=s, key=s, value=s), F.scaled_dot_product_attention(twin, twin, twin)
    )
    permuted = lazy.repeat_interleave(X, [2, 0, 1], 0)  # as long as its input
    keep = RNG.random(X.shape) > 0.4
    assert_twins(np.var(permuted, axis=2, where=keep), np.var(permuted.materialize(), axis=2, where=keep))
    heads = lazy.repeat_interleave(x[:, None].expand(-1, 2, -1, -1), COUNTS, 0)
    four = lazy.repeat_interleave(x[:, None].expand(-1, 4, -1, -1), COUNTS, 0)
    y = F.scaled_dot_product_attention(four, heads, heads, enable_gqa=True)
    assert isinstance(y, LazyArray)
    plain = [v.materialize() for v in (four, heads, heads)]
    assert_twins(y, F.scaled_dot_product_attention(*plain, enable_gqa=True))


class Block(nn.Module):
    """A layer of a transformer."""

    def __init__(self, width: int = 8, heads: int = 2) -> None:
        super().__init__()
        self.norm, self.after, self.heads = nn.LayerNorm(width), nn.RMSNorm(width), heads
        self.qkv, self.out, self.drop = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Dropout(0.1)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        rows, steps, width = x.shape
        q, k, v = (t.view(rows, steps, self.heads, -1).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, -1))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(rows, steps, width)
        x = x + self.drop(self.out(attended))
        return x + self.down(F.gelu(self.up(self.after(x))))


def test_a_layer_of_a_transformer_computes_each_repeated_row_once():
    torch.manual_seed(0)
    block = Block().double().eval()
    x = torch.randn(3, 5, 8, dtype=torch.float64, requires_grad=True)
    s = lazy.repeat_interleave(x, COUNTS, 0)
    y, want = block(s), block(s.materialize())
    assert isinstance(y, LazyArray) and y.base.shape == (3, 5, 8) and "materialized" not in explained(y)
    assert torch.allclose(y.materialize(), want, 1e-12, 1e-12)
    (got,), (twin,) = (torch.autograd.grad((v**2).sum(), x) for v in (y.materialize(), want))
    assert torch.allclose(got, twin, 1e-11, 1e-11)
    block.train()
    assert not isinstance(block.drop(s), LazyArray)  # each copy draws its own


def test_errors_are_those_of_the_whole_array():
    s = lazy.repeat_interleave(torch.from_numpy(X), COUNTS, 0)
    with pytest.raises(RuntimeError, match=r"\[5, 4, 6\]"):
        F.layer_norm(s, (5,))
    with pytest.raises(RuntimeError, match="invalid for input of size 120"):
        s.view(7, -1)
    with pytest.raises(IndexError):
        s.softmax(3)
    with pytest.raises(IndexError):
        F.embedding(lazy.repeat_interleave(torch.tensor([1, 9]), [1, 1]), IMAGE[0])
    unread = F.embedding(lazy.repeat_interleave(torch.tensor([1, 9]), [2, 0]), IMAGE[0])
    assert torch.equal(unread, IMAGE[0][[1, 1]])  # row 9 is read by nobody
    with pytest.raises(ValueError):
        np.concatenate([lazy.repeat_interleave(X, COUNTS, 0), X], axis=1)


def test_named_results_keep_their_names():
    s = lazy.repeat_interleave(torch.from_numpy(X), COUNTS, 0)
    found = s.sort(dim=-1, descending=True)
    assert_twins(found.values, s.materialize().sort(dim=-1, descending=True).values)
    assert_twins(torch.frexp(s).mantissa, torch.frexp(s.materialize()).mantissa)
