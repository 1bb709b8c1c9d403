"""Random expressions of lazy arrays, and of the same arrays materialized, for NumPy and PyTorch."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

import tenter
from tenter.lazy import LazyArray, explanation

DTYPES = ["bool", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64"]
# Of the results of sums in each dtype, relative to the largest value.
TOLERANCE = {
    "float16": 4e-3,
    "complex32": 4e-3,
    "float32": 3e-6,
    "complex64": 3e-6,
    "float64": 1e-12,
    "complex128": 1e-12,
}
Pair = tuple[Any, Any]  # lazy, or what came of it, and its twin


def dtype_of(x: Any) -> str:
    return str(x.dtype).removeprefix("torch.")


def as_numpy(x: Any) -> np.ndarray[Any, Any]:
    if isinstance(x, torch.Tensor):
        x = x.detach().resolve_conj()
        return (x.to(torch.complex64) if x.dtype == torch.complex32 else x).numpy()
    return np.asarray(x)


def explained(s: Any) -> str:
    """The calls that a lazy array took part in, as `tenter.explain` ends."""
    return explanation.text(s._stretched, s._events)


def whole(x: Any) -> Any:
    return x.materialize() if isinstance(x, LazyArray) else x


def assert_twins(lazy: Any, twin: Any, computed_in: str = "float64") -> None:
    """The same kind, dtype, shape and values; a lazy array says its shape and dtype before it is materialized.
    computed_in: the dtype that values were rounded to on the way."""
    if isinstance(lazy, LazyArray):
        assert lazy.shape == twin.shape and lazy.dtype == twin.dtype and lazy.ndim == twin.ndim
        lazy = lazy.materialize()
    assert type(lazy) is type(twin), (type(lazy), type(twin))
    assert lazy.dtype == twin.dtype and lazy.shape == twin.shape, (lazy.dtype, twin.dtype, lazy.shape, twin.shape)
    got, want = as_numpy(lazy), as_numpy(twin)
    tolerance = TOLERANCE.get(dtype_of(twin))
    if tolerance is None:
        assert np.array_equal(got, want), (got, want)
    else:
        finite = np.abs(want[np.isfinite(want)])
        scale = float(finite.max(initial=0)) if want.size else 0.0
        tolerance = max(tolerance, TOLERANCE.get(computed_in, 0.0))
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * max(scale, 1.0))


def both(f: Callable[[Any], Any], lazy: Any, twin: Any) -> Pair | None:
    """f of both; None where both raise the same kind of error."""
    try:
        want = f(twin)
    except Exception as error:
        try:
            f(lazy)
        except Exception as other:
            assert isinstance(error, type(other)) or isinstance(other, type(error)), (error, other)
            return None
        raise AssertionError(f"the lazy array took what its twin refused: {error}") from error
    return f(lazy), want


def values(draw: Any, library: str, dtype: str, shape: tuple[int, ...]) -> Any:
    """Small whole numbers and halves, so that sums are exact."""
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    x = np.asarray(rng.integers(-6, 7, shape), np.float64)
    if dtype[0] in "ub":
        x = abs(x)
    if dtype[0] in "fc":
        x = x / 2
    if dtype.startswith("c"):
        x = x + 1j * rng.integers(-6, 7, shape)
    x = np.asarray(x, dtype)
    if draw(st.booleans()) and x.ndim > 1:
        x = np.ascontiguousarray(x.T).T  # other strides
    return torch.from_numpy(x) if library == "torch" else x


@st.composite
def stretched(draw: Any) -> tuple[str, str, Pair, Callable[[Any, Any], Any]]:
    """Library, dtype, a lazy array and its twin, and what stretches another array of the same shape."""
    library, dtype = draw(st.sampled_from(["numpy", "torch"])), draw(st.sampled_from(DTYPES))
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=3)))
    steps: list[Callable[[Any, Any], Any]] = []
    now = list(shape)
    for _ in range(draw(st.integers(1, 2))):
        step, now = draw(steps_of(tuple(now), dtype, library))
        steps.append(step)

    def run(ops: Any, x: Any) -> Any:
        for step in steps:
            x = step(ops, x)
        return x

    x = values(draw, library, dtype, shape)
    return library, dtype, (run(tenter.lazy, x), run(tenter, x)), run


@st.composite
def steps_of(draw: Any, shape: tuple[int, ...], dtype: str, library: str) -> Any:
    kinds = ["counts", "counts", "every", "tile", "nearest"]
    weighs = dtype != "bool" and 0 not in shape and not (dtype == "complex64" and library == "torch")
    kind = draw(st.sampled_from(kinds + ["linear", "cubic", "area"] * weighs))
    axis = draw(st.integers(0, len(shape) - 1))
    n = shape[axis]
    after = list(shape)
    if kind == "counts":
        counts = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
        after[axis] = sum(counts) if n != 1 else counts[0]
        return lambda ops, x: ops.repeat_interleave(x, counts, axis - x.ndim), after
    if kind == "every":
        r = draw(st.integers(0, 3))
        after[axis] = n * r
        return lambda ops, x: ops.repeat_interleave(x, r, axis), after
    if kind == "tile":
        sizes = tuple(draw(st.lists(st.integers(0, 3), min_size=len(shape), max_size=len(shape))))
        return lambda ops, x: ops.tile(x, sizes), [m * r for m, r in zip(shape, sizes)]
    if not n:
        return lambda ops, x: ops.tile(x, 1), after
    size = draw(st.integers(0 if kind != "area" else 1, 6))
    after[axis] = size
    edge = {"linear": draw(st.sampled_from([None, "wrap", "constant"]))}.get(kind)
    return lambda ops, x: ops.resize(x, size, axes=axis, mode=kind, edge=edge), after


# ---- what is done with them: functions of a pair's either side

NUMPY_UNARY = [np.exp, np.negative, np.abs, np.sqrt, np.sign, np.isnan, np.square, np.conj, np.positive, np.real,
               np.rint, operator.neg, operator.pos, abs]  # fmt: skip
TORCH_UNARY = [torch.exp, torch.neg, torch.abs, torch.sqrt, torch.relu, torch.isnan, torch.sigmoid, operator.neg, abs,
               torch.nn.functional.silu, torch.nn.functional.gelu, torch.conj, lambda x: x.exp(), lambda x: x.clone(),
               lambda x: x.to(torch.float64), lambda x: x.long(), lambda x: x.float()]  # fmt: skip
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.eq, operator.floordiv,
          operator.pow, operator.and_]  # fmt: skip
NUMPY_BINARY = [np.maximum, np.arctan2, np.hypot, np.add, np.multiply, np.divide, np.logical_or, np.divmod]
TORCH_BINARY = [torch.maximum, torch.atan2, torch.add, torch.mul, torch.div, torch.logical_or, torch.sub, torch.max]
SCALARS = [2, -1, 0, 0.5, 3.0, True, float("inf"), float("nan"), 1j]
NUMPY_WHOLE = [np.cumsum, np.ravel, np.sort, np.var, np.argmax, np.unique]
TORCH_WHOLE = [
    lambda x: x.cumsum(0),
    torch.ravel,
    lambda x: torch.softmax(x, 0),
    torch.var,
    torch.argmax,
    lambda x: x.sort(0)[0],
]
NUMPY_ALONG = [lambda x, d: np.cumsum(x, d), lambda x, d: np.sort(x, axis=d), lambda x, d: np.flip(x, d),
               lambda x, d: np.concatenate([x, x], d), lambda x, d: np.argmax(x, axis=d), lambda x, d: x.var(d)]  # fmt: skip
TORCH_ALONG = [lambda x, d: x.softmax(d), lambda x, d: torch.cumsum(x, d), lambda x, d: x.flip(d),
               lambda x, d: torch.cat([x, x], d), lambda x, d: x.argmax(d), lambda x, d: x.chunk(2, d)[0],
               lambda x, d: x.flatten(0, d), lambda x, d: torch.nn.functional.layer_norm(x, x.shape[d:])]  # fmt: skip


@st.composite
def changes(draw: Any, library: str, dtype: str, twin: Any, stretch: Callable[[Any, Any], Any], x: Any) -> Any:
    """A function for both sides. stretch, x: what makes an equally stretched operand, while shapes allow it."""
    shape, numpy = tuple(twin.shape), library == "numpy"
    kind = draw(st.sampled_from(["unary", "scalar", "constant", "equal", "full", "index", "index", "reduce", "reduce",
                                 "matmul", "move", "where", "whole", "along", "reshape", "segments"]))  # fmt: skip
    if kind == "unary":
        return draw(st.sampled_from(NUMPY_UNARY if numpy else TORCH_UNARY))
    binary = draw(st.sampled_from(BINARY + (NUMPY_BINARY if numpy else TORCH_BINARY)))
    swapped = draw(st.booleans())
    if kind == "scalar":
        value = draw(st.sampled_from(SCALARS))
        return lambda a: binary(value, a) if swapped else binary(a, value)
    if kind in ("constant", "full"):
        other_dtype = draw(st.sampled_from([dtype, draw(st.sampled_from(DTYPES))]))
        keep = 0 if kind == "full" else draw(st.integers(0, 7))
        other_shape = tuple(1 if keep >> d & 1 else n for d, n in enumerate(shape))[draw(st.integers(0, 1)) :]
        other = values(draw, library, other_dtype, other_shape)
        return lambda a: binary(other, a) if swapped else binary(a, other)
    if kind == "equal":
        y = values(draw, library, dtype, tuple(x.shape))
        return lambda a: binary(a, stretch(tenter.lazy if isinstance(a, LazyArray) else tenter, y))
    if kind == "index":
        return indexing(draw(keys(shape, numpy)))
    if kind == "reduce":
        return draw(reductions(shape, numpy))
    if kind == "matmul":
        inner = draw(st.sampled_from(shape or (1,)))
        other = values(draw, library, dtype, draw(st.sampled_from([(inner, 2), (inner,), (2, inner), (3, inner, 2)])))
        return lambda a: other @ a if swapped else a @ other
    if kind == "move":
        order = draw(st.permutations(range(len(shape))))
        return (lambda a: np.transpose(a, order)) if numpy else (lambda a: a.permute(order))
    if kind == "where":
        mask = values(draw, library, "bool", shape)
        return (lambda a: np.where(mask, a, 1)) if numpy else (lambda a: torch.where(mask, a, 1))
    if kind == "along" and shape:
        along, dim = draw(st.sampled_from(NUMPY_ALONG if numpy else TORCH_ALONG)), draw(st.integers(0, len(shape) - 1))
        return lambda a: along(a, dim)
    if kind == "reshape":
        merged = draw(st.integers(0, len(shape)))
        split = draw(st.sampled_from([(-1,), (-1, 2), (2, -1), (3, -1), (-1, 1, 2)]))
        return lambda a: a.reshape(*shape[:merged], *split)
    if kind == "segments" and shape and not dtype.startswith(("b", "c")):
        cut = draw(st.integers(0, shape[0]))
        segments = tenter.maps.Copy.repeats([cut, 0, shape[0] - cut])
        return lambda a: a.segment_sum([cut, 0, shape[0] - cut]) if isinstance(a, LazyArray) else segments.T.apply(a, 0)
    return draw(st.sampled_from(NUMPY_WHOLE if numpy else TORCH_WHOLE))


def indexing(key: Any) -> Callable[[Any], Any]:
    return lambda a: a[key]


@st.composite
def keys(draw: Any, shape: tuple[int, ...], numpy: bool) -> Any:
    key: list[Any] = []
    dims = iter(shape)
    joint = draw(st.integers(0, 3))  # the length of index arrays, which broadcast
    for n in dims:
        kind = draw(st.sampled_from(["slice", "slice", "whole", "int", "array", "list", "mask", "new", "stop"]))
        if kind == "slice":
            step = draw(st.sampled_from([None, 1, 2, 3, -1, -2] if numpy else [None, 1, 2, 3]))
            ends = st.one_of(st.none(), st.integers(-n - 1, n + 1))
            key.append(slice(draw(ends), draw(ends), step))
        elif kind == "whole":
            key.append(slice(None))
        elif kind == "int":
            key.append(draw(st.integers(-n, n)) if n else 0)
        elif kind in ("array", "list") and n:
            found = draw(st.lists(st.integers(-n, n - 1), min_size=joint, max_size=joint))
            key.append(
                found
                if kind == "list"
                else np.array(found, np.int64)
                if numpy
                else torch.tensor(found, dtype=torch.int64)
            )
        elif kind == "mask":
            mask = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
            key.append(mask if numpy else torch.from_numpy(mask))
        elif kind == "new":
            key += [None, slice(None)]
        elif kind == "stop":
            if draw(st.booleans()):
                key.append(Ellipsis)
            break
    return tuple(key) if len(key) != 1 or draw(st.booleans()) else key[0]


@st.composite
def reductions(draw: Any, shape: tuple[int, ...], numpy: bool) -> Any:
    name = draw(st.sampled_from(["sum", "mean", "max", "min", "any", "all", "amax"]))
    axis = draw(st.one_of(st.none(), st.integers(-len(shape), len(shape) - 1),
                          st.lists(st.integers(0, len(shape) - 1), min_size=1, max_size=3, unique=True).map(tuple)))  # fmt: skip
    keep, dtype = draw(st.booleans()), draw(st.sampled_from([None, None, "float64", "int64", "int8", "float16"]))
    if numpy:
        how = {"axis": axis, "keepdims": keep} | ({"dtype": dtype} if dtype and name in ("sum", "mean") else {})
        return lambda a: getattr(np, name)(a, **how)
    if axis is None:
        return lambda a: getattr(torch, name)(a)
    how = {"dim": axis, "keepdim": keep}
    if dtype and name == "sum":
        how["dtype"] = getattr(torch, dtype)
    return lambda a: getattr(torch, name)(a, **how)
