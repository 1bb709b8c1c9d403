"""Writes what was measured: the JSON file, and the page of the same name with its pictures.

Parts that were not measured this time are kept from the file that is there.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import growth, latency, memory, results, summaries, table, targets
from benchmarks.machine import sentence

BEGIN, END = "<!-- benchmark:begin -->", "<!-- benchmark:end -->"
READ = {"table": results.result, "latency": results.point, "growth": results.point, "memory": results.footprint}

Parts = dict[str, list[Any]]


def write(out: Path, about: dict[str, Any], measured: Parts) -> list[Path]:
    """Returns what was written."""
    data = {**known(out), **{part: {"machine": about, "found": list(map(asdict, of))} for part, of in measured.items()}}
    page = rendered(data, out)
    out.write_text(results.text(data) + "\n", encoding="utf-8")
    return [out, *pages(out, page, data)]


def render(out: Path) -> list[Path]:
    """The page of the same name and its pictures, from the file."""
    data = known(out)
    return pages(out, rendered(data, out), data)


def rendered(data: dict[str, Any], out: Path) -> str:
    body = "\n\n".join(markdown(data, out.stem))
    return between(out.with_suffix(".md"), BEGIN, END, body, "Calls on the CPU")


def pages(out: Path, text: str, data: dict[str, Any]) -> list[Path]:
    out.with_suffix(".md").write_text(text, encoding="utf-8")
    return [out.with_suffix(".md"), *draw(out, read(data))]


def known(out: Path) -> dict[str, Any]:
    """The parts in the file, if it has any."""
    data = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    return {part: data[part] for part in READ if part in data}


def read(data: dict[str, Any]) -> Parts:
    return {part: list(map(READ[part], data[part]["found"])) for part in READ if part in data}


def markdown(data: dict[str, Any], stem: str) -> list[str]:
    found = read(data)
    text = machines(data)
    rows, points = found.get("table", []), found.get("latency", [])
    text += ["## Where tenter is slower", summaries.slower([*summaries.met(rows), *latency.met(points)])]
    if rows:
        text += ["## By library", summaries.by_library(rows)]
    if points:
        text += latency.markdown(points, f"{stem}-latency.png")
    if "growth" in found:
        text += growth.markdown(found["growth"], f"{stem}-growth.png")
    return text


def every_call(out: Path) -> str:
    """Tables of all calls in the file, to be printed."""
    found = read(known(out))
    rows, used = found["table"], found.get("memory", [])
    parts = ["### Of the copy bandwidth", targets.by_group(rows), targets.table(rows), *table.markdown(rows)]
    return "\n\n".join([*parts, *(memory.markdown(used) if used else [])])


def machines(data: dict[str, Any]) -> list[str]:
    """Where it was measured: once if all parts were measured together."""
    parts: dict[str, list[str]] = {}
    for part in READ:
        if part in data:
            parts.setdefault(sentence(data[part]["machine"]), []).append(part)
    return list(parts) if len(parts) == 1 else [f"{', '.join(names)}: {text}" for text, names in parts.items()]


def draw(out: Path, found: Parts) -> list[Path]:
    from benchmarks import plots  # matplotlib, which counts of instructions do not need

    drawn = []
    for part, plot in (("latency", plots.latency), ("growth", plots.growths)):
        if part in found:
            drawn.append(out.with_name(f"{out.stem}-{part}.png"))
            plot(found[part], drawn[-1])
    return drawn


def between(path: Path, begin: str, end: str, new: str, title: str = "") -> str:
    """The file's text with something new between its markers. title: of a page that a first run makes."""
    about = (
        "One run. *times faster* is a library's time divided by tenter's: the median of the calls (the least to the "
        f"most). Below {results.LOSS} tenter is called slower.\n[Performance](../performance.md) says how calls are "
        "timed."
    )
    made = f"# {title}\n\n{about}\n\n{begin}\n{end}\n"
    text = made if title and not path.exists() else path.read_text(encoding="utf-8")
    if not 0 <= text.find(begin) < text.find(end):
        raise ValueError(f"{path}: no {begin} with {end} after it")
    return f"{text[: text.find(begin)]}{begin}\n\n{new}\n\n{text[text.find(end) :]}"
