"""Filters for `mode` of `tenter.resize`: a cubic of any slope, and functions of your own. Provisional: it may change
before 1.0.

The filters that have names, such as "lanczos" and "mitchell", are modes: `tenter.resize(x, 5, mode="mitchell")`.
"""

from tenter._rules.filters import Filter as Filter, cubic as cubic

__all__ = ["Filter", "cubic"]
