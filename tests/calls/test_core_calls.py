"""Calls that the core finds and runs by itself: what it reads, what it tells apart, and counts that are used once."""

from __future__ import annotations

import itertools
import threading
import warnings

import numpy as np
import pytest
import torch

import tenter
from cases import values
from tenter import _native
from tenter._execution import calls
from tenter._plans import cache
from tenter._plans.plan import plan
from tenter._specs import interpolate_arguments
from tenter._torch import gradients

tenter.repeat(torch.zeros(1), 1)  # which makes tensors known to the core
ARGS = [
    (1,), (True,), (1.0,), ("1",), (None,), ((1,),), (((1,),),), (1, 2), ((1, 2),), ((1,), 2), (1, (2,)), (2, 1),
    ("ab", "c"), ("a", "bc"), ("abc",), (-1,), (2**62,), (0.5,), (-0.5,), (), ((),), (False,), (0,), (0.0,),
]  # fmt: skip


@pytest.mark.parametrize("make", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def test_keys_differ_where_calls_do(make):
    x = make(np.zeros((2, 3, 4), np.float32))
    keys = [_native.call_key("f", x, *args) for args in ARGS]
    keys += [_native.call_key("g", x), _native.call_key("f", x[:1]), _native.call_key("f", x[:, :, ::2])]
    keys += [_native.call_key("f", make(np.zeros((2, 3, 4), kind))) for kind in ("int32", "float64", "uint8", "bool")]
    keys += [_native.call_key("f", x[0]), _native.call_key("f", x[None])]
    assert None not in keys and len(set(keys)) == len(keys)
    assert _native.call_key("f", make(np.ones((2, 3, 4), np.float32)), 1, ("a", 2.5)) == _native.call_key(
        "f", x, 1, ("a", 2.5)
    )


@pytest.mark.parametrize("make", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def test_what_has_no_key_is_planned_all_the_same(make):
    """Large ints, lists, arrays, long arguments."""
    x = make(np.arange(3.0))
    for arg in (2**70, [object()], make(np.zeros(2)), [make(np.zeros(2))], "long" * 600, object()):
        assert _native.call_key("f", x, arg) is None
    for _ in range(2):
        assert tenter.repeat_interleave(x, np.int64(2), 0).shape == (6,)
        assert tenter.tile(x, [2]).shape == (6,)


OTHERS = {
    **{name: lambda name=name: np.zeros((2, 3), name) for name in ("<M8[s]", "<M8[D]", "<m8[s]", "U3", "U4", "S3", "V3", "V4")},
    **{name: lambda name=name: np.zeros((2, 3), name) for name in (">f4", ">f8", ">i4", "longdouble", "clongdouble")},
    "fields": lambda: np.zeros((2, 3), "i4,f8"),
    "9 dims": lambda: np.zeros((1,) * 8 + (2,), np.float32),
    "9 other dims": lambda: np.zeros((1,) * 7 + (2, 1), np.float32),
    "strides": lambda: np.zeros((1,) * 8 + (4,), np.float32)[..., ::2],
    "64 dims": lambda: np.zeros((1,) * 31 + (2,), np.float32).reshape((1,) * (MOST_DIMS - 1) + (2,)),
    "empty tensor": lambda: torch.zeros(0, 2),
    "tensor": lambda: torch.zeros((1,) * 9 + (2,)),
    "tensor of doubles": lambda: torch.zeros((1,) * 9 + (2,), dtype=torch.float64),
    "tensor of 64 dims": lambda: torch.zeros((1,) * 63 + (2,)),
}  # fmt: skip
MOST_DIMS = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32


def test_arrays_of_any_dtype_and_many_dims_have_keys() -> None:
    keys = {name: _native.call_key("f", make(), 1) for name, make in OTHERS.items()}
    assert None not in keys.values() and len(set(keys.values())) == len(keys)
    assert keys == {name: _native.call_key("f", make(), 1) for name, make in OTHERS.items()}
    for odd in (np.array([{}, {}]), np.array([(1, {})], "i4,O"), np.ma.zeros(3)):
        assert _native.call_key("f", odd) is None


@pytest.mark.parametrize("name", OTHERS)
def test_their_plans_are_found_by_the_core(name, monkeypatch):
    x = OTHERS[name]()
    cache.plans.clear()
    first = tenter.repeat_interleave(x, 3, -1)
    assert len(cache.plans) == 1
    monkeypatch.setattr(calls, "perform", None)
    again = tenter.repeat_interleave(x, 3, -1)
    assert again.dtype == first.dtype and again.shape == first.shape and (again == first).all()


def test_lone_dims_have_their_strides_in_the_key():
    """As channels-last results follow from them."""
    x = torch.zeros(64)
    assert len({_native.call_key("f", x.as_strided((1, 3, 4), (s, 4, 1))) for s in (1, 7, 12)}) == 3


ODD = {
    "conj": lambda: torch.ones(3, dtype=torch.complex64).conj(),
    "neg": lambda: torch.ones(3, dtype=torch.complex64).conj().imag,
    "zero": lambda: torch._efficientzerotensor(3),
    "sparse": lambda: torch.eye(3).to_sparse(),
    "rows": lambda: torch.eye(3).to_sparse_csr(),
    "meta": lambda: torch.empty(3, device="meta"),
    "functional": lambda: torch._to_functional_tensor(torch.ones(3)),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
    "mkldnn": lambda: torch.ones(3).to_mkldnn(),
    "empty on meta": lambda: torch.empty(0, 2, device="meta"),
    "empty and sparse": lambda: torch.empty(0, 2).to_sparse(),
}


@pytest.mark.parametrize("name", ODD)
def test_tensors_that_are_more_than_their_memory_are_not_read(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert _native.call_key("f", ODD[name]()) is None


def test_empty_tensors_are_ordinary_if_python_says_so():
    """As they have no address, the core reads functional ones like others."""
    x = torch.empty(0, 2)
    for _ in range(2):
        assert tenter.tile(x, 2).shape == (0, 4)
        functional = tenter.tile(torch._to_functional_tensor(x), 2)
        assert torch._is_functional_tensor(functional) and functional.shape == (0, 4)


def test_tensors_under_a_transform_are_not_read_also_when_it_is_over():
    seen = []
    torch.vmap(lambda x: (seen.append((x, _native.call_key("f", x))), x)[1])(torch.ones(2, 3))
    torch.func.grad(lambda x: (seen.append((x, _native.call_key("f", x))), x.sum())[1])(torch.ones(3))
    assert [key for _, key in seen] == [None, None]
    assert [_native.call_key("f", x) for x, _ in seen] == [None, None]


# ---- counts of any array

SHAPES = [
    (1, 1),
    (1, 5),
    (7, 3),
    (60, 384),
    (5, 1),
    (300, 2),
    (2, 9, 4),
    (3, 1, 5),
    (4, 6, 1),
    (70, 9, 1),
    (2, 3, 4, 5),
]
KINDS = ["int64", "int32", "int16", "int8", "uint8", "uint16", "uint32"]


def lowered(monkeypatch):
    for name, value in {"parallel_bytes": 1, "task_bytes": 256, "stream_bytes": 1, "runs_chunk": 8, "shared_counts": 0,
                        "staging_bytes": 64, "large_bytes": 1, "guard_blocks": True}.items():  # fmt: skip
        monkeypatch.setattr(_native.tuning, name, value)


@pytest.mark.parametrize("low", [False, True], ids=["as in use", "lowered"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_counts_as_numpy_repeats(shape, low, monkeypatch):
    if low:
        lowered(monkeypatch)
    rng = np.random.default_rng(0)
    for kind, dtype in zip(
        itertools.cycle(KINDS), ("float32", "uint8", "float64", "complex128", "int16", "bool", "float16")
    ):
        x = values(shape, dtype) if dtype not in ("bool", "complex128") else values(shape, "float32").astype(dtype)
        for dim in (*range(len(shape)), -1, None):
            n = x.size if dim is None else shape[dim]
            counts = rng.integers(0, 12, n).astype(kind)
            counts[-1] += 1
            want = np.repeat(x, counts, dim)
            for output_size in (None, int(counts.sum())):
                got = tenter.repeat_interleave(x, counts, dim, output_size=output_size)
                assert got.dtype == x.dtype and got.shape == want.shape and got.tobytes() == want.tobytes()
                t, c = torch.from_numpy(x), torch.from_numpy(counts)
                got = tenter.repeat_interleave(t, c, dim, output_size=output_size)
                assert got.dtype == t.dtype and got.numpy().tobytes() == want.tobytes()


@pytest.mark.parametrize("low", [False, True], ids=["as in use", "lowered"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients_of_counts_are_sums(shape, low, monkeypatch):
    if low:
        lowered(monkeypatch)
    rng = np.random.default_rng(1)
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.complex64, torch.float16):
        for dim in (*range(len(shape)), None):
            x = torch.from_numpy(values(shape, "float32")).to(dtype).requires_grad_()
            n = x.numel() if dim is None else shape[dim]
            counts = torch.from_numpy(rng.integers(0, 5, n))
            counts[0] += 1
            y = tenter.repeat_interleave(x, counts, dim)
            # Small ints, whose sums are exact.
            g = torch.from_numpy(rng.integers(-3, 4, tuple(y.shape))).to(dtype)
            (found,) = torch.autograd.grad(y, x, g, retain_graph=True)
            (want,) = torch.autograd.grad(torch.repeat_interleave(x, counts, dim), x, g)
            assert found.dtype == dtype and torch.equal(found, want)
            spread = g.expand(2, *g.shape)[1].mT.contiguous().mT if g.ndim > 1 else g.repeat(2, 1).T[:, 0]
            assert torch.equal(torch.autograd.grad(y, x, spread)[0], want)


@pytest.mark.parametrize("many", [0, 1 << 13])
def test_counts_of_swapped_bytes_are_the_counts(many, monkeypatch):
    monkeypatch.setattr(_native.tuning, "many_scalars", many)
    monkeypatch.setattr(_native.tuning, "runs_chunk", 1)  # or the total would be refused as too uneven
    x = np.arange(20, dtype=np.uint8)
    for kind in (">i8", ">i4", ">i2"):
        for f in (tenter.repeat_interleave, tenter.numpy.repeat):
            assert f(x, np.ones(20, kind)).tolist() == x.tolist()


@pytest.mark.parametrize("f", [np.asarray, torch.as_tensor], ids=["array", "tensor"])
@pytest.mark.parametrize("shape", [(3, 2), (60, 384), (9000, 3)], ids=str)
def test_wrong_counts_of_rows_are_refused(f, shape):
    x, n = f(values(shape, "float32")), shape[0]
    counts = np.random.default_rng(2).integers(0, 5, n)
    total, bad = int(counts.sum()), counts.copy()
    bad[n - 2] = -3
    for given, kwargs, error, says in [
        (bad, {}, ValueError, rf"non-negative counts, got -3 at position {n - 2}"),
        (np.full(n, 2**62), {}, ValueError, r"below 2\*\*63"),
        (np.full(n, 2**60 // n), {}, (MemoryError, ValueError), "result"),
        (counts[:-1], {}, ValueError, f"{n} counts"),
        (counts, {"output_size": total + 1}, ValueError, f"expected {total}"),
        (counts, {"output_size": -1}, ValueError, "output_size"),
        (counts, {"output_size": True}, TypeError, "output_size"),
        (counts > 1, {}, TypeError, "bool"),
        (counts.astype(np.float32), {}, TypeError, "float32"),
    ]:
        with pytest.raises(error, match=says):
            tenter.repeat_interleave(x, f(given), 0, **kwargs)
    assert tenter.repeat_interleave(x, f(counts * 0), 0).shape == (0, *shape[1:])


def test_counts_that_change_meanwhile_write_nothing_outside(monkeypatch):
    lowered(monkeypatch)
    counts, done = np.ones(500, np.int64), threading.Event()
    x = np.arange(1500.0).reshape(500, 3)
    leaf = torch.from_numpy(x.copy()).requires_grad_()

    def change():
        while not done.is_set():
            counts[::3] = 40
            counts[::3] = 0

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for _ in range(200):
            y = tenter.repeat_interleave(x, counts, 0)
            assert y.shape[1] == 3 and np.isin(y[:, 0], x[:, 0]).all() and (np.diff(y[:, 0]) >= 0).all()
            z = tenter.repeat_interleave(leaf, torch.from_numpy(counts), 0)
            (g,) = torch.autograd.grad(z.sum(), leaf)
            assert g.shape == leaf.shape and g[:, 0].sum() == len(z)
    finally:
        done.set()
        changing.join()


def test_gradients_with_new_layouts_are_told_apart():
    x = torch.rand(2, 3, 4, requires_grad=True)
    y = tenter.repeat(x, 2, 1, 3)
    want = torch.autograd.grad(x.repeat(2, 1, 3), x, g := torch.rand(4, 3, 12))[0]
    for _ in range(2):
        for order in itertools.permutations(range(3)):
            back = tuple(order.index(d) for d in range(3))
            laid = g.permute(order).contiguous().permute(back)
            torch.testing.assert_close(torch.autograd.grad(y, x, laid, retain_graph=True)[0], want)
    with pytest.raises(RuntimeError):
        torch.autograd.grad(y, x, torch.rand(4, 3, 11))
    with torch.autograd.forward_ad.dual_level():
        torch.testing.assert_close(torch.autograd.grad(y, x, g, retain_graph=True)[0], want)
    again = torch.autograd.grad(y, x, g.clone().requires_grad_(), create_graph=True)[0]
    assert again.requires_grad


def test_gradients_of_plans_that_python_made_are_found_by_the_core(monkeypatch):
    """As those of tensors on a device are, once Python has planned one of their layout."""
    x, v = torch.rand(2, 3, 8, requires_grad=True), torch.rand(2, 3, 11)
    args = interpolate_arguments.Arguments(11, None, "linear", None, None, False)
    cache.plans.clear()
    cache.store(_native.call_key("interpolate", x, *args), plan(x, interpolate_arguments.checked(x, args)))
    y = tenter.interpolate(x, *args)
    wants = torch.nn.functional.interpolate(x, 11, mode="linear")
    want = torch.autograd.grad(wants, x, v)[0]
    torch.testing.assert_close(y, wants)
    torch.testing.assert_close(torch.autograd.grad(y, x, v, retain_graph=True)[0], want)
    monkeypatch.setattr(gradients, "_adjoint_of_plan", None)
    torch.testing.assert_close(torch.autograd.grad(tenter.interpolate(x, *args), x, v)[0], want)
    with pytest.raises(TypeError):  # another layout, which Python plans
        torch.autograd.grad(y, x, v.mT.contiguous().mT)
