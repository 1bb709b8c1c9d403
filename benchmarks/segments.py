"""Ragged arrays, with lengths that are new on every call, against what people write in NumPy and PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.machine import cores
from benchmarks.race import Maker, Work
from benchmarks.workloads import CLOSE, EXACT
from tenter import ragged

ROWS = (64, 10_000, 1_000_000)
MEAN = 4  # positions of a row
POSITIONS, WIDTHS = 1_000_000, (1, 16, 64)  # of x that is summed: positions by values of each
BATCH, LONGEST = (64, 1024), 512  # rows of a padded batch, and the most positions of one

Lengths = Callable[[np.random.Generator], Any]


def lengths(n: int, total: int) -> Lengths:
    """Of n rows, total positions in all: gaps between random places, so short rows, empty ones among them, are many."""
    return lambda rng: np.diff(np.sort(rng.integers(0, total, n - 1, endpoint=True)), prepend=0, append=total)


def works(threads: int, cut: int) -> Iterator[Work]:
    """cut: how many times smaller than usual the largest are."""
    for n in (n for n in ROWS if n * cut <= ROWS[-1] or n == ROWS[0]):
        if threads == 1 or n > ROWS[0]:
            yield from indices(n)
    for width in WIDTHS:
        yield from reductions(max(64, POSITIONS // cut), width)
    for n in BATCH:
        yield from padded(n, max(1, 96 // cut))


def work(group: str, name: str, draw: Lengths, ours: Maker, peers: dict[str, Maker], check: str = EXACT) -> Work:
    truth = next(iter(peers.values()))
    return Work(group, name, draw, ours, peers, lambda drawn: truth(drawn)(), check, share=0.3)


def pair(
    group: str, name: str, draw: Lengths, ours: Maker, numpy: Any, pytorch: Any, check: str = EXACT
) -> Iterator[Work]:
    """The same for arrays and for tensors; the idioms take what is drawn, or are (name, idiom) for several."""
    for library, idioms, drawn in (("arrays", numpy, draw), ("tensors", pytorch, lambda r: torch.from_numpy(draw(r)))):
        several = idioms if isinstance(idioms, dict) else {"NumPy" if library == "arrays" else "PyTorch": idioms}
        peers = {peer: partial(partial, f) for peer, f in several.items()}
        yield work(f"{group}, {library}", name, drawn, ours, peers, check)


# ---- indices: what people write


def before(each: Any) -> Any:
    """Positions in front of each row."""
    return each.cumsum(0) - each


def np_positions(each: Any) -> Any:
    return np.arange(each.sum()) - np.repeat(before(each), each)


def torch_positions(each: Any) -> Any:
    return torch.arange(int(each.sum())) - torch.repeat_interleave(before(each), each)


def np_ranges(each: Any, starts: Any) -> Any:
    return np.repeat(starts - before(each), each) + np.arange(each.sum())


def torch_ranges(each: Any, starts: Any) -> Any:
    return torch.repeat_interleave(starts - before(each), each) + torch.arange(int(each.sum()))


def indices(n: int) -> Iterator[Work]:
    draw, name = lengths(n, MEAN * n), f"{n:,} rows of {MEAN} on average"
    starts = np.random.default_rng(1).integers(0, 1 << 30, n)
    tensor = torch.from_numpy(starts)
    yield from pair("offsets", name, draw, lambda each: partial(ragged.offsets, each),
                    lambda each: np.concatenate([[0], np.cumsum(each)]),
                    lambda each: torch.cat([each.new_zeros(1), each.cumsum(0)]))  # fmt: skip
    yield from pair("row_ids", name, draw, lambda each: partial(ragged.row_ids, each),
                    lambda each: np.repeat(np.arange(len(each)), each),
                    lambda each: torch.repeat_interleave(torch.arange(len(each)), each))  # fmt: skip
    yield from pair(
        "positions", name, draw, lambda each: partial(ragged.positions, each), np_positions, torch_positions
    )
    for library, at, idiom in (("arrays", starts, np_ranges), ("tensors", tensor, torch_ranges)):
        peers = {"NumPy" if library == "arrays" else "PyTorch": partial(bound_last, idiom, at)}
        drawn = draw if library == "arrays" else as_tensor(draw)
        yield work(f"ranges, {library}", name, drawn, partial(bound, ragged.ranges, at), peers)
    yield from pair("mask", name, draw, lambda each: partial(ragged.mask, each),
                    lambda each: np.arange(each.max()) < each[:, None],
                    lambda each: torch.arange(int(each.max())) < each[:, None])  # fmt: skip


def bound(f: Callable[..., Any], first: Any, each: Any) -> Any:
    return partial(f, first, each)


def bound_last(f: Callable[..., Any], last: Any, each: Any) -> Any:
    return partial(f, each, last)


def as_tensor(draw: Lengths) -> Lengths:
    return lambda rng: torch.from_numpy(draw(rng))


# ---- reductions


def reduceat(f: Any, empty: float, x: Any, each: Any) -> Any:
    """np.add.reduceat and the like give an empty row the next row's first value: only the others are reduced."""
    y = np.full((len(each), *x.shape[1:]), empty, x.dtype)
    filled = np.flatnonzero(each)
    y[filled] = f.reduceat(x, before(each)[filled], axis=0)
    return y


