"""The options of `tenter resize`, parsed and checked once for all files."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Literal, NamedTuple

from tenter._rules.presets import convention
from tenter._specs.modes import NO_ANTIALIAS
from tenter._specs.picture_arguments import usual_mode
from tenter._specs.placement import Wanted
from tenter.cli.flatten import Color, parse_color
from tenter.cli.naming import Asked
from tenter.cli.refusal import Refusal
from tenter.cli.sizes import (
    PAIR,
    Axes,
    parse_axes,
    parse_box,
    parse_lengths,
    parse_pair,
    parse_scale,
    parse_scales,
    parse_side,
    parse_size,
    whole_number,
)
from tenter.cli.voxels import unit_named
from tenter.cli.writing.encoding import Encoding

if TYPE_CHECKING:
    from tenter._arrays.signatures import Like, Mode

#: PyTorch's names of modes along two axes.
MODES: dict[str, Mode] = {"bilinear": "linear", "bicubic": "cubic"}
#: The default filter of numbers that are no image's, as of `tenter.resize`.
SAMPLES: Mode = "linear"
Decoding = Literal["exact", "close", "fast"]


class Options(NamedTuple):
    """How each file is resized: plain values, which can be sent to another process.

    size: one length per axis, of the upright image; or scale; or spacing, the size of new voxels; or wanted, which
    keeps the ratio of the sides. voxel_size, unit: the input's, one number for each axis. axes: those of an array, by
    number, or of a TIFF stack, by letter; None for an image. box: top, left, bottom, right in the upright image.
    labels: whether values are labels. skip_nan, mask, min_valid: which values of an array are missing, and the file
    that says it. is_usual: whether no option names the mode. antialias: None for the default of `like`. decoding: that
    of a JPEG, at a reduced scale never, where that is not seen, or also where it is nearly so. background: what
    transparency is laid on, and the color of padding. max_pixels: None for Pillow's limit. frame: the one to read of
    several. asked: the sizes of each image, of which wanted is one. skip_existing: whether an output that another
    process makes meanwhile is left to it."""

    size: tuple[int, ...] | None
    scale: float | tuple[float, ...] | None
    spacing: tuple[float, ...] | None
    voxel_size: tuple[float, ...] | None
    unit: str | None
    wanted: Wanted | None
    axes: Axes | None
    mode: Mode
    labels: bool
    is_usual: bool
    antialias: bool | None
    like: Like | None
    box: tuple[float, float, float, float] | None
    skip_nan: bool
    mask: str | None
    min_valid: float | None
    premultiply: bool
    linear_light: bool
    decoding: Decoding
    background: Color | None
    max_pixels: int | None
    frame: int | None
    asked: tuple[Asked, ...]
    encoding: Encoding
    force: bool
    skip_existing: bool
    follow_links: bool


def read_options(args: argparse.Namespace) -> Options:
    """Check the arguments as far as that is possible without the files."""
    chosen: Mode | None = MODES.get(args.mode, args.mode) or ("nearest-exact" if args.labels else None)
    axes = None if args.axes is None else parse_axes(args.axes)
    if axes is None:
        _check_images(args)
    else:
        _check_arrays(args, axes)
    voxel_size = None if args.voxel_size is None else parse_lengths(args.voxel_size, "--voxel-size", len(axes or ()))
    mode: Mode = chosen or (SAMPLES if axes is not None else usual_mode(args.like))
    _check_antialias(args, mode)
    size, scale = _stretched(args, axes)
    asked = _asked(args, None if axes is not None else size)
    return Options(
        size=size,
        scale=scale,
        spacing=None if args.spacing is None else parse_lengths(args.spacing, "--spacing", len(axes or ())),
        voxel_size=voxel_size,
        unit=unit_named(args.unit),
        wanted=asked[0].wanted,
        axes=axes,
        mode=mode,
        labels=args.labels,
        is_usual=chosen is None,
        antialias=args.antialias,
        like=args.like,
        box=None if args.box is None else parse_box(args.box),
        skip_nan=args.skip_nan,
        mask=args.mask,
        min_valid=min_valid(args),
        premultiply=args.premultiply,
        linear_light=args.linear_light,
        decoding="exact" if args.exact else "fast" if args.fast else "close",
        background=None if args.background is None else parse_color(args.background),
        max_pixels=None if args.max_pixels is None else whole_number(args.max_pixels, "--max-pixels", 1),
        frame=None if args.frame is None else whole_number(args.frame, "--frame"),
        asked=asked,
        encoding=_encoding(args),
        force=args.force,
        skip_existing=args.skip_existing,
        follow_links=args.follow_links,
    )


def _check_images(args: argparse.Namespace) -> None:
    if args.skip_nan or args.mask is not None:
        raise Refusal("--skip-nan and --mask: are for arrays, whose axes --axes names")
    if args.spacing or args.voxel_size or args.unit:
        raise Refusal("--spacing, --voxel-size and --unit: are for arrays, whose axes --axes names")


def min_valid(args: argparse.Namespace) -> float | None:
    """Parse `--min-valid`."""
    if args.min_valid is None:
        return None
    if not args.skip_nan and getattr(args, "mask", None) is None:
        what = "--skip-nan or --mask" if hasattr(args, "mask") else "--skip-nan"
        raise Refusal(f"--min-valid: goes with {what}")
    try:
        share = float(args.min_valid)
    except ValueError:
        share = -1
    if not 0 <= share <= 1:
        raise Refusal(f"--min-valid: expected a number from 0 to 1, got {args.min_valid!r}")
    return share


def of_samples(options: Options) -> Options:
    """The options of arrays and stacks, whose numbers are no image's."""
    return options._replace(mode=SAMPLES) if options.is_usual else options


