"""Instructions that calls execute on Arm, counted by a plugin of QEMU, beside OpenCV's, Pillow's and NumPy's.

Counts are not times: a processor runs several instructions in a cycle, and waits for memory. They are what a machine
that is no Arm can find out about code for one, and they do not vary.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path

from tests.arm import LEVELS, ROOT, Arm

from benchmarks.machine import now, when
from benchmarks.report import BEGIN, END, between

PAGE = Path("docs/measured/arm.md")
PEERS = ("OpenCV", "Pillow", "NumPy")
PLUGIN = ROOT / "benchmarks" / "count_instructions.c"
PROGRAM = ROOT / "benchmarks" / "arm_rows.py"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "arm", help="as of tests.arm")
    parser.add_argument("--only", default="", metavar="LEVEL", help="one level, printed, not written")


def counted(arm: Arm, level: str, *libraries: str) -> tuple[dict[str, str], dict[tuple[str, str], float]]:
    """The libraries' versions, and millions of instructions of each row and library."""
    plugin = arm.folder / "count_instructions.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-o", plugin, PLUGIN], check=True)
    done = arm.run(level, PROGRAM, *libraries, options=f"-plugin {plugin}", capture=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    marks = [int(line.split()[1]) for line in done.stderr.splitlines() if line.startswith("executed ")]
    (versions, calls), *names = map(json.loads, done.stdout.splitlines())
    if len(marks) != 2 * len(names):
        raise SystemExit(f"{len(names)} rows have {len(marks)} marks")
    per_call = [(after - before) / calls / 1e6 for before, after in zip(marks[::2], marks[1::2])]
    return versions, {(row, library): n for (row, library), n in zip(names, per_call)}


def table(found: dict[str, dict[tuple[str, str], float]]) -> str:
    """Of each level's counts; peers from the first. Bold: fewest, and tenter's best where it has more than a peer."""
    lines = [f"| 512 -> | {' | '.join(f'tenter, `{level}`' for level in found)} | {' | '.join(PEERS)} |"]
    lines.append(f"|---|{'---:|' * (len(found) + len(PEERS))}")
    peers = next(iter(found.values()))
    for row in dict.fromkeys(row for row, _ in peers):
        numbers = [counts[row, "tenter"] for counts in found.values()] + [peers.get((row, peer)) for peer in PEERS]
        least = min(n for n in numbers if n is not None)
        cells = ["" if n is None else f"**{n:.3g}**" if n == least else f"{n:.3g}" for n in numbers]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(chosen: argparse.Namespace) -> int:
    arm = Arm(chosen.folder)
    arm.make()
    found: dict[str, dict[tuple[str, str], float]] = {}
    versions: dict[str, str] = {}
    for level in [chosen.only] if chosen.only else LEVELS:
        versions, found[level] = counted(arm, level, *(() if not found else ("tenter",)))
    lines = table(found)
    print(lines)
    if not chosen.only:
        with_versions = ", ".join(f"{library} {version}" for library, version in versions.items())
        made = f"{with_versions}; {when(now())}."
        PAGE.write_text(between(PAGE, BEGIN, END, f"{lines}\n\n{made}"), encoding="utf-8")
    return 0
