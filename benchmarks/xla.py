"""JAX: the operations compiled by XLA for this processor, ours and JAX's own in turns, forward and gradient, on the
shapes of the table; median of paired ratios.

`python -m benchmarks jax` writes docs/measured/jax.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import tenter
from benchmarks.measure import alternate, timed
from benchmarks.report import between
from benchmarks.results import Contest
from benchmarks.summaries import Met, slower
from benchmarks.table import beside, cell, lined

PAGE = Path("docs/measured/jax.md")
BEGIN, END = "<!-- jax:begin -->", "<!-- jax:end -->"
KINDS = {"nearest-exact": "nearest", "linear": "linear", "cubic": "cubic"}  # ours, and JAX's word for it
Function = Callable[..., jax.Array]


class Case(NamedTuple):
    """given: x, and what else compiled code takes."""

    name: str
    given: tuple[Any, ...]
    ours: Function
    theirs: Function


def values(shape: tuple[int, ...], dtype: str) -> jax.Array:
    rng = np.random.default_rng(0)
    if np.dtype(jnp.dtype(dtype)).kind == "i":
        return jnp.asarray(rng.integers(-100, 100, shape), dtype)
    return jnp.asarray(rng.standard_normal(shape, np.float32), dtype)


def counted(name: str, shape: tuple[int, ...], dim: int, dtype: str = "float32") -> Case:
    counts = np.random.default_rng(1).integers(0, 9, shape[dim])
    total = int(counts.sum())
    ours = partial(tenter.repeat_interleave, dim=dim, output_size=total)
    theirs = partial(jnp.repeat, axis=dim, total_repeat_length=total)
    return Case(f"`repeat_interleave`, {name}, {dtype}", (values(shape, dtype), jnp.asarray(counts)), ours, theirs)


def every(name: str, shape: tuple[int, ...], dim: int, each: int, dtype: str = "float32") -> Case:
    ours = partial(tenter.repeat_interleave, repeats=each, dim=dim)
    theirs = partial(jnp.repeat, repeats=each, axis=dim)
    return Case(f"`repeat_interleave`, {name}, {dtype}", (values(shape, dtype),), ours, theirs)


def resized(mode: str, shape: tuple[int, ...], size: tuple[int, ...], dtype: str = "float32",
            antialias: bool = False) -> Case:  # fmt: skip
    axes, whole = tuple(range(2, len(shape))), (*shape[:2], *size)
    ours = partial(tenter.resize, size=size, axes=axes, mode=mode, antialias=antialias, like="jax")
    theirs = partial(jax.image.resize, shape=whole, method=KINDS[mode], antialias=antialias)
    to = size[0] if len(size) == 1 else size
    return Case(f"`resize`, {'antialiased ' * antialias}{mode}, {shape} to {to}, {dtype}", (values(shape, dtype),),
                ours, theirs)  # fmt: skip


def cases() -> Iterator[Case]:
    for dtype in ("float32", "int8"):
        yield counted("1M scalars, counts 0..8", (1_000_000,), 0, dtype)
    yield counted("(100000, 64) dim 0, counts 0..8", (100_000, 64), 0)
    yield counted("(4096, 1024) dim 1, counts 0..8", (4096, 1024), 1)
    yield every("(4096, 4096) dim 1, 2 each", (4096, 4096), 1, 2)
    for dtype in ("float32", "bfloat16"):
        yield every("grouped-query K/V (4, 8, 4096, 128) dim 1, 4 each", (4, 8, 4096, 128), 1, 4, dtype)
    x = values((1024, 1024), "float32")
    ours, theirs = (lambda x, tile=tile: tile(x, (4, 4)) for tile in (tenter.tile, jnp.tile))
    yield Case("`tile`, (1024, 1024) by (4, 4), float32", (x,), ours, theirs)
    image, photograph = (8, 64, 128, 128), (8, 3, 1080, 1920)
    for mode in ("linear", "cubic", "nearest-exact"):
        yield resized(mode, image, (256, 256))
    for mode in ("linear", "nearest-exact"):
        yield resized(mode, (2, 32, 64, 64, 64), (128, 128, 128))
    yield resized("linear", (8, 256, 4096), (8192,))
    for mode in ("linear", "cubic"):
        yield resized(mode, photograph, (224, 224), antialias=True)
    for dtype in ("bfloat16", "float16"):
        yield resized("linear", (4, 3, 512, 512), (2048, 2048), dtype)
    yield resized("cubic", (1, 3, 512, 512), (2048, 2048))


def gradient(f: Function) -> Function:
    def backward(g: jax.Array, x: jax.Array, *rest: Any) -> Any:
        return jax.vjp(lambda x: f(x, *rest), x)[1](g)[0]

    return backward


def contest(ours: Function, theirs: Function, given: tuple[Any, ...], seconds: float) -> tuple[Contest, float]:
    """The peer's time / ours, and our milliseconds; both checked against each other first."""
    calls = [partial(waited, jax.jit(f), given) for f in (ours, theirs)]
    a, b = (np.asarray(call(), np.float32) for call in calls)
    half = given[0].dtype in (jnp.bfloat16, jnp.float16)
    np.testing.assert_allclose(a, b, rtol=0, atol=(2e-2 if half else 1e-4) * max(1.0, float(np.abs(b).max())))
    found = Contest()
    alternate(calls[0], calls[1], seconds, found, 0.0, timed)
    return found, found.ours_ms


def waited(f: Function, given: tuple[Any, ...]) -> jax.Array:
    return f(*given).block_until_ready()


def measure(case: Case, seconds: float) -> tuple[list[str], list[Met]]:
    """A line of the table; the ratios."""
    forward, ms = contest(case.ours, case.theirs, case.given, seconds)
    cells, met = [case.name, f"{ms:.1f}", cell(forward)], [Met("Calls", case.name, "JAX", forward.ratio)]
    if not jnp.issubdtype(case.given[0].dtype, jnp.floating):
        return [*cells, "-", "-"], met
    shape = jax.eval_shape(case.ours, *case.given).shape
    g = values(shape, str(case.given[0].dtype))
    back, ms = contest(gradient(case.ours), gradient(case.theirs), (g, *case.given), seconds)
    return [*cells, f"{ms:.1f}", cell(back)], [*met, Met("Gradients", case.name, "JAX", back.ratio)]


def main(about: str, only: str, seconds: float) -> int:
    rows, met = [], list[Met]()
    for case in cases():
        if only.lower() in case.name.lower():
            row, ratios = measure(case, seconds)
            rows.append(row)
            met += ratios
            print(" | ".join(row), flush=True)
    if not only:
        table = lined(["Compiled call", "tenter, ms", "JAX", "gradient, ms", "gradient, JAX"], rows)
        link = beside(PAGE, "jax", table, "All calls")
        PAGE.write_text(between(PAGE, BEGIN, END, f"JAX {jax.__version__}; {about}\n\n{slower(met)}\n\n{link}"))
        print(f"wrote {PAGE}")
    return 0
