"""Writes the playground as one page: `python docs/playground/build.py [OUT]`, by default build/playground.html.

The page holds its style and its programs, and a policy by which a browser refuses everything else.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def page() -> str:
    """The page, the same for the same files."""
    made = (HERE / "index.html").read_text("utf-8")
    meta = f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    made = made.replace('<meta charset="utf-8">', meta)
    made = re.sub(r'<link rel="stylesheet" href="([^"]+)">', lambda m: f"<style>\n{_text(m[1])}</style>", made)
    return re.sub(r'<script src="([^"]+)"></script>', lambda m: f"<script>\n{_text(m[1])}</script>", made)


def _text(name: str) -> str:
    text = (HERE / name).read_text("utf-8")
    if "</script" in text or "</style" in text:
        raise ValueError(f"{name}: expected no end of a script or a style within, as the page would end it there")
    return text


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parents[1] / "build" / "playground.html"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page(), "utf-8")
    print(f"{out}: {out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
