"""Images in one array, one image or a batch: arguments are checked, and each is resized as its colors need."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tenter import resampling
from tenter._arrays.arguments import array, flag, output
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import dtype_name, of
from tenter._arrays.standard_arrays import is_standard
from tenter._arrays.types import Array
from tenter._execution import calls, executor, masked, premultiplied
from tenter._execution.numpy_executor import can_write
from tenter._rules.axis_rule import NEAREST
from tenter._specs import lengths, picture_arguments, picture_sizes, resize_arguments
from tenter._specs.placement import Placement, Wanted, placed
from tenter.image import _forms, _mixed, _padded


def resized(resize: Callable[..., Any], x: Any, size: Any, layout: Any, out: Any, how: dict[str, Any]) -> Any:
    """resize: `tenter.image.resize`, for the images of a batch. how: its other arguments, by their names."""
    given = {name: how[name] for name in ("scale", "mode", "antialias", "like", "box")}
    alpha = how["alpha"]
    axes = (0, 1)
    whole = x = array("x", x)
    if layout is not None:
        _forms.check(layout)
        x, axes = _forms.one(whole, layout)
    lengths.refuse_other_sizes(size, "scale")
    mixes = not how["labels"] and not all(m in NEAREST for m in _mixed.each(given["mode"]))
    has_alpha = picture_arguments.has_alpha(x, size, alpha, mixes, layout is not None and layout[0] == "N")
    picture_arguments.refuse_edges(given["mode"])
    picture_arguments.check_size(x, size)
    flag("linear_light", how["linear_light"])
    gaps = _of_gaps(whole, layout, how)
    to, place = size, None
    if (what := picture_sizes.wanted(size)) is not None:
        place = _placed_in(x, what, given)
        to, given["box"] = place.resized, place.box
    premultiply, light = mixes and has_alpha and alpha != "premultiplied", mixes and how["linear_light"]

    def made(room: Any) -> Any:
        if how["labels"]:
            return _resized(whole, to, axes, room, {**given, **gaps, "labels": True})
        if gaps:
            return _resized(whole, to, axes, room, {**given, **gaps})
        if layout is None:
            return _picture(x, to, has_alpha, premultiply, light, room, given)
        if not (premultiply or light) or 0 in whole.shape:
            return _resized(whole, to, axes, room, given)
        return _forms.each(resize, whole, layout, room, {**how, "size": to, "box": given["box"]})

    if place is None or getattr(size, "pad", None) is None:
        return made(out)
    letters = layout or "HWC"[: x.ndim]
    channel = letters.index("C") if "C" in letters else None
    value = _padded.check("pad", size.pad, whole, channel, has_alpha)
    return _padded.around(whole, place.size, place.inside, axes, channel, value, made, out)


def missing(where: Any, skipna: Any, min_valid: Any) -> dict[str, Any]:
    """The arguments of missing pixels, if a call has any."""
    is_given = where is not None or skipna is not False or min_valid is not None
    return {"where": where, "skipna": skipna, "min_valid": min_valid} if is_given else {}


def _of_gaps(x: Any, layout: Any, how: dict[str, Any]) -> dict[str, Any]:
    """The arguments of missing pixels, if there are any, with a mask that broadcasts against x."""
    if "where" not in how:
        return {}
    where = how["where"]
    for name in ("alpha", "linear_light"):
        if how[name]:
            refuse(ValueError, "where" if where is not None else "skipna", f"none with {name}", "some")
    if where is not None and not masked.is_masked(where):
        where = array("where", where)
        if where.ndim == 2 and x.ndim > 2 and (layout or "HWC")[-1] == "C":
            where = where[..., None]
    return {"where": where, "skipna": how["skipna"], "min_valid": how["min_valid"]}


def _picture(
    x: Any, size: Any, has_alpha: bool, premultiply: bool, light: bool, out: Any, given: dict[str, Any]
) -> Any:
    """One (H, W) or (H, W, C) image."""
    if premultiply or light:
        _check_mixed(x)
    if out is not None:
        spec, _ = resize_arguments.checked(x, resize_arguments.Arguments(size, axes=(0, 1), **given))
        output(out, x, spec.shape_out(tuple(x.shape)))
    on_host = of(x).device(x) is None
    if premultiply and not light and on_host and x.ndim == 3 and dtype_name(x) == "uint8":
        room = _room(x, out)
        found = _mixed.in_eight_bits(of(x).to_numpy(x), size, given, room)
        if found is not None:
            return _placed(found, x, out, room)
    # Opaque images need no alpha, unless a convention puts a color around them: that one is unseen.
    if premultiply and not _mixed.is_constant_outside(given["like"]):
        premultiply = not _is_opaque(x, on_host)
    if not (premultiply or light):
        return _resized(x, size, (0, 1), out, given)
    pixels = of(x).to_numpy(x)
    if light:
        _mixed.check_range(pixels, has_alpha)
    room = _room(x, out)
    found = _mixed.mixed(pixels, has_alpha, premultiply, light, size, given, room)
    return _placed(found, x, out, room)


def _resized(x: Any, size: Any, axes: tuple[int, int], out: Any, given: dict[str, Any]) -> Any:
    try:
        return resampling.resize(x, size, axes=axes, out=out, **given)
    except Exception as inner:
        if isinstance(inner.__context__, Refusal):  # of which the error shows the call as it was written
            raise inner.__context__ from None
        raise


def _check_mixed(x: Any) -> None:
    """Refuses arrays whose alpha or light cannot be mixed."""
    _mixed.check(x)
    if is_standard(x) and (unknown := of(x).unreadable(x)):
        refuse(TypeError, "x", "an image whose values are known, as alpha and linear_light need them", unknown)
    if of(x).PACKAGE == "dask.array":
        expected = "an image in memory, as alpha and linear_light need (x.compute(), or alpha=False)"
        refuse(TypeError, "x", expected, "a Dask array")


def _is_opaque(x: Any, on_host: bool) -> bool:
    full = _mixed.full(x)
    return premultiplied.is_alpha(of(x).to_numpy(x), full) if on_host else bool((x[..., -1] == full).all())


def _placed_in(x: Any, what: Wanted, given: dict[str, Any]) -> Placement:
    if given["scale"] is not None:
        refuse(ValueError, "size", "size or scale, not both", "both")
    if 0 in x.shape[:2]:
        refuse(ValueError, "x", "at least one pixel, to keep the ratio of the sides", f"shape {tuple(x.shape)}")
    spans = lengths.boxes(given["box"], 2)
    rows, columns = (span or (Fraction(0), Fraction(n)) for span, n in zip(spans, x.shape[:2]))
    return placed(what, (rows, columns))


def _room(x: Any, out: Any) -> Array | None:
    """out as an array of NumPy's, if kernels can write to it."""
    if out is None or of(x).device(x) is not None or not executor.of(x).disjoint(x, out):
        return None
    room = of(out).to_numpy(out)
    return room if can_write(room, of(x).to_numpy(x)) else None


def _placed(found: Array, x: Any, out: Any, room: Array | None) -> Any:
    """A result as an array of x's library, or in out. room: out, if `found` is already in it."""
    if found is room:
        executor.of(x).wrote(out)
        return out
    made = of(x).from_numpy(found, x)
    return made if out is None else calls.copied(made, out)
