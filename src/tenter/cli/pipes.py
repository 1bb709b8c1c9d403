"""`-` in place of a file name: standard input and standard output."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tenter.cli.first_bytes import HEAD, type_of_head
from tenter.cli.formats import TYPES
from tenter.cli.output import check_input, remove_leftovers, temporary
from tenter.cli.refusal import Refusal, first_line

PIPE = "-"
#: What messages call the two.
STDIN, STDOUT = "stdin", "stdout"


class Input(NamedTuple):
    """A file to read, and a name for it whose ending is that of its type."""

    path: Path
    name: str


@contextlib.contextmanager
def opened(name: str) -> Iterator[Input]:
    """A file by its name; if the name is `-`, a temporary one with the contents of standard input."""
    if name != PIPE:
        yield Input(check_input(name), name)
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise Refusal(f"{STDIN}: expected a file through a pipe or by <, got a terminal")
    folder = Path(tempfile.gettempdir())
    remove_leftovers(folder)
    with temporary(folder, 0o600) as (path, file):
        try:
            head = sys.stdin.buffer.read(HEAD)
            ending = _ending(head)
            _copy_stdin(head, file, folder)
            yield Input(check_input(str(path)), f"{STDIN}{ending}")
        except BrokenPipeError:
            raise
        except Exception as error:
            raise Refusal(first_line(error).replace(str(path), STDIN)) from error


def _copy_stdin(head: bytes, file: io.FileIO, folder: Path) -> None:
    buffer = io.BufferedWriter(file, 1 << 20)
    try:
        buffer.write(head)
        shutil.copyfileobj(sys.stdin.buffer, buffer, 1 << 20)
        buffer.flush()
    except OSError as error:
        raise OSError(error.errno, error.strerror, f"a copy of {STDIN} in {folder}") from error
    finally:
        with contextlib.suppress(OSError):
            buffer.detach()


def write_stdout(write: Callable[[BinaryIO], None]) -> None:
    """Write a file to standard output once it is complete, so that a failure leaves nothing there."""
    if sys.stdout is None:
        raise Refusal(f"{STDOUT}: is closed")
    if sys.stdout.isatty():
        raise Refusal(f"{STDOUT}: is a terminal; > FILE or | PROGRAM takes the image")
    contents = io.BytesIO()
    write(contents)
    try:
        sys.stdout.buffer.write(contents.getbuffer())
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, STDOUT) from error


def _ending(head: bytes) -> str:
    """The ending that a file's name would have, by its first bytes."""
    if not head:
        raise Refusal(f"{STDIN}: is empty")
    type_ = type_of_head(head, STDIN)
    return TYPES[type_].endings[0] if type_ in TYPES else f".{type_.lower()}" if type_ else ".npy"
