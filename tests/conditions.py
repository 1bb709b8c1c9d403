"""`python -m tests.conditions`: the tests on machines unlike this one, each simulated on this one.

A condition changes the environment or starts the tests by another program. Only those files run whose tests start
processes, touch files or print, unless `--all` or files are given. Exits with 1 if a test fails.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = re.compile(
    r"subprocess|_program\b|prints\(|multiprocessing|os\.fork|_helpers import|tmp_path|tempfile|capsys|capfd|environ|chdir"
)
#: programs that the tests, the benchmarks or the libraries they import may look for
PROGRAMS = [
    "chromium", "chromium-browser", "google-chrome", "clang-format", "compute-sanitizer", "convert", "convert-im6",
    "convert-im7", "exiftool", "ffmpeg", "git", "lscpu", "magick", "mypy", "node", "nvidia-smi", "pip", "pyright", "python",
    "python3", "ruff", "tenter", "vipsthumbnail",
]  # fmt: skip
NOBODY = "65534"


class Machine(NamedTuple):
    """environment: None unsets a variable. before: words before the command. copied: another user may not write, and
    perhaps not read, this checkout."""

    environment: dict[str, str | None] = {}
    before: tuple[str, ...] = ()
    copied: bool = False


class NotHere(Exception):
    """Why a condition cannot be simulated."""


def stand_ins(folder: Path, script: str) -> Machine:
    for name in PROGRAMS:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return Machine({"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"})


def another_file_system(folder: Path) -> Machine:
    for other in ("/dev/shm", "/run", "/var/tmp"):
        if os.access(other, os.W_OK) and os.stat(other).st_dev != folder.stat().st_dev:
            made = tempfile.mkdtemp(prefix="tenter-tests-", dir=other)
            os.chmod(made, 0o777)
            return Machine({"TMPDIR": made})
    raise NotHere("no other file system may be written")


def by(*before: str, copied: bool = False, **environment: str | None) -> Machine:
    tried = [*before, "sh", "-c", '"$0" -c "import tenter"', sys.executable]  # as tests start processes
    if shutil.which(before[0]) is None or subprocess.run(tried, capture_output=True, cwd="/", check=False).returncode:
        raise NotHere(f"`{' '.join(before)[:60]}` does not work here")
    return Machine(environment, before, copied)


def shell(script: str) -> tuple[str, ...]:
    return ("sh", "-c", f'{script} "$@"', "sh")


# A network of its own: loopback alone, which is up once the flag is set.
UP = "import fcntl, socket as s, struct; fcntl.ioctl(s.socket(), 0x8914, struct.pack('16sh14x', b'lo', 73))"
NETWORK = ("unshare", *(() if os.geteuid() == 0 else ("--user", "--map-root-user")), "--net")
NO_IPV6 = shell(f'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 && "{sys.executable}" -c "{UP}" && exec')
TERMINAL = (sys.executable, "-c", "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))")

CONDITIONS: dict[str, Callable[[Path], Machine]] = {
    "as it is": lambda _: Machine(),
    "bytecode is not written": lambda _: Machine({"PYTHONDONTWRITEBYTECODE": "1"}),
    "bytecode is written": lambda _: Machine({"PYTHONDONTWRITEBYTECODE": None}),
    "programs say something else": lambda folder: stand_ins(folder, "echo ImageMagick: not installed, libvips either"),
    "programs fail": lambda folder: stand_ins(folder, "echo broken >&2; exit 1"),
    "programs hang": lambda folder: stand_ins(folder, "exec sleep 1000"),
    "no home": lambda _: Machine({"HOME": "/dev/null/none", "XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None}),
    "temporary files on another file system": another_file_system,
    "one core": lambda _: by("taskset", "-c", str(min(os.sched_getaffinity(0)))),
    "one thread": lambda _: Machine({"OMP_NUM_THREADS": "1"}),
    "more threads than cores": lambda _: Machine({"OMP_NUM_THREADS": "7"}),
    "locale C": lambda _: Machine({"LC_ALL": "C", "LANG": None}),
    "locale of ASCII": lambda _: Machine({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "no locale": lambda _: Machine({"LC_ALL": None, "LANG": None, "LC_CTYPE": None}),
    "time zone of Kathmandu": lambda _: Machine({"TZ": "Asia/Kathmandu"}),
    "40 columns": lambda _: Machine({"COLUMNS": "40", "LINES": "10"}),
    "300 columns": lambda _: Machine({"COLUMNS": "300"}),
    "colors asked for": lambda _: Machine({"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "CI": "1"}),
    "colors refused": lambda _: Machine({"NO_COLOR": "1", "TERM": "dumb"}),
    "Python's options": lambda _: Machine({"PYTHONWARNINGS": "default", "PYTHONPATH": ":/none:", "PYTHONHASHSEED": "1"}),
    "input closed": lambda _: by(*shell('exec <&-; exec')),
    "a terminal": lambda _: by(*TERMINAL),
    "no terminal": lambda _: by("setsid", "--wait"),
    "no IPv6, no network": lambda _: by(*NETWORK, *NO_IPV6),
    "another user": lambda _: by(
        "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", copied=True, HOME="/none", USER=None, LOGNAME=None
    ),
}  # fmt: skip
TOGETHER = (
    "bytecode is not written", "programs say something else", "no home", "temporary files on another file system",
    "one thread", "locale C", "time zone of Kathmandu", "40 columns", "Python's options", "no IPv6, no network", "another user",
)  # fmt: skip


def ran(names: list[str], tests: list[str]) -> tuple[int, str]:
    """Exit status and output of the tests under these conditions at once."""
    environment: dict[str, str | None] = dict(os.environ)
    before: tuple[str, ...] = ()
    root = ROOT
    with tempfile.TemporaryDirectory(prefix="tenter-conditions-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for condition in names:
            made = folder / condition.replace(" ", "-")
            made.mkdir()
            machine = CONDITIONS[condition](made)
            environment.update(machine.environment)
            before += machine.before
            if machine.copied:
                root = Path(
                    shutil.copytree(ROOT, folder / "tree", ignore=shutil.ignore_patterns(".git", ".venv*", "build"))
                )
        try:
            done = subprocess.run(
                [*before, sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", *tests],
                cwd=root, env={k: v for k, v in environment.items() if v is not None}, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
            )  # fmt: skip
        finally:
            if (temporary := environment.get("TMPDIR")) != os.environ.get("TMPDIR"):
                shutil.rmtree(str(temporary), ignore_errors=True)
    return done.returncode, done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", nargs="*", help="files or options of pytest")
    parser.add_argument("--all", action="store_true", help="every test")
    parser.add_argument("--only", default="", metavar="TEXT", help="conditions with this in their name")
    parser.add_argument("--together", action="store_true", help=f"at once: {', '.join(TOGETHER)}")
    chosen = parser.parse_args()
    files = [str(f.relative_to(ROOT)) for f in ROOT.glob("tests/*/test_*.py") if OUTSIDE.search(f.read_text("utf-8"))]
    tests = chosen.tests or ([] if chosen.all else ["-n", "2", *sorted(files)])
    conditions = [[name] for name in CONDITIONS if chosen.only in name]
    failed = False
    for names in [[*TOGETHER]] if chosen.together else conditions:
        try:
            code, said = ran(names, tests)
        except NotHere as reason:
            print(f"{' + '.join(names)}: not here: {reason}", flush=True)
            continue
        failed |= code != 0
        print(*([said] if code else []), f"{' + '.join(names)}: {said.strip().splitlines()[-1]}", sep="\n", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