def np_mean(x: Any, each: Any) -> Any:
    return reduceat(np.add, 0, x, each) / np.maximum(each, 1).reshape(-1, *(1,) * (x.ndim - 1)).astype(x.dtype)


def np_softmax(x: Any, each: Any) -> Any:
    powers = np.exp(x - np.repeat(reduceat(np.maximum, 0, x, each), each, axis=0))
    return powers / np.repeat(reduceat(np.add, 0, powers, each), each, axis=0)


def zeros(x: Any, each: Any) -> Any:
    return x.new_zeros((len(each), *x.shape[1:]))


def rows_of(each: Any) -> Any:
    return torch.repeat_interleave(torch.arange(len(each)), each)


def index_add(x: Any, each: Any) -> Any:
    return zeros(x, each).index_add_(0, rows_of(each), x)


def scatter_reduce(how: str, x: Any, each: Any) -> Any:
    """As torch_scatter's functions, which are not built for every PyTorch."""
    at = rows_of(each).reshape(-1, *(1,) * (x.ndim - 1)).expand_as(x)
    y = torch.full((len(each), *x.shape[1:]), -torch.inf) if how == "amax" else zeros(x, each)
    return y.scatter_reduce_(0, at, x, how, include_self=how in ("sum", "amax"))


def segment_reduce(how: str, x: Any, each: Any) -> Any:
    y = torch.segment_reduce(x, how, lengths=each, axis=0)
    return y.nan_to_num_(0) if how == "mean" else y


def softmax_by(reduce: Callable[..., Any], x: Any, each: Any) -> Any:
    at = rows_of(each)
    powers = (x - reduce("amax" if reduce is scatter_reduce else "max", x, each)[at]).exp()
    return powers / reduce("sum", powers, each)[at]


def reductions(total: int, width: int) -> Iterator[Work]:
    """x: drawn once, whole numbers where sums are compared exactly."""
    n = total // MEAN
    array = np.random.default_rng(2).standard_normal((total, width) if width > 1 else total, np.float32)
    tensor = torch.from_numpy(array)
    name = f"{total:,} positions{f' x {width}' * (width > 1)}, {n:,} rows"
    amax = {"scatter_reduce": partial(scatter_reduce, "amax"), "segment_reduce": partial(segment_reduce, "max")}
    tensors = {
        "sum": {"segment_reduce": partial(segment_reduce, "sum"), "index_add": index_add,
                "scatter_reduce": partial(scatter_reduce, "sum")},
        "mean": {"segment_reduce": partial(segment_reduce, "mean"), "scatter_reduce": partial(scatter_reduce, "mean")},
        "max": amax,
        "softmax": {f.__name__: partial(softmax_by, f) for f in (scatter_reduce, segment_reduce)},
    }  # fmt: skip
    arrays = {
        "sum": partial(reduceat, np.add, 0),
        "mean": np_mean,
        "max": partial(reduceat, np.maximum, -np.inf),
        "softmax": np_softmax,
    }
    draw = lengths(n, total)
    for how in arrays:
        ours = getattr(ragged, f"segment_{how}")
        check = EXACT if how == "max" else CLOSE
        yield work(f"segment_{how}, arrays", name, draw, partial(bound, ours, array),
                   {"NumPy": partial(bound, arrays[how], array)}, check)  # fmt: skip
        yield work(f"segment_{how}, tensors", name, as_tensor(draw), partial(bound, ours, tensor),
                   {peer: partial(bound, f, tensor) for peer, f in tensors[how].items()}, check)  # fmt: skip


