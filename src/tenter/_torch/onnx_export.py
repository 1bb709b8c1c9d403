"""Operations in PyTorch's own operators, for `torch.onnx.export`. ONNX cannot translate tenter's operators.

If PyTorch has the operation, and runtimes compute what PyTorch does, it is used. Other maps become products with their
matrices. Where their lengths are symbols, the graph computes the matrices of PyTorch's modes (`symbolic_maps.py`).
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
from tenter._rules.axis_rule import NEAREST
from tenter._rules.rounding import by_axis
from tenter._specs.repeat import Repeat, RepeatCounts
from tenter._specs.resize import Interpolate, Resize
from tenter._specs.spec import Spec
from tenter._standard import eight_bits
from tenter._torch import symbolic_maps
from tenter.maps import AxisMap, Copy, Window
from tenter.maps._kinds import only_copies

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
    where runtimes differ from PyTorch: for antialias, area, and nearest pixels that are between two others."""
    given = spec if isinstance(spec, Interpolate) else as_interpolate(spec, x.ndim)
    mode = None if given is None else mode_of(given)
    if given is None or mode is None or given.antialias or given.kind == "area" or _may_round(x, given):
        return None
    whole = not x.is_floating_point()
    if whole and (given.kind in NEAREST or _are_known(x, given.resize())):
        return None
    corners = given.align_corners if given.kind in ("linear", "cubic") else None
    size, scales = (list(given.size), None) if given.scales is None else (None, list(given.scales))
    y = F.interpolate(x.to(_real(x)) if whole else x, size, scales, mode, corners)
    return into_integers(y, x.dtype) if whole else y


def _may_round(x: Tensor, spec: Interpolate) -> bool:
    """True if the positions of a nearest kind are not whole factors, whose rounding runtimes do not share."""
    if spec.kind not in NEAREST:
        return False
    if spec.scales is not None:
        return any(scale != int(scale) for scale in spec.scales)
    return not _are_known(x, spec.resize()) or any(m % n for m, n in zip(spec.size, x.shape[2:]))


def _are_known(x: Tensor, spec: Resize) -> bool:
    """True if no length is a symbol. Symbols are not asked for their values, which would make constants of them."""
    return all(type(n) is int for n in (*[x.shape[axis] for axis in spec.axes], *spec.size))


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


def _by_matrices(x: Tensor, spec: Any) -> Tensor:
    resize = spec.resize() if isinstance(spec, Interpolate) else spec
    rounds = by_axis(spec.rounding_of(dtype_name(x)))
    if not isinstance(resize, Resize) or _are_known(x, resize):
        maps = spec.maps(tuple(x.shape), dtype_name(x), False)
        if rounds and eight_bits.are_exact(sums := [each for each in maps if not only_copies(each[1])]):
            return _in_eight_bits(x, [each for each in maps if only_copies(each[1])], sums)
        steps = [_known(axis, m) for axis, m in maps]
    else:
        steps = _symbolic(x, resize)
    whole = not x.is_floating_point()
    between = x.dtype if rounds else None
    y = x
    for axis, of_map in steps:
        y = _applied(y, axis, of_map, between)
    return into_integers(y, x.dtype) if whole and y.dtype != x.dtype else y.to(x.dtype)


def _in_eight_bits(x: Tensor, copies: eight_bits.Sums, sums: eight_bits.Sums) -> Tensor:
    """Applies maps that antialias 8-bit values. float64 holds their sums without rounding, and more runtimes multiply
    matrices of it than of integers."""
    for axis, m in copies:
        x = x.index_select(*_known(axis, m))
    for axis, m in eight_bits.in_order(sums):
        y = torch.matmul(x.to(torch.float64).movedim(axis, -1), torch.from_numpy(m.dense()).T).movedim(-1, axis)
        x = (y + 0.5).floor().clamp(0, 255).to(x.dtype)
    return x


def _known(axis: int, m: AxisMap) -> tuple[int, Tensor]:
    """Returns the axis with what a map reads: indices, or a matrix."""
    if only_copies(m):
        assert not isinstance(m, Window)
        return axis, torch.from_numpy(m.index() if isinstance(m, Copy) else m.index.copy())
    return axis, torch.from_numpy(m.dense())


def _symbolic(x: Tensor, spec: Resize) -> list[tuple[int, Tensor]]:
    """The same of maps whose lengths are symbols."""
    if not all(map(symbolic_maps.has_rule, spec.rules)):
        lacks = "that are known at export along axes that are resized by this rule, which ONNX has not"
        if all(type(x.shape[axis]) is int for axis in spec.axes):
            refuse(ValueError, "size", f"sizes {lacks}", "sizes that change")
        refuse(ValueError, "x", f"lengths {lacks}", f"shape {tuple(x.shape)}")
    found = []
    for axis, rule, n_out in zip(spec.axes, spec.rules, spec.size):
        n_in = x.shape[axis]
        if rule.kind in NEAREST:
            found.append((axis, symbolic_maps.index(rule, n_in, n_out, spec.size, x.dtype)))
        else:
            found.append((axis, symbolic_maps.matrix(rule, n_in, n_out)))
    return found


def _applied(x: Tensor, axis: int, of_map: Tensor, between: torch.dtype | None) -> Tensor:
    """Applies one map along one axis. between: a dtype to which sums are rounded."""
    if of_map.ndim == 1:
        return x.index_select(axis, of_map)
    real = _real(x)
    y = torch.matmul(x.to(real).movedim(axis, -1), of_map.to(real).T).movedim(-1, axis)
    return y if between is None else into_integers(y, between)


def _real(x: Tensor) -> torch.dtype:
    return torch.float64 if x.dtype in (torch.float64, torch.int32, torch.int64) else torch.float32


def into_integers(y: Tensor, dtype: torch.dtype) -> Tensor:
    info = torch.iinfo(dtype)
    return y.round().clamp(info.min, info.max).to(dtype)
