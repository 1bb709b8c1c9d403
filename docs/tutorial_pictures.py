"""Runs the tutorials and keeps the pictures that they save: `python docs/tutorial_pictures.py`.

A tutorial is what a reader types in one folder: blocks of Python, which are one program, and lines of the command.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Any

from tenter.cli.main import main as command

FOLDER = Path(__file__).resolve().parent / "tutorials"
#: pages whose code saves the pictures that they show
PAGES = sorted(path for path in FOLDER.glob("*.md") if ".webp)" in path.read_text(encoding="utf-8"))
BLOCK = re.compile(r"```(python|bash)\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.S)


def pictures(page: Path) -> list[str]:
    return re.findall(r"!\[[^]]+\]\(([\w-]+\.webp)\)", page.read_text(encoding="utf-8"))


def run(page: Path, folder: str | Path) -> list[tuple[str, str, str]]:
    """Every block in that folder: its code, what it printed, and what the page shows."""
    found, scope, here = [], dict[str, Any](), Path.cwd()
    os.chdir(folder)
    try:
        for kind, code, shown in BLOCK.findall(page.read_text(encoding="utf-8")):
            with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
                if kind == "python":
                    exec(compile(code, page.name, "exec"), scope)
                else:
                    for line in code.splitlines():
                        program, *options = shlex.split(line, comments=True)
                        assert program == "pip" or (program == "tenter" and command(options) == 0), out.getvalue()
            found.append((code, out.getvalue(), shown))
    finally:
        os.chdir(here)
    return found


def main() -> None:
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            for code, out, shown in run(page, folder):
                print(code if out == shown or not shown else f"{code}\n--- printed\n{out}\n--- the page has\n{shown}")
            for name in pictures(page):
                shutil.copy(Path(folder) / name, FOLDER / name)


if __name__ == "__main__":
    main()
