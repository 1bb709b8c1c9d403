"""Joins sites of several versions: `python docs/join_versions.py build/site`.

Each version's site is built in its own environment into a folder of that name: `python -m sphinx -W docs
build/site/0.1.0`. This writes the list that their pages choose from, and a first page that leads to the newest
version. Names that are no numbers, such as main, come last.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from urllib.parse import quote


def rank(name: str) -> tuple[bool, list[int], str]:
    numbers = re.fullmatch(r"v?(\d+(?:\.\d+)*)", name)
    return bool(numbers), [int(n) for n in numbers[1].split(".")] if numbers else [], name


def join(folder: Path) -> list[str]:
    """Writes both files, and returns the versions, the newest first."""
    names = sorted((p.parent.name for p in folder.glob("*/objects.inv")), key=rank, reverse=True)
    if not names:
        raise SystemExit(f"{folder}: expected folders with a built site, such as {folder}/0.1.0")
    files = {name: sorted((folder / name).rglob("*.html")) for name in names}
    pages = {name: [p.relative_to(folder / name).as_posix() for p in paths] for name, paths in files.items()}
    (folder / "versions.js").write_text(f"const siteVersions = {json.dumps(pages)};\n", encoding="utf-8")
    newest = quote(f"{names[0]}/index.html")
    (folder / "index.html").write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0; url={newest}"><a href="{newest}">tenter</a>\n',
        encoding="utf-8",
    )
    return names


if __name__ == "__main__":
    print(*join(Path(sys.argv[1])))
