"""The code for a resampled array in other libraries. Code is only given if the other library's map is the same in all
compared rows."""

import string
from collections.abc import Sequence

import numpy as np

from tenter._explain.facts import Facts
from tenter._rules.axis_rule import NEAREST, AxisRule
from tenter._specs.resize import Interpolate, Resize
from tenter.maps import AxisMap, Copy, Window
from tenter.maps._entries import row
from tenter.resampling import axis_map

# Rows that are compared at both ends of an axis and in its middle.
ROWS = 24
# The names for one, two and three axes.
LINEAR = ("linear", "bilinear", "trilinear")
HALVES = ("float16", "bfloat16")


def spellings(facts: Facts) -> dict[str, str]:
    spec = facts.made.spec
    resize = spec.resize() if isinstance(spec, Interpolate) else spec
    if facts.problem or any(rule.box for rule in resize.rules):
        return dict.fromkeys(("PyTorch", "NumPy", "einops", "JAX"), "(none)")
    numpy = _numpy(facts)
    return {
        "PyTorch": _interpolate(spec, facts) if isinstance(spec, Interpolate) else _torch(resize, facts),
        "NumPy": numpy or "(none: it has no resampling)",
        "einops": _einops(facts) or "(none: it resizes by whole factors alone, as copies or means)",
        "JAX": _jax(resize, facts) or (numpy.replace("np.", "jnp.") if numpy else "(none: its weights differ)"),
    }


# ---- PyTorch


def _interpolate(spec: Interpolate, facts: Facts) -> str:
    if refused := _no_kernel(spec.kind, spec.antialias, len(spec.size), facts.x.dtype):
        return refused
    return f"F.interpolate(x, {_how(spec, len(spec.size))})"


def _how(spec: Interpolate, n: int) -> str:
    words = f"scale_factor={spec.scales}" if spec.scales else f"size={spec.size}"
    mode = {"linear": LINEAR[n - 1], "cubic": "bicubic"}.get(spec.kind, spec.kind)
    words += f', mode="{mode}"' if mode != "nearest" else ""
    words += ", align_corners=True" if spec.align_corners else ""
    return words + (", antialias=True" if spec.antialias else "")


def _no_kernel(kind: str, antialias: bool, n: int, dtype: str) -> str | None:
    """Says why PyTorch's CPU kernels cannot compute this along n axes, or give another result."""
    if antialias and n != 2:
        return "(none: F.interpolate antialiases two axes alone)"
    if dtype == "uint8" and kind in ("linear", "cubic") and n == 2 and not antialias:
        return "(none: F.interpolate rounds uint8 in its own way)"
    bytes_too = dtype == "uint8" and (kind in NEAREST or antialias)
    if dtype not in ("float32", "float64", *HALVES) and not bytes_too:
        return f"(none: F.interpolate has no {dtype})"
    return "(none: antialias of halves is not on the CPU)" if antialias and dtype in HALVES else None


def _torch(spec: Resize, facts: Facts) -> str:
    n, ndim = len(spec.axes), len(facts.shape_in)
    kinds = {(_mode(rule), rule.antialias, rule.align == "align_corners") for rule in spec.rules}
    if not 0 < n <= 3 or len(kinds) > 1:
        return "(none: F.interpolate resizes one to three axes, all alike)"
    ((mode, antialias, corners),) = kinds
    if mode == "cubic" and n != 2:
        return "(none: F.interpolate is cubic along two axes alone)"
    if refused := _no_kernel(mode, antialias, n, facts.x.dtype):
        return refused
    known = mode in ("nearest", "nearest-exact", "linear", "cubic", "area")
    align = {"align": "align_corners"} if corners and mode in ("linear", "cubic") else {}
    if not known or not _like(facts, spec, mode, like="torch", antialias=antialias, **align):
        return "(none: F.interpolate's weights differ)"
    how = _how(Interpolate(spec.size, None, mode, bool(align), antialias, False), n)
    ends, shape = tuple(range(-n, 0)), facts.shape_in
    trailing = spec.axes == tuple(range(ndim - n, ndim))
    moves = ", ".join([str(axes[0] if n == 1 else axes) for axes in (spec.axes, ends)])
    backs = ", ".join([str(axes[0] if n == 1 else axes) for axes in (ends, spec.axes)])
    before, after = ("", "") if trailing else (f".movedim({moves})", f".movedim({backs})")
    rest = [m for d, m in enumerate(shape) if d not in spec.axes]
    if len(rest) < 2:
        before += ("[None, None]", "[None]")[len(rest)]
        after = ("[0, 0]", "[0]")[len(rest)] + after
    elif len(rest) > 2:
        before += f".flatten(0, {len(rest) - 2})"
        after = f".unflatten(0, {tuple(rest[:-1])})" + after
    return f"F.interpolate(x{before}, {how}){after}"


def _mode(rule: AxisRule) -> str:
    return {"overlap": "area", "lanczos3": "lanczos"}.get(str(rule.kind), str(rule.kind))


# ---- maps


def _like(facts: Facts, spec: Resize, mode: str, **how: object) -> bool:
    """True if another convention gives the maps of the call."""
    by_axis = dict(facts.maps)
    for axis, n_out in zip(spec.axes, spec.size):
        n_in = facts.made.x.shape[axis]
        mine = by_axis.get(axis) or Copy.repeat_each(n_in, 1)
        try:
            other = axis_map(n_in, n_out, mode, **how)  # type: ignore[arg-type]
        except (TypeError, ValueError, MemoryError):
            return False
        if not _same(mine, other):
            return False
    return True


