"""The figure of a call, as SVG: its arrays, the map of each axis, and the map's transpose."""

from tenter._explain.cells import Grid, grids
from tenter._explain.facts import Facts
from tenter._explain.words import memory, name_of_input, prepared, sentence, transposed
from tenter.maps import AxisMap
from tenter.maps._drawing import HEIGHT, Color, cell, colors, panel, panel_of, svg, text

WIDTH, MARGIN, GUTTER = 760.0, 20.0, 36.0
HALF = (WIDTH - 2 * MARGIN - GUTTER) / 2
THEMES = ("auto", "light", "dark")
# Characters of a title that fit on a line.
FITS = 84


def figure(facts: Facts, theme: str) -> str:
    if theme not in THEMES:
        raise ValueError(f"theme: expected one of {', '.join(THEMES)}, got {theme!r}\n  in svg(theme={theme!r})")
    parts: list[str] = []
    y = MARGIN + 14
    for line in _lines(facts.call):
        parts.append(text(MARGIN, y, line, size=14, more=' font-family="ui-monospace, Menlo, Consolas, monospace"'))
        y += 19
    parts.append(text(MARGIN, y + 2, sentence(facts), "soft", 13))
    y += 22
    if (found := grids(facts)) is not None:
        drawn, height = _arrays(found, facts, y)
        parts.append(drawn)
        y += height
    if (before := prepared(facts)) is not None:
        parts.append(text(MARGIN, y + 8, before, "soft", 12))
        y += 22
    for axis, m in facts.maps:
        parts.append(_map(axis, m, y))
        y += HEIGHT + 46
    if facts.problem:
        parts.append(text(MARGIN, y + 8, "The maps of so long axes are not drawn.", "soft", 12))
        y += 22
    shapes = f"{list(facts.shape_in)} → {list(facts.shape_out)}, {facts.x.dtype}; "
    parts.append(text(MARGIN, y + 8, shapes + memory(facts), "soft", 12))
    return svg(WIDTH, y + MARGIN + 8, "".join(parts), facts.call, theme, ground=True)


def _lines(call: str) -> list[str]:
    """Returns the call as lines, broken between words."""
    lines = [""]
    for word in call.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > FITS:
            lines.append("   ")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def _arrays(found: tuple[Grid, Grid], facts: Facts, top: float) -> tuple[str, float]:
    """Draws the input next to the result. Returns the drawing and its height."""
    widths = [max(len(g.labels[0]), 1) for g in found]
    step = min(44.0, (WIDTH - 2 * MARGIN - 70) / sum(widths))
    high = min(30.0, step * 0.75 + 3)
    heights = [len(g.labels) * high for g in found]
    tallest = max(heights)
    total = sum(widths) * step + 70
    left = MARGIN + max(0.0, (WIDTH - 2 * MARGIN - total) / 2)
    parts = []
    for g, words, height, shape in zip(
        found, (name_of_input(facts).replace("its elements ", ""), "result"), heights, (facts.shape_in, facts.shape_out)
    ):
        y0 = top + 24 + (tallest - height) / 2
        parts.append(text(left, y0 - 7, f"{words} {list(shape)}", "soft", 12))
        for r, (labels, paints) in enumerate(zip(g.labels, g.paints)):
            for c, (label, paint) in enumerate(zip(labels, paints)):
                x1, y1 = left + c * step + 1.5, y0 + r * high + 1.5
                parts.append(cell(x1, y1, step - 3, high - 3, label, paint, hollow=facts.view and g is found[1]))
        if g.more:
            parts.append(text(left, y0 + height + 13, g.more, "soft", 11))
        left += len(g.labels[0]) * step
        if g is found[0]:
            parts.append(text(left + 25, top + 24 + tallest / 2 + 6, "→", "soft", 20))
            left += 70
    more = 14 if any(g.more for g in found) else 0
    return "".join(parts), tallest + 24 + more + 20


def _map(axis: int, m: AxisMap, top: float) -> str:
    """Draws a map next to its transpose. Both have the same colors."""
    right = MARGIN + HALF + GUTTER
    forward = panel_of(m)
    parts = [
        text(MARGIN, top + 10, f"dim {axis}: each output reads", size=13),
        text(right, top + 10, f"gradient of dim {axis}: each input adds", size=13),
        panel(m, forward, MARGIN, top + 22, HALF, ("x", "y")),
    ]
    back = transposed(m)
    if back is None:
        parts.append(text(right, top + 60, "(too long to be drawn)", "soft", 12))
        return "".join(parts)
    outputs: list[Color] = [c or (128, 128, 128) for c in forward.results] or colors(1, False)
    p = panel_of(back, outputs)
    parts.append(panel(back, p, right, top + 22, HALF, ("dy", "dx")))
    return "".join(parts)
