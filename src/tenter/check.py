"""Every argument check and every message, in one form: `argument: expected this, got that`, then the call.

Checks return plain values: a dim that is >= 0, sizes as ints, counts as an int or as an array with its running totals.
They run before memory is touched, in the order of the arguments.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tenter import _native, frontends, limits, threads
from tenter.build import KINDS
from tenter.frontends import surely
from tenter.limits import INT64_MAX, Refusal, number, refuse
from tenter.stretch import Resample

Ints = npt.NDArray[np.int64]


def error(refusal: Refusal, function: str, *args: Any, **named: Any) -> Exception:
    """The exception to raise from a public function: the refusal, and the call as the user wrote it."""
    kind, message = refusal.args
    if frontends.compiling():  # which follows no more than this
        return kind(message)  # type: ignore[no-any-return]
    shown = [frontends.describe(a) for a in args]
    shown += [f"{name}{_joint(value)}{frontends.describe(value)}" for name, value in named.items() if value is not None]
    return kind(f"{message}\n  in {function}({', '.join(shown)})")  # type: ignore[no-any-return]


def _joint(value: Any) -> str:
    return ": " if frontends.is_array(value) else "="


def array(name: str, x: Any) -> Any:
    """An array or tensor as it is; a list, tuple or number as a NumPy array."""
    if frontends.is_array(x):
        problem = frontends.problem(x)
        if problem:
            refuse(TypeError, name, "a NumPy array or a plain tensor", problem)
        return x
    if isinstance(x, (list, tuple, int, float, complex, np.generic)):
        try:
            made = np.asarray(x)
        except ValueError:
            refuse(ValueError, name, "an array, or a list that makes one", "a ragged list")
        except (TypeError, RuntimeError, OverflowError) as error:
            refuse(TypeError, name, "an array, or a list of numbers", f"a list of which NumPy says: {error}")
        if made.dtype != object:
            return made
    return refuse(TypeError, name, "an array, a tensor or a list of numbers", f"{type(x).__name__}")


def integer(name: str, value: Any, expected: str = "an int", least: int | None = None) -> int:
    """A plain int from an int, a NumPy integer or a one-element integer array; never from a bool or a float. A symbol
    stays one."""
    if type(value) is not int and not limits.symbolic(value):
        return integer(name, _index(name, value, expected), expected, least)
    if least is not None and surely(value < least):
        refuse(ValueError, name, f"{expected} >= {least}", number(value))
    if type(value) is int and abs(value) > INT64_MAX:
        refuse(ValueError, name, f"{expected} below 2**63", f"{value}")
    found: int = value
    return found


def _index(name: str, value: Any, expected: str) -> int:
    if isinstance(value, (bool, np.bool_)) or (frontends.is_array(value) and frontends.dtype_name(value) == "bool"):
        refuse(TypeError, name, expected, f"the bool {value}")
    try:
        index: int = operator.index(value)
    except (TypeError, RuntimeError):
        refuse(TypeError, name, expected, frontends.describe(value))
    return index


def dim(name: str, value: Any, ndim: int) -> int:
    """A dim from -ndim to ndim - 1, as one that is >= 0; a 0-d input counts as 1-d."""
    result, n = integer(name, value), max(ndim, 1)
    if not -n <= result < n:
        refuse(IndexError, name, f"a dim of a {ndim}-d input, from {-n} to {n - 1}", f"{result}")
    return result % n


def sizes(name: str, values: Sequence[Any], least: int = 0) -> tuple[int, ...]:
    """Sizes given one by one, or as one list, tuple or 1-D integer array."""
    if len(values) == 1 and not isinstance(values[0], (int, np.integer, str, bytes)):
        one = values[0]
        try:
            values = one.tolist() if frontends.is_array(one) and one.ndim else list(one)
        except TypeError:
            values = [one]
    return tuple(integer(name, v, "sizes that are ints", least) for v in values)


def repeat_sizes(name: str, values: Sequence[Any], named: dict[str, Any], ndim: int) -> tuple[int, ...]:
    if named:
        word = next(iter(named))
        if word in ("axis", "dim"):
            refuse(
                TypeError,
                word,
                "only sizes: repeat() repeats the whole array; to repeat each element along a dim "
                "(numpy.repeat) call repeat_interleave(x, repeats, dim)",
                f"{word}={named[word]!r}",
            )
        refuse(TypeError, word, "only x and sizes", f"an argument named {word}")
    result = sizes(name, values)
    if len(result) < ndim:
        refuse(ValueError, name, f"at least {ndim} numbers, one per dim of x", f"{len(result)}")
    return result


class Counts(NamedTuple):
    """How often each position is repeated: one int for all, or running totals (n + 1) for one count each."""

    each: int | None
    offsets: Ints | None

    def total(self, n: int) -> int:
        if self.offsets is not None:
            return int(self.offsets[-1])
        assert self.each is not None
        return n * self.each


def count_array(name: str, repeats: Any) -> npt.NDArray[Any]:
    """Counts as an integer array on the host."""
    if frontends.is_array(repeats):
        problem = frontends.problem(repeats) or frontends.of(repeats).unreadable(repeats)
        if problem:
            refuse(TypeError, name, "counts in a NumPy array or a plain CPU tensor", problem)
        if frontends.dtype_name(repeats).removeprefix("u") not in ("int8", "int16", "int32", "int64"):
            refuse(TypeError, name, "integer counts", frontends.dtype_name(repeats))
        values = frontends.to_numpy(repeats)
    elif isinstance(repeats, (list, tuple)):
        if any(isinstance(r, (bool, np.bool_)) for r in repeats):
            refuse(TypeError, name, "integer counts", "bool")
        if any(isinstance(r, int) and abs(r) > INT64_MAX for r in repeats):
            refuse(ValueError, name, "counts below 2**63", f"{max(repeats, key=abs)}")
        try:
            values = np.asarray(repeats)
        except ValueError:
            refuse(ValueError, name, "integer counts", "a ragged list")
        except (TypeError, RuntimeError) as error:
            refuse(TypeError, name, "integer counts", f"a list of which NumPy says: {error}")
        if values.size == 0:
            values = values.astype(np.int64)
        if values.ndim == 1 and values.dtype.kind not in "iu":  # floats, or integers that NumPy joins to floats
            values = np.asarray([integer(name, r, "integer counts") for r in repeats], np.int64)
    else:
        values = np.asarray(count(name, repeats))
    if values.dtype.kind not in "iu":
        refuse(TypeError, name, "integer counts", f"{values.dtype}")
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def offsets(name: str, values: npt.NDArray[Any]) -> Ints:
    """The n + 1 running totals of 1-D counts, none of them negative, their sum below 2**63."""
    running = np.empty(len(values) + 1, np.int64)
    total = _native.offsets(
        values.__array_interface__["data"][0],
        frontends.NATIVE_DTYPES[values.dtype.name],
        values.strides[0],
        len(values),
        running.__array_interface__["data"][0],
        threads.get_num_threads(),
    )
    if total < 0:
        at = -1 - total
        if values[at] < 0:
            refuse(ValueError, name, "counts that are not negative", f"{values[at]} at position {at}")
        refuse(ValueError, name, "counts whose sum is below 2**63", f"more from position {at} on")
    return running


def count(name: str, repeats: Any) -> int:
    """One count for all."""
    if type(repeats) is int or limits.symbolic(repeats):
        return integer(name, repeats, "a count", 0)
    return integer(name, repeats, "integer counts: an int, an array of ints or a list of ints", 0)


def counts(repeats: Any, n: int, dim: int | None, output_size: Any) -> Counts:
    """The repeats of repeat_interleave for n positions, verified against output_size."""
    if type(repeats) is int:
        result = Counts(count("repeats", repeats), None)
    else:
        values = count_array("repeats", repeats)
        count_shape("repeats", values.dtype.name, values.shape, n, dim)
        if values.size == 1:
            result = Counts(integer("repeats", values.reshape(-1)[0], "a count", 0), None)
        else:
            result = Counts(None, offsets("repeats", values))
    if result.total(n) > INT64_MAX:
        refuse(ValueError, "repeats", "counts whose sum is below 2**63", f"{n} positions times {result.each}")
    total(result.total(n), output_size)
    return result


def count_shape(name: str, dtype: str, shape: Sequence[int], n: int, dim: int | None) -> None:
    """One count for all of n positions, or one for each."""
    if dtype.removeprefix("u") not in ("int8", "int16", "int32", "int64"):
        refuse(TypeError, name, "integer counts", dtype)
    if len(shape) > 1:
        refuse(ValueError, name, "0-d or 1-D counts", f"{len(shape)}-D")
    if len(shape) == 1 and surely(shape[0] != 1) and surely(shape[0] != n):
        where = "position of the flattened x" if dim is None else f"position of dim {dim}"
        one = " (or one for all)" if n != 1 else ""
        refuse(ValueError, name, f"{number(n)} counts, one per {where}{one}", number(shape[0]))


def only_counts(name: str, ndim: int, dim: Any) -> None:
    """The rules of repeat_interleave of one argument."""
    if dim is not None:
        refuse(TypeError, "dim", "None, as there is no x to repeat along it", f"{dim}")
    if ndim != 1:
        refuse(ValueError, name, "1-D counts", f"{ndim}-D")


TOTAL = "the sum of the counts, an int"


def total(actual: int, output_size: Any) -> None:
    """Verifies a user's output_size."""
    if output_size is not None and surely(integer("output_size", output_size, TOTAL, 0) != actual):
        refuse(ValueError, "output_size", f"{number(actual)}, the sum of the counts", number(output_size))


