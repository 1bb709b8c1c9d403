"""Tables of pages, which programs of this folder write between two marks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path


def write(page: Path, begin: str, end: str, make: Callable[[], str], known: Callable[[str], str] = str) -> int:
    """Writes the result of `make` between the marks. With --check it writes nothing; 1 says that the page differs.

    known: a page without the lines that cannot be made here
    """
    made = make()
    text = known(page.read_text())  # after `make`, which may take minutes, in which the page may change
    before, rest = text.split(begin)
    whole = f"{before}{begin}\n{made}\n{end}{rest.split(end, 1)[1]}"
    if "--check" not in sys.argv:
        page.write_text(whole)
        return 0
    if whole != text:
        print(f"docs/{page.name} differs from what `python docs/{Path(sys.argv[0]).name}` writes", file=sys.stderr)
    return int(whole != text)
