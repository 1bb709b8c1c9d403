"""The command line of the fuzzer."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time

from . import watch


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, help="for how long (default: 1, or as long as --calls take)")
    parser.add_argument("--calls", type=int, help="at most so many calls")
    parser.add_argument("--seed", type=int, help="of the first call; the next one's is one more (default: a random one)")
    parser.add_argument("--only", default="", help="calls of this kind alone")
    parser.add_argument("--jobs", type=int, default=max(1, len(os.sched_getaffinity(0)) // 2), help="workers at a time")
    parser.add_argument("--limit", type=float, default=watch.LIMIT, help="seconds that a call may take")
    parser.add_argument("--replay", type=int, metavar="SEED", help="one call again, its source shown")
    parser.add_argument("--describe", type=int, metavar="SEED", help="a call's source, which is not run")
    parser.add_argument("--save", default="", metavar="FILE", help="all findings, in full")
    parser.add_argument("--stop", action="store_true", help="end with the first finding")
    how = parser.parse_args()
    if how.describe is not None or how.replay is not None:
        from . import runs

        seed = how.describe if how.describe is not None else how.replay
        call = runs.made(seed)
        print(f"{call.kind}\n{call.text()}", flush=True)
        if how.describe is not None:
            return 0
        _, found = watch.watch(seed, 0, 1, 600, 1, "", how.limit, True)
        print("nothing found" if not found else "found")
        return bool(found)
    base = how.seed if how.seed is not None else secrets.randbelow(1 << 40)
    minutes = how.minutes if how.minutes is not None else 24 * 60 if how.calls else 1
    print(f"seeds from {base} on", flush=True)
    began = time.monotonic()
    last = how.calls if how.calls is not None else 1 << 60
    calls, found = watch.watch(base, 0, last, 60 * minutes, how.jobs, how.only, how.limit, how.stop)
    print(watch.report(base, calls, found, time.monotonic() - began))
    watch.saved(how.save, base, found)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
