"""The page of calls that do not repeat: a line for each kind of call, with the file of all numbers and the plots."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import ratio_plot, results, signal_plot, signals
from benchmarks.machine import sentence
from benchmarks.race import Drawn, drawn
from benchmarks.report import BEGIN, END, between
from benchmarks.results import LOSS, Contest
from benchmarks.summaries import Met, ratios, slower
from benchmarks.table import lined

Parts = dict[str, tuple[dict[str, Any], list[Drawn]]]

NAMES = {
    "augment": "Augmentation",
    "ragged": "Rows by counts",
    "segments": "Ragged arrays",
    "signals": "Signals",
    "photographs": "Photographs",
}
FIRST = 1.15  # a new call's time to a repeated one's, for results of so many bytes
FIRST_BYTES = 64 << 10
UNSURE = 0.15  # half the width of the median's confidence interval, of the median
FEW = 3  # rounds, fewer of which say nothing of that width

ROUNDED = (
    "It multiplies each 8-bit value by one weight of 16 bits. Pillow's bits need weights of 22, two multiplications "
    "where there is no AVX-512."
)
FOUR = "It reads four or sixteen pixels for each output. tenter's result is antialiased and reads all of them."
# Why a library is faster, by part and library.
REASONS = {
    "augment": {"fast_image_resize": ROUNDED, "OpenCV": FOUR},
    "photographs": {"fast_image_resize": ROUNDED, "PyTorch": ROUNDED, "OpenCV": FOUR, "kornia-rs": FOUR},
    "signals": {
        "PyTorch": "A new gradient of few samples is mostly one call of a Python function by PyTorch's engine. "
        "Gradients of nearest are summed input by input, in one order for any number of threads; PyTorch "
        "adds output by output.",
        "resample_poly": "Lengths of fewer than a million samples do not meet the ratio exactly, so each output has "
        "weights of its own, twelve sines or more. resample_poly has one set of weights for each phase of the ratio.",
    },
}


def write(out: Path, part: str, about: dict[str, Any], found: list[Drawn]) -> list[Path]:
    """The other parts are kept from the file that is there."""
    data = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    data[part] = {"machine": about, "found": list(map(asdict, found))}
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(results.text(data) + "\n", encoding="utf-8")
    return [out, *render(out)]


def render(out: Path) -> list[Path]:
    """The page of the same name and its picture, from the file."""
    page = out.with_suffix(".md")
    data = json.loads(out.read_text(encoding="utf-8"))
    found = {part: (data[part]["machine"], list(map(drawn, data[part]["found"]))) for part in NAMES if part in data}
    ratios, costs = (out.with_name(f"{out.stem}-{name}.png") for name in ("ratios", "signals"))
    body = "\n\n".join(markdown(found, ratios.name, costs.name))
    page.write_text(between(page, BEGIN, END, body, "Calls that do not repeat"), encoding="utf-8")
    ratio_plot.draw({NAMES[part]: of for part, (_, of) in found.items()}, ratios)
    curves = [one for one in found.get("signals", ({}, []))[1] if one.group == signals.COST]
    if curves:
        signal_plot.draw(curves, costs)
    return [page, ratios, *([costs] if curves else [])]


def markdown(found: Parts, dots: str, costs: str) -> list[str]:
    if not found:
        return ["Not measured yet."]
    text = [*machines(found), f"![How many times faster tenter is, a dot for each call]({dots})"]
    text += ["## Where tenter is slower", slower(met(found)), "\n".join(notes(found))]
    if shares := [first_calls(NAMES[part], of) for part, (_, of) in found.items()]:
        said = f"Calls that take at most {FIRST}x the time of a repeated one, if their result has 64 KiB or more:"
        text += ["## New calls beside repeated ones", said, "\n".join(filter(None, shares))]
    if any(one.group == signals.COST for _, of in found.values() for one in of):
        text += [f"![Nanoseconds an output against samples in]({costs})"]
    return text


def machines(found: Parts) -> list[str]:
    """Where it was measured: once if all parts were measured on one machine and day."""
    threads = {one.threads for _, of in found.values() for one in of}
    speeds = [machine["copy_bandwidth_gb_per_s"] for machine, _ in found.values()]
    told = {"threads": " or ".join(map(str, sorted(threads)))}
    told["copy_bandwidth_gb_per_s"] = f"{min(speeds)} to {max(speeds)}"
    return list(dict.fromkeys(sentence({**machine, **told}) for machine, _ in found.values()))


def met(found: Parts) -> Iterator[Met]:
    for part, (_, of) in found.items():
        for one in of:
            for library, c in one.contests.items():
                if not c.failed and not one.failed:
                    yield Met(NAMES[part], title(one), library + " †" * (not c.peer_agrees), c.ratio)


def notes(found: Parts) -> Iterator[str]:
    """Why a library is faster; what failed."""
    reasons: dict[str, dict[str, None]] = {}
    for part, (_, of) in found.items():
        for library, why in REASONS.get(part, {}).items():
            if any(c.ratio < LOSS for one in of if (c := one.contests.get(library)) and not c.failed):
                reasons.setdefault(why, {})[library] = None
    yield from (f"- **{', '.join(libraries)}**: {why}" for why, libraries in reasons.items())
    for _, of in found.values():
        yield from (f"- {title(one)}: {one.failed}" for one in of if one.failed)


def by_group(found: list[Drawn]) -> str:
    """A line for each group of calls: how many, how new ones compare with repeated ones, and each library's ratios."""
    names = list(dict.fromkeys(name for one in found for name in one.contests))
    body = []
    for group in dict.fromkeys(one.group for one in found):
        of = [one for one in found if one.group == group and not one.failed]
        if of:
            news = f"{median(one.new_to_repeated for one in of):.2f}"
            body.append([group, str(len(of)), news, *(ratios(one.contests.get(name) for one in of) for name in names)])
    return lined(["Calls", "number", "new / repeated", *names], body)


