"""The nearest wrong calls: calls that are easily mistaken for this one, and how their results differ."""

import math

from tenter._explain.cells import label
from tenter._explain.facts import Facts
from tenter._explain.words import formula
from tenter._rules.axis_rule import NEAREST, AxisRule
from tenter._rules.filters import Filter, cubic
from tenter._specs.resize import Interpolate, Resize
from tenter.maps import AxisMap, Copy
from tenter.maps._entries import row
from tenter.resampling import axis_map

Pairs = tuple[tuple[str, str], ...]
# Outputs that are compared.
MOST = 4096


def wrong_calls(facts: Facts) -> Pairs:
    if isinstance(facts.made.spec, (Resize, Interpolate)):
        return _of_resampling(facts)
    if facts.notes:
        return ()
    if facts.view:
        numpys = facts.x.its.PACKAGE == "numpy"
        shared = "is read-only" if numpys else "shows one write in all that share the element"
        return (
            ("repeat, tile, repeat_interleave", f"copy: no two elements share memory; expand's result {shared}"),
            ("a length other than 1", "is no length that expand stretches: that takes tile or repeat"),
        )
    each, whole = _example(facts, True), _example(facts, False)
    found: Pairs
    if facts.name in ("repeat_interleave", "numpy.repeat"):
        what = f"the whole array again and again: {whole}, not {each}. NumPy's repeat is this call, PyTorch's is not"
        found = (("Tensor.repeat, torch.tile, np.tile", what),)
        if len(facts.made.x.shape) < len(facts.shape_in):
            word = "axis" if facts.name == "numpy.repeat" else "dim"
            what = f"repeats rows, and keeps {len(facts.shape_in)} dims; without {word} x is flattened"
            found += ((f"{word}=0", what),)
        return found
    found = (("np.repeat, torch.repeat_interleave", f"each element several times in a row: {each}, not {whole}"),)
    if facts.name == "repeat":
        found += (("tile", "takes fewer numbers than x has dims, and puts ones in front; repeat refuses them"),)
    return found


def _example(facts: Facts, each: bool) -> str:
    """Returns the first elements repeated twice: each in a row, or the whole twice."""
    values = ["1", "2", "3"]
    if facts.shown is not None and facts.values and not facts.positions:
        values = [label(v) for v in facts.shown[0].reshape(-1)[:3].tolist()]
        if len(set(values)) < len(values) or len(values) < 2:
            values = ["1", "2", "3"]
    return f"[{' '.join([v for v in values for _ in range(2)] if each else values * 2)}]"


def _of_resampling(facts: Facts) -> Pairs:
    spec = facts.made.spec
    resize = spec.resize() if isinstance(spec, Interpolate) else spec
    if not facts.maps or not resize.rules:
        return ()
    axis, m = facts.maps[0]
    rule = next(r for a, r in zip(resize.axes, resize.rules) if a == axis)
    kind, widens = str(rule.kind), rule.antialias and m.n_out < m.n_in
    found: Pairs = ()
    if kind not in NEAREST and facts.x.memory_layout.dtype in ("int32", "int64"):
        what = "takes values as they are; this call mixes them, and the mean of two labels is another label"
        found += (('mode="nearest-exact", for labels', what),)
    if kind in NEAREST:
        other = "nearest" if kind == "nearest-exact" else "nearest-exact"
        found += ((f'mode="{other}"', _against(m, _map(m, other), "takes")),)
    elif kind in ("linear", "cubic") and not widens:
        found += (_other_align(m, rule, isinstance(spec, Interpolate)),)
        if m.n_out < m.n_in:
            found += (("antialias=True", _skipped(facts, m)),)
    elif widens:
        sharp = _map(m, "cubic" if kind == "cubic" else "linear", antialias=False)
        found += (("antialias=False", _against(m, sharp, "has")),)
    if len(resize.size) == 2 and resize.size[0] != resize.size[1]:
        swapped = tuple(reversed(resize.size))
        found += (("cv2.resize, Image.resize", f"take (width, height), {swapped} here; this call takes {resize.size}"),)
    return found


def _other_align(m: AxisMap, rule: AxisRule, of_interpolate: bool) -> tuple[str, str]:
    """Returns the argument for the other alignment, and how the result differs."""
    corners = rule.align != "align_corners"
    words = "align_corners=True" if of_interpolate else 'align="align_corners"'
    if not corners:
        words = words.replace("True", "False").replace('align_corners"', 'half_pixel"')
    mode = cubic(rule.cubic) if str(rule.kind) == "cubic" else str(rule.kind)
    align = "align_corners" if corners else "half_pixel"
    aligned = _map(m, mode, align=align, edge=rule.edge, antialias=False)
    return words, _against(m, aligned, "has")


def _map(m: AxisMap, mode: str | Filter, **how: object) -> AxisMap:
    return axis_map(m.n_in, m.n_out, mode, **how)  # type: ignore[arg-type]


def _against(mine: AxisMap, other: AxisMap, verb: str) -> str:
    """Says in which of the first outputs another map's rows differ."""
    n = min(mine.n_out, MOST)
    differ = [o for o in range(n) if not _alike(mine, other, o)]
    if not differ:
        return "the same here" + ("" if n == mine.n_out else f", as far as the first {n:,} outputs")
    among = f"{len(differ):,} of {n:,} outputs" if n == mine.n_out else f"{len(differ):,} of the first {n:,} outputs"
    o = differ[0]
    if isinstance(mine, Copy) and isinstance(other, Copy):
        return f"{verb} other inputs for {among}: {formula(other, o, 'y', 'x')}, not {formula(mine, o, 'y', 'x')}"
    return f"{verb} other weights for {among}: {formula(other, o, 'y', 'x')}, not {formula(mine, o, 'y', 'x')}"


def _alike(a: AxisMap, b: AxisMap, o: int) -> bool:
    first, second = row(a, o, 64), row(b, o, 64)
    return first.n == second.n and all(
        i == j and math.isclose(v, w, abs_tol=1e-6) for (i, v), (j, w) in zip(first.taps, second.taps)
    )


def _skipped(facts: Facts, m: AxisMap) -> str:
    used = min(m.n_in, sum(row(m, o, 64).n for o in range(min(m.n_out, MOST))))
    if m.n_out <= MOST and used < m.n_in:
        return f"reads all {m.n_in:,} inputs; this call leaves at least {m.n_in - used:,} of them unread, which aliases"
    return "reads all inputs that an output covers, so that fine patterns do not alias"
