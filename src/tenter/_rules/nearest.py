"""Which input nearest kinds take, with the rounding of positions of each library."""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tenter._arrays.types import Ints
from tenter._rules import torch_quirks
from tenter._rules.axis_rule import AxisRule
from tenter._rules.edges import folded
from tenter.geometry import Geometry

Bools = npt.NDArray[np.bool_]


def nearest(rule: AxisRule, n_in: int, n_out: int) -> tuple[Ints, Bools]:
    """The input that each output takes, and which outputs lie outside the axis and take none."""
    scale = float(Fraction(rule.scale)) if rule.scale is not None else None
    nowhere = np.zeros(n_out, np.bool_)
    if rule.arithmetic in torch_quirks.KERNELS and n_out:
        exact = rule.kind == "nearest-exact"
        return torch_quirks.nearest_index(n_in, n_out, scale, exact, rule.arithmetic), nowhere
    geometry = rule.geometry(n_in, n_out)
    if rule.arithmetic != "exact" and n_out and (rule.box is None or rule.arithmetic == "pillow"):
        index = _rounded(geometry, scale, rule.arithmetic)
    else:
        index = geometry.nearest(rule.tie)
    if rule.edge == "constant":
        nowhere = (index < 0) | (index >= n_in)
    if rule.edge == "extrapolate":
        at = geometry.index()
        nowhere = (at < 0) | (at > n_in - 1)
    return folded(index, n_in, rule.edge), nowhere


def _rounded(geometry: Geometry, scale: float | None, arithmetic: str) -> Ints:
    """Positions as other libraries round them, before they are cut to the axis."""
    n_in, n_out, align = geometry.n_in, geometry.n_out, geometry.align
    o = np.arange(n_out)
    if arithmetic == "pillow":  # Pillow's NEAREST, OpenCV's INTER_NEAREST_EXACT: step after step, from a float32 box
        begin, end = (np.float32(float(edge)) for edge in geometry.box or (0, n_in))
        ratio = float(end - begin) / max(n_out, 1)
        at = np.add.accumulate(np.concatenate([[float(begin) + ratio * 0.5], np.full(max(n_out - 1, 0), ratio)]))
        return np.asarray(np.floor(at[:n_out]), np.int64)
    if arithmetic == "opencv":
        at = o * (1.0 / (scale if scale is not None else n_out / n_in))
    elif arithmetic == "scipy" and align == "corners":
        at = o * ((n_in - 1) / (n_out - 1) if n_out > 1 else 1.0) + 0.5
    elif arithmetic == "scipy":
        at = ((o + 0.5) * (n_in / max(n_out, 1)) - 0.5) + 0.5
    else:  # jax, in float32
        at = (o.astype(np.float32) + np.float32(0.5)) * np.float32(n_in) / np.float32(n_out)
    return np.asarray(np.floor(at), np.int64)
