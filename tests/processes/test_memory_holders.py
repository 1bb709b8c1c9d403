"""A block is used again once nothing refers to it, and never before."""

from __future__ import annotations

import copy
import gc
import io
import pickle

import numpy as np
import pytest
import torch

import tenter
from memory_helpers import T, X, as_array, garbage, poison, recycler  # noqa: F401
from tenter import memory


class Interface:
    def __init__(self, y):
        self.__array_interface__ = y.__array_interface__
        self.held = y


ARRAY_LOOKERS = {
    "itself": lambda y: y,
    "view": lambda y: y.view(),
    "slice": lambda y: y[3:700:2, ::-1],
    "transposed": lambda y: y.T,
    "reshaped": lambda y: y.reshape(-1, 8),
    "ravel": lambda y: y.ravel(),
    "another dtype": lambda y: y.view(np.int32),
    "views of views": lambda y: y[1:].view(np.uint32).T[5:, ::3][::-1][1:],
    "base": lambda y: y.T[1:].base,
    "memoryview": lambda y: memoryview(y),
    "memoryview of a view": lambda y: memoryview(y[1:]).cast("B"),
    "frombuffer": lambda y: np.frombuffer(y, np.int16),
    "the block's bytes": lambda y: memoryview(y.base),
    "ctypes": lambda y: np.ctypeslib.as_ctypes(y),
    "pickle buffer": lambda y: pickle.PickleBuffer(y),
    "flat": lambda y: y.flat,
    "interface": lambda y: Interface(y[2:]),
    "strides": lambda y: np.lib.stride_tricks.as_strided(y, (5, 5), (1600, 4)),
    "broadcast": lambda y: np.broadcast_to(y, (2, *y.shape)),
    "dlpack": lambda y: np.from_dlpack(y),
    "tensor": lambda y: torch.from_numpy(y),
    "a view of a tensor": lambda y: torch.from_numpy(y)[1:].t(),
    "as_tensor": lambda y: torch.as_tensor(y).view(torch.int32),
    "frombuffer of torch": lambda y: torch.frombuffer(y, dtype=torch.float32),
    "from_dlpack of torch": lambda y: torch.from_dlpack(y),
    "tenter's own view": lambda y: tenter.expand(y, 2, *y.shape),
}
TENSOR_LOOKERS = {
    "itself": lambda y: y,
    "detached": lambda y: y.detach(),
    "view": lambda y: y.view(-1),
    "transposed": lambda y: y.t(),
    "slice": lambda y: y[3:700:2, 7:],
    "unbound": lambda y: y.unbind(0)[5:7],
    "another dtype": lambda y: y.view(torch.int32),
    "views of views": lambda y: y[1:].t()[5:].unsqueeze(0).expand(2, -1, -1),
    "data": lambda y: y.data,
    "parameter": lambda y: torch.nn.Parameter(y),
    "storage": lambda y: y.untyped_storage(),
    "typed storage": lambda y: y._typed_storage(),
    "set_": lambda y: torch.empty(0).set_(y.untyped_storage(), 100, (300, 40)),
    "numpy": lambda y: y.numpy(),
    "asarray": lambda y: np.asarray(y[1:]),
    "memoryview": lambda y: memoryview(y.numpy()[5:]),
    "dlpack to NumPy": lambda y: np.from_dlpack(y),
    "dlpack to PyTorch": lambda y: torch.from_dlpack(y),
    "tenter's own view": lambda y: tenter.expand(y, 2, *y.shape),
}


def read(looker):
    """What a looker sees, copied."""
    if isinstance(looker, (tuple, list)):
        return b"".join(map(read, looker))
    if isinstance(looker, Interface):
        return np.array(np.asarray(looker)).tobytes()
    if isinstance(looker, (torch.UntypedStorage, torch.TypedStorage)):
        return torch.empty(0).set_(looker, 0, (700, 700)).numpy().tobytes()
    if isinstance(looker, torch.Tensor):
        return looker.detach().numpy().tobytes()
    return np.array(looker).tobytes() if isinstance(looker, np.flatiter) else np.asarray(looker).tobytes()


