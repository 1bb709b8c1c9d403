"""What a run says at its end: one line, or JSON for programs."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NamedTuple

from tenter.cli.folders import Task, counted
from tenter.cli.options import Options, in_words, sides
from tenter.cli.refusal import one_line
from tenter.cli.sizes import Sizes


class Outcome(NamedTuple):
    """What became of a file. status: done, skipped, failed or, of a dry run, planned. not_kept: what the input carries
    and the new file has no place for. error: the message of a file that failed."""

    task: Task
    status: str
    sizes: Sizes | None = None
    not_kept: tuple[str, ...] = ()
    error: str | None = None


def line_of(outcome: Outcome, options: Options) -> str:
    """The summary of a run with one file."""
    source, output = one_line(outcome.task.source), one_line(outcome.task.output)
    if outcome.sizes is None:
        return f"{output}: {'exists already, left as it is' if options.skip_existing else 'is up to date'}"
    before, after = (_in_words(lengths, options) for lengths in outcome.sizes[:2])
    several, first = f"{outcome.sizes.pictures} images, the first ", "the first "
    if outcome.sizes.pictures == 1:
        several = first = ""
    would = "would be written: " if outcome.status == "planned" else ""
    lost = f"; not kept: {', '.join(outcome.not_kept)}" if outcome.not_kept else ""
    copied = ", copied as it is" if outcome.sizes.copied else ""
    return f"{output}: {would}{several}{after}{copied} (from {source}: {first}{before}){lost}"


def line_of_many(outcomes: list[Outcome], left_out: Counter[str], options: Options) -> str:
    """The summary of a run with many files."""
    found = Counter(outcome.status for outcome in outcomes)
    done = f"{found['planned']} to do" if found["planned"] else f"{found['done']} done"
    if copied := sum(outcome.sizes is not None and outcome.sizes.copied for outcome in outcomes):
        done += f" ({copied} copied as {'it is' if copied == 1 else 'they are'})"
    text = f"{done}, {found['skipped']} skipped, {found['failed']} failed"
    unseen = options.skip_existing and found["skipped"]  # files that have some size or other
    if found["done"] or found["planned"] or not unseen:
        text += f"; size: {in_words(options)}"
    if unseen:
        text += "; sizes of the skipped were not compared (see --update)"
    if left_out:
        text += f"; not read: {counted(left_out)}"
    lost = Counter(name for outcome in outcomes for name in outcome.not_kept)
    if lost:
        files = (f"{name} ({n} file{'s' * (n > 1)})" for name, n in lost.most_common())
        text += f"; not kept: {', '.join(files)}"
    return text


def as_json(outcomes: list[Outcome], left_out: Counter[str], options: Options) -> str:
    """The summary as a JSON object, in one line."""
    found = Counter(outcome.status for outcome in outcomes)
    return json.dumps(
        {
            **{status: found[status] for status in ("done", "planned", "skipped", "failed")},
            "not_read": dict(sorted(left_out.items())),
            "files": [_entry(outcome, options) for outcome in outcomes],
        }
    )


def _entry(outcome: Outcome, options: Options) -> dict[str, Any]:
    entry: dict[str, Any] = {"input": outcome.task.source, "output": outcome.task.output, "status": outcome.status}
    if outcome.error is not None:
        entry["error"] = outcome.error
    if outcome.sizes is not None:
        for name, lengths in zip(("input_size", "output_size"), outcome.sizes[:2]):
            named = None if options.axes is not None else {"height": lengths[0], "width": lengths[1]}
            entry[name] = named or {str(axis): n for axis, n in zip(options.axes or (), lengths)}
        if outcome.sizes.pictures > 1:
            entry["pictures"] = outcome.sizes.pictures
        if outcome.sizes.copied:
            entry["copied"] = True
    if outcome.not_kept:
        entry["not_kept"] = list(outcome.not_kept)
    return entry


def _in_words(lengths: tuple[int, ...], options: Options) -> str:
    if options.axes is None:
        return sides(*lengths)
    return f"axes {', '.join(map(str, options.axes))} of length {', '.join(map(str, lengths))}"
