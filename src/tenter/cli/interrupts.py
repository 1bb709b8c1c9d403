"""Interrupts are answered at once, also while a decoder, an encoder or the core is busy for seconds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from tenter.cli.output import remove_unfinished
from tenter.cli.streams import loud

Result = TypeVar("Result")
#: Of a wait. Python answers a signal that arrives just before a wait only when the wait ends.
WAIT_SECONDS = 0.05


def interruptible(work: Callable[[], Result]) -> Result:
    """Do work in a thread, because Python handles signals in the main thread, between two bytecodes. After an
    interrupt this does not wait for the thread, and removes the file it was writing."""
    results: list[Result] = []
    errors: list[BaseException] = []
    ended = threading.Event()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            ended.set()

    try:
        threading.Thread(target=run, daemon=True).start()
        while not ended.wait(WAIT_SECONDS):
            pass
    except KeyboardInterrupt:
        loud()
        remove_unfinished()
        raise
    if errors:
        raise errors[0]
    return results[0]
