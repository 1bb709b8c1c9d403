"""interpolate and resize: every mode, convention, edge, filter and box."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from tenter import build, check, check_resize, limits
from tenter.conventions import PRESETS

from .. import resize_oracle
from . import gradients
from .arrays import NUMERIC, NUMPY, TORCH, Array, drawn, numbers
from .call import Call, Named, named, written
from .draw import Draw
from .matrices import Dense, of_map, of_matrix
from .operations import again
from .oracle import (
    Maps, Want, check_bits, check_shape, check_values, exact_sums, is_whole, name_of, summed, taken,
)  # fmt: skip

BYTES = (0.0, 255.0)
SERVED = {"numpy": (*NUMERIC, "longdouble"), "torch": (*NUMERIC, "bfloat16", "complex32")}


def dtype_for(r: Draw, library: str, nearest: bool) -> str:
    if nearest and r.chance(0.5):
        return str(r.pick(NUMPY if library == "numpy" else TORCH))
    return str(r.pick(SERVED[library])) if r.chance(0.75) else "uint8"


def pillow_order(maps: Maps) -> Maps:
    """The order of two axes in which 8-bit images are resized, where overshoot is cut in between."""
    (_, row), (_, column) = sorted(maps, key=lambda m: m[0])
    lost, lost_columns = (d.weight.shape[1] - d.weight.shape[0] for d in (row, column))
    first, second = sorted(maps, key=lambda m: m[0])
    return (first, second) if 0 < lost > 2 * lost_columns else (second, first)


def check_maps(y: Any, x: Any, maps: Maps, cut: bool, slack: float = 0.0) -> None:
    """The result of maps on x. cut: between two axes, to the range of bytes."""
    name = name_of(x)
    if all(d.index is not None for _, d in maps):
        return check_bits(y, taken(x, maps))
    if is_whole(name) and all(d.ones for _, d in maps):
        return check_bits(y, exact_sums(numbers(x), maps, name))
    if cut and len(maps) == 2:
        return check_values(y, summed(numbers(x), pillow_order(maps), name, BYTES), name, slack)
    return check_values(y, summed(numbers(x), maps, name), name, slack)


# ---- interpolate

MODES = {
    1: ("nearest", "nearest-exact", "linear", "area", "lanczos"),
    2: ("nearest", "nearest-exact", "bilinear", "bicubic", "area", "lanczos"),
    3: ("nearest", "nearest-exact", "trilinear", "area", "lanczos"),
}


def interpolation(r: Draw, library: str, dtype: str | None = None) -> tuple[Named, Array, dict[str, Any]]:
    n = r.pick((1, 2, 3), (2, 4, 1))
    mode = r.pick(MODES[n])
    dtype = dtype or dtype_for(r, library, mode.startswith("nearest"))
    spatial = [s or 1 for s in r.shape(n, r.pick((2000, 100)), 1)]
    shape = (r.pick((1, 2, 3, 0), (5, 3, 1, 0.2)), r.pick((1, 2, 3, 4, 5, 17), (3, 2, 4, 2, 1, 1)), *spatial)
    how = drawn(r, shape, dtype, library)
    kwargs: dict[str, Any] = {"mode": mode}
    if r.chance(0.7):
        size = [r.length(1) for _ in range(n)]
        while np.prod(size, dtype=float) * shape[0] * shape[1] > 20000:
            size[int(np.argmax(size))] //= 2
        kwargs["size"] = r.whole(size[0]) if r.chance(0.2) and len(set(size)) == 1 else tuple(r.whole(s) for s in size)
    else:
        factors = [max(r.pick((0.5, 2.0, 1.7, 0.3, 1.0, 3, 1.25)), 1 / m) for m in spatial]
        kwargs["scale_factor"] = factors[0] if n == 1 else tuple(factors)
        if r.chance(0.3):
            kwargs["recompute_scale_factor"] = r.chance(0.5)
    if mode in ("linear", "bilinear", "trilinear", "bicubic") and r.chance(0.4):
        kwargs["align_corners"] = r.chance(0.6)
    if mode == "lanczos" or (mode in ("linear", "bilinear", "trilinear", "bicubic") and r.chance(0.35)):
        kwargs["antialias"] = True
    return named("x", how), how, kwargs


ALL = ("size", "scale_factor", "mode", "align_corners", "recompute_scale_factor", "antialias")
USUAL = {"mode": "nearest", "antialias": False}


def planned(x: Any, kwargs: dict[str, Any]) -> tuple[Maps, bool, tuple[int, ...]]:
    """The maps that tenter plans for interpolate, the matrices of which are made here."""
    does = check.resampling(x, *(kwargs.get(k, USUAL.get(k)) for k in ALL))
    maps = build.maps(does, tuple(x.shape), name_of(x))
    return [(a, of_map(m)) for a, m in maps], build.saturates(does, name_of(x)), (*x.shape[:2], *does.size)


def interpolate(r: Draw) -> Call:
    library = r.pick(("numpy", "torch"))
    x, how, kwargs = interpolation(r, library)
    if r.chance(0.05):
        bad, error = r.pick((
            ({"size": None, "scale_factor": None}, ValueError), ({"mode": "cubic"}, ValueError), ({"mode": 3}, TypeError),
            ({"size": -1, "scale_factor": None}, ValueError), ({"size": 2.5, "scale_factor": None}, TypeError),
            ({"size": 2**62, "scale_factor": None}, MemoryError), ({"size": (2, 2, 2, 2), "scale_factor": None}, ValueError),
            ({"scale_factor": float("nan"), "size": None}, ValueError), ({"antialias": "yes"}, (TypeError, ValueError)),
        ))  # fmt: skip
        refuses = error if isinstance(error, tuple) else (error,)
        if 0 in how.shape:
            refuses = (*refuses, ValueError)
        return Call("", "y = " + written("tenter.interpolate", [x], kwargs | bad), {"x": x}, lambda y: None, refuses)
    maps, cut, shape = planned(x.value, kwargs)

    def verify(y: Any) -> None:
        check_shape(y, x.value, shape)
        check_maps(y, x.value, maps, cut)
        if not cut and name_of(x.value) in ("float32", "float64") and how.values != "special":
            _beside_torch(y, x.value, kwargs, maps)

    same = () if kwargs["mode"].startswith("nearest") else again(r, how)
    return Call("", "y = " + written("tenter.interpolate", [x], kwargs), {"x": x}, verify, again=same)


def _beside_torch(y: Any, x: Any, kwargs: dict[str, Any], maps: Maps) -> None:
    """PyTorch's result in float64, where it has the mode and its own quirks are none (docs/differences.md)."""
    mode, antialias = kwargs["mode"], kwargs.get("antialias", False)
    if mode == "lanczos" or mode.startswith("nearest") or (antialias and mode not in ("bilinear", "bicubic")):
        return
    if antialias and 1 in (y.shape[-1], y.shape[-2]) or 0 in x.shape:
        return
    plain = torch.from_numpy(numbers(x).astype(np.float64))
    how = {k: (tuple(map(_plain, v)) if isinstance(v, tuple) else _plain(v)) for k, v in kwargs.items()}
    want = F.interpolate(plain, **how).numpy()
    if want.shape != tuple(y.shape):
        return
    bound = summed(numbers(x), maps, "float64")
    check_values(y, Want(want.astype(np.longdouble), bound.size, bound.roundings), name_of(x), 1e-9)


