"""Give a finished file its name, unless a file of that name is there: in one step, so that no moment leaves half."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

from tenter.cli.refusal import Refusal

AT_FDCWD, RENAME_NOREPLACE = -100, 1


def place_new(temporary: Path, target: Path) -> None:
    """Rename, or link, a file to a name that must be free."""
    try:
        _link_or_rename(temporary, target)
    except FileExistsError as error:
        raise Refusal(f"{target}: appeared while this was running; --force overwrites it") from error


def _link_or_rename(temporary: Path, target: Path) -> None:
    try:
        os.link(temporary, target)
        return
    except FileExistsError:
        raise
    except OSError:
        pass  # no hard links here (FAT, some network folders)
    if _rename_new(temporary, target):
        return
    # What is left has neither call. A file that another program makes between these two lines is lost; claiming the
    # name with an empty file instead would leave that file behind when this process is killed.
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    os.rename(temporary, target)


def _rename_new(temporary: Path, target: Path) -> bool:
    """Call Linux's rename that replaces nothing; False where the system or the file system has none."""
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
