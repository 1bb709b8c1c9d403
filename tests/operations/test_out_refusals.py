"""`out=`: what is refused, and stays as it is."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tenter
from out_helpers import CALLS, given, values
from tenter._plans import cache


def refusals(library):
    x = given(library, "float32")
    full = (
        (lambda *shape, dtype="float32": np.full(shape, 7, dtype))
        if library == "numpy"
        else (lambda *shape, dtype="float32": torch.full(shape, 7, dtype=getattr(torch, dtype)))
    )
    y = CALLS["resize"](x)
    yield "another shape", full(*y.shape, 1), ValueError, "shape"
    yield "another dtype", full(*y.shape, dtype="float64"), TypeError, "float32, got float64"
    yield (
        "another library",
        torch.zeros(*y.shape) if library == "numpy" else np.zeros(y.shape, "float32"),
        TypeError,
        "x's kind",
    )
    yield "a list", [[7.0]], TypeError, r"got \[\[7.0\]\]"
    if library == "numpy":
        frozen = full(*y.shape)
        frozen.flags.writeable = False
        yield "read-only", frozen, ValueError, "got a read-only array"
        yield (
            "one row over and over",
            np.lib.stride_tricks.as_strided(full(*y.shape), y.shape, (0, 4 * y.shape[2], 4)),
            ValueError,
            "share memory",
        )
        yield "masked", np.ma.array(full(*y.shape)), ValueError, "MaskedArray"
    else:
        yield "a leaf", full(*y.shape).requires_grad_(), ValueError, "requires grad"
        yield "expanded", full(*y.shape[1:]).expand(*y.shape), ValueError, "expanded"
        yield "on meta", torch.empty(*y.shape, device="meta"), (TypeError, ValueError), "meta"


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("name", ["resize", "constant", "picture", "light", "by counts", "repeat", "map"])
def test_what_is_refused_stays_as_it_is(library, name):
    for kind, out, error, message in refusals(library):
        call, x = CALLS[name], given(library, "float32")
        y = call(x)
        if hasattr(out, "shape") and kind != "another shape" and tuple(out.shape) != tuple(y.shape):
            continue
        before = None if kind in ("on meta",) else values(out)
        for forget in (lambda: None, cache.plans.clear):  # of a cached call, and of a new one
            forget()
            with pytest.raises(error, match=f"out: expected .*{message}.*\n  in .*out") as refusal:
                call(x, out=out)
            assert str(refusal.value).count("\n") == 1, kind
            assert before is None or np.array_equal(before, values(out)), kind


@pytest.mark.parametrize("name", CALLS)
def test_bad_arguments_leave_out_as_it_is(name):
    x = given("numpy", "float32")
    out = np.full_like(CALLS[name](x), 7)
    for bad in ({"size": -1}, {"size": 4}):
        with pytest.raises((TypeError, ValueError)):
            tenter.resize(x, mode="nope", axes=0, out=out, **bad)
    with pytest.raises((TypeError, ValueError)):
        CALLS[name](x.astype("U1"), out=out)
    assert (out == 7).all()


# ---- PyTorch


def test_gradients_are_refused_as_pytorch_does():
    leaf, out = torch.ones(3, requires_grad=True), torch.zeros(6)
    tenter.repeat(torch.ones(3), 2)  # and so of calls that are known
    with pytest.raises(
        TypeError,
        match=r"out: expected None where a gradient is recorded, or x.detach\(\), got an x that requires grad",
    ):
        tenter.repeat(leaf, 2, out=out)
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        torch.add(leaf, 1, out=out[:3])
    assert not out.any()
    with torch.no_grad():
        assert tenter.repeat(leaf, 2, out=out) is out and out.all()
