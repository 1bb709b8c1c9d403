"""resize's arguments, in order: what a convention says where they say nothing."""

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from tenter._arrays import arguments
from tenter._arrays.arguments import describe, one_of
from tenter._arrays.dtypes import is_numeric
from tenter._arrays.elsewhere import edge_here
from tenter._arrays.errors import refuse
from tenter._arrays.library import dtype_name, surely
from tenter._rules import filters, splines
from tenter._rules.axis_rule import EDGES, NEAREST, AxisRule
from tenter._rules.geometry import ALIGNS, ALIGNS_ELSEWHERE, plain
from tenter._rules.presets import Convention, convention, exact_tie, nearest_arithmetic, with_antialias
from tenter._rules.rounding import of_convention
from tenter._specs import lengths as of_lengths
from tenter._specs.fill_value import check_value
from tenter._specs.lengths import spread
from tenter._specs.modes import NO_ANTIALIAS, constant, modes_of
from tenter._specs.resize import Resize
from tenter._specs.spec import Shape


class Arguments(NamedTuple):
    """Those after x, as a call gives them."""

    size: Any = None
    scale: Any = None
    axes: Any = None
    mode: Any = "linear"
    antialias: Any = None
    like: Any = None
    box: Any = None
    align: Any = None
    edge: Any = None
    value: Any = 0


def order_of_axes(ndim: int, axes: Any) -> tuple[int, ...] | None:
    """Where sequences with a value for each of these axes have those of the first, the second, ...; None where in
    turn."""
    given = arguments.several("axes", axes)
    if given is None:
        return None
    order = sorted(range(len(given)), key=lambda k: given[k] % ndim)
    return None if order == list(range(len(given))) else tuple(order)


def by_dims(values: Any, at: tuple[int, ...] | None) -> Any:
    """The values of axes in turn, if there is one for each."""
    one_each = not arguments.single(values) and len(values) > 1
    return values if at is None or not one_each else [values[k] for k in at]


def with_lengths(spec: Resize, size: Shape, shape: Shape, scale: Any, box: Any) -> tuple[Resize, tuple[int, ...]]:
    """The specification of another call that has other values for what is given here, and is else the same; and the
    axes to reverse before."""
    n = len(size)
    factors = [None] * n if scale is None else spread("scale", of_lengths.scales(scale), scale, n)
    rules, flipped = [], []
    for axis, rule, f, pair in zip(spec.axes, spec.rules, factors, of_lengths.boxes(box, n)):
        if rule.scale is not None:
            rule = rule._replace(scale=str(Fraction(f)))
        if rule.box is not None and pair is not None:
            rule = rule._replace(box=(str(pair[0]), str(pair[1])))
        if pair is not None and pair[1] < pair[0]:
            rule = _reversed(rule, pair, shape[axis])
            flipped.append(axis)
        rules.append(rule)
    return spec._replace(size=size, rules=tuple(rules)), tuple(flipped)


