"""What maps show of themselves in notebooks: a table of facts, and the drawing of which inputs feed which outputs."""

from collections.abc import Iterable
from html import escape

import numpy as np

from tenter.maps._copy import Copy, Window
from tenter.maps._gather import Gather

# A drawing has so many outputs and inputs at most.
MOST = 24
_STEP, _HEIGHT = 22, 70


def html_of(m: Copy | Window | Gather) -> str:
    """A map's `_repr_html_`."""
    kind = type(m).__name__
    rule = repr(m).partition(": ")[2][:-1]
    return table(kind, [("outputs", f"{m.n_out:,}"), ("inputs", f"{m.n_in:,}"), ("rule", rule)]) + drawing(m)


def table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A title over names and values."""
    cells = "".join([
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in rows
    ])  # fmt: skip
    return f"<table><caption>{escape(title)}</caption><tbody>{cells}</tbody></table>"


def n_bytes(n: int) -> str:
    """A number of bytes as people read it.

    >>> n_bytes(48), n_bytes(3 << 30)
    ('48 B', '3 GiB')
    """
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if n >= 1 << power:
            return f"{n / (1 << power):.3g} {unit}"
    return f"{n} B"


def drawing(m: Copy | Window | Gather) -> str:
    """Inputs above, outputs below, a line for each weight, the stronger the larger it is; dashed where it is below 0.
    Of long maps the first outputs, in the text's own color. SVG."""
    n_out = min(m.n_out, MOST)
    entries = [(o, i, w) for o, i, w in _entries(m, n_out) if i < MOST]
    n_in = min(m.n_in, MOST)
    if n_out < m.n_out:
        n_in = min(n_in, max((i for _, i, _ in entries), default=0) + 2)
    widest = max(n_in, n_out, 1)
    lines = []
    largest = max((abs(w) for _, _, w in entries), default=1.0) or 1.0
    for o, i, w in entries:
        dashes = ' stroke-dasharray="3 2"' if w < 0 else ""
        lines.append(
            f'<line x1="{_x(i, n_in, widest)}" y1="24" x2="{_x(o, n_out, widest)}" y2="{_HEIGHT - 4}" '
            f'stroke="currentColor" stroke-opacity="{max(abs(w) / largest, 0.1):.2f}"{dashes}/>'
        )
    for n, y, whole in ((n_in, 16, m.n_in), (n_out, _HEIGHT + 10, m.n_out)):
        lines += [f'<text x="{_x(k, n, widest)}" y="{y}">{k}</text>' for k in range(n)]
        if whole > n:
            lines.append(f'<text x="{_x(n, n + 1, widest + 1)}" y="{y}">…</text>')
    width = (widest + 1) * _STEP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{_HEIGHT + 16}" font-size="10" '
        f'text-anchor="middle" fill="currentColor">{"".join(lines)}</svg>'
    )


def _x(k: int, n: int, widest: int) -> float:
    """Where the k-th of n lies, in the middle of the drawing."""
    return (widest - n) * _STEP / 2 + (k + 0.5) * _STEP


def _entries(m: Copy | Window | Gather, n_out: int) -> list[tuple[int, int, float]]:
    """Output, input and weight of all entries of the first outputs."""
    if isinstance(m, Gather):
        taps = slice(0, m.offset[n_out])
        found = np.repeat(np.arange(n_out), np.diff(m.offset[: n_out + 1])), m.index[taps], m.weight[taps]
        return list(zip(*[a.tolist() for a in found]))
    outputs = range(n_out)
    if isinstance(m, Copy):
        reads = [m.reads(o, o + 1).start for o in outputs]
        return [(o, i, 1.0) for o, i in zip(outputs, reads)]
    entries = []
    for o in outputs:
        block = o // m.block
        start, weight = _row(m, block)
        entries += [(o, (start + k) * m.block + o % m.block, w) for k, w in enumerate(weight)]
    return entries


def _row(m: Window, block: int) -> tuple[int, list[float]]:
    """The first input block of a row, and its weights."""
    if m.is_computed:
        start, offset, *weight = m.native.tables(block, block + 1)
        return int(start[0]), weight[0].tolist() if weight else [1.0] * int(offset[-1] - offset[0])
    if m.width is not None:
        return block * m.width, [1.0] * m.width
    starts, offsets, weights = m.start, m.offset, m.weight
    assert starts is not None and offsets is not None
    lo, hi = int(offsets[block]), int(offsets[block + 1])
    return int(starts[block]), [1.0] * (hi - lo) if weights is None else weights[lo:hi].tolist()
