"""What takes a process of its own: its end, while a thread is inside of a call; a fork there."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from .call import Call, Named
from .draw import Draw
from .oracle import Wrong

WORK = """
import os, sys, threading, time
import numpy as np, tenter
tenter.set_num_threads({threads})
x = np.ones({shape}, np.{dtype})
def work():
    while True:
        {call}
for _ in range({workers}):
    threading.Thread(target=work, daemon=True).start()
time.sleep({seconds})
"""
ENDS = {
    "the end of the script": "",
    "sys.exit": "sys.exit(0)",
    "os._exit": "os._exit(0)",
    "a fork": """
child = os.fork()
if not child:
    tenter.resize(x, 7, axes=0)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""",
}
CALLS = ("tenter.resize(x, 700, axes=0)", "tenter.repeat_interleave(x, 9)", "tenter.tile(x, 9)",
         "tenter.repeat_interleave(x, np.full(len(x), 5), 0)")  # fmt: skip


def ended(code: str) -> int:
    """Runs Python in a process; its exit status must be 0, and it says nothing."""
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=50, env=os.environ
    )
    if told.returncode or told.stderr:
        raise Wrong(f"a process ended with {told.returncode}", told.stderr[-2000:])
    return told.returncode


def end(r: Draw) -> Call:
    code = WORK.format(
        threads=r.pick((1, 2)), shape=(r.int(100, 400), r.int(100, 400)), dtype=r.pick(("float32", "uint8", "int64")),
        call=r.pick(CALLS), workers=r.pick((1, 2)), seconds=r.pick((0.01, 0.05, 0.1)),
    ) + ENDS[r.pick(list(ENDS))]  # fmt: skip
    names = {"ended": Named("ended", ended, "processes.ended")}
    return Call("", f"y = ended({code!r})", names, _nothing, repeats=False)


def _nothing(y: Any) -> None:
    if y:
        raise Wrong("exit status", str(y))


KINDS: dict[str, tuple[Any, float]] = {"process": (end, 0.06)}
