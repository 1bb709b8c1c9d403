"""The drawing of a map as SVG: a row of inputs, a row of outputs, and a line for each weight.

Cells with the same source have the same color. A weighted sum has the mixture of its inputs' colors. So the picture is
readable without its lines. Text outside cells has classes whose colors follow the page (`STYLE`).
"""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from tenter.maps._copy import Copy
from tenter.maps._entries import entries
from tenter.maps._gather import Gather
from tenter.maps._window import Window

# MOST: the largest number of outputs and inputs that are all drawn. FIRST: how many are drawn if there are more.
MOST, FIRST = 24, 16
FONT = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_CELL, _GAP, HEIGHT = 34.0, 5.0, 118.0

Color = tuple[int, int, int]
FEW: tuple[Color, ...] = ((37, 99, 235), (219, 39, 119), (245, 166, 35), (22, 163, 74), (8, 145, 178), (124, 58, 237))
MIXED = FEW[:3]  # the scale for many inputs, and for mixtures


class Theme(NamedTuple):
    """The colors of a figure.

    ink: text
    soft: remarks
    card, line: the background of a figure and its border
    """

    ink: str
    soft: str
    card: str
    line: str


LIGHT = Theme("#1f2328", "#59636e", "#ffffff", "#d1d9e0")
DARK = Theme("#e6edf3", "#9da7b3", "#161b22", "#3d444d")
# How pages mark a dark theme: Jupyter, VS Code, Colab, Sphinx themes, Material for MkDocs.
_SAYS_DARK = (
    '[data-jp-theme-light="false"]', ".vscode-dark", '[theme="dark"]', '[data-theme="dark"]',
    '[data-md-color-scheme="slate"]',
)  # fmt: skip
_SAYS_LIGHT = (
    '[data-jp-theme-light="true"]', ".vscode-light", '[theme="light"]', '[data-theme="light"]',
    '[data-md-color-scheme="default"]',
)  # fmt: skip


def style(theme: str = "auto") -> str:
    """Returns the style sheet of a figure. theme: light, dark, or auto, which follows the page or else the system."""
    if theme != "auto":
        return _rules(DARK if theme == "dark" else LIGHT, ("",))
    dark = _rules(DARK, ("",))
    return (
        f"{_rules(LIGHT, ('',))}@media (prefers-color-scheme: dark){{{dark}}}"
        f"{_rules(LIGHT, _SAYS_LIGHT)}{_rules(DARK, _SAYS_DARK)}"
    )


def _rules(theme: Theme, under: Sequence[str]) -> str:
    def rule(name: str, value: str) -> str:
        return ",".join([f"{page} .tenter-{name}".strip() for page in under]) + f"{{{value}}}"

    return (
        rule("ink", f"fill:{theme.ink}")
        + rule("soft", f"fill:{theme.soft}")
        + rule("card", f"fill:{theme.card};stroke:{theme.line}")
    )


def colors(n: int, mixes: bool) -> list[Color]:
    """Returns a color for each of n inputs. Few unmixed inputs get distinct colors, others get steps of one scale."""
    if n <= len(MIXED) or (n <= len(FEW) and not mixes):
        return list(FEW[:n])
    return [_between(k / (n - 1) * (len(MIXED) - 1)) for k in range(n)]


def _between(at: float) -> Color:
    k = min(int(at), len(MIXED) - 2)
    return mixture([(MIXED[k], 1 - (at - k)), (MIXED[k + 1], at - k)])


def mixture(parts: Sequence[tuple[Color, float]]) -> Color:
    """Mixes colors by their weights, including negative ones, and clamps the result."""
    total = sum(w for _, w in parts) or 1.0
    r, g, b = (min(255, max(0, round(sum(c[k] * w for c, w in parts) / total))) for k in range(3))
    return r, g, b


def on(color: Color) -> str:
    """Returns the color of text on a cell: dark or white, whichever is more readable by relative luminance."""
    r, g, b = ((c / 255) ** 2.2 for c in color)
    return "#1f2328" if 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.21 else "#ffffff"


def hexed(color: Color) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)


def text(x: float, y: float, words: str, kind: str = "ink", size: float = 12, more: str = "") -> str:
    # The attribute works where style sheets are removed, as in untrusted notebooks.
    look = f'class="tenter-{kind}" fill="currentColor" font-size="{size:.3g}"{more}'
    return f'<text {look} x="{x:.6g}" y="{y:.6g}">{escape(words)}</text>'


def cell(x: float, y: float, width: float, height: float, label: str, color: Color | None, hollow: bool = False) -> str:
    """Draws a box. color: None if the cell reads nothing. hollow: the cell belongs to a view, which has no memory of
    its own."""
    size = min(13.0, height * 0.55, width * 1.5 / max(len(label), 1))
    paint = f'fill="{hexed(color)}"' if color else 'class="tenter-card" fill="none" stroke-dasharray="3 2"'
    ink = f'fill="{on(color)}"' if color else 'class="tenter-soft" fill="currentColor"'
    if color and hollow:
        paint, ink = f'fill="none" stroke="{hexed(color)}" stroke-width="2"', 'class="tenter-ink" fill="currentColor"'
    place = f'x="{x:.6g}" y="{y:.6g}" width="{width:.4g}" height="{height:.4g}" rx="{min(5, width / 4):.3g}"'
    box = f"<rect {place} {paint}/>"
    if size < 4.5:
        return box
    middle = f'x="{x + width / 2:.6g}" y="{y + height / 2 + size * 0.35:.6g}"'
    return box + f'<text {middle} {ink} font-size="{size:.3g}" text-anchor="middle">{escape(label)}</text>'