def checked(x: Any, given: Arguments, fills: bool = False) -> tuple[Resize, tuple[int, ...]]:
    """What to do, and the axes to reverse before. fills: whether outputs may become `value` at any edge."""
    size, scale, axes, mode, antialias, like, box, align, edge, value = given
    _check_one_given(size, scale)
    by_scale = size is None
    of_lengths.refuse_other_sizes(size, "scale")
    wanted: Sequence[Any] = of_lengths.scales(scale) if by_scale else arguments.sizes("size", [size], least=0)
    which = _axes(axes, x.ndim, scale if by_scale else size, len(wanted))
    if not by_scale and checks_each_size(x, axes):
        _check_channels(x, wanted)
    n = len(which)
    lengths = [x.shape[axis] for axis in which]
    modes = modes_of(mode, n)
    how = convention(like)
    pairs = of_lengths.boxes(box, n)
    boxes = [None if b and of_lengths.is_whole(b, length) else b for b, length in zip(pairs, lengths)]
    extents = [abs(b[1] - b[0]) if b else length for b, length in zip(boxes, lengths)]
    if by_scale:
        out, follows = _scaled(spread("scale", wanted, scale, n), extents, how)
    else:
        _check_sizes(size, wanted, n)
        out, follows = _fitted(wanted, extents, how)
    _check_word("align", align, ALIGNS, lambda word: ALIGNS_ELSEWHERE.get(word, word))
    _check_word("edge", edge, EDGES, edge_here)
    _check_antialias(antialias, modes, mode)
    rules = [axis_rule(how, m, antialias, b, f, align, edge) for m, b, f in zip(modes, boxes, follows)]
    check_value(value, x, fills or any(rule.edge in ("constant", "extrapolate") for rule in rules))
    has_splines = _check_splines(rules, modes, edge)
    _check_modes(x, modes, lengths, out, like, how)
    _check_aliases(antialias, modes, like, how)
    flipped = _flipped(rules, boxes, lengths)
    order = sorted(range(n), key=lambda k: which[k])
    rounding = of_convention(how.eight_bits, any(r.antialias for r in rules) and not has_splines)
    spec = Resize(
        tuple(which[k] for k in order), tuple(out[k] for k in order), tuple(rules[k] for k in order), rounding
    )
    return spec, tuple(sorted(which[k] for k in flipped))


def _flipped(rules: list[AxisRule], boxes: Sequence[Any], lengths: Sequence[int]) -> list[int]:
    """Makes the rules of boxes in descending order those of reversed axes, and returns which axes these are."""
    found = [k for k, pair in enumerate(boxes) if pair is not None and pair[1] < pair[0]]
    for k in found:
        rules[k] = _reversed(rules[k], boxes[k], lengths[k])
    return found


def _check_splines(rules: Sequence[AxisRule], modes: Sequence[Any], edge: Any) -> bool:
    """Returns whether an axis has a spline, which knows no edge that leaves weights out."""
    found = [mode for mode, rule in zip(modes, rules) if rule.kind in splines.KINDS]
    if found and edge == "renormalize":
        refuse(ValueError, "edge", f"one of {', '.join(splines.EDGES)} for mode {found[0]!r}", repr(edge))
    return bool(found)


def _check_antialias(antialias: Any, modes: Sequence[Any], mode: Any) -> None:
    arguments.flag("antialias", antialias, optional=True)
    if antialias and all(m in NO_ANTIALIAS for m in modes):
        got = f"antialias=True with mode {mode!r}, which has none"
        refuse(ValueError, "antialias", f"False or None for modes {', '.join(NO_ANTIALIAS)}", got)


def _check_sizes(size: Any, wanted: Sequence[Any], n: int) -> None:
    """A size has a length for each axis. One number would be all axes to some, the shorter side to others."""
    if len(wanted) == n:
        return
    if n == 1:
        refuse(ValueError, "size", "1 value for 1 axis", f"{len(wanted)}")
    each = f"{n} lengths, one per axis"
    if arguments.single(size) and n:
        both = f"({', '.join([str(wanted[0])] * n)})"
        sides = ", Fit or Fill of tenter.image for an image's sides" if n == 2 else ""
        refuse(
            ValueError, "size", f"{each} (size={both} for all, axes=-1 for the last axis alone{sides})", describe(size)
        )
    refuse(ValueError, "size", each, f"{len(wanted)}")


def _check_aliases(antialias: Any, modes: Sequence[Any], like: Any, how: Convention) -> None:
    """Refuses lanczos by the rules of a library that does not antialias by default: it is a filter for shrinking, and
    would alias. Whatever the size: a loader whose images mostly grow would fail at the first one that shrinks."""
    if antialias is not None or how.antialias:
        return
    for m in modes:
        if isinstance(m, str) and m.startswith("lanczos"):
            expected = f"True or False for mode {m!r}, as like={like!r} does not antialias by default"
            refuse(ValueError, "antialias", expected, "none")


def _check_one_given(size: Any, scale: Any) -> None:
    if size is not None and scale is not None:
        refuse(ValueError, "size", "size or scale, not both", f"size={size} and scale={scale}")
    if size is None and scale is None:
        refuse(ValueError, "size", "size or scale", "neither")


