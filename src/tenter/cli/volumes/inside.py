"""Paths that files name, below the folder that they are in."""

from __future__ import annotations

import os
import stat

from tenter.cli.refusal import Refusal


def inside(folder: str, path: str) -> str:
    """The place of a path from the metadata of a folder. Refuse one that leads out, by itself or through a link."""
    parts = path.split("/")
    if path.startswith("/") or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise Refusal(f"{folder}: its metadata names {path!r}, expected a path below its own folder")
    found = os.path.join(folder, *parts)
    check_links(folder, found)
    return found


def check_file(folder: str, key: str, most: int | None) -> None:
    """Refuse what is not a regular file, or has more bytes than `most`, or is reached through a link that leads out of
    the folder. A file that is missing is no error."""
    at = folder
    try:
        for part in key.split("/"):
            at = f"{at}/{part}"
            if part == ".." or stat.S_ISLNK(os.lstat(at).st_mode):
                check_links(folder, at)
        state = os.stat(at)
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISREG(state.st_mode):
        raise Refusal("is not a regular file")
    if most is not None and state.st_size > most:
        raise Refusal(f"holds {state.st_size} bytes, more than {most}, the most for its elements")


def check_links(folder: str, path: str) -> None:
    """Refuse a path that a link leads out of a folder."""
    base, real = os.path.realpath(folder), os.path.realpath(path)
    if os.path.commonpath((base, real)) != base:
        raise Refusal(f"{path}: a link leads out of {folder}, to {real}")
