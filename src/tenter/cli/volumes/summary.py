"""What is said of a run on an array on disk: a line, or JSON for programs."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from tenter.cli.refusal import one_line
from tenter.cli.volumes import memory
from tenter.cli.volumes.recipe import Ended
from tenter.cli.voxels import Voxel, in_words

#: What axes are of, in words.
WORDS = {"time": "time", "channel": "channels", "space": "space"}


class Array(NamedTuple):
    """The name of an array, the lengths of its dims, and how large its voxels are, if that is known."""

    path: str
    shape: tuple[int, ...]
    voxel: Voxel | None


class Report(NamedTuple):
    """source, made: the array that was read, and those that were or would be written. names: the dims' names, which may
    be empty. ended: what that took; None of a dry run. taken: for each dim what it was taken for, where that was
    decided; is_named: whether something said the names. not_kept: what the input has and the output has not.
    notes: what else a user should know."""

    source: Array
    output: str
    made: list[Array]
    names: list[str]
    ended: Ended | None
    taken: tuple[str | None, ...] = ()
    is_named: bool = True
    not_kept: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def line_of(report: Report) -> str:
    """One line; for several arrays also a line for each, before it."""
    output, source = one_line(report.output), report.source
    if report.ended is None:
        last = f"{output}: would be written: {_shown(report.made[0], report)} (from {one_line(source.path)}: "
        lines = [f"{last}{_shown(source, report)}){_notes(report)}"]
        return "\n".join([*lines, *(f"  {one_line(a.path)}: {_shown(a, report)}" for a in report.made[1:])])
    seconds, peak, count = report.ended
    rate = f", {memory.in_words(count.made / seconds)}/s written" if count.made and seconds > 0 else ""
    there = f"; {count.there} of {count.blocks} blocks were there" if count.there else ""
    size = _shown(report.made[0], report) if len(report.made) == 1 else f"{len(report.made)} arrays"
    return (
        f"{output}: done in {seconds:.1f} s{rate}, peak memory {memory.in_words(peak)}{there}; {size}{_notes(report)}"
    )


def _notes(report: Report) -> str:
    """What was decided for the user, and what is lost."""
    found = "".join(f"; {note}" for note in report.notes)
    if report.taken:
        of: dict[str | None, list[str]] = {kind: [] for kind in report.taken}
        for k, name in enumerate(report.names):
            of[report.taken[k]].append(name or str(k))
        words = ", ".join(f"{WORDS.get(kind or '', 'others')} ({', '.join(some)})" for kind, some in of.items())
        found += f"; axes: {words}{'' if report.is_named else ' (a guess; --names says them)'}"
    return found + (f"; not kept: {', '.join(report.not_kept)}" if report.not_kept else "")


def as_json(report: Report) -> str:
    """A JSON object in one line, as of images."""
    status = "planned" if report.ended is None else "done"
    entry: dict[str, Any] = {"input": report.source.path, "output": report.output, "status": status}
    entry["input_size"] = _lengths(report.source, report)
    if len(report.made) == 1:
        entry["output_size"] = _lengths(report.made[0], report)
    else:
        entry["arrays"] = [{"path": a.path, "size": _lengths(a, report), **_voxels(a)} for a in report.made]
    if len(report.made) == 1:
        entry |= _voxels(report.made[0])
    if report.ended is not None:
        entry |= {"seconds": round(report.ended.seconds, 3), "bytes_written": report.ended.blocks.made}
    if report.taken:
        entry["axes"] = {name or str(k): of for k, (name, of) in enumerate(zip(report.names, report.taken))}
    if report.not_kept:
        entry["not_kept"] = list(report.not_kept)
    if report.notes:
        entry["notes"] = list(report.notes)
    counts = {each: int(each == status) for each in ("done", "planned", "skipped", "failed")}
    return json.dumps({**counts, "not_read": {}, "files": [entry]})


def _lengths(array: Array, report: Report) -> dict[str, int]:
    return {name or str(k): n for k, (name, n) in enumerate(zip(report.names, array.shape))}


def _voxels(array: Array) -> dict[str, Any]:
    if array.voxel is None or not array.voxel.sizes:
        return {}
    units = array.voxel.units
    if len(set(map(units.get, array.voxel.sizes))) == 1:
        unit: dict[str, Any] = {"unit": next(iter(units.values()))} if units else {}
    else:
        unit = {"units": dict(units)}
    return {"voxel_size": dict(array.voxel.sizes), **unit}


def _shown(array: Array, report: Report) -> str:
    lengths = ", ".join(f"{name or k} {n}" for k, (name, n) in enumerate(zip(report.names, array.shape)))
    voxel = array.voxel
    if voxel is None or not voxel.sizes:
        return lengths
    return f"{lengths}; voxels {in_words(voxel)}"
