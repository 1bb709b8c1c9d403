"""What `tenter.image.resize` takes in addition to the arguments of `resize`: an array that is an image, and alpha."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tenter._arrays import arguments
from tenter._arrays.arguments import describe
from tenter._arrays.elsewhere import edge_here
from tenter._arrays.errors import refuse
from tenter._arrays.library import is_array
from tenter._rules.axis_rule import EDGES
from tenter._specs.lengths import channels_first
from tenter._specs.modes import MODES
from tenter._specs.picture_sizes import RULES

if TYPE_CHECKING:
    from tenter._arrays.signatures import Mode

# Channels that an image may have in front of its height.
IN_FRONT = (1, 3, 4)


def usual_mode(like: Any, labels: bool = False) -> "Mode":
    """The mode of images where none is given: by the rules of other libraries the one that all of them have. Labels
    have the mode whose votes leave no range."""
    return "lanczos" if like is None and not labels else "linear"


#: Names that people try, and what to write: sizes that keep the ratio of the sides, labels, what a convention says.
MEANT = {
    **dict.fromkeys(("width", "w"), "size=(None, {})"), **dict.fromkeys(("height", "h"), "size=({}, None)"),
    **dict.fromkeys(("fit", "max_size", "long_edge"), "size=Fit({})"), "fill": "size=Fill({})",
    **dict.fromkeys(("keep_aspect", "keep_aspect_ratio", "preserve_aspect_ratio"), "size=Fit(size)"),
    "gravity": "size=Fill(size, {})", "premultiply": "alpha='premultiplied'", "premultiplied": "alpha='premultiplied'",
    "gamma": "linear_light=True", "edge": "like=Convention.of(edge={})",
    "value": "tenter.resize(x, size, axes=(0, 1), edge='constant', value={})",
    "align": "like=Convention.of(align={})", "coordinate_transformation_mode": "like=Convention.of(align={})",
    "align_corners": "like=Convention.of(align='align_corners')",
}  # fmt: skip


def refuse_others(named: dict[str, Any], position: Any) -> None:
    """Refuses axes by their name, or in their position in other functions, and what is said by other arguments."""
    for word, instead in MEANT.items():
        if word in named:
            given = "size" if isinstance(named[word], bool) else describe(named[word])
            got = f"{describe(named[word])} (did you mean {instead.format(given)}?)"
            refuse(TypeError, word, "no argument of this name", got)
    if "axes" in named or isinstance(position, (list, tuple)):
        refuse(
            TypeError, "axes", "none, as an image has two (tenter.resize takes axes)", repr(named.get("axes", position))
        )


def refuse_edges(mode: Any) -> None:
    """Refuses edges, which other libraries call modes."""
    if isinstance(mode, str) and mode not in MODES and (edge := edge_here(mode)) in EDGES:
        meant = MEANT["edge"].format(repr(edge))
        refuse(ValueError, "mode", f"one of {', '.join(MODES)}", f"{mode!r} (did you mean {meant}?)")


def has_alpha(x: Any, size: Any, alpha: Any, mixes: bool, of_batch: bool = False) -> bool:
    """Refuses arrays that are not images; True if the last channel is alpha. mixes: whether colors are averaged, which
    alpha would weight. of_batch: whether x is one of a batch."""
    if x.ndim not in (2, 3):
        layout = "NCHW" if x.ndim == 4 and channels_first(x.shape[1:]) else "NHWC"
        hint = f'; layout="{layout}" takes a batch' if x.ndim == 4 else ""
        refuse(ValueError, "x", f"shape (H, W) or (H, W, C){hint}", f"{tuple(x.shape)}")
    if alpha is not None and not isinstance(alpha, (bool, np.bool_)) and alpha not in ("premultiplied",):
        refuse(TypeError, "alpha", "a bool, 'premultiplied' or None", describe(alpha))
    channels = x.shape[2] if x.ndim == 3 else 1
    if alpha is None and channels > 4:
        expected = f"shape (H, W) or (H, W, C) of at most 4 channels{_meant(x, size, of_batch)}"
        refuse(ValueError, "x", expected, f"{tuple(x.shape)}")
    if alpha and channels < 2:
        refuse(ValueError, "alpha", "False for an image of one channel", describe(alpha))
    if alpha is None and channels == 4 and mixes:
        refuse(ValueError, "alpha", "True if the last of four channels is alpha, False if all are data", "none")
    return bool(alpha)


def check_size(x: Any, size: Any) -> None:
    """Refuses one number, which is both sides to some, the shorter or the longer one to others."""
    if size is None or isinstance(size, RULES):
        return
    if not arguments.single(size):
        arguments.sizes("size", [[n for n in size if n is not None]], least=1)  # no image is without pixels
        return
    n = str(arguments.integer("size", size, "sizes that are ints", 1))
    shorter = f"({n}, None)" if x.shape[0] <= x.shape[1] else f"(None, {n})"
    ways = f"{shorter} for the shorter side, Fit({n}) for the longer, Fill({n}) for a square that is cut"
    refuse(ValueError, "size", f"(height, width), or {ways}, ({n}, {n}) for one that is distorted", n)


def _meant(x: Any, size: Any, of_batch: bool) -> str:
    """The call that was likely meant, to be put after what is expected."""
    shown = "..." if size is None or is_array(size) else describe(size)
    if not channels_first(x.shape) and x.shape[0] not in IN_FRONT:
        return f"; for more channels call image.resize(x, {shown}, alpha=False)"
    more = ", alpha=False" if x.shape[0] > 4 else ""
    layout = "NCHW" if of_batch else "CHW"
    return f'; for ({", ".join(layout)}) call image.resize(x, {shown}, layout="{layout}"{more})'
