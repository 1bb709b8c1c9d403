"""Formulas of nearest positions that the core computes inputs by."""

from tenter import _native
from tenter._rules.edges import NUMBERS

# As the core numbers them (native/picks.hpp).
(FLOATS, FLOAT_CENTERS, DOUBLES, DOUBLE_CENTERS, FLOAT_QUOTIENTS, OFFSET, CENTERS, ACCUMULATED, LINE) = range(9)
# Units and positions up to which the core is exact.
FINEST, FARTHEST = 1 << 90, 1 << 61


def by_formula(
    n_in: int, n_out: int, formula: int, first: float = 0.0, step: float = 0.0, edge: str = "replicate"
) -> _native.Picking:
    """edge: `constant` where outputs outside the axis take no input; where the axis goes on, indices do."""
    return _native.Picking(n_in, n_out, formula, first, step, None, 0, n_out, NUMBERS[edge])


def on_line(
    n_in: int, n_out: int, units: tuple[int, int, int], begin: int = 0, end: int | None = None, edge: str = "replicate"
) -> _native.Picking | None:
    """The floor of (first + o * step) / unit, exactly; None where that takes more bits than the core has. begin, end:
    the outputs that take an input."""
    first, step, unit = units
    (whole, rest), (whole_step, step_rest) = divmod(first, unit), divmod(step, unit)
    if unit >= FINEST or abs(whole) + n_out * (abs(whole_step) + 1) >= FARTHEST:
        return None
    line = whole, divmod(rest, 1 << 64), whole_step, divmod(step_rest, 1 << 64), divmod(unit, 1 << 64)
    last = n_out if end is None else end
    return _native.Picking(n_in, n_out, LINE, 0.0, 0.0, line, begin, last, NUMBERS[edge])