def rank(name: str, ndim: int) -> None:
    if ndim > 64:
        refuse(ValueError, name, "at most 64 dims", str(ndim))


def expanded(name: str, values: Sequence[Any], x: Any) -> tuple[int, ...]:
    """Sizes of an expanded view, each -1 filled in."""
    shape = tuple(x.shape)
    given = sizes(name, values, least=-1)
    rank(name, len(given))
    front = len(given) - len(shape)
    if front < 0:
        refuse(ValueError, name, f"at least {len(shape)} numbers, one per dim of x", f"{len(given)}")
    for d, size in enumerate(given):
        if d < front and size == -1:
            refuse(ValueError, name, "a size for a new dim in front", f"-1 at position {d}")
        if d >= front and shape[d - front] != 1 and size not in (-1, shape[d - front]):
            refuse(
                ValueError,
                name,
                f"{shape[d - front]} or -1 at position {d}, as only dims of length 1 stretch",
                str(size),
            )
    result = tuple(shape[d - front] if size == -1 else size for d, size in enumerate(given))
    limits.addressable(name, result, frontends.itemsize(x))
    return result


def output(out: Any, x: Any, shape: tuple[int, ...]) -> None:
    """Refuses an out that the result can't be written to as it is."""
    if frontends.is_array(out) and frontends.of(out) is frontends.of(x) and _native_order(out) == _native_order(x):
        if tuple(out.shape) != shape:
            refuse(ValueError, "out", f"shape {shape}", f"{tuple(out.shape)}")
        found = frontends.problem(out) or frontends.of(out).unwritable(out)
        if found:
            refuse(ValueError, "out", "an array that can be written to", found)
    else:
        refuse(TypeError, "out", f"an array of x's kind and dtype, {frontends.dtype_name(x)}", frontends.describe(out))


