"""Words that are not known: options and commands are named before anything else is looked at."""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
from collections.abc import Collection

from tenter.cli.refusal import Refusal

#: How alike a word and the one that is suggested must be, of 1.
NEAR = 0.75
#: Options of other programs, and what to do about them.
ELSEWHERE = {
    "--auto-orient": "images are always turned upright; --keep-orientation leaves them as they are stored",
    "--crop": "tenter cuts by --box WxH+X+Y, and to a ratio by --fill WxH; it cuts nothing by itself",
    "--rotate": "tenter does not rotate by an angle: `jpegtran -rotate 90` does without loss, ImageMagick's `mogrify "
    "-rotate` for any type; what EXIF says is turned upright",
    "--sharpen": "tenter does not sharpen: --mode lanczos is the crispest that shrinks cleanly, ImageMagick's "
    "`mogrify -unsharp 0x0.75` sharpens more",
}
NUMBER = re.compile(r"-\d*\.?\d+(e[+-]?\d+)?", re.IGNORECASE)


def check_words(argv: list[str], options: Collection[str], commands: dict[str, Collection[str]], prog: str) -> None:
    """Refuse an unknown command, and an unknown option of a command. `argv` holds no names that begin with a dash."""
    words = [word for word in argv if not _is_option(word)]
    command = words[0] if words else None
    if command is not None and command not in commands:
        known = ", ".join(commands)
        hint = did_you_mean(command, list(commands))
        if not hint and len(words) > 1:  # IN and OUT without a command
            hint = f" (did you mean `{prog} resize {shlex.join(argv)}`?)"
        raise Refusal(f"unknown command {command!r}{hint}; known are {known}")
    known_options = options if command is None else {*options, *commands[command]}
    for word in filter(_is_option, argv):
        option = word.split("=")[0]
        if option not in known_options:
            if option in ELSEWHERE:
                raise Refusal(f"{option}: {ELSEWHERE[option]}")
            see = f"(see {' '.join(filter(None, (prog, command)))} --help-all)"
            raise Refusal(f"unknown option {option}{did_you_mean(option, sorted(known_options))} {see}")


def did_you_mean(word: str, known: Collection[str]) -> str:
    """The known word that is near to one that is not known, to be put after it; nothing if none is."""
    found = difflib.get_close_matches(word.lower(), known, 1, NEAR)
    return f" (did you mean {found[0]!r}?)" if found else ""


def check_choice(action: argparse.Action, value: object) -> None:
    """Refuse a value that is not among an option's choices."""
    if action.choices is not None and value not in action.choices:
        known = [str(choice) for choice in action.choices]
        hint = did_you_mean(str(value), known)
        raise argparse.ArgumentError(action, f"unknown value {str(value)!r}{hint}; known are {', '.join(known)}")


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-" and not NUMBER.fullmatch(word)
