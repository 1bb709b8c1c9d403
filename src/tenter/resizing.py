"""resize: any axes of any array, any filter, any library's convention."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from tenter import bands, build, calls, check, check_resize, frontends, limits
from tenter.apply import stretch
from tenter.check_resize import NEAREST
from tenter.maps import AxisMap
from tenter.stretch import Resize, shape_out


def resize(
    x: Any,
    size: Any = None,
    *,
    scale: Any = None,
    axes: Any = None,
    mode: Any = "linear",
    antialias: bool | None = None,
    like: Any = "torch",
    rounding: str | None = None,
    policy: str = "stretch",
    box: Any = None,
    align: str | None = None,
    tie: str | None = None,
    cubic: float | None = None,
    edge: str | None = None,
    value: float = 0,
) -> Any:
    """Resizes any axes of an array.

    x: array or tensor of any shape; every real and complex dtype, nearest kinds any dtype.
    size: output length, one for all axes or one each; or scale: output / input, a number, a `fractions.Fraction` or a
        pair of ints, (120, 88) being 120 / 88; one for all axes, or a list of one each.
    axes: those that are resized, in the order of size: (0, 1) of an (H, W, C) image, (-2, -1) of (..., H, W). None:
        all, where x has one or two or size has one number for each.
    mode: nearest, nearest-exact, linear, cubic, catmull-rom, mitchell, bspline, lanczos (lanczos3), lanczos2 to
        lanczos5, area, box, hamming, or a `tenter.filters.Filter`; or a list of one per axis.
    antialias: does the filter widen when shrinking? None: as `like` has it; area never needs it, nearest has none.
    like: whose rules hold where no argument below says otherwise: torch, pillow, opencv, onnx, jax, tensorflow,
        skimage, scipy, or a `tenter.conventions.Convention`.
    rounding: of length * scale: floor, round (half up), round_even (half to even) or ceil; None: as `like` has it.
    policy: stretch, or one scale for all axes such that the result is not_larger or not_smaller than size (ONNX).
    box: (begin, end) in input pixels of the part to resize, fractions allowed, one pair per axis or None for a whole
        axis; reversed it is turned round.
    align: centre, corners, asymmetric (`tenter.geometry.Geometry`). tie: floor, ceil, prefer_floor, prefer_ceil, for
        nearest. cubic: Keys's a, for cubic. edge: replicate, reflect, symmetric, wrap, constant (of `value`),
        renormalise (what lies outside is left out), extrapolate (outputs outside are `value`).
    Returns fresh memory of x's kind and dtype, in x's order of axes in memory. Integers are rounded half to even and
    saturated; half and single precision are computed in float32 from float64 weights, larger integers in float64.

    Raises TypeError and ValueError naming the argument, MemoryError for a result larger than the machine. Gradients on
    PyTorch are the transposed maps, deterministic.

    >>> resize(np.array([0.0, 10.0, 20.0]), 5, align="corners")
    array([ 0.,  5., 10., 15., 20.])
    >>> image = np.zeros((88, 66, 3), np.uint8)
    >>> resize(image, scale=(120, 88), axes=(0, 1), mode="cubic", like="pillow").shape
    (120, 90, 3)
    >>> resize(np.arange(4), 4, box=[(4, 0)], mode="nearest-exact")
    array([3, 2, 1, 0])
    """
    given = (size, scale, axes, mode, antialias, like, rounding, policy, box, align, tie, cubic, edge, value)
    try:
        kinds = _kinds(given)
        if kinds is not None and (known := calls.recall("resize", x, given, kinds)) is not None:
            return known
        x = check.array("x", x)
        does, turned = check_resize.resizing(x, *given)
        outside = any(rule.edge in ("constant", "extrapolate") for rule in does.rules)
        if turned:
            x = frontends.of(x).flip(x, turned)
        if outside and (value != 0 or not frontends.is_numeric(frontends.dtype_name(x))):
            return _filled(x, does, value)
        if turned or kinds is None:
            return stretch(x, does)
        return calls.serve("resize", x, given, kinds, x, does)
    except limits.Refusal as refusal:
        names = ("size", "scale", "axes", "mode", "antialias", "like", "rounding", "policy", "box", "align", "tie",
                 "cubic", "edge", "value")  # fmt: skip
        usual = {"mode": "linear", "like": "torch", "policy": "stretch", "value": 0}
        shown = {n: v for n, v in zip(names, given) if v is not None and not (n in usual and v is usual[n])}
        raise check.error(refusal, "resize", x=x, **shown) from None


def axis_map(n_in: int, n_out: int, mode: Any = "linear", **how: Any) -> AxisMap:
    """The map that `resize` applies to one axis of n_in positions.

    how: resize's other arguments.

    >>> axis_map(4, 2, "area")
    Window(4 -> 2: weights of 2)
    """
    try:
        x = np.broadcast_to(np.float32(0), (check.integer("n_in", n_in, least=0),))
        does, turned = check_resize.resizing(x, n_out, mode=mode, **how)
        if turned:
            limits.refuse(ValueError, "box", "one in ascending order, for a map", repr(how["box"]))
        limits.memory((len(x) + does.size[0],), 400, "the tables of the axis map")
        ((_, found),) = build.maps(does, x.shape, "float32")
        return cast(AxisMap, found)
    except limits.Refusal as refusal:
        raise check.error(refusal, "axis_map", n_in, n_out, mode, **how) from None


def _kinds(given: tuple[Any, ...]) -> tuple[type, ...] | None:
    """The types of all values, as equal ones of unlike types are not the same; None where one may change."""
    found: list[type] = []
    for value in given:
        found.append(type(value))
        if type(value) is tuple:
            inner = _kinds(value)
            if inner is None:
                return None
            found += inner
        elif type(value) is list:
            return None
    return tuple(found)


def _filled(x: Any, does: Resize, value: Any) -> Any:
    """Resized, with `value` for what lies outside: it has the weight that the rows of the maps lack."""
    frontend = frontends.of(x)
    weights = {
        axis: stretch(frontend.ones(x, x.shape[axis]), Resize((0,), (n_out,), (rule,), False))
        for axis, n_out, rule in zip(does.axes, does.size, does.rules)
    }

    def inside(place: tuple[slice, ...]) -> Any:
        found: Any = 1.0
        for axis, weight in weights.items():
            some = weight[place[axis]] if axis < len(place) else weight
            found = found * some.reshape([-1 if d == axis else 1 for d in range(x.ndim)])
        return found

    if all(rule.edge == "extrapolate" or rule.kind in NEAREST for rule in does.rules):  # all of it or nothing
        near = tuple(rule._replace(edge="replicate") for rule in does.rules)
        y = stretch(x, does._replace(rules=near))
        return _in_bands(y, does.axes[0], lambda part, place: frontend.filled(part, inside(place) > 0.5, value))
    shape, name = shape_out(does, tuple(x.shape)), frontends.dtype_name(x)
    half = name in ("float16", "bfloat16", "complex32")
    narrow = half or name.removeprefix("u").startswith("int")  # than the sums, which are rounded once
    if not narrow or frontends.recorded(x) or frontends.on_device(x) or name in ("bfloat16", "complex32"):
        y = stretch(frontend.widened(x) if narrow else x, does)
        return _in_bands(
            y, does.axes[0], lambda part, place: frontend.shifted(part, 1 - inside(place), value, x), narrow
        )
    if 8 * max(math.prod(x.shape), math.prod(shape)) <= bands.BYTES:
        return frontend.shifted(stretch(frontend.widened(x), does), 1 - inside(()), value, x)
    if not isinstance(x, np.ndarray):
        return frontend.from_numpy(_filled(frontends.to_numpy(x), does, value))
    return bands.resized(
        x, does, "float32" if half else "float64", lambda some, work: np.copyto(work, some),
        lambda values, place: frontend.shifted(values, 1 - inside(place), value, x),
    )  # fmt: skip


def _in_bands(y: Any, axis: int, change: Callable[[Any, tuple[slice, ...]], Any], retyped: bool = False) -> Any:
    """Fresh y changed a band at a time. Not where gradients flow, or values are not there yet; then all at once."""
    if retyped or frontends.recorded(y) or getattr(y, "requires_grad", False) or not y.shape[axis]:
        return change(y, ())
    for some in bands.lengths(y.shape[axis], 8 * math.prod(y.shape)):
        place = bands.along(axis, some)
        part = y[place]
        changed = change(part, place)
        if changed is not part:
            y[place] = changed
    return y
