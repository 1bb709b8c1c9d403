"""Windows whose rows the core computes by a rule: of short axes at once, of long ones while they are used."""

from tenter import _native
from tenter.maps._copy import Copy, Window
from tenter.maps._values import trusted


def computed(n_in: int, n_out: int, rule: _native.Sampling, with_tables: bool = False) -> Copy | Window:
    """The window of a rule, or the identity. with_tables: also for a long axis, and the rule is let go."""
    native = _native.WindowMap(rule, False, with_tables)
    if native.is_identity:
        return Copy.every(n_in, 1)
    return trusted(Window, n_in=n_in, n_out=n_out, width=None, block=1, native=native)
