"""The page of a GPU's results and the file with all of their numbers; rows that were not measured say so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from benchmarks import calls, results, summaries, targets
from benchmarks.calls import Cost
from benchmarks.gpu_measure import unmeasured
from benchmarks.gpu_rows import COMPILED, DETERMINISTIC, PYTORCH
from benchmarks.machine import when
from benchmarks.report import BEGIN, END, between
from benchmarks.results import BANDWIDTH, Contest, Direction, Result, reached
from benchmarks.table import cell, lined

DOCS = Path("docs/measured")
PAGE, RECORD = "gpu.md", "gpu.json"
UNMEASURED, SHORT, EARLIER = "not measured yet", " **short**", " °"
ON_ONE_MACHINE = ("device", "driver", "versions")
REFUSALS = ("does not have a deterministic implementation", "Too much shared memory required")
SMALL_TARGET = 0.67  # times as fast as PyTorch


class Record(NamedTuple):
    """One run.

    small: what tiny calls cost, without a gradient and with it, or what went wrong
    earlier: when the rows that an earlier run measured were measured
    """

    machine: dict[str, Any]
    table: list[Result]
    small: dict[str, tuple[Cost, Cost] | str]
    earlier: Mapping[str, str] = MappingProxyType({})


def named(r: Result) -> str:
    return f"{r.group}: {r.name}"


def complete(record: Record, before: Record) -> Record:
    """Returns the record with the rows that its run left out, as the run before it measured them with the same device
    and versions."""
    if any(before.machine.get(key) != record.machine.get(key) for key in ON_ONE_MACHINE):
        return record
    measured = {named(r) for r in record.table}
    kept = [r for r in before.table if named(r) not in measured]
    earlier = {named(r): before.earlier.get(named(r), when(before.machine)) for r in kept}
    if is_of_one_run(before.machine, record.machine):
        earlier = {name: run for name, run in earlier.items() if name in before.earlier}
    return record._replace(table=[*record.table, *kept], earlier=earlier)


def is_of_one_run(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """True if the figures of two runs may stand in one table: the same code on the same device."""
    return "commit" in one and all(one.get(key) == other.get(key) for key in (*ON_ONE_MACHINE, "commit"))


def write(folder: Path, record: Record) -> list[Path]:
    """Returns what was written."""
    table = [asdict(r) for r in record.table]
    fields = {**record._asdict(), "table": table, "earlier": dict(record.earlier)}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RECORD).write_text(results.text(fields) + "\n", encoding="utf-8")
    return [*render(folder), folder / RECORD]


def render(folder: Path) -> list[Path]:
    """The page, from the file."""
    page, body = folder / PAGE, "\n\n".join(markdown(read(folder / RECORD)))
    page.write_text(between(page, BEGIN, END, body, "Calls on a GPU"), encoding="utf-8")
    return [page]


def read(path: Path) -> Record:
    if not path.exists():
        return Record({}, [], {})
    data = json.loads(path.read_text(encoding="utf-8"))
    small = {k: v if isinstance(v, str) else (Cost(*v[0]), Cost(*v[1])) for k, v in data["small"].items()}
    return Record(data["machine"], list(map(results.result, data["table"])), small, data.get("earlier", {}))


def markdown(record: Record) -> list[str]:
    found = planned(record)
    parts = [sentence(record.machine), *marks(record)] if record.machine else [f"On a GPU: {UNMEASURED}."]
    small = [(name, costs) for name, costs in record.small.items() if not isinstance(costs, str)]
    tiny = [met for name, costs in small for met in calls.costs("Tiny calls", name, costs)]
    parts += ["## Where tenter is slower", summaries.slower([*summaries.met(found), *tiny])]
    parts += ["## By library", summaries.by_library(found)]
    return [*parts, *(["## What went wrong", "\n".join(bad)] if (bad := notes(found, record)) else [])]


def planned(record: Record) -> list[Result]:
    """The rows that a run measures, as this one did; marked where an earlier one did."""
    measured = {(r.group, r.name): r for r in record.table}
    found = [measured.get((r.group, r.name), r) for r in unmeasured()]
    return [replace(r, name=r.name + EARLIER * (named(r) in record.earlier)) for r in found]


def every_call(record: Record) -> str:
    """Tables of all calls, to be printed."""
    found = planned(record)
    parts = [tally([r for r in found if not r.name.endswith(EARLIER)]), targets.by_group(found)]
    parts += ["## Small calls", f"The target is {SMALL_TARGET}x.", small_table(record.small)]
    for group in dict.fromkeys(r.group for r in found):
        of = [r for r in found if r.group == group]
        parts += [f"## {group}", table(of, False)]
        if backward := [r for r in of if r.backward is not None]:
            parts += [f"## {group}, backward", table(backward, True)]
    return "\n\n".join(parts)


def sentence(about: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return (
        f"Measured on {about['device']}, driver {about['driver']}, CUDA {about['cuda']}, copy bandwidth "
        f"{about['copy_bandwidth_gb_per_s']} GB/s; {versions}; {about['system']}; {when(about)}."
    )


def marks(record: Record) -> list[str]:
    runs = sorted(set(record.earlier.values()))
    return [f"Rows with{EARLIER} are of an earlier run on the same device ({', '.join(runs)})."] if runs else []


def tally(found: list[Result]) -> str:
    aimed = [
        ratio >= target for r in found for t in r.targets
        for of, target in ((r.forward, t.forward), (r.backward, t.backward))
        if target is not None and (ratio := reached(of, t.peer)) is not None
    ]  # fmt: skip
    return f"{sum(aimed)} of {len(aimed)} targets reached, of those that have a measured figure."


def table(found: list[Result], backward: bool) -> str:
    compiled = [COMPILED] * any(COMPILED in r.forward.contests for r in found)
    peers = [PYTORCH, *compiled, *[DETERMINISTIC] * backward]
    head = ["Call", "MB", "tenter, ms", "of copy bandwidth", "target"]
    head += [column for peer in peers for column in (f"{peer}, ms", "times faster", "target")]
    return lined(head, [[r.name, f"{r.moved / 1e6:.0f}", *cells(r, backward, peers)] for r in found])


def cells(r: Result, backward: bool, peers: list[str]) -> list[str]:
    of = r.backward if backward else r.forward
    assert of is not None
    aims = {t.peer: t.backward if backward else t.forward for t in r.targets}
    if of.failed:
        shown = ["**wrong**" if of.failed.startswith("differs") else "**failed**", "-"]
    elif of.of_bandwidth is None:
        shown = [UNMEASURED] * 2
    else:
        shown = [f"{of.ours_ms:.3f}", marked(f"{of.of_bandwidth:.0%}", of.of_bandwidth, aims.get(BANDWIDTH))]
    shown.append(aim(aims.get(BANDWIDTH), "{:.0%}"))
    for peer in peers:
        shown += [*against(of, peer, aims.get(peer)), aim(aims.get(peer), "{:g}x")]
    return shown


def against(of: Direction, peer: str, target: float | None) -> list[str]:
    """The peer's time, and its ratio to ours."""
    contest = of.contests.get(peer)
    if of.failed:
        return ["-", "-"]
    if contest is None:
        return [UNMEASURED if of.of_bandwidth is None else "-"] * 2
    if contest.failed:
        return ["refused" if refused(contest) else "fails", "-"]
    return [f"{contest.peer_ms:.3f}", marked(cell(contest), contest.ratio, target)]


