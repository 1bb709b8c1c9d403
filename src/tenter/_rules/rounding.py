"""How results are rounded: one value, which a specification gives and all that runs it reads.
native/kernels/rounding.hpp says what each word means. There the planner settles it."""

from tenter import _native

ONCE, EACH_AXIS, KEPT = _native.WORDS["rounding"][:3]
OF_CALLS = ONCE, EACH_AXIS  # what a specification may say


def of_convention(eight_bits: str, antialias: bool) -> str:
    """Returns how a convention rounds. eight_bits: its field. antialias: of any axis."""
    return EACH_AXIS if eight_bits == "pillow" and antialias else ONCE


def of_dtype(rounding: str, dtype: str, n_axes: int = 2) -> str:
    """Returns how values of a dtype are rounded: 8-bit ones along at most two axes after each axis."""
    return rounding if dtype == "uint8" and n_axes <= 2 else ONCE


def by_axis(rounding: str) -> bool:
    """True if values are rounded after each axis. Then the order of the axes decides values, so it does not follow
    memory."""
    return rounding == EACH_AXIS