def read_jobs(text: str | None) -> int:
    """The number of processes; by default one per core that this process may use."""
    if text is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    jobs = whole_number(text, "--jobs")
    if not 1 <= jobs <= 1024:
        raise Refusal(f"--jobs: expected 1 to 1024 processes, got {jobs}")
    return jobs


def in_words(options: Options) -> str:
    """The sizes that were asked for."""
    if options.wanted is not None:
        return ", ".join(_in_words(size.wanted) for size in options.asked if size.wanted is not None)
    if options.scale is not None:
        scales = options.scale if isinstance(options.scale, tuple) else (options.scale,)
        return f"scale {', '.join(f'{scale:g}' for scale in scales)}"
    if options.spacing is not None:
        return f"spacing {', '.join(f'{each:g}' for each in options.spacing)}"
    assert options.size is not None
    if options.axes is not None:
        return f"axes {', '.join(map(str, options.axes))} of length {', '.join(map(str, options.size))}"
    return sides(*options.size)


def _in_words(wanted: Wanted) -> str:
    height, width = wanted.sides
    if wanted.gravity is not None:
        return f"{sides(height, width)}, cut to fit ({wanted.gravity})"
    if wanted.padded is not None:
        return f"{sides(height, width)}, padded" + f" ({wanted.padded})" * (wanted.padded != "center")
    if height is None or width is None:
        return f"{width} wide" if height is None else f"{height} high"
    return f"at most {sides(height, width)}"


def sides(height: object, width: object) -> str:
    """A size as it is written with --size, --fit and --fill: the width first."""
    return f"{width} x {height}"


def _check_arrays(args: argparse.Namespace, axes: Axes) -> None:
    """Refuse what goes with images alone."""
    for_pictures = {
        "--fit": args.fit, "--fill": args.fill, "--width": args.width,
        "--height": args.height, "--linear-light": args.linear_light, "--background": args.background,
        "--fast": args.fast, "--exact": args.exact, "--depth": args.depth, "--profile": args.profile,
    }  # fmt: skip
    for option, given in for_pictures.items():
        if given:
            raise Refusal(f"{option}: is for images, and for arrays of their shapes without --axes")
    if args.box is not None and len(axes) != 2:
        raise Refusal(f"--box: expected two axes, got {len(axes)}")


