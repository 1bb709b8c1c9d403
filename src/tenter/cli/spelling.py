"""Words that are not known: options and commands are named before anything else is looked at."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Collection

from tenter._arrays.arguments import did_you_mean
from tenter.cli.refusal import Refusal

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
            see = f"(see {' '.join(filter(None, (prog, command)))} --help)"
            raise Refusal(f"unknown option {option}{did_you_mean(option, sorted(known_options))} {see}")


def check_choice(action: argparse.Action, value: object) -> None:
    """Refuse a value that is not among an option's choices."""
    if action.choices is not None and value not in action.choices:
        known = [str(choice) for choice in action.choices]
        hint = did_you_mean(str(value), known)
        raise argparse.ArgumentError(action, f"unknown value {str(value)!r}{hint}; known are {', '.join(known)}")


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-" and not NUMBER.fullmatch(word)
