"""Calls with tensors whose storage was made smaller than they are: for tests/programs/storages.py and the fuzzer."""

from __future__ import annotations

import re
from typing import Any

import torch

import tenter
import tenter.image
import tenter.lazy
import tenter.torch
from tenter import ragged
from tenter.maps import Copy, Window

# With {} where `out` goes; the names of tensors are those of `tensors`.
CALLS = """
tenter.resize(x, 5, axes=0{})
tenter.resize(x, (5, 9){})
tenter.resize(x, (5, 9), mode="nearest"{})
tenter.resize(x, (5, 9), edge="wrap", axes=(0, 1){})
tenter.resize(x, 5, axes=0, edge="constant", value=2.0{})
tenter.resize(pixels, (5, 9), axes=(0, 1), antialias=True{})
tenter.resize(pixels, 5, axes=0, box=[(3, 1)]{})
tenter.resize(x, scale=[2], axes=[0]{})
tenter.resize(parts, 7, axes=0{})
tenter.resize(turned, 7, axes=1{})
tenter.resize(conjugate, 7, axes=0{})
tenter.resize(x, (n, 2){})
tenter.resize(x, n, axes=0)
tenter.interpolate(image, (5, 9), mode="bilinear"{})
tenter.interpolate(image, scale_factor=1.5{})
tenter.image.resize(pixels, (5, 9){})
tenter.image.resize(pixels, (5, 9), linear_light=True{})
tenter.repeat_interleave(x, 2{})
tenter.repeat_interleave(x, 2, 0{})
tenter.repeat_interleave(x, lengths, 0{})
tenter.repeat_interleave(x, small, 0{})
tenter.repeat_interleave(x, [3] * rows, 0{})
tenter.repeat_interleave(column, lengths{})
tenter.repeat_interleave(flat, lengths{})
tenter.repeat_interleave(x, n, 0{})
tenter.repeat_interleave(lengths{})
tenter.repeat_interleave(small{})
tenter.repeat(x, 2, 3{})
tenter.repeat(x, pair)
tenter.tile(x, (2, 1, 3){})
tenter.numpy.repeat(x, 2)
tenter.numpy.repeat([[1]] * rows, lengths, 0)
tenter.numpy.tile(x, 2)
Copy.repeat_each(rows, 2).apply(x, 0{})
Window(4, 2, [0, 2], [0, 2, 4], [0.5] * 4).apply(x, 1{})
ragged.offsets(lengths{})
ragged.row_ids(lengths{})
ragged.positions(lengths{})
ragged.ranges(starts, lengths{})
ragged.ranges(starts, lengths, steps=starts{})
ragged.lengths(offsets{})
ragged.mask(lengths{})
ragged.mask(small{})
ragged.mask(small, padding_side="left"{})
ragged.spans_to_mask(begins, ends, total{})
ragged.pad(values, lengths{})
ragged.pad(values, lengths, value=3.0{})
ragged.pad(tall, small{})
ragged.pad(tall, small, padding_side="left"{})
ragged.unpad(padded, lengths{})
ragged.unpad(padded, lengths, padding_side="left"{})
ragged.segment_sum(values, lengths{})
ragged.segment_mean(values, lengths{})
ragged.segment_max(values, lengths{})
ragged.segment_min(values, small{})
ragged.segment_softmax(values, lengths{})
ragged.Plan(lengths)
ragged.Plan.from_offsets(offsets)
ragged.Plan.from_row_ids(ids)
ragged.Plan.from_positions(places)
ragged.Plan.from_mask(mask)
plan.repeat(x{})
plan.pad(values{})
plan.unpad(padded{})
plan.sum(values{})
plan.max(values{})
plan.softmax(values{})
tenter.lazy.repeat_interleave(x, lengths, 0)
tenter.lazy.repeat_interleave(x, 2, 0)
tenter.lazy.resize(x, (5, 9))
torch.ops.tenter.repeat(x, [2, 2], False)
torch.ops.tenter.repeat_counts(x, offsets, 0, total)
torch.ops.tenter.offsets(lengths, rows, None)
torch.ops.tenter.total(offsets)
backward(tenter.resize(leaf, (5, 9)), grad_of_resized)
backward(tenter.resize(leaf, (5, 9), mode="nearest"), grad_of_resized)
backward(tenter.repeat_interleave(leaf, 2, 0), grad_of_twice)
backward(tenter.repeat_interleave(leaf, small, 0), grad_of_counts)
backward(tenter.tile(leaf, 2), grad_of_tiled)
backward(ragged.pad(leaf, ones), grad_of_padded)
backward(ragged.unpad(one, whole), grad_of_rows)
""".strip().splitlines()
# What is done to lazy arrays whose memory shrinks after they were made.
LAZY = """
s.sum()
s.sum(0)
s.mean()
s.max()
s.materialize()
s.materialize(out=out)
s * 2
s + s
s @ s.T
torch.exp(s)
s[1]
s[1:3]
s[[0, 2]]
s[:, 1]
s.any()
s.cumsum(0)
s.segment_sum([2] * rows)
""".strip().splitlines()


