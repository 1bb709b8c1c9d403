"""How lazy arrays are made: the checks of `tenter`'s operations, then maps in place of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tenter import resampling
from tenter._arrays import limits
from tenter._arrays.arguments import describe, dim as one_dim, error, numpy_or_torch
from tenter._arrays.dtypes import is_numeric
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import dtype_name, imported, of, on_device
from tenter._arrays.names import misnamed, parameters, show_signature
from tenter._execution import executor
from tenter._rules.rounding import by_axis
from tenter._specs import counts, interpolate_arguments, resize_arguments
from tenter._specs.repeat import Repeat
from tenter._specs.repeat_arguments import ones_in_front, refuse_axis, refuse_counts, repeat_sizes, tile_sizes
from tenter._specs.resize import Resize
from tenter._specs.spec import Spec
from tenter.lazy.array import LazyArray
from tenter.lazy.compiled import between_graphs
from tenter.lazy.rows import copies, run_ends
from tenter.lazy.stretched import Stretched, Summing, applied, rounds, stand_in, stretched, whole
from tenter.maps import AxisMap, Copy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tenter._arrays.signatures import (
        Base,
        Counts,
        Element,
        Held,
        Index,
        InterpolateMode,
        Nested,
        Numbers,
        Sizes,
        Tensor,
        Unpack,
    )
    from tenter._specs.signatures import LazyResizeRule


# fmt: off
@overload
def repeat_interleave(x: NDArray[Element], repeats: Counts, dim: Index = None, *,
    output_size: Index = None) -> LazyArray[NDArray[Element]]: ...
@overload
def repeat_interleave(x: LazyArray[Base], repeats: Counts, dim: Index = None, *,  # type: ignore[overload-overlap]
    output_size: Index = None) -> LazyArray[Base]: ...
@overload
def repeat_interleave(x: Tensor, repeats: Counts, dim: Index = None, *,  # type: ignore[overload-overlap]
    output_size: Index = None) -> LazyArray[Tensor]: ...
@overload
def repeat_interleave(x: Nested | Held, repeats: Counts, dim: Index = None, *,
    output_size: Index = None) -> LazyArray[NDArray[Any]]: ...
# fmt: on
@between_graphs
def repeat_interleave(
    x: Any, repeats: Counts, dim: Index = None, too_many: Any = None, output_size: Index = None, **no_other: Any
) -> Any:
    """`tenter.repeat_interleave`, lazily: element i is repeated repeats[i] times in a row. Provisional: it may change
    before 1.0.

    Parameters
    ----------
    x : array, tensor or LazyArray
        Any shape and dtype.
    repeats : int or array of ints
        One number for all, or one per position of dim; those on a device are copied to the host.
    dim : int, optional
        None flattens x.
    output_size : int, optional
        The sum of repeats, if it is known: it is verified.

    Returns
    -------
    LazyArray

    Raises
    ------
    TypeError, ValueError, IndexError
        As the function of `tenter`.

    See Also
    --------
    tenter.repeat_interleave : Makes the copies.

    Examples
    --------
    >>> s = repeat_interleave(np.array([10.0, 20.0, 30.0]), [1, 3, 2])
    >>> s[1:3].materialize(), s.sum().item()
    (array([20., 20.]), 130.0)
    """
    if no_other or too_many is not None:
        raise misnamed("lazy.repeat_interleave", repeat_interleave, no_other, too_many, x=x, repeats=repeats, dim=dim)
    try:
        held = _held(x)
        axis = 0 if dim is None else one_dim("dim", dim, len(held.maps))
        if not held.maps:
            held = whole(held.base.reshape(1))
        if dim is None and len(held.maps) > 1:
            flat = applied(held, held.stretched_dims).base
            held = whole(executor.of(flat).flat(flat))
        n = held.shape[axis]
        given: Any = repeats
        found = counts.checked(
            given.cpu() if on_device(given) else given, n, None if dim is None else axis, output_size
        )
        return _lazy("repeats", held, found.spec(len(held.shape), axis))
    except Refusal as refusal:
        raise error(refusal, "lazy.repeat_interleave", x, repeats, dim=dim, output_size=output_size) from None


# fmt: off
@overload
def repeat(x: NDArray[Element], *sizes: Sizes) -> LazyArray[NDArray[Element]]: ...
@overload
def repeat(x: LazyArray[Base], *sizes: Sizes) -> LazyArray[Base]: ...  # type: ignore[overload-overlap]
@overload
def repeat(x: Tensor, *sizes: Sizes) -> LazyArray[Tensor]: ...  # type: ignore[overload-overlap]
@overload
def repeat(x: Nested | Held, *sizes: Sizes) -> LazyArray[NDArray[Any]]: ...
# fmt: on
@between_graphs
def repeat(x: Any, *sizes: Sizes, **no_other: Any) -> Any:
    """`tenter.repeat`, lazily: the whole array sizes[k] times along each dim. Provisional: it may change before 1.0.

    Parameters
    ----------
    x : array, tensor or LazyArray
        Any shape and dtype.
    *sizes : int
        More numbers than dims add dims in front.

    Returns
    -------
    LazyArray

    Raises
    ------
    TypeError, ValueError, IndexError
        As the function of `tenter`.

    See Also
    --------
    tenter.repeat : Makes the copies.

    Examples
    --------
    >>> repeat(np.array([1, 2]), 3, 2)
    LazyArray(int64[3, 4]; dim 0: Copy(1 -> 3: o // 3); dim 1: Copy(2 -> 4: o % 2))
    """
    try:
        if no_other:
            refuse_axis("repeat", no_other)
            raise misnamed("lazy.repeat", repeat, no_other, None, x=x, sizes=sizes)
        held = _held(x)
        refuse_counts(of(held.base).PACKAGE, held.shape, sizes)
        return _tiled(held, "sizes", repeat_sizes("sizes", sizes, len(held.shape)))
    except Refusal as refusal:
        raise error(refusal, "lazy.repeat", x, *sizes, **no_other) from None


# fmt: off
@overload
def tile(x: NDArray[Element], *dims: Sizes) -> LazyArray[NDArray[Element]]: ...
@overload
def tile(x: LazyArray[Base], *dims: Sizes) -> LazyArray[Base]: ...  # type: ignore[overload-overlap]
@overload
def tile(x: Tensor, *dims: Sizes) -> LazyArray[Tensor]: ...  # type: ignore[overload-overlap]
@overload
def tile(x: Nested | Held, *dims: Sizes) -> LazyArray[NDArray[Any]]: ...
# fmt: on
@between_graphs
def tile(x: Any, *dims: Sizes, **no_other: Any) -> Any:
    """`tenter.tile`, lazily: the whole array dims[k] times along each dim, with ones for missing numbers. Provisional:
    it may change before 1.0.

    Parameters
    ----------
    x : array, tensor or LazyArray
        Any shape and dtype.
    *dims : int
        Ones are put in front of the shorter of x's shape and dims.

    Returns
    -------
    LazyArray

    Raises
    ------
    TypeError, ValueError, IndexError
        As the function of `tenter`.

    See Also
    --------
    tenter.tile : Makes the copies.

    Examples
    --------
    >>> np.asarray(tile(np.array([[1, 2]]), 2) + 1)
    array([[2, 3, 2, 3]])
    """
    if no_other:
        raise misnamed("lazy.tile", tile, no_other, None, x=x, dims=dims)
    try:
        held = _held(x)
        return _tiled(held, "dims", tile_sizes("dims", dims, len(held.shape)))
    except Refusal as refusal:
        raise error(refusal, "lazy.tile", x, *dims) from None


# fmt: off
@overload
def interpolate(x: NDArray[Element], size: Sizes | None = None, scale_factor: Numbers | None = None,
    mode: InterpolateMode = "nearest", align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False) -> LazyArray[NDArray[Element]]: ...
@overload
def interpolate(x: LazyArray[Base], size: Sizes | None = None, scale_factor: Numbers | None = None,  # type: ignore[overload-overlap]
    mode: InterpolateMode = "nearest", align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False) -> LazyArray[Base]: ...
@overload
def interpolate(x: Tensor, size: Sizes | None = None, scale_factor: Numbers | None = None,  # type: ignore[overload-overlap]
    mode: InterpolateMode = "nearest", align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False) -> LazyArray[Tensor]: ...
@overload
def interpolate(x: Nested | Held, size: Sizes | None = None, scale_factor: Numbers | None = None,
    mode: InterpolateMode = "nearest", align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False) -> LazyArray[NDArray[Any]]: ...
# fmt: on
@between_graphs
def interpolate(
    x: Any,
    size: Sizes | None = None,
    scale_factor: Numbers | None = None,
    mode: InterpolateMode = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
    too_many: Any = None,
    **no_other: Any,
) -> Any:
    """`tenter.interpolate`, lazily. Provisional: it may change before 1.0.

    Parameters
    ----------
    x : array, tensor or LazyArray
        (batch, channels, [depth,] [height,] width).
    size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
        As for `tenter.interpolate`.

    Returns
    -------
    LazyArray

    Raises
    ------
    TypeError, ValueError, IndexError
        As the function of `tenter`.

    See Also
    --------
    tenter.interpolate : Makes the result.

    Notes
    -----
    Linear functions (sums, products with numbers and with what is constant along the resized dims) are done on x.
    Integers are rounded as they are weighted, so that only slices of them are lazy.

    Examples
    --------
    >>> s = interpolate(np.arange(4.0).reshape(1, 1, 4), 8, mode="linear")
    >>> (2 * s)[..., :3].materialize()
    array([[[0. , 0.5, 1.5]]])
    """
    given = (size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
    if no_other or too_many is not None:
        raise misnamed(
            "lazy.interpolate",
            interpolate,
            no_other,
            too_many,
            x=x,
            size=size,
            scale_factor=scale_factor,
            mode=mode,
            align_corners=align_corners,
            recompute_scale_factor=recompute_scale_factor,
            antialias=antialias,
        )
    try:
        held = _held(x)
        shown = stand_in(held) if held.stretched_dims else held.base
        return _lazy("size", held, interpolate_arguments.checked(shown, interpolate_arguments.Arguments(*given)))
    except Refusal as refusal:
        names = ("size", "scale_factor", "mode", "align_corners", "recompute_scale_factor", "antialias")
        raise error(refusal, "lazy.interpolate", x=x, **dict(zip(names, (*given[:-1], antialias or None)))) from None


# fmt: off
@overload
def resize(x: NDArray[Element], size: Sizes | None = None,
    **how: Unpack[LazyResizeRule]) -> LazyArray[NDArray[Element]]: ...
@overload
def resize(x: LazyArray[Base], size: Sizes | None = None,  # type: ignore[overload-overlap]
    **how: Unpack[LazyResizeRule]) -> LazyArray[Base]: ...
@overload
def resize(x: Tensor, size: Sizes | None = None,  # type: ignore[overload-overlap]
    **how: Unpack[LazyResizeRule]) -> LazyArray[Tensor]: ...
@overload
def resize(x: Nested | Held, size: Sizes | None = None,
    **how: Unpack[LazyResizeRule]) -> LazyArray[NDArray[Any]]: ...
# fmt: on
@between_graphs
def resize(x: Any, size: Sizes | None = None, too_many: Any = None, **how: Unpack[LazyResizeRule]) -> Any:
    """`tenter.resize`, lazily. Provisional: it may change before 1.0.

    Parameters
    ----------
    x : array, tensor or LazyArray
        Any shape.
    size : int or sequence of ints, optional
        As for `tenter.resize`.
    **how
        The other arguments of `tenter.resize`, without labels and out; value can be 0 alone.

    Returns
    -------
    LazyArray

    Raises
    ------
    TypeError, ValueError, IndexError
        As the function of `tenter`.

    See Also
    --------
    tenter.resize : Makes the result.

    Examples
    --------
    >>> resize(np.arange(4), 2, mode="nearest")
    LazyArray(int64[2]; dim 0: Copy(4 -> 2: counts [1, 0, 1, 0]))
    """
    unknown = {word: value for word, value in how.items() if word not in parameters(resampling.resize)}
    if unknown or too_many is not None:
        raise misnamed("lazy.resize", resampling.resize, unknown, too_many, x=x, size=size)
    try:
        given: dict[str, Any] = dict(how)
        for word in ("labels", "where", "skipna", "min_valid", "out"):
            if (said := given.pop(word, None)) is not None and said is not False:
                expected = "none, as a lazy array holds sums of x (tenter.resize of a Dask array is lazy too)"
                refuse(TypeError, word, expected, describe(said))
        held = _held(x)
        spec, flipped = resize_arguments.checked(stand_in(held), resize_arguments.Arguments(size, **given))
        if spec.reads_outside and (how.get("value", 0) != 0 or not is_numeric(dtype_name(held.base))):
            refuse(ValueError, "value", "0 and an x of numbers, as a map adds nothing", describe(how.get("value", 0)))
        if flipped:
            held = applied(held, flipped)
            held = held._replace(base=executor.of(held.base).flip(held.base, flipped))
        return _lazy("size", held, spec)
    except Refusal as refusal:
        raise error(refusal, "lazy.resize", x=x, size=size, **how) from None


for _function in (repeat_interleave, repeat, tile, interpolate, resize):
    show_signature(_function, "LazyArray")


def _held(x: Any) -> Stretched:
    if isinstance(x, LazyArray):
        return x._held
    x = numpy_or_torch("x", x)
    if isinstance(x, np.ndarray):
        x = x.view()
        x.flags.writeable = False
    else:
        imported(_tensors)
    return whole(x)


def _tensors() -> None:
    from tenter.lazy import tensors as tensors  # imports torch


def _tiled(held: Stretched, name: str, sizes: tuple[int, ...]) -> LazyArray:
    front = len(sizes) - len(held.maps)
    base = held.base.reshape(ones_in_front(held.base.shape, len(sizes))) if front else held.base
    return _lazy(name, held._replace(base=base, maps=(None,) * front + held.maps), Repeat(sizes, False))


def _lazy(name: str, held: Stretched, spec: Spec) -> LazyArray:
    """Adds an operation's maps to those of `held`. name: the argument that sets the result's length."""
    shape, dtype, library = held.shape, dtype_name(held.base), of(held.base)
    limits.addressable(name, spec.shape_out(shape), library.itemsize(held.base))
    added = dict(spec.maps(shape, dtype, library.device(held.base) is not None))
    first = [d for d, m in added.items() if held.maps[d] is not None and composed(held.maps[d], m) is None]
    if rounds(held.base):  # each operation that sums rounds by itself
        first += [d for d in held.stretched_dims if not copies(held.maps[d])]
    held = applied(held, first)
    maps = [composed(m, added[d]) if d in added else m for d, m in enumerate(held.maps)]
    before = held.summing
    rounding = before.rounding if by_axis(before.rounding) else spec.rounding_of(dtype)
    summing = Summing(rounding, before.by_memory or isinstance(spec, Resize))
    return LazyArray(stretched(held.base, maps, summing))


def composed(first: AxisMap | None, then: AxisMap) -> AxisMap | None:
    """Returns one map that applies `first`, then `then`, if both are copies without blocks or `first` is None; else
    None."""
    if first is None or not (isinstance(first, Copy) and isinstance(then, Copy) and first.block == then.block == 1):
        return then if first is None else None
    if first.repeat is not None and then.repeat is not None:
        return Copy.repeat_each(first.n_in, first.repeat * then.repeat)
    return Copy(first.n_in, then.n_out, offsets=run_ends(then)[run_ends(first)])
