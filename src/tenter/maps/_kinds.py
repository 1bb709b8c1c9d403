"""What kind of map one is, as those ask that apply it."""

from collections.abc import Iterable
from typing import Any

from tenter.maps._copy import Copy
from tenter.maps._gather import Gather


def changes(m: object) -> bool:
    """False for a map whose outputs are its inputs."""
    return not (isinstance(m, Copy) and m.repeat == 1)


def changing(maps: Iterable[tuple[int, Any]]) -> tuple[tuple[int, Any], ...]:
    """Returns the maps, by axis, that change their axis."""
    return tuple([(axis, m) for axis, m in maps if changes(m)])


def only_copies(m: object) -> bool:
    """True if every output is one unchanged input, or empty."""
    return isinstance(m, Copy) or (isinstance(m, Gather) and m.picks)