def refused(contest: Contest) -> bool:
    return any(words in contest.failed for words in REFUSALS)


def marked(shown: str, value: float, target: float | None) -> str:
    return shown + SHORT * (target is not None and value < target)


def aim(target: float | None, form: str) -> str:
    return "-" if target is None else form.format(target)


def small_table(found: dict[str, tuple[Cost, Cost] | str]) -> str:
    return "\n".join([*calls.HEAD, *(small_line(case.name, found.get(case.name)) for case in calls.cases())])


def small_line(name: str, costs: tuple[Cost, Cost] | str | None) -> str:
    if costs is None or isinstance(costs, str):
        return f"| {' | '.join([name, *[UNMEASURED if costs is None else '**failed**'] * 6])} |"
    shown = [f"{c.ours:.1f} us | {c.theirs:.1f} us | {c.ratio:.2f}x{SHORT * (c.ratio < SMALL_TARGET)}" for c in costs]
    return f"| {name} | {' | '.join(shown)} |"


def notes(found: list[Result], record: Record) -> list[str]:
    ways = [(r.name + kind, of) for r in found for kind, of in (("", r.forward), (", gradient", r.backward)) if of]
    bad = [(name, of.failed) for name, of in ways]
    bad += [(f"{name}: {peer}", c.failed) for name, of in ways for peer, c in of.contests.items() if not refused(c)]
    bad += [(name, costs) for name, costs in record.small.items() if isinstance(costs, str)]
    return [f"- {name}: {text.splitlines()[0][:200]}" for name, text in bad if text]
