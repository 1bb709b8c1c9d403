"""Maps in notebooks: a table of facts, and the drawing."""

from collections.abc import Iterable
from html import escape

from tenter.maps._copy import Copy
from tenter.maps._drawing import drawing
from tenter.maps._gather import Gather
from tenter.maps._window import Window


def html_of(m: Copy | Window | Gather) -> str:
    """Returns a map's `_repr_html_`."""
    kind = type(m).__name__
    rule = repr(m).partition(": ")[2][:-1]
    return table(kind, [("outputs", f"{m.n_out:,}"), ("inputs", f"{m.n_in:,}"), ("rule", rule)]) + drawing(m)


def table(title: str, rows: Iterable[tuple[str, str]], code: bool = False) -> str:
    """Returns a table of names and values under a title. code: the values are code."""
    begin, end = ("<code>", "</code>") if code else ("", "")
    left = 'style="text-align:left"'
    cells = "".join([
        f"<tr><th {left}>{escape(name)}</th><td {left}>{begin}{escape(value)}{end}</td></tr>" for name, value in rows
    ])  # fmt: skip
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    return f"<table>{caption}<tbody>{cells}</tbody></table>"


def n_bytes(n: int) -> str:
    """A number of bytes as people read it.

    >>> n_bytes(48), n_bytes(3 << 30)
    ('48 B', '3 GiB')
    """
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if n >= 1 << power:
            return f"{n / (1 << power):.3g} {unit}"
    return f"{n} B"
