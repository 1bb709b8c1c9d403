"""Threads that are started together and waited for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any


def in_threads(
    work: Callable[..., Any],
    each: Iterable[tuple[Any, ...]],
    barrier: threading.Barrier | None = None,
    limit: float = 300,
) -> None:
    """work in a thread of its own for each of the arguments, all of which take `limit` seconds at most.

    Raises what the first of them raised. barrier: at which they wait for one another; it is broken then, or they would
    wait for the one that is gone."""
    raised: list[BaseException] = []

    def run(*args: Any) -> None:
        try:
            work(*args)
        except BaseException as error:
            raised.append(error)
            if barrier is not None:
                barrier.abort()

    threads = [threading.Thread(target=run, args=args, daemon=True) for args in each]
    end = time.monotonic() + limit
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    running = sum(thread.is_alive() for thread in threads)
    if raised:
        raise raised[0]
    assert not running, f"{running} of {len(threads)} threads still run after {limit:g} s"
