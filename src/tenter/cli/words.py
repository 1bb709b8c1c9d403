"""The words of a command line that argparse would take for others: values of one option, and names."""

from __future__ import annotations

import os
import re
from functools import partial
from itertools import takewhile

from tenter.cli.folders import SUFFIXES
from tenter.cli.refusal import Refusal
from tenter.cli.sizes import PAIR, refuse_edges

#: A number on the command line.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?%?|nan|inf", re.IGNORECASE)
#: Options of one word, after which names of files may stand; some take several values in it.
SINGLE, SEVERAL = ("--scale",), ("--width", "-w", "--height", "--fit", "--fill", "--format")
#: What says the size of an image.
OF_SIZE = (*SINGLE, *SEVERAL[:-1], "--size", "--spacing")
SHARE = re.compile(r"\d+(\.\d+)?%")


def count_words(argv: list[str], named: int) -> tuple[int, int]:
    """Count the words of --axes and of --size. With nargs="+", these would take the file names after them too. named:
    how many axes are given by names, 0 for numbers."""
    axes = 0
    if "--axes" in argv:
        after = argv[argv.index("--axes") + 1 :]
        letters_too = takewhile(lambda text: text.lstrip("-").isdecimal() or (len(text) == 1 and text.isalpha()), after)
        axes = named if named > 1 else max(1, len(list(letters_too)))
    size = next((argv[k + 1] for k, word in enumerate(argv[:-1]) if word == "--size"), "")
    size = next((word.partition("=")[2] for word in argv if word.startswith("--size=")), size)
    if PAIR.fullmatch(size.strip()) or size.endswith("%"):
        return axes, 1
    if axes or "--size" not in argv:
        return axes, axes or 1
    # A height and a width are taken, to be refused with both spellings.
    after = argv[argv.index("--size") + 1 :]
    return axes, max(1, min(2, len(list(takewhile(_is_number, after)))))


def check_single(argv: list[str]) -> None:
    """Refuse several values after an option of one word: argparse would take the others for names of files."""
    argv = [part for word in argv for part in (word.split("=", 1) if word[:1] == "-" else (word,))]
    for k, word in enumerate(argv):
        if word == "--box":
            refuse_edges(list(takewhile(_is_number, argv[k + 1 : k + 5])))
        if word in (*SINGLE, *SEVERAL) and k + 1 < len(argv):
            more = list(takewhile(partial(_is_more, word, argv[k + 1]), argv[k + 2 :]))
            if more:
                given = argv[k + 1 : k + 2 + len(more)]
                what = "type" if word == "--format" else "number"
                hint = "; --size has one number for each axis" if "--axes" in argv else ""
                if word in SEVERAL and not hint:
                    what += f", or several with commas between them ({','.join(given)})"
                    if word in ("--fit", "--fill") and len(given) == 2 and all(map(_is_number, given)):
                        hint = f"; {'x'.join(given)} is a width and a height"
                raise Refusal(f"{word}: expected one {what}, got {' '.join(given)}{hint}")


def check_sized(argv: list[str]) -> None:
    """Refuse a size without an option, which says how the ratio of the sides is kept."""
    if argv[0] != "resize" or any(word.split("=")[0] in OF_SIZE or word[:2] == "-w" for word in argv):
        return
    for word in argv[1:]:
        if (PAIR.fullmatch(word) or SHARE.fullmatch(word)) and not os.path.exists(word):
            ways = f"--fit {word}, --fill {word} or --size {word}" if PAIR.fullmatch(word) else f"--scale {word}"
            raise Refusal(f"{word}: expected an option before it: {ways}")


def _is_more(option: str, value: str, text: str) -> bool:
    """Whether a word after an option and its value is another value, and no name."""
    if os.path.exists(text):
        return False
    if option == "--format":
        return text in SUFFIXES and text != value  # `--format webp webp` has a folder of that name
    return _is_number(text) or PAIR.fullmatch(text) is not None


def _is_number(text: str) -> bool:
    return bool(NUMBER.fullmatch(text))