def every_call(out: Path) -> str:
    """Tables of all calls in the file, to be printed."""
    data, parts = json.loads(out.read_text(encoding="utf-8")), []
    for part in filter(data.__contains__, NAMES):
        of = list(map(drawn, data[part]["found"]))
        parts += [f"### {NAMES[part]}", by_group([one for one in of if one.group != signals.COST])]
        for threads in sorted({one.threads for one in of}):
            some = [one for one in of if one.threads == threads and one.group != signals.COST]
            if some:
                parts.append(f"### {NAMES[part]}, {threads} thread{'s' * (threads > 1)}")
                parts += grids(some) if part == "ragged" else tables(some)
    return "\n\n".join(parts)


def title(one: Drawn) -> str:
    return f"{one.group}, {one.name}, {one.threads} thread{'s' * (one.threads > 1)}"


def first_calls(name: str, found: list[Drawn]) -> str:
    large = [one for one in found if not one.failed and one.output >= FIRST_BYTES]
    within = sum(one.new_to_repeated <= FIRST for one in large)
    return f"- {name}: {within} of {len(large)}" if large else ""


def cell(found: Contest | None) -> str:
    """Draws differ and so do their ratios; what is marked is a median that is not sure."""
    if found is None:
        return "-"
    if found.failed:
        return "too large" if found.failed.startswith("left out") else "fails"
    unsure = found.pairs < FEW or 1.57 * found.spread / found.pairs**0.5 > UNSURE
    return f"{found.ratio:.2f}x{' ~' * unsure}{' †' * (not found.peer_agrees)}"


def tables(found: list[Drawn]) -> list[str]:
    parts = []
    for group in dict.fromkeys(one.group for one in found):
        of = [one for one in found if one.group == group]
        names = list(dict.fromkeys(name for one in of for name in one.contests))
        head = ["Call", "tenter, ms", "new / repeated", *names]
        parts += [f"#### {group}", lined(head, [[one.name, *cells(one, names)] for one in of])]
    return parts


def cells(one: Drawn, names: list[str]) -> list[str]:
    if one.failed:
        return ["failed", *["-"] * (1 + len(names))]
    over = " **over**" * (one.output >= FIRST_BYTES and one.new_to_repeated > FIRST)
    return [f"{one.ours_ms:.3g}", f"{one.new_to_repeated:.2f}{over}", *(cell(one.contests.get(name)) for name in names)]


def grids(found: list[Drawn]) -> list[str]:
    """Of rows by counts, for each group: lengths down, widths across, the peer's time / ours and ours."""
    parts = []
    for group in dict.fromkeys(one.group for one in found):
        of = {one.name: one for one in found if one.group == group}
        places = [name.strip("()").split(", ") for name in of]
        down, across = (list(dict.fromkeys(int(p[k]) for p in places)) for k in (0, 1))
        head = ["rows", *("scalars" if w == 1 else f"{w} wide" for w in across)]
        parts += [
            f"#### {group}",
            lined(head, [[str(n), *(in_grid(of.get(f"({n}, {w})")) for w in across)] for n in down]),
        ]
    return parts


def in_grid(one: Drawn | None) -> str:
    if one is None:
        return "-"
    if one.failed:
        return "failed"
    return f"{', '.join(map(cell, one.contests.values()))} ({one.ours_ms * 1e3:.3g} us)"


def line(one: Drawn) -> str:
    """A result as it comes in."""
    against = "".join(f", {name} {c.failed or cell(c)}" for name, c in one.contests.items())
    time = one.failed or f"{one.ours_ms:.4g} ms, {one.new_to_repeated:.2f} of repeated"
    return f"{title(one)}: {time}{against}"
