"""Axis maps as matrices, made from tables one entry after another; nothing here asks tenter for a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Dense(NamedTuple):
    """Matrices of n_out by n_in. weight: sums of the weights that an input has in an output; size: of their absolute values;
    up, down, none: how many of them are above, below and equal to zero. index: of maps whose outputs are one input each;
    ones: no weights are stored, so integers are summed as they are."""

    weight: np.ndarray
    size: np.ndarray
    up: np.ndarray
    down: np.ndarray
    none: np.ndarray
    index: np.ndarray | None
    ones: bool

    @property
    def T(self) -> Dense:
        return Dense(*(m.T for m in self[:5]), None, self.ones)  # type: ignore[arg-type]

    @property
    def most_taps(self) -> int:
        return int((self.up + self.down + self.none).sum(1).max(initial=0))


def copying(index: Sequence[int] | np.ndarray, n_in: int) -> Dense:
    index = np.asarray(index, np.int64)
    if len(index) * n_in > 1 << 22:  # only copied by, as copies are
        none = np.broadcast_to(0.0, (len(index), n_in))
        return Dense(none, none, none, none, none, index, True)
    weight = np.zeros((len(index), n_in))
    weight[np.arange(len(index)), index] = 1
    none = np.zeros_like(weight)
    return Dense(weight, weight, weight, none, none, index, True)


def rows(n_in: int, taps: Sequence[Sequence[tuple[int, float]]], ones: bool = False) -> Dense:
    """From each row's (input, weight)."""
    weight, size, up, down, none = np.zeros((5, len(taps), n_in))
    for o, row in enumerate(taps):
        for i, w in row:
            weight[o, i] += w
            size[o, i] += abs(w)
            (up if w > 0 else down if w < 0 else none)[o, i] += 1
    picks = all(len(row) == 1 and row[0][1] == 1 for row in taps)
    index = np.array([row[0][0] for row in taps], np.int64) if picks else None
    return Dense(weight, size, up, down, none, index, ones)


def of_matrix(weight: np.ndarray) -> Dense:
    """Of weights that something else than tenter has computed: what is not zero is a tap."""
    up, down = (weight > 0) * 1.0, (weight < 0) * 1.0
    return Dense(weight, np.abs(weight), up, down, np.zeros_like(weight), None, False)


def in_blocks(d: Dense, block: int) -> Dense:
    """The Kronecker product with an identity."""
    if block == 1:
        return d
    each = np.eye(block)
    index = None
    if d.index is not None:
        index = (d.index[:, None] * block + np.arange(block)).reshape(-1)
    return Dense(*(np.kron(m, each) for m in d[:5]), index, d.ones)  # type: ignore[arg-type]


def of_map(m: Any) -> Dense:
    """A map of tenter's, read from its tables."""
    kind, block = type(m).__name__, int(m.block)
    n_in, n_out = int(m.n_in) // block, int(m.n_out) // block
    if kind == "Copy":
        if m.offsets is None:
            index = [o // int(m.repeat) for o in range(n_out)]
        else:
            index = [i for i in range(n_in) for _ in range(int(m.offsets[i + 1]) - int(m.offsets[i]))]
        return in_blocks(copying(index, n_in), block)
    if kind == "Gather":
        offset, index, weight = m.offset.tolist(), m.index.tolist(), m.weight.tolist()
        found = rows(n_in, [list(zip(index[a:b], weight[a:b])) for a, b in zip(offset, offset[1:])])
        return found._replace(ones=all(w == 1 for w in weight))
    if m.start is None:
        width = int(m.width)
        return in_blocks(rows(n_in, [[(o * width + k, 1.0) for k in range(width)] for o in range(n_out)], True), block)
    start, offset = m.start.tolist(), m.offset.tolist()
    weight = [1.0] * offset[-1] if m.weight is None else m.weight.tolist()
    taps = [[(s + k, weight[a + k]) for k in range(b - a)] for s, a, b in zip(start, offset, offset[1:])]
    found = rows(n_in, taps, m.weight is None)
    return in_blocks(found if found.ones else found._replace(index=None), block)