class Panel(NamedTuple):
    """What is drawn of a map: the first inputs and outputs, and the entries between them.

    sources: colors of the inputs
    results: colors of the outputs; None where nothing is read
    """

    n_in: int
    n_out: int
    entries: list[tuple[int, int, float]]
    sources: list[Color]
    results: list[Color | None]


def panel_of(m: Copy | Window | Gather, sources: list[Color] | None = None) -> Panel:
    """sources: colors of the inputs. The last color is for all further inputs."""
    n_in, n_out = (n if n <= MOST else FIRST for n in (m.n_in, m.n_out))
    found = entries(m, n_out, MOST)
    if n_in < m.n_in:  # prefer outputs whose inputs are all drawn
        beyond = min((o for o, i, _ in found if i >= n_in), default=n_out)
        n_out = beyond or n_out
        found = [e for e in found if e[0] < n_out]
    if n_out < m.n_out:
        n_in = min(n_in, max((i for _, i, _ in found), default=0) + 2)
    if sources is None:
        sources = colors(n_in, mixes=any(w != 1 for _, _, w in found) or len({o for o, _, _ in found}) < len(found))
    rows: dict[int, list[tuple[Color, float]]] = {}
    for o, i, w in found:
        rows.setdefault(o, []).append((sources[min(i, len(sources) - 1)], w))
    results = [mixture(rows[o]) if o in rows else None for o in range(n_out)]
    return Panel(n_in, n_out, [e for e in found if e[1] < n_in], sources, results)


def panel(m: Copy | Window | Gather, p: Panel, left: float, top: float, width: float, names: tuple[str, str]) -> str:
    """Draws the inputs above the outputs. Lines are wider for larger weights and dashed for negative ones. names: the
    labels to the left of the two rows."""
    label = 8.0 + 7.0 * max(map(len, names)) if any(names) else 0.0
    cells = max(p.n_in + (m.n_in > p.n_in), p.n_out + (m.n_out > p.n_out), 1)
    step = min(_CELL + _GAP, (width - label) / cells)
    size, high = step * _CELL / (_CELL + _GAP), min(26.0, step * 0.8 + 4)
    bottom = top + HEIGHT - high
    middle = left + label + (width - label) / 2

    def at(k: int, n: int, whole: int) -> float:
        return middle + (k - (n + (whole > n)) / 2 + 0.5) * step

    largest = max((abs(w) for _, _, w in p.entries), default=1.0) or 1.0
    drawn = []
    for o, i, w in p.entries:
        a, b, y0, y1 = at(i, p.n_in, m.n_in), at(o, p.n_out, m.n_out), top + high, bottom
        bend = (y0 + y1) / 2
        dashes = ' stroke-dasharray="3 2"' if w < 0 else ""
        thick = max(0.6, min(3.0, size / 6) * abs(w) / largest)
        drawn.append(
            f'<path d="M{a:.6g},{y0:.4g} C{a:.6g},{bend:.4g} {b:.6g},{bend:.4g} {b:.6g},{y1:.4g}" fill="none" '
            f'stroke="{hexed(p.sources[min(i, len(p.sources) - 1)])}" stroke-width="{thick:.2f}"{dashes}/>'
        )

    def boxes(name: str, n: int, whole: int, y: float, paints: Sequence[Color | None]) -> list[str]:
        last = len(paints) - 1
        row = [cell(at(k, n, whole) - size / 2, y, size, high, str(k), paints[min(k, last)]) for k in range(n)]
        if whole > n:
            row.append(text(at(n, n, whole), y + high * 0.7, "…", "soft", 13, ' text-anchor="middle"'))
        return [*row, text(left, y + high * 0.68, name, "soft")] if name else row

    drawn += boxes(names[0], p.n_in, m.n_in, top, p.sources)
    drawn += boxes(names[1], p.n_out, m.n_out, bottom, p.results)
    return "".join(drawn)


def drawing(m: Copy | Window | Gather) -> str:
    """Returns a figure of the map alone."""
    p = panel_of(m)
    cells = max(p.n_in + (m.n_in > p.n_in), p.n_out + (m.n_out > p.n_out), 1)
    width = min(cells * (_CELL + _GAP), 760.0)
    return svg(width + 20, HEIGHT + 20, panel(m, p, 10, 10, width, ("", "")), "which outputs read which inputs", "auto")


def svg(width: float, height: float, inside: str, title: str, theme: str, ground: bool = False) -> str:
    """Returns the SVG. ground: draw a background, as a file needs that is shown on any page."""
    sides = f'width="{width - 1:.6g}" height="{height - 1:.6g}"'
    card = f'<rect class="tenter-card" fill="none" x="0.5" y="0.5" {sides} rx="8"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.6g}" height="{height:.6g}" '
        f'viewBox="0 0 {width:.6g} {height:.6g}" role="img" font-family="{FONT}">'
        f"<title>{escape(title)}</title><style>{style(theme)}</style>{card if ground else ''}{inside}</svg>"
    )
