"""Resize many files in several processes. A file that fails, or ends its process, is reported; the others go on."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from multiprocessing import connection, get_context, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import tenter
from tenter.cli.folders import Task
from tenter.cli.interrupts import WAIT_SECONDS, interruptible
from tenter.cli.options import Options
from tenter.cli.output import check_input, remove_leftovers
from tenter.cli.reading.opening import Decoded
from tenter.cli.refusal import Exists, first_line
from tenter.cli.resize import resize_file
from tenter.cli.streams import STDERR, quiet
from tenter.cli.summary import Outcome

Report = Callable[[Outcome], None]
#: A fork has all modules already, whose import takes longer than some images. Only on Linux is it safe.
METHOD: Any = "fork" if sys.platform == "linux" else "spawn"
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
KEPT = 1 << 28  # bytes
ENDING_SECONDS = 0.2  # for which an interrupt waits for processes, which may be within an encoder


def run(tasks: list[Task], options: Options, jobs: int) -> list[Outcome]:
    """Carry out every task. Return what became of each."""
    finished: dict[Task, Outcome] = {}
    with _progress(len(tasks)) as advance:

        def report(outcome: Outcome) -> None:
            finished[outcome.task] = outcome
            advance()

        try:
            jobs = min(jobs, len(_by_source(tasks)))
            if jobs > 1:
                _in_processes(tasks, options, jobs, report)
            else:
                for batch in _by_source(tasks):
                    decoded = _shared(batch)
                    for task in batch:
                        report(interruptible(partial(_attempt, task, options, decoded)))
        except KeyboardInterrupt:
            failed = sum(outcome.error is not None for outcome in finished.values())
            less = f" ({failed} failed)" if failed else ""
            how = "" if options.force else "; --skip-existing continues"  # which would keep what was to be overwritten
            text = f" after {len(finished)} of {len(tasks)} files{less}{how}"
            raise KeyboardInterrupt(text) from None
    return [finished[task] for task in tasks]


def _by_source(tasks: list[Task]) -> list[list[Task]]:
    """The tasks with one input, which is decoded once for all of them."""
    return [list(same) for _, same in groupby(tasks, lambda task: task.source)]


def _shared(batch: list[Task]) -> Decoded | None:
    """What is decoded for one task is kept for the next ones."""
    return [] if len(batch) > 1 else None


def _attempt(task: Task, options: Options, decoded: Decoded | None = None) -> Outcome:
    try:
        source = check_input(task.source)
        _make_folder(task.output)
        sized = options._replace(wanted=task.wanted)
        return Outcome(task, "done", *resize_file(source, task.output, sized, decoded=decoded))
    except Exception as error:
        if options.skip_existing and isinstance(error, Exists):
            return Outcome(task, "skipped")
        # One failure must not stop the other files.
        return Outcome(task, "failed", error=first_line(error))


def _make_folder(output: str) -> None:
    try:
        os.makedirs(os.path.dirname(output) or os.curdir, exist_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, output) from error


def _in_processes(tasks: list[Task], options: Options, jobs: int, report: Report) -> None:
    waiting = deque(_by_source(tasks))
    busy: dict[Any, tuple[Any, list[Task]]] = {}  # with the tasks that are not reported yet
    started: list[Any] = []

    def give(process: Any, pipe: Any) -> None:
        if not waiting:
            pipe.close()  # the process ends when it reads the end of the pipe
            return
        batch = waiting.popleft()
        busy[pipe] = (process, batch)
        with contextlib.suppress(OSError):  # if the process has ended, the read below reports it
            pipe.send(batch)

    def start() -> None:
        process, pipe = _start(options, [*busy])
        started.append(process)
        give(process, pipe)

    try:
        for _ in range(jobs):
            start()
        while busy:
            ready: list[Any] = connection.wait(list(busy), WAIT_SECONDS)
            for pipe in ready:
                process, batch = busy.pop(pipe)
                try:
                    outcome = pipe.recv()
                except (EOFError, OSError):
                    for task in batch:
                        report(Outcome(task, "failed", error=_exit_reason(process, task)))
                    if waiting:
                        start()
                    continue
                report(outcome)
                if len(batch) > 1:
                    busy[pipe] = (process, batch[1:])
                else:
                    give(process, pipe)
    finally:
        for process in started if busy else ():
            process.terminate()  # its handler raises SystemExit, which removes its temporary file
        end = time.monotonic() + (ENDING_SECONDS if busy else 10)
        for process in started:
            process.join(max(0, end - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()
        for _, batch in busy.values():
            _remove_leftovers(batch[0])


def _start(options: Options, others: Sequence[Connection] = ()) -> tuple[Any, Any]:
    """A process, and our end of its pipe. others: our ends of other pipes, which a fork must not keep open."""
    context = get_context(METHOD)
    ours, theirs = context.Pipe()
    inherited = [*others, ours] if METHOD == "fork" else []
    process = context.Process(target=_begin, args=(_work, theirs, options, inherited), daemon=True)
    # The terminal sends SIGINT to all processes, and only this one must handle it. Children inherit the signal mask.
    if METHOD == "spawn":
        resource_tracker.ensure_running()  # before the mask is set: starting the tracker unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with quiet(), warnings.catch_warnings():  # the child inherits it: its errors are sent through the pipe
            warnings.simplefilter(
                "ignore"
            )  # about forks in a process with threads: these are NumPy's, which handle forks
            process.start()
    finally:
        theirs.close()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return process, ours


def _begin(work: Callable[..., None], pipe: Any, options: Options, inherited: list[Connection]) -> None:
    for other in inherited:
        other.close()
    work(pipe, options)


def _work(pipe: Any, options: Options) -> None:
    """Carry out tasks from the pipe until it is closed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    tenter.set_num_threads(1)  # there is a process for each core
    _keep_memory()
    with contextlib.suppress(EOFError, OSError):
        while True:
            batch = pipe.recv()
            decoded = _shared(batch)
            for task in batch:
                pipe.send(_attempt(task, options, decoded))


def _keep_memory() -> None:
    """Have glibc keep freed memory for the next image. The pages of a large one take as long to be faulted in
    as its resizing and more."""
    with contextlib.suppress(AttributeError, OSError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        for option in (_MMAP_THRESHOLD, _TRIM_THRESHOLD):
            mallopt(option, KEPT)


def _exit_reason(process: Any, task: Task) -> str:
    process.join()
    _remove_leftovers(task)
    if process.exitcode >= 0:
        return f"its process ended with code {process.exitcode}"
    number = -process.exitcode
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    return f"its process was ended by {name}{' (is memory short?)' if name == 'SIGKILL' else ''}"


def _remove_leftovers(task: Task) -> None:
    remove_leftovers(Path(os.path.realpath(task.output)).parent)


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """A progress bar if stderr is a terminal and rich is installed, otherwise nothing."""
    try:
        if sys.stderr is None or not sys.stderr.isatty():
            raise ImportError
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
    except ImportError:
        yield lambda: None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # A duplicate descriptor, as quiet() redirects stderr for some time.
    with open(os.dup(STDERR), "w", encoding="utf-8", errors="replace") as terminal:
        with Progress(*columns, console=Console(file=terminal), transient=True) as bar:
            task = bar.add_task("", total=total)
            yield lambda: bar.advance(task)
