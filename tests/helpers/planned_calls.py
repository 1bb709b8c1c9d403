"""Random calls of specializations, and repeats by ints, in many layouts: what the core plans is compared with Python's plans."""

from __future__ import annotations

import contextlib
import unittest.mock
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from fuzz.caches import forget

import tenter
from tenter._arrays.library import of
from tenter._execution import calls
from tenter._plans import specializations
from tenter._plans.plan import CallPlan
from tenter._rules.axis_rule import EDGES
from tenter._rules.geometry import ALIGNS
from tenter._torch import gradients
from tenter.conventions import Convention

DTYPES = (
    "uint8", "uint8", "int16", "int64", "float32", "float32", "float64", "float16", "float16", "complex64", "bool",
)  # fmt: skip
INTERPOLATED = {
    1: ("linear", "area", "nearest", "nearest-exact"),
    2: ("bilinear", "bicubic", "area", "lanczos", "nearest", "nearest-exact"),
    3: ("trilinear", "area", "nearest"),
}
LIKE = ("torch", "torch", "pillow", "opencv", "jax", "scipy", "onnx")
RESIZED = ("linear", "cubic", "area", "lanczos3", "mitchell", "hamming", "box", "nearest", "nearest-exact")

tenter.resize(torch.zeros(2), 3)  # from a first call on the core reads tensors


@contextlib.contextmanager
def by_python() -> Iterator[None]:
    """Calls are planned in Python: the core learns no kind of call."""
    forget()
    with unittest.mock.patch.object(specializations, "store", lambda *args, **kwargs: False):
        yield


