"""Attributes that are computed once, and work that no fork may cut in two.

A forked child has one thread. A lock that another thread held at the fork stays locked in the child for good, so a call
of tenter's must not wait for one.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class kept(Generic[Value]):  # noqa: N801, a decorator
    """An attribute that its first reader computes. `functools.cached_property` does so under a lock before Python 3.12.
    Without one, threads that read it at once may each compute the value; all of them get the same one."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, kind: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, holder: None, kind: type) -> "kept[Value]": ...
    @overload
    def __get__(self, holder: object, kind: type) -> Value: ...
    def __get__(self, holder: Any, kind: Any = None) -> Any:
        return self if holder is None else holder.__dict__.setdefault(self.name, self.compute(holder))


# Seconds. Other libraries take locks of their own before a fork, which an import that it waits for may want.
PATIENCE = 10
_lock = threading.RLock()


@contextmanager
def uncut() -> Iterator[None]:
    """A fork by another thread waits until this is done: for imports within a call, which hold the locks of modules,
    and for changes that a child must find made or not begun."""
    with _lock:
        yield


def _release() -> None:
    with suppress(RuntimeError):  # it was not had in time
        _lock.release()


def _renew() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lambda: _lock.acquire(timeout=PATIENCE), after_in_parent=_release, after_in_child=_renew)
