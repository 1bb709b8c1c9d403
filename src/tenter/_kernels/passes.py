"""Which kernels run one after the other, on any device: maps on some axes of an array's layout become calls of `copy`
and `window`.

An array is described by dims from slowest to fastest, each with its length, stride and map. Output is contiguous in
that order. Temporaries appear only between passes of window maps.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from tenter import _native
from tenter._arrays.dtypes import DTYPES, PARTS
from tenter._arrays.layout import Layout, channels_last
from tenter._kernels.steps import GATHERED, INPUT, LAST, OUTPUT, Buffer
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._runs import Runs, RunSums

ITEMSIZE = {"float32": 4, "float64": 8, "int64": 8, "uint8": 1}


class Picks(NamedTuple):
    """Inputs by their indices, in any order, or those that a gather picks."""

    n_in: int
    n_out: int
    inputs: Any
    block: int = 1

    @property
    def block_index(self) -> Any:
        return self.inputs.index if isinstance(self.inputs, Gather) else self.inputs

    @property
    def native(self) -> _native.Picking | None:
        return self.inputs.picking if isinstance(self.inputs, Gather) else None


COPIES, SUMS = (Copy, Picks, Runs), (Window, RunSums)


class Dim(NamedTuple):
    """whole: of an axis that a band is made of, as orders of sums must not depend on bands."""

    n: int
    stride: int
    map: AxisMap | Picks | Runs | RunSums | None = None
    whole: "Dim | None" = None

    @property
    def n_out(self) -> int:
        return self.map.n_out // self.map.block if self.map else self.n

    @property
    def n_read(self) -> int:
        """Positions that windows are put over."""
        return len(self.map.laid_out[0]) if isinstance(self.map, Gather) else self.n

    @property
    def sums(self) -> Any:
        """The map, that of a gather once what it reads has been laid out."""
        return self.map.laid_out[1] if isinstance(self.map, Gather) else self.map

    @property
    def deciding(self) -> "Dim":
        """What says in which order axes are summed."""
        whole = self.whole or self
        return Dim(whole.n_read, 0, whole.sums) if isinstance(whole.map, Gather) else whole


class Options(NamedTuple):
    """What stays the same over the passes of a call. accumulate: what passes leave for the next; uint8 for integer
    kernels. rows_first: of two axes, where `saturate` fixes their order."""

    accumulate: str
    saturate: bool
    rows_first: bool


class Kernels(NamedTuple):
    """What a device has: steps for a plan, of dims that copy and of axes that are summed.

    slices: whether what lies between two passes should be at most `slice_bytes`, where that can be had.
    apart: says whether neighboring axes are better summed one after the other.
    integers: says whether 8-bit values along some dims can be summed in integers.
    gathers: whether `window` takes a gather that the core computes, of one axis.
    crop: the first input that a window reads, and the window from there on; 0 and the window where most are read. With
    whether it is one of several.
    """

    copy: Callable[[Any, Buffer, Buffer, list[Dim]], None]
    window: Callable[[Any, Buffer, Buffer, list[Dim], list[int], Options, int], None]
    slices: bool
    apart: Callable[[list[Dim], Options], bool]
    integers: Callable[[list[Dim]], bool]
    gathers: bool
    crop: Callable[[Window, bool], tuple[int, Window]]


def fill(
    made: Any, kernels: Kernels, src: Layout, maps: tuple[tuple[int, AxisMap], ...], saturate: bool,
    wholes: dict[int, AxisMap] | None = None,
) -> None:  # fmt: skip
    """Adds the steps that apply maps to src, the result contiguous, to a plan.

    saturate: 8-bit values after each axis too, as Pillow does, and in Pillow's order of axes. wholes: the maps of
    which some are bands.
    """
    wholes = wholes or {}
    by_axis, shape_out = dict(maps), list(src.shape)
    for axis, m in maps:
        shape_out[axis] = m.n_out
    source, target = Buffer(INPUT, 0, src.dtype, src.itemsize), Buffer(OUTPUT, 0, src.dtype, src.itemsize)
    n_out = math.prod(shape_out)
    if n_out == 0:
        return
    as_they_are, order = tuple(range(len(src.shape))), None
    apart = not wholes and len(src.shape) > 2 and 1 not in by_axis and not all(isinstance(m, COPIES) for _, m in maps)
    if apart and _native.channels_together(src.shape[1], math.prod(src.shape), n_out):
        order = channels_last(src.shape, src.strides)
    filling = Filling(made, kernels, saturate)
    if order is None or order == as_they_are:
        filling.steps(source, target, _dims(src, by_axis, wholes, as_they_are))
        return
    # Channels that lie together are best resampled together; what is left is less to put in order.
    held = made.temporary(LAST, shape_out, src.dtype, src.itemsize)
    filling.steps(source, held, _dims(src, by_axis, wholes, order))
    strides = contiguous([shape_out[d] for d in order], src.itemsize)
    kernels.copy(made, held, target, [Dim(n, strides[order.index(d)]) for d, n in enumerate(shape_out)])


class Filling(NamedTuple):
    """A plan that is being filled."""

    made: Any
    kernels: Kernels
    saturate: bool

    def steps(self, source: Buffer, target: Buffer, dims: list[Dim]) -> None:
        if all(d.map is None or isinstance(d.map, COPIES) for d in dims):
            self.kernels.copy(self.made, source, target, dims)
        else:
            self.windows(source, target, dims)

    def windows(self, source: Buffer, target: Buffer, dims: list[Dim]) -> None:
        if source.dtype in PARTS:
            part, itemsize = PARTS[source.dtype], source.itemsize // 2
            source, target = (b._replace(dtype=part, itemsize=itemsize) for b in (source, target))
            dims = [*dims, Dim(2, itemsize)]
        mapped = [k for k, d in enumerate(dims) if d.map is not None]
        summed = [d.whole or d for k in mapped if not isinstance((d := dims[k]).map, COPIES)]
        rows_first = self.saturate and len(summed) == 2 and rows_before(*summed)
        whole = self.saturate and self.kernels.integers([d.whole or d for d in dims])
        options = Options("uint8" if whole else _accumulator(source.dtype, summed), self.saturate, rows_first)
        gathers = any(isinstance(d.map, Gather) for d in summed)
        source, dims = self.cropped(source, dims, len(summed) > 1)
        summed = [d.whole or d for k in mapped if not isinstance((d := dims[k]).map, COPIES)]
        alone = len(mapped) == 1 and self.takes(dims[mapped[0]].map, options)
        neighbors = len(summed) == len(mapped) <= 3 and mapped[-1] - mapped[0] == len(mapped) - 1
        together = (alone or not gathers) and neighbors
        if together and (len(mapped) == 1 or not self.kernels.apart(summed, options)):  # as `_passes` has it
            self.kernels.window(self.made, source, target, dims, mapped, options, 1)
            return
        passes = _passes([d.whole or d for d in dims], self.kernels, options)
        if len(passes) == 1 and not gathers:
            self.kernels.window(self.made, source, target, dims, passes[0], options, 1)
            return
        # Between passes lies a temporary. Leading dims without a map are independent, so they go a few slices at a time
        # and the temporary stays small and in cache.
        lead = mapped[0]
        outer = merge(dims[:lead])
        if not outer:
            self.run_passes(source, target, dims, passes, options)
            return
        (n, stride), rest = outer[0], [Dim(*d) for d in outer[1:]] + dims[lead:]
        passes = [[k - lead + len(outer) for k in axes] for axes in passes]
        bytes_each = source.itemsize * math.prod(d.n_out for d in rest)
        taken = [axes[0] for axes in passes if len(axes) == 1 and self.takes(rest[axes[0] - 1].map, options)]
        read = math.prod(d.n if k in taken else d.n_read for k, d in enumerate(rest, 1))
        values = max(math.prod(d.n for d in rest), math.prod(d.n_out for d in rest), read)
        largest = ITEMSIZE[options.accumulate] * values
        chunk = max(1, _native.tuning.slice_bytes // max(largest, 1)) if self.kernels.slices else n
        for at in range(0, n, chunk):
            some = [Dim(min(chunk, n - at), stride), *rest]
            from_, to = source._replace(at=source.at + at * stride), target._replace(at=at * bytes_each)
            self.run_passes(from_, to, some, passes, options)

    def cropped(self, source: Buffer, dims: list[Dim], several: bool) -> tuple[Buffer, list[Dim]]:
        """Without the inputs at the ends of axes that nothing reads, as around a box."""
        found, at = [], source.at
        for d in dims:
            if isinstance(d.map, Window):
                first, m = self.kernels.crop(d.map, several)
                at += first * d.stride
                whole = d.whole
                if whole is not None and isinstance(whole.map, Window):
                    of = self.kernels.crop(whole.map, several)[1]
                    whole = Dim(of.n_in // of.block, 0, of)
                d = Dim(m.n_in // m.block, d.stride, m, whole)
            found.append(d)
        return source._replace(at=at), found

    def run_passes(
        self, source: Buffer, target: Buffer, dims: list[Dim], passes: list[list[int]], options: Options
    ) -> None:
        for done, axes in enumerate(passes):
            copies, side = isinstance(dims[axes[0]].map, COPIES), done % 2
            if len(axes) > 1 or not self.takes(dims[axes[0]].map, options):
                source, dims = self.gathered(source, dims, axes)
            chosen = [d if k in axes else d._replace(map=None) for k, d in enumerate(dims)]
            shape = [d.n_out for d in chosen]
            if done + 1 == len(passes):
                out = target
            else:
                dtype, itemsize = (
                    (source.dtype, source.itemsize) if copies else (options.accumulate, ITEMSIZE[options.accumulate])
                )
                out = self.made.temporary(2 * side, shape, dtype, itemsize)
            if copies:
                self.kernels.copy(self.made, source, out, chosen)
            else:
                self.kernels.window(self.made, source, out, chosen, axes, options, 2 * side + 1)
            strides = contiguous(shape, out.itemsize)
            dims = [Dim(n, s) if k in axes else d._replace(n=n, stride=s)
                    for k, (n, s, d) in enumerate(zip(shape, strides, dims))]  # fmt: skip
            source = out

    def takes(self, m: Any, options: Options) -> bool:
        """Whether the kernel sums by a gather, if that is its only axis, without a copy of all that this reads."""
        return self.kernels.gathers and isinstance(m, Gather) and m.native is not None and options.accumulate != "uint8"

    def gathered(self, source: Buffer, dims: list[Dim], axes: list[int]) -> tuple[Buffer, list[Dim]]:
        """What gathers along some axes read, in an order in which windows do the rest."""
        gathers = {k: m for k in axes if isinstance(m := dims[k].map, Gather)}
        if not gathers:
            return source, dims
        picks = {k: Picks(m.n_in, dims[k].n_read, m.laid_out[0]) for k, m in gathers.items()}
        picked = [d._replace(map=picks.get(k)) for k, d in enumerate(dims)]
        shape = [d.n_out for d in picked]
        held = self.made.temporary(GATHERED, shape, source.dtype, source.itemsize)
        self.kernels.copy(self.made, source, held, picked)
        strides = contiguous(shape, source.itemsize)
        return held, [d._replace(n=n, stride=s, map=d.sums if k in gathers else d.map)
                      for k, (n, s, d) in enumerate(zip(shape, strides, dims))]  # fmt: skip


def _accumulator(dtype: str, summed: list[Dim]) -> str:
    of = DTYPES[dtype]
    if of.kind in "iu" and all(not isinstance(d.map, (*SUMS, Gather)) or d.map.ones for d in summed):
        return "int64"
    return of.sums


def _passes(dims: list[Dim], kernels: Kernels, options: Options) -> list[list[int]]:
    """Dims to do together, first to last: copies first, then what shrinks most. Two or three neighboring window dims
    are one pass."""
    copies = [k for k, d in enumerate(dims) if isinstance(d.map, COPIES)]
    windows = [k for k, d in enumerate(dims) if isinstance(d.map, (*SUMS, Gather))]
    passes = [[k] for k in windows]
    for together in range(2, min(len(windows), 3) + 1):
        last = windows[-together:]
        axes = [dims[k] for k in last]
        if last[-1] - last[0] != together - 1 or _swells(axes):
            continue
        if not kernels.apart([d._replace(map=d.sums) if isinstance(d.map, Gather) else d for d in axes], options):
            passes = [[k] for k in windows[:-together]] + [last]
    if len(passes) > 1:
        passes.sort(key=lambda axes: _cost([dims[k] for k in axes]))
    if options.saturate and len(passes) == 2:
        passes = sorted(passes, reverse=not options.rows_first)
    return ([copies] if copies else []) + passes


def _swells(dims: list[Dim]) -> bool:
    """True if what gathers read, laid out for several axes at once, is twice as much as the input or the output."""
    if not any(isinstance(d.map, Gather) for d in dims):
        return False
    given, made = math.prod(d.n for d in dims), math.prod(d.n_out for d in dims)
    return math.prod(d.n_read for d in dims) > 2 * max(given, made)


def rows_before(row: Dim, column: Dim) -> bool:
    """Pillow 13's order of axes, where overshoot is cut in between and so the order shows."""
    return _native.rows_before(row.n, row.n_out, column.n, column.n_out)


