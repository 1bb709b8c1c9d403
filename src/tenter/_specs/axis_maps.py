"""The map of a resampled axis: its rule's rows, in the cheapest form that holds them."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tenter import _native, filters
from tenter._arrays.types import Ints
from tenter._rules import nearest, taps
from tenter._rules.axis_rule import NEAREST, AxisRule
from tenter._rules.edges import NUMBERS, PERIODIC
from tenter._rules.taps import Entries
from tenter._specs import eight_bits
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._computed import computed, picked
from tenter.maps._values import trusted

# Maps of images and volumes are kept for the next call; those of longer axes would fill the memory.
KEPT_LENGTH = 1 << 15


def axis_map(rule: AxisRule, n_in: int, n_out: int) -> AxisMap:
    """The map of one axis, by a rule without PyTorch's open choices (`torch_quirks.settled`)."""
    make = _kept if n_in + n_out <= KEPT_LENGTH else new_axis_map
    return make(rule.named(), n_in, n_out)


def new_axis_map(rule: AxisRule, n_in: int, n_out: int, to_round: bool = False) -> AxisMap:
    """The same, not kept. rule: with a filter's name for its kind. to_round: for weights that are rounded where all
    rows are of adjacent inputs."""
    assert isinstance(rule.kind, str)
    if rule.kind in NEAREST:
        if not n_out:
            return Copy.every(n_in, 0)
        inputs = nearest.picking(rule, n_in, n_out)
        if inputs is None:
            return _indexed(*nearest.index(rule, n_in, n_out), n_in)
        if inputs.goes_past and not inputs.is_long:
            return _indexed(inputs.index(0, n_out), np.zeros(n_out, np.bool_), n_in)
        return picked(inputs)
    if rule.arithmetic == "22 bits":
        return eight_bits.rounded(new_axis_map(rule._replace(arithmetic="exact"), n_in, n_out, True))
    if rule.arithmetic == "pillow":
        return eight_bits.pillow_map(rule, n_in, n_out)
    if rule.kind == "area" and rule.box is None and n_in and n_out:
        return computed(n_in, n_out, taps.touched(n_in, n_out))
    geometry = rule.geometry(n_in, n_out)
    if rule.kind == "gaussian":
        return _gathered(n_in, n_out, taps.blurred(rule, geometry), rule.edge)
    if rule.kind in ("area", "overlap"):
        if (align := taps.of_areas(rule.align)) != rule.align:
            geometry = replace(geometry, align=align)
        rows = taps.overlapped(geometry, rule.edge)
        filter_ = None
    else:
        filter_ = filters.keys(rule.cubic) if rule.kind == "cubic" else filters.by_name(rule.kind)
        rows = taps.sampling(rule, geometry, filter_)
    turned = rule.box is not None and geometry.units()[1] < 0  # as corners of a box below one pixel are
    if turned or (to_round and rule.edge in PERIODIC):
        return _gathered(n_in, n_out, taps.entries(rows), rule.edge)
    return computed(n_in, n_out, rows, filter_ is not None and not filters.in_core(filter_))


_kept = lru_cache(maxsize=512)(new_axis_map)


def _indexed(index: Ints, nowhere: npt.NDArray[np.bool_], n_in: int) -> AxisMap:
    n_out = len(index)
    if nowhere.any():
        stop = np.maximum.accumulate(np.where(nowhere, 0, index + 1))  # empty rows lie at the ends
        start = np.where(nowhere, stop, index)
        return Window(n_in, n_out, start, np.concatenate([[0], np.cumsum(~nowhere)]))
    if np.any(index[1:] < index[:-1]):
        return Gather(n_in, n_out, np.arange(n_out + 1), index, np.ones(n_out))
    return Copy.index_of(index, n_in)


def _gathered(n_in: int, n_out: int, entries: Entries, edge: str) -> AxisMap:
    """Entries in any order past the edges: a window where adjacent inputs hold them, else a gather."""
    row, column, weight = entries
    offset = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_out))])
    found = _native.folded_rows(n_in, offset, column, weight, NUMBERS[edge])
    if found is None:
        return Copy.every(n_in, 1)
    start, index, offset, weight = found
    if index is not None:
        return trusted(Gather, n_in=n_in, n_out=n_out, offset=offset, index=index, weight=weight)
    return trusted(Window, n_in=n_in, n_out=n_out, start=start, offset=offset, weight=weight, width=None, block=1)
