"""Ragged arrays as lists of rows, in plain Python: what every helper must give."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from tenter import ragged

HOW = ["sum", "mean", "max", "min", "softmax"]
segment = {how: getattr(ragged, f"segment_{how}") for how in HOW}
LENGTHS = st.one_of(
    st.lists(st.integers(0, 9), max_size=12),
    st.lists(st.integers(0, 2), max_size=40),
    st.lists(st.sampled_from([0, 0, 0, 1, 17, 40]), max_size=8),
)
KINDS = st.sampled_from(["list", "int64", "int32", "uint8", "torch int64", "torch int32", "torch int16"])


def given_as(kind: str, values: list[int]) -> Any:
    """Integers as a list, an array or a tensor of a dtype."""
    if kind == "list":
        return values
    library, _, dtype = kind.rpartition(" ")
    made = np.array(values, dtype or kind)
    return torch.from_numpy(made) if library else made


def kind_of(kind: str) -> tuple[type, str]:
    """The library and dtype of indices that come of such integers."""
    return (torch.Tensor if "torch" in kind else np.ndarray), ("int32" if "int32" in kind else "int64")


def same(got: Any, want: Any, kind: str) -> None:
    library, dtype = kind_of(kind)
    assert isinstance(got, library)
    assert str(got.dtype).removeprefix("torch.") == dtype
    assert got.tolist() == want


def rows(x: Any, lengths: list[int]) -> list[Any]:
    """x cut into its rows along its first dim."""
    found, at = [], 0
    for n in lengths:
        found.append(x[at : at + n])
        at += n
    return found


def offsets(lengths: list[int]) -> list[int]:
    return [sum(lengths[:i]) for i in range(len(lengths) + 1)]


def row_ids(lengths: list[int]) -> list[int]:
    return [i for i, n in enumerate(lengths) for _ in range(n)]


def positions(lengths: list[int]) -> list[int]:
    return [k for n in lengths for k in range(n)]


def ranges(starts: list[int], lengths: list[int], steps: list[int]) -> list[int]:
    return [s + k * step for s, n, step in zip(starts, lengths, steps) for k in range(n)]


def mask(lengths: list[int], max_len: int, padding_side: str = "right") -> list[list[bool]]:
    made = [[k < n for k in range(max_len)] for n in lengths]
    return made if padding_side == "right" else [row[::-1] for row in made]


def padded(x: Any, lengths: list[int], max_len: int, value: Any, padding_side: str = "right") -> Any:
    y = np.full((len(lengths), max_len, *x.shape[1:]), value, x.dtype)
    for i, row in enumerate(rows(x, lengths)):
        first = max_len - len(row) if padding_side == "left" else 0
        for k in range(len(row)):
            y[i, first + k] = row[k]
    return y


def reduced(how: str, x: Any, lengths: list[int]) -> Any:
    """Row by row, from the first value to the last, of an array whose first dim has the rows; in float64 for floats."""
    floats = x.dtype.kind == "f"
    wide = x.astype(np.float64 if floats else object)
    if how == "softmax":
        parts = []
        for row in rows(wide, lengths):
            powers = np.exp(row - row.max(0)) if len(row) else row
            parts.append(powers / powers.sum(0))
        return np.concatenate([wide[:0], *parts])
    y = np.zeros((len(lengths), *x.shape[1:]), wide.dtype)
    for i, row in enumerate(rows(wide, lengths)):
        for at in np.ndindex(*x.shape[1:]):
            values = [row[(k, *at)] for k in range(len(row))]
            y[(i, *at)] = one(how, values, x.dtype)
    return y


def one(how: str, values: list[Any], dtype: Any) -> Any:
    if how == "sum":
        return math.fsum(values) if dtype.kind == "f" else sum(values)
    if how == "mean":
        return math.fsum(values) / len(values) if values else 0.0
    if not values:
        return none(how, dtype)
    return (max if how == "max" else min)(values)


def none(how: str, dtype: Any) -> Any:
    """The extreme of an empty row."""
    if dtype.kind == "f":
        return -math.inf if how == "max" else math.inf
    return np.iinfo(dtype).min if how == "max" else np.iinfo(dtype).max
