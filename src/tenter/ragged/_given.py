"""The segments of what a function is given as lengths: lengths, or a plan in their place."""

from __future__ import annotations

from typing import Any

from tenter._ragged import segments
from tenter._specs.segments import Segments, check_total
from tenter.ragged._plan import Plan


def described(called: str, lengths: Any, positions: Any = None) -> Segments:
    """The segments of a function's lengths, or of the plan in their place. positions: how many there are. A device is
    told, as it may be the only one to know the lengths; on the host they are compared where an error names
    x."""
    if isinstance(lengths, Plan):
        return lengths._segments
    return segments.of_lengths(lengths, positions if segments.later(lengths) else None, called)


def with_total(called: str, lengths: Any, output_size: Any) -> Segments:
    """The same for functions whose result has the length `output_size`."""
    if isinstance(lengths, Plan):
        s = lengths._with_total()
        check_total(output_size, s.total)
        return s
    return segments.of_lengths(lengths, output_size, called)


def side_of(lengths: Any, padding_side: Any) -> Any:
    """The side of the padding, as the core reads it; it declines one that only a device knows."""
    return lengths._segments.padding_side if padding_side is None and isinstance(lengths, Plan) else padding_side


def as_array(lengths: Any) -> Any:
    """Lengths as the core reads them."""
    return lengths._in_host_memory() if isinstance(lengths, Plan) else lengths