def _plain(v: Any) -> Any:
    return v.item() if isinstance(v, np.generic) else v


# ---- resize

EVERY = ("nearest", "nearest-exact", "linear", "cubic", "catmull-rom", "mitchell", "bspline", "lanczos", "lanczos2",
         "lanczos3", "lanczos4", "lanczos5", "area", "box", "hamming")  # fmt: skip
FILTERS = ("Filter(lambda d: np.maximum(0, 1 - np.abs(d)), 1.0)", "Filter(lambda d: np.exp(-d * d), 2.5)",
           "Filter(np.cos, 1.5, True)", "Filter(lambda d: np.ones_like(d), 0.5)")  # fmt: skip
EDGES = ("replicate", "reflect", "symmetric", "wrap", "constant", "renormalise", "extrapolate")
ALIGNS = ("centre", "corners", "asymmetric", "corner_areas", "half_pixel_symmetric", "pytorch_half_pixel",
          "tf_half_pixel_for_nn", "tf_crop_and_resize")  # fmt: skip
TIES = ("floor", "ceil", "prefer_floor", "prefer_ceil")


def resizing(r: Draw, library: str, dtype: str | None = None) -> tuple[Named, Array, dict[str, Any], dict[str, Named]]:
    ndim = r.int(1, 5)
    axes = r.some(range(ndim), r.int(1, min(ndim, r.pick((1, 2, 3)))))
    bytes_ = r.chance(0.12) and ndim > 1  # images of bytes, by filters that overshoot
    if bytes_:
        axes = r.some(range(ndim), 2)
    n = len(axes)
    like = r.pick((*PRESETS, "torch", "pillow"))
    modes = [r.pick(PRESETS[like].modes or EVERY) for _ in range(n if r.chance(0.2) else 1)]
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
        kwargs["size"] = r.whole(size[0]) if n == 1 and r.chance(0.5) else r.pick((tuple, list))(r.whole(s) for s in size)
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
        extra["fir"] = kwargs["mode"] = Named("fir", eval(recipe, {"np": np, "Filter": _filter()}), recipe)
    if like != "torch" or r.chance(0.5):
        kwargs["like"] = like
    if r.chance(0.4) or (bytes_ and like == "torch"):
        kwargs["antialias"] = True if bytes_ else r.chance(0.6)
    for key, values, p in (("edge", EDGES, 0.35), ("align", ALIGNS, 0.2), ("tie", TIES, 0.15), ("cubic", (-0.5, -1.0, 0.3), 0.1)):
        if r.chance(p) and not bytes_:
            kwargs[key] = r.pick(values)
    if r.chance(0.2) and not bytes_:  # every rule in words
        kwargs |= {"edge": r.pick(EDGES), "align": r.pick(ALIGNS[:3]), "tie": r.pick(TIES), "cubic": r.pick((-0.5, -0.75))}
        kwargs["antialias"] = r.chance(0.5)
    if r.chance(0.15):
        kwargs["box"] = [_box(r, shape[a]) if r.chance(0.8) else None for a in axes]
    if kwargs.get("edge") in ("constant", "extrapolate") and r.chance(0.5):
        whole = is_whole(dtype)
        if whole or dtype in ("float16", "float32", "float64", "complex64", "complex128", "longdouble"):
            kwargs["value"] = r.pick((1, 7, 100)) if whole else r.pick((1.5, -3, 0.25))
    return named("x", how), how, kwargs, extra


def _filter() -> Any:
    from tenter.filters import Filter

    return Filter


def _scale(r: Draw, n: int) -> Any:
    down, up = r.int(1, 7), r.int(1, 9)
    found = max(Fraction(up, down), Fraction(1, n))
    found = min(found, Fraction(max(1, 300 // n)))
    if found * n < 1:
        found = Fraction(1)
    if r.chance(0.3):
        return found
    if r.chance(0.3):
        return (found.numerator, found.denominator)
    return max(float(found), 1.0001 / n)


def _box(r: Draw, n: int) -> tuple[Any, Any]:
    begin = r.pick((0, r.int(0, n - 1), round(r.rng.uniform(-2, n), 2), Fraction(r.int(0, 4 * n), 4)))
    end = begin + r.pick((r.int(1, n + 2), round(r.rng.uniform(0.5, n), 2), Fraction(r.int(1, 4 * n), 4)))
    return (end, begin) if r.chance(0.3) else (begin, end)


def plan(x: Any, kwargs: dict[str, Any]) -> tuple[Maps, bool, tuple[int, ...], Any]:
    """The maps that tenter plans for resize, the matrices of which are made here, turned round where it turns x."""
    given = {k: (v.value if isinstance(v, Named) else v) for k, v in kwargs.items()}
    does, turned = check_resize.resizing(x, **given)
    maps = []
    for axis, m in build.maps(does, tuple(x.shape), name_of(x)):
        d = of_map(m)
        if axis in turned:
            index = None if d.index is None else d.weight.shape[1] - 1 - d.index
            d = Dense(*(m[:, ::-1] for m in d[:5]), index, d.ones)
        maps.append((axis, d))
    shape = list(x.shape)
    for axis, n in zip(does.axes, does.size):
        shape[axis] = n
    return maps, build.saturates(does, name_of(x)), tuple(shape), does


def independent(kwargs: dict[str, Any], maps: Maps, x: Any, axes: list[int]) -> Maps | None:
    """Matrices by fractions and formulas (tests/resize_oracle.py), where every rule is given in words."""
    mode, edge = kwargs["mode"], kwargs.get("edge")
    alias = {"lanczos3": "lanczos", "nearest-exact": None}.get(mode, mode) if isinstance(mode, str) else None
    if alias is None or edge is None or "scale" in kwargs or "policy" in kwargs or kwargs.get("align") not in (
        "centre", "corners", "asymmetric"
    ):
        return None
    antialias = kwargs.get("antialias")
    if antialias is None or alias not in (*resize_oracle.FILTERS, "area", "nearest"):
        return None
    if (alias == "nearest" and "tie" not in kwargs) or (alias == "cubic" and "cubic" not in kwargs) or alias == "box":
        return None
    if (antialias and (kwargs["align"] == "corners" or kwargs.get("like") == "skimage")) or (alias == "area" and kwargs["align"] == "corners"):
        return None
    if alias == "cubic":
        resize_oracle.FILTERS["cubic"] = (resize_oracle.keys(kwargs["cubic"]), 2)
    found, boxes = [], kwargs.get("box") or [None] * len(axes)
    sizes = dict((a, len(d.weight)) for a, d in maps)
    for axis, box in zip(axes, boxes):
        n = x.shape[axis]
        if sizes[axis] > 60 or n > 60:
            return None
        pair = None if box is None else (Fraction(_plain(box[0])), Fraction(_plain(box[1])))
        found.append((axis, of_matrix(resize_oracle.matrix(
            n, sizes[axis], alias, edge, bool(antialias), kwargs["align"], None, pair, kwargs.get("tie", "prefer_ceil")
        ))))  # fmt: skip
    return sorted(found, key=lambda m: m[0])


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
            ({"antialias": 1}, TypeError), ({"cubic": float("nan")}, ValueError), ({"tie": "up"}, ValueError),
        ))  # fmt: skip
        kwargs |= bad
        source = "y = " + written("tenter.resize", [x], kwargs)
        return Call("", source, {"x": x, **extra}, lambda y: None, (error, ValueError))
    source = "y = " + written("tenter.resize", [x], kwargs)
    try:
        maps, cut, shape, _ = plan(x.value, kwargs)
    except limits.Refusal as refusal:  # a scale of a small box
        return Call("", source, names, lambda y: None, (refusal.args[0],))
    value = kwargs.get("value", 0)
    cut = cut and (value == 0 or kwargs.get("edge") not in ("constant", "extrapolate"))
    axes = [int(a) % len(how.shape) for a in kwargs["axes"]]
    other = independent(kwargs, maps, x.value, axes)

    def verify(y: Any) -> None:
        check_shape(y, x.value, shape)
        if value != 0:
            _check_filled(y, x.value, maps, value)
            return
        check_maps(y, x.value, maps, cut)
        if other is not None and how.values == "normal" and not cut:
            slack = 1e-9 + 1e-12 * sum(x.value.shape)
            check_values(y, summed(numbers(x.value), other, name_of(x.value)), name_of(x.value), slack)

    if value == 0 and not _reorders(how):
        return Call("", source, names, verify, again=again(r, how))
    return Call("", source, names, verify)


def _reorders(how: Array) -> bool:
    """Do axes lie in another order in memory? Then the slower is summed first."""
    return (how.order is not None and how.order != tuple(range(len(how.shape)))) or 0 in (how.steps or ()) or bool(how.odd)


def _check_filled(y: Any, x: Any, maps: Maps, value: Any) -> None:
    """What the rows of the maps lack is the weight of `value`."""
    name = name_of(x)
    plain = numbers(x)
    if is_whole(name) and all(d.index is not None for _, d in maps):
        return check_bits(y, taken(x, maps))
    inside = np.ones([1] * plain.ndim)
    for axis, d in maps:
        inside = inside * d.weight.sum(1).reshape([-1 if k == axis else 1 for k in range(plain.ndim)])
    want = summed(plain, maps, name)
    outside = np.where(np.abs(1 - inside) > 1e-12, 1 - inside, 0)
    parts = plain.dtype.kind == "c"
    add = outside * value
    if parts:
        add = np.stack([add, np.zeros_like(add)], -1)
    return check_values(y, want._replace(
        values=want.values + add, size=want.size + np.abs(add) + abs(value), roundings=want.roundings + 4
    ), name, 1e-14)  # fmt: skip


def between(r: Draw) -> Call:
    """Another axis of length 1 or 2 between the two that are resized changes nothing."""
    library = r.pick(("numpy", "torch"))
    dtype = r.pick(("uint8", "uint8", "uint8", r.pick(SERVED[library])))
    h, w, extra = r.int(1, 30), r.int(1, 30), r.pick((1, 1, 2))
    how = drawn(r, (h, extra, w), dtype, library, r.pick(("extreme", "normal")))
    x = named("x", how)
    size = (r.int(1, 40), r.int(1, 40))
    mode = r.pick(("cubic", "lanczos", "linear", "area", "hamming", "catmull-rom"))
    kwargs = {"mode": mode, "like": r.pick(("pillow", "torch")), "antialias": r.pick((True, True, False))}
    kwargs |= {"edge": r.pick(EDGES[:4])} if r.chance(0.2) else {}
    source = "y = " + written("tenter.resize", [x, size], {"axes": (0, 2), **kwargs})
    maps, cut, shape, _ = plan(x.value, {"size": size, "axes": (0, 2), **kwargs})

    def verify(y: Any) -> None:
        check_shape(y, x.value, shape)
        check_maps(y, x.value, maps, cut)

    return Call("", source, {"x": x}, verify)


def gradient(r: Draw) -> Call:
    dtype = r.pick(gradients.FLOATS)
    if r.chance(0.5):
        x, how, kwargs = interpolation(r, "torch", dtype)
        maps, _, shape = planned(x.value, kwargs)
        return gradients.backward(
            r, written("tenter.interpolate", [x], kwargs), {"x": x}, shape, maps, how.shape, dtype
        )
    x, how, kwargs, extra = resizing(r, "torch", dtype)
    if "scale" in kwargs:
        kwargs.pop("box", None)  # which may be too small for it
    maps, _, shape, _ = plan(x.value, kwargs)
    names = {"x": x, **extra}
    return gradients.backward(r, written("tenter.resize", [x], kwargs), names, shape, maps, how.shape, dtype, 1e-14)


KINDS: dict[str, tuple[Any, float]] = {
    "interpolate": (interpolate, 3),
    "resize": (resize, 5),
    "an axis between": (between, 1),
    "gradient of resizing": (gradient, 2),
}
