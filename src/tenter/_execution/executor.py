"""How plans are run on each array library's arrays: a module with the functions of `Executor` for each."""

from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np

from tenter._arrays import library, numpy_arrays, standard_arrays
from tenter._arrays.types import Array
from tenter._execution import numpy_executor
from tenter._execution.standard import executor as standard_executor
from tenter._plans.plan import Plan
from tenter._specs.resize import Resize
from tenter._specs.segments import Segments
from tenter._specs.spec import Spec


class Executor(Protocol):
    def plain(self, x: Any) -> bool:
        """As the library's."""

    def place(self, x: Any) -> tuple[Any, ...]:
        """As the library's."""

    def run(self, x: Any, plan: Plan) -> Any:
        """Fresh memory with the plan's maps applied, without gradients."""

    def known(self, call: str, x: Any, *args: Any) -> Any:
        """The result of a call like an earlier one; None if there was none. x: of exactly a type of the library."""

    def again(self, x: Any, plan: Plan) -> Any:
        """The same, differentiable, for a plain array that a kept plan serves."""

    def execute(self, x: Any, plan: Plan) -> Any:
        """The same for any array that is not recorded."""

    def record(self, x: Any, spec: Spec) -> Any:
        """The operation on an array that is recorded, by the library's dispatcher."""

    def record_value(self, x: Any, spec: Resize, value: Any) -> Any:
        """resize with a value past the edges, where the library makes results a part at a time; else None."""

    def record_counts(self, x: Any, repeats: Any, dim: int, output_size: Any) -> Spec:
        """The specification of counts where they or x are recorded or on a device."""

    def record_positions(self, repeats: Any, dim: Any, output_size: Any) -> Any:
        """repeat_interleave of counts alone, where they are recorded or on a device."""

    def repeat_counts(self, x: Any, counts: Any, dim: int | None, output_size: int | None) -> Any:
        """repeat_interleave without a plan; None where it takes one, or is to be refused."""

    def place_offsets(self, offsets: Array, x: Any) -> Any:
        """Prefix sums of counts, in memory that kernels for x read."""

    def flat(self, x: Any) -> Any:
        """x as 1-D."""

    def reshape(self, x: Any, shape: tuple[int, ...]) -> Any:
        """x in another shape."""

    def expand(self, x: Any, shape: tuple[int, ...]) -> Any:
        """A view with dims of length 1 stretched."""

    def expand_fast(self, x: Any, sizes: tuple[Any, ...]) -> Any:
        """The library's own view where that costs less than checking; None where the checks are needed."""

    def room(self, out: Any) -> Any:
        """out as the core reads it; None of what is to be refused, or written to by the library."""

    def write(self, x: Any, plan: Plan, out: Any) -> bool:
        """Has the kernels write the result to out; False if it lies otherwise than they write, or much lies between
        them."""

    def apart(self, x: Any, out: Any) -> bool:
        """Whether parts of out may be written to while others are still to be made of x."""

    def wrote(self, out: Any) -> None:
        """What the library is to know of out having been written to."""

    def copy_into(self, out: Any, result: Any) -> None:
        """Writes a result to out."""

    def flip(self, x: Any, axes: tuple[int, ...]) -> Any:
        """x with some axes reversed."""

    def ones(self, x: Any, n: int) -> Any:
        """n ones in float64, on x's device."""

    def filled(self, x: Any, inside: Any, value: Any) -> Any:
        """A result, changed to `value` where not inside."""

    def shifted(self, x: Any, outside: Any, value: Any, like: Any) -> Any:
        """A result, wide where like's dtype is narrow, plus `value` times its weight outside, in like's dtype: integers
        are rounded half to even and saturated."""

    def widened(self, x: Any) -> Any:
        """x in a dtype that holds sums of its own."""


