"""Argument checks that many functions share, and the one form of every message: `argument: expected this, got that`,
then the call.

Checks return plain values: a dim >= 0, sizes as ints. They run before memory is touched, in the order of the arguments.
Checks that only one operation needs are next to its specification.
"""

import importlib
import itertools
import math
import operator
from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any

import numpy as np

from tenter._arrays import foreign, library, limits, pillow_images, standard_arrays
from tenter._arrays.errors import Refusal, refuse, refuse_short
from tenter._arrays.foreign import class_name
from tenter._arrays.library import compiling, dtype_name, is_array, surely


class _Missing:
    """The value of an argument that was not given, where None is a valid value."""

    def __repr__(self) -> str:
        return "<missing>"


MISSING: Any = _Missing()
SHOWN = 60  # characters of a value in messages


def error(refusal: Refusal, function: str, *args: Any, **named: Any) -> Exception:
    """Returns the exception that a public function raises: the refusal, and the call as the user wrote it."""
    kind, message = refusal.args
    if compiling():  # PyTorch's compiler cannot follow the rest
        return kind(message)  # type: ignore[no-any-return]
    shown = [describe(a) for a in args if a is not MISSING]
    shown += [f"{name}{_joint(v)}{describe(v)}" for name, v in named.items() if v is not None and v is not MISSING]
    return kind(f"{message}\n  in {function}({', '.join(shown)})")  # type: ignore[no-any-return]


def _joint(value: Any) -> str:
    return ": " if is_array(value) else "="


def describe(value: Any) -> str:
    """Returns a value as messages show it: arrays and images by kind and shape, also in lists, tuples and dicts,
    everything else by its repr, cut short."""
    if value is MISSING:
        return "none"
    if is_array(value):
        try:
            return f"{dtype_name(value)}[{', '.join(str(n) for n in value.shape)}]"
        except RuntimeError:  # a nested tensor has no single shape
            return f"{dtype_name(value)}[...]"
    if pillow_images.is_image(value):
        return f"PIL.Image {value.mode}[{value.height}, {value.width}]"
    if foreign.holds_an_array(value):
        return class_name(type(value))
    try:
        text = _listing(value) if _lists(value) else repr(value)
    except ValueError:  # Python refuses to write an int of thousands of digits
        text = f"a {type(value).__name__} of very many digits"
    except RecursionError:
        text = f"a {type(value).__name__} of very many levels"
    if "\n" in text:
        text = " ".join(text.split())
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def _lists(value: Any) -> bool:
    """Whether a value's repr would be that of its items, or would read the memory of arrays among them."""
    if type(value) in (list, tuple) or isinstance(value, dict):
        return True
    return isinstance(value, (list, tuple)) and any(is_array(v) or isinstance(v, dict) for v in value[:SHOWN])


def _listing(values: Any) -> str:
    """Returns the items of a list, tuple or dict as text."""

    def shown(item: Any) -> str:
        return repr(item) if isinstance(item, np.generic) else describe(item)

    if isinstance(values, dict):
        pairs = (f"{shown(key)}: {shown(v)}" for key, v in itertools.islice(values.items(), SHOWN))
        return f"{{{', '.join(pairs)}}}"
    items = [shown(v) for v in values[:SHOWN]]
    if hasattr(values, "_fields"):
        items = [f"{name}={item}" for name, item in zip(values._fields, items)]
    if type(values) is list:
        return f"[{', '.join(items)}]"
    if type(values) is tuple:
        return f"({items[0]},)" if len(values) == 1 else f"({', '.join(items)})"
    return f"{type(values).__name__}({', '.join(items)})"


def instead(value: Any) -> str:
    """Describes a value given in place of a number. An array whose value cannot be read says why."""
    unknown = library.of(value).unreadable(value) if standard_arrays.is_standard(value) else None
    return unknown or describe(value)