# ---- padding


def np_pad(x: Any, each: Any) -> Any:
    held = np.arange(each.max()) < each[:, None]
    y = np.zeros((*held.shape, *x.shape[1:]), x.dtype)
    y[held] = x
    return y


def pad_sequence(x: Any, each: Any) -> Any:
    return torch.nn.utils.rnn.pad_sequence(x.split(each.tolist()), batch_first=True)


def nested(x: Any, each: Any) -> Any:
    return torch.nested.nested_tensor(list(x.split(each.tolist()))).to_padded_tensor(0.0)


def unpad(y: Any, each: Any) -> Any:
    at = np.arange(y.shape[1]) if isinstance(y, np.ndarray) else torch.arange(y.shape[1])
    return y[at < each[:, None]]


def loop_of_repeats(x: Any, counts: Any) -> Any:
    return torch.nn.utils.rnn.pad_sequence(
        [torch.repeat_interleave(row, each, 0) for row, each in zip(x, counts)], batch_first=True
    )


def np_loop_of_repeats(x: Any, counts: Any) -> Any:
    sums = counts.sum(1)
    y = np.zeros((len(x), sums.max(), *x.shape[2:]), x.dtype)
    for row, repeated, each in zip(y, x, counts):
        row[: each.sum()] = np.repeat(repeated, each, 0)
    return y


def padded(n: int, width: int) -> Iterator[Work]:
    rng = np.random.default_rng(3)
    most, name = LONGEST, f"{n} rows of at most {LONGEST} x {width}"
    array = rng.standard_normal((n * most, width), np.float32)
    batch = array.reshape(n, most, width)
    draw = lambda rng: rng.integers(1, most, n, endpoint=True)  # noqa: E731
    for library, make in (("arrays", lambda x: x), ("tensors", torch.from_numpy)):
        x, y = make(array), make(batch)
        of = lambda f, each, x=x: partial(f, x[: int(each.sum())], each)  # noqa: E731
        idioms = {"NumPy": np_pad} if library == "arrays" else {"pad_sequence": pad_sequence, "nested tensors": nested}
        drawn = draw if library == "arrays" else as_tensor(draw)
        yield work(
            f"pad, {library}", name, drawn, partial(of, ragged.pad), {p: partial(of, f) for p, f in idioms.items()}
        )
        peer = "NumPy" if library == "arrays" else "PyTorch"
        yield work(f"unpad, {library}", name, drawn, partial(bound, ragged.unpad, y), {peer: partial(bound, unpad, y)})
    durations = lambda rng: np.minimum(rng.geometric(1 / MEAN, (n, 128)) - 1, 11)  # noqa: E731
    phonemes = rng.standard_normal((n, 128, width), np.float32)
    name = f"({n}, 128, {width}), counts 0 to 11"
    for library, make, loop in (
        ("arrays", lambda x: x, np_loop_of_repeats),
        ("tensors", torch.from_numpy, loop_of_repeats),
    ):
        drawn = durations if library == "arrays" else as_tensor(durations)
        x = make(phonemes)
        yield work(f"repeat_padded, {library}", name, drawn, partial(bound, only_padded, x),
                   {"a loop over rows": partial(bound, loop, x)})  # fmt: skip


def only_padded(x: Any, counts: Any) -> Any:
    return ragged.repeat_padded(x, counts)[0]


def thread_counts() -> list[int]:
    return sorted({1, cores()})
