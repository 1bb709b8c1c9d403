"""`python -m benchmarks gpu`: the rows of the CPU benchmark at a GPU's sizes, beside PyTorch's kernels there."""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import time
from collections.abc import Collection
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

import tenter
from benchmarks import calls, gpu_report
from benchmarks.calls import Cost
from benchmarks.gpu_measure import BLOCK, copy_bandwidth, measure
from benchmarks.gpu_report import DOCS, Record
from benchmarks.gpu_rows import rows, with_compiled
from benchmarks.machine import Settings, now
from benchmarks.results import Result
from benchmarks.table import line

QUICK = 16
NO_DEVICE = "PyTorch finds no CUDA device here, so nothing was measured and nothing recorded has changed."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", metavar="TEXT", default="", help="only rows with this in their names, printed alone")
    parser.add_argument("--seconds", type=float, default=0.15, metavar="S", help="per row and peer (default: 0.15)")
    parser.add_argument("--minutes", type=float, default=6, metavar="M", help="rows not begun by then are left out")
    parser.add_argument("--out", type=Path, metavar="DIR", help=f"where to write, --only or not (default: {DOCS})")
    parser.add_argument(
        "--compiled", action="store_true", help="PyTorch's compiler as a peer too: seconds per row more"
    )
    parser.add_argument(
        "--after", type=Path, metavar="FILE", help=f"a {gpu_report.RECORD} of this commit and device: rows that it "
        "lacks are measured, and both are written")  # fmt: skip
    parser.add_argument("--tables", action="store_true", help="print each call of the results that are there")
    parser.add_argument("--render", action="store_true", help="write the page from the results that are there")
    parser.add_argument("--quick", action="store_true", help="small sizes: is every result right? Nothing is written")


def main(chosen: argparse.Namespace) -> int:
    if chosen.tables:
        print(gpu_report.every_call(gpu_report.read((chosen.out or DOCS) / gpu_report.RECORD)))
        return 0
    if chosen.render:
        print(f"wrote {gpu_report.render(chosen.out or DOCS)[0]}")
        return 0
    if not torch.cuda.is_available():
        print(NO_DEVICE, file=sys.stderr)
        return 2
    start = time.monotonic()
    settings = Settings(torch.get_num_threads(), 0.0 if chosen.quick else chosen.seconds, copy_bandwidth("cuda"),
                        chosen.only)  # fmt: skip
    about = machine(settings)
    print(gpu_report.sentence(about), flush=True)
    before = gpu_report.read(chosen.after) if chosen.after else gpu_report.Record({}, [], {})
    if chosen.after and not gpu_report.is_of_one_run(before.machine, about):
        print(f"{chosen.after} is of {before.machine.get('device')}, {before.machine.get('commit')}", file=sys.stderr)
        return 2
    done = {gpu_report.named(r) for r in before.table if gpu_report.named(r) not in before.earlier}
    if chosen.quick:
        record = run("cuda", settings, about, start + 60 * chosen.minutes, QUICK, 0.0, 1, chosen.compiled, done)
    else:
        record = run("cuda", settings, about, start + 60 * chosen.minutes, compiled=chosen.compiled, done=done)
    about |= {"peak_memory_gb": round(torch.cuda.max_memory_reserved() / 1e9, 1)}
    print(f"{time.monotonic() - start:.0f} s, {about['peak_memory_gb']} GB of the device's memory at most")
    return end(record, chosen, len(list(rows("meta"))))


def end(record: Record, chosen: argparse.Namespace, n_rows: int) -> int:
    """Writes what a run is to write; nonzero where it found something wrong, or did not come to the end."""
    if not record.table and not record.small:
        print(f"nothing contains {chosen.only!r}", file=sys.stderr)
        return 2
    folder = chosen.out or (None if chosen.only else DOCS)
    if folder is not None and not chosen.quick:
        before = gpu_report.read(chosen.after or folder / gpu_report.RECORD)
        record = gpu_report.complete(record, before)
        for path in gpu_report.write(folder, record):
            print(f"wrote {path}")
    left_out = 0 if chosen.only else n_rows - len(record.table)
    if left_out:
        print(f"rows left out, as --minutes were over: {left_out}", file=sys.stderr)
    return int(left_out > 0 or failed(record))


def failed(record: Record) -> bool:
    ways = [of for r in record.table for of in (r.forward, r.backward) if of is not None]
    return any(of.failed for of in ways) or any(isinstance(costs, str) for costs in record.small.values())


def run(device: str, settings: Settings, about: dict[str, Any], deadline: float, cut: int = 1, block: float = BLOCK,
        n_calls: int = calls.CALLS, compiled: bool = False, done: Collection[str] = ()) -> Record:  # fmt: skip
    """deadline: on the monotonic clock. compiled: whether PyTorch's compiler is a peer. done: rows to leave out."""
    small: dict[str, tuple[Cost, Cost] | str] = {}
    for case in calls.cases(device):
        if settings.wants("Small calls", case.name):
            small[case.name] = small_call(case, n_calls)
            print(gpu_report.small_line(case.name, small[case.name]), flush=True)
    found: list[Result] = []
    for row in rows(device, cut):
        wanted = settings.wants(row.group, row.name) and f"{row.group}: {row.name}" not in done
        if wanted and time.monotonic() < deadline:
            row = with_compiled(row) if compiled else row
            found.append(measure(row, device, settings.seconds, settings.bandwidth, block))
            print(line(found[-1]), flush=True)
    return Record(about, found, small)


def small_call(case: calls.Case, n_calls: int) -> tuple[Cost, Cost] | str:
    try:
        return calls.measure(case, n_calls)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def machine(settings: Settings) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(0)
    named = {name: version(name) for name in ("torch", "triton", "numpy")}
    return {
        "device": properties.name,
        "memory_gb": round(properties.total_memory / 1e9, 1),
        "driver": driver(),
        "cuda": torch.version.cuda,
        "copy_bandwidth_gb_per_s": round(settings.bandwidth / 1e9, 1),
        "versions": {"python": platform.python_version(), "tenter": tenter.__version__, **named},
        "system": f"{platform.system()} {platform.machine()}",
        **now(),
        "seconds_per_row_and_peer": settings.seconds,
    }


def driver() -> str:
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"
