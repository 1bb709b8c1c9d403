"""resize's arguments, in order: what a convention says where they say nothing, and every message."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tenter import check, filters, frontends
from tenter.conventions import Convention, convention
from tenter.frontends import surely
from tenter.geometry import ALIGNS, TIES, plain
from tenter.limits import refuse
from tenter.sampling import EDGES, LARGEST, AxisRule
from tenter.stretch import Resize

MODES = ("nearest", "nearest-exact", "linear", "cubic", "catmull-rom", "mitchell", "bspline", "lanczos", "lanczos2",
         "lanczos3", "lanczos4", "lanczos5", "area", "box", "hamming")  # fmt: skip
NEAREST = ("nearest", "nearest-exact")
ROUNDINGS = ("floor", "round", "round_even", "ceil")
POLICIES = ("stretch", "not_larger", "not_smaller")


def resizing(
    x: Any, size: Any = None, scale: Any = None, axes: Any = None, mode: Any = "linear", antialias: Any = None,
    like: Any = "torch", rounding: Any = None, policy: Any = "stretch", box: Any = None, align: Any = None,
    tie: Any = None, cubic: Any = None, edge: Any = None, value: Any = 0,
) -> tuple[Resize, tuple[int, ...]]:  # fmt: skip
    """What to do, and the axes to turn round before."""
    if size is not None and scale is not None:
        refuse(ValueError, "size", "size or scale, not both", f"size={size} and scale={scale}")
    if size is None and scale is None:
        refuse(ValueError, "size", "size or scale", "neither")
    sizes = None if size is None else check.sizes("size", [size], least=0)
    scales = None if scale is None else _scales(scale)
    which = _axes(axes, x.ndim, size if scales is None else scale, len(sizes or scales or ()))
    n = len(which)
    lengths = [x.shape[axis] for axis in which]
    modes = _modes(mode, n)
    how = convention(like)
    _one_of("rounding", rounding, (*ROUNDINGS, None))
    _one_of("policy", policy, POLICIES)
    boxes = [None if b and _whole(b, length) else b for b, length in zip(_boxes(box, n), lengths)]
    extents = [abs(b[1] - b[0]) if b else length for b, length in zip(boxes, lengths)]
    follows: list[Fraction | None] = [None] * n
    if sizes is not None:
        out = list(_spread("size", sizes, size, n))
        if policy != "stretch":
            out, follows = _fitted(out, extents, policy)
    else:
        assert scales is not None
        factors = _spread("scale", scales, scale, n)
        out = [_length(extent, f, rounding or how.rounding) for extent, f in zip(extents, factors)]
        if policy != "stretch":
            refuse(ValueError, "policy", "stretch, where scale is given", repr(policy))
        if how.follows != "sizes":
            follows = [Fraction(f) for f in factors]
    _one_of("align", align, (*ALIGNS, None))
    _one_of("tie", tie, (*TIES, None))
    _one_of("edge", edge, (*EDGES, None))
    if cubic is not None and not _real(cubic):
        refuse(TypeError, "cubic", "a number, Keys's a", frontends.describe(cubic))
    cubic = plain(cubic)
    if cubic is not None and not abs(cubic) <= LARGEST:
        refuse(ValueError, "cubic", "a finite number, Keys's a", frontends.describe(cubic))
    if antialias is not None and not isinstance(antialias, (bool, np.bool_)):
        refuse(TypeError, "antialias", "a bool or None", repr(antialias))
    _fill(value, x, edge)
    kept = [how.keeps and b is None and bool(surely(n == m)) for b, n, m in zip(boxes, lengths, out)]
    rules = tuple(
        _rule(how, m, antialias, b, f, k, align, tie, cubic, edge) for m, b, f, k in zip(modes, boxes, follows, kept)
    )
    _fits(x, modes, lengths, out, like, how)
    order = sorted(range(n), key=lambda k: which[k])
    saturate = how.between and any(r.antialias and r.kind != "linear" for r in rules)
    does = Resize(
        tuple(which[k] for k in order), tuple(out[k] for k in order), _turned_rules(rules, boxes, lengths, order),
        saturate,
    )  # fmt: skip
    turned = tuple(which[k] for k in order if (b := boxes[k]) and b[1] < b[0])
    return does, turned


def _rule(
    how: Convention, mode: str | filters.Filter, antialias: Any, box: Any, follows: Fraction | None, kept: bool,
    align: str | None, tie: str | None, cubic: Any, edge: str | None,
) -> AxisRule:  # fmt: skip
    """One axis's rule: the convention's, but for what is given."""
    touched = how.area == "touched" and not align and not edge
    kind = mode
    if isinstance(mode, str):
        kind = {"lanczos": "lanczos3", "area": "area" if touched else "overlap"}.get(mode, mode)
    wide = bool(how.antialias if antialias is None else antialias) and mode not in (*NEAREST, "area")
    exact = mode == "nearest-exact"
    near = mode in NEAREST
    if wide and kind == "linear" and how.blur == "gaussian":
        kind = "gaussian"
    arithmetic = how.exact_arithmetic if exact else how.arithmetic
    if not near or align or tie or (edge and arithmetic == "torch"):
        arithmetic = "exact"
    align = align or ("centre" if exact else how.nearest_align if near else how.align)
    if align == "corners" and wide:
        align = how.corners_antialias
    if (align in ("corners", "corner_areas") and how.follows != "length") or (kept and (wide or kind == "linear")):
        follows = None
    return AxisRule(
        kind=kind,
        align=align,
        scale=None if follows is None else str(follows),
        box=None if box is None else (str(box[0]), str(box[1])),
        tie=tie or ("prefer_ceil" if exact else how.tie),
        arithmetic=arithmetic,
        edge=edge or ("renormalise" if mode == "area" else how.edge_antialias if wide else how.edge),
        antialias=wide,
        cubic=_constant(cubic if cubic is not None else how.cubic_antialias if wide else how.cubic),
    )


def _constant(a: Any) -> float:
    """Keys's a as a plain number: to PyTorch's compiler a module's float is a symbol, which cannot be written down."""
    if frontends.compiling() and abs(a) < 4:
        return operator.index(int(a * 2**60)) / 2**60  # exact, as a has 53 bits
    return float(a)


