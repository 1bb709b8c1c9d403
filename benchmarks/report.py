"""Results as text, JSON and the tables of a Markdown page."""

from __future__ import annotations

import datetime
import json
import os
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tenter
from benchmarks import peers
from benchmarks.measure import Contest, Direction, Result
from tenter import _native

BEGIN, END = "<!-- benchmark:begin -->", "<!-- benchmark:end -->"
WIDE_SPREAD = 0.30


def machine(threads: int, seconds: float, bandwidth: float) -> dict[str, Any]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "processor": processor(),
        "cores": cores,
        "threads": threads,
        "instruction_set": _native.level(),
        "copy_bandwidth_gb_per_s": round(bandwidth / 1e9, 2),
        "versions": {"python": platform.python_version(), "tenter": tenter.__version__, **peers.versions()},
        "system": f"{platform.system()} {platform.machine()}",
        "date": datetime.date.today().isoformat(),
        "seconds_per_row_and_peer": seconds,
    }


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def sentence(about: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return (
        f"{about['processor']}, {about['threads']} threads on {about['cores']} cores, instruction set "
        f"{about['instruction_set']}, copy bandwidth {about['copy_bandwidth_gb_per_s']} GB/s; {versions}; "
        f"{about['system']}; {about['date']}."
    )


def line(result: Result) -> str:
    """A row as it comes in."""
    parts = [part(result.forward)]
    if result.adjoint is not None:
        parts.append(f"adjoint {part(result.adjoint)}")
    return f"{result.group}: {result.name}: {'; '.join(parts)}"


def part(of: Direction) -> str:
    against = "".join(f", {name} {cell(contest)}" for name, contest in of.contests.items())
    return f"failed ({of.failed})" if of.failed else f"{of.ours_ms:.3f} ms{share(of, ', ', ' of bandwidth')}{against}"


def share(of: Direction, before: str = "", after: str = "") -> str:
    return "" if of.of_bandwidth is None else f"{before}{of.of_bandwidth:.0%}{after}"


def cell(contest: Contest | None) -> str:
    if contest is None:
        return "-"
    if contest.failed:
        return "fails"
    marks = " ~" * (contest.spread > WIDE_SPREAD) + " †" * (not contest.peer_agrees)
    return f"{contest.ratio:.2f}x{marks}"


def table(results: list[Result]) -> str:
    names = list(dict.fromkeys(name for r in results for name in r.forward.contests))
    adjoint = any(r.adjoint is not None for r in results)
    head = ["Call", "tenter, ms", "of copy bandwidth", *names]
    if adjoint:
        head += ["adjoint, ms", *(f"adjoint, {name}" for name in names)]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for r in results:
        lines.append([r.name, *cells(r.forward, names, True), *(cells(r.adjoint, names, False) if adjoint else [])])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def cells(of: Direction | None, names: list[str], forward: bool) -> list[str]:
    if of is None or of.failed:
        return ["-" if of is None else "failed", *["-"] * (len(names) + forward)]
    return [f"{of.ours_ms:.2f}", *([share(of)] if forward else []), *(cell(of.contests.get(name)) for name in names)]


def markdown(about: dict[str, Any], results: list[Result]) -> str:
    parts = [sentence(about)]
    for group in dict.fromkeys(r.group for r in results):
        parts += [f"### {group}", table([r for r in results if r.group == group])]
    return "\n\n".join(parts)


def write(out: Path, about: dict[str, Any], results: list[Result]) -> list[Path]:
    """The JSON file, and the page of the same name beside it if there is one; returns what was written."""
    page = out.with_suffix(".md")
    text = page.read_text(encoding="utf-8") if page.exists() else None
    if text is not None and not 0 <= text.find(BEGIN) < text.find(END):
        raise ValueError(f"{page}: no {BEGIN} with {END} after it")
    data = {"machine": about, "rows": [asdict(r) for r in results]}
    out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    if text is None:
        return [out]
    before, after = text[: text.find(BEGIN)], text[text.find(END) :]
    page.write_text(f"{before}{BEGIN}\n\n{markdown(about, results)}\n\n{after}", encoding="utf-8")
    return [out, page]