def _native_order(x: Any) -> Any:
    """x's dtype, whichever way round its bytes lie."""
    return x.dtype.newbyteorder("=") if isinstance(x, np.ndarray) else x.dtype


# Spatial dims that a mode's name promises; other modes take 1 to 3.
RANKS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
CORNERED = ("linear", "bilinear", "bicubic", "trilinear")


def resampling(
    x: Any, size: Any, scale_factor: Any, mode: Any, align_corners: Any, recompute_scale_factor: Any, antialias: Any
) -> Resample:
    """All of interpolate's arguments, in order."""
    spatial = tuple(x.shape[2:])
    n = len(spatial)
    if not 1 <= n <= 3:
        refuse(ValueError, "x", "(batch, channels, [depth,] [height,] width)", f"{x.ndim} dims")
    if size is not None and scale_factor is not None:
        refuse(ValueError, "size", "size or scale_factor, not both", f"size={size} and scale_factor={scale_factor}")
    if size is None and scale_factor is None:
        refuse(ValueError, "size", "size or scale_factor", "neither")
    scales: tuple[float, ...] | None = None
    if size is not None:
        out = _per_dim("size", sizes("size", [size], least=1), size, n)
    else:
        factors = _per_dim("scale_factor", _factors(scale_factor), scale_factor, n)
        out = tuple(_scaled(length, f) for length, f in zip(spatial, factors))
        scales = factors
    if not isinstance(mode, str) or mode not in KINDS:
        refuse(ValueError if isinstance(mode, str) else TypeError, "mode", f"one of {', '.join(KINDS)}", repr(mode))
    if RANKS.get(mode, n) != n:
        refuse(
            ValueError,
            "mode",
            f"one for {n} spatial dims of a {x.ndim}-d x (names ending in linear: "
            "linear 3-d, bilinear 4-d, trilinear 5-d; bicubic 4-d)",
            repr(mode),
        )
    if align_corners is not None and mode not in CORNERED:
        refuse(ValueError, "align_corners", f"None, as mode {mode!r} has no corners to align", repr(align_corners))
    if recompute_scale_factor and scale_factor is None:
        refuse(ValueError, "recompute_scale_factor", "scale_factor to recompute from", f"size={size}")
    kind = KINDS[mode]
    if antialias and kind not in ("linear", "cubic", "lanczos"):
        refuse(
            ValueError,
            "antialias",
            "False, or a linear kind, bicubic or lanczos",
            f"antialias={antialias} with mode {mode!r}",
        )
    if kind == "lanczos" and not antialias:
        refuse(ValueError, "antialias", "True, which mode 'lanczos' needs", repr(antialias))
    name = frontends.dtype_name(x)
    if kind not in ("nearest", "nearest-exact") and not frontends.is_numeric(name):
        refuse(TypeError, "x", f"numbers for mode {mode!r} (nearest and nearest-exact take any dtype)", name)
    for flag, value in (("align_corners", align_corners), ("antialias", antialias)):
        if not isinstance(value, (bool, np.bool_, type(None))):
            refuse(TypeError, flag, "a bool", repr(value))
    if not frontends.recorded(x):  # sizes are numbers, memory is near; else the kernel finds out
        if 0 in spatial:
            refuse(ValueError, "x", "spatial dims of at least 1", f"shape {tuple(x.shape)}")
        limits.addressable("size" if size is not None else "scale_factor", (*x.shape[:2], *out), frontends.itemsize(x))
    if recompute_scale_factor or kind == "area":
        scales = None
    # How nearest positions round depends on it, for more than three channels.
    channels_last = kind.startswith("nearest") and n > 1 and x.shape[1] > 3 and frontends.channels_last(x)
    return Resample(out, scales, kind, bool(align_corners), bool(antialias), channels_last)