def outlives(make, look):
    """Other results are made while a looker alone holds a result; what it sees stays, its memory is not given away."""
    want = read(look(make()))
    gc.collect()
    in_use = memory.stats().used_bytes
    looker = look(make())
    gc.collect()
    held, reused = memory.stats().used_bytes, memory.stats().reused
    assert held > in_use
    others = [make() for _ in range(2)]
    for y in others:
        poison(y)
    assert memory.stats().reused == reused  # one block was idle, and the looker's result has it
    assert read(looker) == want
    del others, y
    make(), make()
    assert read(looker) == want
    del looker
    gc.collect()
    assert memory.stats().used_bytes == in_use


# By counts the core itself makes what lies in a block.
BY = {"an int": 2, "counts": np.full(len(X), 2)}


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("look", ARRAY_LOOKERS.values(), ids=ARRAY_LOOKERS.keys())
def test_what_looks_at_an_array_keeps_its_memory(look, by):
    outlives(lambda: tenter.repeat_interleave(X, BY[by], 0), look)


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("look", TENSOR_LOOKERS.values(), ids=TENSOR_LOOKERS.keys())
def test_what_looks_at_a_tensor_keeps_its_memory(look, by):
    counts = BY[by] if by == "an int" else torch.from_numpy(BY[by])
    outlives(lambda: tenter.repeat_interleave(T, counts, 0), look)


def test_capsules_keep_memory():
    for make, open_ in [
        (lambda: tenter.repeat_interleave(X, 2, 0).__dlpack__(), torch.utils.dlpack.from_dlpack),
        (lambda: tenter.repeat_interleave(T, 2, 0).__dlpack__(), torch.utils.dlpack.from_dlpack),
    ]:
        want = np.repeat(X, 2, 0)
        capsule = make()
        for _ in range(3):
            poison(tenter.repeat_interleave(X, 2, 0))
        assert np.array_equal(open_(capsule).numpy(), want)


def test_what_is_saved_for_backward_keeps_its_memory():
    weight = torch.rand(1400, 400, requires_grad=True)
    y = tenter.repeat_interleave(T, 2, 0)
    loss = (weight * y).sum()
    want = y.clone()
    del y
    for _ in range(3):
        poison(tenter.repeat_interleave(T, 2, 0))
    loss.backward()
    assert torch.equal(weight.grad, want)


def test_a_result_inside_a_graph_keeps_its_memory():
    """Its node holds it, and so do hooks and the gradient that is kept."""
    x = torch.rand(700, 400, requires_grad=True)
    want = 2 * 2 * x.detach()  # d/dx of the sum of two squares
    loss = (tenter.repeat_interleave(x, 2, 0) ** 2).sum()
    for _ in range(3):
        poison(tenter.repeat_interleave(T, 2, 0))
    loss.backward(retain_graph=True)
    grad = x.grad
    assert torch.equal(grad, want)
    x.grad = None
    for _ in range(3):
        poison(tenter.repeat_interleave(T, 2, 0))
    loss.backward()
    assert torch.equal(grad, want) and torch.equal(x.grad, want)


def saved(y):
    file = io.BytesIO()
    torch.save(y, file)
    assert file.tell() < y.untyped_storage().nbytes() + (1 << 16)  # the result alone, not its block
    file.seek(0)
    return torch.load(file)


@pytest.mark.parametrize(
    "copied",
    [
        lambda y: pickle.loads(pickle.dumps(y)),
        lambda y: pickle.loads(pickle.dumps(y, 5)),
        copy.deepcopy,
        copy.copy,
        lambda y: saved(torch.as_tensor(y)),
        lambda y: torch.as_tensor(y).clone(),
        lambda y: torch.as_tensor(y).share_memory_(),
        lambda y: y + 0,
    ],
)
@pytest.mark.parametrize("x", [X, T], ids=["array", "tensor"])
def test_copies_are_right_when_their_original_is_gone(copied, x):
    y = copied(tenter.repeat_interleave(x, 2, 0))
    for _ in range(3):
        poison(tenter.repeat_interleave(x, 2, 0))
    assert np.array_equal(as_array(y), np.repeat(X, 2, 0))
