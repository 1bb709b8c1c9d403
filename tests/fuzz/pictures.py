"""tenter.image.resize: colours weighted by alpha, light instead of sRGB's steps."""

from __future__ import annotations

import io
import math
from fractions import Fraction
from typing import Any

import numpy as np
from PIL import Image

from tenter.image import Fill, Fit, resize

from .arrays import drawn, numbers
from .call import Call, Named, any_result, named, written
from .draw import Draw
from .oracle import Maps, Wrong, check_shape, summed, summed_bytes
from .resizing import plan
from .summing import check_maps, in_integers, pillow_order

MODES = ("linear", "cubic", "lanczos", "area", "nearest", "nearest-exact", "hamming")


def light_of(v: np.ndarray) -> np.ndarray:
    a = np.abs(v)
    return np.copysign(np.where(a <= 0.04045, a / 12.92, ((a + 0.055) / 1.055) ** 2.4), v)


def srgb_of(v: np.ndarray) -> np.ndarray:
    a = np.abs(v)
    return np.copysign(np.where(a <= 0.0031308, 12.92 * a, 1.055 * a ** (1 / 2.4) - 0.055), v)


def picture(r: Draw) -> Call:
    library = r.pick(("numpy", "torch"))
    dtype = r.pick(("uint8", "uint16", "float32", "float64", "float16"))
    channels = r.pick((None, 1, 2, 3, 4, 5))
    shape = (r.int(1, 40), r.int(1, 40)) + (() if channels is None else (channels,))
    how = drawn(r, shape, dtype, library, "unit" if dtype[0] == "f" else None)
    x = named("x", how)
    kwargs: dict[str, Any] = {"size": (r.int(1, 50), r.int(1, 50)), "mode": r.pick(MODES)}
    premultiply = True
    for key, p in (("linear_light", 0.4), ("alpha", 0.3), ("premultiply", 0.3)):
        if r.chance(p):
            chosen = r.chance(0.6) and (key != "alpha" or (channels or 1) > 1)
            if key == "premultiply":
                premultiply = chosen
            else:
                kwargs[key] = chosen
    near = kwargs["mode"].startswith("nearest")
    if (channels or 1) > 4 or (channels == 4 and not near):  # which must be said
        kwargs.setdefault("alpha", channels == 4 and r.chance(0.7))
    if r.chance(0.3):
        kwargs["like"] = r.pick(("torch", "opencv", "pillow"))
        if kwargs["mode"].startswith("lanczos"):  # which never aliases unless told
            kwargs["antialias"] = r.chance(0.5)
    if r.chance(0.3):
        kwargs["box"] = ((0, r.pick((shape[0], shape[0] + 1))), None)
    alpha = kwargs.get("alpha", False)
    if alpha and not premultiply:
        kwargs["alpha"] = "premultiplied"
    if r.chance(0.05):  # in which order are they?
        box = tuple(r.int(0, 20) for _ in range(4))
        flat = r.pick((box, list(box), np.array(box)))
        return Call(
            "",
            "y = " + written("tenter.image.resize", [x], kwargs | {"box": flat}),
            {"x": x},
            any_result,
            (ValueError,),
        )
    plain = {k: v for k, v in kwargs.items() if k not in ("linear_light", "alpha")}
    if r.chance(0.1):
        kwargs["draft"] = r.chance(0.5)  # which does nothing to arrays
    names = {"x": x}
    within, pad = kwargs["size"], None
    if r.chance(0.3):
        names["size"] = kwargs["size"] = _kept_ratio(r, shape, plain)
        if isinstance(size := names["size"].value, Fit) and r.chance(0.4):
            pad = 0 if alpha else r.pick((0, 1)) if dtype[0] == "f" else r.pick((0, 7))
            within = size.size if isinstance(size.size, tuple) else (size.size, size.size)
            recipe = f"tenter.image.Fit({size.size}, {size.enlarge}, {pad})"
            names["size"] = kwargs["size"] = Named("size", Fit(size.size, size.enlarge, pad), recipe)
    maps, cut, shape_out, _ = plan(x.value, plain | {"axes": (0, 1)})
    # Premultiplied and linear colors are floats, whose weights OpenCV does not round as those of bytes.
    of_floats, *_ = plan(np.empty(shape, dtype if dtype[0] == "f" else "float32"), plain | {"axes": (0, 1)})
    light = kwargs.get("linear_light", False) and not near
    weigh = alpha and premultiply and not near

    def verify(y: Any) -> None:
        if pad is not None:
            y = _without_padding(y, x.value, within, shape_out, pad)
        check_shape(y, x.value, shape_out)
        v = numbers(x.value).astype(np.float64)
        full = float(np.iinfo(dtype).max) if dtype[0] == "u" else 1.0
        if not light and (not weigh or (v[..., -1] == full).all()):
            check_maps(y, x.value, maps, cut)
            return
        whole = cut and all(d.index is not None or in_integers(d.weight) for _, d in maps)
        if whole and not light and v.shape[-1] in (2, 4):  # as Pillow has it
            _check_weighed_bytes(numbers(y), v, maps)
            return
        stack = v if v.ndim == 3 else v[..., None]
        got = numbers(y).astype(np.float64).reshape(*shape_out[:2], -1)
        colours = stack[..., :-1] if alpha else stack
        colours = light_of(colours / full) if light else colours
        a = stack[..., -1:] if alpha else None
        used = bool(weigh) and not bool((v[..., -1] == full).all())
        mixed = summed(colours * a if used else colours, of_floats, "float64")
        top = summed(a, of_floats, "float64") if a is not None else None
        if top is not None:
            _near(
                got[..., -1:], np.asarray(top.values, float), np.asarray(top.size, float) * 1e-5, dtype, full, "alpha"
            )
        want, size = np.asarray(mixed.values, float), np.asarray(mixed.size, float)
        room = (2.0**-11 if dtype == "float16" else 1e-5) * size + 1e-30
        known = np.ones(want.shape, bool)
        if used and top is not None:
            under = np.asarray(top.values, float)
            # Where little alpha is left the quotient is mostly noise.
            known &= (under > (2 if dtype[0] == "u" else 0.05)) & (under > np.asarray(top.size, float) * 1e-2)
            under = np.where(known, under, 1.0)
            want, room = want / under, room / under + np.abs(want / under) * 1e-4
        if light:
            lo, hi = srgb_of(want - room) * full, srgb_of(want + room) * full
            want, room = srgb_of(want) * full, np.maximum(np.abs(hi - lo), 1e-4 * full)
        shown = got[..., :-1] if alpha else got
        _near(np.where(known, shown, 0), np.where(known, want, 0), room, dtype, full, "colour")

    return Call("", "y = " + written("tenter.image.resize", [x], kwargs), names, verify)


