"""`python -m benchmarks cpu`: times the table, prints each row, writes the report. `calls`: what a tiny call costs."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import torch

from benchmarks import calls, peers, report
from benchmarks.measure import Direction, Result, copy_bandwidth, measure
from benchmarks.rows import Row, rows

OUT = Path("docs/benchmarks.json")


def positive(text: str) -> int:
    if (n := int(text)) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return n


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("device", choices=["cpu", "calls"])
    parser.add_argument(
        "--only", metavar="TEXT", help="only rows whose group and name contain this; printed, not written"
    )
    parser.add_argument("--threads", type=positive, metavar="N", help="threads of every library (default: PyTorch's)")
    parser.add_argument(
        "--seconds", type=float, default=1.0, metavar="S", help="at least, per row and peer (default: 1)"
    )
    parser.add_argument("--out", type=Path, metavar="JSON", help=f"where to write, --only or not (default: {OUT})")
    return parser.parse_args()


def attempt(row: Row, seconds: float, bandwidth: float) -> Result:
    """One row; what goes wrong in it does not end the run."""
    try:
        return measure(row, seconds, bandwidth)
    except Exception as error:
        return Result(row.group, row.name, Direction(failed=f"{type(error).__name__}: {error}"))


def main() -> int:
    chosen = arguments()
    warnings.simplefilter("ignore")
    if chosen.device == "calls":
        return calls.main(report.sentence(report.machine(1, 0, copy_bandwidth())))
    threads = chosen.threads or torch.get_num_threads()
    peers.set_threads(threads)
    table = [row for row in rows() if (chosen.only or "").lower() in f"{row.group}: {row.name}".lower()]
    if not table:
        print(f"no row contains {chosen.only!r}", file=sys.stderr)
        return 2
    bandwidth = copy_bandwidth()
    about = report.machine(threads, chosen.seconds, bandwidth)
    print(report.sentence(about), flush=True)
    results = []
    for row in table:
        results.append(attempt(row, chosen.seconds, bandwidth))
        print(report.line(results[-1]), flush=True)
    out = chosen.out or (None if chosen.only else OUT)
    if out is not None:
        for path in report.write(out, about, results):
            print(f"wrote {path}")
    return int(any(of.failed for r in results for of in (r.forward, r.adjoint) if of is not None))


if __name__ == "__main__":
    sys.exit(main())
