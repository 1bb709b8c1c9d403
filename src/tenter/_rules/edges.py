"""How positions outside an axis are read (native/rules/edge.hpp)."""

from tenter import _native

EDGES = _native.WORDS["edge"]
# The edges at which the axis continues.
PERIODIC = _native.PERIODIC
