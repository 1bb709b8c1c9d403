"""Attributes that are computed once.

`functools.cached_property` takes a lock before Python 3.12. A forked child has one thread: a lock that another thread
held at the fork stays locked in the child, so no call of tenter may wait for one.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class cached(Generic[Value]):  # noqa: N801, a decorator
    """An attribute that its first reader computes, without a lock. Threads that read it at once may each compute the
    value; all of them get the same one."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, kind: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, holder: None, kind: type) -> "cached[Value]": ...
    @overload
    def __get__(self, holder: object, kind: type) -> Value: ...
    def __get__(self, holder: Any, kind: Any = None) -> Any:
        return self if holder is None else holder.__dict__.setdefault(self.name, self.compute(holder))