def _turned_rules(
    rules: Sequence[AxisRule], boxes: Sequence[Any], lengths: Sequence[int], order: list[int]
) -> tuple[AxisRule, ...]:
    """Rules for axes that have been turned round: a reversed box, seen from the other end."""
    found = []
    for k in order:
        rule, box = rules[k], boxes[k]
        if box and box[1] < box[0]:
            length = operator.index(lengths[k])
            turned = (length - box[0], length - box[1])
            rule = rule._replace(box=None if _whole(turned, length) else (str(turned[0]), str(turned[1])))
        found.append(rule)
    return tuple(found)


def _axes(axes: Any, ndim: int, given: Any, n: int) -> tuple[int, ...]:
    if not ndim:
        refuse(ValueError, "x", "at least one axis", "a 0-d array")
    if axes is None:
        if ndim in (1, 2) or (n == ndim and not _single(given)):
            return tuple(range(ndim))
        hint = "such as (0, 1) of an (H, W, C) image, (-2, -1) of (..., H, W)"
        refuse(ValueError, "axes", f"the axes to resize, {hint}, or a size for each of {ndim}", "none")
    given = axes.tolist() if frontends.is_array(axes) else axes
    which = tuple(check.dim("axes", a, ndim) for a in (given if isinstance(given, (list, tuple)) else [given]))
    if len(set(which)) < len(which):
        refuse(ValueError, "axes", "each axis once", f"{axes}")
    return which


def _single(given: Any) -> bool:
    """One number for all axes?"""
    return not isinstance(given, (list, tuple)) and not (frontends.is_array(given) and given.ndim)


def _spread(name: str, values: Sequence[Any], given: Any, n: int) -> list[Any]:
    if len(values) == n:
        return list(values)
    if len(values) == 1:
        return list(values) * n
    return refuse(ValueError, name, f"one, or {n}, one per axis", f"{len(values)}")


def _modes(mode: Any, n: int) -> list[str | filters.Filter]:
    given = list(mode) if isinstance(mode, (list, tuple)) and not isinstance(mode, filters.Filter) else [mode]
    found: list[str | filters.Filter] = []
    for m in given:
        if isinstance(m, filters.Filter):
            found.append(_filter(m))
        elif not isinstance(m, str):
            refuse(TypeError, "mode", f"one of {', '.join(MODES)}, or a Filter", repr(m))
        elif m not in MODES:
            refuse(ValueError, "mode", f"one of {', '.join(MODES)}, or a Filter", repr(m))
        else:
            found.append(m)
    return _spread("mode", found, mode, n)