def _per_dim(name: str, values: tuple[Any, ...], given: Any, n: int) -> tuple[Any, ...]:
    if isinstance(given, (list, tuple)) or (frontends.is_array(given) and given.ndim):
        if len(values) != n:
            hint = "; an (H, W, C) image goes in as x.transpose(2, 0, 1)[None]" if len(values) == n + 1 else ""
            refuse(
                ValueError,
                name,
                f"one number, or {n}, one per spatial dim of (batch, channels, ...){hint}",
                f"{len(values)}",
            )
        return values
    return values * n


def _factors(scale_factor: Any) -> tuple[float, ...]:
    if frontends.is_array(scale_factor):
        scale_factor = scale_factor.tolist()
    given = scale_factor if isinstance(scale_factor, (list, tuple)) else [scale_factor]
    factors = []
    for f in given:
        try:
            if isinstance(f, (bool, str, bytes)):
                raise TypeError
            factors.append(float(f))
        except OverflowError:
            factors.append(math.inf)
        except (TypeError, ValueError):
            refuse(TypeError, "scale_factor", "numbers", frontends.describe(f))
    for f in factors:
        if not 0 < f < math.inf:
            refuse(ValueError, "scale_factor", "finite numbers above 0", f"{f}")
    return tuple(factors)


def _scaled(length: int, factor: float) -> int:
    out = length * factor
    if surely(out >= 2.0**63):
        refuse(ValueError, "scale_factor", "output sizes below 2**63", f"{length} * {factor}")
    if surely(out < 1) and surely(length != 0):
        refuse(ValueError, "scale_factor", "output sizes of at least 1", f"floor({length} * {factor}) = 0")
    return 1 if surely(length == 0) else math.floor(out)
