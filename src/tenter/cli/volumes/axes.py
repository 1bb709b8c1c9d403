"""The names of an array's dims, what each is of, and those that --axes means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenter.cli.refusal import Refusal

#: The names of an array's last dims where nothing names them, and those of one whose last dim is of channels.
USUAL, CHANNELS_LAST = "tczyx", "tzyxc"
#: A last dim that is longer is not taken for channels where nothing names it.
MOST_CHANNELS = 4
TIME, CHANNEL, SPACE = "time", "channel", "space"
#: What names say, in lower case: those of OME, of the CF conventions and of other programs.
KINDS = {
    **dict.fromkeys(("t", "time", "times", "frame", "frames", "date", "datetime", "step", "valid_time"), TIME),
    **dict.fromkeys(
        ("c", "ch", "channel", "channels", "band", "bands", "wavelength", "wavelengths", "lambda"), CHANNEL
    ),
    **dict.fromkeys(("s", "sample", "samples", "rgb", "rgba", "color", "colors"), CHANNEL),
    **dict.fromkeys(("z", "y", "x", "depth", "height", "width", "plane", "slice", "row", "rows", "col", "cols"), SPACE),
    **dict.fromkeys(
        ("column", "columns", "lat", "lon", "latitude", "longitude", "rlat", "rlon", "lev", "level"), SPACE
    ),
    **dict.fromkeys(("altitude", "elevation", "easting", "northing"), SPACE),
}
#: The order of OME-Zarr's axes: others are where channels are.
RANKS = {TIME: 0, SPACE: 2}


def dim_names(attributes: dict[str, Any], given: tuple[str | None, ...] | None, ndim: int) -> list[str]:
    """The dims' own names, zarr's or those in xarray's attribute; empty where nothing names them.

    attributes: the array's. given: zarr's own names.
    """
    for names in (given, attributes.get("_ARRAY_DIMENSIONS")):
        if names and len(names) == ndim and all(isinstance(name, str) for name in names):
            return [str(name) for name in names]
    return []


def usual_names(shape: Sequence[int]) -> list[str]:
    """The names of dims that nothing names: the last of t, c, z, y, x. A short dim after two long ones is of
    channels, as in images. Empty for too many."""
    ndim = len(shape)
    if ndim > len(USUAL):
        return [""] * ndim
    if ndim > 2 and shape[-1] <= MOST_CHANNELS < min(shape[-3:-1]):
        return list(CHANNELS_LAST[-ndim:])
    return list(USUAL[-ndim:])


def kinds(names: Sequence[str]) -> list[str | None]:
    """What each dim is of by its name: time, channel or space; None for others. Where names say of fewer than two that
    they are of space, others among the last three are: OME-Zarr has two or three."""
    found = [KINDS.get(name.lower()) for name in names]
    if found.count(SPACE) < 2:
        for k in range(max(0, len(names) - 3), len(names)):
            found[k] = found[k] or SPACE
    return found


def given_names(text: str, ndim: int) -> list[str]:
    """`--names`: one for each dim."""
    names = [name.strip() for name in text.split(",")]
    if len(names) != ndim or not all(names) or len(set(names)) < ndim:
        raise Refusal(
            f"--names: expected {ndim} names, one for each dim, such as {','.join(USUAL[-ndim:])}, got {text!r}"
        )
    return names


def read_axes(texts: list[str], names: list[str]) -> tuple[int, ...]:
    """`--axes`: numbers or names, apart or joined by commas."""
    found = []
    for text in split(texts):
        if text in names:
            found.append(names.index(text))
            continue
        try:
            axis = int(text)
        except ValueError:
            known = ", ".join(name for name in names if name)
            raise Refusal(f"--axes: expected numbers or names of axes ({known}), got {text!r}") from None
        if not -len(names) <= axis < len(names):
            raise Refusal(f"--axes: expected numbers from {-len(names)} to {len(names) - 1}, got {axis}")
        found.append(axis % len(names))
    if len(set(found)) < len(found):
        raise Refusal(f"--axes: expected each axis once, got {','.join(split(texts))}")
    return tuple(found)


def split(texts: list[str]) -> list[str]:
    """The single axes of `--axes`."""
    return [part for text in texts for part in text.split(",") if part]
