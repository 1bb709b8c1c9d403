"""Rewrites the tables in docs/pytorch.md from the checks of tests/transforms.py: `python docs/pytorch_table.py`.

With --check it writes nothing, and fails if the page differs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import transforms  # noqa: E402
from torch_cases import CASES, Case, Wrong  # noqa: E402

PAGE = ROOT / "docs" / "pytorch.md"
START, END = "<!-- table -->", "<!-- /table -->"


class Notes:
    """Footnotes, each message once."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def mark(self, text: str) -> str:
        if text not in self.texts:
            self.texts.append(text)
        return f"<sup>{self.texts.index(text) + 1}</sup>"


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


def cell(found: list[tuple[str, str]], notes: Notes) -> str:
    """One word for a row's cases under a column's transforms."""
    if not found:
        return "-"
    words = {word for word, _ in found}
    marks = "".join(dict.fromkeys(notes.mark(why) for _, why in found if why))
    if words == {"yes"}:
        return "yes"
    return ("wrong" if "wrong" in words else "partly" if "yes" in words else "no") + marks


def tables() -> str:
    notes = Notes()
    rows = list(dict.fromkeys(case.row for case in CASES))
    lines = [f"Measured with PyTorch {torch.__version__.split('+')[0]}.", ""]
    for title, columns in transforms.COLUMNS.items():
        lines += [f"| {title} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
        for row in rows:
            cells = []
            for column in columns:
                checks = [
                    (n, c) for n, c in transforms.CHECKS if c.row == row and transforms.TRANSFORMS[n].column == column
                ]
                ours = [outcome(n, c, c.ours) for n, c in checks]
                theirs = [outcome(n, c, c.theirs) for n, c in checks if c.theirs is not None]
                pair = f"{cell(ours, notes)} / {cell(theirs, notes)}"
                cells.append("-" if pair == "- / -" else pair)
                print(f"{row}, {column}: {cells[-1]}", flush=True)
            lines.append(f"| {row} | {' | '.join(cells)} |")
        lines.append("")
    lines += [f"{i}. `{text}`" for i, text in enumerate(notes.texts, 1)]
    return "\n".join(lines)


def main() -> None:
    table = tables()
    text = PAGE.read_text()  # after the checks: they take minutes, in which the page may change
    before, rest = text.split(START)
    made = f"{before}{START}\n{table}\n{END}{rest.split(END)[1]}"
    if "--check" in sys.argv:
        sys.exit(0 if made == text else "docs/pytorch.md differs: run docs/pytorch_table.py")
    PAGE.write_text(made)


if __name__ == "__main__":
    main()
