"""resize and interpolate, checked. `interpolate` is `resize` of the dims after batch and channels, as in PyTorch."""

from fractions import Fraction
from typing import Any, NamedTuple

from tenter._arrays.layout import Order, resized_order
from tenter._rules import splines
from tenter._rules.axis_rule import NEAREST, AxisRule, written
from tenter._rules.rounding import ONCE, by_axis, of_convention, of_dtype
from tenter._specs.axis_maps import axis_map, settled
from tenter._specs.spec import ImageOrder, Maps, Shape


class Resize(NamedTuple):
    """Resizes each of `axes`, ascending, to its size by its rule. rounding: of 8-bit integers."""

    axes: tuple[int, ...]
    size: tuple[int, ...]
    rules: tuple[AxisRule, ...]
    rounding: str

    def shape_out(self, shape: Shape) -> Shape:
        after = list(shape)
        for axis, n in zip(self.axes, self.size):
            after[axis] = n
        return tuple(after)

    def maps(self, shape: Shape, dtype: str, on_device: bool) -> Maps:
        lengths = tuple(shape[axis] for axis in self.axes)
        rules = settled(self.rules, lengths, self.size, dtype, on_device, self.rounding_of(dtype))
        return tuple(
            (axis, axis_map(rule, n_in, n_out)) for axis, rule, n_in, n_out in zip(self.axes, rules, lengths, self.size)
        )

    def batch_dims(self, ndim: int) -> list[int]:
        return [d for d in range(ndim) if d not in self.axes]

    def order(self, shape: Shape, strides: Shape, image_order: ImageOrder, rounding: str) -> Order:
        return resized_order(shape, strides, self.axes, by_axis(rounding))

    def rounding_of(self, dtype: str) -> str:
        return of_dtype(self.rounding, dtype, len(self.axes))

    @property
    def reads_outside(self) -> bool:
        """True if outputs may read what is outside of the axes."""
        return any(rule.edge in ("constant", "extrapolate") for rule in self.rules)

    @property
    def is_all_or_nothing(self) -> bool:
        """True if each output is either inputs only or the fill value only."""
        return all(rule.edge == "extrapolate" or rule.kind in NEAREST for rule in self.rules)

    def replicated(self) -> "Resize":
        """Returns the resize with an edge at which all outputs read inputs, the same ones inside of the axis."""
        edges = ["reflect" if rule.kind in splines.KINDS else "replicate" for rule in self.rules]
        return self._replace(rules=tuple(rule._replace(edge=edge) for rule, edge in zip(self.rules, edges)))

    def alone(self) -> dict[int, "Resize"]:
        """Returns each axis's resize, for arrays with this axis only."""
        each = zip(self.axes, self.size, self.rules)
        return {axis: Resize((0,), (n_out,), (rule,), ONCE) for axis, n_out, rule in each}

    def batched(self) -> "Resize":
        return self._replace(axes=tuple(axis + 1 for axis in self.axes))

    def operands(self) -> tuple[Any, ...]:
        return self.size, self.axes, written(self.rules), self.rounding

    def adjoint_operands(self, shape: Shape) -> tuple[Any, ...]:
        return [shape[axis] for axis in self.axes], *self.operands()[1:]


class Interpolate(NamedTuple):
    """Resizes every dim after batch and channels to its `size`.

    kind: a value of KINDS
    scales: output / input for each dim, if positions follow the user's scales
    channels_last: PyTorch would use its kernels for channels-last images, which round nearest positions differently
    """

    size: tuple[int, ...]
    scales: tuple[float, ...] | None
    kind: str
    align_corners: bool
    antialias: bool
    channels_last: bool

    def resize(self) -> Resize:
        axes = tuple(range(2, 2 + len(self.size)))
        rules = interpolation_rules(len(axes), *self[1:])
        return Resize(axes, self.size, rules, of_convention("pillow", self.antialias))

    def shape_out(self, shape: Shape) -> Shape:
        return (*shape[:2], *self.size)

    def maps(self, shape: Shape, dtype: str, on_device: bool) -> Maps:
        return self.resize().maps(shape, dtype, on_device)

    def batch_dims(self, ndim: int) -> list[int]:
        return [0, 1]

    def order(self, shape: Shape, strides: Shape, image_order: ImageOrder, rounding: str) -> Order:
        return image_order(shape, strides)

    def rounding_of(self, dtype: str) -> str:
        return of_dtype(of_convention("pillow", self.antialias), dtype, len(self.size))

    def batched(self) -> "Interpolate":
        """Returns the same: one more dim in front joins the batch (`_torch/vmap.py`)."""
        return self

    def operands(self) -> tuple[Any, ...]:
        return tuple(self)

    def adjoint_operands(self, shape: Shape) -> tuple[Any, ...]:
        return shape[2:], *self[1:]


def interpolation_rules(
    n: int, scales: tuple[float, ...] | None, kind: str, align_corners: bool, antialias: bool, channels_last: bool
) -> tuple[AxisRule, ...]:
    """Returns the rules of n axes for interpolate's arguments. kind: a value of KINDS."""
    if kind in NEAREST:
        align = "half_pixel" if kind == "nearest-exact" else "asymmetric"
    elif align_corners:
        align = "corner_areas" if antialias else "align_corners"
        scales = None
    else:
        align = "half_pixel"
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


# What each of PyTorch's mode names does along one axis.
KINDS = {
    "nearest": "nearest",
    "nearest-exact": "nearest-exact",
    "linear": "linear",
    "bilinear": "linear",
    "trilinear": "linear",
    "bicubic": "cubic",
    "area": "area",
    "lanczos": "lanczos",
}
