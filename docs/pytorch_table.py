"""Rewrites the table in docs/compile.md from the checks of tests/helpers/transforms.py: `python docs/pytorch_table.py`.

With --check it writes nothing, and fails if the page differs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import marks
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import transforms  # noqa: E402
from torch_cases import CASES, Case, Wrong  # noqa: E402

PAGE = ROOT / "docs" / "compile.md"
START, END = "<!-- table -->", "<!-- /table -->"


def outcome(name: str, case: Case, f: object) -> tuple[str, str]:
    """yes, no or wrong, and the reason."""
    try:
        transforms.run(name, case, f)
    except Wrong as error:
        return "wrong", str(error)
    except Exception as error:
        words = " ".join(str(error).split())
        words = re.sub(r"^backend='.*?' raised: |(?<=expression) Eq.*|(?<=FAILED) at .*", "", words)
        return "no", f"{type(error).__name__}: {words[:80]}{'...' * (len(words) > 80)}".replace("|", "/")
    return "yes", ""


def word(found: list[tuple[str, str]]) -> str:
    """What a row's cases do under a column's transforms, with the reasons."""
    if not found:
        return "-"
    words = {word for word, _ in found}
    if words == {"yes"}:
        return "yes"
    first = "wrong" if "wrong" in words else "partly" if "yes" in words else "no"
    return f"{first}: {', '.join(dict.fromkeys(f'`{why}`' for _, why in found if why))}"


def exceptions() -> dict[tuple[str, str, str], list[str]]:
    """Rows in which PyTorch's function or ours does not say yes: the columns by the row and what both say."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for column in (column for columns in transforms.COLUMNS.values() for column in columns):
        for row in dict.fromkeys(case.row for case in CASES):
            checks = [
                (n, c) for n, c in transforms.CHECKS if c.row == row and transforms.TRANSFORMS[n].column == column
            ]
            ours = word([outcome(n, c, c.ours) for n, c in checks])
            theirs = word([outcome(n, c, c.theirs) for n, c in checks if c.theirs is not None])
            print(f"{row}, {column}: {ours} / {theirs}", flush=True)
            theirs = theirs if theirs.startswith("wrong") else theirs.partition(":")[0]  # what PyTorch says is long
            if {ours, theirs} - {"yes", "-"}:
                found.setdefault((row, ours, theirs), []).append(column)
    return found


def table() -> str:
    lines = [f"Checked with PyTorch {torch.__version__.split('+')[0]}.", ""]
    lines += [f"- **{title}**: {'; '.join(columns)}" for title, columns in transforms.COLUMNS.items()]
    lines += ["", "| function | under | tenter | PyTorch |", "|---|---|---|---|"]
    lines += [f"| {row} | {'; '.join(columns)} | {ours} | {theirs} |"
              for (row, ours, theirs), columns in exceptions().items()]  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(marks.write(PAGE, START, END, table))
