"""Splines by an oracle of their own (tests/helpers/spline_oracle.py); tenter.scipy and tenter.skimage beside these libraries."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from ..helpers import resize_oracle, spline_oracle
from .arrays import drawn, numbers
from .call import Call, named, written
from .draw import Draw
from .matrices import of_matrix
from .operations import again, maybe_out, sent, sized
from .oracle import Maps, Wrong, accumulator, check_shape, check_values, name_of, summed
from .summing import SUMMED

EDGES = ("reflect", "symmetric", "wrap", "replicate", "constant", "extrapolate")
ALIGNS = ("half_pixel", "align_corners", "asymmetric")
# What rows leave out, and what two steps round more than one, relative to the largest number.
SLACK = {"float32": 1e-6, "float64": 1e-12, "longdouble": 1e-12}


def matrix(n: int, m: int, order: int, edge: str, align: str, box: Any) -> np.ndarray:
    reverse = box is not None and box[1] < box[0]
    pair = None if box is None else (n - box[0], n - box[1]) if reverse else box
    where, _ = resize_oracle.positions(n, m, align, None, pair)
    found = spline_oracle.matrix(n, where, order, edge)
    return found[:, ::-1] if reverse else found


def splined(r: Draw) -> Call:
    library = r.pick(("numpy", "torch"))
    ndim = r.int(1, 4)
    axes = sorted(r.some(range(ndim), r.int(1, min(3, ndim))))
    shape = tuple(r.int(1, 40 if k in axes and len(axes) < 3 else 9) for k in range(ndim))
    how = drawn(r, shape, str(r.pick(SUMMED[library])), library, "normal")
    x, order, edge, align = named("x", how), r.int(2, 5), r.pick(EDGES), r.pick(ALIGNS)
    size = tuple(r.int(1, 60 if len(axes) < 3 else 14) for _ in axes)
    boxes: list[Any] = [None] * len(axes)
    if r.chance(0.3):
        boxes = [(Fraction(r.int(-8, 3 * shape[k]), 4), Fraction(r.int(-8, 3 * shape[k]), 4)) for k in axes]
        boxes = [b if b[0] != b[1] else None for b in boxes]
    kwargs: dict[str, Any] = {"size": size, "axes": tuple(axes), "mode": f"spline{order}", "antialias": False}
    kwargs |= {"edge": edge, "align": align} | ({"box": boxes} if any(boxes) else {})
    maps: Maps = [(k, of_matrix(matrix(shape[k], m, order, edge, align, b))) for k, m, b in zip(axes, size, boxes)]
    after = tuple(dict(zip(axes, size)).get(k, n) for k, n in enumerate(shape))

    def check(y: Any) -> None:
        name = name_of(x.value)
        check_shape(y, x.value, after)
        want = summed(numbers(x.value), maps, name)
        check_values(y, want._replace(unsure=want.unsure + SLACK[accumulator(name)] * want.peak), name)

    to = maybe_out(r, how, after)
    source = sized(r, "tenter.resize", x, kwargs, to)
    plain = (
        how.order is None and not how.steps and not how.odd
    )  # in other orders of memory axes may be summed in others
    return sent(Call("", source, {"x": x}, check, again=again(r, how) if plain else ()), to)


# SciPy's start value for reflect has a wrong last term, of about pole ** (2 n - 1).
SHORTEST_REFLECTED = 24


def dialect(r: Draw) -> Call:
    """A call of scikit-image or SciPy, which also says what comes of it."""
    from scipy import ndimage
    from skimage import transform

    library, ndim = r.pick(("numpy", "numpy", "torch")), r.int(1, 3)
    in_skimage = r.chance(0.6)
    mode = r.pick(("constant", "edge", "symmetric", "reflect", "wrap") if in_skimage
                  else ("mirror", "reflect", "nearest", "grid-constant", "grid-wrap"))  # fmt: skip
    reflects = mode == "symmetric" if in_skimage else mode == "reflect"
    least = SHORTEST_REFLECTED if reflects or mode in ("edge", "nearest") else 1
    shape = tuple(r.int(least, least + (60, 20, 6)[ndim - 1]) for _ in range(ndim))
    dtype = r.pick(("uint8", "int16", "float32", "float64") if library == "torch" or not in_skimage
                   else ("uint8", "int16", "float16", "float32", "float64", "uint32"))  # fmt: skip
    x = named("x", drawn(r, shape, dtype, library, "normal"))
    if in_skimage:
        function, order = "resize", r.pick((None, 1, 2, 3, 4, 5))
        args: list[Any] = [tuple(r.int(1, (80, 30, 12)[ndim - 1]) for _ in shape)]
        kwargs: dict[str, Any] = {"order": order, "mode": mode, "clip": r.chance(0.5), "preserve_range": r.chance(0.5)}
        kwargs["anti_aliasing"] = r.pick((None, True, False))
        if r.chance(0.3):
            kwargs["anti_aliasing_sigma"] = r.pick((0.0, 0.4, 1.3, tuple(r.int(0, 9) / 4 for _ in shape)))
        theirs: Any = transform.resize
    else:
        function, theirs = "zoom", ndimage.zoom
        args = [tuple(r.int(1, 25) / 10 for _ in shape)]
        kwargs = {"order": r.pick((1, 2, 3, 4, 5)), "mode": mode, "prefilter": r.chance(0.7)}
        kwargs["grid_mode"] = r.chance(0.5) and (kwargs["prefilter"] or mode != "nearest")
    if mode in ("constant", "grid-constant"):
        whole_alone = library == "torch" and not in_skimage and dtype in ("uint8", "int16")
        kwargs["cval"] = r.pick((0.0, 3.0) if whole_alone else (0.0, 3.0, -0.25))

    def check(y: Any) -> None:
        held = np.array(x.value.detach() if isinstance(x.value, torch.Tensor) else x.value)
        held = held.astype(held.dtype.newbyteorder("="))  # scikit-image does not know other float16 by sight
        if not np.isfinite(held).all():
            return
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            want = theirs(held, *args, **kwargs)
        got = np.asarray(y)
        if got.dtype != want.dtype or got.shape != want.shape:
            raise Wrong("dtype or shape", f"{got.dtype}{got.shape}, not {want.dtype}{want.shape}")
        whole = want.dtype.kind in "iu"
        reach = max(float(np.abs(held.astype(np.float64)).max()), abs(kwargs.get("cval", 0)))
        apart = np.abs(got.astype(np.float64) - want)
        if whole:  # SciPy rounds halves away from zero
            info = np.iinfo(want.dtype)
            apart = np.where((want == info.min) | (want == info.max), 0, apart)
        single = want.dtype == np.float32 or held.dtype in (np.float32, np.float16)
        if apart.max(initial=0) > (1 if whole else reach * (4e-6 if single else 4e-12)):
            raise Wrong("values", f"{apart.max()} apart, where numbers are up to {reach}")

    package = "skimage" if in_skimage else "scipy"
    return Call("", "y = " + written(f"tenter.{package}.{function}", [x, *args], kwargs), {"x": x}, check, fresh=False)


KINDS: dict[str, tuple[Any, float]] = {"splines": (splined, 1.5), "scipy and skimage": (dialect, 0.6)}
