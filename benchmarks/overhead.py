"""`python -m benchmarks overhead`: what a call takes outside of its kernels.

Results have a few elements, so that kernels do nothing to speak of: every function, in several dtypes, layouts, ranks
and factors, with counts, with `out=`, repeated, and with a new size in each call. It prints microseconds, of arrays and
of tensors, the slowest calls of each kind first.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

import tenter
from benchmarks.measure import timed

ROUNDS, CALLS, SHOWN = 9, 300, 6
DTYPES = ("float32", "float64", "uint8", "int64", "float16")


class Calls(NamedTuple):
    """kind: what is printed together. make: of x, a call that is made again and again."""

    kind: str
    name: str
    make: Callable[[Any], Callable[[], Any]]


def main() -> int:
    torch.set_num_threads(1)
    tenter.set_num_threads(1)
    found: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for library, named, x in inputs():
        for calls in rows(x):
            call = calls.make(x)
            for _ in range(20):
                call()
            spent = statistics.median(timed(call, CALLS) for _ in range(ROUNDS)) * 1e6
            found.setdefault((library, calls.kind), []).append((spent, f"{calls.name} of {named}"))
    for (library, kind), spent in found.items():
        spent.sort(reverse=True)
        median = statistics.median(s for s, _ in spent)
        print(f"{library}, {kind}: median {median:.2f} us of {len(spent)} calls; the slowest:")
        for each, name in spent[:SHOWN]:
            print(f"    {each:6.2f}  {name}")
    return 0


def inputs() -> Iterator[tuple[str, str, Any]]:
    """Arrays and tensors of a few elements: library, words, x."""
    layouts: dict[str, Callable[[Any], Any]] = {
        "contiguous": lambda x: x, "transposed": lambda x: x.swapaxes(0, -1), "sliced": lambda x: x[..., ::2],
    }  # fmt: skip
    for dtype, shape, (layout, lay) in itertools.product(DTYPES, ((4, 6), (2, 3, 4), (1, 2, 3, 4)), layouts.items()):
        x = lay(np.arange(np.prod(shape)).reshape(shape).astype(dtype))
        named = f"{dtype}{list(x.shape)}, {layout}"
        yield "arrays", named, x
        yield "tensors", named, torch.from_numpy(x)


def rows(x: Any) -> Iterator[Calls]:
    last = x.ndim - 1
    for factor in (1, 2, 5):
        yield Calls(
            "repeated",
            f"repeat_interleave by {factor}",
            lambda x, f=factor: lambda: tenter.repeat_interleave(x, f, last),
        )
    yield Calls("repeated", "repeat", lambda x: lambda: tenter.repeat(x, *(2,) * x.ndim))
    yield Calls("repeated", "tile", lambda x: lambda: tenter.tile(x, (2, 1)))
    yield Calls("repeated", "resize", lambda x: lambda: tenter.resize(x, 5, axes=last))
    yield Calls("repeated", "resize, nearest", lambda x: lambda: tenter.resize(x, 5, axes=last, mode="nearest"))
    yield Calls("by counts", "repeat_interleave", by_counts)
    yield Calls("with out=", "repeat_interleave by 2", with_out)
    yield Calls("new sizes", "resize", lambda x: new_sizes(lambda n: tenter.resize(x, n, axes=last)))
    yield Calls("new sizes", "repeat_interleave", lambda x: new_sizes(lambda n: tenter.repeat_interleave(x, n, last)))


def by_counts(x: Any) -> Callable[[], Any]:
    counts: Any = np.arange(x.shape[-1]) % 3
    counts = torch.from_numpy(counts) if isinstance(x, torch.Tensor) else counts
    return lambda: tenter.repeat_interleave(x, counts, x.ndim - 1)


def with_out(x: Any) -> Callable[[], Any]:
    out = tenter.repeat_interleave(x, 2, x.ndim - 1)
    return lambda: tenter.repeat_interleave(x, 2, x.ndim - 1, out=out)


def new_sizes(call: Callable[[int], Any]) -> Callable[[], Any]:
    sizes = itertools.cycle(range(3, 400))
    return lambda: call(next(sizes))
