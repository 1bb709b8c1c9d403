"""Threads that are started together and waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any


def in_threads(
    work: Callable[..., Any], each: Iterable[tuple[Any, ...]], barrier: threading.Barrier | None = None
) -> None:
    """work in a thread of its own for each of the arguments; raises what the first to fail raised. barrier: where they
    wait for each other, which a failure breaks: else the others would wait without end."""
    failures: list[BaseException] = []

    def watched(*args: Any) -> None:
        try:
            work(*args)
        except BaseException as failure:
            failures.append(failure)
            if barrier is not None:
                barrier.abort()

    threads = [threading.Thread(target=watched, args=args) for args in each]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