def _without_padding(y: Any, x: Any, size: tuple[int, int], shape: tuple[int, ...], pad: float) -> Any:
    """The image in a padded result of a size, where all else has the value of padding."""
    check_shape(y, x, (*size, *shape[2:]))
    top, left = (round((n - m) / 2) for n, m in zip(size, shape))
    beside = np.ones(size, bool)
    beside[top : top + shape[0], left : left + shape[1]] = False
    if (numbers(y)[beside] != pad).any():
        raise Wrong("values", f"padding is not {pad}")
    return y[top : top + shape[0], left : left + shape[1]]


def drafted(r: Draw) -> Call:
    """A JPEG that is not decoded yet, of which Pillow decodes a smaller one where the filter still shrinks by 2 then."""
    each = r.pick((1, 8))
    shape, size = (each * r.int(2, 40), each * r.int(2, 40)), (r.int(1, 12), r.int(1, 12))
    mode, draft, gray = r.pick(MODES), r.chance(0.8), r.chance(0.3)
    buffer = io.BytesIO()
    pixels = r.rng.integers(0, 256, shape if gray else (*shape, 3), np.uint8)
    Image.fromarray(pixels).save(buffer, "JPEG", quality=r.int(20, 95))
    jpeg = Named("jpeg", buffer.getvalue(), repr(buffer.getvalue()))
    how: dict[str, Any] = {"mode": mode, "draft": draft}
    if r.chance(0.3):
        how["antialias"] = r.chance(0.5) and mode in ("linear", "cubic", "lanczos", "hamming")
    wide = how.get("antialias", True) and mode in ("linear", "cubic", "lanczos", "hamming")
    left = min(n / m for n, m in zip(shape, size))
    by = next((by for by in (8, 4, 2) if draft and wide and left >= 2 * by), 1)

    def check(y: Any) -> None:
        image = Image.open(io.BytesIO(jpeg.value))
        if by > 1:
            image.draft(image.mode, (image.width // by, image.height // by))
        same = {k: v for k, v in how.items() if k != "draft"}
        if shape[0] % by or shape[1] % by:  # the last pixel stands for fewer
            same["box"] = tuple((0, Fraction(n, by)) for n in shape)
        want = resize(np.asarray(image), size, **same)
        check_shape(y, pixels, want.shape)
        if not np.array_equal(y, want):
            raise Wrong("values", f"not those of the JPEG at 1/{by}")

    call = written("tenter.image.resize", [Named("opened", None, "")], {"size": size, **how})
    source = f"import io\nfrom PIL import Image\nopened = Image.open(io.BytesIO(jpeg))\ny = np.array({call})"
    return Call("", source, {"jpeg": jpeg}, check)


def _kept_ratio(r: Draw, shape: tuple[int, ...], plain: dict[str, Any]) -> Named:
    """A size that keeps the ratio of the sides, which is written into `plain` as a size and a box."""
    rows = (plain.get("box") or ((0, shape[0]),))[0]
    lengths = (Fraction(rows[1] - rows[0]), Fraction(shape[1]))
    sides = plain["size"]
    way = r.pick(("fit", "fill", "long_edge", "width", "height"))
    sides = (sides[0], sides[0]) if way == "long_edge" else sides
    factors = [Fraction(side) / length for side, length in zip(sides, lengths)]
    if way == "fill":
        window = [side / max(factors) for side in sides]
        west = (lengths[1] - window[1]) / 2
        plain["box"] = ((rows[0], rows[0] + window[0]), (west, west + window[1]))
        return Named("size", Fill(sides, "north"), f"tenter.image.Fill({sides}, 'north')")
    enlarge = way in ("fit", "long_edge") and r.chance(0.5)
    factor = {"width": factors[1], "height": factors[0]}.get(way, min(factors))
    factor = min(factor, Fraction(1)) if way in ("fit", "long_edge") and not enlarge else factor
    plain["size"] = tuple(max(1, math.floor(length * factor + Fraction(1, 2))) for length in lengths)
    if way in ("width", "height"):
        given = (None, sides[1]) if way == "width" else (sides[0], None)
        return Named("size", given, repr(given))
    within = sides[0] if way == "long_edge" else sides
    return Named("size", Fit(within, enlarge), f"tenter.image.Fit({within}, {enlarge})")


def _check_weighed_bytes(got: np.ndarray, v: np.ndarray, maps: Maps) -> None:
    """Colors times alpha, sums and quotients are each rounded to bytes, as in Pillow, sums and quotients to either side."""
    product = v[..., :-1] * v[..., -1:] + 128
    product = (np.floor(product / 256) + product) // 256
    ordered = pillow_order(maps)
    top, mixed = summed_bytes(v[..., -1:], ordered), summed_bytes(product, ordered)
    alpha = np.clip(np.asarray(top.values, float), 0, 255)
    _near(got[..., -1:], alpha, np.asarray(top.unsure, float), "uint8", 255.0, "alpha")
    under = np.maximum(np.clip(np.round(got[..., -1:].astype(float)), 0, 255), 1)
    room = 255 / under * (0.51 + np.asarray(mixed.unsure, float)) + 1
    # Where there is no alpha, sums of products are left, which Pillow cuts between the axes: tests compare these with it.
    room = np.where(got[..., -1:] == 0, 255.0, room)
    _near(got[..., :-1], 255 * np.clip(np.asarray(mixed.values, float), 0, 255) / under, room, "uint8", 255.0, "colour")


def _near(got: np.ndarray, want: np.ndarray, room: np.ndarray, dtype: str, full: float, what: str) -> None:
    if dtype[0] == "u":
        want, room = np.clip(want, 0, full), room + 0.501
    else:
        room = (
            room + np.abs(want) * (2.0**-9 if dtype == "float16" else 1e-5) + (2.0**-12 if dtype == "float16" else 1e-6)
        )
    bad = ~(np.abs(got - want) <= room)
    if bad.any():
        at = tuple(np.argwhere(bad)[0])
        raise Wrong("values", f"{what} at {at}: got {got[at]}, expected {want[at]} within {room[at]}")


KINDS: dict[str, tuple[Any, float]] = {"image.resize": (picture, 0.7), "drafts": (drafted, 0.1)}