def laid_out(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Values in one of many layouts: dims in any order, cut out of a larger array, reversed."""
    order = rng.permutation(len(shape)) if rng.random() < 0.4 else np.arange(len(shape))
    room = [shape[d] + int(rng.integers(0, 3)) * int(rng.random() < 0.3) for d in order]
    x = rng.integers(0, 255, room).astype(dtype)[tuple(slice(shape[d]) for d in order)]
    x = x.transpose(np.argsort(order))
    if rng.random() < 0.25:
        x = np.flip(x, int(rng.integers(len(shape))))
    return x


def edges(rng: np.random.Generator, n: int, turned: bool) -> Any:
    """A box along an axis: whole pixels or parts of them, reversed or not, within the axis or beyond, or all of it."""
    if rng.random() < 0.05:
        return (n, 0) if turned else (0, n)
    a, b = sorted(rng.uniform(0, n, 2).tolist())
    if rng.random() < 0.15:
        a, b = a - rng.uniform(0, 5), b + rng.uniform(0, 5)
    kind = rng.integers(3)
    if kind == 0:
        a, b = int(a), int(b) + 1
    elif kind == 1:
        a, b = int(4 * a) / 4, int(4 * b) / 4 + 0.25
    draw = rng.random()
    number = np.asarray((a, b)).dtype.type if draw < 0.3 else lambda edge: edge
    if draw > 0.85:
        number = lambda edge: Fraction(edge).limit_denominator(90)
    pair = [number(b), number(a)] if turned else [number(a), number(b)]
    return pair if rng.random() < 0.5 else tuple(pair)


def scales(rng: np.random.Generator, n: int, exact: bool) -> Any:
    """One or one each, of the types that may be given. exact: fractions too."""
    factor = [
        lambda: 2 ** rng.uniform(-1, 1.5), lambda: int(rng.integers(1, 4)), lambda: float(rng.integers(1, 16)) / 4,
        lambda: np.float32(rng.uniform(0.5, 2)), lambda: Fraction(int(rng.integers(40, 200)), int(rng.integers(60, 90))),
    ][rng.integers(4 + exact)]  # fmt: skip
    return factor() if rng.random() < 0.5 else tuple(factor() for _ in range(n))


def drawn(rng: np.random.Generator) -> tuple[Any, Any]:
    """A function of an array, sizes and boxes, and what makes these for it; arrays lie alike."""
    dtype, tensors, scaled = str(rng.choice(DTYPES)), rng.random() < 0.5, rng.random() < 0.3
    listed = [tuple, tuple, list, torch.Size, lambda sizes: tuple(map(np.int64, sizes))][rng.integers(5)]
    boxed: tuple[str, ...] = ()  # of each axis: as it is, reversed, or none
    if rng.random() < 0.4:
        n = int(rng.integers(1, 4))
        mode, antialias = str(rng.choice(INTERPOLATED[n])), bool(rng.random() < 0.5)
        antialias = mode == "lanczos" or (antialias and mode in ("bilinear", "bicubic"))
        corners = bool(rng.random() < 0.3) if mode.endswith(("linear", "cubic")) else None
        lead, axes = [int(rng.choice((1, 1, 2, 3))), int(rng.choice((1, 3, 3, 4, 17)))], n
        how: dict[str, Any] = {"mode": mode, "antialias": antialias, "align_corners": corners}
        if scaled:
            how["recompute_scale_factor"] = [None, True][rng.choice(2, p=[0.7, 0.3])]
        named = "scale_factor" if scaled else "size"
        call = lambda x, size, box, **to: tenter.interpolate(x, **{named: size}, **how, **to)
        shape = lambda: (*lead, *(int(rng.integers(1, 60)) for _ in range(axes)))
    else:
        ndim = int(rng.integers(1, 6))
        n = int(rng.integers(1, min(ndim, 3 + (rng.random() < 0.4)) + 1))
        at = int(rng.integers(0, ndim - n + 1))
        which = tuple(range(at, at + n))
        if rng.random() < 0.3:  # apart
            which = tuple(np.sort(rng.choice(ndim, n, replace=False)).tolist())
        if rng.random() < 0.2:  # not in turn
            which = tuple(rng.permutation(which).tolist())
        modes = rng.choice(RESIZED, n).tolist() if rng.random() < 0.4 else str(rng.choice(RESIZED))
        how = {"axes": which, "mode": modes, "antialias": [None, True, False][rng.integers(3)]}
        how |= {
            "like": str(rng.choice(LIKE)),
            "align": None if rng.random() < 0.5 else str(rng.choice(ALIGNS)),
        }
        if scaled:
            rounding = [None, "floor", "round", "round_even", "ceil"][rng.integers(5)]
            how["like"] = Convention.of(how["like"], length_rounding=rounding) if rounding else how["like"]
        elif n < 3 and rng.random() < 0.3:
            how["like"] = Convention.of(how["like"], aspect_ratio=str(rng.choice(("not_larger", "not_smaller"))))
        if rng.random() < 0.2:
            how["axes"] = list(which)
        if rng.random() < 0.4:
            how["edge"] = str(rng.choice(EDGES))
            if how["edge"] in ("constant", "extrapolate") and rng.random() < 0.7:
                how["value"] = [0, 1, 1, 1.0, 77, 2.5, np.inf][rng.integers(7)]
        if rng.random() < 0.6:
            boxed = tuple(str(rng.choice(["", "turned", "is", "is", "is"])) for _ in which)
        of_size = "scale" if scaled else "size"
        call = lambda x, size, box, **to: tenter.resize(x, **{of_size: size}, box=box, **how, **to)
        lead = [int(rng.choice((1, 3, 4, 20) if ndim < 4 else (1, 3))) for _ in range(ndim)]
        most = (60, 60, 40, 14)[n - 1]
        shape = lambda: tuple(int(rng.integers(1, most)) if d in which else lead[d] for d in range(ndim))
    long = n == 1 and rng.random() < 0.3
    seed = int(rng.integers(1 << 30))

    def made() -> tuple[Any, Any, Any]:
        lying = np.random.default_rng(seed)  # alike each time
        lengths = shape()
        if long:
            lengths = tuple(40 * m if k == len(lengths) - 1 else m for k, m in enumerate(lengths))
        x = laid_out(lying, lengths, dtype)
        resized = [lengths[d] for d in which] if boxed else lengths[-n:]
        sizes = listed(int(m * 2 ** rng.uniform(-2, 2)) + 1 if rng.random() < 0.9 else m for m in resized)
        if scaled:
            sizes = scales(np.random.default_rng(seed + int(rng.integers(3))), len(resized), bool(boxed))
        box = (list if rng.random() < 0.5 else tuple)(
            edges(rng, m, how == "turned") if how else None for m, how in zip(resized, boxed)
        ) or None
        return (torch.from_numpy(x) if tensors and min(x.strides, default=1) >= 0 else x), sizes, box

    return call, made


def repeat_call(rng: np.random.Generator, ndim: int, kinds: int = 6) -> tuple[Any, bool]:
    """A repeat by ints, of the first kinds, and whether it takes an out."""
    times = [int(rng.choice((0, 1, 1, 2, 3, 7))) for _ in range(max(1, ndim + int(rng.integers(-1, 3))))]
    dim = None if rng.random() < 0.3 else int(rng.integers(-ndim, ndim)) if ndim else 0
    given, which = [times, tuple(times)][rng.integers(2)], int(rng.integers(kinds))
    return [
        lambda x, **to: tenter.repeat_interleave(x, times[0], dim, **to),
        lambda x, **to: tenter.repeat(x, *times, **to),
        lambda x, **to: tenter.repeat(x, given, **to),
        lambda x, **to: tenter.tile(x, given, **to),
        lambda x: tenter.numpy.repeat(np.asarray(x), times[0], dim),
        lambda x: tenter.numpy.tile(np.asarray(x), given),
    ][which], which < 4


def gradient(rng: np.random.Generator, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Values whose sums depend on their order, in one of many layouts: dims in any order, cut out, expanded."""
    order = rng.permutation(len(shape)) if rng.random() < 0.4 else np.arange(len(shape))
    share = float(rng.choice((0, 0, 0.2, 1), p=[0.5, 0.3, 0.1, 0.1]))  # of dims that are expanded
    alone = [n > 1 and rng.random() < share for n in shape]
    room = [1 if alone[d] else shape[d] + int(rng.integers(0, 3)) * int(rng.random() < 0.3) for d in order]
    g = torch.from_numpy(np.asarray(rng.standard_normal(room) + 1j * rng.standard_normal(room)))
    g = (g if dtype.is_complex else g.real).to(dtype)
    return g.permute(np.argsort(order).tolist())[tuple(slice(n) for n in shape)].expand(shape)


def check_memory(rng: np.random.Generator, y: Any) -> tuple[Any, Any]:
    """Memory for a result, in one of many layouts, and all memory of which it is a part."""
    dtype = str(y.dtype).removeprefix("torch.")
    order = rng.permutation(y.ndim) if rng.random() < 0.3 else np.argsort([-s for s in of(y).strides(y)], kind="stable")
    more = [(int(rng.integers(0, 3)), int(rng.integers(0, 3))) if rng.random() < 0.3 else (0, 0) for _ in order]
    step = [2 if rng.random() < 0.05 else 1 for _ in order]
    whole = np.full([a + s * y.shape[d] + b for (a, b), s, d in zip(more, step, order)], 1, dtype)
    place = tuple(slice(a, a + s * y.shape[d], s) for (a, _), s, d in zip(more, step, order))
    turned = isinstance(y, np.ndarray) and rng.random() < 0.2
    made = (whole if isinstance(y, np.ndarray) else torch.from_numpy(whole))[place]
    out = made.transpose(np.argsort(order)) if isinstance(y, np.ndarray) else made.permute(*np.argsort(order).tolist())
    return whole, np.flip(out, int(rng.integers(y.ndim))) if turned else out


def into(rng: np.random.Generator, call: Any, wanted: Any) -> None:
    """A new call writes the same to memory of any layout, and nothing beside it; so do those after it."""
    for _ in range(2):
        whole, out = check_memory(rng, wanted)
        assert call(out=out) is out
        np.testing.assert_array_equal(np.asarray(out), np.asarray(wanted))
        out[...] = 1
        assert (whole == 1).all()


@contextlib.contextmanager
def plans_counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    planned: list[Any] = []
    with monkeypatch.context() as patched:
        patched.setattr(calls, "plan", noted(calls.plan, planned))
        yield planned


def noted(f: Any, calls: list[Any]) -> Any:
    return lambda *args: calls.append(args) or f(*args)


def by_plan(ctx: Any, x: torch.Tensor, call: Any) -> torch.Tensor:
    """Python's way of what the core gives up."""
    ctx.call = call
    ctx.operands = call if isinstance(call, CallPlan) else call.operands
    return gradients.forward(x, ctx.operands)
