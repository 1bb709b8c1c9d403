"""What the core's planner made, as data: for Triton and `explain`."""

from typing import Any, NamedTuple

from tenter import _native
from tenter._arrays.layout import Layout, Order
from tenter._plans import core


class CoreBuffer(NamedTuple):
    """`at` bytes into one of a call's memories. number: the core's number of the dtype."""

    memory: int
    at: int
    number: int
    itemsize: int


class PassDim(NamedTuple):
    """A dim of a pass, with its stride in bytes.

    map: the index of its map among those that were given, from slow to fast; -1 without a map
    part: "whole"; for a gather "order", the copy of its inputs, or "sums", the sums that follow
    """

    n: int
    stride: int
    map: int
    part: str


class Pass(NamedTuple):
    """A copy along all dims that have maps, or sums along `n_axes` dims from `first` on.

    spare: the memory for a packed copy of the input, if it is needed
    forms: how a copy finds the inputs of each dim with a map; empty on devices
    """

    copies: bool
    source: CoreBuffer
    target: CoreBuffer
    dims: tuple[PassDim, ...]
    first: int
    n_axes: int
    spare: int
    forms: tuple[str, ...]


class Passes(NamedTuple):
    """What the planner made.

    before: on the whole array; passes: on each chunk of the leading dims; after: on the whole result
    temporaries: bytes of each
    sums: the dtype in which sums are taken
    """

    before: tuple[Pass, ...]
    passes: tuple[Pass, ...]
    after: tuple[Pass, ...]
    chunked: bool
    temporaries: tuple[int, ...]
    sums: str


def on_device(x: Layout, maps: core.Maps, order: Order | None, rounding: str) -> Passes:
    """Returns the passes that a device runs."""
    native = core.native_maps(maps, {}, True)
    return _read(_native.passes_on_device(core.layout_of(x), native, order, rounding, core.check_tables))


def of_plan(made: _native.HostPlan) -> Passes:
    """Returns the passes that a plan's steps run."""
    return _read(made.passes)


def _read(made: dict[str, Any]) -> Passes:
    listed = {name: tuple([_pass(**fields) for fields in made[name]]) for name in ("before", "passes", "after")}
    return Passes(**{**made, **listed})


def _pass(source: Any, target: Any, dims: Any, **others: Any) -> Pass:
    walked = tuple([PassDim(**fields) for fields in dims])
    return Pass(source=CoreBuffer(**source), target=CoreBuffer(**target), dims=walked, **others)
