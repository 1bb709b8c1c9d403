"""The tables of docs/cookbook/: each task as it is usually written and by tenter, time and peak memory.

`python -m benchmarks cookbook` rewrites the table of every page between its markers. Peak memory is how far resident
memory rises during one call, the result included; Linux only.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import pad, scaled_dot_product_attention as attention
from torch.nn.utils.rnn import pad_sequence

import tenter
from benchmarks.measure import in_turns, timed
from benchmarks.memory import MIB, RESET, release, resident
from benchmarks.report import between
from benchmarks.table import lined
from tenter import ragged

PAGES = Path("docs/cookbook")
BEGIN, END = "<!-- cookbook:begin -->", "<!-- cookbook:end -->"
BLOCK = 0.02  # seconds that one timing lasts at least
PAIRS, SECONDS = 9, 0.5  # pairs of timings at most, and seconds after which three pairs are enough
Ways = dict[str, Callable[[], Any]]  # the last one is tenter's


def sentence_labels(n: int) -> Ways:
    """n: the size of what is measured; tests take less."""
    rng = np.random.default_rng(0)
    labels, tokens = (torch.from_numpy(rng.integers(*ends, n)) for ends in ((0, 5), (1, 40)))
    return {
        "`torch.cat` of a `full` for each sentence": lambda: torch.cat(
            [torch.full((t,), v) for t, v in zip(tokens.tolist(), labels.tolist(), strict=True)]),
        "`np.repeat`": lambda: np.repeat(labels.numpy(), tokens.numpy()),
        "`torch.repeat_interleave`": lambda: torch.repeat_interleave(labels, tokens),
        "`tenter.repeat_interleave`": lambda: tenter.repeat_interleave(labels, tokens),
    }  # fmt: skip


def spans(n: int) -> Ways:
    rng = np.random.default_rng(0)
    starts = torch.from_numpy(np.sort(rng.integers(0, 40 * n - 8, n)))
    ends = starts + torch.from_numpy(rng.integers(1, 8, n))

    def looped() -> Any:
        mask = torch.zeros(40 * n, dtype=torch.bool)
        for s, e in zip(starts.tolist(), ends.tolist(), strict=True):
            mask[s:e] = True
        return mask

    def compared() -> Any:
        at = torch.arange(40 * n)
        return ((at >= starts[:, None]) & (at < ends[:, None])).any(0)

    def summed() -> Any:
        one = torch.ones(n, dtype=torch.int32)
        marks = torch.zeros(40 * n + 1, dtype=torch.int32).index_add(0, starts, one).index_add(0, ends, -one)
        return marks.cumsum(0)[:-1] > 0

    return {
        "a loop over the spans": looped,
        "each position compared with each span": compared,
        "`cumsum` of marks at starts and ends": summed,
        "`ragged.spans_to_mask`": lambda: ragged.spans_to_mask(starts, ends, 40 * n),
    }


def beams(n: int) -> Ways:
    cache = torch.randn(8, n, 1024)
    return {
        "`cache[:, None].expand(...).flatten(0, 1)`": lambda: cache[:, None].expand(-1, 4, -1, -1).flatten(0, 1),
        "`torch.repeat_interleave`": lambda: torch.repeat_interleave(cache, 4, 0),
        "`tenter.repeat_interleave`": lambda: tenter.repeat_interleave(cache, 4, 0),
    }


def attention_masks(n: int) -> Ways:
    mask = torch.rand(4, n, n) < 0.5
    return {
        "`torch.repeat_interleave` over 16 heads": lambda: torch.repeat_interleave(mask, 16, 0),
        "`tenter.repeat_interleave`": lambda: tenter.repeat_interleave(mask, 16, 0),
        "`tenter.expand`, a view": lambda: tenter.expand(mask[:, None], -1, 16, -1, -1),
    }


def grouped_query_attention(n: int) -> Ways:
    q, k, v = torch.randn(4, 32, 1, 128), torch.randn(4, 8, n, 128), torch.randn(4, 8, n, 128)

    def repeated(f: Callable[..., Any]) -> Any:
        return attention(q, f(k, 4, 1), f(v, 4, 1))

    def expanded() -> Any:
        wide = [tenter.expand(a[:, :, None], -1, -1, 4, -1, -1) for a in (k, v)]
        return attention(q.unflatten(1, (8, 4)), *wide).flatten(1, 2)

    return {
        "materialized by `torch.repeat_interleave`": lambda: repeated(torch.repeat_interleave),
        "materialized by `tenter.repeat_interleave`": lambda: repeated(tenter.repeat_interleave),
        "`expand`, a view of five dims": expanded,
        "`enable_gqa=True`": lambda: attention(q, k, v, enable_gqa=True),
        "query groups folded": lambda: attention(q.view(4, 8, 4, 128), k, v).view(4, 32, 1, 128),
    }


def durations(n: int) -> Ways:
    x = torch.randn(16, n, 256)
    counts = torch.from_numpy(np.minimum(np.random.default_rng(0).geometric(1 / 4, (16, n)) - 1, 11))

    def looped(f: Callable[..., Any]) -> Any:
        return pad_sequence([f(a, c, 0) for a, c in zip(x, counts, strict=True)], batch_first=True)

    def multiplied() -> Any:
        ends = counts.cumsum(1)
        at = torch.arange(int(ends[:, -1].max()))[None, :, None]
        path = (at < ends[:, None]) & (at >= (ends - counts)[:, None])
        return path.float() @ x

    def gathered() -> Any:
        ends = counts.cumsum(1)
        at = torch.arange(int(ends[:, -1].max())).expand(len(x), -1).contiguous()
        which = torch.searchsorted(ends, at, right=True).clamp(max=n - 1)[..., None]
        return x.gather(1, which.expand(-1, -1, x.shape[2])) * (at < ends[:, -1:])[..., None]

    return {
        "a loop of `torch.repeat_interleave`, `pad_sequence`": lambda: looped(torch.repeat_interleave),
        "a matrix of zeros and ones times x": multiplied,
        "`searchsorted` and `gather`": gathered,
        "`ragged.repeat_padded`": lambda: ragged.repeat_padded(x, counts)[0],
    }


def packing(n: int) -> Ways:
    lengths = torch.from_numpy(np.random.default_rng(0).integers(1, n, 64))
    x = torch.randn(64, n, 64)
    mask = ragged.mask(lengths, n)

    def split() -> Any:
        found = pad_sequence(x[mask].split(lengths.tolist()), batch_first=True)
        return pad(found, (0, 0, 0, n - found.shape[1]))

    def by_plan() -> Any:
        plan = ragged.Plan(lengths)
        return plan.pad(plan.unpad(x), n)

    return {
        "`x[mask]`, then `split` and `pad_sequence`": split,
        "`plan.unpad`, then `plan.pad`": by_plan,
    }


def positions(n: int) -> Ways:
    lengths = torch.from_numpy(np.random.default_rng(0).integers(1, 16 * n, 64))
    return {
        "`torch.cat` of an `arange` for each sequence": lambda: torch.cat([torch.arange(t) for t in lengths.tolist()]),
        "`arange` less the repeated starts": lambda: torch.arange(int(lengths.sum())) - torch.repeat_interleave(
            lengths.cumsum(0) - lengths, lengths),
        "`ragged.positions`": lambda: ragged.positions(lengths),
    }  # fmt: skip


def graphs(n: int) -> Ways:
    degrees = torch.from_numpy(np.random.default_rng(0).integers(0, 20, n))
    plan = ragged.Plan(degrees)
    messages, source = torch.randn(plan.output_size, 16), plan.row_ids
    return {
        "`torch.zeros(...).index_add(0, source, messages)`": lambda: torch.zeros(n, 16).index_add(0, source, messages),
        "`torch.segment_reduce`": lambda: torch.segment_reduce(messages, "sum", lengths=degrees, initial=0),
        "`ragged.segment_sum`": lambda: ragged.segment_sum(messages, degrees),
    }


def source_ids(n: int) -> Ways:
    degrees = torch.from_numpy(np.random.default_rng(0).integers(0, 20, n))
    indptr = ragged.offsets(degrees)
    return {
        "`torch.repeat_interleave` of an `arange` by `indptr.diff()`": lambda: torch.repeat_interleave(
            torch.arange(n), indptr.diff()),
        "`ragged.row_ids(ragged.lengths(indptr))`": lambda: ragged.row_ids(ragged.lengths(indptr)),
    }  # fmt: skip


# For each page: what is measured, and of which size.
TABLES: dict[str, list[tuple[str, Callable[[int], Ways], int]]] = {
    "sentence-labels": [("20,000 sentences of 1 to 39 tokens, int64", sentence_labels, 20_000)],
    "spans": [("500 spans among 20,000 tokens", spans, 500)],
    "beams": [("A cache of (8, 512, 1024), float32, for 4 beams each", beams, 512)],
    "attention-masks": [("Masks of (4, 512, 512), bool, for 16 heads", attention_masks, 512)],
    "grouped-query-attention": [
        ("One query each; 4 sequences of 4096 keys, 32 heads of 128 over 8 of K and V, float32",
         grouped_query_attention, 4096),
    ],
    "durations": [("16 utterances of 120 phonemes, 256 wide, float32", durations, 120)],
    "packing": [
        ("64 sequences of up to 511 tokens, 64 wide, float32: unpadded and padded again", packing, 512),
        ("Positions of 64 sequences of up to 8191 tokens", positions, 512),
    ],
    "graphs": [
        ("Sums of the 16 numbers of each edge; 100,000 nodes of up to 19 edges, float32", graphs, 100_000),
        ("Source ids of the same edges", source_ids, 100_000),
    ],
}  # fmt: skip


def same(ways: Ways) -> None:
    *others, ours = ways.values()
    want = torch.as_tensor(ours())
    for other in others:
        got = torch.as_tensor(other())
        torch.testing.assert_close(got.reshape(want.shape), want, rtol=1e-4, atol=1e-4)


def rows(ways: Ways, check: Callable[[Ways], None] = same) -> list[list[str]]:
    """Each way's time, its time / the last one's (the median of paired ratios), and its peak."""
    check(ways)
    *_, last = ways
    found = []
    for name, f in ways.items():
        own, ratio = paired(f, ways[last])
        found.append([name, time_of(own), "1" if name == last else times(ratio), f"{peak(f) / MIB:.1f}"])
    return found


def paired(f: Callable[[], Any], ours: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of a call of f, and the median of its time / ours, timed in turns."""
    pairs = in_turns(f, ours, SECONDS, BLOCK, timed, 3, PAIRS)
    return statistics.median(a for a, _ in pairs), statistics.median(a / b for a, b in pairs)


def times(ratio: float) -> str:
    return f"{ratio:.3g}x" if ratio < 999.5 else f"{ratio:,.0f}x"


def time_of(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def peak(f: Callable[[], Any]) -> float:
    """Bytes that resident memory rises by, the result included."""
    if not RESET.exists():
        return float("nan")
    release()
    RESET.write_text("5")
    before = resident("VmRSS")
    result = f()
    rise = resident("VmHWM") - before
    del result
    return max(0, rise)


def table(about: str, name: str) -> str:
    parts = [about]
    for title, make, n in TABLES[name]:
        parts += [f"{title}:", lined(["Way", "time", "last row, times faster", "peak memory, MiB"], rows(make(n)))]
    return "\n\n".join(parts)


def main(about: str, names: list[str] | None = None) -> int:
    for name in names or TABLES:
        page = PAGES / f"{name}.md"
        made = table(f"Measured on {about}", name)
        page.write_text(between(page, BEGIN, END, made), encoding="utf-8")
        print(f"wrote {page}", flush=True)
    return 0
