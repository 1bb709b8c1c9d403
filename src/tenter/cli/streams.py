"""The command's own lines on stderr, and none beside them."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator

from tenter.cli.refusal import one_line

STDERR = 2


def say(text: str) -> None:
    """Print one line on stderr; one that has no reader left must not change the exit code."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(f"tenter: {one_line(text)}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Open the standard streams that are closed, and keep warnings to themselves, which are for programmers."""
    # an output file that got the descriptor of stderr would get what C libraries print there
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= STDERR:
        pass
    os.close(descriptor)
    with warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Drop what is printed on stderr by C libraries (libtiff), and by Pillow's log."""
    sys.stderr.flush() if sys.stderr is not None else None
    kept = os.dup(STDERR)
    try:
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), STDERR)
        yield
    finally:
        os.dup2(kept, STDERR)
        os.close(kept)