def _fitted(sizes: Sequence[Any], extents: Sequence[Any], how: Convention) -> tuple[list[Any], list[Fraction | None]]:
    """The lengths of resized axes, and the scale that positions follow: None where it is the ratio of the lengths."""
    if how.aspect_ratio == "stretch":
        return list(sizes), [None] * len(sizes)
    return of_lengths.fitted(list(sizes), extents, how.aspect_ratio)


def _scaled(factors: Sequence[Any], extents: Sequence[Any], how: Convention) -> tuple[list[Any], list[Fraction | None]]:
    """As `_fitted`, for axes that are scaled."""
    out = [of_lengths.scaled("scale", extent, f, how.length_rounding) for extent, f in zip(extents, factors)]
    if how.aspect_ratio != "stretch":
        refuse(ValueError, "like", "aspect_ratio='stretch', as scale is given", repr(how.aspect_ratio))
    by_lengths = how.positions_from == "sizes"
    return out, [None if by_lengths else Fraction(f) for f in factors]


def _check_word(name: str, word: Any, known: Sequence[str], here: Callable[[str], str]) -> None:
    """here: what another library's word is here."""
    if isinstance(word, str) and word not in known and (meant := here(word)) in known:
        refuse(ValueError, name, f"one of {', '.join(known)}", f"{word!r} (here it is {meant!r})")
    one_of(name, word, (*known, None))


def axis_rule(
    how: Convention, mode: str | filters.Filter, antialias: Any, box: Any, follows: Fraction | None, align: str | None,
    edge: str | None,
) -> AxisRule:  # fmt: skip
    """One axis's rule: the convention's, with the given arguments in place of its fields."""
    exact, near = mode == "nearest-exact", mode in NEAREST
    wide = bool(how.antialias if antialias is None else antialias) and mode not in NO_ANTIALIAS
    kind, a = _kind(how, mode, wide, how.area == "touched" and not align and not edge)
    arithmetic = nearest_arithmetic(how, exact, align, edge) if near else _arithmetic(how, kind, wide, box)
    align = align or ("half_pixel" if exact else how.nearest_align if near else how.align)
    if align == "align_corners" and wide:
        align = how.corners_antialias
    if align in ("align_corners", "corner_areas") and how.positions_from != "length":
        follows = None
    if a is None:
        a = with_antialias(how.cubic_a, wide)
    return AxisRule(
        kind=kind,
        align=align,
        scale=None if follows is None else str(follows),
        box=None if box is None else (str(box[0]), str(box[1])),
        tie="prefer_ceil" if exact else exact_tie(how.nearest_tie),
        arithmetic=arithmetic,
        edge=edge or _edge(how, mode, wide),
        antialias=wide,
        cubic=constant(plain(a)),
    )


def _kind(how: Convention, mode: str | filters.Filter, wide: bool, touched: bool) -> tuple[str | filters.Filter, Any]:
    """The kernel's name of a mode, and the slope of a cubic filter that a call sets. touched: whether "area" weighs
    each input that an output touches alike, as PyTorch does."""
    if isinstance(mode, filters.Filter):
        a = filters.slope(mode)
        return mode if a is None else "cubic", a
    if mode == "cubic" and how.cubic == "spline":
        mode = "spline3"
    if mode in splines.ORDERS:
        return f"gaussian {mode}" if wide and how.antialias == "gaussian" else mode, None
    if mode == "linear" and wide and how.antialias == "gaussian":
        return "gaussian", None
    return {"lanczos": "lanczos3", "area": "area" if touched else "overlap"}.get(mode, mode), None


def _edge(how: Convention, mode: str | filters.Filter, wide: bool) -> str:
    if mode in splines.ORDERS or (mode == "cubic" and how.cubic == "spline"):
        said = isinstance(how.edge, str) and how.edge in splines.EDGES
        return str(how.edge) if said else "reflect"  # what SciPy and scikit-image do if nothing is said
    found: str = "renormalize" if mode == "area" else with_antialias(how.edge, wide)
    return found


