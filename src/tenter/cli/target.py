"""Which part of a stored image is resized, and to what size. Options mean the upright image."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from tenter._arrays import pillow_images
from tenter._rules.axis_rule import NEAREST
from tenter._rules.presets import convention
from tenter._specs.placement import Rows, placed
from tenter.cli.kept.orientation import SIDEWAYS, stored_box
from tenter.cli.options import Options
from tenter.cli.refusal import Refusal
from tenter.cli.sizes import scaled

#: top, left, bottom, right; floats or fractions
Box = tuple[Any, Any, Any, Any]


class Target(NamedTuple):
    """The new height and width of the stored pixels, and the box of these to resize, None for all; the height and width
    of the upright image, before and after; and the rows and columns of the new pixels that are not padding."""

    size: tuple[int, int]
    box: Box | None
    before: tuple[int, int]
    after: tuple[int, int]
    inside: tuple[Rows, Rows]

    @property
    def resized(self) -> tuple[int, int]:
        """The height and width of the new pixels that are not padding."""
        (top, bottom), (left, right) = self.inside
        return bottom - top, right - left


def find_target(stored: tuple[int, int], orientation: int, options: Options) -> Target:
    """What becomes of an image of a stored height and width."""
    sideways, place = orientation in SIDEWAYS, None
    extent = (stored[1], stored[0]) if sideways else stored
    box: Box | None = options.box
    if box is not None:
        check_box(box, extent)
    if options.wanted is not None:
        top, left, bottom, right = map(Fraction, box or (0, 0, *extent))
        place = placed(options.wanted, ((top, bottom), (left, right)))
        size, (rows, columns) = place.size, place.box
        found: Box = (rows[0], columns[0], rows[1], columns[1])
        box = None if found == (0, 0, *extent) else found
    elif options.scale is not None:
        assert not isinstance(options.scale, tuple)
        width, height = scaled(extent[::-1] if box is None else (box[3] - box[1], box[2] - box[0]), options.scale)
        size = (height, width)
    else:
        assert options.size is not None
        size = (options.size[0], options.size[1])
    turned = None if box is None else stored_box(box, stored, orientation)
    new = (size[1], size[0]) if sideways else size
    inside: Any = ((0, new[0]), (0, new[1]))
    if place is not None:
        (above, below), (before, after) = place.inside
        edges = stored_box((above, before, below, after), new, orientation)
        inside = ((edges[0], edges[2]), (edges[1], edges[3]))
    return Target(new, turned, extent, size, inside)


def reduction(stored: tuple[int, int], orientation: int, options: Options) -> int:
    """By how much the decoder of a JPEG may shrink it; 1 where no antialiased shrinking follows."""
    wide = options.antialias or (options.antialias is None and convention(options.like).antialias)
    if options.decoding == "exact" or not wide or options.mode in (*NEAREST, "area") or options.linear_light:
        return 1
    target = find_target(stored, orientation, options)
    top, left, bottom, right = target.box or (0, 0, *stored)
    factor = min((bottom - top) / target.resized[0], (right - left) / target.resized[1])
    return pillow_images.reduction(stored, factor, options.decoding)


def check_box(box: Box, size: Any) -> None:
    """Refuse a box that reaches beyond an image."""
    if box[2] > size[0] or box[3] > size[1]:
        raise Refusal(f"--box: reaches {box[2]:g} down and {box[3]:g} across, of {size[0]} and {size[1]}")
