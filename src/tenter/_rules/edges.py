"""What lies past the edges of an axis (native/edge.hpp)."""

from tenter import _native

EDGES = _native.WORDS["edge"]
# Those at which the axis goes on.
PERIODIC = _native.PERIODIC
