"""stderr: print the lines of the command, and drop those of libraries."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator

from tenter.cli.refusal import one_line

STDERR = 2
#: Copies of stderr while it is quiet.
_saved: list[int] = []


def say(text: str) -> None:
    """Print one line on stderr. If stderr is closed or broken, the exit code stays the same."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(f"tenter: {one_line(text)}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Open the standard streams that are closed, and ignore warnings, which are for programmers."""
    # If stderr is closed, an output file could get descriptor 2, and C libraries would print into it.
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= STDERR:
        pass
    os.close(descriptor)
    with warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Drop what C libraries (libtiff) and Pillow's log print on stderr."""
    sys.stderr.flush() if sys.stderr is not None else None
    saved = os.dup(STDERR)
    _saved.append(saved)
    try:
        with open(os.devnull, "wb") as null:
            os.dup2(null.fileno(), STDERR)
        yield
    finally:
        os.dup2(saved, STDERR)
        _saved.remove(saved)
        os.close(saved)


def loud() -> None:
    """Let stderr be seen again, though the thread that made it quiet is still busy."""
    if _saved:
        os.dup2(_saved[0], STDERR)
