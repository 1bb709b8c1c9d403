"""Where PyTorch's kernels differ from a rule and from each other: which one it would take, its rounding of nearest
positions, and when it ignores a scale. All of it is decided here, in `settled`, once sizes are known.

What an interpolation's arguments mean as rules is here too (`rules`).
"""

from fractions import Fraction
from typing import Any

import numpy as np

from tenter import _native
from tenter._rules.axis_rule import NEAREST, AxisRule
from tenter._rules.picking import DOUBLE_CENTERS, DOUBLES, FLOAT_CENTERS, FLOATS, by_formula, on_line

# PyTorch's kernels of nearest kinds, each with a rounding of its own.
KERNELS = ("direct", "separable", "separable64", "cuda", "cuda-image")


def rules(
    n: int, scales: tuple[float, ...] | None, kind: str, align_corners: bool, antialias: bool, channels_last: bool
) -> tuple[AxisRule, ...]:
    """The rules of n axes by interpolate's arguments; kind is one of its own."""
    if kind in NEAREST:
        align = "center" if kind == "nearest-exact" else "asymmetric"
    elif align_corners:
        align = "corner_areas" if antialias else "corners"
        scales = None
    else:
        align = "center"
    rule = AxisRule(
        kind="lanczos3" if kind == "lanczos" else kind,
        align=align,
        scale=None,
        box=None,
        tie="prefer_ceil" if kind == "nearest-exact" else "floor",
        arithmetic="torch-direct" if channels_last and kind in NEAREST else "torch",
        edge="renormalize" if antialias or kind == "area" else "replicate",
        antialias=antialias,
        cubic=-0.5 if antialias else -0.75,
    )
    return (rule,) * n if scales is None else tuple(rule._replace(scale=str(Fraction(s))) for s in scales)


def settled(
    rules: tuple[AxisRule, ...], lengths: tuple[int, ...], sizes: tuple[int, ...], dtype: str, on_device: bool
) -> tuple[AxisRule, ...]:
    """Rules of some axes with PyTorch's arithmetic decided: for nearest kinds a name of KERNELS, else exact.

    Its linear kinds, and every filter with antialias, leave an axis alone that keeps its length, whatever scale was
    given; its CUDA kernels do so only where all axes keep theirs.
    """
    found = []
    for rule, n_in, n_out in zip(rules, lengths, sizes):
        if not rule.arithmetic.startswith("torch"):
            found.append(rule)
        elif rule.box is not None:
            found.append(rule._replace(arithmetic="exact"))
        elif rule.kind in NEAREST:
            direct = rule.arithmetic == "torch-direct"
            found.append(rule._replace(arithmetic=_kernel(dtype, sizes, direct, on_device)))
        else:
            alone = lengths == sizes and not rule.antialias if on_device else n_in == n_out and keeps_length(rule)
            found.append(rule._replace(arithmetic="exact", scale=None if alone else rule.scale))
    return tuple(found)


def keeps_length(rule: AxisRule) -> bool:
    """Whether an axis that keeps its length is left alone, on the CPU."""
    of_torch = rule.arithmetic.startswith("torch") and rule.box is None and rule.kind not in NEAREST
    return of_torch and (rule.kind == "linear" or rule.antialias)


def _kernel(dtype: str, sizes: tuple[int, ...], channels_last: bool, on_device: bool) -> str:
    """The kernel that PyTorch takes for a nearest kind.

    `direct` for channels-last images and volumes of more than 3 channels and for images of at most 128 output rows and
    columns together, else `separable`, which computes in the input's precision (`separable64` for float64). On CUDA
    devices `cuda`, and `cuda-image`, which leaves an axis alone that keeps its length.
    """
    rank = len(sizes)
    if on_device:
        return "cuda-image" if rank == 2 else "cuda"
    if (rank > 1 and channels_last) or (rank == 2 and sum(sizes) <= 128):
        return "direct"
    return "separable64" if dtype == "float64" else "separable"


def picking(n_in: int, n_out: int, scale: float | None, exact: bool, kernel: str) -> _native.Picking | None:
    """The input pixel that PyTorch's nearest kinds copy, bit for bit.

    `nearest` takes the pixel at the output pixel's corner (OpenCV's INTER_NEAREST), `nearest-exact` at its center
    (Pillow, scikit-image). Kernels differ where a position falls on a pixel's edge.
    """
    if kernel in ("direct", "cuda", "cuda-image"):
        if kernel == "direct":
            keeps = not exact and n_out in (n_in, 2 * n_in)
        else:
            keeps = kernel == "cuda-image" and n_out == n_in
        if keeps:  # whatever scale was given
            return on_line(n_in, n_out, (0, 1, n_out // n_in))
        return by_formula(n_in, n_out, FLOATS, 0.5 if exact else 0.0, _ratio(n_in, n_out, scale, np.float32))
    formula, real = separable(exact, kernel)
    return by_formula(n_in, n_out, formula, 0.0, _ratio(n_in, n_out, scale, real))


def separable(exact: bool, kernel: str) -> tuple[int, type[np.floating[Any]]]:
    """The formula of PyTorch's separable kernels, and the type of its step."""
    if kernel == "separable64":
        return DOUBLE_CENTERS if exact else DOUBLES, np.float64
    return FLOAT_CENTERS if exact else FLOATS, np.float32


def _ratio(n_in: int, n_out: int, scale: float | None, real: type[Any]) -> float:
    return float(real(n_in) / real(n_out) if scale is None else real(1.0 / scale))
