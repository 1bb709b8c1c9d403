"""The commands `tenter resize` and `tenter repeat`. Each takes the parsed arguments and returns the exit code."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tenter
from tenter.cli.arrays import read_npy, write_npy
from tenter.cli.folders import check_inputs_safe, is_many, plan
from tenter.cli.options import Options, read_jobs, read_options
from tenter.cli.output import check_input, check_output, remove_leftovers, write_beside
from tenter.cli.pictures import is_npy
from tenter.cli.refusal import Refusal, one_line, require
from tenter.cli.resize import resize_file
from tenter.cli.sizes import check_fits
from tenter.cli.streams import say
from tenter.cli.workers import run


def resize_command(args: argparse.Namespace) -> int:
    """Carry out `tenter resize`."""
    options = read_options(args)
    if len(args.paths) < 2:
        raise Refusal("expected IN and OUT, got one name (see tenter resize --help)")
    *inputs, output = args.paths
    if is_many(inputs, output):
        return _resize_many(inputs, output, args, options)
    if args.format:
        raise Refusal("--format: goes with a folder as OUT; the ending of a file's name says its type")
    source = check_input(inputs[0])
    is_npy(inputs[0]), is_npy(output)
    remove_leftovers(Path(os.path.realpath(output)).parent)
    if not (args.skip_existing and Path(output).is_file()):
        resize_file(source, output, options)
    return 0


def _resize_many(inputs: list[str], output: str, args: argparse.Namespace, options: Options) -> int:
    """Resize all inputs into the folder `output`, print a summary, and return 1 if a file failed, else 0."""
    jobs = read_jobs(args.jobs)
    tasks = plan(inputs, output, args.recursive, args.format)
    if not all(is_npy(name) for task in tasks for name in task):
        require("PIL")
    existing = [task for task in tasks if os.path.lexists(task.output)]
    check_inputs_safe(tasks, existing, options.force)
    if existing and not (options.force or args.skip_existing):
        more = f" (and {len(existing) - 1} more)" if len(existing) > 1 else ""
        raise Refusal(f"{existing[0].output}: exists already{more}; --force overwrites, --skip-existing leaves it")
    for folder in {os.path.dirname(os.path.realpath(task.output)) for task in tasks}:
        remove_leftovers(Path(folder))
    skipped = set(existing) if args.skip_existing else set()
    todo = [task for task in tasks if task not in skipped]
    failures = run(todo, options, jobs)
    for task, reason in failures:
        named = reason.startswith(f"{one_line(task.source)}:")
        say(reason if named else f"{task.source}: {reason}")
    print(f"{len(todo) - len(failures)} done, {len(skipped)} skipped, {len(failures)} failed")
    return 1 if failures else 0


def repeat_command(args: argparse.Namespace) -> int:
    """Carry out `tenter repeat`."""
    source = check_input(args.input)
    for path in (args.input, args.output):
        if Path(path).suffix.lower() != ".npy":
            raise Refusal(f"{path}: expected a file name that ends in .npy")
    target = check_output(args.output, source, args.force)
    array = read_npy(source)
    counts = _read_counts(args.counts)
    _check_total(array, counts, args.dim)
    result = tenter.repeat_interleave(array, counts, dim=args.dim)
    remove_leftovers(target.parent)
    write_beside(target, args.force, lambda file: write_npy(file, result))
    return 0


def _read_counts(text: str) -> int | npt.NDArray[Any]:
    if text.lower().endswith(".npy"):
        return read_npy(check_input(text))
    try:
        return int(text)
    except ValueError:
        raise Refusal(f"--counts: expected a whole number or a .npy file, got {text!r}") from None


def _check_total(array: npt.NDArray[Any], counts: int | npt.NDArray[Any], dim: int | None) -> None:
    """Refuse a result that memory cannot hold. The library checks everything else about the counts."""
    if not array.size or np.asarray(counts).dtype.kind not in "iu":
        return
    if np.size(counts) == 1:
        total = int(np.asarray(counts).item()) * array.nbytes
    else:
        length = array.size if dim is None else array.shape[dim] if -array.ndim <= dim < array.ndim else 1
        # Sums of floats do not overflow, and are exact enough here.
        total = int(np.sum(counts, dtype=np.float64)) * (array.nbytes // max(length, 1))
    check_fits(total, "the repeated array")
