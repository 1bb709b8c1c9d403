"""Programs of this machine, each asked for its version first: one of the same name may be another one, or broken."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from typing import NamedTuple

#: seconds that a program has to say its version
PATIENCE = 10.0


class Absent(Exception):
    """Why a program cannot be used here."""


class Found(NamedTuple):
    path: str
    version: str


def installed(names: tuple[str, ...], question: str, answer: str) -> Found:
    """The first of these programs that says its version as the real one does; `answer` is a pattern of one line."""
    others = []
    for name in names:
        if (path := shutil.which(name)) is not None:
            said = _said(path, question)
            if version := re.search(answer, said, re.MULTILINE):
                return Found(path, version[0])
            others.append(f"`{path} {question}` answers {said[:60]!r}")
    raise Absent("; ".join(others) or f"{' or '.join(names)} is not installed")


@cache
def _said(path: str, question: str) -> str:
    """Its answer, or what was wrong with it."""
    try:
        done = subprocess.run(
            [path, question], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"nothing in {PATIENCE:g} s"
    except OSError as error:
        return str(error)
    return f"exit status {done.returncode}" if done.returncode else done.stdout
