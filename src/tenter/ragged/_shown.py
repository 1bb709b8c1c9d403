"""How plans look, in text and in notebooks."""

from tenter._specs.segments import Segments
from tenter.maps import Copy
from tenter.maps._drawing import drawing
from tenter.maps._html import table
from tenter.maps._values import short


def line(s: Segments) -> str:
    if not s.known():
        return f"Plan({s.n} rows -> {'?' if s.total is None else s.total}: lengths on {s.offsets.device})"
    side = ", padded on the left" if s.padding_side == "left" else ""
    return f"Plan({s.n} rows -> {s.total}: lengths {short(s.lengths, s.n)}{side})"


def html(s: Segments, its_map: Copy | None) -> str:
    """its_map: the map of lengths that the host knows."""
    if its_map is None:
        return table("Plan", [("rows", str(s.n)), ("lengths", f"on {s.offsets.device}")])
    rows = [("rows", f"{s.n:,}"), ("positions", f"{s.total:,}"), ("lengths", short(s.lengths, s.n))]
    return table("Plan", rows) + drawing(its_map)