def _same(a: AxisMap, b: AxisMap) -> bool:
    n = a.n_out
    middle = n // 2
    rows = range(n) if n <= 3 * ROWS else [*range(ROWS), *range(middle, middle + ROWS), *range(n - ROWS, n)]
    return all(_weights(a, o) == _weights(b, o) for o in rows)


def _weights(m: AxisMap, o: int) -> dict[int, float]:
    n, taps = row(m, o, 256)
    return {-1: n, **dict(taps)} if n > len(taps) else {i: r for i, w in taps if (r := round(w, 5))}


def _means(m: AxisMap) -> int | None:
    """Returns n if every output is the mean of n inputs, else None."""
    if isinstance(m, Copy) or not m.n_out or m.n_in % m.n_out:
        return None
    k = m.n_in // m.n_out
    return k if _same(m, axis_map(m.n_in, m.n_out, "area")) else None


# ---- NumPy, einops and JAX


def _numpy(facts: Facts) -> str | None:
    means = {axis: k for axis, m in facts.maps if (k := _means(m))}
    if means and len(means) == len(facts.maps):
        if facts.x.dtype not in ("float32", "float64"):
            return None
        shape, axes = [], []
        for d, n in enumerate(facts.shape_in):
            shape += [n // means[d], means[d]] if d in means else [n]
            axes += [len(shape) - 1] if d in means else []
        return f"x.reshape({', '.join(map(str, shape))}).mean({axes[0] if len(axes) == 1 else tuple(axes)})"
    if len(facts.shape_in) == 1 and len(facts.maps) == 1 and facts.x.dtype in ("float32", "float64"):
        return _interp(facts.maps[0][1]) or _taken(facts)
    return _taken(facts)


def _interp(m: AxisMap) -> str | None:
    if not isinstance(m, Window):
        return None
    positions = {"align_corners": f"np.linspace(0, {m.n_in - 1}, {m.n_out})",
                 "half_pixel": f"(np.arange({m.n_out}) + 0.5) * {m.n_in} / {m.n_out} - 0.5"}  # fmt: skip
    for align, at in positions.items():
        if _same(m, axis_map(m.n_in, m.n_out, "linear", align=align, antialias=False)):  # type: ignore[arg-type]
            return f"np.interp({at}, np.arange({m.n_in}), x)"
    return None


def _taken(facts: Facts) -> str | None:
    code = "x"
    for axis, m in facts.maps:
        if not isinstance(m, Copy) or m.block != 1 or not m.n_out:
            return None
        if m.repeat is not None:
            code = f"np.repeat({code}, {m.repeat}, axis={axis})"
        elif (index := _index(m)) is not None:
            code = f"np.take({code}, {index}, axis={axis})"
        else:
            return None
    return code if facts.maps else "x.copy()"


def _index(m: Copy) -> str | None:
    """Returns the source indices of a nearest kind as a formula."""
    found: Sequence[tuple[str, int, int]] = (
        (f"np.arange({m.n_out}) * {m.n_in} // {m.n_out}", 1, 0),
        (f"(2 * np.arange({m.n_out}) + 1) * {m.n_in} // {2 * m.n_out}", 2, 1),
    )
    n = m.n_out
    outputs = (
        np.unique(np.clip(np.r_[:ROWS, n // 2 : n // 2 + ROWS, n - ROWS : n], 0, n - 1)) if n > 2 else np.arange(n)
    )
    if n <= 1 << 16:
        outputs = np.arange(n)
    inputs = [m.reads(o, o + 1).start for o in outputs.tolist()]
    for code, factor, more in found:
        if inputs == [(factor * o + more) * m.n_in // (factor * n) for o in outputs.tolist()]:
            return code
    return None


def _einops(facts: Facts) -> str | None:
    ndim = len(facts.shape_in)
    names = list(string.ascii_lowercase[:ndim])
    if ndim > len(string.ascii_lowercase):
        return None
    means = {axis: _means(m) for axis, m in facts.maps}
    if means and all(means.values()) and facts.x.dtype in ("float32", "float64"):
        before = [f"({n} {means[d]})" if d in means else n for d, n in enumerate(names)]
        return f'einops.reduce(x, "{" ".join(before)} -> {" ".join(names)}", "mean")'
    each = {axis: m.repeat for axis, m in facts.maps if isinstance(m, Copy) and m.block == 1 and m.repeat}
    if len(each) < len(facts.maps):
        return None
    after = [f"({n} {each[d]})" if d in each else n for d, n in enumerate(names)]
    return f'einops.repeat(x, "{" ".join(names)} -> {" ".join(after)}")'


def _jax(spec: Resize, facts: Facts) -> str | None:
    dtype = facts.x.dtype
    kinds = {_mode(rule) for rule in spec.rules}
    if len(kinds) != 1 or 0 in facts.shape_out or not facts.maps:
        return None
    ((mode,)) = kinds
    if mode in NEAREST:
        if _like(facts, spec, "nearest", like="jax"):
            return f'jax.image.resize(x, {facts.shape_out}, "nearest")'
        return None
    method = {"linear": "linear", "cubic": "cubic", "lanczos": "lanczos3", "lanczos5": "lanczos5"}.get(mode)
    if method is None:
        return None
    if dtype not in ("float32", "float64"):
        return f"(none: it rounds {dtype} in its own way)"
    for antialias in (True, False):
        if _like(facts, spec, mode, like="jax", antialias=antialias):
            more = "" if antialias else ", antialias=False"
            return f'jax.image.resize(x, {facts.shape_out}, "{method}"{more})'
    return None
