"""How plans run on each array library's arrays. Each library has a module with the functions of `Executor`."""

from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np

from tenter._arrays import library, numpy_arrays, standard_arrays
from tenter._arrays.types import Array
from tenter._execution import numpy_executor
from tenter._plans.plan import CallPlan
from tenter._specs.resize import Resize
from tenter._specs.segments import Segments
from tenter._specs.spec import Spec


class Executor(Protocol):
    def run(self, x: Any, plan: CallPlan) -> Any:
        """Applies the plan's maps and returns fresh memory, without a gradient."""

    def cached(self, call: str, x: Any, *args: Any) -> Any:
        """Returns the result of a cached call; None if the call is not cached. x: exactly of one of the library's
        types."""

    def run_read(self, x: Any, plan: CallPlan) -> Any:
        """Like `run`, for an array that the core has read: its storage need not be checked."""

    def execute(self, x: Any, plan: CallPlan) -> Any:
        """Like `run`, and records a gradient, for any array that is not traced."""

    def dispatched(self, x: Any, spec: Spec) -> Any:
        """Runs the operation on a traced array by the library's dispatcher."""

    def traced_value(self, x: Any, spec: Resize, value: Any) -> Any:
        """resize with a fill value, if the library makes results in parts; else None."""

    def traced_labels(self, x: Any, spec: Resize, outside: int | None) -> Any:
        """resize of labels, if the library makes results in parts; else None. outside: the label outside of x, None if
        no output reads it."""

    def traced_counts(self, x: Any, repeats: Any, dim: int, output_size: Any) -> Spec:
        """Returns the specification for counts, if x or the counts are traced or on a device."""

    def traced_positions(self, repeats: Any, dim: Any, output_size: Any) -> Any:
        """repeat_interleave of counts alone, if they are traced or on a device."""

    def place_offsets(self, offsets: Array, x: Any) -> Any:
        """Returns prefix sums of counts in memory that kernels for x can read."""

    def flat(self, x: Any) -> Any:
        """Returns x as 1-D."""

    def reshape(self, x: Any, shape: tuple[int, ...]) -> Any:
        """Returns x in another shape."""

    def expand(self, x: Any, shape: tuple[int, ...]) -> Any:
        """Returns a view with dims of length 1 stretched."""

    def expand_fast(self, x: Any, sizes: tuple[Any, ...]) -> Any:
        """Returns the library's own view if that costs less than the checks; None if the checks are needed."""

    def writable(self, out: Any) -> Any:
        """Returns `out` as the core reads it. None if `out` is wrong, or if only the library can write to it."""

    def write(self, x: Any, plan: CallPlan, out: Any) -> bool:
        """Makes the kernels write the result to `out`. False if they cannot write its layout."""

    def disjoint(self, x: Any, out: Any) -> bool:
        """True if parts of `out` can be written while others are still computed from x."""

    def wrote(self, out: Any) -> None:
        """Tells the library that `out` was written."""

    def copy_into(self, out: Any, result: Any) -> None:
        """Copies a result to `out`."""

    def flip(self, x: Any, axes: tuple[int, ...]) -> Any:
        """Returns x with some axes reversed."""

    def ones(self, x: Any, n: int) -> Any:
        """Returns n ones in float64, on x's device."""

    def filled(self, x: Any, inside: Any, value: Any) -> Any:
        """Writes `value` to the elements of a result where `inside` is False."""

    def shifted(self, x: Any, outside: Any, value: Any, like: Any) -> Any:
        """Returns x + outside * value in the dtype of `like`, added in the dtype of `outside`. Integers are rounded
        half to even and saturated.

        x: a result, in a wider dtype if like's dtype is narrow
        outside: the weight of the fill value in each output
        """

    def widened(self, x: Any) -> Any:
        """Returns x in a dtype that holds sums of its values."""

    def rounded(self, x: Any, like: Any) -> Any:
        """Returns floats, which may be overwritten, in the dtype of `like`. Integers are rounded half to even and
        saturated."""

    def cast(self, x: Any, dtype: str) -> Any:
        """Returns bools in a dtype of that name, or in float32 where a device lacks float64."""

    def zeroed(self, x: Any, valid: Any) -> Any:
        """Returns floats where `valid` is True, and 0 elsewhere, in x's order of axes. `valid` has x's dims, some maybe
        of length 1."""

    def over(self, x: Any, y: Any) -> Any:
        """Returns x / y, which may overwrite x."""


