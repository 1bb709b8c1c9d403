"""Rename a finished file to a name that no file has yet, in one atomic step."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

from tenter.cli.refusal import Exists

AT_FDCWD, RENAME_NOREPLACE = -100, 1


def place_new(temporary: Path, target: Path) -> None:
    """Rename or link `temporary` to `target`; refuse if that exists, as another process may have made it meanwhile."""
    try:
        _link_or_rename(temporary, target)
    except FileExistsError as error:
        raise Exists(f"{target}: appeared while this was running; --force overwrites it") from error


def _link_or_rename(temporary: Path, target: Path) -> None:
    try:
        os.link(temporary, target)
        return
    except FileExistsError:
        raise
    except OSError:
        pass  # this file system has no hard links (FAT, some network file systems)
    if _rename_new(temporary, target):
        return
    # This file system has neither call. If another program creates the target between the check and the rename, its
    # file is lost. An empty file that reserves the name would stay behind if this process were killed.
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    os.rename(temporary, target)


def _rename_new(temporary: Path, target: Path) -> bool:
    """Call renameat2 with RENAME_NOREPLACE; return False if the system or the file system does not support it."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    if rename(AT_FDCWD, os.fsencode(temporary), AT_FDCWD, os.fsencode(target), RENAME_NOREPLACE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM):
        return False
    raise OSError(code, os.strerror(code), str(target))
