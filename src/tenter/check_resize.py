"""resize's arguments, in order: what a convention says where they say nothing, and every message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tenter import check, filters, frontends
from tenter.conventions import Convention, convention
from tenter.frontends import surely
from tenter.geometry import ALIGNS, TIES
from tenter.limits import refuse
from tenter.sampling import EDGES, AxisRule
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
    boxes = _boxes(box, n)
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
    if cubic is not None and (isinstance(cubic, bool) or not isinstance(cubic, (int, float, np.floating))
                              or not math.isfinite(cubic)):  # fmt: skip
        refuse(TypeError, "cubic", "a finite number, Keys's a", repr(cubic))
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
    how: Convention, mode: str, antialias: Any, box: Any, follows: Fraction | None, kept: bool,
    align: str | None, tie: str | None, cubic: Any, edge: str | None,
) -> AxisRule:  # fmt: skip
    """One axis's rule: the convention's, but for what is given."""
    kind = {"lanczos": "lanczos3", "area": "area" if how.area == "touched" else "overlap"}.get(mode, mode)
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
        cubic=float(cubic) if cubic is not None else how.cubic_antialias if wide else how.cubic,
    )


def _turned_rules(
    rules: Sequence[AxisRule], boxes: Sequence[Any], lengths: Sequence[int], order: list[int]
) -> tuple[AxisRule, ...]:
    """Rules for axes that have been turned round: a reversed box, seen from the other end."""
    found = []
    for k in order:
        rule, box = rules[k], boxes[k]
        if box and box[1] < box[0]:
            rule = rule._replace(box=(str(lengths[k] - box[0]), str(lengths[k] - box[1])))
        found.append(rule)
    return tuple(found)


def _axes(axes: Any, ndim: int, given: Any, n: int) -> tuple[int, ...]:
    if axes is None:
        if ndim in (1, 2) or (n == ndim and not _single(given)):
            return tuple(range(ndim))
        hint = "such as (0, 1) of an (H, W, C) image, (-2, -1) of (..., H, W)"
        refuse(ValueError, "axes", f"the axes to resize, {hint}, or a size for each of {ndim}", "none")
    which = tuple(check.dim("axes", a, ndim) for a in check.sizes("axes", [axes], least=-ndim))
    if not ndim:
        refuse(ValueError, "x", "at least one axis", "a 0-d array")
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
    return refuse(ValueError, name, f"one number, or {n}, one per axis", f"{len(values)}")


def _modes(mode: Any, n: int) -> list[str]:
    given = list(mode) if isinstance(mode, (list, tuple)) and not isinstance(mode, filters.Filter) else [mode]
    found = []
    for m in given:
        if isinstance(m, filters.Filter):
            if not callable(m.f) or not 0 < float(m.support) < math.inf:
                refuse(ValueError, "mode", "a Filter of a function and a finite support > 0", repr(m))
            found.append(filters.named(m))
        elif not isinstance(m, str):
            refuse(TypeError, "mode", f"one of {', '.join(MODES)}, or a Filter", repr(m))
        elif m not in MODES:
            refuse(ValueError, "mode", f"one of {', '.join(MODES)}, or a Filter", repr(m))
        else:
            found.append(m)
    return _spread("mode", found, mode, n)


def _scales(scale: Any) -> list[Any]:
    """Numbers, fractions and pairs of ints as numbers and fractions, one for all or one each."""
    if frontends.is_array(scale):
        scale = scale.tolist()
    pair = isinstance(scale, tuple) and len(scale) == 2 and all(type(v) is int for v in scale)
    given = scale if isinstance(scale, (list, tuple)) and not pair else [scale]
    return [_factor(f) for f in given]


def _factor(f: Any) -> Any:
    if isinstance(f, tuple) and len(f) == 2 and all(type(v) is int for v in f) and f[1] > 0:
        f = Fraction(*f)
    if isinstance(f, bool) or not isinstance(f, (int, float, Fraction, np.floating, np.integer)):
        refuse(TypeError, "scale", "numbers, fractions, or pairs of ints", frontends.describe(f))
    if not 0 < f < math.inf:
        refuse(ValueError, "scale", "finite numbers above 0", f"{f}")
    return f if isinstance(f, Fraction) else float(f)


def _length(length: Any, factor: Any, rounding: str) -> int:
    out = length * factor
    if surely(out >= 2.0**63):
        refuse(ValueError, "scale", "output sizes below 2**63", f"{length} * {factor}")
    half = Fraction(1, 2) if isinstance(out, Fraction) else 0.5
    if rounding == "ceil":
        found: int = math.ceil(out)
    elif rounding == "round_even":
        found = round(out)
    else:
        found = math.floor(out + half if rounding == "round" else out)
    if surely(found < 1) and surely(length != 0):
        refuse(ValueError, "scale", "output sizes of at least 1", f"{rounding}({length} * {factor}) = {found}")
    return found


def _fitted(sizes: Sequence[int], extents: Sequence[Any], policy: str) -> tuple[list[int], list[Fraction | None]]:
    """ONNX's keep_aspect_ratio_policy: one scale for all axes, lengths rounded half up."""
    if any(e == 0 for e in extents):
        refuse(ValueError, "policy", "stretch, for axes of length 0", repr(policy))
    ratios = [Fraction(s) / Fraction(e) for s, e in zip(sizes, extents)]
    scale = min(ratios) if policy == "not_larger" else max(ratios)
    return [max(1, math.floor(scale * Fraction(e) + Fraction(1, 2))) for e in extents], [scale] * len(sizes)


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


def _pair(pair: Any) -> tuple[Fraction, Fraction]:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        refuse(ValueError, "box", "pairs (begin, end)", repr(pair))
    for edge in pair:
        if isinstance(edge, bool) or not isinstance(edge, (int, float, Fraction, np.floating, np.integer)):
            refuse(TypeError, "box", "numbers", repr(edge))
        if not isinstance(edge, Fraction) and not math.isfinite(edge):
            refuse(ValueError, "box", "finite numbers", repr(pair))
        if abs(edge) > 2**53:
            refuse(ValueError, "box", "numbers up to 2**53", repr(pair))
    begin, end = (Fraction(v) if not isinstance(v, np.generic) else Fraction(v.item()) for v in pair)
    if begin == end:
        refuse(ValueError, "box", "an end unlike its begin", repr(pair))
    return begin, end


def _fill(value: Any, x: Any, edge: Any) -> None:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, complex, np.number)):
        refuse(TypeError, "value", "a number", repr(value))
    if value != 0 and edge not in ("constant", "extrapolate"):
        refuse(ValueError, "value", "0, unless edge is constant or extrapolate", repr(value))
    name = frontends.dtype_name(x)
    if name.removeprefix("u").startswith("int") and value != 0:
        info = np.iinfo(name)
        if isinstance(value, complex) or value != int(value) or not info.min <= value <= info.max:
            refuse(ValueError, "value", f"a value of {name}", repr(value))
    elif isinstance(value, complex) and not name.startswith("complex"):
        refuse(ValueError, "value", f"a value of {name}", repr(value))


def _fits(x: Any, modes: Sequence[str], lengths: Sequence[Any], out: Sequence[Any], like: Any, how: Convention) -> None:
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
