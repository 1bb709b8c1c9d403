"""The calls of the README and of docs/performance.md: measured, recorded in docs/performance.json, drawn as bars.

`python -m benchmarks chart` takes one to three minutes. `python -m benchmarks.chart` is the child that measures PyTorch
with huge pages, which it asks for when its process starts; it prints a contest per line, as JSON.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import chart_svg, peers, random_report, summaries
from benchmarks.chart_rows import ROWS, TRAIN, Row, tensor_photograph
from benchmarks.huge_pages import NAME as HUGE, PYTORCH
from benchmarks.machine import Settings, machine, processor_of, when
from benchmarks.measure import alternate, timed
from benchmarks.results import Contest
from benchmarks.summaries import Met
from benchmarks.table import lined

DATA, PAGE, README = Path("docs/performance.json"), Path("docs/performance.md"), Path("README.md")
MEASURED, SLOWER = Path("docs/measured"), Path("docs/measured/slower.md")
BEGIN, END = "<!-- performance:begin -->", "<!-- performance:end -->"
MORE = ("<!-- performance-slower:begin -->", "<!-- performance-slower:end -->")
#: What a tiny call takes is timed over as many calls as fill a millisecond.
BLOCK = 1e-3


def contests(row: Row, seconds: float, threads: int, only: str = "") -> dict[str, Contest]:
    """Each peer and tenter in turns; results are compared by the tests."""
    peers.set_threads(row.threads or threads)
    ours, theirs = row.calls()
    found: dict[str, Contest] = {}
    for name, call in theirs.items():
        if only in ("", name):
            contest = found[name] = Contest()
            block = BLOCK if timed(ours, 3) < BLOCK / 10 else 0.0
            alternate(ours, call, seconds, contest, block, timed)
    return found


def with_huge_pages(seconds: float, threads: int) -> dict[str, Contest]:
    """PyTorch's contests of each row, in a child process in which PyTorch asks for huge pages."""
    environment = {**os.environ, "THP_MEM_ALLOC_ENABLE": "1"}
    command = [sys.executable, "-m", "benchmarks.chart", json.dumps([seconds, threads])]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return {name: Contest(**contest) for name, contest in map(json.loads, done.stdout.splitlines())}


def main(seconds: float, threads: int, bandwidth: float) -> int:
    """Measures; with no seconds, what is recorded is written once more."""
    if seconds == 0:
        write(json.loads(DATA.read_text(encoding="utf-8")))
        return 0
    about = machine(Settings(threads, seconds, bandwidth))
    found: list[dict[str, Any]] = []
    for row in ROWS:
        fought = contests(row, seconds, threads)
        of = {"group": row.group, "name": row.name, "shown": row.shown, "threads": row.threads or threads}
        found.append({**of, "contests": {name: asdict(c) for name, c in fought.items()}})
        print(f"{row.name}: {', '.join(f'{name} {c.ratio:.2f}x' for name, c in fought.items())}", flush=True)
    huge = with_huge_pages(seconds, threads)
    for of in found:
        if of["name"] in huge:
            of["contests"][HUGE] = asdict(huge[of["name"]])
    write({"machine": about, "rows": found})
    return 0


def write(data: dict[str, Any]) -> None:
    DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    for path, text in rendered(data).items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")


def rendered(data: dict[str, Any]) -> dict[Path, str]:
    """Everything that the data says: two charts, the tables of the page, the sentences of the README."""
    return {
        PAGE: placed(PAGE.read_text(encoding="utf-8"), (BEGIN, END), tables(data)),
        SLOWER: placed(SLOWER.read_text(encoding="utf-8"), MORE, slower(data)),
        README: placed(README.read_text(encoding="utf-8"), (BEGIN, END), summary(data)),
        **{DATA.with_name(f"performance-{look}.svg"): chart_svg.chart(data, look) for look in chart_svg.LOOKS},
    }


