"""Threads that are started together and waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any


def in_threads(work: Callable[..., Any], each: Iterable[tuple[Any, ...]]) -> None:
    """work in a thread of its own for each of the arguments."""
    threads = [threading.Thread(target=work, args=args) for args in each]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
