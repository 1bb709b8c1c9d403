"""`python -m benchmarks cpu`: measures, prints each row, writes the report. `gpu`: the same on a CUDA device. `chart`:
the numbers of the README and of docs/performance.md. `calls`: what a tiny call costs. `compiled`, `jax`: code compiled
by PyTorch and by JAX. `cookbook`: the tables of docs/cookbook. `loader`: images per second of data loaders. `patches`:
what patches for vision-language models take. `folders`: programs on folders of photographs. `volumes`: arrays on disk.
`splines`: volumes by splines.
`augment`, `ragged`, `segments`, `signals`, `photographs`: calls of which each is new; `new`: these. `overhead`: what
calls take outside of kernels. `random`: calls that nobody chose. `busy`: calls while other processes are busy. `arm`:
instructions that calls execute on Arm."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks import (
    arm,
    busy,
    calls,
    chart,
    compiled,
    cookbook,
    folders,
    gpu,
    growth,
    latency,
    loader,
    memory,
    multiples,
    new_calls,
    overhead,
    patches,
    peers,
    random_calls,
    random_report,
    report,
    splines,
    table,
    volumes,
)
from benchmarks.machine import Settings, brief, machine, sentence
from benchmarks.measure import copy_bandwidth
from benchmarks.results import Result

OUT = Path("docs/measured/calls.json")
PARTS: dict[str, Callable[[Settings], Any]] = {
    "table": table.run,
    "latency": latency.run,
    "growth": growth.run,
    "memory": memory.run,
}


def positive(text: str) -> int:
    if (n := int(text)) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return n


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    what = parser.add_subparsers(dest="what", required=True)
    arm.add_arguments(what.add_parser("arm", help=f"counts instructions on Arm, writes {arm.PAGE}"))
    what.add_parser("calls", help="writes the first table of docs/measured/pytorch.md")
    bars = what.add_parser("chart", help="writes the numbers and bars of README.md and docs/performance.md")
    bars.add_argument(
        "--seconds",
        type=float,
        default=1.0,
        metavar="S",
        help="at least, per row and library; 0: draw what is recorded",
    )
    what.add_parser("compiled", help="writes the other tables of docs/measured/pytorch.md")
    in_jax = what.add_parser("jax", help="writes docs/measured/jax.md")
    in_jax.add_argument(
        "--only", metavar="TEXT", default="", help="only what has this in its name; printed, not written"
    )
    in_jax.add_argument("--seconds", type=float, default=2.0, metavar="S", help="at least, per row and direction")
    recipes = what.add_parser("cookbook", help="writes the tables of docs/cookbook/")
    recipes.add_argument("--threads", type=positive, metavar="N", help="threads of every library (default: PyTorch's)")
    what.add_parser("overhead", help="what calls of a few elements take; printed")
    what.add_parser("multiples", help="writes docs/measured/memory.csv")
    folders.add_arguments(what.add_parser("folders", help=f"writes {folders.PAGE}"))
    loader.add_arguments(what.add_parser("loader", help=f"writes {loader.PAGE}"))
    patches.add_arguments(what.add_parser("patches", help="prints what patches for vision-language models take"))
    what.add_parser("volumes", help="writes docs/measured/volumes.md")
    at = what.add_parser("splines", help=f"writes {splines.PAGE}")
    at.add_argument("--threads", type=positive, metavar="N", help="threads of every library (default: PyTorch's)")
    gpu.add_arguments(what.add_parser("gpu", help="writes docs/measured/gpu.md and .json"))
    for name in (*new_calls.PARTS, "new"):
        new_calls.add_arguments(what.add_parser(name, help=f"writes docs/measured/{new_calls.OUT.stem}.md and .json"))
    busy.add_arguments(what.add_parser("busy", help="prints what calls take while other processes are busy"), positive)
    random_calls.add_arguments(what.add_parser("random", help=f"writes {random_report.PAGE}"), positive)
    cpu_arguments(what.add_parser("cpu", help="writes docs/measured/calls.md and .json"))
    return parser


def cpu_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--part", choices=list(PARTS), action="append", help="that part only, may be repeated")
    parser.add_argument(
        "--only", metavar="TEXT", default="", help="only what has this in its group and name; printed, not written"
    )
    parser.add_argument("--threads", type=positive, metavar="N", help="threads of every library (default: PyTorch's)")
    parser.add_argument(
        "--seconds", type=float, default=1.0, metavar="S", help="at least, per row and peer (default: 1)"
    )
    parser.add_argument("--out", type=Path, metavar="JSON", help=f"where to write, --only or not (default: {OUT})")
    parser.add_argument("--tables", action="store_true", help="print each call of the results that are there")
    parser.add_argument("--render", action="store_true", help="write the page from the results that are there")


def failures(found: list[Any]) -> int:
    ways = [of for r in found for of in ((r.forward, r.backward) if isinstance(r, Result) else (r,)) if of is not None]
    return sum(bool(getattr(of, "forward", of).failed) for of in ways)


def main() -> int:
    chosen = parser().parse_args()
    warnings.simplefilter("ignore")
    if chosen.what == "arm":
        return arm.main(chosen)
    if chosen.what == "gpu":
        return gpu.main(chosen)
    if chosen.what in (*new_calls.PARTS, "new"):
        return new_calls.main(chosen)
    if chosen.what == "random":
        return random_calls.main(chosen)
    if chosen.what == "busy":
        return busy.main(chosen)
    if chosen.what == "patches":
        return patches.main(chosen)
    if chosen.what == "loader":
        return loader.main(chosen)
    if chosen.what == "multiples":
        return multiples.main()
    if chosen.what == "overhead":
        return overhead.main()
    if chosen.what == "folders":
        return folders.main(chosen)
    if chosen.what == "cpu" and chosen.tables:
        print(report.every_call(chosen.out or OUT))
        return 0
    if chosen.what == "cpu" and chosen.render:
        return new_calls.wrote(report.render(chosen.out or OUT))
    bandwidth = copy_bandwidth()
    if chosen.what == "volumes":
        threads = torch.get_num_threads()
        return volumes.main(brief(machine(Settings(threads, 0, bandwidth)), ("numpy", "scikit-image")), threads)
    if chosen.what == "calls":
        return calls.main(brief(machine(Settings(1, 0, bandwidth)), ("torch",)))
    if chosen.what == "chart":
        return chart.main(chosen.seconds, torch.get_num_threads(), bandwidth)
    if chosen.what == "cookbook":
        threads = chosen.threads or torch.get_num_threads()
        peers.set_threads(threads)
        return cookbook.main(brief(machine(Settings(threads, 0, bandwidth))))
    if chosen.what == "splines":
        threads = chosen.threads or torch.get_num_threads()
        peers.set_threads(threads)
        return splines.main(brief(machine(Settings(threads, 0, bandwidth)), splines.PACKAGES))
    if chosen.what == "compiled":
        return compiled.main(brief(machine(Settings(max(compiled.THREADS), 0, bandwidth)), ("torch",)))
    if chosen.what == "jax":
        from benchmarks import xla  # as it imports jax

        where = brief(machine(Settings(torch.get_num_threads(), 0, bandwidth)), ("numpy",))
        return xla.main(where, chosen.only, chosen.seconds)
    settings = Settings(chosen.threads or torch.get_num_threads(), chosen.seconds, bandwidth, chosen.only)
    peers.set_threads(settings.threads)
    about = machine(settings)
    print(sentence(about), flush=True)
    measured: dict[str, list[Any]] = {}
    for part in chosen.part or PARTS:
        start = time.monotonic()
        measured[part] = PARTS[part](settings)
        print(f"{part}: {time.monotonic() - start:.0f} s", flush=True)
    measured = {part: found for part, found in measured.items() if found}
    if not measured:
        print(f"nothing contains {chosen.only!r}", file=sys.stderr)
        return 2
    out = chosen.out or (None if chosen.only else OUT)
    if out is not None:
        for path in report.write(out, about, measured):
            print(f"wrote {path}")
    return int(any(failures(found) for found in measured.values()))


if __name__ == "__main__":
    sys.exit(main())