def _filter(m: filters.Filter) -> str | filters.Filter:
    expected = "a Filter of a function and a finite support above 0"
    if not callable(m.f) or not isinstance(m.f, Hashable) or not _real(m.support):
        refuse(TypeError, "mode", expected, frontends.describe(m))
    support = plain(m.support)
    if not 0 < support <= LARGEST:
        refuse(ValueError, "mode", expected, frontends.describe(m))
    found = filters.Filter(m.f, float(support), bool(m.whole))
    if not frontends.compiling():
        return found
    id(m.f)  # the compiler goes by a function's code, and would take one for another, unless it is asked for this
    return filters.named(*found)


def _real(value: Any) -> bool:
    return isinstance(value, (int, float, Fraction, np.floating, np.integer)) and not isinstance(value, bool)


def _scales(scale: Any) -> list[Any]:
    """Numbers, fractions and pairs of ints as numbers and fractions, one for all or one each."""
    if frontends.is_array(scale):
        scale = scale.tolist()
    given = scale if isinstance(scale, (list, tuple)) and not _ratio(scale) else [scale]
    return [_factor(f) for f in given]


def _ratio(f: Any) -> bool:
    """A pair of ints?"""
    whole = isinstance(f, tuple) and len(f) == 2 and all(isinstance(v, (int, np.integer)) for v in f)
    return whole and not any(isinstance(v, bool) for v in f)


def _factor(f: Any) -> Any:
    if _ratio(f) and f[1] > 0:
        f = Fraction(operator.index(f[0]), operator.index(f[1]))
    if not _real(f):
        refuse(TypeError, "scale", "numbers, fractions, or pairs of ints", frontends.describe(f))
    f = plain(f)
    if not 0 < f < math.inf:
        refuse(ValueError, "scale", "finite numbers above 0", frontends.describe(f))
    if not 1 / LARGEST <= f < 2**63:
        refuse(ValueError, "scale", "numbers from 2**-53 to 2**63", frontends.describe(f))
    return f if isinstance(f, Fraction) else float(f)


def _length(length: Any, factor: Any, rounding: str) -> int:
    found: int
    if isinstance(factor, Fraction) or isinstance(length, Fraction):
        n, d = _parts(length)
        exact = Fraction(factor)
        found = _rounded(n * exact.numerator, d * exact.denominator, rounding)
    else:  # as PyTorch has it
        out = length * factor
        if surely(out >= 2.0**63):
            refuse(ValueError, "scale", "output sizes below 2**63", f"{length} * {factor}")
        if rounding in ("ceil", "round_even"):
            found = math.ceil(out) if rounding == "ceil" else round(out)
        else:
            found = math.floor(out + 0.5 if rounding == "round" else out)
    if surely(found >= 2**63):
        refuse(ValueError, "scale", "output sizes below 2**63", f"{length} * {factor}")
    if surely(found < 1) and surely(length != 0):
        refuse(ValueError, "scale", "output sizes of at least 1", f"{rounding}({length} * {factor}) = {found}")
    return found


def _parts(length: Any) -> tuple[Any, int]:
    """Numerator and denominator; symbols have neither."""
    return (length.numerator, length.denominator) if isinstance(length, Fraction) else (length, 1)


