"""`tenter resize` of many files into a folder."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections import Counter
from pathlib import Path

from tenter.cli.dry import is_current, planned_sizes
from tenter.cli.folders import Task, check_inputs_safe, check_links, plan
from tenter.cli.naming import template_of
from tenter.cli.options import Options, read_jobs
from tenter.cli.output import check_input, remove_leftovers
from tenter.cli.refusal import Exists, Refusal, first_line, one_line, require
from tenter.cli.streams import say
from tenter.cli.summary import Outcome, as_json, line_of, line_of_many
from tenter.cli.workers import run

#: What to do about outputs that exist.
HOW = "--force overwrites, --skip-existing leaves it, --update overwrites what is older or of another size"


def resize_many(inputs: list[str], output: str, args: argparse.Namespace, options: Options) -> int:
    """Resize all inputs into the folder `output`, print a summary, and return 1 if a file failed, else 0."""
    jobs = read_jobs(args.jobs)
    tasks, clashes, left_out = plan(inputs, output, args.recursive, args.format, options.asked)
    if any(Path(name).suffix.lower() != ".npy" for task in tasks for name in (task.source, task.output)):
        require("PIL")
    existing = [task for task in tasks if os.path.lexists(task.output)]
    check_inputs_safe([*tasks, *clashes], existing, options.force)
    skipped = set(existing) if args.skip_existing else set()
    if args.update:
        skipped = {task for task in existing if is_current(task, options)}
        options = options._replace(force=True)
    todo = [task for task in tasks if task not in skipped]
    if not options.follow_links:
        check_links(todo, template_of(output).folder)
    if not (options.force or args.skip_existing):
        _refuse_existing(existing)
    ended = _planned(todo, options) if args.dry_run else _run(todo, options, jobs)
    found = {outcome.task: outcome for outcome in ended}
    outcomes = [found.get(task) or Outcome(task, "skipped") for task in tasks]
    outcomes += [Outcome(task, "failed", error=one_line(why)) for task, why in clashes.items()]
    _say_errors(outcomes)
    _print_summary(outcomes, left_out, args, options)
    return int(any(outcome.error is not None for outcome in outcomes))


def _refuse_existing(existing: list[Task]) -> None:
    if existing:
        more = f" (and {len(existing) - 1} more)" if len(existing) > 1 else ""
        raise Refusal(f"{existing[0].output}: exists already{more}; {HOW}")


def _say_errors(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        if outcome.error is not None:
            source = outcome.task.source
            has_name = outcome.error.startswith(f"{one_line(source)}:")
            say(outcome.error if has_name else f"{source}: {outcome.error}")


def _print_summary(outcomes: list[Outcome], left_out: Counter[str], args: argparse.Namespace, options: Options) -> None:
    if args.json:
        print(as_json(outcomes, left_out, options))
        return
    if args.dry_run:
        for outcome in outcomes:
            if outcome.error is None:
                print(line_of(outcome, options))
    print(line_of_many(outcomes, left_out, options))


def _planned(tasks: list[Task], options: Options) -> list[Outcome]:
    return [_plan_one(task, options) for task in tasks]


def _plan_one(task: Task, options: Options) -> Outcome:
    try:
        sized = options._replace(wanted=task.wanted)
        return Outcome(task, "planned", planned_sizes(check_input(task.source), task.output, sized))
    except Exception as error:
        if options.skip_existing and isinstance(error, Exists):
            return Outcome(task, "skipped")
        return Outcome(task, "failed", error=first_line(error))


def _run(tasks: list[Task], options: Options, jobs: int) -> list[Outcome]:
    folders = {os.path.dirname(os.path.realpath(task.output)) for task in tasks}
    for folder in folders:
        remove_leftovers(Path(folder))
    above = {str(path) for folder in folders for path in (Path(folder), *Path(folder).parents)}
    missing = [path for path in above if not os.path.exists(path)]
    try:
        return run(tasks, options, jobs)
    finally:
        for path in sorted(missing, key=len, reverse=True):
            with contextlib.suppress(OSError):  # of a folder that is not empty, as it should be
                os.rmdir(path)
