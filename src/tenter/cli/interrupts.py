"""Interrupts are answered at once, also while a decoder, an encoder or the core is busy for seconds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from tenter.cli.output import remove_unfinished
from tenter.cli.streams import loud

Result = TypeVar("Result")


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

    threading.Thread(target=run, daemon=True).start()
    try:
        ended.wait()
    except KeyboardInterrupt:
        loud()
        remove_unfinished()
        raise
    if errors:
        raise errors[0]
    return results[0]
