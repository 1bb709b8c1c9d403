"""The values of a part of a result: rows of maps, applied to the inputs that they read. They are bit-identical to that
part of the full result, whose maps decide the order of sums."""

from collections.abc import Mapping

import numpy as np

from tenter._arrays.numpy_arrays import address
from tenter._arrays.types import Array
from tenter._execution import numpy_executor
from tenter._plans.plan import CallPlan, plan_part
from tenter._rules.rounding import ONCE
from tenter.maps import AxisMap
from tenter.maps._kinds import only_copies

Maps = Mapping[int, AxisMap]


def planned(x: Array, maps: Maps, wholes: Maps, rounding: str = ONCE) -> CallPlan:
    """maps: by axis. wholes: the maps of which these are rows."""
    return plan_part(x, tuple(maps.items()), dict(wholes), rounding)


def applied(x: Array, maps: Maps, wholes: Maps, rounding: str = ONCE, y: Array | None = None) -> Array:
    """Returns the values, in y, which is contiguous, or in fresh memory. Without maps x itself is returned."""
    if not maps:
        return x
    native = x.astype(x.dtype.newbyteorder("="), copy=False)
    if not x.size and not all(map(only_copies, maps.values())):  # sums of nothing
        shape = [maps[d].n_out if d in maps else n for d, n in enumerate(x.shape)]
        made = np.zeros(shape, x.dtype)
    elif (plan := planned(native, maps, wholes, rounding)).steps is None or y is None:
        made = numpy_executor.run(native, plan).astype(x.dtype, copy=False)
    else:
        plan.steps.run(address(native), address(y), False)
        return y
    if y is None:
        return made
    y[...] = made
    return y
