"""Maps whose rows the core computes by a rule. Short windows get their tables at once. Rows of long windows, and source
indices of copies, are computed when they are used."""

from tenter import _native
from tenter.maps._copy import Copy
from tenter.maps._gather import Gather
from tenter.maps._values import check_table_size, trusted
from tenter.maps._window import Window


def computed(n_in: int, n_out: int, rule: _native.Sampling, with_tables: bool = False) -> Copy | Window | Gather:
    """Returns the window of a rule. It is a gather if the axis continues past its edges and rows there need one, and a
    copy if the rule is the identity. with_tables: make tables of a long axis too, and drop the rule."""
    if n_in == n_out == 0:
        return Copy.repeat_each(0, 1)
    check_table_size(rule.taps_at_ends, 100)
    native = _native.WindowMap(rule, False, with_tables)
    if native.is_identity:
        return Copy.repeat_each(n_in, 1)
    if not native.gathers:
        return trusted(Window, n_in=n_in, n_out=n_out, width=None, block=1, _core=native)
    made: Gather = trusted(Gather, n_in=n_in, n_out=n_out, _core=native)
    if not with_tables and not native.only_copies:
        return made
    return trusted(Gather, n_in=n_in, n_out=n_out, offset=made.offset, index=made.index, weight=made.weight)


def copied(rule: _native.SourceIndex) -> Copy | Window | Gather:
    """Returns the copy of a rule. It is a window of ones if outputs at the ends read nothing, and a gather if they read
    past edges at which the axis continues."""
    n_in, n_out = rule.n_in, rule.n_out
    if rule.reads_padding:
        return trusted(Gather, n_in=n_in, n_out=n_out, picking=rule)
    if (repeat := rule.repeat) >= 0:
        return trusted(Copy, n_in=n_in, n_out=n_out, repeat=repeat, offsets=None, block=1)
    if rule.reads_all:
        return trusted(Copy, n_in=n_in, n_out=n_out, repeat=None, block=1, _core=rule)
    return sums(rule, False)


def sums(rule: _native.SourceIndex, transposed: bool) -> Window:
    """Returns the window of ones of a rule for source indices, or its transpose."""
    native = _native.WindowMap(rule, transposed)
    n_in, n_out = (rule.n_out, rule.n_in) if transposed else (rule.n_in, rule.n_out)
    return trusted(Window, n_in=n_in, n_out=n_out, weight=None, width=None, block=1, _core=native)
