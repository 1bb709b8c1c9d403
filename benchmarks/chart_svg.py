"""Bars of how many times faster tenter is: an SVG for light pages and one for dark ones. Narrow, so that its text can
be read on a phone."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from benchmarks.machine import processor_of, when

WIDTH, LEFT, RIGHT = 520, 16, 64
BAR, GAP, LABEL, ROW = 13, 2, 20, 7  # heights: of a bar, between bars, of a row's name, between rows
LEAST, MOST = 0.5, 64.0  # ends of the axis

TICKS = (0.5, 1, 2, 4, 8, 16, 32, 64)
LOOKS = {
    "light": {"page": "#ffffff", "rule": "#d1d9e0", "ink": "#1f2328", "dim": "#59636e",
              "bars": ("#2563eb", "#93b4f5", "#0f766e", "#b45309", "#7c3aed", "#be185d", "#475569")},
    "dark": {"page": "#0d1117", "rule": "#30363d", "ink": "#e6edf3", "dim": "#9da7b3",
             "bars": ("#6ea0ff", "#3f66b5", "#2dd4bf", "#f0a04b", "#b794f6", "#f472b6", "#94a3b8")},
}  # fmt: skip
PEERS = ("PyTorch, huge pages", "PyTorch", "Pillow", "OpenCV", "NumPy", "fast_image_resize", "SciPy")
FONT = "font-family=\"system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif\""


def rows(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Those to be shown, and at the end the one in which tenter does worst."""
    worst = min(data["rows"], key=lambda row: min((c["ratio"] for c in row["contests"].values()), default=math.inf))
    return [row for row in data["rows"] if row["shown"] and row is not worst] + [worst]


def x_of(ratio: float) -> float:
    share = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def chart(data: dict[str, Any], look: str) -> str:
    colors: dict[str, Any] = LOOKS[look]
    parts: list[str] = []

    def text(
        x: float, y: float, said: str, color: str, size: float = 13, anchor: str = "start", bold: bool = False
    ) -> None:
        weight = ' font-weight="600"' if bold else ""
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {FONT} font-size="{size}" fill="{color}" '
                     f'text-anchor="{anchor}"{weight}>{escape(said)}</text>')  # fmt: skip

    chosen = rows(data)
    top = 26.0
    text(LEFT, top, "How many times faster is tenter?", colors["ink"], 16, bold=True)
    top += 12
    names = [name for name in PEERS if any(name in row["contests"] for row in chosen)]
    x = float(LEFT)
    for name in names:
        said = f"than {name}"
        wide = 26 + 6.8 * len(said)
        if x + wide > WIDTH - 8:
            x, top = float(LEFT), top + 18
        parts.append(
            f'<rect x="{x:.1f}" y="{top + 4:.1f}" width="11" height="11" rx="2" fill="{color_of(name, colors)}"/>'
        )
        text(x + 16, top + 14, said, colors["dim"], 12)
        x += wide
    top += 28
    for row in chosen:
        text(LEFT, top + 14, row["name"], colors["ink"])
        top += LABEL
        held = [name for name in names if name in row["contests"]]
        bottom = top + len(held) * (BAR + GAP) - GAP
        for tick in TICKS:
            look_of = ("ink", 1.2) if tick == 1 else ("rule", 0.8)
            parts.append(
                f'<line x1="{x_of(tick):.1f}" x2="{x_of(tick):.1f}" y1="{top - 3:.1f}" y2="{bottom + 3:.1f}" '
                f'stroke="{colors[look_of[0]]}" stroke-width="{look_of[1]}"/>'
            )
        for name in held:
            ratio = row["contests"][name]["ratio"]
            a, b = sorted((x_of(1), x_of(ratio)))
            parts.append(f'<rect x="{a:.1f}" y="{top:.1f}" width="{max(b - a, 1):.1f}" height="{BAR}" rx="2" '
                         f'fill="{color_of(name, colors)}"/>')  # fmt: skip
            said = times(ratio) + f": {name} is faster" * (ratio < 1)
            text(b + 5, top + BAR - 2.5, said, colors["ink"], 12)
            top += BAR + GAP
        top += ROW
    for tick in TICKS:
        text(x_of(tick), top + 14, f"{tick:g}x", colors["dim"], 11, "middle")
    top += 34
    for line in caption(data):
        text(LEFT, top, line, colors["dim"], 11)
        top += 15
    height = top
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" '
        f'height="{height:.0f}" role="img"><title>{escape(title(data))}</title>'
    )
    page = (
        f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1:.0f}" rx="8" fill="{colors["page"]}" '
        f'stroke="{colors["rule"]}"/>'
    )
    return "\n".join([head, page, *parts, "</svg>", ""])


def times(ratio: float) -> str:
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.1f}x" if ratio >= 0.995 else f"{ratio:.2f}x"


def color_of(name: str, colors: dict[str, Any]) -> str:
    return str(colors["bars"][PEERS.index(name)])


def title(data: dict[str, Any]) -> str:
    said = (f"{row['name']}: " + ", ".join(f"{c['ratio']:.1f}x {name}" for name, c in row["contests"].items())
            for row in rows(data))  # fmt: skip
    return f"How many times faster tenter is. {'; '.join(said)}"


def caption(data: dict[str, Any]) -> list[str]:
    """The machine and the versions, in lines that fit."""
    about = data["machine"]
    names = {
        "tenter": "tenter",
        "torch": "PyTorch",
        "numpy": "NumPy",
        "pillow": "Pillow",
        "opencv": "OpenCV",
        "cykooz-resizer": "fast_image_resize",
    }
    versions = [f"{name} {about['versions'][key]}" for key, name in names.items() if key in about["versions"]]
    threads = f"{about['threads']} thread{'s' * (about['threads'] != 1)} (Pillow's row: 1 on both sides)"
    half = (len(versions) + 1) // 2
    return [
        "Logarithmic scale. Median of paired calls that take turns.",
        f"{processor_of(about)}, {threads}",
        when(about),
        ", ".join(versions[:half]) + ",",
        ", ".join(versions[half:]),
    ]