def placed(text: str, marks: tuple[str, str], new: str) -> str:
    before, rest = text.split(marks[0])
    return f"{before}{marks[0]}\n\n{new}\n\n{marks[1]}{rest.split(marks[1])[1]}"


def ratios(data: dict[str, Any], peer: str) -> list[float]:
    return [row["contests"][peer]["ratio"] for row in data["rows"] if peer in row["contests"]]


def where(data: dict[str, Any]) -> str:
    about = data["machine"]
    names = {
        "torch": "PyTorch",
        "numpy": "NumPy",
        "pillow": "Pillow",
        "opencv": "OpenCV",
        "scipy": "SciPy",
        "cykooz-resizer": "fast_image_resize",
    }
    versions = ", ".join(f"{name} {about['versions'][key]}" for key, name in names.items() if key in about["versions"])
    threads = f"{about['threads']} thread{'s' * (about['threads'] != 1)}"
    return f"{processor_of(about)}, {threads}, {versions}, {when(about)}"


def summary(data: dict[str, Any]) -> str:
    """The sentences of the README: calls that nobody chose first, then the fairer of two comparisons."""
    middle = statistics.median(random_report.medians())
    parts = []
    for peer, name in ((HUGE, "with huge memory pages"), (PYTORCH, "as installed")):
        if found := ratios(data, peer):
            few, many, of = min(found), max(found), statistics.median(found)
            parts.append(f"{of:.1f} times PyTorch's {name} ({few:.1f} to {many:.0f})")
    return (
        f"Median speed on a CPU: {middle:.1f} times PyTorch's and NumPy's in random calls; in "
        f"{len(ratios(data, PYTORCH))} chosen calls {', '.join(parts)}.\n"
        "[Slower](docs/performance.md): `expand`, tiny gradients, OpenCV where it skips pixels."
    )


def tables(data: dict[str, Any]) -> str:
    parts = [f"Measured on {where(data)}."]
    for group in dict.fromkeys(row["group"] for row in data["rows"]):
        some = [row for row in data["rows"] if row["group"] == group]
        names = [name for name in chart_svg.PEERS if any(name in row["contests"] for row in some)]
        body = [[row["name"], str(row["threads"]), time_of(row), *(cell(row, name) for name in names)] for row in some]
        parts += [f"### {group}", lined(["Call", "threads", "tenter", *names], body)]
    return "\n\n".join(parts)


def slower(data: dict[str, Any]) -> str:
    """All kinds of calls in which another library is faster, the worst first: of the rows, and of every page."""
    met = (
        Met("[chosen calls](../performance.md#all-rows)", row["name"], peer, c["ratio"])
        for row in data["rows"] for peer, c in row["contests"].items()
    )  # fmt: skip
    body = [[kind, *few, ratio] for kind, *few, _, ratio in summaries.lines(met)]
    for page in sorted(MEASURED.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for kind, *few, _, ratio in summaries.rows(text):
            body.append([f"[{page.stem}]({page.name}): {kind}", *few, ratio])
    return summaries.table(body, [name for name in summaries.HEAD if name != "the slowest"])


def time_of(row: dict[str, Any]) -> str:
    ours = [contest["ours_ms"] for name, contest in row["contests"].items() if name != HUGE]
    return shown(statistics.median(ours)) if ours else "-"


def shown(ms: float) -> str:
    return f"{ms:.3g} ms" if ms >= 1 else f"{ms * 1e3:.3g} us"


def cell(row: dict[str, Any], peer: str) -> str:
    if (contest := row["contests"].get(peer)) is None:
        return "-"
    return f"{contest['ratio']:.2f}x" + " ~" * (contest["spread"] > 0.3)


if __name__ == "__main__":
    seconds, threads = json.loads(sys.argv[1])
    for row in ROWS:
        if row.group == TRAIN or row.calls is tensor_photograph:
            print(json.dumps([row.name, asdict(contests(row, seconds, int(threads), PYTORCH)[PYTORCH])]), flush=True)
