"""Maps whose rows the core computes by a rule: tables of short windows at once, rows of long ones, and the inputs of
copies, while they are used."""

from tenter import _native
from tenter.maps._copy import Copy
from tenter.maps._gather import Gather
from tenter.maps._values import room_for, trusted
from tenter.maps._window import Window


def computed(n_in: int, n_out: int, rule: _native.Sampling, with_tables: bool = False) -> Copy | Window | Gather:
    """The window of a rule, a gather where the axis goes on past its edges and rows there need one, or the identity.
    with_tables: also for a long axis, and the rule is let go."""
    if n_in == n_out == 0:
        return Copy.every(0, 1)
    room_for(rule.taps_at_ends, 100)
    native = _native.WindowMap(rule, False, with_tables)
    if native.is_identity:
        return Copy.every(n_in, 1)
    if not native.gathers:
        return trusted(Window, n_in=n_in, n_out=n_out, width=None, block=1, native=native)
    made: Gather = trusted(Gather, n_in=n_in, n_out=n_out, native=native)
    if not with_tables and not native.picks:
        return made
    return trusted(Gather, n_in=n_in, n_out=n_out, offset=made.offset, index=made.index, weight=made.weight)


def picked(rule: _native.Picking) -> Copy | Window | Gather:
    """The copy of a rule; a window of ones where outputs at the ends read nothing, and a gather where they read past
    edges at which the axis goes on."""
    n_in, n_out = rule.n_in, rule.n_out
    if rule.goes_past:
        return trusted(Gather, n_in=n_in, n_out=n_out, picking=rule)
    if (repeat := rule.repeat) >= 0:
        return trusted(Copy, n_in=n_in, n_out=n_out, repeat=repeat, offsets=None, block=1)
    if rule.reads_all:
        return trusted(Copy, n_in=n_in, n_out=n_out, repeat=None, block=1, native=rule)
    return sums(rule, False)


def sums(rule: _native.Picking, transposed: bool) -> Window:
    """The window of ones of a rule that picks inputs, or its transpose."""
    native = _native.WindowMap(rule, transposed)
    n_in, n_out = (rule.n_out, rule.n_in) if transposed else (rule.n_in, rule.n_out)
    return trusted(Window, n_in=n_in, n_out=n_out, weight=None, width=None, block=1, native=native)
