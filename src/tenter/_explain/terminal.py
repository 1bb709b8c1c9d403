"""Explanations as text, for a terminal of 80 columns."""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tenter._explain.cells import Grid, grids
from tenter._explain.words import formula, memory, name_of_input, prepared, rows_shown, sentence, transposed
from tenter.maps import AxisMap
from tenter.maps._drawing import Color

if TYPE_CHECKING:
    from tenter._explain.explanation import Explanation

WIDTH = 80
LABEL = 11  # columns before a fact
# For terminals whose encoding has no box characters.
PLAIN = str.maketrans("┌┬┐├┼┤└┴┘─│→…", "+++++++++-|>.")

Line = str


def wants_color() -> bool:
    """True if stdout shows colors: it is a terminal that is not dumb. NO_COLOR and FORCE_COLOR override this."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    if os.name == "nt" and "WT_SESSION" not in os.environ:
        return False
    return os.environ.get("TERM") != "dumb" and bool(getattr(sys.stdout, "isatty", lambda: False)())


def encodable(text: str) -> str:
    """Returns the text in characters that stdout can write."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return text.translate(PLAIN)
    return text


def text_of(e: "Explanation", color: bool) -> str:
    facts = e.facts
    lines = [*wrapped(facts.call, "", "  "), *wrapped(sentence(facts), "", ""), ""]
    if (found := grids(facts)) is not None:
        lines += [*pictures(found, name_of_input(facts), facts.shape_in, facts.shape_out, color), ""]
    if (before := prepared(facts)) is not None:
        lines += [before, ""]
    for axis, m in facts.maps:
        lines += [*mapped(axis, m), ""]
    if facts.problem:
        lines += wrapped(f"The maps are not shown: {facts.problem}", "", "")
    lines += fact("shape", f"{list(facts.shape_in)} → {list(facts.shape_out)}")
    lines += fact("memory", memory(facts))
    for k, line in enumerate(facts.kernels):
        lines += fact("kernel" if not k else "", line)
    for k, line in enumerate(facts.notes):
        lines += fact("lazy" if not k else "", line)
    if e.spellings:
        lines += ["", "The same call"]
    for library, code in e.spellings.items():
        lines += fact(f"  {library}", code, LABEL + 2)
    if e.easily_confused:
        lines += ["", "Not to be mistaken for"]
        for code, what in e.easily_confused:
            lines += wrapped(f"{code}: {what}", "  ", "    ")
    return "\n".join(line.rstrip() for line in lines)


def fact(name: str, value: str, label: int = LABEL) -> list[Line]:
    return wrapped(value, f"{name:<{label}}", " " * label)


def wrapped(words: str, first: str, then: str) -> list[Line]:
    """Breaks words into lines of 80 columns. Longer words are split."""
    lines, line = [], first
    for word in words.split(" "):
        gap = "" if line in (first, then) else " "
        if len(line) + len(gap) + len(word) > WIDTH and gap:
            lines.append(line)
            line, gap = then, ""
        while len(line) + len(gap) + len(word) > WIDTH:
            room = WIDTH - len(line) - len(gap)
            lines.append(line + gap + word[:room])
            line, gap, word = then, "", word[room:]
        line += gap + word
    return [*lines, line]


# ---- small arrays


def pictures(
    found: tuple[Grid, Grid], name: str, shape_in: Sequence[int], shape_out: Sequence[int], color: bool
) -> list[Line]:
    """Draws the arrays side by side, or one below the other if they are wide."""
    sides = [drawn(g, f"{n} {list(s)}", color) for g, n, s in zip(found, (name, "result"), (shape_in, shape_out))]
    widths = [max(width for _, width in side) for side in sides]
    if 2 + widths[0] + 6 + widths[1] > WIDTH:
        return [f"  {line}" for side in sides for line, _ in side]
    left, right = sides
    height = max(len(left), len(right))
    arrow = 1 + (min(len(left), len(right)) - 1) // 2
    lines = []
    for k in range(height):
        a, width = left[k] if k < len(left) else ("", 0)
        b = right[k][0] if k < len(right) else ""
        lines.append(f"  {a}{' ' * (widths[0] - width)}  {'→' if k == arrow else ' '}   {b}")
    return lines


def drawn(g: Grid, title: str, color: bool) -> list[tuple[Line, int]]:
    """Returns lines with their widths, which do not count color codes."""
    columns = max(map(len, g.labels), default=0)
    room = max((len(label) for line in g.labels for label in line), default=1)
    fitting = max(1, (WIDTH - 3) // (room + 3))
    cut, columns = columns > fitting, min(columns, fitting)

    def rule(a: str, b: str, c: str) -> tuple[Line, int]:
        line = a + b.join(["─" * (room + 2)] * columns) + c
        return line, len(line)

    lines = [(title, len(title)), rule("┌", "┬", "┐")]
    for k, (labels, paints) in enumerate(zip(g.labels, g.paints)):
        if k:
            lines.append(rule("├", "┼", "┤"))
        cells = [painted(f" {v:>{room}} ", p, color) for v, p in zip(labels[:columns], paints)]
        lines.append((f"│{'│'.join(cells)}│", 1 + columns * (room + 3)))
    lines.append(rule("└", "┴", "┘"))
    more = f"{g.more}, cut" if cut and g.more else "its first columns" if cut else g.more
    return [*lines, *([(more, len(more))] if more else [])]


def painted(words: str, paint: Color | None, color: bool) -> str:
    if not color or paint is None:
        return words
    r, g, b = (round(c / 255 * 5) for c in paint)
    ink = 16 if 0.299 * paint[0] + 0.587 * paint[1] + 0.114 * paint[2] > 150 else 231
    return f"\x1b[48;5;{16 + 36 * r + 6 * g + b};38;5;{ink}m{words}\x1b[0m"


# ---- maps


def mapped(axis: int, m: AxisMap) -> list[Line]:
    """Returns a map's rows, with the rows of its transpose next to them or below."""
    back = transposed(m)
    forward = ["each output reads", *sums(m, "y", "x")]
    backward = ["each input's gradient adds", *(sums(back, "dx", "dy") if back is not None else ["(too long)"])]
    title = wrapped(f"dim {axis}: {m.n_in:,} → {m.n_out:,}   {m!r}", "", "  ")
    width = max(map(len, forward))
    if 2 + width + 4 + max(map(len, backward)) <= WIDTH:
        width = max(width, 30)
        if 2 + width + 4 + max(map(len, backward)) > WIDTH:
            width = max(map(len, forward))
        height = max(len(forward), len(backward))
        pairs = zip(*(side + [""] * (height - len(side)) for side in (forward, backward)))
        return [*title, *(f"  {a:<{width}}    {b}" for a, b in pairs)]
    return [*title, *(line for words in (*forward, *backward) for line in wrapped(words, "  ", "      "))]


def sums(m: AxisMap, result: str, source: str) -> list[Line]:
    return ["…" if o is None else formula(m, o, result, source) for o in rows_shown(m)] or ["(nothing)"]
