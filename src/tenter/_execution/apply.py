"""`A.apply(x, axis)`: applies one map to an array or tensor."""

from typing import Any

from tenter._arrays import arguments
from tenter._arrays.dtypes import is_numeric
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.foreign import class_name
from tenter._arrays.library import dtype_name, in_dynamo, of
from tenter._execution import calls, executor
from tenter._specs.applied import Applied
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._kinds import only_copies


def apply(map_: AxisMap, x: Any, axis: int, out: Any = None) -> Any:
    """Applies the map along one axis: y[..., o, ...] is the sum of A[o, i] * x[..., i, ...] over i.

    Parameters
    ----------
    x : array
        An array, tensor or list of any shape; its length along axis is the map's n_in.
    axis : int
        The axis.
    out : array, optional
        Where to write the result, as for `tenter.resize`. It may overlap x.

    Returns
    -------
    array
        x's library and dtype. Weighted sums of integers are rounded half to even and saturated; unweighted ones are
        exact and saturated (64-bit ones wrap).

    Raises
    ------
    TypeError
        If x is not an array of numbers.
    IndexError
        If there is no such axis.
    ValueError
        If the length along axis is not n_in.

    Examples
    --------
    >>> Copy.repeat_each(2, 3).apply(np.array([[1, 2], [3, 4]]), axis=1)
    array([[1, 1, 1, 2, 2, 2],
           [3, 3, 3, 4, 4, 4]])
    """
    if in_dynamo():  # not within `try`, where the compiler could not end a graph
        from tenter._torch import uncompiled  # imports torch

        if not uncompiled.gives_objects:
            return uncompiled.with_map(apply, map_, x, axis, out)
    try:
        if type(map_) not in (Copy, Window, Gather):  # a subclass may have tables that were not checked
            refuse(TypeError, "map", "a Copy, a Window or a Gather", class_name(type(map_)))
        return applied(map_, arguments.array("x", x), axis, out)
    except Refusal as refusal:
        raise arguments.error(refusal, f"{type(map_).__name__}.apply", x=x, axis=axis, out=out) from None


def applied(map_: AxisMap, x: Any, axis: Any, out: Any = None) -> Any:
    """Applies a map to an array. Checks the rest of the arguments."""
    axis = arguments.dim("axis", axis, x.ndim)
    if x.ndim == 0:
        x = executor.of(x).reshape(x, (1,))
    is_recorded = of(x).traced(x)
    if (not is_recorded or out is not None) and (found := of(x).unservable(x)):
        refuse(TypeError, "x", "an array or a plain tensor to apply a map to", found)
    if x.shape[axis] != map_.n_in:
        refuse(ValueError, "x", f"length {map_.n_in} along axis {axis}", f"{x.shape[axis]}")
    if not only_copies(map_) and not is_numeric(dtype_name(x)):
        refuse(TypeError, "x", "numbers, to take sums of", dtype_name(x))
    return calls.execute(x, Applied(axis, map_), out)


for _kind in (Copy, Window, Gather):  # maps are in a layer below and cannot import this
    _kind.apply = apply  # type: ignore[assignment]  # a function, which has the map as its first argument