class SegmentExecutor(Executor, Protocol):
    """What ragged arrays and the core need beside, which NumPy and PyTorch have. recording: the module of it for arrays
    that are recorded or on a device."""

    recording: Any

    def execute_adjoint(self, g: Any, spec: Spec, shape: tuple[int, ...]) -> Any:
        """What a gradient g of the operation on an array of that shape becomes; differentiable."""

    def pad(self, x: Any, s: Segments, length: int, value: Any, out: Any = None) -> Any:
        """x's rows, each filled up with `value`; differentiable, as are the next three. x: not recorded, and on the
        host. out: where to write the result, which lies as a fresh one would; without a gradient, of no objects."""

    def unpad(self, x: Any, s: Segments, out: Any = None) -> Any:
        """The rows of a padded x without what fills them up."""

    def repeat_padded(self, x: Any, s: Segments, each: Segments, length: int, value: Any, out: Any = None) -> Any:
        """x[B, T, ...] by the counts of s, B * T of them, filled up; each: the sums of B rows."""

    def extremes(self, x: Any, s: Segments, dim: int, largest: bool, out: Any = None) -> Any:
        """The largest or smallest value of each row."""

    def element(self, x: Any, value: Any) -> bytes:
        """A number as the bytes of an element of x, which the core reads."""

    def narrowed(self, x: Any, like: Any) -> Any:
        """x in like's dtype."""

    def divided(self, x: Any, lengths: Any, dim: int) -> Any:
        """x along dim by lengths, those of 0 counting as 1. lengths: of NumPy, or a tensor beside x."""

    def detached(self, x: Any) -> Any:
        """x without gradients."""

    def ratio(self, x: Any, y: Any) -> Any:
        """x / y, perhaps in y's memory."""

    def flat_part(self, x: Any, some: slice) -> Any:
        """Some of the elements of x flattened, for which the others are not copied."""

    def divide(self, x: Any, y: Any) -> None:
        """Has x / y in x's memory; y is stretched to its shape."""

    def joined(self, x: Any, y: Any, dim: int) -> Any:
        """One after the other along a dim."""

    def exponential(self, x: Any) -> Any:
        """exp(x) of a plain x, in its memory."""

    def exponentials(self, x: Any, shift: Any) -> Any:
        """exp(x - shift), perhaps in shift's memory."""


def _torch() -> SegmentExecutor:
    from tenter._execution.torch import executor  # as it imports torch

    return executor


def _jax() -> Executor:
    from tenter._execution.jax import executor  # as it imports jax

    return executor


def _dask() -> Executor:
    from tenter._execution.dask import executor  # as it imports dask

    return executor


# By the library's package.
OTHERS: dict[str, Callable[[], Executor]] = {"torch": _torch, "jax": _jax, "dask.array": _dask}
_loaded: dict[str, Executor] = {"numpy": numpy_executor, standard_arrays.PACKAGE: standard_executor}
# By each type that is exactly an array; a library's once it has been loaded. FIND: what finds known calls on one.
EXACT: dict[type, Executor] = dict.fromkeys(numpy_arrays.TYPES, _loaded["numpy"])
Known = Callable[..., Any]
FIND: dict[type, Known] = dict.fromkeys(numpy_arrays.TYPES, numpy_executor.known)


def of_compiler() -> SegmentExecutor:
    """That of the library whose compiler follows the code."""
    return _torch()


def of_segments(x: Any) -> SegmentExecutor:
    """x: an array of NumPy, or a tensor."""
    if isinstance(x, np.ndarray):
        return numpy_executor
    return cast(SegmentExecutor, _loaded["torch"]) if "torch" in _loaded else library.imported(_torch)


def add(its: Executor, package: str) -> None:
    """The executor of a library without known calls."""
    _loaded[package] = its


def of(x: Any) -> Executor:
    its = library.of(x)
    if its.PACKAGE not in _loaded:
        _loaded[its.PACKAGE] = library.imported(OTHERS[its.PACKAGE])
        EXACT.update(dict.fromkeys(its.TYPES, _loaded[its.PACKAGE]))
        FIND.update(dict.fromkeys(its.TYPES, _loaded[its.PACKAGE].known))
    return _loaded[its.PACKAGE]
