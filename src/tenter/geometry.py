"""Where the outputs of a resized axis are in its input, exactly. Provisional: it may change before 1.0."""

from tenter._rules.affine import affine as affine
from tenter._rules.geometry import Geometry as Geometry
from tenter._rules.spacing import Spaced as Spaced, spaced as spaced

__all__ = ["Geometry", "Spaced", "affine", "spaced"]
