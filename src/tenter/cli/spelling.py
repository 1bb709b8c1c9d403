"""Words that are not known: options and commands are named before anything else is looked at."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shlex
from collections.abc import Collection, Iterable
from pathlib import Path

from tenter.cli.refusal import Refusal

#: How alike a word and the one that is suggested must be, of 1. There are few commands, and a wrong one is soon seen.
NEAR, NEAR_COMMAND = 0.75, 0.6
#: Options of other programs, without their dashes, and what to do about them.
ELSEWHERE = {
    word: text
    for words, text in {
        "resize thumbnail geometry inside": "--fit WxH is the largest size within it, and enlarges nothing; --fill WxH "
        "is cut to it, --size WxH distorts",
        "cover outside smartcrop": "--fill WxH is this size, cut where the ratio differs; --gravity says which part is "
        "kept",
        "extent contain letterbox embed": "--fit WxH is the image without bars; --pad adds them, in the color of "
        "--background",
        "max max-size longest long-edge max-width max-height": "--fit N is the largest size of at most N a side, "
        "--fit WxH of at most this width and height",
        "withoutenlargement without-enlargement no-enlarge only-shrink": "--fit enlarges nothing by itself",
        "percent percentage zoom factor ratio": "--scale 50% or --scale 0.5 multiplies both sides",
        "sizes widths srcset": "--width 320,640,1280 and --fit 320,640,1280 are several sizes; OUT then has fields, "
        "such as 'web/{stem}-{size}.{format}'",
        "suffix prefix rename template name": "OUT has fields for names, such as 'web/{stem}-small.{format}'",
        "filter kernel interpolation interpolator resample": "--mode names the filter, such as --mode cubic",
        "convert type output-format to": "--format is the type of outputs in a folder, or of -; else the ending of OUT",
        "overwrite replace yes y": "--force overwrites existing outputs",
        "no-clobber newer sync": "--skip-existing keeps existing outputs, --update those that are not older than IN",
        "f": "--force overwrites, --format is the type of outputs",
        "r": "--recursive includes subfolders",
        "q": "--quality is 1 to 100",
        "j parallel workers processes": "--jobs is the number of processes",
        "n dryrun": "--dry-run prints what would be written",
        "d out dir out-dir outdir output-dir path": "-o OUT, or the last name, is the output",
        "i in input": "names without an option are inputs, the last one the output",
        "bits bit-depth bitdepth": "--depth 8 rounds 16 bits per channel to 8",
        "srgb icc eprofile export-profile output-profile colorspace": "--profile srgb converts colors to sRGB by the "
        "color profile of the image",
        "keep-metadata with-metadata withmetadata preserve keep-exif": "metadata is kept; --strip drops it",
        "no-metadata strip-metadata strip-exif remove-metadata": "--strip drops all metadata; colors become sRGB first",
        "auto-orient autorotate auto-rotate autorot": "images are always turned upright; --keep-orientation leaves "
        "them as they are stored",
        "crop": "tenter cuts by --box WxH+X+Y, and to a ratio by --fill WxH; it cuts nothing by itself",
        "rotate rot": "tenter does not rotate by an angle: `jpegtran -rotate 90` does without loss, ImageMagick's "
        "`mogrify -rotate` for any type; what EXIF says is turned upright",
        "sharpen unsharp": "tenter does not sharpen: --mode lanczos is the crispest that shrinks cleanly, "
        "ImageMagick's `mogrify -unsharp 0x0.75` sharpens more",
    }.items()
    for word in words.split()
}
#: What `tenter resize` is called elsewhere.
RESIZES = (
    "convert",
    "magick",
    "mogrify",
    "thumbnail",
    "scale",
    "rescale",
    "resample",
    "shrink",
    "fit",
    "crop",
    "batch",
)
NUMBER = re.compile(r"-\d*\.?\d+(e[+-]?\d+)?", re.IGNORECASE)
#: A short option with its number, such as -w600.
ATTACHED = re.compile(r"-[a-z]\d.*")


def check_words(argv: list[str], options: Collection[str], commands: dict[str, Collection[str]], prog: str) -> None:
    """Refuse an unknown command, and an unknown option of a command. `argv` holds no names that begin with a dash."""
    words = [word for word in argv if not _is_option(word)]
    command = words[0] if words else None
    if command is not None and command not in commands:
        meant = _command_meant(command, list(commands))
        after = argv if meant is None else [*argv[: (at := argv.index(command))], *argv[at + 1 :]]
        hint = f" (did you mean `{shlex.join([prog, meant or 'resize', *after])}`?)" if meant or len(words) > 1 else ""
        raise Refusal(f"unknown command {command!r}{hint}; known are {', '.join(commands)}")
    known_options = options if command is None else {*options, *commands[command]}
    for word in filter(_is_option, argv):
        option = word[:2] if ATTACHED.fullmatch(word) else word.split("=")[0]
        if option not in known_options:
            if command == "resize" and (text := ELSEWHERE.get(option.lstrip("-").lower())):
                raise Refusal(f"{option}: {text}")
            see = f"(see {' '.join(filter(None, (prog, command)))} --help-all)"
            raise Refusal(f"unknown option {option}{did_you_mean(option, sorted(known_options))} {see}")


def _command_meant(word: str, known: list[str]) -> str | None:
    """The command that a word stands for; None if it is the name of a file, whose command was left out."""
    if os.path.exists(word) or Path(word).suffix:
        return None
    found = difflib.get_close_matches(word.lower(), known, 1, NEAR_COMMAND)
    return found[0] if found else "resize" if word.lower() in RESIZES else None


def did_you_mean(word: str, known: Collection[str]) -> str:
    """The known word that is near to one that is not known, to be put after it; nothing if none is."""
    found = difflib.get_close_matches(word.lower(), known, 1, NEAR)
    return f" (did you mean {found[0]!r}?)" if found else ""


def check_choice(action: argparse.Action, value: object) -> None:
    """Refuse a value that is not among an option's choices."""
    if action.choices is not None and (said := unknown_value(value, action.choices)) is not None:
        raise argparse.ArgumentError(action, said)


def unknown_value(value: object, choices: Iterable[object]) -> str | None:
    """What is said of a value that is not among those known; None of one that is."""
    known = [str(choice) for choice in choices]
    if str(value) in known:
        return None
    return f"unknown value {str(value)!r}{did_you_mean(str(value), known)}; known are {', '.join(known)}"


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-" and not NUMBER.fullmatch(word)
