"""`tenter resize` of many files: which files are read, and which file is written for each."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tenter._specs.placement import Wanted
from tenter.cli.first_bytes import ending_of_output, is_image, split_ending, type_of_input
from tenter.cli.formats import FORMATS, HEIF_ENDINGS
from tenter.cli.naming import ENDING, LAST, STEM, Asked, check_names, check_told_apart, name_of, template_of
from tenter.cli.not_read import check_known, ending_of
from tenter.cli.output import check_input, check_inside, is_temporary
from tenter.cli.refusal import Refusal, one_line

WILD = "*?["
#: What --format takes, and the ending of the files' names.
SUFFIXES = {ending[1:]: ending for ending in (*FORMATS, ".npy")}


#: How folders that are not entered are counted.
FOLDERS = "subfolder(s), see --recursive"


class Task(NamedTuple):
    """A file to read and one to write, and its size, as in `Options.wanted`."""

    source: str
    output: str
    wanted: Wanted | None = None


class Plan(NamedTuple):
    """The outputs, those of one input one after another; those that have the name of another, and why they are not
    written; and how many files are not read of each kind: by the ending of their names, hidden ones, folders."""

    tasks: list[Task]
    clashes: dict[Task, str]
    left_out: Counter[str]


def is_many(inputs: list[str], output: str) -> bool:
    """Whether OUT may be several files: IN is several, a folder or a pattern, or OUT is named as a folder, or has
    fields."""
    if len(inputs) > 1 or _is_pattern(inputs[0]) or Path(inputs[0]).is_dir() or output.endswith(os.sep):
        return True
    if template_of(output).parts:
        return True
    # A folder whose name ends like an image's is more likely a mistake.
    return Path(output).is_dir() and Path(output).suffix.lower() not in (".npy", *FORMATS)


def plan(
    inputs: list[str], output: str, recursive: bool, formats: tuple[str, ...] | None, sizes: tuple[Asked, ...]
) -> Plan:
    """The files to resize into the folder `output`, or by names with fields, each output from one input."""
    suffixes = [SUFFIXES[format_] for format_ in formats] if formats else None
    check_names(output, sizes, suffixes)
    template = template_of(output)
    folder = _check_folder(inputs, template.folder)
    left_out: Counter[str] = Counter()
    found = list(_sources(inputs, folder, recursive, left_out))
    if template.parts:
        _check_apart(inputs, output, folder)
        check_told_apart(output, [source for source, _ in found])
    tasks = []
    for source, relative in found:
        below, name = os.path.split(relative)
        stem, own = split_ending(name)
        endings = suffixes or [ending_of_output(Path(source), source)]
        for size in sizes:
            for suffix in endings:
                plain = str(folder / below / (stem + suffix))
                target = name_of(template, below, stem, suffix, size, own) if template.parts else plain
                tasks.append(Task(source, target, size.wanted))
    hint = "OUT tells" if template.parts else f"OUT, such as '{folder / f'{{{STEM}}}-{{{ENDING}}}{LAST}'}', tells"
    return Plan(*_without_clashes(tasks, f"; {{{ENDING}}} in {hint} them apart"), left_out)


def _check_apart(inputs: list[str], output: str, folder: Path) -> None:
    """Refuse names with fields within a folder that is read: the next run would read them too."""
    for name in inputs:
        if Path(name).is_dir() and _same(name, folder):
            raise Refusal(f"{output}: expected names in another folder than {name}, whose images are read")


def check_links(tasks: list[Task], output: str) -> None:
    """Refuse outputs that links in the folder `output` lead out of it."""
    for task in tasks:
        check_inside(task.output, output)


def check_inputs_safe(tasks: list[Task], existing: list[Task], force: bool) -> None:
    """Refuse outputs that would overwrite an input. The input of another task may not have been read yet, so that is
    always refused; a task may overwrite its input if forced."""
    sources = {_identity(task.source): task for task in tasks if os.path.exists(task.source)}
    outputs = Counter(task.source for task in tasks)
    for task in existing:
        clash = sources.get(_identity(task.output)) if os.path.exists(task.output) else None
        alone = clash is not None and clash.source == task.source and outputs[task.source] == 1
        if clash is None or (force and alone):
            continue
        what = "is the input itself; --force overwrites it" if alone else f"is an input too, for {clash.output}"
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


def _sources(inputs: list[str], folder: Path, recursive: bool, left_out: Counter[str]) -> Iterator[tuple[str, str]]:
    """Each input, and its name, or its path relative to the folder or the pattern."""
    for name in inputs:
        if _is_pattern(name):
            found, base = _matches(name, left_out), _fixed_part(name)
        elif Path(name).is_dir():
            found, base = _pictures(name, recursive, folder, left_out), name
        else:
            if os.path.exists(name) and not split_ending(name)[1]:  # others fail alone, when it is their turn
                type_of_input(check_input(name), name)
            found, base = [name], os.path.dirname(name)
        for source in found:
            relative = os.path.relpath(source, base or os.curdir)
            if relative.split(os.sep)[0] == os.pardir:
                raise Refusal(f"{name}: {source} is not below {base or os.curdir}, as its output must be below OUT")
            yield source, relative


def _matches(pattern: str, left_out: Counter[str]) -> list[str]:
    files = sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
    found = [path for path in files if Path(path).suffix.lower() == ".npy" or is_image(path)]
    left_out.update(_kind(path) for path in files if path not in set(found))
    if not found:
        for path in files:
            check_known(path)
        raise Refusal(f"{pattern}: matches no image and no .npy file")
    return found


def _fixed_part(pattern: str) -> str:
    """The leading folders of a pattern that hold no wildcard."""
    parts = pattern.split(os.sep)
    first = next(k for k, part in enumerate(parts) if any(c in WILD for c in part))
    return os.sep.join(parts[:first]) or (os.sep if pattern.startswith(os.sep) else "")


def _kind(path: str) -> str:
    """How a file that is not read is counted."""
    return ending_of(path) or "without an ending"


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


def _without_clashes(tasks: list[Task], hint: str) -> tuple[list[Task], dict[Task, str]]:
    """The tasks whose output is that of one input, and those of several, none of which is written: the first would be
    the one that is meant by chance. An input that is named twice counts once. hint: how endings tell inputs apart."""
    by_target: dict[str, dict[str, Task]] = {}
    for task in tasks:
        by_target.setdefault(os.path.realpath(task.output), {}).setdefault(os.path.realpath(task.source), task)
    alone = [task for same in by_target.values() for task in same.values() if len(same) == 1]
    clashes = {}
    for same in by_target.values():
        for task in same.values() if len(same) > 1 else ():
            others = ", ".join(other.source for other in same.values() if other is not task)
            apart = len({split_ending(other.source)[1] for other in same.values()}) == len(same)
            said = f"{task.source}: {task.output} would be written from {others} too"
            clashes[task] = said + hint if apart else said
    return alone, clashes


def _identity(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino
