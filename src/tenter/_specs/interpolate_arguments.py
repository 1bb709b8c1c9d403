"""interpolate's arguments, in order."""

import math
from typing import Any, NamedTuple

from tenter._arrays import limits
from tenter._arrays.arguments import describe, flag, listed, one_of, several, sizes
from tenter._arrays.dtypes import is_numeric
from tenter._arrays.errors import refuse
from tenter._arrays.library import dtype_name, is_array, of, surely
from tenter._rules.axis_rule import NEAREST
from tenter._specs.lengths import per_dim, refuse_other_sizes, scaled
from tenter._specs.resize import KINDS, Interpolate
from tenter._specs.spec import Shape

# Spatial dims that a mode's name promises; other modes take 1 to 3.
RANKS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}


class Arguments(NamedTuple):
    """Those after x, as a call gives them."""

    size: Any = None
    scale_factor: Any = None
    mode: Any = "nearest"
    align_corners: Any = None
    recompute_scale_factor: Any = None
    antialias: Any = False


def checked(x: Any, given: Arguments) -> Interpolate:
    size, scale_factor, mode, align_corners, recompute_scale_factor, antialias = given
    spatial = tuple(x.shape[2:])
    n = len(spatial)
    if not 1 <= n <= 3:
        hint = "; an (H, W) image goes in as x[None, None]" if x.ndim == 2 else ""
        refuse(ValueError, "x", f"(batch, channels, [depth,] [height,] width){hint}", f"{x.ndim} dims")
    _check_one_given(size, scale_factor)
    scales: tuple[float, ...] | None = None
    if size is not None:
        refuse_other_sizes(size, "scale_factor")
        out = per_dim("size", sizes("size", [size], least=1), size, n, x)
    else:
        scales = per_dim("scale_factor", factors(scale_factor), scale_factor, n, x)
        out = tuple(scaled("scale_factor", length, f) for length, f in zip(spatial, scales))
    kind = _mode(mode, n, x.ndim, align_corners)
    _check_recomputed(recompute_scale_factor, size, scale_factor)
    _check_antialias(antialias, mode, kind)
    name = dtype_name(x)
    if kind not in NEAREST and not is_numeric(name):
        refuse(TypeError, "x", f"numbers for mode {mode!r} (nearest and nearest-exact take any dtype)", name)
    for word, value in (("align_corners", align_corners), ("antialias", antialias)):
        if value is not None:
            flag(word, value)
    if any(surely(length == 0) for length in spatial):
        refuse(ValueError, "x", "spatial dims of at least 1", f"shape {tuple(x.shape)}")
    limits.addressable("size" if size is not None else "scale_factor", (*x.shape[:2], *out), of(x).itemsize(x))
    scales = None if recompute_scale_factor or kind == "area" else scales
    if scales is not None and any(limits.without_value(f) for f in scales):
        expected = "a number that is known while the code is traced, or recompute_scale_factor=True"
        refuse(TypeError, "scale_factor", expected, "one that is read from a tensor")
    direct = kind in NEAREST and n > 1 and x.shape[1] > 3 and _channels_last(x)
    return Interpolate(out, scales, kind, bool(align_corners), bool(antialias), direct)


def check_without_x(
    size: Any, scale_factor: Any, mode: Any = "nearest", align_corners: Any = None, recompute_scale_factor: Any = None
) -> None:
    """What can be said of the arguments of a layer before it gets an input."""
    _check_one_given(size, scale_factor)
    if size is not None:
        sizes("size", [size], least=1)
    else:
        factors(scale_factor)
    one_of("mode", mode, tuple(kind for kind in KINDS if kind != "lanczos"))  # which needs antialias
    _check_corners(mode, align_corners)
    flag("align_corners", align_corners, optional=True)
    flag("recompute_scale_factor", recompute_scale_factor, optional=True)
    _check_recomputed(recompute_scale_factor, size, scale_factor)