def _cost(dims: list[Dim]) -> tuple[float, int]:
    """What a pass sorts by: its growth per axis, and a number that decides between equal ones."""
    return _native.pass_cost([d.n for d in dims], [d.n_out for d in dims])


def _dims(src: Layout, by_axis: dict[int, AxisMap], wholes: dict[int, AxisMap], order: tuple[int, ...]) -> list[Dim]:
    dims: list[Dim] = []
    for axis in order:
        n, stride, m = src.shape[axis], src.strides[axis], by_axis.get(axis)
        stride = stride if n > 1 else 0  # whatever a lone position claims, it is never stepped over
        if m is None or (isinstance(m, Copy) and m.repeat == 1):
            dims.append(Dim(n, stride))
        elif m.block == 1 and isinstance(m, Window) and not wholes:
            dims.append(Dim(n, stride, m))
        else:
            assert m.n_in == n
            whole = wholes.get(axis)
            of = Dim(whole.n_in, 0, whole) if whole is not None else None
            dims.append(Dim(n // m.block, stride * m.block, _picked(m) if of is None else m, of))
            if m.block > 1:
                dims.append(Dim(m.block, stride))
    return dims


def _picked(m: AxisMap) -> AxisMap | Picks:
    return Picks(m.n_in, m.n_out, m) if isinstance(m, Gather) and m.picks else m


def merge(dims: list[Dim]) -> list[tuple[int, int]]:
    """(length, stride) of dims, neighbors joined where one stride walks both."""
    merged: list[tuple[int, int]] = []
    for n, stride, *_ in dims:
        if n == 1:
            continue
        if merged and merged[-1][1] == stride * n:
            merged[-1] = (merged[-1][0] * n, stride)
        else:
            merged.append((n, stride))
    return merged


def contiguous(shape: list[int], itemsize: int) -> list[int]:
    return [itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape))]
