"""The modes of `resize`: names, PyTorch's joint names, and filters."""

import operator
from collections.abc import Hashable
from typing import Any

from tenter._arrays.arguments import describe, did_you_mean
from tenter._arrays.elsewhere import edge_here
from tenter._arrays.errors import refuse
from tenter._arrays.library import compiling, confuses_functions, in_dynamo
from tenter._rules import filters
from tenter._rules.axis_rule import EDGES, NEAREST
from tenter._rules.geometry import LARGEST, is_real, plain
from tenter._specs.lengths import spread

MODES = (*NEAREST, "linear", "cubic", "lanczos", "area", *(name for name in filters.NAMED if name != "linear"))
# Modes that no filter widens: one input, or all that an output covers.
NO_ANTIALIAS = (*NEAREST, "area")
# Filters before which a decoder may average, where they antialias.
AFTER_DECODERS = ("linear", "cubic", "hamming", "lanczos")
# PyTorch's names, for as many axes.
JOINT = {"bilinear": ("linear", 2), "bicubic": ("cubic", 2), "trilinear": ("linear", 3)}


def modes_of(mode: Any, n: int) -> list[str | filters.Filter]:
    if isinstance(mode, str) and mode in JOINT:
        mode = _of_one_axis(mode, n)
    given = list(mode) if isinstance(mode, (list, tuple)) and not isinstance(mode, filters.Filter) else [mode]
    found = [_filter(m) if isinstance(m, filters.Filter) else _known_mode(m) for m in given]
    return spread("mode", found, mode, n)


def _of_one_axis(mode: str, n: int) -> str:
    each, axes = JOINT[mode]
    if axes != n:
        refuse(
            ValueError,
            "mode",
            f"{each!r} for {n} {'axis' if n == 1 else 'axes'}, {mode!r} for {axes} axes alone",
            f"{mode!r} for {n}",
        )
    return each


def _known_mode(mode: Any) -> str:
    expected = f"one of {', '.join((*MODES, *JOINT))}, or a tenter.filters.Filter(function, support)"
    if callable(mode):
        expected = "tenter.filters.Filter(function, support) for a function"
    if not isinstance(mode, str):
        number = " (numbers of modes differ between libraries)" if isinstance(mode, int) else ""
        refuse(TypeError, "mode", expected, describe(mode) + number)
    if mode in JOINT:
        refuse(ValueError, "mode", f"{JOINT[mode][0]!r} in a list of one mode for each axis", repr(mode))
    if mode not in MODES:
        refuse(ValueError, "mode", expected, repr(mode) + _mode_meant(mode))
    return mode


def _mode_meant(mode: str) -> str:
    """A constant of OpenCV or Pillow, or an edge, which NumPy and scikit-image call a mode."""
    if (edge := edge_here(mode.lower())) in EDGES:
        return f" (did you mean edge={edge!r}?)"
    word = mode.lower().removeprefix("inter_").replace("_", "-")
    return did_you_mean(word, (*MODES, *JOINT))


def only_nearest(mode: Any) -> bool:
    """True if each output is one input, by all modes."""
    many = isinstance(mode, (list, tuple)) and not isinstance(mode, filters.Filter)
    return all(isinstance(m, str) and m in NEAREST for m in (mode if many else [mode]))


def is_confused(mode: Any) -> bool:
    """True if one of the modes is a user's function, which the compiler that follows the code may take for another."""
    if not (in_dynamo() and confuses_functions()):
        return False
    modes = mode if isinstance(mode, (tuple, list)) and not isinstance(mode, filters.Filter) else (mode,)
    return any(isinstance(m, filters.Filter) and filters.slope(m) is None for m in modes)


def _filter(m: filters.Filter) -> str | filters.Filter:
    if filters.slope(m) is not None:
        return m
    if not callable(m.f) or not isinstance(m.f, Hashable):
        refuse(TypeError, "mode", "a Filter whose f is a function", f"f={describe(m.f)}")
    expected = "a Filter whose support is a finite number above 0"
    if not is_real(m.support):
        refuse(TypeError, "mode", expected, f"support={describe(m.support)}")
    support = plain(m.support)
    if not 0 < support <= LARGEST:
        refuse(ValueError, "mode", expected, f"support={describe(m.support)}")
    found = filters.Filter(m.f, constant(support), bool(m.normalized))
    if not compiling():
        return found
    id(m.f)  # the compiler goes by a function's code, and would take one for another, unless it is asked for this
    return filters.named(*found)


def constant(a: Any) -> float:
    """A float as a plain number: to PyTorch's compiler a module's float is a symbol, which cannot be written down."""
    if not compiling():
        return float(a)
    whole = operator.index(int(a))
    return whole + operator.index(int((a - whole) * 2**62)) / 2**62  # exact from 2**-10 on, as a has 53 bits