class SegmentExecutor(Executor, Protocol):
    """What ragged arrays need as well. NumPy and PyTorch have it.

    tracing: the module for arrays that are traced or on a device
    """

    tracing: Any

    def large_empty(
        self, x: Any, shape: tuple[int, ...], order: tuple[int, ...] | None = None
    ) -> tuple[Any, int, bool]:
        """Allocates a result of x's dtype in host memory. Returns it, its address, and whether streaming stores should
        write it. order: the dims from slowest to fastest in memory."""

    def execute_adjoint(self, g: Any, spec: Spec, shape: tuple[int, ...]) -> Any:
        """Returns the gradient of an operation's input of that shape from the gradient g of its output;
        differentiable."""

    def pad(self, x: Any, s: Segments, length: int, value: Any) -> Any:
        """Pads each row of x with `value`. This and the next three functions are differentiable. x: in host memory, not
        traced."""

    def unpad(self, x: Any, s: Segments) -> Any:
        """Returns the rows of a padded x without their padding."""

    def repeat_padded(self, x: Any, s: Segments, each: Segments, length: int, value: Any) -> Any:
        """Repeats x[B, T, ...] by the B * T counts of s, and pads each of the B rows. each: the sums of the counts of
        each row."""

    def extremes(self, x: Any, s: Segments, dim: int, largest: bool) -> Any:
        """Returns the largest or smallest value of each row."""

    def element(self, x: Any, value: Any) -> bytes:
        """Returns a number as the bytes of an element of x, which the core reads."""

    def narrowed(self, x: Any, like: Any) -> Any:
        """Returns x in the dtype of `like`."""

    def divided(self, x: Any, lengths: Any, dim: int) -> Any:
        """Divides x along dim by lengths. Lengths of 0 count as 1. lengths: a NumPy array, or a tensor on x's
        device."""

    def detached(self, x: Any) -> Any:
        """Returns x without its gradient."""

    def ratio(self, x: Any, y: Any) -> Any:
        """Returns x / y, which may overwrite y."""

    def exponential(self, x: Any) -> Any:
        """Returns exp(x) of an ordinary x, in its memory."""

    def exponentials(self, x: Any, shift: Any) -> Any:
        """Returns exp(x - shift), which may overwrite `shift`."""


def _torch() -> SegmentExecutor:
    from tenter._torch import executor  # imports torch

    return executor


def _jax() -> Executor:
    from tenter._jax import executor  # imports jax

    return executor


def _dask() -> Executor:
    from tenter._dask import executor  # imports dask

    return executor


def _standard() -> Executor:
    from tenter._standard import executor  # a thirtieth of tenter's import

    return executor


# Executors that are imported when they are first needed, by the library's package.
OTHERS: dict[str, Callable[[], Executor]] = {
    "torch": _torch, "jax": _jax, "dask.array": _dask, standard_arrays.PACKAGE: _standard
}  # fmt: skip
_loaded: dict[str, Executor] = {"numpy": numpy_executor}
# EXACT: the executor of each array type. FIND: the function that looks up cached calls on that type. VIEW: its
# expand_fast. A library is added when it is first needed.
EXACT: dict[type, Executor] = dict.fromkeys(numpy_arrays.TYPES, _loaded["numpy"])
Cached = Callable[..., Any]
FIND: dict[type, Cached] = dict.fromkeys(numpy_arrays.TYPES, numpy_executor.cached)
VIEW: dict[type, Callable[[Any, tuple[Any, ...]], Any]] = dict.fromkeys(numpy_arrays.TYPES, numpy_executor.expand_fast)


def of_compiler() -> SegmentExecutor:
    """Returns the executor of the library whose compiler is tracing the code."""
    return _torch()


def of_segments(x: Any) -> SegmentExecutor:
    """Returns the executor of a NumPy array or a tensor."""
    if isinstance(x, np.ndarray):
        return numpy_executor
    return cast(SegmentExecutor, _loaded["torch"]) if "torch" in _loaded else library.imported(_torch)


def add(its: Executor, package: str) -> None:
    """Registers the executor of a library without cached calls."""
    _loaded[package] = its


def of(x: Any) -> Executor:
    its = library.of(x)
    if its.PACKAGE not in _loaded:
        _loaded[its.PACKAGE] = library.imported(OTHERS[its.PACKAGE])
        EXACT.update(dict.fromkeys(its.TYPES, _loaded[its.PACKAGE]))
        FIND.update(dict.fromkeys(its.TYPES, _loaded[its.PACKAGE].cached))
        VIEW.update(dict.fromkeys(its.TYPES, _loaded[its.PACKAGE].expand_fast))
    return _loaded[its.PACKAGE]
