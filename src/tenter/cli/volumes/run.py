"""Make the blocks of a job in threads, and note each that is written."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import tenter
from tenter._parts.boxes import Box, computed, reads
from tenter.cli.volumes.blocks import Cut, Task, boxes, n_bytes, units
from tenter.cli.volumes.job import Job
from tenter.cli.volumes.progress import Progress, progress
from tenter.cli.volumes.shared import Claim, SharedChunks
from tenter.cli.volumes.stored import digest

#: Seconds after which what is done is made to survive a failure of power.
KEEP_SECONDS = 30.0
#: For which an interrupt waits for blocks that are being made. Those that take longer are made again.
ENDING_SECONDS = 0.3


class Count(NamedTuple):
    """blocks: in the job. there: those that an earlier run finished. made: the bytes that this run wrote."""

    blocks: int
    there: int
    made: int


def run(job: Job, tasks: list[Task], cuts: list[Cut]) -> Count:
    """Make the unfinished blocks of each task, in order: the first reads the input, and each other one what the one
    before it has made."""
    blocks = [list(boxes(task.op.shape_out, how.shape)) for task, how in zip(tasks, cuts)]
    todo = [_unfinished(job, number, task, some) for number, (task, some) in enumerate(zip(tasks, blocks))]
    left = sum(n_bytes(box, task.op) for task, some in zip(tasks, todo) for box in some)
    count = Count(sum(map(len, blocks)), 0, 0)
    job.open_journal()
    tenter.set_num_threads(1)  # there is a thread for each core
    try:
        with progress(left) as bar:
            for number, (task, how, some) in enumerate(zip(tasks, cuts, todo)):
                if number:  # the one before may have made some of what this one reads again
                    some = _unfinished(job, number, task, blocks[number])
                made = sum(n_bytes(box, task.op) for box in some)
                count = Count(count.blocks, count.there + len(blocks[number]) - len(some), count.made + made)
                shared = SharedChunks(task.source, task.op, how.shape, how.shared)
                _Workers(job, number, task, shared, bar).run(iter(some), min(how.threads, len(some)))
    except Exception:
        with contextlib.suppress(OSError):  # a full disk, which a block has reported
            job.keep()
        raise
    finally:
        tenter.set_num_threads(None)
    job.keep()
    return count


def is_as_read(job: Job, task: Task) -> bool:
    """Whether the input is still what all of the first task was made of."""
    return bool(np.all(_done(job, 0, task)))


def has_block(job: Job, task: Task) -> bool:
    """Whether a block of the first task is made of the input as it is now."""
    return any(_is_fresh(task, block, source) for block, source in job.done(0))


def _unfinished(job: Job, number: int, task: Task, blocks: list[Box]) -> list[Box]:
    done = _done(job, number, task)
    return [box for box in blocks if not np.all(done[_slices(units(box, task.target.unit))])]


def _done(job: Job, number: int, task: Task) -> npt.NDArray[np.bool_]:
    """Which units of a task's result are made of its source as it is now."""
    found = np.zeros([-(-n // u) for n, u in zip(task.op.shape_out, task.target.unit)], bool)
    for block, source in job.done(number):
        found[_slices(block)] = _is_fresh(task, block, source)
    return found


def _is_fresh(task: Task, block: Box, source: str) -> bool:
    """Whether what a block was made of is as it was. block: in units of the result."""
    box = tuple((lo * u, min(hi * u, n)) for (lo, hi), u, n in zip(block, task.target.unit, task.op.shape_out))
    read = reads(task.op, box)
    return digest(task.source.files(read) | _of_mask(task, read)) == source


def _of_mask(task: Task, read: Box) -> set[str]:
    return set() if task.op.gaps is None else task.op.gaps.files(read)


def _slices(block: Box) -> tuple[slice, ...]:
    return tuple(slice(lo, hi) for lo, hi in block)


class _Workers:
    """Threads that take blocks from one list until it ends or one of them fails."""

    def __init__(self, job: Job, number: int, task: Task, shared: SharedChunks, bar: Progress) -> None:
        self.job, self.number, self.task, self.shared, self.bar = job, number, task, shared, bar
        self.lock, self.ended, self.busy = threading.Lock(), threading.Event(), 0
        self.failed: BaseException | None = None
        self.stopped = self.given_up = False

    def run(self, todo: Iterator[Box], threads: int) -> None:
        self.busy = threads
        kept = time.monotonic()
        try:
            for _ in range(threads):
                threading.Thread(target=self._work, args=(todo,), daemon=True).start()
            # Not by join: before Python 3.13, one that is interrupted takes its thread for ended.
            while threads and not self.ended.wait(0.05):
                self.bar.show()
                if time.monotonic() - kept > KEEP_SECONDS:
                    self.job.keep()
                    kept = time.monotonic()
        except BaseException as error:
            self.stopped = True
            self.ended.wait(ENDING_SECONDS if isinstance(error, KeyboardInterrupt) else None)
            with self.lock:
                self.given_up = True
            raise
        if self.failed is not None:
            raise self.failed

    def _work(self, todo: Iterator[Box]) -> None:
        try:
            self._take(todo)
        finally:
            with self.lock:
                self.busy -= 1
                if not self.busy:
                    self.ended.set()

    def _take(self, todo: Iterator[Box]) -> None:
        try:
            while not self.stopped:
                with self.lock:
                    if (box := next(todo, None)) is None:
                        return
                    claim = self.shared.claim(box, reads(self.task.op, box))
                self._make(box, claim)
        except BaseException as error:
            self.failed = self.failed or error
            self.stopped = True

    def _make(self, box: Box, claim: Claim) -> None:
        task = self.task
        of_mask = _of_mask(task, reads(task.op, box))  # before it is read, as a change meanwhile must be seen later
        pixels, files = self.shared.read(claim)
        task.target.write(box, computed(task.op, box, pixels))
        with self.lock:
            if self.given_up:  # the journal is closed
                return
            self.job.add(self.number, units(box, task.target.unit), digest(files | of_mask))
            self.bar.made += n_bytes(box, task.op)