def array(name: str, x: Any, rows: bool = False) -> Any:
    """Returns an array or tensor unchanged, and a list, tuple or number as a NumPy array. rows: x should hold rows one
    after the other, so a list of arrays is one of rows to be joined."""
    if x is MISSING:
        refuse(TypeError, name, "an array, a tensor or a list of numbers", "none")
    if is_array(x):
        check_memory(name, x, "a NumPy array or a plain tensor")
        return x
    if isinstance(x, (list, tuple, range, int, float, complex, np.generic)):
        _check_leaf(name, x, rows)
        try:
            made = np.asarray(foreign.of_range(name, x) if isinstance(x, range) else x)
        except ValueError:
            hint = " (np.concatenate(x) joins its rows)" if rows else ""
            refuse(ValueError, name, "an array, or a list that makes one", f"a ragged list{hint}")
        except (TypeError, RuntimeError, OverflowError) as failed:
            refuse(TypeError, name, "an array, or a list of numbers", f"a list (NumPy: {failed})")
        if made.dtype != object:
            return made
    elif (line := foreign.instead(x)) is not None:
        refuse(TypeError, name, line, class_name(type(x)))
    elif foreign.holds_an_array(x):
        return foreign.taken(name, x)
    return refuse(TypeError, name, "an array, a tensor or a list of numbers", class_name(type(x)))


def check_memory(name: str, x: Any, expected: str) -> None:
    """Refuses an array that no kernel can read."""
    its = library.of(x)
    if problem := its.problem(x):
        refuse(TypeError, name, expected, problem)
    if found := its.short(x):
        refuse_short(name, found)


def numpy_or_torch(name: str, x: Any, rows: bool = False) -> Any:
    """Like `array`, for functions that do not take arrays of other libraries."""
    found = array(name, x, rows)
    refuse_others(name, found)
    return found


def refuse_others(name: str, x: Any) -> None:
    if is_array(x) and library.of(x).PACKAGE not in ("numpy", "torch"):
        refuse(TypeError, name, "a NumPy array or a tensor (np.asarray(...) makes one on the host)", describe(x))


def _check_leaf(name: str, x: Any, rows: bool) -> None:
    """Refuses a list of another library's arrays. NumPy would keep their numbers only."""
    leaf = x
    while isinstance(leaf, (list, tuple)) and leaf:
        leaf = leaf[0]
    if leaf is not x and is_array(leaf) and not isinstance(leaf, np.ndarray):
        package, many = library.of(leaf).PACKAGE, f"a list of {class_name(type(leaf))}"
        if rows:
            refuse(TypeError, name, f"one array ({package}.cat(x) makes one)", many)
        if len({tuple(getattr(each, "shape", ())) for each in x}) > 1:
            refuse(TypeError, name, "one array", f"{many}s of different shapes (each needs a call of its own)")
        refuse(TypeError, name, f"one array ({package}.stack(x) makes one)", many)


def did_you_mean(word: str, known: Sequence[Any]) -> str:
    """Returns " (did you mean ...?)" with the known word closest to an unknown one, or "" if none is close."""
    found = closest(word, [k for k in known if isinstance(k, str)])
    return f" (did you mean {found[0]!r}?)" if found else ""


def closest(word: str, known: Sequence[str]) -> list[str]:
    """Returns at most one word: the known one that is closest to an unknown one, if one is close."""
    difflib = library.imported(lambda: importlib.import_module("difflib"))  # a twentieth of tenter's import
    found: list[str] = difflib.get_close_matches(word.lower(), known, 1)
    return found


def integer(name: str, value: Any, expected: str = "an int", least: int | None = None) -> int:
    """Returns a plain int for an int, a NumPy integer or a one-element integer array. Bools and floats are refused. A
    symbolic int is returned unchanged."""
    if type(value) is not int and not limits.symbolic(value):
        return integer(name, _index(name, value, expected), expected, least)
    if least is not None and surely(value < least):
        refuse(ValueError, name, f"{expected} >= {least}", limits.number(value))
    if type(value) is int and surely(abs(value) > limits.INT64_MAX):
        refuse(ValueError, name, f"{expected} below 2**63", f"{value}")
    found: int = value
    return found


def _index(name: str, value: Any, expected: str) -> int:
    if is_array(value):
        check_memory(name, value, expected)
    if isinstance(value, (bool, np.bool_)) or (is_array(value) and dtype_name(value) == "bool"):
        refuse(TypeError, name, expected, f"the bool {value}")
    try:
        index: int = operator.index(value)
    except (TypeError, RuntimeError):
        refuse(TypeError, name, expected, instead(value))
    return index


