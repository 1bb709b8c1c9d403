"""What a call does, explained without making its result: in text, as a figure, as a page."""

from collections.abc import Callable
from typing import Any

from tenter._arrays.arguments import describe
from tenter._arrays.errors import Refusal, refuse
from tenter._explain import lazily
from tenter._explain.call_text import read_call
from tenter._explain.checked import called
from tenter._explain.explanation import Explanation
from tenter._explain.facts import gathered
from tenter._explain.outlines import Shape
from tenter.lazy import LazyArray

__all__ = ["Explanation", "Shape", "explain"]


def explain(operation: Callable[..., Any] | str | LazyArray, /, *args: Any, **how: Any) -> Explanation:
    """What a call of an operation does: which outputs read which inputs, what is copied, which kernels run.

    operation: repeat_interleave, repeat, tile, expand, interpolate, resize, `numpy.repeat` or `numpy.tile` of tenter;
        or a call in words, such as "resize(x, 3)", as the command `tenter explain` takes it; or a lazy array alone,
        which adds what it holds and the calls that it took part in.
    args, how: its arguments; of a call in words the values of its names, as in `explain("resize(x, 3)", x=image)`.
        x may be a `tenter.Shape` in place of an array. The result is not made, so that any size can be explained.
        `out` is ignored.

    Raises the operation's own errors, and TypeError for what is no operation.

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
            return Explanation(lazily.gathered(operation))
        return Explanation(gathered(operation, args, how))
    except Refusal as refusal:
        kind, message = refusal.args
        raise kind(f"{message}\n  in explain({called(operation)})") from None
