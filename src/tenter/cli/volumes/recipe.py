"""Begin a job or continue it, and put its result in place."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tenter.cli.refusal import Refusal, first_line
from tenter.cli.volumes import memory, zarrs
from tenter.cli.volumes.blocks import Task, cut
from tenter.cli.volumes.job import SUFFIX, Job, open_job, remove_partial, working_folder
from tenter.cli.volumes.run import Count, has_block, is_as_read, run


class How(NamedTuple):
    """What the options say: bytes, a number of threads, whether outputs are replaced, and whether nothing is
    written."""

    memory_limit: int
    threads: int
    force: bool
    is_dry: bool = False


class Recipe(NamedTuple):
    """How one output is made. about: what it is, in plain values. within: where its working folder is, if not next to
    the output. check: refuses an output that is in the way. make: makes the arrays, still without elements, in a
    folder. tasks: opens them, in the order in which they are filled: the first is made of the input, each other one of
    the one before it. place: moves what is made from the working folder
    to the output; it may have been ended in the middle before."""

    output: Path
    about: dict[str, Any]
    within: Path | None
    check: Callable[[], None]
    make: Callable[[Path], None]
    tasks: Callable[[Path], list[Task]]
    place: Callable[[Path], None]


class Ended(NamedTuple):
    """What a job took: seconds, bytes at most in memory, and the blocks and bytes that it has written."""

    seconds: float
    peak: int
    blocks: Count


def carry_out(recipe: Recipe, how: How) -> Ended | None:
    """Do what is left of a job. Returns what it took; None where it was to be planned alone."""
    if how.is_dry:
        recipe.check()
        return None
    start = time.monotonic()
    if not working_folder(recipe.output, recipe.within).exists():
        recipe.check()
    try:
        job = open_job(recipe.output, recipe.about, recipe.within)
        try:
            count = _finish(recipe, how, job)
        finally:
            job.release()
    except OSError as error:
        raise _named(error, recipe.output) from error
    return Ended(time.monotonic() - start, memory.peak(), count)


def _finish(recipe: Recipe, how: How, job: Job) -> Count:
    if job.is_other and not how.force:
        raise Refusal(
            f"{recipe.output}: a job of other arguments or of another input was not finished (in {job.folder}); "
            "repeat it to finish it, or start over by --force"
        )
    is_new = not job.is_known
    if not is_new and job.is_finished and _has_changed(recipe, job):
        if not how.force:
            what = f"its input changed after it was made (in {job.folder})"
            raise Refusal(f"{recipe.output}: {what}; --force starts over")
        is_new = True
    count = Count(0, 0, 0)
    try:
        if is_new:
            recipe.check()
            job.begin()
            recipe.make(job.folder)
        if not job.is_finished:
            count = _run(recipe, how, job, is_new)
            job.finish()
    except BaseException:
        if not job.is_known or not job.is_kept:
            job.leave_nothing()
        raise
    recipe.place(job.folder)
    zarrs.consolidate_above(recipe.output, job.folder)
    job.end()
    return count


def _run(recipe: Recipe, how: How, job: Job, is_new: bool) -> Count:
    if not is_new:
        remove_partial(job.folder)
    zarrs.one_chunk_at_a_time()
    tasks = recipe.tasks(job.folder)
    elements = sum(
        math.prod(shape) * task.op.dtype.itemsize for task in tasks for shape in (task.op.shape, task.op.shape_out)
    )
    room = memory.room(how.memory_limit, elements)
    cuts = [cut(task, room, how.threads) for task in tasks]
    memory.choose_freed(max(how.n_bytes for how in cuts), room)
    if is_new:
        job.record()
    try:
        with zarrs.bounded([stored for task in tasks for stored in (task.source, task.target)]):
            count = run(job, tasks, cuts)
        if not is_as_read(job, tasks[0]):
            raise Refusal(f"{tasks[0].source.name}: changed while it was read")
        return count
    except KeyboardInterrupt:
        then = "the same command continues" if job.is_kept else f"nothing is kept ({job.problem})"
        raise KeyboardInterrupt(f"; {then}") from None
    except Exception as failed:
        error = _named(failed, recipe.output)
        remove_partial(job.folder)
        if not job.is_kept or not has_block(job, tasks[0]):
            job.forget()  # what is wrong may be wrong for good
            raise Refusal(first_line(error)) from failed
        raise Refusal(f"{first_line(error)}; what is done is kept, and the same command continues") from failed


def _named(error: Exception, output: Path) -> Exception:
    """An error with the name of the output, where the system names a file of the working folder or none."""
    if not isinstance(error, OSError) or not error.errno:
        return error
    is_ours = error.filename is None or SUFFIX in str(error.filename)
    return OSError(error.errno, error.strerror, str(output)) if is_ours else error


def _has_changed(recipe: Recipe, job: Job) -> bool:
    """Whether the input is another one than a result that is made, and still in its working folder, was made of."""
    try:
        tasks = recipe.tasks(job.folder)
    except Exception:  # some of it is in its place already
        return False
    has_journal = next(job.done(0), None) is not None  # else all of it is in its place, and a process was ended here
    return has_journal and not is_as_read(job, tasks[0])


def check_new(output: Path, inputs: list[str], force: bool, is_zarr: bool, makes_parent: bool = False) -> None:
    """Refuse an output that cannot be written, or is an input or inside one. is_zarr: whether it is zarr, or a file.
    makes_parent: whether its folder is made with it."""
    parent = output.parent
    if not makes_parent and not parent.is_dir():
        raise Refusal(f"{output}: the folder {parent} does not exist")
    real = os.path.realpath(output)
    for path in inputs:
        source = os.path.realpath(path)
        if real == source or _inside(real, source) or _inside(source, real):
            raise Refusal(f"{output}: is the input, or in the same folder as its chunks")
    if os.path.lexists(output) and not force:
        raise Refusal(f"{output}: exists already; --force overwrites it")
    if os.path.lexists(output) and is_zarr and not zarrs.is_zarr(str(output)):
        raise Refusal(f"{output}: exists and is not zarr")
    if not is_zarr and output.is_dir():
        raise Refusal(f"{output}: is a directory, expected a file name")


def _inside(path: str, folder: str) -> bool:
    return path.startswith(folder + os.sep)
