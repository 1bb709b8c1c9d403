"""Ctrl-C while a decoder or an encoder is busy: the command ends at once, and leaves nothing behind."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cli_helpers import Image, _inside  # noqa: F401
from sweeps import sampled
from tenter.cli.interrupts import interruptible

#: The command with a function that never ends, no more than a C library's, by any signal.
PROGRAM = """
import ctypes, signal, sys
from tenter.cli import main, resize
from sweeps import sampled
from tenter.cli.writing import files
signal.signal(signal.SIGINT, signal.default_int_handler)
lock = ctypes.create_string_buffer(256)
def busy(*_):
    open("busy", "w").close()
    for _ in range(2):
        ctypes.CDLL(None).pthread_mutex_lock(lock)
where = {"encoder": files, "decoder": resize, "core": resize}[sys.argv[1]]
setattr(where, {"encoder": "_write", "decoder": "_opened", "core": "_resize_pixels"}[sys.argv[1]], busy)
sys.argv = ["tenter", *sys.argv[2:]]
main.run()
"""


WHERE = ["encoder", "decoder", "core"]
ARGS = [["in.png", "out.gif"], ["many", "out/", "--jobs", "1"], ["many", "out/"], ["-", "-"]]


@pytest.mark.parametrize("args, where", sampled(itertools.product(ARGS, WHERE), 5))
def test_an_interrupt_waits_for_nothing(where: str, args: list[str]) -> None:
    Path("many").mkdir()
    for k in range(3):
        Image.new("RGB", (8, 8)).save(f"many/{k}.png")
    jobs = ["--jobs", "2"] if args == ["many", "out/"] else []
    with open("in.png", "rb") as stdin:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, where, "resize", *args, "--scale", "2", *jobs],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    try:
        while not Path("busy").exists():
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    then = b" after 0 of 3 files; --skip-existing continues" if args[0] == "many" else b""
    assert (process.returncode, out, err) == (130, b"", b"tenter: interrupted" + then + b"\n")
    assert not [path for path in Path().rglob("*") if path.name.startswith(".tenter") or path.name.startswith("out")]


def test_a_signal_that_wakes_no_wait_is_answered_before_the_work_ends() -> None:
    stop = threading.Event()
    ended: list[bool] = []

    def work() -> None:
        time.sleep(0.2)  # the main thread waits by then
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)  # which interrupts this thread's calls alone
        stop.wait(20)
        ended.append(True)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            interruptible(work)
        assert not ended
    finally:
        stop.set()
        signal.signal(signal.SIGINT, before)
