"""Launches of `copy` for copy passes: how an array's dims become the rows and columns of tiles."""

import math
from typing import Any, NamedTuple

from tenter._arrays.layout import contiguous
from tenter._triton import tables
from tenter._triton.copy import AFFINE, CONTIGUOUS, INDEX, RUNS, copy
from tenter._triton.launch import PER_CALL
from tenter._triton.launches import Launches
from tenter._triton.passes import FIRST_TEMPORARY, Buffer, MappedDim
from tenter.maps import Copy
from tenter.maps._counts import CountCopy

# TILE: items of a tile. PROGRAMS: the number of programs that keep a large device busy; smaller calls get smaller tiles
# to reach it. RUNS_TILE: items of a tile whose columns are runs; with enough rows it is RUNS_ROWS by RUNS_COLUMNS.
TILE, PROGRAMS, RUNS_TILE, RUNS_ROWS, RUNS_COLUMNS = 2048, 264, 2048, 8, 512
# Columns shorter than this share a tile's columns with the next slower dim.
NARROW = 32
# The number of dims that the kernel can take out of a row number.
ROW_DIMS = 4
# The temporary of a packed input, and the first of two more. Lower ones belong to passes.
PACKED = 10
# From this size on, indices need 64 bits: those of the last tile exceed the size.
INT64_SIZE = (1 << 31) - (1 << 16)


class OutputDim(NamedTuple):
    """A dim of the output: its length, and where in the input its positions are."""

    n: int
    stride: int
    kind: Any = AFFINE
    table: Any = None
    n_in: int = 1