def with_lengths(spec: Interpolate, size: Shape, scale_factor: Any, channels_last: bool) -> Interpolate:
    """The specification of another call that has other values for what is given here, and is else the same."""
    scales = None
    if spec.scales is not None:
        scales = per_dim("scale_factor", factors(scale_factor), scale_factor, len(size))
    return spec._replace(size=size, scales=scales, channels_last=channels_last)


def strides_decide(spec: Interpolate) -> bool:
    """True if the source indices depend on the strides of x."""
    return spec.kind in NEAREST and len(spec.size) > 1


def _check_one_given(size: Any, scale_factor: Any) -> None:
    for name, expected, given in (("size", "ints", size), ("scale_factor", "numbers", scale_factor)):
        if isinstance(given, str) and (
            given in KINDS or (name == "scale_factor" and given.isalpha())
        ):  # before its place
            refuse(TypeError, name, expected, f"{given!r} (did you mean mode={given!r}?)")
    if size is not None and scale_factor is not None:
        refuse(ValueError, "size", "size or scale_factor, not both", f"size={size} and scale_factor={scale_factor}")
    if size is None and scale_factor is None:
        refuse(ValueError, "size", "size or scale_factor", "neither")


def _check_antialias(antialias: Any, mode: str, kind: str) -> None:
    if antialias and kind not in ("linear", "cubic", "lanczos"):
        got = f"antialias={antialias} with mode {mode!r}"
        refuse(ValueError, "antialias", "False, or a linear kind, bicubic or lanczos", got)
    if kind == "lanczos" and not antialias:
        refuse(ValueError, "antialias", "True, which mode 'lanczos' needs", repr(antialias))


def _check_recomputed(recompute_scale_factor: Any, size: Any, scale_factor: Any) -> None:
    if recompute_scale_factor and scale_factor is None:
        refuse(ValueError, "recompute_scale_factor", "scale_factor to recompute from", f"size={size}")


def _check_corners(mode: str, align_corners: Any) -> None:
    if align_corners is not None and mode not in RANKS:
        refuse(ValueError, "align_corners", f"None, as mode {mode!r} has no corners to align", repr(align_corners))


def _mode(mode: Any, n: int, ndim: int, align_corners: Any) -> str:
    one_of("mode", mode, tuple(KINDS))
    if RANKS.get(mode, n) != n:
        names = "linear 3-d, bilinear 4-d, trilinear 5-d, bicubic 4-d"
        refuse(ValueError, "mode", f"a mode for a {ndim}-d x ({names})", repr(mode))
    _check_corners(mode, align_corners)
    return KINDS[mode]


def factors(scale_factor: Any) -> tuple[Any, ...]:
    """Returns the factors as floats. Those that are read from tensors while code is traced stay symbols."""
    read = listed if is_array(scale_factor) else several
    given: Any = read("scale_factor", scale_factor)
    if given is None:
        given = scale_factor
    found: list[Any] = []
    for f in given if isinstance(given, (list, tuple)) else [given]:
        try:
            if isinstance(f, (bool, str, bytes)):
                raise TypeError
            # The compiler makes a constant of a symbol that has a value.
            found.append(f if limits.without_value(f) else float(f))
        except OverflowError:
            found.append(math.inf)
        except (TypeError, ValueError):
            refuse(TypeError, "scale_factor", "numbers", describe(f))
    for f in found:
        # A number that is read from a tensor gives a length, which the kernel checks.
        if not limits.without_value(f) and not 0 < f < math.inf:
            refuse(ValueError, "scale_factor", "finite numbers above 0", f"{f}")
    return tuple(found)


def _channels_last(x: Any) -> bool:
    """True if a (batch, channels, spatial...) array is stored as batch, spatial..., channels, without gaps."""
    step, strides = of(x).itemsize(x), of(x).strides(x)
    for d in (1, *range(x.ndim - 1, 1, -1), 0):
        if not surely(x.shape[d] == 1) and not surely(strides[d] == step):
            return False
        step *= x.shape[d]
    return True
