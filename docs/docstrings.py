"""The docstrings of the library as reStructuredText, for the site's reference.

In a docstring backticks mark code, `name: ` begins what is said of an argument, where `name` is one, and Returns and
Raises begin sentences. Paragraphs that are indented, lists and examples stay as they are.
"""

from __future__ import annotations

import inspect
import re
from typing import Any


def process(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """autodoc's event: rewrites lines in place. What is said of a constant would be of its type."""
    lines[:] = [] if what == "data" else rewritten("\n".join(lines), arguments(thing)).splitlines()


def signature(app: Any, what: str, name: str, thing: Any, options: Any, shown: str | None, returned: str | None) -> Any:
    """autodoc's event: without the default that stands for an argument that is missing."""
    return (re.sub(r"=(MISSING|<object.*?>)", "", shown) if shown else shown), returned


def arguments(thing: Any) -> set[str]:
    """The names that a docstring may explain."""
    try:
        names = set(inspect.signature(thing).parameters)
    except (TypeError, ValueError):
        names = set()
    fields = set(getattr(thing, "_fields", ())) | set(getattr(thing, "__annotations__", ()))
    return names | fields | {"out", "other", "how"}  # some are taken as **other


def rewritten(text: str, names: set[str]) -> str:
    return "\n\n".join(part for block in blocks(text) for part in paragraphs(block, names))


def blocks(text: str) -> list[str]:
    """Paragraphs; an example goes on past its blank lines of output, as doctest has them."""
    return [block for block in re.split(r"\n\s*\n", text.strip("\n")) if block.strip()]


def paragraphs(block: str, names: set[str]) -> list[str]:
    if block.lstrip().startswith(">>>"):
        return [block]
    if all(line.startswith("    ") for line in block.splitlines()):
        return ["::\n\n" + block]
    if block.startswith("- "):
        return [marked(block)]
    words = " ".join(line.strip() for line in block.splitlines())
    parts: list[str] = []
    for sentence in re.split(r"(?:(?<=^)|(?<=[.)] ))(?=(?:Returns|Raises) )", words):
        parts += explained(sentence.strip(), names) if sentence.strip() else []
    return parts


def explained(words: str, names: set[str]) -> list[str]:
    """A paragraph, or what it says of each argument."""
    begun = re.match(r"(Returns|Raises)\b", words)
    if begun:
        return [f"**{begun[0]}**{marked(words[begun.end() :])}"]
    if not names:
        return [marked(words)]
    one = "|".join(sorted(names, key=len, reverse=True))
    found = re.split(rf"(?:(?<=^)|(?<=[.;)] )|(?<=[,;] or ))((?:{one})(?:, (?:{one}))*): ", words)
    parts = [marked(found[0].strip())] if found[0].strip() else []
    for names_of, said in zip(found[1::2], found[2::2], strict=True):
        shown = ", ".join(f"``{name}``" for name in names_of.split(", "))
        parts.append(f"{shown}\n    {marked(said.strip())}")
    return parts


def marked(words: str) -> str:
    """Inline code and characters that mean something else in reStructuredText."""
    pieces = re.split(r"(`[^`]*`)", words)
    return "".join(f"`{p}`" if p.startswith("`") else re.sub(r"([*|\\]|_(?!\w))", r"\\\1", p) for p in pieces)
