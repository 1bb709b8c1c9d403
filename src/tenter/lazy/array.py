"""The lazy array as users, NumPy and PyTorch see it. `calls` makes the calls on it."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, NoReturn, cast, overload

import numpy as np

from tenter._arrays import arguments
from tenter._arrays.errors import Refusal, refuse, refuse_short
from tenter._arrays.library import is_array, of
from tenter._arrays.signatures import Base
from tenter.lazy import arrow, calls
from tenter.lazy.compiled import between_graphs
from tenter.lazy.explanation import MOST_EVENTS, Event, html, line
from tenter.lazy.indexing import indexed
from tenter.lazy.segments import segment_sum
from tenter.lazy.signatures import Attributes, InPlace, Operator, Two, Unary
from tenter.lazy.stretched import Stretched, fresh, like_tuple, materialized, written

if TYPE_CHECKING:
    import pyarrow
    from numpy.typing import NDArray

    from tenter._arrays.signatures import AnyArray
    from tenter.maps import AxisMap


Function = Callable[..., Any]


def _operators(f: Callable[[Any, Any], Any]) -> tuple[Operator, Operator, InPlace]:
    """Returns the methods of an operator, of its reflection, and of its in-place form."""
    name = f.__name__.strip("_")

    def forward(self: LazyArray, other: Any) -> Any:
        return LazyArray._call(name, f, (self, other), {})

    def reflected(self: LazyArray, other: Any) -> Any:
        return LazyArray._call(name, f, (other, self), {})

    def in_place(self: LazyArray, other: Any) -> NoReturn:
        _refuse_writing(f"{name} in place", self)

    return cast(Operator, forward), cast(Operator, reflected), cast(InPlace, in_place)


def _unary(f: Callable[[Any], Any]) -> Unary:
    def method(self: LazyArray) -> Any:
        return LazyArray._call(f.__name__, f, (self,), {})

    return cast(Unary, method)


class LazyArray(Attributes, Generic[Base]):
    """An array with maps that are not applied yet. Provisional: it may change before 1.0.

    It behaves like the NumPy array or PyTorch tensor that it stands for. Elementwise functions, sums, products and
    indexing work on the input if that gives the same result; anything else materializes. It is read-only and shares
    the input's memory: later writes to the input show in it.

    Parameters
    ----------
    held, events
        What the functions of `tenter.lazy` found; they alone make lazy arrays.

    See Also
    --------
    tenter.explain : What a lazy array holds, and why it was materialized.

    Examples
    --------
    >>> import tenter
    >>> s = tenter.lazy.repeat_interleave(np.array([1.0, 2.0]), [1, 2])
    >>> (s * 10).sum().item()
    50.0
    """

    __hash__ = None  # type: ignore[assignment]  # == compares elements

    def __init__(self, held: Stretched, events: tuple[Event, ...] = ()) -> None:
        self._stretched = held
        self._events = deque(events, maxlen=MOST_EVENTS)

    @property
    def _held(self) -> Stretched:
        """The value for everything that reads elements. The memory of `base` must be there."""
        arguments.check_memory("s", self._stretched.base, "a lazy array of an array or a plain tensor")
        return self._stretched

    # ---- what it is

    @property
    def base(self) -> Base:
        """The array that the maps are to be applied to."""
        return cast(Base, self._stretched.base)

    @property
    def maps(self) -> tuple[AxisMap | None, ...]:
        """The map of each dim; None for dims that are as long as those of `base`."""
        return self._stretched.maps

    @property
    def shape(self) -> tuple[int, ...]:
        shape = self._stretched.shape
        return shape if isinstance(self._stretched.base, np.ndarray) else type(self._stretched.base.shape)(shape)

    @property
    def ndim(self) -> int:
        return len(self._stretched.maps)

    if not TYPE_CHECKING:

        @property
        def dtype(self) -> Any:
            return self._stretched.base.dtype

        @property
        def size(self) -> Any:
            """The library's own `size`: NumPy's number of elements, or PyTorch's method."""
            if isinstance(self.base, np.ndarray):
                return self._stretched.size
            return lambda dim=None: self.shape if dim is None else self.shape[dim]

    @property
    def nbytes(self) -> int:
        """Bytes of the materialized array."""
        return self._stretched.size * of(self.base).itemsize(self.base)

    @property
    def T(self) -> Base | LazyArray[Base]:
        return cast("Base | LazyArray[Base]", self._call("T", lambda x: x.T, (self,), {}))

    @property
    def mT(self) -> Base | LazyArray[Base]:
        return cast("Base | LazyArray[Base]", self._call("mT", lambda x: x.swapaxes(-1, -2), (self,), {}))

    @overload
    def materialize(self, out: None = None) -> Base: ...
    @overload
    def materialize(self, out: AnyArray) -> AnyArray: ...
    @between_graphs
    def materialize(self, out: Any = None) -> Any:
        """The array as a new one, with gradients in PyTorch.

        Parameters
        ----------
        out : array, optional
            Where to write the result, as for `tenter.resize`.

        Returns
        -------
        array

        Raises
        ------
        MemoryError
            If it is larger than the machine's memory.
        TypeError
            Under PyTorch's transforms and tracers.

        Examples
        --------
        >>> import tenter
        >>> tenter.lazy.repeat_interleave([1, 2], [1, 2]).materialize()
        array([1, 2, 2])
        """
        try:
            return materialized(self._held) if out is None else written(self._held, out)
        except Refusal as refusal:
            raise arguments.error(refusal, "materialize", self, out=out) from None

    @between_graphs
    def segment_sum(self, lengths: Any, axis: int = 0) -> Base | LazyArray[Base]:
        """Sums of adjacent elements along an axis, lengths[i] each.

        If the axis is repeated by these lengths, each input times its count; else the sums of the materialized axis.

        Parameters
        ----------
        lengths : array of ints or Copy
            How many elements each sum has, or the map that repeats by them.
        axis : int, default 0
            The axis that is summed.

        Returns
        -------
        array or LazyArray
            Integers are summed exactly and saturated (64-bit ones wrap).

        Raises
        ------
        TypeError, ValueError
            If lengths are not counts, or do not sum to the axis's length.
        IndexError
            If there is no such axis.

        Examples
        --------
        >>> import tenter
        >>> tenter.lazy.repeat_interleave([10, 20, 30], [1, 0, 2]).segment_sum([1, 0, 2])
        array([10,  0, 60])
        """
        notes: list[str] = []
        try:
            made = segment_sum(self._held, lengths, arguments.dim("axis", axis, self.ndim), notes)
        except Refusal as refusal:
            raise arguments.error(refusal, "segment_sum", self, lengths=lengths, axis=axis) from None
        return cast("Base | LazyArray[Base]", _finished("segment_sum", made, [self], notes))

    # ---- calls of Python, NumPy and PyTorch

    @classmethod
    @between_graphs
    def _call(cls, name: str, f: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        notes: list[str] = []
        try:
            lazies = [value for value in calls.leaves((args, kwargs)) if isinstance(value, LazyArray)]
            held_args, held_kwargs = calls.by_position(f, _held(args), _held(kwargs))
            if calls.writes(name, f, held_args, held_kwargs):
                _refuse_writing(name, lazies[0])
            made = calls.perform(name, f, held_args, held_kwargs, notes)
        except Refusal as refusal:
            raise arguments.error(refusal, name, *args, **kwargs) from None
        return _finished(name, made, lazies, notes)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__":
            return self._call(ufunc.__name__, ufunc, inputs, kwargs)
        return self._call(f"{ufunc.__name__}.{method}", getattr(ufunc, method), inputs, kwargs)

    def __array_function__(
        self, f: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return self._call(f.__name__, f, args, kwargs)

    @classmethod
    def __torch_function__(
        cls, f: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        return cls._call(getattr(f, "__name__", str(f)), f, args, kwargs or {})

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a lazy array has no memory to share: np.asarray(s) copies")
        return np.asarray(self.materialize(), dtype)

    def __arrow_array__(self, type: Any = None) -> pyarrow.Array:
        made = arrow.run_ends_of("s", self._held)
        return made if type is None else made.cast(type)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Returns attributes that stretching does not change, and methods."""
            if name in ("device", "requires_grad", "itemsize", "is_cuda", "is_cpu"):
                return getattr(self.base, name)
            method = None if name.startswith("_") else getattr(type(self.base), name, None)
            if not callable(method):
                raise AttributeError(f"a lazy array has no attribute {name!r}; s.materialize() may have it")
            return lambda *args, **kwargs: self._call(name, method, (self, *args), kwargs)

    @between_graphs
    def __getitem__(self, key: Any) -> Base | LazyArray[Base]:
        keys = tuple(
            [k.materialize() if isinstance(k, LazyArray) else k for k in (key if type(key) is tuple else (key,))]
        )
        key = keys if type(key) is tuple else keys[0]
        try:
            deque(calls.leaves(key), 0)  # refuses deeply nested lists, with which PyTorch crashes
            made = indexed(self._held, key)
        except Refusal as refusal:
            raise arguments.error(refusal, "getitem", self, key) from None
        notes = [] if made is not None else ["all is materialized: a key other than ints, slices, arrays and None"]
        found = _finished("getitem", materialized(self._held)[key] if made is None else made, [self], notes)
        return cast("Base | LazyArray[Base]", found)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        _refuse_writing("setitem", self)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a 0-d lazy array")
        return self._stretched.shape[0]

    def __iter__(self) -> Iterator[Base | LazyArray[Base]]:
        return (self[k] for k in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __bool__(self) -> bool:
        return bool(self.materialize())

    def _values(self) -> Any:
        return self.materialize()

    def __int__(self) -> int:
        return int(self._values())

    def __float__(self) -> float:
        return float(self._values())

    def __complex__(self) -> complex:
        return complex(self._values())

    def __index__(self) -> int:
        return operator.index(self._values())

    __add__, __radd__, __iadd__ = _operators(operator.add)
    __sub__, __rsub__, __isub__ = _operators(operator.sub)
    __mul__, __rmul__, __imul__ = _operators(operator.mul)
    __truediv__, __rtruediv__, __itruediv__ = _operators(operator.truediv)
    __floordiv__, __rfloordiv__, __ifloordiv__ = _operators(operator.floordiv)
    __mod__, __rmod__, __imod__ = _operators(operator.mod)
    __pow__, __rpow__, __ipow__ = _operators(operator.pow)
    __matmul__, __rmatmul__, __imatmul__ = _operators(operator.matmul)
    __and__, __rand__, __iand__ = _operators(operator.and_)
    __or__, __ror__, __ior__ = _operators(operator.or_)
    __xor__, __rxor__, __ixor__ = _operators(operator.xor)
    __lshift__, __rlshift__, __ilshift__ = _operators(operator.lshift)
    __rshift__, __rrshift__, __irshift__ = _operators(operator.rshift)
    __divmod__, __rdivmod__ = (cast(Two, f) for f in _operators(divmod)[:2])
    __lt__, __le__ = _operators(operator.lt)[0], _operators(operator.le)[0]
    __gt__, __ge__ = _operators(operator.gt)[0], _operators(operator.ge)[0]
    __eq__, __ne__ = _operators(operator.eq)[0], _operators(operator.ne)[0]  # type: ignore[assignment]
    __neg__, __pos__ = _unary(operator.neg), _unary(operator.pos)
    __abs__, __invert__ = _unary(operator.abs), _unary(operator.invert)

    # ---- how it looks

    def __repr__(self) -> str:
        return line(self._stretched)

    def _repr_html_(self) -> str:
        return html(self._stretched)


def _held(tree: Any) -> Any:
    """Returns arguments with lazy arrays replaced by their values."""
    if isinstance(tree, LazyArray):
        return tree._held
    if is_array(tree) and (found := of(tree).short(tree)):
        refuse_short("an operand", found)
    if isinstance(tree, dict):
        return {key: _held(value) for key, value in tree.items()}
    return type(tree)([_held(value) for value in tree]) if type(tree) in (tuple, list) else tree


def _finished(name: str, made: Any, lazies: list[LazyArray[Any]], notes: list[str]) -> Any:
    """Returns a result as users get it: a lazy array if it has a map, else an array that shares no memory. Records the
    call for `explain`."""
    several = isinstance(made, (tuple, list)) and not isinstance(made, Stretched)
    if several and any(isinstance(y, Stretched) for y in made):
        return like_tuple(made, [_finished(name, y, lazies, notes) for y in made])
    held, stands_for = made, made
    if isinstance(made, Stretched):
        held, stands_for = made.base, made
    n_held = int(np.prod(np.shape(held), dtype=np.int64)) if is_array(held) else 1
    n_of = stands_for.size if isinstance(made, Stretched) else n_held
    event = Event(name, n_held, n_of, tuple(notes))
    for s in {id(s): s for s in lazies}.values():
        s._events.append(event)
    if not isinstance(made, Stretched):
        return made
    if made.stretched_dims:
        return LazyArray(made, tuple(lazies[0]._events))
    y = made.base
    for s in lazies:
        y = fresh(y, s.base)
    return y


def _refuse_writing(name: str, s: LazyArray[Any]) -> NoReturn:
    try:
        refuse(TypeError, "s", "an array to write to, as s.materialize() gives", "a lazy array, which is read-only")
    except Refusal as refusal:
        raise arguments.error(refusal, name, s) from None
