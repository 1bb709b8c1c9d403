"""Check input and output paths, and write files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from tenter.cli.place import place_new
from tenter.cli.refusal import Exists, Refusal

BEGINNING, ENDING = ".tenter-", ".tmp"
ACCESS_LIST = "system.posix_acl_access"
#: Temporary files that this process is writing.
_unfinished: set[Path] = set()


class _Buffer(io.BufferedWriter):
    """A buffer that hides its descriptor, through which NumPy and Pillow would write without noticing a full disk."""

    def fileno(self) -> int:
        """Raise: there is no descriptor."""
        raise io.UnsupportedOperation("fileno")


def check_input(path: str) -> Path:
    """Refuse an input that is not a regular file: reading a pipe or a device could block."""
    source = Path(path)
    mode = source.stat().st_mode
    if stat.S_ISDIR(mode):
        raise Refusal(f"{path}: is a directory, expected a file")
    if not stat.S_ISREG(mode):
        raise Refusal(f"{path}: is not a regular file")
    if source.stat().st_size == 0:
        raise Refusal(f"{path}: is empty")
    return source


def check_output(path: str, source: Path | None, force: bool, follow_links: bool = False) -> Path:
    """Refuse an output that cannot be written, before any work is done for it."""
    # A link is followed: --force replaces its target, and the link stays.
    target = Path(os.path.realpath(path))
    folder = target.parent
    if not follow_links:
        check_inside(path, os.path.dirname(path))
    if not folder.is_dir():
        raise Refusal(f"{path}: the folder {folder} does not exist")
    if target.is_dir():
        raise Refusal(f"{path}: is a directory, expected a file name")
    if target.exists():
        if not target.is_file():
            raise Refusal(f"{path}: exists and is not a regular file")
        if not force:
            if source is not None and os.path.samefile(source, target):
                raise Refusal(f"{path}: is the input itself; --force overwrites it")
            raise Exists(f"{path}: exists already; --force overwrites it")
    elif os.path.islink(path) and not force:
        raise Refusal(f"{path}: is a link to a file that does not exist; --force creates it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Refusal(f"{path}: the folder {folder} is not writable")
    return target


def check_inside(path: str, folder: str) -> None:
    """Refuse an output in a folder that a link leads out of it: another folder's files would be replaced."""
    base, real = os.path.realpath(folder or os.curdir), os.path.realpath(path)
    if os.path.commonpath((base, real)) != base:
        named = folder or "this folder"
        raise Refusal(f"{path}: a link leads out of {named}, to {real}; --follow-links writes there")


def write_beside(target: Path, force: bool, write: Callable[[BinaryIO], None]) -> None:
    """Write a temporary file in the target's folder, then rename it. A failure leaves no file behind."""
    try:
        old = target.stat() if force and target.exists() else None
        # A file that replaces another is private until it has that file's permissions.
        with temporary(target.parent, 0o600 if old else 0o666) as (path, file):
            buffer = _Buffer(file)
            write(buffer)
            buffer.flush()
            if old:
                _take_access(file.fileno(), target, old)
            # Without fsync, a power cut (or a file server with a full disk) could leave an incomplete file in place.
            os.fsync(file.fileno())
            if force:
                os.replace(path, target)
            else:
                place_new(path, target)
    except OSError as error:
        # The original error names the temporary file, or none.
        raise OSError(error.errno, error.strerror or str(error), str(target)) from error


def is_temporary(name: str) -> bool:
    """Whether a file name is one of those that are given to unfinished files."""
    return name.startswith(BEGINNING) and name.endswith(ENDING)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of killed processes from a folder. Running processes hold a lock on theirs."""
    with contextlib.suppress(OSError):
        for path in folder.glob(f"{BEGINNING}*{ENDING}"):
            with contextlib.suppress(OSError):
                # Locks on network file systems need a descriptor that is open for writing.
                descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()
                finally:
                    os.close(descriptor)


@contextlib.contextmanager
def temporary(folder: Path, mode: int) -> Iterator[tuple[Path, io.FileIO]]:
    """Create a file that is locked while it is written, and removed afterwards unless it was renamed."""
    while True:
        path = folder / f"{BEGINNING}{os.urandom(8).hex()}{ENDING}"
        try:
            # open() applies the umask as for any new file; tempfile would create it with 0600.
            with open(path, "xb", 0, opener=lambda name, flags: os.open(name, flags, mode)) as file:
                with contextlib.suppress(OSError):  # some network file systems have no locks
                    fcntl.flock(file, fcntl.LOCK_EX)
                if not os.fstat(file.fileno()).st_nlink:
                    continue  # another process has removed it before it was locked
                _unfinished.add(path)
                yield path, file
                return
        finally:
            _unfinished.discard(path)
            with contextlib.suppress(FileNotFoundError):
                path.unlink()


def remove_unfinished() -> None:
    """Remove the temporary files of a thread that is not waited for."""
    for path in tuple(_unfinished):
        path.unlink(missing_ok=True)


def _take_access(descriptor: int, target: Path, old: os.stat_result) -> None:
    """Copy the owner, group and permissions of the replaced file, as far as the system allows."""
    mode = stat.S_IMODE(old.st_mode) & 0o777
    for owner in (old.st_uid, -1):
        with contextlib.suppress(OSError):
            os.fchown(descriptor, owner, old.st_gid)
            break
    else:
        mode &= ~0o070  # the group could not be kept, and another one must not get its permissions
    try:
        entries = os.getxattr(target, ACCESS_LIST)
    except (AttributeError, OSError):
        entries = b""
    with contextlib.suppress(OSError):  # FAT stores no permissions
        if entries:
            os.setxattr(descriptor, ACCESS_LIST, entries)
        os.fchmod(descriptor, mode)
