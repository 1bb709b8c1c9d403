"""The mark by which a job knows its own working folder: a part of the folder's name that only this user can make.

An archive may bring folders and links of any name, content and time, and whoever unpacks it runs the command next to
them. So nothing in a folder can prove that a job of ours made it, unless it follows from a secret. The mark is a keyed
hash of the output's path. The key is random and stored in the user's state folder, which no archive has seen. Inode
numbers and times would do without a key, but they change when a disk is mounted again or copied, and then a job could
not be continued.
"""

from __future__ import annotations

import contextlib
import hmac
import os
from pathlib import Path
from typing import NamedTuple

from tenter.cli.output import temporary
from tenter.cli.place import place_new
from tenter.cli.refusal import Refusal, first_line

KEY_BYTES = 32
#: Hexadecimal digits of a mark.
DIGITS = 24
#: The key of a process that cannot store one.
_PASSING = os.urandom(KEY_BYTES)


class Key(NamedTuple):
    """problem: why no other process will have this key; empty if all of this user's have it."""

    secret: bytes
    problem: str


def mark(path: str) -> str:
    """The mark of the working folder for an output. path: the output's, absolute and without links."""
    return hmac.new(key().secret, os.fsencode(path), "sha256").hexdigest()[:DIGITS]


def key() -> Key:
    """The user's key, which is made when it is first needed."""
    path = _state_folder() / "key"
    try:
        if not path.exists():
            _make(path)
        secret = path.read_bytes()
    except (OSError, Refusal) as error:
        return Key(_PASSING, f"{first_line(error)}; XDG_STATE_HOME names another folder")
    if len(secret) != KEY_BYTES:
        return Key(_PASSING, f"{path}: is not a key; without it the next command makes one")
    return Key(secret, "")


def _state_folder() -> Path:
    """Where programs keep what should last, by the XDG base directory specification."""
    given = os.environ.get("XDG_STATE_HOME", "")
    return Path(given if os.path.isabs(given) else os.path.expanduser("~/.local/state"), "tenter")


def _make(path: Path) -> None:
    """A key that no other user can read."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(Refusal), temporary(path.parent, 0o600) as (made, file):
        file.write(os.urandom(KEY_BYTES))
        os.fsync(file.fileno())
        place_new(made, path)  # refused where another process was first
