"""`tenter resize` of many files: which files are read, and which file is written for each."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tenter.cli.first_bytes import ending_of_output, is_image, type_of_input, with_ending
from tenter.cli.formats import FORMATS, HEIF_ENDINGS
from tenter.cli.output import check_inside, is_temporary
from tenter.cli.refusal import Refusal, one_line

WILD = "*?["
#: What --format takes, and the ending of the files' names.
SUFFIXES = {ending[1:]: ending for ending in (*FORMATS, ".npy")}


#: How folders that are not entered are counted.
FOLDERS = "subfolder(s), see --recursive"


class Task(NamedTuple):
    """A file to read and one to write."""

    source: str
    output: str


def is_many(inputs: list[str], output: str) -> bool:
    """Whether OUT is a folder: there are several inputs, or one is a folder or a pattern, or OUT is named as one."""
    if len(inputs) > 1 or _is_pattern(inputs[0]) or Path(inputs[0]).is_dir() or output.endswith(os.sep):
        return True
    # A folder whose name ends like an image's is more likely a mistake.
    return Path(output).is_dir() and Path(output).suffix.lower() not in (".npy", *FORMATS)


def plan(inputs: list[str], output: str, recursive: bool, format_: str | None) -> tuple[list[Task], Counter[str]]:
    """The files to resize into the folder `output`, each output from one input; and how many others there are of each
    kind: by the ending of their names, hidden ones, folders."""
    folder = _check_folder(inputs, output)
    suffix = SUFFIXES[format_] if format_ else None
    left_out: Counter[str] = Counter()
    return _without_clashes(_tasks(inputs, folder, recursive, suffix, left_out)), left_out


def check_links(tasks: list[Task], output: str) -> None:
    """Refuse outputs that links in the folder `output` lead out of it."""
    for task in tasks:
        check_inside(task.output, output)


def check_inputs_safe(tasks: list[Task], existing: list[Task], force: bool) -> None:
    """Refuse outputs that would overwrite an input. The input of another task may not have been read yet, so that is
    always refused; a task may overwrite its input if forced."""
    sources = {_identity(task.source): task for task in tasks if os.path.exists(task.source)}
    for task in existing:
        clash = sources.get(_identity(task.output)) if os.path.exists(task.output) else None
        if clash is None or (force and clash == task):
            continue
        what = "is the input itself; --force overwrites it" if clash == task else f"is an input too, for {clash.output}"
        raise Refusal(f"{task.output}: {what}")


def _check_folder(inputs: list[str], output: str) -> Path:
    """Refuse an OUT that is not a folder. A missing one is created later, unless it is named as a file."""
    folder = Path(output)
    if folder.is_dir():
        return folder
    if folder.exists():
        raise Refusal(f"{output}: is a file, expected a folder")
    if not output.endswith(os.sep) and folder.suffix.lower() in (".npy", *FORMATS):
        several = f"{inputs[0]} is a directory" if Path(inputs[0]).is_dir() else "there may be several inputs"
        raise Refusal(f"{output}: expected a folder, as {several}; end its name in {os.sep} to create it")
    return folder


def _is_pattern(name: str) -> bool:
    return any(c in WILD for c in name) and not os.path.lexists(name)


def _tasks(
    inputs: list[str], folder: Path, recursive: bool, suffix: str | None, left_out: Counter[str]
) -> Iterator[Task]:
    """Each input and its output: the input's name, or its path relative to the folder or the pattern."""
    for name in inputs:
        if _is_pattern(name):
            found, base = _matches(name, left_out), _fixed_part(name)
        elif Path(name).is_dir():
            found, base = _pictures(name, recursive, folder, left_out), name
        else:
            if Path(name).is_file():  # one that is not there fails alone, when it is its turn
                type_of_input(Path(name), name)
            found, base = [name], os.path.dirname(name)
        for source in found:
            relative = os.path.relpath(source, base or os.curdir)
            if relative.split(os.sep)[0] == os.pardir:
                raise Refusal(f"{name}: {source} is not below {base or os.curdir}, as its output must be below OUT")
            ending = suffix or ending_of_output(Path(source), source)
            yield Task(source, str(folder / with_ending(relative, ending)))


def _matches(pattern: str, left_out: Counter[str]) -> list[str]:
    files = sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
    found = [path for path in files if Path(path).suffix.lower() == ".npy" or is_image(path)]
    left_out.update(_kind(path) for path in files if path not in set(found))
    if not found:
        raise Refusal(f"{pattern}: matches no image and no .npy file")
    return found


def _fixed_part(pattern: str) -> str:
    """The leading folders of a pattern that hold no wildcard."""
    parts = pattern.split(os.sep)
    first = next(k for k, part in enumerate(parts) if any(c in WILD for c in part))
    return os.sep.join(parts[:first]) or (os.sep if pattern.startswith(os.sep) else "")


def _kind(path: str) -> str:
    """How a file that is not read is counted."""
    return Path(path).suffix.lower() or "without an ending"


def _pictures(name: str, recursive: bool, output: Path, left_out: Counter[str]) -> list[str]:
    """The images in a folder, without hidden files and without the output folder."""
    found: list[str] = []
    for folder, subfolders, files in os.walk(name, onerror=_refuse_unreadable):
        inner = [s for s in subfolders if not s.startswith(".") and not _same(os.path.join(folder, s), output)]
        left_out["hidden"] += sum(f.startswith(".") and not is_temporary(f) for f in files + subfolders)
        subfolders[:] = sorted(inner) if recursive else []
        shown = [f for f in files if not f.startswith(".")]
        pictures = {f for f in shown if is_image(os.path.join(folder, f))}
        left_out.update(_kind(f) for f in shown if f not in pictures)
        left_out[FOLDERS] += 0 if recursive else len(inner)
        found += [os.path.join(folder, f) for f in sorted(pictures)]
    left_out -= Counter()  # drops kinds with a count of 0
    if not found:
        hint = "" if recursive else "; --recursive includes its subfolders"
        there = f"; not read: {counted(left_out)}" if left_out else ""
        raise Refusal(f"{name}: contains no image ({' '.join(FORMATS)}){hint}{there}")
    return found


def counted(left_out: Counter[str]) -> str:
    """Files that are not read, by kind, in words."""
    needs = {ending: " (pillow-heif reads these)" for ending in HEIF_ENDINGS if ending not in FORMATS}
    return ", ".join(f"{n} {one_line(kind)}{needs.get(kind, '')}" for kind, n in sorted(left_out.items()))


def _refuse_unreadable(error: OSError) -> None:
    raise error


def _same(path: str, other: Path) -> bool:
    return other.exists() and os.path.samefile(path, other)


def _without_clashes(tasks: Iterator[Task]) -> list[Task]:
    """Refuse two inputs with the same output. An input that is named twice counts once."""
    by_target: dict[str, Task] = {}
    for task in tasks:
        first = by_target.setdefault(os.path.realpath(task.output), task)
        if os.path.realpath(first.source) != os.path.realpath(task.source):
            raise Refusal(f"{task.output}: would be written from both {first.source} and {task.source}")
    return list(by_target.values())


def _identity(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino
