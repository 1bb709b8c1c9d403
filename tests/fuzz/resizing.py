"""resize: every mode, convention, edge, filter and box."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tenter._arrays.errors import Refusal
from tenter._rules.presets import convention
from tenter._rules.rounding import by_axis
from tenter._specs import resize_arguments
from tenter._specs.modes import NO_ANTIALIAS
from tenter.conventions import PRESETS, Convention
from tenter.filters import Filter, cubic

from ..helpers.resize_oracle import EDGES, TIES
from . import formulas, gradients
from .arrays import Array, drawn, numbers
from .call import Call, Named, named, written
from .draw import Draw
from .matrices import Dense, of_map
from .operations import again, maybe_out, sent, sized
from .oracle import EPSILON, PARTS, Maps, Want, Wrong, check_shape, check_values, is_whole, name_of, summed
from .summing import SUMMED, check_maps, dtype_for, summed_cut

EVERY = ("nearest", "nearest-exact", "linear", "cubic", "catmull-rom", "mitchell", "bspline", "lanczos", "lanczos2",
         "lanczos3", "lanczos4", "lanczos5", "area", "box", "hamming")  # fmt: skip
# Splines have calls of their own (splines.py).
DRAWN = {
    like: tuple(m for m in how.modes or EVERY if not m.startswith("spline") and (m, how.cubic) != ("cubic", "spline"))
    for like, how in PRESETS.items()
}
FILTERS = ("Filter(lambda d: np.maximum(0, 1 - np.abs(d)), 1.0)", "Filter(lambda d: np.exp(-d * d), 2.5)",
           "Filter(np.cos, 1.5, True)", "Filter(lambda d: np.ones_like(d), 0.5)")  # fmt: skip
ALIGNS = ("half_pixel", "align_corners", "asymmetric", "corner_areas", "half_pixel_symmetric", "pytorch_half_pixel",
          "tf_half_pixel_for_nn", "tf_crop_and_resize")  # fmt: skip


def resizing(r: Draw, library: str, dtype: str | None = None) -> tuple[Named, Array, dict[str, Any], dict[str, Named]]:
    ndim = r.int(1, 5)
    axes = r.some(range(ndim), r.int(1, min(ndim, r.pick((1, 2, 3)))))
    bytes_ = r.chance(0.12) and ndim > 1  # images of bytes, by filters that overshoot
    if bytes_:
        axes = r.some(range(ndim), 2)
    n = len(axes)
    like = r.pick((*PRESETS, "torch", "pillow"))
    modes = [r.pick(DRAWN[like]) for _ in range(n if r.chance(0.2) else 1)]
    if bytes_:
        like, modes = r.pick(("torch", "pillow")), [r.pick(("cubic", "lanczos"))]
    nearest = all(m.startswith("nearest") for m in modes)
    dtype = dtype or ("uint8" if bytes_ else dtype_for(r, library, nearest))
    shape = list(r.shape(ndim, r.pick((1500, 100)), 0 if r.chance(0.05) else 1))
    for a in axes:
        shape[a] = shape[a] or 1
    how = drawn(r, tuple(shape), dtype, library, "extreme" if bytes_ and r.chance(0.7) else None)
    kwargs: dict[str, Any] = {}
    extra: dict[str, Named] = {}
    if r.chance(0.7):
        size = [r.length(1) for _ in axes]
        rest = float(np.prod([m for a, m in enumerate(shape) if a not in axes]))
        while np.prod(size, dtype=float) * rest > 15000 and max(size) > 1:
            size[int(np.argmax(size))] //= 2
        kwargs["size"] = (
            r.whole(size[0]) if n == 1 and r.chance(0.5) else r.pick((tuple, list))(r.whole(s) for s in size)
        )
        if r.chance(0.08):
            kwargs["policy"] = r.pick(("stretch", "not_larger", "not_smaller"))
    else:
        kwargs["scale"] = [_scale(r, shape[a]) for a in axes]
        if r.chance(0.4):
            kwargs["rounding"] = r.pick(("floor", "round", "round_even", "ceil"))
    kwargs["axes"] = tuple(r.whole(a - ndim if r.chance(0.2) else a) for a in axes)
    kwargs["mode"] = modes if len(modes) > 1 else modes[0]
    if r.chance(0.1) and not PRESETS[like].modes and not bytes_ and not nearest and len(modes) == 1:
        recipe = r.pick(FILTERS)
        extra["fir"] = kwargs["mode"] = Named("fir", eval(recipe, {"np": np, "Filter": Filter}), recipe)
    if like != "torch" or r.chance(0.5):
        kwargs["like"] = like
    if r.chance(0.4) or (bytes_ and like == "torch"):
        kwargs["antialias"] = True if bytes_ else r.chance(0.6)
    for key, values, p in (
        ("edge", EDGES, 0.35),
        ("align", ALIGNS, 0.2),
        ("tie", TIES, 0.15),
        ("cubic", (-0.5, -1.0, 0.3), 0.1),
    ):
        if r.chance(p) and not bytes_:
            kwargs[key] = r.pick(values)
    if r.chance(0.2) and not bytes_:  # every rule in words
        kwargs |= {
            "edge": r.pick(EDGES),
            "align": r.pick(ALIGNS[:3]),
            "tie": r.pick(TIES),
            "cubic": r.pick((-0.5, -0.75)),
        }
        kwargs["antialias"] = r.chance(0.5)
    _in_convention(kwargs, extra, modes)
    if r.chance(0.15):
        kwargs["box"] = [_box(r, shape[a]) if r.chance(0.8) else None for a in axes]
    if kwargs.get("edge") in ("constant", "extrapolate") and r.chance(0.5):
        whole = is_whole(dtype)
        if whole or dtype in ("float16", "float32", "float64", "complex64", "complex128", "longdouble"):
            kwargs["value"] = r.pick((1, 7, 100)) if whole else r.pick((1.5, -3, 0.25))
    return named("x", how), how, permitted(kwargs), extra


def permitted(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments without an antialias that all modes refuse, and with the one that lanczos asks for."""
    modes = kwargs["mode"] if isinstance(kwargs["mode"], (list, tuple)) else [kwargs["mode"]]
    asks = any(isinstance(mode, str) and mode.startswith("lanczos") for mode in modes)
    if asks and "antialias" not in kwargs and not convention(_value(kwargs.get("like"))).antialias:
        kwargs["antialias"] = False
    if kwargs.get("antialias") and all(mode in NO_ANTIALIAS for mode in modes):
        del kwargs["antialias"]
    return kwargs


