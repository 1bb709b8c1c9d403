"""The operations: check the arguments, build a map for each axis, apply them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenter import calls, check, frontends, limits
from tenter.apply import stretch
from tenter.stretch import Repeat, RepeatCounts, Stretch, every


def repeat_interleave(x: Any, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None) -> Any:
    """Repeats each element along dim: element i appears repeats[i] times in a row.

    Meaning and names of `torch.repeat_interleave`, which is `numpy.repeat`.

    x: array or tensor of any shape and dtype; a list or number is taken as a NumPy array.
    repeats: an int, or integers: one for all, or one per position of dim (synonyms: counts, lengths, durations). Array,
        tensor, list or tuple.
    dim: from -x.ndim to x.ndim - 1; None flattens x and gives a 1-D result. A 0-d x counts as one element.
    output_size: the sum of the counts if known; verified.
    Returns fresh memory of x's kind and dtype, its length along dim the sum of the counts. With one argument, which
    is then the repeats and 1-D: the position of the count that each output belongs to, int64 (int32 for int32 counts,
    as PyTorch).

    Raises TypeError for counts that are bools or floats, ValueError for negative counts, for a wrong number of them,
    for a sum past int64 or unlike output_size, IndexError for dim, MemoryError for a result larger than the machine.
    Gradients on PyTorch are segment sums.

    >>> y = np.array([[1, 2], [3, 4]])
    >>> repeat_interleave(y, 2)
    array([1, 1, 2, 2, 3, 3, 4, 4])
    >>> repeat_interleave(y, [1, 2], dim=0)
    array([[1, 2],
           [3, 4],
           [3, 4]])
    >>> repeat_interleave([1, 2, 3])
    array([0, 1, 1, 2, 2, 2])
    """
    given = (repeats, dim, output_size)
    kinds: tuple[type, ...] = (type(repeats), type(dim), type(output_size))
    if type(repeats) is tuple:
        kinds += tuple(map(type, repeats))
    try:
        if type(repeats) in frontends.KINDS:
            known = calls.recall_counts(x, repeats, dim, output_size)
        else:
            known = calls.recall("repeat_interleave", x, given, kinds)
        if known is not None:
            return known
        if repeats is None:
            return _positions(x, dim, output_size)
        x = check.array("x", x)
        if dim is None:
            flat, axis = frontends.of(x).flat(x), 0
        else:
            axis = check.dim("dim", dim, x.ndim)
            flat = x if x.ndim else x.reshape(1)
        does = _counted(flat, repeats, axis, dim is None, output_size)
        return calls.serve("repeat_interleave", x, given, kinds, flat, does)
    except limits.Refusal as refusal:
        if repeats is None:
            raise check.error(refusal, "repeat_interleave", repeats=x, dim=dim, output_size=output_size) from None
        raise check.error(
            refusal, "repeat_interleave", x=x, repeats=repeats, dim=dim, output_size=output_size
        ) from None


def _counted(x: Any, repeats: Any, axis: int, flat: bool, output_size: Any) -> Stretch:
    on_device = frontends.on_device(repeats)
    if frontends.recorded(x) or ((frontends.recorded(repeats) or on_device) and not isinstance(x, np.ndarray)):
        if not frontends.is_array(repeats) and not isinstance(repeats, (list, tuple)):
            each = check.count("repeats", repeats)
            check.total(each * x.shape[axis], output_size)
            return every(x.ndim, axis, each)
        recorded: Stretch = frontends.of(x).counted(x, repeats, axis, output_size)
        return recorded
    counts = check.counts(repeats, x.shape[axis], None if flat else axis, output_size)
    if counts.each is not None:
        return every(x.ndim, axis, counts.each)
    return RepeatCounts(frontends.of(x).running(counts.offsets, x), axis, counts.total(x.shape[axis]))


def _positions(repeats: Any, dim: Any, output_size: Any) -> Any:
    """repeat_interleave of one argument."""
    if frontends.recorded(repeats) or frontends.on_device(repeats):
        return frontends.of(repeats).positions(repeats, dim, output_size)
    values = check.count_array("repeats", repeats)
    check.only_counts("repeats", values.ndim, dim)
    offsets = check.offsets("repeats", values)
    check.total(int(offsets[-1]), output_size)
    listed = isinstance(repeats, (list, tuple))
    positions: Any = np.arange(len(values), dtype=np.int32 if values.dtype == np.int32 and not listed else np.int64)
    if not listed and not isinstance(repeats, np.ndarray):
        positions = frontends.of(repeats).from_numpy(positions)
    return stretch(positions, RepeatCounts(offsets, 0, int(offsets[-1])))


def repeat(x: Any, *sizes: Any, **named: Any) -> Any:
    """Repeats the whole array, sizes[k] times along each dim; more sizes than dims put dims in front.

    Meaning of `torch.Tensor.repeat`. (`numpy.repeat` is `repeat_interleave` here.)

    x: array or tensor of any shape and dtype. sizes: ints >= 0, one by one or as one tuple, at least one per dim of x.
    Returns fresh memory of x's kind and dtype.

    Raises TypeError for sizes that are no ints and for axis= or dim=, ValueError for too few or negative sizes,
    MemoryError for a result larger than the machine. Gradients on PyTorch are sums over the repeats.

    >>> repeat([1, 2, 3], 2)
    array([1, 2, 3, 1, 2, 3])
    >>> repeat(np.array([[1, 2], [3, 4]]), 2, 3).shape
    (4, 6)
    """
    given = sizes[0] if len(sizes) == 1 and type(sizes[0]) is tuple else sizes
    try:
        if not named and (known := calls.recall("repeat", x, given, tuple(map(type, given)))) is not None:
            return known
        x = check.array("x", x)
        return _tiled("repeat", x, given, "sizes", check.repeat_sizes("sizes", sizes, named, x.ndim))
    except limits.Refusal as refusal:
        raise check.error(refusal, "repeat", x, *sizes, **named) from None


def tile(x: Any, *dims: Any) -> Any:
    """Repeats the whole array, dims[k] times along each dim, ones being put in front of the shorter of shape and dims.

    Meaning of `torch.tile` and `numpy.tile`.

    x: array or tensor of any shape and dtype. dims: ints >= 0, as one int, one tuple, or one by one.
    Returns fresh memory of x's kind and dtype.

    Raises TypeError for dims that are no ints, ValueError for negative ones, MemoryError for a result larger than the
    machine. Gradients on PyTorch are sums over the repeats.

    >>> tile(np.array([[1, 2], [3, 4]]), 2)
    array([[1, 2, 1, 2],
           [3, 4, 3, 4]])
    """
    given = dims[0] if len(dims) == 1 and type(dims[0]) is tuple else dims
    try:
        if (known := calls.recall("tile", x, given, tuple(map(type, given)))) is not None:
            return known
        x = check.array("x", x)
        sizes = check.sizes("dims", dims)
        return _tiled("tile", x, given, "dims", (1,) * (x.ndim - len(sizes)) + sizes)
    except limits.Refusal as refusal:
        raise check.error(refusal, "tile", x, *dims) from None


def _tiled(op: str, x: Any, given: tuple[Any, ...], name: str, sizes: tuple[int, ...]) -> Any:
    check.rank(name, len(sizes))
    front = x if len(sizes) == x.ndim else x.reshape((1,) * (len(sizes) - x.ndim) + tuple(x.shape))
    if not frontends.recorded(x):
        limits.addressable(name, [n * s for n, s in zip(sizes, front.shape)], frontends.itemsize(x))
    return calls.serve(op, x, given, tuple(map(type, given)), front, Repeat(sizes, False))


def expand(x: Any, *sizes: Any) -> Any:
    """A view of x with dims of length 1 stretched to sizes, at no cost in memory; spare sizes put dims in front.

    Meaning of `torch.Tensor.expand`; on NumPy the view is `numpy.broadcast_to`'s, read-only.

    x: array or tensor of any shape and dtype. sizes: ints >= 0, one by one or as one tuple; -1 keeps a size.

    Raises TypeError for sizes that are no ints, ValueError for fewer sizes than dims, for a -1 in front of x's dims
    and for a dim that is neither 1 nor its size.

    >>> expand(np.array([[1], [2]]), -1, 3)
    array([[1, 1, 1],
           [2, 2, 2]])
    """
    frontend = frontends.KINDS.get(type(x))
    if frontend is not None and (view := frontend.expand_plainly(x, sizes)) is not None:
        return view
    try:
        x = check.array("x", x)
        return frontends.of(x).expand(x, check.expanded("sizes", sizes, x))
    except limits.Refusal as refusal:
        raise check.error(refusal, "expand", x, *sizes) from None


def interpolate(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """Resizes the spatial dims of a batch of signals, images or volumes.

    Meaning and names of `torch.nn.functional.interpolate`.

    x: (batch, channels, [depth,] [height,] width), any strides. Every real and complex dtype; nearest kinds take any
        dtype.
    size: output sizes in pixels, or scale_factor: output / input, floor(n * scale_factor) pixels. One number, or one
        per spatial dim.
    mode: nearest (pixel at the corner, the rule of OpenCV's INTER_NEAREST), nearest-exact (pixel at the centre, the
        rule of Pillow; both rounded as PyTorch rounds), linear (3-d x), bilinear (4-d), trilinear (5-d), bicubic (4-d;
        Keys with a = -0.75, with antialias -0.5), area (mean of the pixels touched), lanczos (three lobes; needs
        antialias).
    align_corners: for linear kinds and bicubic. False aligns the edges of the corner pixels, True their centres.
    recompute_scale_factor: True takes coordinates from the rounded sizes, not from the given scale_factor.
    antialias: for linear kinds, bicubic and lanczos. Widens the filter when shrinking; agrees with Pillow.
    Returns fresh memory of x's kind and dtype; channels-last stays channels-last. Integers are rounded half to even and
    saturated. Half and single precision are computed in float32 from float64 weights.

    Raises TypeError and ValueError naming the argument, MemoryError for a result larger than the machine. Gradients on
    PyTorch are deterministic: the transpose of the same map.

    >>> interpolate(np.arange(4.0).reshape(1, 1, 4), size=2, mode="linear", antialias=True).round(3)
    array([[[0.714, 2.286]]])
    >>> interpolate(np.arange(3).reshape(1, 1, 3), scale_factor=2)
    array([[[0, 0, 1, 1, 2, 2]]])
    """
    given = (size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
    kinds = tuple(map(type, given))
    for arg in (size, scale_factor):
        if type(arg) is tuple:
            kinds += tuple(map(type, arg))
    try:
        if (known := calls.recall("interpolate", x, given, kinds)) is not None:
            return known
        x = check.array("x", x)
        return calls.serve("interpolate", x, given, kinds, x, check.resampling(x, *given))
    except limits.Refusal as refusal:
        raise check.error(
            refusal,
            "interpolate",
            x=x,
            size=size,
            scale_factor=scale_factor,
            mode=mode,
            align_corners=align_corners,
            recompute_scale_factor=recompute_scale_factor,
            antialias=antialias or None,
        ) from None
