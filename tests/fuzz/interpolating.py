"""interpolate: every mode, beside PyTorch's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from tenter._rules.rounding import by_axis
from tenter._specs import interpolate_arguments

from . import formulas, gradients
from .arrays import Array, drawn, numbers
from .call import Call, Named, named, written
from .draw import Draw
from .matrices import of_map
from .operations import again, maybe_out, sent, sized
from .oracle import Maps, check_shape, check_values, name_of, summed
from .summing import check_maps, dtype_for

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
    does = interpolate_arguments.checked(
        x, interpolate_arguments.Arguments(*(kwargs.get(k, USUAL.get(k)) for k in ALL))
    )
    maps = does.maps(tuple(x.shape), name_of(x), False)
    return [(a, of_map(m)) for a, m in maps], by_axis(does.rounding_of(name_of(x))), (*x.shape[:2], *does.size)


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
        kwargs.pop("recompute_scale_factor", None)
        refuses = error if isinstance(error, tuple) else (error,)
        if 0 in how.shape:
            refuses = (*refuses, ValueError)
        return Call("", "y = " + written("tenter.interpolate", [x], kwargs | bad), {"x": x}, lambda y: None, refuses)
    maps, cut, shape = planned(x.value, kwargs)

    def verify(y: Any) -> None:
        check_shape(y, x.value, shape)
        check_maps(y, x.value, maps, cut)
        if not cut and name_of(x.value) in ("float32", "float64") and how.values == "normal":
            _beside_torch(y, x.value, kwargs, maps)

    same, to = () if kwargs["mode"].startswith("nearest") else again(r, how), maybe_out(r, how, shape)
    return sent(Call("", sized(r, "tenter.interpolate", x, kwargs, to), {"x": x}, verify, again=same), to)


def _beside_torch(y: Any, x: Any, kwargs: dict[str, Any], maps: Maps) -> None:
    """PyTorch's result in float64, where it has the mode and its own quirks are none (docs/differences.md)."""
    mode, antialias = kwargs["mode"], kwargs.get("antialias", False)
    if mode == "lanczos" or mode.startswith("nearest") or (antialias and mode not in ("bilinear", "bicubic")):
        return
    if (antialias and 1 in (y.shape[-1], y.shape[-2])) or 0 in x.shape:
        return
    plain = torch.from_numpy(numbers(x).astype(np.float64))
    how = {k: (tuple(map(formulas.plain, v)) if isinstance(v, tuple) else formulas.plain(v)) for k, v in kwargs.items()}
    want = F.interpolate(plain, **how).numpy()
    if want.shape != tuple(y.shape):
        return
    bound = summed(numbers(x), maps, "float64")
    check_values(y, bound._replace(values=want.astype(np.longdouble)), name_of(x), 1e-9)


def gradient(r: Draw) -> Call:
    dtype = r.pick(gradients.FLOATS)
    x, how, kwargs = interpolation(r, "torch", dtype)
    maps, _, shape = planned(x.value, kwargs)
    expression = written("tenter.interpolate", [x], kwargs)
    return gradients.backward(r, expression, {"x": x}, shape, maps, how.shape, dtype)


KINDS: dict[str, tuple[Any, float]] = {"interpolate": (interpolate, 3), "gradient of interpolate": (gradient, 1)}
