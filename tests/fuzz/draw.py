"""Random choices of a call, all from one generator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

INTEGERS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")


class Draw:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = np.random.default_rng(seed)

    def int(self, lo: int, hi: int) -> int:
        """From lo to hi, both included."""
        return int(self.rng.integers(lo, hi + 1))

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def pick(self, values: Sequence[Any], weights: Sequence[float] | None = None) -> Any:
        if weights is None:
            return values[self.int(0, len(values) - 1)]
        return values[int(np.searchsorted(np.cumsum(weights), self.rng.random() * sum(weights), side="right"))]

    def some(self, values: Sequence[Any], n: int) -> list[Any]:
        """n different ones, in any order."""
        return [values[k] for k in self.rng.permutation(len(values))[:n]]

    def length(self, least: int = 0) -> int:
        """Of an axis: mostly short, vectors' widths, sometimes long."""
        n = self.pick((self.int(1, 4), self.int(2, 9), self.int(8, 40), 0, 1, self.int(41, 140)), (6, 6, 3, 0.7, 1.5, 1))
        return max(least, int(n))

    def shape(self, ndim: int, most: int = 3000, least: int = 0) -> tuple[int, ...]:
        """At most `most` elements; one axis in some is longer."""
        found = [self.length(least) for _ in range(ndim)]
        if ndim and self.chance(0.08):
            found[self.int(0, ndim - 1)] = self.int(200, 2500)
            most *= 4
        while np.prod(found, dtype=float) > most:
            k = int(np.argmax(found)) if self.chance(0.4) else self.int(0, ndim - 1)
            found[k] = max(1, found[k] // 3)
        return tuple(found)

    def whole(self, n: int) -> Any:
        """An int in one of the types that may stand for it: Python's, or any of NumPy's that holds it."""
        if self.chance(0.6):
            return n
        fit = [t for t in INTEGERS if np.iinfo(t).min <= n <= np.iinfo(t).max]
        return np.dtype(self.pick(fit)).type(n) if fit else n

    def ints_dtype(self, values: Sequence[int]) -> str:
        """An integer dtype that holds them all."""
        lo, hi = min(values, default=0), max(values, default=0)
        return str(self.pick([t for t in INTEGERS if np.iinfo(t).min <= lo and hi <= np.iinfo(t).max]))
