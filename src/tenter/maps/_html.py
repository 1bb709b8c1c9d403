"""What maps show of themselves in notebooks: a table of facts, and the drawing."""

from collections.abc import Iterable
from html import escape

from tenter.maps._copy import Copy, Window
from tenter.maps._drawing import drawing
from tenter.maps._gather import Gather


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
