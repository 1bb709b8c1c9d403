"""The one exception that the command turns into one line on stderr and exit code 2."""

from __future__ import annotations

import importlib


class Refusal(Exception):
    """A request that cannot be carried out, with a message for the person who typed it."""


def first_line(error: BaseException) -> str:
    """Say what an exception says in one line: the library's messages have a second line that names the call."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    elif not isinstance(error, Refusal):
        text = (text.strip().splitlines() or [type(error).__name__])[0]
        if not isinstance(error, (OSError, TypeError, ValueError, IndexError, MemoryError)):
            text = f"{type(error).__name__}: {text}"
    return one_line(text)


def one_line(text: str) -> str:
    """Escape what a file name may hold and a terminal would obey: line breaks, colours, turned writing."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def require(module: str, extra: str = "cli") -> None:
    """Refuse, naming the extra to install, when an optional package is missing."""
    try:
        importlib.import_module(module)
    except ImportError as error:
        package = {"PIL": "Pillow", "cv2": "OpenCV"}.get(module, module)
        raise Refusal(f'{package} is needed for this and is not installed: pip install "tenter[{extra}]"') from error