# What a call says of its convention: each drawn as an argument, and the field that it becomes.
FIELDS = {"policy": "aspect_ratio", "rounding": "length_rounding", "tie": "nearest_tie"}


def _in_convention(kwargs: dict[str, Any], extra: dict[str, Named], modes: list[Any]) -> None:
    """Puts what was drawn of the convention where calls say it: into `like`, and a cubic's slope into `mode`."""
    fields = {field: kwargs.pop(word) for word, field in FIELDS.items() if word in kwargs}
    a = kwargs.pop("cubic", None)
    if a is not None and "fir" not in extra and "cubic" in modes:
        extra["keys"] = Named("keys", cubic(a), f"tenter.filters.cubic({a})")
        found = [extra["keys"] if mode == "cubic" else mode for mode in modes]
        kwargs["mode"] = found if len(found) > 1 else found[0]
    if fields:
        like = kwargs.get("like")
        said = ", ".join(f"{field}={value!r}" for field, value in fields.items())
        made = Convention.of(like, **fields)
        extra["how"] = kwargs["like"] = Named("how", made, f"Convention.of({like!r}, {said})")


def _scale(r: Draw, n: int) -> Any:
    down, up = r.int(1, 7), r.int(1, 9)
    found = max(Fraction(up, down), Fraction(1, n))
    found = min(found, Fraction(max(1, 300 // n)))
    if found * n < 1:
        found = Fraction(1)
    if r.chance(0.5):
        return found
    return max(float(found), 1.0001 / n)


def _box(r: Draw, n: int) -> tuple[Any, Any]:
    begin = r.pick((0, r.int(0, n - 1), round(r.rng.uniform(-2, n), 2), Fraction(r.int(0, 4 * n), 4)))
    end = begin + r.pick((r.int(1, n + 2), round(r.rng.uniform(0.5, n), 2), Fraction(r.int(1, 4 * n), 4)))
    return (end, begin) if r.chance(0.3) else (begin, end)


def _value(x: Any) -> Any:
    """What a call is given: of names their values, in lists too."""
    if isinstance(x, Named):
        return x.value
    return [_value(each) for each in x] if type(x) is list else x


def plan(x: Any, kwargs: dict[str, Any], was: str | None = None) -> tuple[Maps, bool, tuple[int, ...], Any]:
    """The maps that tenter plans for resize, the matrices of which are made here, turned round where it turns x."""
    given = {k: _value(v) for k, v in kwargs.items()}
    does, turned = resize_arguments.checked(
        x, resize_arguments.Arguments(**(given if was is None else given | {"edge": was}))
    )
    if was is not None:  # the same rules, but for what stands for pixels past the edges
        does = does._replace(rules=tuple(rule._replace(edge=given["edge"]) for rule in does.rules))
    maps = []
    for axis, m in does.maps(tuple(x.shape), name_of(x), False):
        d = of_map(m)
        if axis in turned:
            index = None if d.index is None else d.weight.shape[1] - 1 - d.index
            d = Dense(*(m[:, ::-1] for m in d[:5]), index, d.ones)
        maps.append((axis, d))
    shape = list(x.shape)
    for axis, n in zip(does.axes, does.size):
        shape[axis] = n
    return maps, by_axis(does.rounding_of(name_of(x))), tuple(shape), does


def resize(r: Draw) -> Call:
    library = r.pick(("numpy", "torch"))
    x, how, kwargs, extra = resizing(r, library)
    names = {"x": x, **extra}
    if r.chance(0.06):
        bad, error = r.pick((
            ({"mode": "sinc"}, ValueError), ({"like": "paint"}, ValueError), ({"edge": "mirror"}, ValueError),
            ({"align": "left"}, ValueError), ({"axes": (0, 0), "size": (2, 2), "scale": None}, ValueError),
            ({"axes": 9}, IndexError), ({"size": -1, "scale": None}, ValueError), ({"size": 1.5, "scale": None}, TypeError),
            ({"scale": float("inf"), "size": None}, ValueError), ({"box": [(1, 1)] * len(kwargs["axes"])}, ValueError),
            ({"antialias": 1}, TypeError), ({"mode": "area", "antialias": True}, ValueError), ({"mode": ("cubic",) * 9}, ValueError), ({"like": 3}, TypeError),
        ))  # fmt: skip
        kwargs |= bad
        source = "y = " + written("tenter.resize", [x], kwargs)
        return Call("", source, {"x": x, **extra}, lambda y: None, (error, ValueError))
    try:
        maps, cut, shape, _ = plan(x.value, kwargs)
    except Refusal as refusal:  # a scale of a small box
        return Call("", sized(r, "tenter.resize", x, kwargs, {}), names, lambda y: None, (refusal.args[0],))
    if math.prod(shape) > 1 << 22:  # a policy that keeps the ratio of a short axis
        return resize(r)
    value = kwargs.get("value", 0)
    cut = cut and (value == 0 or kwargs.get("edge") not in ("constant", "extrapolate"))
    axes = [int(a) % len(how.shape) for a in kwargs["axes"]]
    other = formulas.independent(kwargs, maps, x.value, axes)

    def verify(y: Any) -> None:
        check_shape(y, x.value, shape)
        if value != 0:
            _check_filled(y, x.value, maps, kwargs)
            return
        check_maps(y, x.value, maps, cut)
        if other is not None and how.values == "normal" and not cut and how.dtype in SUMMED[library]:
            slack = 1e-9 + 1e-12 * sum(x.value.shape)
            check_values(y, summed(numbers(x.value), other, name_of(x.value)), name_of(x.value), slack)

    to = maybe_out(r, how, shape)
    source, alike = sized(r, "tenter.resize", x, kwargs, to), value == 0 and not _reorders(how)
    return sent(Call("", source, names, verify, again=again(r, how) if alike else ()), to)


def _reorders(how: Array) -> bool:
    """Do axes lie in another order in memory? Then the slower is summed first."""
    return (
        (how.order is not None and how.order != tuple(range(len(how.shape)))) or 0 in (how.steps or ()) or bool(how.odd)
    )


def _check_filled(y: Any, x: Any, maps: Maps, kwargs: dict[str, Any]) -> None:
    """What the rows of the maps lack is the weight of `value`; of points, and where edges extrapolate, all or nothing."""
    name, plain, value = name_of(x), numbers(x), kwargs["value"]
    inside = np.ones([1] * plain.ndim)
    for axis, d in maps:
        row = np.ones(len(d.weight)) if d.index is not None else d.weight.sum(1).astype(np.float64)
        inside = inside * row.reshape([-1 if k == axis else 1 for k in range(plain.ndim)])
    parts = (lambda a: np.stack([a, np.zeros_like(a)], -1)) if plain.dtype.kind == "c" else (lambda a: a)
    modes = kwargs["mode"] if isinstance(kwargs["mode"], list) else [kwargs["mode"]]
    if kwargs["edge"] == "extrapolate" or all(str(m).startswith("nearest") for m in modes):
        near, cut, _, _ = plan(x, {**kwargs, "edge": "replicate", "value": 0}, kwargs["edge"])
        want = summed_cut(plain, near, name) if cut else summed(plain, near, name)
        among = np.broadcast_to(inside > 0.5, y.shape)
        known = np.stack([among] * 2, -1) if plain.dtype.kind == "c" else among
        check_values(y, want._replace(size=np.where(known, want.size, np.inf)), name, 1e-14)
        if not (numbers(y)[~among] == np.asarray(value, plain.dtype)).all():
            raise Wrong("values", "what lies outside is not value")
        return
    want = summed(plain, maps, name)
    add = parts(np.where(np.abs(1 - inside) > 1e-12, 1 - inside, 0) * value)
    # Floats are rounded before and after it is added.
    slack = 1e-14 if is_whole(name) else 1e-14 + 4 * EPSILON[PARTS.get(name, name)]
    size = want.size + np.abs(add) + abs(value)
    check_values(y, Want(want.values + add, size, want.roundings + 4, want.peak), name, slack)


def between(r: Draw) -> Call:
    """Another axis of length 1 or 2 between the two that are resized changes nothing."""
    library = r.pick(("numpy", "torch"))
    dtype = r.pick(("uint8", "uint8", "uint8", r.pick(SUMMED[library])))
    h, w, extra = r.int(1, 30), r.int(1, 30), r.pick((1, 1, 2))
    how = drawn(r, (h, extra, w), dtype, library, r.pick(("extreme", "normal")))
    x = named("x", how)
    size = (r.int(1, 40), r.int(1, 40))
    mode = r.pick(("cubic", "lanczos", "linear", "area", "hamming", "catmull-rom"))
    kwargs = {"mode": mode, "like": r.pick(("pillow", "torch")), "antialias": r.pick((True, True, False))}
    kwargs |= {"edge": r.pick(EDGES[:4])} if r.chance(0.2) else {}
    kwargs = permitted(kwargs)
    source = "y = " + written("tenter.resize", [x, size], {"axes": (0, 2), **kwargs})
    maps, cut, shape, _ = plan(x.value, {"size": size, "axes": (0, 2), **kwargs})

    def verify(y: Any) -> None:
        check_shape(y, x.value, shape)
        check_maps(y, x.value, maps, cut)

    return Call("", source, {"x": x}, verify)


def gradient(r: Draw) -> Call:
    dtype = r.pick(gradients.FLOATS)
    x, how, kwargs, extra = resizing(r, "torch", dtype)
    if "scale" in kwargs:
        kwargs.pop("box", None)  # which may be too small for it
    try:
        maps, _, shape, _ = plan(x.value, kwargs)
    except Refusal:  # of a filter that gives no weights here, for instance; `resize` asks for the errors
        return gradient(r)
    names = {"x": x, **extra}
    return gradients.backward(r, written("tenter.resize", [x], kwargs), names, shape, maps, how.shape, dtype, 1e-14)


KINDS: dict[str, tuple[Any, float]] = {
    "resize": (resize, 5),
    "an axis between": (between, 1),
    "gradient of resize": (gradient, 1),
}
