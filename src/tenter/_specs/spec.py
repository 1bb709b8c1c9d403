"""Every specification."""

from tenter._specs.repeat import Repeat, RepeatCounts
from tenter._specs.resize import Interpolate, Resize

Spec = Repeat | RepeatCounts | Interpolate | Resize