def _rounded(n: Any, d: int, rounding: str) -> Any:
    """n / d as an int, by ints alone."""
    if rounding == "floor":
        return n // d
    if rounding == "ceil":
        return -(-n // d)
    up = (2 * n + d) // (2 * d)
    tie = rounding == "round_even" and (2 * n + d) % (2 * d) == 0
    return up - 1 if tie and up % 2 == 1 else up


def _fitted(sizes: Sequence[int], extents: Sequence[Any], policy: str) -> tuple[list[int], list[Fraction | None]]:
    """ONNX's keep_aspect_ratio_policy: one scale for all axes, lengths rounded half up."""
    # Symbols as numbers: the scale becomes a part of the rule.
    lengths = [e if isinstance(e, Fraction) else Fraction(operator.index(e)) for e in extents]
    if any(e == 0 for e in lengths):
        refuse(ValueError, "policy", "stretch, for axes of length 0", repr(policy))
    scale = Fraction(sizes[0]) / lengths[0]
    for s, e in zip(sizes[1:], lengths[1:]):
        if (Fraction(s) / e < scale) == (policy == "not_larger"):
            scale = Fraction(s) / e
    if scale == 0:
        refuse(ValueError, "size", "sizes of at least 1, to keep the ratio of", f"{list(sizes)}")
    exact = [scale * e for e in lengths]
    return [max(1, _rounded(e.numerator, e.denominator, "round")) for e in exact], [scale] * len(sizes)


def _boxes(box: Any, n: int) -> list[tuple[Fraction, Fraction] | None]:
    if box is None:
        return [None] * n
    if frontends.is_array(box):
        box = box.tolist()
    if not isinstance(box, (list, tuple)):
        refuse(TypeError, "box", "a (begin, end) per axis", frontends.describe(box))
    if len(box) != n:
        refuse(ValueError, "box", f"{n} pairs (begin, end), one per axis", f"{len(box)}")
    return [None if pair is None else _pair(pair) for pair in box]


def _whole(box: tuple[Fraction, Fraction], length: Any) -> bool:
    begin, end = box
    return bool(begin == 0 and end.denominator == 1 and end.numerator == length)


def _pair(pair: Any) -> tuple[Fraction, Fraction]:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        refuse(ValueError, "box", "pairs (begin, end)", repr(pair))
    for edge in pair:
        if not _real(edge):
            refuse(TypeError, "box", "numbers", frontends.describe(edge))
        if not -math.inf < edge < math.inf:
            refuse(ValueError, "box", "finite numbers", frontends.describe(pair))
        if abs(plain(edge)) > LARGEST:
            refuse(ValueError, "box", "numbers up to 2**53", frontends.describe(pair))
    begin, end = (Fraction(plain(v)) for v in pair)
    if begin == end:
        refuse(ValueError, "box", "an end unlike its begin", repr(pair))
    return begin, end


# Of the dtypes that hold less than a Python float.
LARGEST_FLOAT = {
    "float16": 65504.0, "complex32": 65504.0, "bfloat16": (2 - 2**-7) * 2.0**127,
    "float32": (2 - 2**-23) * 2.0**127, "complex64": (2 - 2**-23) * 2.0**127,
}  # fmt: skip


def _fill(value: Any, x: Any, edge: Any) -> None:
    name = frontends.dtype_name(x)
    if name == "bool" and isinstance(value, (bool, np.bool_)):
        value = int(value)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, complex, np.number)):
        refuse(TypeError, "value", "a number", frontends.describe(value))
    if value == 0:
        return
    if edge not in ("constant", "extrapolate"):
        refuse(ValueError, "value", "0, unless edge is constant or extrapolate", frontends.describe(value))
    if not _holds(name, value):
        refuse(ValueError, "value", f"a value of {name}", frontends.describe(value))


def _holds(name: str, value: Any) -> bool:
    """Can a dtype's elements have a value, rounded perhaps?"""
    if name.removeprefix("u").startswith("int") or name == "bool":
        least, most = (0, 1) if name == "bool" else (np.iinfo(name).min, np.iinfo(name).max)
        return not isinstance(value, (complex, np.complexfloating)) and least <= value <= most and value == int(value)
    if isinstance(value, (complex, np.complexfloating)) and not name.startswith(("complex", "clong", "object")):
        return False
    largest = LARGEST_FLOAT.get(name, sys.float_info.max)
    parts = (value.real, value.imag) if isinstance(value, (complex, np.complexfloating)) else (value,)
    if any(largest < abs(part) < math.inf for part in parts):
        return False
    return frontends.is_numeric(name) or name == "object"


def _fits(
    x: Any,
    modes: Sequence[str | filters.Filter],
    lengths: Sequence[Any],
    out: Sequence[Any],
    like: Any,
    how: Convention,
) -> None:
    for mode in modes:
        if how.modes and mode not in how.modes:
            refuse(ValueError, "mode", f"one of {', '.join(how.modes)}, with like={like!r}", repr(mode))
    name = frontends.dtype_name(x)
    if any(m not in NEAREST for m in modes) and not frontends.is_numeric(name):
        refuse(TypeError, "x", f"numbers for mode {modes[0]!r} (nearest and nearest-exact take any dtype)", name)
    for length, n in zip(lengths, out):
        if surely(length == 0) and surely(n != 0):
            refuse(ValueError, "x", "axes of at least 1 to resize", f"shape {tuple(x.shape)}")


def _one_of(name: str, value: Any, known: Sequence[Any]) -> None:
    words = ", ".join(str(k) for k in known)
    if not isinstance(value, (str, type(None))):
        refuse(TypeError, name, f"one of {words}", repr(value))
    if value not in known:
        refuse(ValueError, name, f"one of {words}", repr(value))
