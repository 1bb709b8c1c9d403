"""Helpers for the tests of the command line: a temporary folder, a run, a refusal in one line."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tenter.cli import output, workers
from tenter.cli.main import main

Image = pytest.importorskip("PIL.Image")
WORK = workers._work  # which tests replace


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs in its own folder, so that a stray file is found, and keeps no key in the user's folders."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state"))
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 256, (12, 10, 3), np.uint8)).save("in.png")
    np.save("in.npy", np.arange(12.0).reshape(3, 4))


def command(*args: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "-m", "tenter.cli.main", *map(str, args)]
    return subprocess.run(run, capture_output=True, text=True, timeout=120, check=False, **options)


def ran(*args: Any) -> subprocess.CompletedProcess[str]:
    """As `command`, in this process: for what needs no end of a process, no limit and no descriptor."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(arg) for arg in args])
    return subprocess.CompletedProcess(args, code, out.getvalue(), err.getvalue())


def refused(capsys: pytest.CaptureFixture[str], *args: Any) -> str:
    """Run a command that must be refused; return its one line."""
    before = {path: path.lstat().st_mtime_ns for path in Path().rglob("*")}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert main([str(arg) for arg in args]) == 2
    # outside of tests, a warning would be a second line
    assert [str(warning.message) for warning in warned] == []
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("tenter: ") and said.err.endswith("\n") and said.err.count("\n") == 1, said.err
    assert {path: path.lstat().st_mtime_ns for path in Path().rglob("*")} == before
    return said.err


def truncated(name: str, save: Callable[[str], None], keep: float = 0.6) -> str:
    save(name)
    data = Path(name).read_bytes()
    Path(name).write_bytes(data[: int(len(data) * keep)])
    return name


def noise(mode: str = "RGB") -> Any:
    rng = np.random.default_rng(1)
    return Image.fromarray(rng.integers(0, 256, (40, 40, len(mode)), np.uint8).squeeze())


def reports_its_mask(pipe: Any, options: Any) -> None:
    """A worker that reports whether SIGINT is blocked in it."""
    pipe.send(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))


def files(folder: str) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


def workers_die_on_b(monkeypatch: pytest.MonkeyPatch) -> None:
    real = workers._start

    def start(*args: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(workers, "_work", _killed_on_b)
            return real(*args)

    monkeypatch.setattr(workers, "_start", start)


def _killed_on_b(pipe: Any, options: Any) -> None:
    """A worker that is killed while it writes the result of b.png, as the kernel does when memory is short."""

    def write(file: Any) -> None:
        file.write(b"half")
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)

    attempt = workers._attempt

    def until_b(task: Any, *options: Any) -> Any:
        if task.source.endswith("b.png"):
            Path(task.output).parent.mkdir(exist_ok=True)
            output.write_beside(Path(task.output).resolve(), False, write)
        return attempt(task, *options)

    workers._attempt = until_b
    WORK(pipe, options)


def in_child(args: list[str], prepare: Callable[[], Any]) -> int:
    """Run a command in a fork, after `prepare`. Returns its exit code, which is negative if a signal ended it."""
    child = os.fork()
    if not child:
        code = 99
        try:
            prepare()
            code = main(args)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_at(steps: set[str], step: int) -> Callable[[], None]:
    """A function that makes the process kill itself just before its operation number `step`, of those audit events."""

    def prepare() -> None:
        left = step

        def hook(event: str, _: Any) -> None:
            nonlocal left
            if event in steps:
                left -= 1
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)

    return prepare
