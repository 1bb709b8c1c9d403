"""The compiled core: passes as native calls, which know layouts and no addresses, so that they serve every array of a
layout."""

import math
from typing import Any

from tenter import _native
from tenter._arrays import limits
from tenter._arrays.dtypes import NUMBERS
from tenter._arrays.layout import Layout
from tenter._kernels import cpu_bytes, passes
from tenter._kernels.passes import Dim, Kernels, Options, Picks, contiguous
from tenter._kernels.steps import Buffer, Steps
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._part import cropped

AFFINE, EVERY, RUNS, INDEX, COMPUTED = _native.WORDS["copy"]


def steps(
    src: Layout, maps: tuple[tuple[int, AxisMap], ...], saturate: bool = False,
    wholes: dict[int, AxisMap] | None = None,
) -> Steps:  # fmt: skip
    """The steps that apply maps to src; the result is contiguous. wholes: the maps of which some are bands."""
    shape_out = list(src.shape)
    for axis, m in maps:
        shape_out[axis] = m.n_out
    n_out = math.prod(shape_out)
    made = Steps(max(n_out, math.prod(src.shape)) * src.itemsize)
    passes.fill(made, KERNELS, src, maps, saturate, wholes)
    if made.temporaries:
        limits.memory((n_out * src.itemsize + sum(made.temporaries),), 1, "result and what lies between its passes")
    return made


# ---- copy


def _copy(made: Steps, source: Buffer, target: Buffer, dims: list[Dim]) -> None:
    alone = sum([d.map is not None for d in dims]) == 1
    axes: list[tuple[str, int, int, int, int, Any]] = []
    for n, stride, m, _ in dims:
        if m is None:
            axes.append((AFFINE, n, n, stride, 1, None))
        else:
            assert isinstance(m, (Copy, Picks))
            axes.append(_copy_axis(n, stride, m, alone))
    made.add(_native.CopyStep(source.itemsize, axes), source, target)


def _copy_axis(n: int, stride: int, m: Copy | Picks, alone: bool) -> tuple[str, int, int, int, int, Any]:
    n_out, form = m.n_out // m.block, copy_form(n, m, alone)
    if form == AFFINE:
        return (AFFINE, n_out, n_out, 0, 1, None)
    if form == INDEX:
        return (INDEX, n, n_out, stride, 1, m.block_index)
    if form == COMPUTED:
        return (COMPUTED, n, n_out, stride, 1, m.native)
    assert isinstance(m, Copy)
    return (EVERY, n, n_out, stride, m.repeat or 0, None) if form == EVERY else (RUNS, n, n_out, stride, 1, m.offsets)


def copy_form(n: int, m: Copy | Picks, alone: bool) -> str:
    """How the core finds the inputs along an axis."""
    if isinstance(m, Picks):
        return COMPUTED if alone and m.native is not None else INDEX
    if m.repeat is not None:
        return AFFINE if n == 1 else EVERY
    if alone and m.native is not None:
        return COMPUTED
    # Walking runs costs a step per input, indices a step per output.
    return INDEX if m.n_out // m.block <= 2 * n else RUNS


# ---- window


def _window_pass(
    made: Steps, source: Buffer, target: Buffer, dims: list[Dim], axes: list[int], options: Options, spare: int
) -> None:
    """spare: the temporary that the input is packed into if it must be."""
    add: _native.KernelCall | None
    if options.accumulate == "uint8":
        add = cpu_bytes.step(dims, axes, len(axes) == 2 and options.rows_first)
    else:
        add = _window(dims, axes, source, target, options)
    if add is None:
        source, dims = _packed(made, source, dims, spare)
        _window_pass(made, source, target, dims, axes, options, spare)
    else:
        made.add(add, source, target)


def _window(
    dims: list[Dim], axes: list[int], source: Buffer, target: Buffer, options: Options
) -> _native.WindowStep | None:
    """None if the input must be made contiguous first."""
    several = len(axes) > 1
    maps: list[_native.WindowMap] = []
    deciding: list[tuple[int, _native.WindowMap]] = []
    for k in axes:
        m = dims[k].map
        if not several:
            assert isinstance(m, (Window, Gather)) and m.native is not None
            maps, deciding = [m.native], [(dims[k].n, m.native)]
            continue
        by = dims[k].deciding
        assert isinstance(m, Window) and isinstance(by.map, Window)
        maps.append(m.native_tables)
        deciding.append((by.n, by.map.native_tables))
    return _native.window_step(
        NUMBERS[source.dtype],
        NUMBERS[target.dtype],
        NUMBERS[options.accumulate],
        [(d.n, d.stride) for d in dims],
        axes[0],
        maps,
        deciding,
        options.rows_first,
        options.saturate,
    )


def _packed(made: Steps, source: Buffer, dims: list[Dim], spare: int) -> tuple[Buffer, list[Dim]]:
    lengths = [d.n for d in dims]
    packed = made.temporary(spare, lengths, source.dtype, source.itemsize)
    _copy(made, source, packed, [d._replace(map=None) for d in dims])
    return packed, [d._replace(stride=s) for d, s in zip(dims, contiguous(lengths, source.itemsize))]


KERNELS = Kernels(_copy, _window_pass, True, lambda dims, options: False, cpu_bytes.served, True, cropped)