def add_copy(made: Launches, source: Buffer, target: Buffer, dims: list[MappedDim]) -> None:
    rows = _output_dims(made, dims, source.itemsize)
    size = min(source.itemsize, 8)
    extent = sum((d.n if d.kind is AFFINE else d.n_in) * abs(d.stride) for d in rows)
    n_runs = next((d.n_in for d in rows if d.kind is RUNS), 1)
    last = rows.pop()
    contiguous_run = last.kind is AFFINE and last.stride == size
    # A contiguous run is moved in the largest items, up to 16 bytes, that divide all addresses.
    bytes_at_once = size
    if contiguous_run:
        alignments = (made.alignment_of(source), made.alignment_of(target))
        bytes_at_once = math.gcd(16, last.n * size, *alignments, *(d.stride for d in rows))
    item = min(bytes_at_once, 8)
    n_last, vec, n_inner, inner_stride = last.n * size // item, bytes_at_once // item, 1, 0
    if n_last < NARROW and last.kind is AFFINE and rows:
        n_inner, inner_stride, vec = n_last, 1 if contiguous_run else last.stride // item, 1
        last, contiguous_run = rows.pop(), False
        n_last = last.n
    if len(rows) > ROW_DIMS:
        _add_split(made, source, target, dims)
        return
    n_columns, n_rows = n_last * n_inner, math.prod(d.n for d in rows)
    # Tiles of runs are wider, because the search for their ends takes the same time for any width; or they have several
    # rows, because these share the search.
    items, most_columns = TILE, TILE // 2
    if last.kind is RUNS:
        items, most_columns = (RUNS_TILE, RUNS_TILE) if n_rows < RUNS_ROWS else (RUNS_ROWS * RUNS_COLUMNS, RUNS_COLUMNS)
    block_r, block_c, grid = tile(n_rows, n_columns, items, most_columns)
    # A search adds to a run's number less than the number of runs.
    largest = max(extent // size, n_rows * n_columns, 2 * n_runs)
    args: dict[str, Any] = {}
    for k, d in enumerate([*rows[::-1], *[OutputDim(1, 0)] * ROW_DIMS][:ROW_DIMS]):
        args |= {f"table{k}": d.table, f"stride{k}": d.stride // (item * vec), f"KIND{k}": d.kind.value}
        args |= divisor(str(k), d.n, f"n{k}")
    made.add(
        copy, grid, source, target, (f"*i{8 * item}",) * 2, largest >= INT64_SIZE, warps(block_r * block_c), **args,
        **divisor("tiles", -(-n_columns // block_c)), column_table=last.table, n_runs=n_runs,
        n_columns=n_columns // vec, n_inner=n_inner, column_stride=last.stride // item, inner_stride=inner_stride,
        n_rows=n_rows, ROWS=len(rows), COLUMN=(CONTIGUOUS if contiguous_run else last.kind).value,
        INNER=inner_constant(n_inner), VEC=vec, BLOCK_R=block_r, BLOCK_C=block_c)  # fmt: skip


def _output_dims(made: Launches, dims: list[MappedDim], itemsize: int) -> list[OutputDim]:
    """Returns the output's dims from slowest to fastest. Neighbors that one stride walks are merged."""
    if itemsize > 8:  # the largest item of a kernel
        dims, itemsize = [*dims, MappedDim(itemsize // 8, 8)], 8
    found: list[OutputDim] = []
    for n, stride, m in dims:
        if m is None:
            _append_affine(found, n, stride)
        elif isinstance(m, CountCopy):
            found.append(OutputDim(m.n_out, stride, RUNS, PER_CALL, m.n_in))
        elif isinstance(m, Copy) and m.offsets is None:
            _append_affine(found, n, stride)
            _append_affine(found, m.repeat or 0, 0)
        else:
            (table,) = made.own(tables.index(m, made.device))
            found.append(OutputDim(m.n_out // m.block, stride, INDEX, table, n))
    return found or [OutputDim(1, itemsize)]


def _append_affine(found: list[OutputDim], n: int, stride: int) -> None:
    if found and found[-1].kind is AFFINE and found[-1].stride == stride * n:
        found[-1] = OutputDim(found[-1].n * n, stride)
    elif n != 1:
        found.append(OutputDim(n, stride))


def _add_split(made: Launches, source: Buffer, target: Buffer, dims: list[MappedDim]) -> None:
    """Adds launches for copies with too many dims for a tile: two maps at a time. Inputs are contiguous, and other dims
    are merged."""
    size, mapped = source.itemsize, [k for k, d in enumerate(dims) if d.map]
    if not mapped:
        _add_slices(made, source, target, dims)
    elif len(mapped) <= 2:
        packed = [d._replace(stride=s) for d, s in zip(dims, contiguous([d.n for d in dims], size))]
        add_copy(made, pack(made, source, dims, PACKED), target, packed)
    else:
        first = [d if k in mapped[-2:] else d._replace(map=None) for k, d in enumerate(dims)]
        shape = [d.n_out for d in first]
        free = PACKED + (1 if source.memory != FIRST_TEMPORARY + PACKED + 1 else 2)
        between = made.temporary(free, shape, source.dtype, size)
        add_copy(made, source, between, first)
        rest = [None if k in mapped[-2:] else d.map for k, d in enumerate(dims)]
        add_copy(made, between, target, [MappedDim(n, s, m) for n, s, m in zip(shape, contiguous(shape, size), rest)])


def _add_slices(made: Launches, source: Buffer, target: Buffer, dims: list[MappedDim]) -> None:
    """Adds one launch for each position of the slowest dim."""
    slow, rest = dims[0], dims[1:]
    n_bytes = target.itemsize * math.prod(d.n for d in rest)
    for i in range(slow.n):
        from_, to = source._replace(at=source.at + i * slow.stride), target._replace(at=target.at + i * n_bytes)
        add_copy(made, from_, to, rest)


def pack(made: Launches, source: Buffer, dims: list[MappedDim], temporary: int) -> Buffer:
    """Adds a contiguous copy of the input."""
    size = source.itemsize
    packed = made.temporary(temporary, [d.n for d in dims], source.dtype, size)
    add_copy(made, source, packed, [d._replace(map=None) for d in dims])
    return packed


def tile(n_rows: int, n_columns: int, items: int, most_columns: int) -> tuple[int, int, int]:
    """Returns BLOCK_R and BLOCK_C of tiles of at most that many items, and the number of tiles. Tiles have fewer rows
    if there would be fewer than PROGRAMS tiles."""
    block_c = min(next_power_of_two(n_columns), most_columns)
    block_r = min(next_power_of_two(n_rows), max(items // block_c, 1))
    across = -(-n_columns // block_c)
    while block_r > 1 and -(-n_rows // block_r) * across < PROGRAMS:
        block_r //= 2
    return block_r, block_c, -(-n_rows // block_r) * across


def divisor(name: str, n: int, called: str = "") -> dict[str, int]:
    """Returns n, and the factor and the shift of a kernel's `divided`, as arguments.

    shift: the least for which n <= 2**shift
    magic: 2**(31 + shift) / n, rounded up, in the bits of an int32
    """
    shift = max(n - 1, 0).bit_length()
    magic = -(-(1 << (31 + shift)) // max(n, 1))
    return {called or name: n, f"magic_{name}": magic - (magic >> 31 << 32), f"shift_{name}": shift}


def inner_constant(n: int) -> int:
    """Returns the kernels' INNER for n values inside a column: 0 for one, n if n is small, else 1. Dividing by a
    constant is cheap, but each constant is a specialization."""
    return n if 1 < n <= 8 else min(n - 1, 1)


def next_power_of_two(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length()


def warps(items: int) -> int:
    """Returns the warps of a tile."""
    return min(4, max(1, items // 256))
