"""The names of an array's dims, and those that --axes means."""

from __future__ import annotations

from typing import Any

from tenter.cli.refusal import Refusal

#: The names of an array's last dims where nothing names them.
USUAL = "tczyx"


def dim_names(attributes: dict[str, Any], given: tuple[str | None, ...] | None, ndim: int) -> list[str]:
    """The dims' names: the zarr array's own, those in xarray's attribute, or the usual ones; empty for none.

    attributes: the array's. given: zarr's own names.
    """
    for names in (given, attributes.get("_ARRAY_DIMENSIONS")):
        if names and len(names) == ndim and all(isinstance(name, str) for name in names):
            return [str(name) for name in names]
    return list(USUAL[-ndim:]) if ndim <= len(USUAL) else [""] * ndim


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
