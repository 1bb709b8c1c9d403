"""The parent: workers that are watched, what they found, the report."""

from __future__ import annotations

import json
import mmap
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

# Seconds a call may take, and a worker to begin.
LIMIT, START = 60.0, 600.0
SLOW = 4.0


class Found(NamedTuple):
    index: int
    kind: str
    what: str
    details: str
    text: str
    thresholds: str = ""


class Worker:
    """Calls first, first + step, ... in a process."""

    def __init__(self, base: int, first: int, step: int, last: int, only: str, limit: float) -> None:
        self.base, self.step, self.last, self.only, self.limit = base, step, last, only, limit
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  # as long as the worker
        self.place = tempfile.NamedTemporaryFile()  # noqa: SIM115
        self.place.write(np.array([-1, 0], np.int64).tobytes())
        self.place.flush()
        self.at = np.frombuffer(mmap.mmap(self.place.fileno(), 16), np.int64)
        self.began, self.seen, self.first = time.monotonic(), -1, first
        command = [sys.executable, "-u", "-m", f"{__package__}.worker", self.place.name]
        command += [str(v) for v in (base, first, step, last)] + [only]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def messages(self) -> list[dict[str, Any]]:
        found = []
        while not self.lines.empty():
            line = self.lines.get()
            if line is not None:
                found.append(json.loads(line))
        return found

    def hangs(self) -> bool:
        index = int(self.at[0])
        if index != self.seen:
            self.seen, self.began = index, time.monotonic()
        return time.monotonic() - self.began > (START if index < 0 else self.limit)

    def said(self) -> str:
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace")
        return (
            text if len(text) < 6000 else f"{text[:4000]}\n...\n{text[-2000:]}"
        )  # a sanitizer's first lines tell most

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def watch(
    base: int, first: int, last: int, seconds: float, jobs: int, only: str, limit: float = LIMIT, stop: bool = False
) -> tuple[Counter[str], list[Found]]:
    """Calls first..last - 1 of the seeds from base on, for so many seconds; stop: or until something is found."""
    calls: Counter[str] = Counter()
    found: list[Found] = []
    workers = [Worker(base, first + k, jobs, last, only, limit) for k in range(jobs)]
    end = time.monotonic() + seconds
    try:
        while workers and time.monotonic() < end and not (stop and found):
            time.sleep(0.05)
            for worker in list(workers):
                over = worker.process.poll() is not None
                if over:
                    time.sleep(0.05)  # for what is still in the pipe
                for message in worker.messages():
                    _take(message, base, calls, found)
                what = ""
                if over and worker.process.returncode:
                    what = _ended(worker.process.returncode)
                elif not over and worker.hangs():
                    what = f"hung: no end within {limit:g} s"
                if not over and not what:
                    continue
                workers.remove(worker)
                worker.stop()
                if what:
                    index = int(worker.at[0])
                    f = crash(base, index, what, worker.said())
                    if not stop and sum((o.kind, o.what) == (f.kind, f.what) for o in found) < 2:
                        f = f._replace(details=f"{f.details}\n{_alone(worker, index)}")
                    _add(f, base, found)
                    calls["crashed"] += 1
                    after = (index if index >= 0 else worker.first) + worker.step
                    if after < last and index >= 0 and not stop:
                        workers.append(Worker(base, after, worker.step, last, only, limit))
    finally:
        for worker in workers:
            worker.stop()
            for message in worker.messages():
                _take(message, base, calls, found)
    return calls, found


def _ended(code: int) -> str:
    return f"crashed: {signal.Signals(-code).name}" if code < 0 else f"crashed: exit status {code}"


def crash(base: int, index: int, what: str, said: str) -> Found:
    """A finding whose worker is gone: the call is described by another process, which does not make it."""
    if index < 0:
        return Found(index, "worker", what, said, "")
    command = [sys.executable, "-m", __package__ or "", "--describe", str(base + index)]
    env = {**os.environ, "TENTER_FUZZ_FAULT": ""}
    try:
        told = subprocess.run(command, capture_output=True, text=True, env=env, timeout=START)
    except subprocess.TimeoutExpired:
        return Found(index, "?", "the fuzzer hung: a call that cannot be made", said, "")
    kind, _, text = told.stdout.partition("\n")
    return Found(index, kind or "?", what, said, text or told.stderr)


def _alone(worker: Worker, index: int) -> str:
    """Does a call end its worker if it is the first?"""
    alone = Worker(worker.base, index, 1, index + 1, "", worker.limit)
    while alone.process.poll() is None and not alone.hangs():
        time.sleep(0.05)
    code = alone.process.poll()
    alone.stop()
    if code == 0 and not any("what" in m for m in alone.messages()):
        return "made alone, the call ends well: one before it may have written where it should not"
    return "made alone, the same"


def _take(message: dict[str, Any], base: int, calls: Counter[str], found: list[Found]) -> None:
    if "done" in message:
        calls[message["done"]] += 1
        if message["s"] > SLOW:
            calls[f"of more than {SLOW:g} s"] += 1
            print(f"slow: {message['s']:.1f} s, {message['done']}, seed {base + message['index']}", flush=True)
    else:
        _add(Found(**message), base, found)


def _add(f: Found, base: int, found: list[Found]) -> None:
    found.append(f)
    same = sum((o.kind, o.what) == (f.kind, f.what) for o in found)
    if same <= 2:
        print(shown(f, base), flush=True)


def shown(f: Found, base: int) -> str:
    lines = [f"=== {f.kind}: {f.what} (call {f.index + 1}, seed {base + f.index})", f.details.rstrip()]
    if f.thresholds:
        lines.append(f"thresholds: {f.thresholds}")
    lines += ["--- as Python, thresholds apart:", f.text.rstrip()] if f.text else []
    return "\n".join([*lines, f"--- again: python -m tests.fuzz --replay {base + f.index}", ""])


def report(base: int, calls: Counter[str], found: list[Found], seconds: float) -> str:
    """Numbers of calls by kind, findings by kind and failure, each with its first seed."""
    total = sum(calls.values())
    lines = [f"{total} calls in {seconds:.0f} s ({60 * total / max(seconds, 1e-9):.0f} a minute), seeds from {base} on"]
    lines += [f"{n:8d}  {kind}" for kind, n in sorted(calls.items())]
    groups: dict[tuple[str, str], list[Found]] = {}
    for f in sorted(found):
        groups.setdefault((f.kind, f.what), []).append(f)
    lines.append(f"{len(found)} findings of {len(groups)} kinds" if found else "nothing found")
    for (kind, what), some in sorted(groups.items(), key=lambda g: g[1][0].index):
        seeds = ", ".join(str(base + f.index) for f in some[:5])
        lines.append(f"{len(some):8d}  {kind}: {what}; first at call {some[0].index + 1}; seeds {seeds}")
        lines.append(f"          {some[0].details.strip()[:200].splitlines()[0] if some[0].details.strip() else ''}")
    return "\n".join(lines)


def saved(path: str, base: int, found: list[Found]) -> None:
    if path:
        Path(path).write_text("\n".join(shown(f, base) for f in sorted(found)))