def _arithmetic(how: Convention, kind: str | filters.Filter, wide: bool, box: Any) -> str:
    """How positions are computed where inputs are summed."""
    if how.eight_bits == "opencv" and kind in ("linear", "cubic") and not wide:
        return "opencv"
    # PyTorch's linear modes ignore the scale of an axis that keeps its length.
    return "torch" if how.positions_from == "scale_unless_same" and box is None else "exact"


def _reversed(rule: AxisRule, box: tuple[Fraction, Fraction], length: Any) -> AxisRule:
    """The rule of an axis that has been reversed: its box, seen from the other end."""
    n = operator.index(length)
    flipped = (n - box[0], n - box[1])
    return rule._replace(box=None if of_lengths.is_whole(flipped, n) else (str(flipped[0]), str(flipped[1])))


def _axes(axes: Any, ndim: int, given: Any, n: int) -> tuple[int, ...]:
    if not ndim:
        refuse(ValueError, "x", "at least one axis", "a 0-d array")
    if axes is None:
        if ndim in (1, 2) or (n == ndim and not arguments.single(given)):
            return tuple(range(ndim))
        hint = "such as (0, 1) of an (H, W, C) image, (-2, -1) of (..., H, W)"
        refuse(ValueError, "axes", f"the axes to resize, {hint}, or a size for each of {ndim}", "none")
    several = arguments.several("axes", axes)
    of_axes = [axes] if several is None else several
    if any(isinstance(a, str) for a in of_axes):
        refuse(TypeError, "axes", f"numbers, as x's axes have no names{_numbers_of(axes, ndim)}", describe(axes))
    which = tuple(arguments.dim("axes", a, ndim) for a in of_axes)
    if len(set(which)) < len(which):
        refuse(ValueError, "axes", "each axis once", f"{axes}")
    return which


def checks_each_size(x: Any, axes: Any) -> bool:
    """Whether another call of the same kind may be refused for its size, so that each is checked: a size for each dim
    may mix the channels of an image of bytes."""
    return axes is None and x.ndim == 3 and dtype_name(x) == "uint8"


def _check_channels(x: Any, wanted: Sequence[Any]) -> None:
    """Refuses a size for each dim that would mix channels. Other libraries take the shape of the result."""
    for at, sides, axes in ((2, (0, 1), "(0, 1)"), (0, (1, 2), "(1, 2)")):
        n = x.shape[at]
        if n in (1, 3, 4) and all(x.shape[d] > 4 for d in sides) and wanted[at] != n:
            size = (wanted[sides[0]], wanted[sides[1]])
            expected = f"axes={axes} and size={size} for an image of {n} channels, or axes=(0, 1, 2) to resize them too"
            refuse(ValueError, "axes", expected, f"none, with size={tuple(wanted)}")


def _numbers_of(names: Any, ndim: int) -> str:
    """The axes that names are likely to mean, to be put after what is expected."""
    letters = "".join(map(str, names)).replace(",", "").replace(" ", "").lower()
    n = len(letters)
    if n == ndim:
        return f": axes={tuple(range(ndim))} for all of them"
    if n < ndim and letters in ("hw", "yx", "dhw", "zyx"):
        return f": axes={tuple(range(n))} if they are the first, axes={tuple(range(-n, 0))} if they are the last"
    return ""


def _check_modes(
    x: Any, modes: Sequence[str | filters.Filter], lengths: Sequence[Any], out: Sequence[Any], like: Any,
    how: Convention,
) -> None:  # fmt: skip
    for mode in modes:
        if how.modes and mode not in how.modes:
            refuse(ValueError, "mode", f"one of {', '.join(how.modes)}, with like={like!r}", repr(mode))
    name = dtype_name(x)
    if any(m not in NEAREST for m in modes) and not is_numeric(name):
        refuse(TypeError, "x", f"numbers for mode {modes[0]!r} (nearest and nearest-exact take any dtype)", name)
    for length, n in zip(lengths, out):
        if surely(length == 0) and surely(n != 0):
            refuse(ValueError, "x", "axes of at least 1 to resize", f"shape {tuple(x.shape)}")
