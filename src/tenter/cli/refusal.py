"""The exception of the command line, and the one line that is printed for any exception."""

from __future__ import annotations

import importlib

from tenter._arrays import oldest_versions


class Refusal(Exception):
    """The command cannot be carried out. Its message is for the user, who gets it as one line and exit code 2."""


class Exists(Refusal):
    """The output is there already, which --skip-existing takes for done."""


def first_line(error: BaseException) -> str:
    """The message of an exception in one line. The library's messages have a second line, which shows the call."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    elif not isinstance(error, Refusal):
        text = (text.strip().splitlines() or [type(error).__name__])[0]
        if not isinstance(error, (OSError, TypeError, ValueError, IndexError, MemoryError)):
            text = f"{type(error).__name__}: {text}"
    return one_line(text)


def named(error: BaseException, name: str) -> str:
    """The message of an exception in one line, with the name of a file for that of the library's argument."""
    text = first_line(error)
    return f"{name}: {text.removeprefix('x: ')}" if text.startswith("x: ") else text


def one_line(text: str) -> str:
    """Escape characters of file names that would control a terminal: line breaks, colors, text direction."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def require(module: str) -> None:
    """Refuse if an optional package is not installed, or is too old; the message says how it is installed."""
    package = {"PIL": "Pillow", "png": "pypng"}.get(module, module)
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        raise Refusal(f"{package} is needed for this and is not installed: pip install {package}") from error
    if package in oldest_versions.OLDEST:
        try:
            oldest_versions.check(package, found.__version__)
        except ImportError as error:
            raise Refusal(str(error).removeprefix("tenter: ")) from error