def _stretched(
    args: argparse.Namespace, axes: tuple[int | str, ...] | None
) -> tuple[tuple[int, ...] | None, float | tuple[float, ...] | None]:
    """What --size or --scale say."""
    if args.size is not None and len(args.size) == 1 and args.size[0].endswith("%"):
        return None, parse_scale(args.size[0], "--size")
    if args.scale is not None:
        return None, parse_scales(args.scale, "--scale", None if axes is None else len(axes))
    return (None if args.size is None else parse_size(args.size, axes)), None


def _asked(args: argparse.Namespace, size: tuple[int, ...] | None) -> tuple[Asked, ...]:
    """The sizes that are asked for: several of --fit, --fill, --width or --height, or one of another option. size: the
    height and width of --size."""
    if args.enlarge and not args.fit:
        raise Refusal("--enlarge: goes with --fit; other sizes enlarge by themselves")
    if args.pad and not args.fit:
        raise Refusal("--pad: goes with --fit, whose width and height the image then gets")
    if args.gravity and not (args.fill or args.pad):
        raise Refusal("--gravity: goes with --fill, and with --fit and --pad")
    for option in ("--fit", "--fill", "--width", "--height"):
        if (texts := getattr(args, option[2:])) is not None:
            return tuple(dict.fromkeys(_one(option, text.strip(), args) for text in texts.split(",")))
    if size is not None:
        return (Asked("--size", f"{size[1]}x{size[0]}", size[1], size[0]),)
    option, text = ("--scale", args.scale) if args.scale is not None else ("--spacing", args.spacing)
    return (Asked("--size", "x".join(args.size)) if args.size is not None else Asked(option, text),)


def _one(option: str, text: str, args: argparse.Namespace) -> Asked:
    if option == "--width":
        width = parse_side(text, option, "width")
        return Asked(option, str(width), width=width, wanted=Wanted((None, width), True))
    if option == "--height":
        height = parse_side(text, option, "height")
        return Asked(option, str(height), height=height, wanted=Wanted((height, None), True))
    height, width = parse_pair(text, option)
    shown = f"{width}x{height}" if PAIR.fullmatch(text) else str(width)
    gravity = args.gravity or "center"
    if option == "--fit" and args.pad:
        return Asked(option, shown, width, height, Wanted((height, width), args.enlarge, padded=gravity))
    if option == "--fit":
        return Asked(option, shown, wanted=Wanted((height, width), args.enlarge))
    return Asked(option, shown, width, height, Wanted((height, width), gravity=gravity))


def _check_antialias(args: argparse.Namespace, mode: str) -> None:
    if args.antialias and mode in NO_ANTIALIAS:
        raise Refusal(f"--antialias: {mode} has none; modes other than {', '.join(NO_ANTIALIAS)} have it")
    how = convention(args.like)
    if args.antialias is None and mode.startswith("lanczos") and not how.antialias and not how.modes:
        why = f"{mode} aliases where it shrinks, and {args.like} does not antialias by default"
        raise Refusal(f"--antialias or --no-antialias: one of them, as {why}")


def _encoding(args: argparse.Namespace) -> Encoding:
    if args.strip and args.keep_orientation:
        raise Refusal("--keep-orientation: the orientation is a tag of the metadata, which --strip drops")
    return Encoding(
        _quality(args.quality),
        args.subsampling,
        args.progressive,
        args.strip,
        as_stored=args.keep_orientation,
        depth=None if args.depth is None else int(args.depth),
        srgb=args.profile is not None,
    )


def _quality(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= 100:
        raise Refusal(f"--quality: expected a whole number from 1 to 100, got {text!r}")
    return int(text)
