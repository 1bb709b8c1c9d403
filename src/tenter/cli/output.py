"""Put a file in place whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from tenter.cli.refusal import Refusal


def check_input(path: str) -> Path:
    """Refuse an input that is not an ordinary file; reading a pipe or a device could wait for ever."""
    source = Path(path)
    mode = source.stat().st_mode
    if stat.S_ISDIR(mode):
        raise Refusal(f"{path}: is a directory, expected a file")
    if not stat.S_ISREG(mode):
        raise Refusal(f"{path}: is not an ordinary file")
    if source.stat().st_size == 0:
        raise Refusal(f"{path}: is empty")
    return source


def check_output(path: str, source: Path | None, force: bool) -> Path:
    """Refuse an output that could not be put in place, before any work is done for it."""
    # a link is followed, so that --force replaces what it points to and the link stays
    target = Path(os.path.realpath(path))
    folder = target.parent
    if not folder.is_dir():
        raise Refusal(f"{path}: the folder {folder} does not exist")
    if target.is_dir():
        raise Refusal(f"{path}: is a directory, expected a file name")
    if target.exists():
        if not target.is_file():
            raise Refusal(f"{path}: exists and is not an ordinary file")
        if not force:
            same = source is not None and os.path.samefile(source, target)
            what = "is the input itself" if same else "exists already"
            raise Refusal(f"{path}: {what}; --force overwrites it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Refusal(f"{path}: the folder {folder} is not writable")
    return target


def write_beside(target: Path, force: bool, write: Callable[[BinaryIO], None]) -> None:
    """Write to a temporary file in the target's folder, then rename it; nothing is left behind on failure."""
    temporary = target.parent / f"{_beginning(os.getpid())}{secrets.token_hex(8)}.tmp"
    try:
        # an ordinary open gives the permissions of any new file (umask), which tempfile's 0600 would not
        with open(temporary, "xb") as file:
            write(file)
        if force:
            os.replace(temporary, target)
        else:
            _place_new(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()


def remove_leftovers(folder: Path, process: int) -> None:
    """Remove what a process that was killed while it wrote has left in a folder."""
    for temporary in folder.glob(f"{_beginning(process)}*.tmp"):
        temporary.unlink(missing_ok=True)


def _beginning(process: int) -> str:
    return f".tenter-{process}-"


def _place_new(temporary: Path, target: Path) -> None:
    """Give the finished file its name, unless a file of that name has appeared meanwhile."""
    try:
        os.link(temporary, target)
    except FileExistsError as error:
        raise Refusal(f"{target}: appeared while this was running; --force overwrites it") from error
    except OSError:
        # no hard links here (FAT, some network folders): claim the name, then fill it
        try:
            with open(target, "xb"):
                pass
        except FileExistsError as error:
            raise Refusal(f"{target}: appeared while this was running; --force overwrites it") from error
        os.replace(temporary, target)
