"""Results of 0.3 to 40 MiB, few inputs stretched far, many shrunk to few, and long axes that go on past their edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .arrays import Array, bits, numbers
from .call import Call, Named, named, written
from .draw import Draw
from .oracle import EPSILON, Wrong, check_bits, check_shape, is_whole, name_of
from .resizing import permitted, plan
from .summing import check_maps

MIB = 1 << 20
DTYPES = ("uint8", "float16", "float32", "float32", "int32", "float64")
FAR = 40_000
LONG = 60_000
MOST_PRODUCTS = 200_000_000  # of the check


def array(r: Draw, shape: tuple[int, ...], dtype: str, library: str | None = None) -> Array:
    """That ends, or begins, where memory does."""
    guard = r.pick(("after", "before", None), (3, 1, 1))
    return Array(library or r.pick(("numpy", "torch")), dtype, shape, "normal", r.int(0, 9999), guard=guard)


def n_bytes(r: Draw) -> int:
    """From 0.3 to 40 MiB; most are small."""
    return int(MIB * 0.3 * math.exp(r.rng.random() ** 2 * math.log(40 / 0.3)))


def copies(r: Draw) -> Call:
    """repeat_interleave and tile, against NumPy's functions on the bits."""
    dtype = r.pick((*DTYPES, "complex128"))
    each, inner = r.pick((1, 2, 3, 7, 40)), r.pick((1, 1, 3, 16, 100))
    total = max(each, n_bytes(r) // np.dtype(dtype).itemsize // inner)
    how = array(r, (max(1, total // each), inner), dtype)
    x = named("x", how)
    axis = 0 if r.chance(0.7) else 1
    n = how.shape[axis]
    given: Any = each
    if r.chance(0.4):
        found = r.rng.integers(0, 2 * each + 1, n)
        given = Array(how.library, r.pick(("int64", "int32", "uint8")), (n,), "normal")._replace(values=found.tolist())
        held = named("counts", given) if n < 3000 else Named("counts", *_counts(r, how.library, n, each))
        given = held.value
        names = {"x": x, "counts": held}
        source = "y = " + written("tenter.repeat_interleave", [x, held, axis])
    else:
        names = {"x": x}
        function = r.pick(
            ("tenter.repeat_interleave(x, {}, {})", "tenter.tile(x, {1})" if axis else "tenter.tile(x, {0})")
        )
        source = "y = " + function.format(
            *((each, axis) if "interleave" in function else (f"({each}, 1)", f"(1, {each})"))
        )

    def check(y: Any) -> None:
        plain = bits(x.value)
        if "tile" in source:
            want = np.tile(plain, (each, 1) if axis == 0 else (1, each))
        else:
            want = np.repeat(plain, bits(given) if "counts" in names else each, axis)
        check_shape(y, x.value, want.shape)
        check_bits(y, want)

    return Call("", source, names, check, large=True)


def _counts(r: Draw, library: str, n: int, each: int) -> tuple[Any, str]:
    """Too many to write down."""
    seed = r.int(0, 9999)
    recipe = f"np.random.default_rng({seed}).integers(0, {2 * each + 1}, {n})"
    recipe = f"torch.from_numpy({recipe})" if library == "torch" else recipe
    import torch

    return eval(recipe, {"np": np, "torch": torch}), recipe


def _resized(r: Draw, how: Array, kwargs: dict[str, Any]) -> Call:
    x = named("x", how)
    maps, cut, shape, _ = plan(x.value, kwargs)

    def check(y: Any) -> None:
        check_shape(y, x.value, shape)
        check_maps(y, x.value, maps, cut)

    return Call("", "y = " + written("tenter.resize", [x], kwargs), {"x": x}, check, large=True)


def pictures(r: Draw) -> Call:
    """Two short axes among many rows."""
    dtype = r.pick(DTYPES[:4])
    size = (r.int(1, 60), r.int(1, 60))
    rest = max(1, n_bytes(r) // np.dtype(dtype).itemsize // math.prod(size))
    sides = (r.int(1, 60), r.int(1, 60))
    rest = min(rest, 8 * MIB // math.prod(sides), MOST_PRODUCTS // math.prod(size) // max(sides))
    first = r.chance(0.5)
    shape, axes = ((rest, *sides), (1, 2)) if first else ((*sides, rest), (0, 1))
    mode = r.pick(("nearest", "linear", "cubic", "area", "lanczos3"))
    kwargs = {"size": size, "axes": axes, "mode": mode, "antialias": r.chance(0.5)}
    return _resized(r, array(r, shape, dtype), permitted(kwargs))


MODES = ("nearest", "nearest-exact", "linear", "cubic", "area", "lanczos")


def stretched(r: Draw) -> Call:
    """1 to 12 inputs, or as many outputs, beside very many."""
    few, many = r.int(1, 12), r.int(FAR // 20, FAR)
    n, size = (few, many) if r.chance(0.6) else (many, few)
    shape = (n,) if r.chance(0.6) else r.pick(((n, 2), (3, n)))
    kwargs = {"size": size, "axes": shape.index(n), "mode": r.pick(MODES), "antialias": r.chance(0.5)}
    if r.chance(0.4):
        kwargs["edge"] = r.pick(("wrap", "reflect", "symmetric", "renormalize", "constant"))
    return _resized(r, array(r, shape, r.pick(DTYPES)), permitted(kwargs))


PADS = {"wrap": "wrap", "reflect": "reflect", "symmetric": "symmetric", "replicate": "edge"}


def past_edges(r: Draw) -> Call:
    """A long axis that goes on past its edges: the same as a box of one that was made longer before."""
    dtype, n = r.pick(("uint8", "float32", "float32", "float64", "int32")), r.int(LONG // 20, LONG)
    size = max(1, round(n * math.exp(r.rng.uniform(-2.5, 2))))
    edge, mode = r.pick(tuple(PADS)), r.pick(("linear", "cubic", "lanczos", "nearest-exact", "catmull-rom"))
    lone = r.chance(0.7)
    how = array(r, (n,) if lone else (n, r.int(2, 3)), dtype)
    kwargs = {"size": size, "axes": 0, "mode": mode, "antialias": r.chance(0.5), "edge": edge}
    if dtype == "uint8":
        kwargs["like"] = "opencv"
        kwargs.pop("antialias")
    kwargs = permitted(kwargs)
    x = named("x", how)
    margin = min(n - 1, 4 + 12 * -(-n // size))

    def check(y: Any) -> None:
        import tenter

        plain = numbers(x.value)
        check_shape(y, x.value, (size, *plain.shape[1:]))
        around = np.pad(plain, [(margin, margin)] + [(0, 0)] * (plain.ndim - 1), PADS[edge])
        inner = {**kwargs, "edge": "replicate", "box": [(margin, margin + n)]}
        want, got = (v.astype(np.float64) for v in (tenter.resize(around, **inner), numbers(y)))
        name = name_of(x.value)
        allowed = 1.01 if is_whole(name) else 64 * EPSILON[name] * max(1.0, float(np.abs(plain).max()))
        if not (np.abs(got - want) <= allowed).all():
            at = int(np.abs(got - want).reshape(size, -1).max(1).argmax())
            raise Wrong("values", f"of edge {edge}, first at {at}: {got[at]}, expected {want[at]}")

    return Call("", "y = " + written("tenter.resize", [x], kwargs), {"x": x}, check, large=True)


KINDS = {
    "large copies": (copies, 0.06),
    "large pictures": (pictures, 0.04),
    "stretched far": (stretched, 0.04),
    "long past edges": (past_edges, 0.05),
}
