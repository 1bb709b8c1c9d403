"""Names of outputs: as their inputs, or by a template such as `web/{stem}-{width}.{format}`.

All that a name is made of is known from the command line and the input's name, and only where that has no ending of a
type from the file: the names of a page's images do not depend on what the images are."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tenter._specs.placement import Wanted
from tenter.cli.formats import is_npy
from tenter.cli.refusal import Refusal

FIELD = re.compile(r"\{(\w*)\}")
STEM, ENDING, FORMAT, SIZE, WIDTH, HEIGHT = "stem", "ending", "format", "size", "width", "height"
#: What each field stands for.
FIELDS = {
    STEM: "the input's name without its ending",
    ENDING: "the ending of the input's name",
    FORMAT: "the type, by --format or that of the input",
    SIZE: "the size as it was asked for, such as 640 or 640x480",
    WIDTH: "the width, where --width, --fill or --size says it",
    HEIGHT: "the height, where --height, --fill or --size says it",
}
LAST = f".{{{FORMAT}}}"
#: Names that other programs have for the fields.
ELSEWHERE = {"name": STEM, "base": STEM, "filename": STEM, "ext": FORMAT, "suffix": FORMAT, "w": WIDTH, "h": HEIGHT}


class Asked(NamedTuple):
    """A size as an option has it: the option, its text, and the width and the height, where these are exact. wanted:
    what keeps the ratio of the sides, if the option does."""

    option: str
    text: str
    width: int | None = None
    height: int | None = None
    wanted: Wanted | None = None


class Template(NamedTuple):
    """OUT with fields. folder: what is before the first part that has one. parts: that one and those below it, none if
    OUT has no fields."""

    folder: str
    parts: tuple[str, ...]


def template_of(output: str) -> Template:
    """The fields of OUT. What exists under a name with braces is meant by it."""
    parts = output.split(os.sep)
    for k, part in enumerate(parts):
        if FIELD.search(part) and not os.path.lexists(os.sep.join(parts[: k + 1])):
            above = os.sep.join(parts[:k]) or (os.sep if k else os.curdir)
            return Template(above, tuple(parts[k:]))
    return Template(output, ())


def check_names(output: str, sizes: Sequence[Asked], suffixes: Sequence[str] | None) -> None:
    """Refuse an OUT that gives one name to several sizes or types, or has fields that say nothing."""
    template, option = template_of(output), sizes[0].option
    if not template.parts:
        if len(sizes) > 1:
            folder = output if output.endswith(os.sep) or not Path(output).suffix else os.path.dirname(output)
            example = os.path.join(folder, f"{{{STEM}}}-{{{_told_apart_by(sizes)}}}{LAST}")
            raise Refusal(f"{option}: {len(sizes)} sizes need a name each, such as '{example}', got {output}")
        return
    fields = FIELD.findall(os.sep.join(template.parts))
    for field in fields:
        if field not in FIELDS:
            meant = ELSEWHERE.get(field.lower(), field.lower())
            hint = f" (did you mean {{{meant}}}?)" if meant in FIELDS else ""
            known = ", ".join(f"{{{known}}}" for known in FIELDS)
            raise Refusal(f"{output}: unknown field {{{field}}}{hint}; known are {known}")
        if field in (WIDTH, HEIGHT) and any(getattr(size, field) is None for size in sizes):
            said = f"as images of different shapes get a different one by {option}"
            raise Refusal(f"{output}: {{{field}}} is not known, {said}; {{{SIZE}}} is what was asked for")
    if len({name_of(template, "", "", "", size) for size in sizes}) < len(sizes):
        apart = f"{{{_told_apart_by(sizes)}}} in OUT tells them apart"
        raise Refusal(f"{output}: {len(sizes)} sizes of {option} would have one name; {apart}")
    if output.endswith(LAST):
        return
    if FORMAT in fields or suffixes is not None:
        what = f"{{{FORMAT}}}" if FORMAT in fields else "--format"
        raise Refusal(f"{output}: {what} goes with {LAST} at the end of OUT")
    if not Path(template.parts[-1]).suffix:
        raise Refusal(f"{output}: expected {LAST} at its end, or an ending such as .webp")
    is_npy(output)


def name_of(template: Template, folder: str, stem: str, suffix: str, size: Asked, ending: str = "") -> str:
    """The name of one output. folder: that of the input below IN, which goes before the part with the stem. suffix: the
    output's, with its dot; ending: the input's."""
    values = {STEM: stem, ENDING: ending[1:], FORMAT: suffix[1:], SIZE: size.text}
    values |= {WIDTH: str(size.width), HEIGHT: str(size.height)}
    last = next((k for k, part in enumerate(template.parts) if f"{{{STEM}}}" in part), len(template.parts) - 1)
    made = [FIELD.sub(lambda found: values[found[1]], part) for part in template.parts]
    return os.path.normpath(os.path.join(template.folder, *made[:last], folder, *made[last:]))


def check_told_apart(output: str, sources: Sequence[str]) -> None:
    """Refuse a template that gives one name to several inputs."""
    parts = template_of(output).parts
    if parts and len(set(map(os.path.realpath, sources))) > 1 and not any(f"{{{STEM}}}" in part for part in parts):
        raise Refusal(f"{output}: {len(sources)} inputs would have one name; {{{STEM}}} in OUT tells them apart")


def _told_apart_by(sizes: Sequence[Asked]) -> str:
    return WIDTH if all(size.width for size in sizes) else HEIGHT if all(size.height for size in sizes) else SIZE
