"""8-bit values in integers: passes as native calls."""

from collections.abc import Sequence

from tenter import _native
from tenter._kernels.passes import Dim
from tenter.maps import Gather, Window


def byte_map(m: Window) -> _native.ByteMap | None:
    """The form of a window that the core reads, kept with it; None if the weights have more than 22 bits."""
    if "byte_map" not in m.__dict__:
        m.__dict__["byte_map"] = _made(m)
    found: _native.ByteMap | None = m.__dict__["byte_map"]
    return found


def _made(m: Window) -> _native.ByteMap | None:
    start, offset, weight = m.start, m.offset, m.weight
    if start is None or offset is None or weight is None or m.block > 1 or not _native.fits_bytes(offset, weight):
        return None
    return _native.ByteMap(m.n_in, m.n_out, start, offset, weight)


def served(dims: Sequence[Dim]) -> bool:
    """True if all windows have weights of 22 bits whose sums fit 32."""
    windows = [d.sums for d in dims if isinstance(d.map, (Window, Gather))]
    return all(isinstance(m, Window) and byte_map(m) is not None for m in windows)


def weighed(dims: list[Dim], rows_first: bool) -> _native.ByteStep:
    """(H, W, 2 or 4) along H, W or both, the last channel weighing the others."""
    row, column, inner = dims
    return _native.ByteStep([], _axis(row), _axis(column), (inner.n, inner.stride), rows_first, True)


def step(dims: list[Dim], axes: list[int], rows_first: bool) -> _native.ByteStep | None:
    """One axis or two neighbors, what lies inside them being walked with one stride; None if the input must be made
    contiguous first."""
    maps = [m for k in axes if isinstance(w := dims[k].map, Window) and (m := byte_map(w)) is not None]
    return _native.byte_step([(d.n, d.stride) for d in dims], axes[0], maps, rows_first)


def _axis(d: Dim) -> tuple[int, int, _native.ByteMap | None]:
    return d.n, d.stride, byte_map(d.map) if isinstance(d.map, Window) else None
