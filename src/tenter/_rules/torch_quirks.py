"""Where PyTorch's kernels differ from a rule and from each other: which one it would take, its rounding of nearest
positions, and when it ignores a scale. All of it is decided here, in `settled`, once sizes are known.

What an interpolation's arguments mean as rules is here too (`rules`).
"""

from fractions import Fraction

from tenter._rules.axis_rule import NEAREST, AxisRule

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
