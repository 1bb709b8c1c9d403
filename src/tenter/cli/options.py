"""The options of `tenter resize`, parsed and checked once for all files."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, NamedTuple

from tenter._rules.axis_rule import NEAREST
from tenter.cli.refusal import Refusal
from tenter.cli.sizes import parse_box, parse_scale, parse_size, whole_number

if TYPE_CHECKING:
    from tenter._arrays.signatures import Like, Mode

#: What --mode takes: PyTorch's names, each with the filter that it stands for.
MODES: dict[str, Mode] = {
    "nearest": "nearest",
    "nearest-exact": "nearest-exact",
    "bilinear": "linear",
    "bicubic": "cubic",
    "lanczos": "lanczos",
    "area": "area",
}


class Options(NamedTuple):
    """How each file is resized: plain values, which can be sent to another process.

    size: one length per axis, of the upright picture; or scale. axes: of an array; None for a picture. box: top, left,
    bottom, right in the upright picture. antialias: None for the default of `like`.
    """

    size: tuple[int, ...] | None
    scale: float | None
    axes: tuple[int, ...] | None
    mode: Mode
    antialias: bool | None
    like: Like
    box: tuple[float, float, float, float] | None
    premultiply: bool
    linear_light: bool
    quality: int
    force: bool


def read_options(args: argparse.Namespace) -> Options:
    """Check the arguments as far as that is possible without the files."""
    mode = args.filter or MODES[args.mode or "bilinear"]
    axes = None if args.axes is None else tuple(whole_number(text, "--axes") for text in args.axes)
    if axes is not None and args.box is not None and len(axes) != 2:
        raise Refusal(f"--box: expected two axes, got {len(axes)}")
    if axes is not None and args.linear_light:
        raise Refusal("--linear-light: is for pictures, and for arrays of their shapes without --axes")
    return Options(
        size=None if args.size is None else parse_size(args.size, axes),
        scale=None if args.scale is None else parse_scale(args.scale),
        axes=axes,
        mode=mode,
        antialias=_antialias(args, mode),
        like=args.like or "torch",
        box=None if args.box is None else parse_box(args.box),
        premultiply=args.premultiply,
        linear_light=args.linear_light,
        quality=_quality(args.quality),
        force=args.force,
    )


def read_jobs(text: str | None) -> int:
    """The number of processes; by default one per core that this process may use."""
    if text is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    jobs = whole_number(text, "--jobs")
    if not 1 <= jobs <= 1024:
        raise Refusal(f"--jobs: expected 1 to 1024 processes, got {jobs}")
    return jobs


def _antialias(args: argparse.Namespace, mode: str) -> bool | None:
    has_none = mode in NEAREST or mode == "area"
    if args.antialias and has_none:
        raise Refusal(f"--antialias: {mode} has none; filters other than the nearest kinds and area have it")
    if args.antialias is False and args.mode == "lanczos":
        raise Refusal("--no-antialias: mode lanczos is always antialiased; --filter lanczos has both")
    if args.antialias is None and args.like is None:
        return not has_none
    asked: bool | None = args.antialias
    return asked


def _quality(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100:
        raise Refusal(f"--quality: expected a whole number from 1 to 100, got {text!r}")
    return int(text)
