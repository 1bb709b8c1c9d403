"""`explain`: says what a call does, without making its result, as text, a figure or a page."""

from collections.abc import Callable
from typing import Any

from tenter._arrays.arguments import describe
from tenter._arrays.errors import Refusal, refuse
from tenter._explain import lazy_arrays
from tenter._explain.call_text import read_call
from tenter._explain.checked import called
from tenter._explain.explanation import Explanation
from tenter._explain.facts import gathered
from tenter._explain.outlines import Shape
from tenter.lazy import LazyArray

__all__ = ["Explanation", "Shape", "explain"]


def explain(operation: Callable[..., Any] | str | LazyArray, /, *args: Any, **how: Any) -> Explanation:
    """What a call does: which outputs read which inputs, what is copied, which kernels run.

    The result is not computed, so calls of any size can be explained.

    Parameters
    ----------
    operation : function, str or LazyArray
        `repeat_interleave`, `repeat`, `tile`, `expand`, `interpolate`, `resize`, `numpy.repeat` or `numpy.tile` of
        tenter. Or a call in words, such as "resize(x, 3)", as the command `tenter explain` takes it. Or a lazy array
        alone, for what it holds and the calls that it took part in.
    *args
        The arguments of the call; a `Shape` may stand for x.
    **how
        The keyword arguments of the call (`out` is ignored); for a call in words the values of its names.

    Returns
    -------
    Explanation
        Printed, it is a text; in a notebook, a figure.

    Raises
    ------
    TypeError
        If the operation is none of these.
    ValueError
        As the operation itself, for bad arguments.

    See Also
    --------
    Explanation : What can be asked of it.

    Examples
    --------
    >>> import tenter
    >>> e = tenter.explain(tenter.repeat_interleave, [10, 20], [1, 2])
    >>> e.maps
    ((0, Copy(2 -> 3: counts [1, 2])),)
    >>> tenter.explain(tenter.resize, tenter.Shape(1080, 1920, 3), (540, 960), axes=(0, 1)).shape_out
    (540, 960, 3)
    >>> tenter.explain("resize(shape(1080, 1920, 3), (540, 960), axes=(0, 1))").shape_out
    (540, 960, 3)
    """
    try:
        if isinstance(operation, str):
            if args:
                refuse(
                    TypeError,
                    "args",
                    'values of a call by their names, as in explain("resize(x, 3)", x=x)',
                    describe(args),
                )
            function, values, named = read_call(operation, how)
            return Explanation(gathered(function, tuple(values), named))
        if isinstance(operation, LazyArray) and not args and not how:
            return Explanation(lazy_arrays.gathered(operation))
        return Explanation(gathered(operation, args, how))
    except Refusal as refusal:
        kind, message = refusal.args
        raise kind(f"{message}\n  in explain({called(operation)})") from None
