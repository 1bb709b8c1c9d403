"""Explanations for browsers and notebooks: the figure, then facts and code."""

from html import escape
from typing import TYPE_CHECKING

from tenter._explain.figure import figure
from tenter.maps._drawing import DARK, FONT, LIGHT
from tenter.maps._html import table

if TYPE_CHECKING:
    from tenter._explain.explanation import Explanation


def fragment(e: "Explanation", theme: str = "auto") -> str:
    """Returns the HTML that a notebook shows."""
    kernels = [("kernel" if not k else "", line) for k, line in enumerate(e.kernels)]
    notes = [("lazy" if not k else "", line) for k, line in enumerate(e.facts.notes)]
    maps = [(f"map of dim {axis}", repr(m)) for axis, m in e.maps]
    parts = [figure(e.facts, theme), table("", [*maps, *kernels, *notes])]
    if e.spellings:
        parts.append(table("The same call", e.spellings.items(), code=True))
    if e.easily_confused:
        parts.append(table("Not to be mistaken for", e.easily_confused))
    return "".join(parts)


def page(e: "Explanation", theme: str = "auto") -> str:
    dark = f"body{{background:{DARK.card};color:{DARK.ink}}}"
    light = f"body{{background:{LIGHT.card};color:{LIGHT.ink}}}"
    ground = {"light": light, "dark": dark}.get(theme, f"{light}@media (prefers-color-scheme: dark){{{dark}}}")
    scheme = "light dark" if theme == "auto" else theme
    style = (
        f":root{{color-scheme:{scheme}}}{ground}body{{font:15px/1.5 {FONT};max-width:800px;margin:24px auto;"
        "padding:0 16px}svg{max-width:100%;height:auto}table{border-collapse:collapse;margin:20px 0}"
        "caption{text-align:left;font-weight:600}th,td{padding:3px 16px 3px 0;vertical-align:top}"
        "th{font-weight:400;opacity:.7;white-space:nowrap}"
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(e.facts.call)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head>'
        f"<body>{fragment(e, theme)}</body></html>\n"
    )
