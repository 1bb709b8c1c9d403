"""Operations in PyTorch's own operators, for `torch.onnx.export`. ONNX cannot translate tenter's operators.

If PyTorch has the operation it is used, and sizes may change. Other maps become products with their matrices, and their
lengths must be known at export.
"""

from fractions import Fraction
from itertools import product
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812, its name everywhere
from torch import Tensor

from tenter._arrays.errors import refuse
from tenter._arrays.torch_private import exporting_to_onnx as exporting_to_onnx
from tenter._arrays.torch_tensors import dtype_name
from tenter._specs.repeat import Repeat, RepeatCounts
from tenter._specs.resize import Interpolate, Resize
from tenter._specs.spec import Spec
from tenter.maps import AxisMap, Copy, Gather

# PyTorch's modes by the number of spatial dims.
MODES = {
    "linear": {1: "linear", 2: "bilinear", 3: "trilinear"},
    "cubic": {2: "bicubic"},
    **{kind: dict.fromkeys((1, 2, 3), kind) for kind in ("nearest", "nearest-exact", "area")},
}


def call(x: Tensor, spec: Spec) -> Tensor:
    """Returns the result of a checked operation."""
    if isinstance(spec, Repeat):
        return _repeated(x, spec)
    if isinstance(spec, RepeatCounts):
        return x.index_select(spec.dim, _inputs(spec))
    found = _interpolated(x, spec)
    return _by_matrices(x, spec) if found is None else found


def counted(counts: Tensor, dim: int, output_size: int | None) -> RepeatCounts:
    """Returns the repeat by counts whose sum is known when the graph runs."""
    offsets = F.pad(counts.to(torch.int64).cumsum(0), (1, 0))
    if output_size is not None:
        return RepeatCounts(offsets, dim, output_size)
    total: Any = offsets[-1].item()  # a symbol
    torch._check(total >= 0)
    return RepeatCounts(offsets, dim, total)


def _repeated(x: Tensor, spec: Repeat) -> Tensor:
    if not spec.each:
        return torch.ops.aten.repeat(x, list(spec.sizes))
    for dim, times in enumerate(spec.sizes):
        if times != 1:
            lengths = list(x.shape)
            x = x.unsqueeze(dim + 1).expand(*lengths[: dim + 1], times, *lengths[dim + 1 :]).flatten(dim, dim + 1)
    return x


def _inputs(spec: RepeatCounts) -> Tensor:
    """Returns the input of each output: the number of inputs that end before it."""
    ends = torch.as_tensor(spec.offsets)[1:]
    return (torch.arange(spec.n_out)[:, None] >= ends[None, :]).sum(1)


def _interpolated(x: Tensor, spec: Any) -> Tensor | None:
    """Calls PyTorch's function, which becomes ONNX's Resize. None if PyTorch lacks the mode, dtype or axes. None also
    for antialias, where runtimes differ from PyTorch, unless lengths are symbols."""
    given = spec if isinstance(spec, Interpolate) else as_interpolate(spec, x.ndim)
    if given is None or not x.is_floating_point():
        return None
    mode = mode_of(given)
    fixed = all(type(n) is int for n in x.shape[2:])
    if mode is None or (fixed and (given.antialias or given.kind == "area")):
        return None
    corners = given.align_corners if given.kind in ("linear", "cubic") else None
    how: dict[str, Any] = {"mode": mode, "align_corners": corners, "antialias": given.antialias}
    if given.scales is not None:
        return F.interpolate(x, scale_factor=list(given.scales), **how)
    return F.interpolate(x, size=list(given.size), **how)


def mode_of(spec: Interpolate) -> str | None:
    """Returns PyTorch's mode, if it has one."""
    return MODES.get(spec.kind, {}).get(len(spec.size))


def as_interpolate(spec: Any, ndim: int) -> Interpolate | None:
    """Returns the call of `interpolate` that is equivalent to a resize; None if there is none."""
    if not isinstance(spec, Resize) or spec.axes != tuple(range(2, ndim)) or not 1 <= len(spec.axes) <= 3:
        return None
    scales = [rule.scale for rule in spec.rules]
    known = None if None in scales else tuple(float(Fraction(scale)) for scale in scales if scale is not None)
    for kind, corners in product(MODES, (False, True)):
        for antialias in (False, True):
            found = Interpolate(spec.size, known, kind, corners, antialias, False)
            if found.resize().rules == spec.rules:
                return found
    return None


def _by_matrices(x: Tensor, spec: Spec) -> Tensor:
    try:
        maps = spec.maps(tuple(x.shape), dtype_name(x), False)
    except (TypeError, RuntimeError):  # contains symbols
        maps = None
    if maps is None or not all(type(m.n_in) is int for _, m in maps):
        expected = "lengths that are known at export along axes that are resized by this rule, which ONNX has not"
        refuse(ValueError, "x", expected, f"shape {tuple(x.shape)}")
    whole = not x.is_floating_point()
    y = x
    for axis, m in maps:
        y = _applied(y, axis, m, x.dtype if whole and spec.saturates(dtype_name(x)) else None)
    return into_integers(y, x.dtype) if whole and y.dtype != x.dtype else y.to(x.dtype)


def _applied(x: Tensor, axis: int, m: AxisMap, rounded: torch.dtype | None) -> Tensor:
    """Applies one map along one axis. rounded: a dtype to which sums are rounded."""
    if isinstance(m, Copy) or (isinstance(m, Gather) and m.picks):
        return x.index_select(axis, torch.from_numpy(m.index() if isinstance(m, Copy) else m.index.copy()))
    real = torch.float64 if x.dtype in (torch.float64, torch.int32, torch.int64) else torch.float32
    matrix = torch.from_numpy(m.dense()).to(real)
    y = torch.matmul(x.to(real).movedim(axis, -1), matrix.T).movedim(-1, axis)
    return y if rounded is None else into_integers(y, rounded)


def into_integers(y: Tensor, dtype: torch.dtype) -> Tensor:
    info = torch.iinfo(dtype)
    return y.round().clamp(info.min, info.max).to(dtype)
