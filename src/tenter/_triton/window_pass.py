"""A pass with sums, as the arguments that the kernels for sums share."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import triton.language as tl

from tenter._arrays.layout import contiguous, merged
from tenter._triton import copies, tables
from tenter._triton.copies import INT64_SIZE, NARROW, divisor
from tenter._triton.launch import PER_CALL, POINTERS
from tenter._triton.launches import Launches
from tenter._triton.passes import OUTPUT, Buffer, MappedDim
from tenter._triton.window import ONES, RUNS, WEIGHTS, WIDTH
from tenter.maps import Window
from tenter.maps._counts import CountSums

SUMS = {"int32": tl.int32, "float32": tl.float32, "float64": tl.float64, "int64": tl.int64}
# A program of its own computes each longer run of counts on a device.
LONG_RUN = 64
# Bytes of memory that are read at once.
SECTOR = 32


class Options(NamedTuple):
    """What all passes of a call share.

    accumulate: the dtype of sums, also between passes
    clamps: sums are clamped to 8 bits between two axes
    share: of the call's outputs, in the chunk that the passes make
    """

    accumulate: str
    clamps: bool
    share: Fraction


class Axis(NamedTuple):
    """A summed axis, as in the kernels' arguments.

    stride: in bytes
    taps: the largest number of inputs of an output
    map: the map whose tables `tabled` adds
    """

    n: int = 1
    n_in: int = 1
    stride: int = 0
    form: Any = WIDTH
    start: Any = None
    offset: Any = None
    weight: Any = None
    width: int = 1
    taps: int = 1
    filled: bool = True  # each output has an input
    map: Window | None = None


class WindowPass(NamedTuple):
    """A pass over an array as (slow, outer, z, y, x, inner), with sums along z, y and x.

    slow, outer, inner: length and stride in bytes
    """

    source: Buffer
    target: Buffer
    slow: tuple[int, int]
    outer: tuple[int, int]
    z: Axis
    y: Axis
    x: Axis
    inner: tuple[int, int]
    options: Options
    extent: int  # of the input, in elements

    @property
    def n_out(self) -> int:
        return self.slow[0] * self.outer[0] * self.z.n * self.y.n * self.x.n * self.inner[0]

    def add(self, made: Launches, kernel: Any, grid: int, n_warps: int, vec: int = 1, **args: Any) -> None:
        """Adds a launch. vec: elements in a unit of strides, except the inner stride. args: those that not all kernels
        share."""
        itemsize, unit = self.source.itemsize, self.source.itemsize * vec
        for k, a in (("z", self.z), ("y", self.y), ("x", self.x)):
            given = {f"start_{k}": a.start, f"offset_{k}": a.offset, f"weight_{k}": a.weight, f"width_{k}": a.width}
            sizes = {f"n_in_{k}": a.n_in, f"stride_{k}": a.stride // unit, f"taps_{k}": a.taps}
            args = {**given, **sizes, **divisor(k, a.n, f"n_{k}"), f"FORM_{k.upper()}": a.form.value, **args}
        low, high = _limits(self.target, self.options)
        shared = {
            "n_inner": self.inner[0], "inner_stride": self.inner[1] // itemsize, "n_outer": self.outer[0],
            "outer_stride": self.outer[1] // unit, "slow_stride": self.slow[1] // unit, "PLANES": self.z.n > 1,
            "ROWS": self.y.n > 1, "SLOW": self.slow[0] > 1, "INNER": copies.inner_constant(self.inner[0]),
            "SUM": SUMS[self.options.accumulate], "LOW": low, "HIGH": high}  # fmt: skip
        pointers = (POINTERS[self.source.dtype], POINTERS[self.target.dtype])
        int64 = max(self.extent, self.n_out) >= INT64_SIZE
        made.add(kernel, grid, self.source, self.target, pointers, int64, n_warps, **{**shared, **args})


def window_pass(
    made: Launches, source: Buffer, target: Buffer, dims: list[MappedDim], axes: list[int], options: Options, spare: int
) -> WindowPass:
    size = source.itemsize
    outer, inner = _merged(dims[: axes[0]]), _merged(dims[axes[-1] + 1 :])
    contiguous_inner = not inner or inner[0][1] == size
    if len(outer) > 2 or len(inner) > 1 or (not contiguous_inner and inner[0][0] >= NARROW):
        source = copies.pack(made, source, dims, spare)
        dims = [d._replace(stride=s) for d, s in zip(dims, contiguous([d.n for d in dims], size))]
        outer, inner = _merged(dims[: axes[0]]), _merged(dims[axes[-1] + 1 :])
    slow, outer_one = ([(1, 0)] * 2 + outer)[-2:]
    z, y, x = ([Axis()] * 2 + [_axis(dims[k]) for k in axes])[-3:]
    extent = sum(d.n * abs(d.stride) for d in dims) // size
    return WindowPass(source, target, slow, outer_one, z, y, x, inner[0] if inner else (1, size), options, extent)


def _merged(dims: list[MappedDim]) -> list[tuple[int, int]]:
    return merged([(d.n, d.stride) for d in dims])


def _axis(d: MappedDim) -> Axis:
    m = d.map
    if m is None:  # between two axes with sums
        return Axis(d.n, d.n, d.stride)
    if isinstance(m, CountSums):
        return Axis(m.n_out, m.n_in, d.stride, RUNS, offset=PER_CALL, taps=LONG_RUN)
    assert isinstance(m, Window)
    if m.width is not None:
        return Axis(d.n_out, d.n, d.stride, width=m.width, taps=m.width)
    taps = np.diff(m.rows()[1])  # of each output
    form = ONES if m.weight is None else WEIGHTS
    return Axis(d.n_out, d.n, d.stride, form, taps=int(taps.max(initial=0)), filled=bool(taps.all()), map=m)


def tabled(made: Launches, a: Axis, options: Options) -> Axis:
    """Returns the axis with its map's tables on the device."""
    if a.map is None:
        return a
    start, offset, *weight = made.own(tables.window(a.map, options.accumulate, made.device))
    return a._replace(start=start, offset=offset, weight=weight[0] if weight else None)


def _limits(target: Buffer, options: Options) -> tuple[float | None, float | None]:
    """Returns the range that sums are clamped to: that of an integer dtype, or 8 bits between two axes."""
    if "int" not in target.dtype:
        return (0.0, 255.0) if options.clamps and target.memory != OUTPUT else (None, None)
    if options.accumulate == "int64" and target.itemsize == 8:
        return None, None
    info = np.iinfo(target.dtype)
    return int(info.min), int(info.max)
