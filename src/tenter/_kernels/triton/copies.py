"""From passes to launches of `copy`: how an array's dims become a tile's rows and columns."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from tenter._kernels.passes import Dim, contiguous
from tenter._kernels.steps import FIRST_TEMPORARY, Buffer
from tenter._kernels.triton import tables
from tenter._kernels.triton.copy import AFFINE, CONTIGUOUS, INDEX, RUNS, copy
from tenter._kernels.triton.launch import LATER
from tenter._kernels.triton.plan import Plan
from tenter.maps import Copy
from tenter.maps._runs import Runs

# A tile's items; and programs that keep a large card busy: smaller calls are cut into smaller tiles to have as many.
TILE, PROGRAMS = 2048, 264
# Columns narrower than this share a tile's columns with the dim outside them.
NARROW = 32
# Dims that a kernel takes a row's number apart into.
ROW_DIMS = 4
ITEMS = {1: "*i8", 2: "*i16", 4: "*i32", 8: "*i64"}
# The temporary that holds a packed input, and two more: those before are for passes and what comes after them.
PACKED = 10
# What 32 bits can't number, tiles being counted by what lies past the end of the last one.
LONG = (1 << 31) - (1 << 16)


class Place(NamedTuple):
    """A dim of the output: its length, and where in the input its positions lie."""

    n: int
    stride: int
    kind: Any = AFFINE
    table: Any = None
    n_in: int = 1


def add_copy(made: Plan, source: Buffer, target: Buffer, dims: list[Dim]) -> None:
    places = _places(made, dims, source.itemsize)
    if len(places) > ROW_DIMS + 1:
        _in_passes(made, source, target, dims)
        return
    size = min(source.itemsize, 8)
    extent = sum((p.n_in if p.kind is not AFFINE else p.n) * abs(p.stride) for p in places)
    last = places[-1]
    run = last.kind is AFFINE and last.stride == size
    # A run is moved in the largest items that divide whatever is added to an address.
    whole = size
    if run:
        steps = [p.stride for p in places[:-1]]
        whole = math.gcd(16, last.n * size, made.alignment(source), made.alignment(target), *steps)
    item = min(whole, 8)
    n_last, vec = last.n * size // item, whole // item
    inner = None
    if n_last < NARROW and last.kind is AFFINE and len(places) > 1:
        inner, vec = Place(n_last, 1 if run else last.stride // item), 1
        places = places[:-1]
        last = places[-1]
        n_last = last.n
        run = False
    rows = [*places[:-1][::-1], *[Place(1, 0)] * ROW_DIMS][:ROW_DIMS]
    n_columns, n_rows = n_last * (inner.n if inner else 1), math.prod(p.n for p in rows)
    # The search for where a tile's runs begin takes as long for a large tile.
    tile = TILE if last.kind is not RUNS else 2 * TILE
    block_c = min(power(n_columns), tile if last.kind is RUNS else tile // 2)
    block_r = min(power(n_rows), max(tile // block_c, 1))
    while block_r > 1 and -(-n_rows // block_r) * -(-n_columns // block_c) < PROGRAMS:
        block_r //= 2
    grid = -(-n_rows // block_r) * -(-n_columns // block_c)
    runs = [p for p in places if p.kind is RUNS]
    made.add(
        copy, grid, source, target, (ITEMS[item], ITEMS[item]), max(extent // size, n_rows * n_columns) >= LONG,
        warps(block_r * block_c, 4),
        column_table=last.table, n_runs=runs[0].n_in if runs else 1,
        n_columns=n_columns // vec, n_inner=inner.n if inner else 1,
        column_stride=last.stride // item, inner_stride=inner.stride if inner else 0, n_rows=n_rows,
        **{f"table{k}": p.table for k, p in enumerate(rows)},
        **{f"n{k}": p.n for k, p in enumerate(rows[:-1])},
        **{f"stride{k}": p.stride // (item * vec) for k, p in enumerate(rows)},
        **{f"KIND{k}": p.kind.value for k, p in enumerate(rows)},
        COLUMN=(CONTIGUOUS if run else last.kind).value, ROWS=len(places) - 1,
        INNER=few(inner.n) if inner else 0, VEC=vec, BLOCK_R=block_r, BLOCK_C=block_c,
    )  # fmt: skip


def _places(made: Plan, dims: list[Dim], itemsize: int) -> list[Place]:
    """From slow to fast, neighbours joined where one stride walks both."""
    if itemsize > 8:  # than what a kernel moves at once
        dims, itemsize = [*dims, Dim(itemsize // 8, 8)], 8
    found: list[Place] = []
    for n, stride, m, _ in dims:
        if m is None:
            _join(found, n, stride)
        elif isinstance(m, Runs):
            found.append(Place(m.n_out, stride, RUNS, LATER, m.n_in))
        elif isinstance(m, Copy) and m.offsets is None:
            _join(found, n, stride)
            _join(found, m.repeat or 0, 0)
        else:
            (table,) = made.keep(tables.index(m, made.device))
            found.append(Place(m.n_out // m.block, stride, INDEX, table, n))
    return found or [Place(1, itemsize)]


def _join(found: list[Place], n: int, stride: int) -> None:
    if found and found[-1].kind is AFFINE and found[-1].stride == stride * n:
        found[-1] = Place(found[-1].n * n, stride)
    elif n != 1:
        found.append(Place(n, stride))


def _in_passes(made: Plan, source: Buffer, target: Buffer, dims: list[Dim]) -> None:
    """What has too many dims for a tile: two maps at a time of what lies together, whose other dims are joined."""
    size, mapped = source.itemsize, [k for k, d in enumerate(dims) if d.map]
    if not mapped:
        _sliced(made, source, target, dims)
    elif len(mapped) <= 2:
        packed = [d._replace(stride=s) for d, s in zip(dims, contiguous([d.n for d in dims], size))]
        add_copy(made, pack(made, source, dims, PACKED), target, packed)
    else:
        some = [d if k in mapped[-2:] else d._replace(map=None) for k, d in enumerate(dims)]
        shape = [d.n_out for d in some]
        free = PACKED + (1 if source.memory != FIRST_TEMPORARY + PACKED + 1 else 2)
        held = Buffer(made.temporary(free, math.prod(shape) * size), 0, source.dtype, size)
        add_copy(made, source, held, some)
        rest = [None if k in mapped[-2:] else d.map for k, d in enumerate(dims)]
        add_copy(made, held, target, [Dim(n, s, m) for n, s, m in zip(shape, contiguous(shape, size), rest)])


def _sliced(made: Plan, source: Buffer, target: Buffer, dims: list[Dim]) -> None:
    """A launch for each position of the slowest dim."""
    slow, rest = dims[0], dims[1:]
    each = target.itemsize * math.prod(d.n for d in rest)
    for i in range(slow.n):
        from_, to = source._replace(at=source.at + i * slow.stride), target._replace(at=target.at + i * each)
        add_copy(made, from_, to, rest)


def pack(made: Plan, source: Buffer, dims: list[Dim], temporary: int) -> Buffer:
    """A contiguous copy."""
    size = source.itemsize
    packed = Buffer(made.temporary(temporary, math.prod(d.n for d in dims) * size), 0, source.dtype, size)
    add_copy(made, source, packed, [d._replace(map=None) for d in dims])
    return packed


def few(n: int) -> int:
    """The number of values inside a column as kernels are told of it: 0 for none, 1 for many. To divide by a known
    number is cheap, but each one is a kernel of its own."""
    return n if 1 < n <= 8 else min(n - 1, 1)


def power(n: int) -> int:
    """The smallest power of two from n on."""
    return 1 << max(n - 1, 0).bit_length()


def warps(items: int, most: int) -> int:
    return min(most, max(1, items // 256))
