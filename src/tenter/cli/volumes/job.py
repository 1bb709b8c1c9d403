"""A job that can be ended at any moment and continued: its working folder, and the journal of what is done.

The result grows in a hidden folder next to the output, `.NAME.MARK.tenter-part`, so that no program takes an unfinished
array for a complete one: a chunk that is missing reads as zeros. MARK shows that this user's job made the folder
(`mark.py`). There `job` says what the job is, `journal` which blocks are done. Once all are, the result is renamed to
its place. All that a job removes is in its working folder, or was moved there by it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tenter._parts.boxes import Box
from tenter.cli.place import place_new
from tenter.cli.refusal import Refusal
from tenter.cli.volumes import mark

SUFFIX = ".tenter-part"
LAST = {"job": 1, "finished": 2}
#: In each line of the journal, what is before the state of the source; and what ends it: a line without was cut off.
OF, END = " of ", " ."


class Job:
    """The open job of one output. The lock that it holds ends with the process."""

    def __init__(self, folder: Path, about: dict[str, Any], lock: int) -> None:
        self.folder, self.about, self._lock = folder, about, lock
        self.problem = mark.key().problem
        self._journal = -1

    @property
    def is_known(self) -> bool:
        """Whether a working folder of just this job is there."""
        return bool(self._recorded() == self.about)

    @property
    def is_other(self) -> bool:
        """Whether the working folder is another job's."""
        return self._recorded() not in (None, self.about)

    @property
    def is_kept(self) -> bool:
        """Whether another process would find this folder."""
        return not self.problem

    def begin(self) -> None:
        """Forget what is there, if anything. What says that all is made goes last."""
        entries = sorted(self.folder.iterdir(), key=lambda path: LAST.get(path.name, 0))
        for path in entries:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def record(self) -> None:
        """Write down what the job is. What it needs in the folder is there now."""
        text = json.dumps(self.about, indent=1)
        with open(self.folder / "job.new", "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.folder / "job.new", self.folder / "job")

    @property
    def is_finished(self) -> bool:
        """Whether all is made, and some of it may be in its place already."""
        return (self.folder / "finished").exists()

    def finish(self) -> None:
        """Note that all is made."""
        (self.folder / "finished").touch()

    def open_journal(self) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self._journal = os.open(self.folder / "journal", flags, 0o666)
        self._write(f"\nboot {_boot()}\n")  # on a new line, even if the last line was cut off

    def add(self, task: int, block: Box, source: str) -> None:
        """Note a block, in units of the output, that is written. source: for the state of what it was made of."""
        self._write(f"{task} {' '.join(f'{lo}:{hi}' for lo, hi in block)}{OF}{source}{END}\n")

    def keep(self) -> None:
        """Make sure that what is noted survives a failure of power too."""
        _flush(self.folder)
        self._write(f"kept {_boot()}\n")
        os.fsync(self._journal)

    def done(self, task: int) -> Iterator[tuple[Box, str]]:
        """The blocks of an array that are written, from first to last, and the state of what each was made of. Of a
        block that was made again, the last counts."""
        return ((block, source) for number, block, source in self._noted() if number == task)

    def end(self) -> None:
        """Remove the working folder."""
        self.begin()
        self.folder.rmdir()

    def release(self) -> None:
        """Let other processes continue the job."""
        for descriptor in (self._journal, self._lock):
            if descriptor >= 0:
                os.close(descriptor)

    def forget(self) -> None:
        """Have no process continue the job."""
        (self.folder / "job").unlink()

    def leave_nothing(self) -> None:
        """Remove the working folder of a job that is not continued."""
        with contextlib.suppress(OSError):  # a thread may still write
            self.end()

    def _recorded(self) -> Any:
        try:
            return json.loads((self.folder / "job").read_text())
        except (OSError, ValueError):
            return None

    def _noted(self) -> Iterator[tuple[int, Box, str]]:
        """The blocks of the journal that are on the disk for certain: those of this boot, and those before a `kept`."""
        try:
            text = (self.folder / "journal").read_text()
        except OSError:
            return
        lines = text.split("\n")[:-1]
        kept = max((k for k, line in enumerate(lines) if line.startswith("kept ")), default=-1)
        boot = None
        for k, line in enumerate(lines):
            word, _, rest = line.partition(" ")
            if word == "boot":
                boot = rest
            elif rest.endswith(END) and (k < kept or (boot == _boot() != "")):
                block, _, source = rest.removesuffix(END).partition(OF)
                ends = (part.split(":") for part in block.split())
                yield int(word), tuple((int(lo), int(hi)) for lo, hi in ends), source

    def _write(self, text: str) -> None:
        data = text.encode()
        try:
            while data:
                data = data[os.write(self._journal, data) :]
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.folder / "journal")) from error


def working_folder(output: Path, within: Path | None = None) -> Path:
    """The working folder of an output's job. within: the folder that it is in, if not the output's."""
    parent = within or output.parent
    path = os.path.join(os.path.realpath(parent), output.name)
    return parent / f".{output.name}.{mark.mark(path)}{SUFFIX}"


def open_job(output: Path, about: dict[str, Any], within: Path | None = None) -> Job:
    """The job of an output, locked. Refuse while another process works on it."""
    folder = working_folder(output, within)
    while True:
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise _not_ours(folder, folder) from None
            raise
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise Refusal(f"{output}: another process is making it") from None
        except OSError:
            pass  # some network file systems have no locks
        if os.fstat(lock).st_nlink:
            try:
                _check_plain(folder)
            except BaseException:
                os.close(lock)
                raise
            return Job(folder, about, lock)
        os.close(lock)  # another process has removed it before it was locked


def _check_plain(folder: Path) -> None:
    """Refuse a working folder that holds anything except files and folders: a job makes nothing else, and someone who
    knows the folder's name may have put links there."""
    for at, folders, files in os.walk(folder):
        for name in (*folders, *files):
            mode = os.lstat(path := os.path.join(at, name)).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise _not_ours(folder, path)


def _not_ours(folder: Path, path: str | Path) -> Refusal:
    return Refusal(f"{path}: no command makes such a file in a working folder; remove {folder} to start over")


def put_in_place(made: Path, target: Path, force: bool, old: Path) -> None:
    """Rename a finished result to its place. old: where what it replaces goes meanwhile."""
    remove_partial(made)
    _flush(made.parent)
    if target.exists() and os.path.samefile(made, target):
        made.unlink()  # a process was ended after it had made the second name of the file
        return
    if force and os.path.lexists(target):
        if not made.is_dir() and target.is_file():
            os.chmod(made, stat.S_IMODE(target.stat().st_mode))
            os.replace(made, target)
            return
        if old.exists():
            shutil.rmtree(old)
        os.rename(target, old)
    place_new(made, target)


def remove_partial(folder: Path) -> None:
    """Remove the temporary files of zarr that a killed process or a failed write has left."""
    if folder.is_dir():
        for path in folder.rglob("*.partial"):
            path.unlink(missing_ok=True)


def _boot() -> str:
    """What names the time since the system was started; empty where nothing does."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _flush(folder: Path) -> None:
    """Write to the disk what the system holds of this file system: chunks, and the names of files."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if ctypes.CDLL(None).syncfs(descriptor) == 0:
            return
    except (AttributeError, OSError):
        pass
    finally:
        os.close(descriptor)
    os.sync()