def tensors(rows: int) -> dict[str, torch.Tensor]:
    """Of rows that lie after each other: 2 positions, none, and 3 of all others."""
    lengths = torch.full((rows,), 3)
    lengths[0], lengths[1] = 2, 0
    total, i64 = int(lengths.sum()), torch.int64
    mask = torch.arange(4) < lengths[:, None]
    return {
        "x": torch.rand(rows, 4),
        "parts": torch.rand(rows, 4, dtype=torch.complex64),
        "leaf": torch.rand(rows, 4, requires_grad=True),
        "image": torch.rand(1, 2, rows, 4),
        "pixels": torch.zeros(rows, 4, 3, dtype=torch.uint8),
        "lengths": lengths,
        "small": lengths.to(torch.int32),
        "n": torch.tensor(3),
        "pair": torch.tensor([2, 2]),
        "offsets": torch.cat([torch.zeros(1, dtype=i64), lengths.cumsum(0)]),
        "ids": torch.arange(rows).repeat_interleave(lengths),
        "places": torch.arange(total) % 5,
        "mask": mask,
        "starts": torch.arange(rows),
        "begins": torch.arange(rows)[:, None],
        "ends": torch.arange(rows)[:, None] + 1,
        "turned": torch.rand(4, rows).t(),
        "conjugate": torch.rand(rows, 4, dtype=torch.complex64).conj(),
        "column": torch.rand(rows, 4)[:, 1],
        "flat": torch.rand(rows + 1)[1:],
        "tall": torch.rand(3, total).t(),
        "one": torch.rand(1, rows, 4, requires_grad=True),
        "values": torch.rand(total, 3),
        "padded": torch.rand(rows, 4, 2),
        "ones": torch.ones(rows, dtype=i64),
        "whole": torch.tensor([rows]),
        "grad_of_resized": torch.rand(5, 9),
        "grad_of_twice": torch.rand(2 * rows, 4),
        "grad_of_counts": torch.rand(total, 4),
        "grad_of_tiled": torch.rand(rows, 8),
        "grad_of_padded": torch.rand(rows, 1, 4),
        "grad_of_rows": torch.rand(rows, 4),
    }


def backward(y: torch.Tensor, g: torch.Tensor) -> None:
    y.backward(g)


def shrink(x: torch.Tensor, how: str) -> None:
    reach = sum((n - 1) * abs(s) for n, s in zip(x.shape, x.stride())) + 1
    n_bytes = (x.storage_offset() + reach) * x.itemsize
    x.untyped_storage().resize_({"none": 0, "one short": n_bytes - 1, "8 bytes": min(8, n_bytes - 1)}[how])


HOW = ("none", "one short", "8 bytes")
NAMES = {"tenter": tenter, "torch": torch, "ragged": ragged, "Copy": Copy, "Window": Window, "backward": backward}


def sources() -> list[str]:
    return [line.replace("{}", out) for line in CALLS + LAZY for out in ("", ", out=out") if not out or "{}" in line]


def shrinkable(source: str) -> list[str]:
    """The names of a call's tensors."""
    words = set(re.findall(r"(?<![.\w])\w+\b(?![(=])", source))
    return sorted(words & {*tensors(3), "out"} | ({"x"} if source in LAZY else set()))


def prepared(source: str, rows: int) -> dict[str, Any]:
    """What a call names."""
    given: dict[str, Any] = {**NAMES, **tensors(rows), "rows": rows}
    given["total"] = int(given["lengths"].sum())
    given["plan"] = ragged.Plan(given["lengths"].clone())
    if source in LAZY:
        given["s"] = tenter.lazy.repeat_interleave(given["x"], 2, 0)
    if "out" in shrinkable(source):  # made of other tensors, as NumPy's views of these would keep storages
        plain = re.sub(r"(, )?out=out", "", source)
        y = eval(plain, {**given, **tensors(rows)})
        given["out"] = torch.empty_like(y, memory_format=torch.contiguous_format)
    return given


def called(source: str, rows: int, name: str, how: str, before: bool = False) -> Any:
    """The call with one of its tensors shrunk. before: after the same call with one that is not."""
    tenter.torch.report()  # registers the operators
    if before:
        eval(source, prepared(source, rows))
    given = prepared(source, rows)
    shrink(given[name], how)
    return eval(source, given)
