"""Work that a fork by another thread must not interrupt."""

import os
from _thread import RLock  # threading's; that module takes a thirtieth of tenter's import
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# Seconds that a fork waits. An import that holds the lock may itself wait for locks that other libraries take before a
# fork.
PATIENCE = 10
_lock = RLock()


@contextmanager
def not_forked() -> Iterator[None]:
    """Makes forks by other threads wait until the block is done. It is for imports during a call, which hold the locks
    of modules, and for changes that a child must see either complete or not begun."""
    with _lock:
        yield


def _release() -> None:
    with suppress(RuntimeError):  # acquire timed out
        _lock.release()


def _renew() -> None:
    global _lock
    _lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lambda: _lock.acquire(timeout=PATIENCE), after_in_parent=_release, after_in_child=_renew)