def dim(name: str, value: Any, ndim: int) -> int:
    """Returns a dim from -ndim to ndim - 1 as one >= 0. A 0-d input counts as 1-d."""
    result, n = operator.index(integer(name, value)), max(ndim, 1)  # the number behind a symbolic int
    if not -n <= result < n:
        refuse(IndexError, name, f"a dim of a {ndim}-d input, from {-n} to {n - 1}", f"{result}")
    return result % n


def sizes(name: str, values: Sequence[Any], least: int = 0) -> tuple[int, ...]:
    """Returns sizes that were given one by one, or as one sequence."""
    if len(values) == 1 and (found := several(name, values[0])) is not None:
        values = found
    return tuple(integer(name, v, "sizes that are ints", least) for v in values)


def listed(name: str, x: Any) -> Any:
    """Returns an array's values as nested lists, or as a number."""
    check_memory(name, x, "values that are known")
    if not compiling():
        _check_number(name, x, math.prod(x.shape))
    if not standard_arrays.is_standard(x) and hasattr(x, "tolist"):  # Dask arrays have no tolist
        return x.tolist()
    its = library.of(x)
    if found := its.unreadable(x):
        refuse(TypeError, name, "values that are known", found)
    return its.to_numpy(x).tolist()


def several(name: str, given: Any) -> Sequence[Any] | None:
    """Returns the values of a sequence, by one rule for all arguments that take one value or several: a list, tuple,
    range, array, or another collection in order. None for one value."""
    if isinstance(given, (list, tuple)):
        return given
    if single(given):
        return None
    if is_array(given):
        found: Sequence[Any] = listed(name, given)
        return found
    _check_number(name, given, len(given))
    return list(given)


# Of values that are listed: far more than an array has dims.
MOST_LISTED = 1 << 16


def _check_number(name: str, given: Any, n: int) -> None:
    """Refuses a broadcast array or a range that would fill memory as a list."""
    if surely(n > MOST_LISTED):
        refuse(ValueError, name, f"at most {MOST_LISTED} values", describe(given))


def single(given: Any) -> bool:
    """True if one value is given, and no sequence."""
    if isinstance(given, (list, tuple)):
        return False
    if given is None or isinstance(given, (int, float, str, bytes)):
        return True
    if is_array(given):
        return not given.ndim
    return not isinstance(given, Collection) or isinstance(given, (Set, Mapping))


def flag(name: str, value: Any, optional: bool = False) -> None:
    if not isinstance(value, (bool, np.bool_)) and not (optional and value is None):
        refuse(TypeError, name, "a bool or None" if optional else "a bool", describe(value))


def one_of(name: str, value: Any, known: Sequence[Any]) -> None:
    words = ", ".join(str(k) for k in known)
    if value is None and None in known:
        return
    if not isinstance(value, str):
        refuse(TypeError, name, f"one of {words}", describe(value))
    if value not in known:
        refuse(ValueError, name, f"one of {words}", repr(value) + did_you_mean(value, known))


def rank(name: str, ndim: int) -> None:
    if ndim > 64:
        refuse(ValueError, name, "at most 64 dims", str(ndim))


def output(out: Any, x: Any, shape: tuple[int, ...], like: str = "x's kind and dtype,") -> None:
    """Refuses an `out` that the result cannot be written to without conversion. like: how messages describe the
    expected kind and dtype."""
    if library.of(x).PACKAGE == "dask.array":
        refuse(TypeError, "out", "None for a Dask array (dask.array.store(result, out) writes it)", describe(out))
    if is_array(out) and library.of(out) is library.of(x) and _native_order(out) == _native_order(x):
        if tuple(out.shape) != shape:
            refuse(ValueError, "out", f"shape {shape}", f"{tuple(out.shape)}")
        if getattr(out, "device", None) != getattr(x, "device", None):  # NumPy arrays have a device since version 2
            refuse(TypeError, "out", f"one on {x.device}", f"one on {out.device}")
        found = library.of(out).problem(out) or library.of(out).unwritable(out)
        if found:
            refuse(ValueError, "out", "an array that can be written to", found)
        if found := library.of(out).short(out):
            refuse_short("out", found)
    else:
        refuse(TypeError, "out", f"an array of {like} {dtype_name(x)}", describe(out))


def _native_order(x: Any) -> Any:
    """Returns x's dtype in native byte order."""
    return x.dtype.newbyteorder("=") if isinstance(x, np.ndarray) else x.dtype
