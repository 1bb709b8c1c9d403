"""What `tenter.interp` means, in plain Python and NumPy, from the formulas: one output and one interval at a time."""

from __future__ import annotations

import itertools

import numpy as np


def interp(x, at, coordinates, mode="linear", period=None, edge="replicate", value=0.0, weights=None):
    """Along the last axis, in float64."""
    x, at, c = np.asarray(x, float), [float(a) for a in at], [float(a) for a in coordinates]
    below, above = value if isinstance(value, tuple) else (value, value)
    if mode == "area":
        cells = [area(x, min(a, b), max(a, b), c, period, weights) for a, b in itertools.pairwise(at)]
        outside = [(min(a, b) < min(c), max(a, b) > max(c)) for a, b in itertools.pairwise(at)]
    else:
        order = np.argsort([a % period for a in c] if period else c)
        x, c = x[..., order], sorted(a % period for a in c) if period else sorted(c)
        if period:
            at = [a % period for a in at]
            n = len(c)
            c = [a + lap * period for lap in (-2, -1, 0, 1, 2) for a in c]
            x = np.concatenate([x] * 5, -1)
            assert n * 5 == len(c)
        cells = [point(x, a, c, mode, edge) for a in at]
        outside = [(a < c[0], a > c[-1]) for a in at]
    y = np.stack(cells, -1) if cells else x[..., :0]
    if edge == "constant":
        for o, (low, high) in enumerate(outside):
            if low or high:
                y[..., o] = above if high else below
    return y


def point(x, a, c, mode, edge):
    if len(c) == 1:
        return x[..., 0]
    if edge != "extrapolate":
        a = min(max(a, c[0]), c[-1])
    if mode == "previous":
        return x[..., max(k for k in range(len(c)) if c[k] <= a)]
    if mode == "next":
        return x[..., min(k for k in range(len(c)) if c[k] >= a)]
    if mode == "nearest":
        return x[..., min(range(len(c)), key=lambda k: (abs(c[k] - a), k))]
    i = max([k for k in range(len(c) - 1) if c[k] <= a], default=0)
    h = c[i + 1] - c[i]
    u = (a - c[i]) / h
    if mode == "linear" or len(c) == 2:
        return x[..., i] if u == 0 else x[..., i + 1] if u == 1 else x[..., i] * (1 - u) + x[..., i + 1] * u
    # Slopes are NumPy's. Those of two neighbors need their own neighbors only.
    lo, hi = max(0, min(i - 1, len(c) - 3)), min(len(c), max(i + 3, 3))
    d = np.gradient(x[..., lo:hi], np.array(c[lo:hi]), axis=-1, edge_order=2)
    left, right = d[..., i - lo], d[..., i + 1 - lo]
    return (
        x[..., i] * (2 * u**3 - 3 * u**2 + 1)
        + x[..., i + 1] * (3 * u**2 - 2 * u**3)
        + h * (left * (u**3 - 2 * u**2 + u) + right * (u**3 - u**2))
    )


def area(x, a, b, e, period, weights):
    """The mean of a cell from a to b."""
    n = len(e) - 1
    w = np.ones(n) if weights is None else np.asarray(weights, float)
    if period is None:
        down = e[-1] < e[0]
        k_low, k_high = (n - 1, 0) if down else (0, n - 1)
        spans = [[min(e[k], e[k + 1]), max(e[k], e[k + 1])] for k in range(n)]
        spans[k_low][0], spans[k_high][1] = min(a, min(e)), max(b, max(e))
        laps = [0.0]
    else:
        spans, laps = [[min(e[k], e[k + 1]), max(e[k], e[k + 1])] for k in range(n)], None
        first = int(np.floor((a - max(e)) / period)) - 1
        laps = [lap * period for lap in range(first, first + 5)]
    total, of = 0.0, 0.0
    for k, (low, high) in enumerate(spans):
        covered = sum(max(0.0, min(b, high + lap) - max(a, low + lap)) for lap in laps)
        if covered > 1e-10:  # less is a rounding error, which would read NaN
            total, of = total + x[..., k] * covered * w[k], of + covered * w[k]
    return total / of


def coordinates(rng, n, equal=False):
    """n ascending coordinates with steps from 0.05 to 1."""
    return np.cumsum(np.ones(n) if equal else rng.uniform(0.05, 1, n)) + rng.uniform(-5, 5)


def case(seed):
    """A random call: x with its axis last, and the other arguments by name."""
    rng = np.random.default_rng(seed)
    mode = ("linear", "nearest", "previous", "next", "catmull-rom", "area")[seed % 6]
    n, m = int(rng.integers(1, 30)), int(rng.integers(0, 30))
    is_area = mode == "area"
    c = coordinates(rng, n + is_area, bool(rng.random() < 0.2))
    how = {"mode": mode}
    low, span = c[0] - 1, c[-1] - c[0] + 2
    if rng.random() < 0.3:
        how["period"] = float(c[-1] - c[0]) if is_area else float(c[-1] - c[0] + rng.uniform(0.05, 1))
        low, span = low - 2 * span, 5 * span
    elif rng.random() < 0.4:
        how["edge"] = "constant"
        how["value"] = (-7.0, 9.0) if rng.random() < 0.5 else -7.0
    elif mode in ("linear", "catmull-rom") and n > 1 and rng.random() < 0.4:
        how["edge"] = "extrapolate"
    if is_area:
        m = max(m, 1)
        width = how.get("period", 1.0)
        at = np.cumsum(rng.uniform(0.1, 1, m + 1)) * width / rng.integers(1, 4) + low
        if rng.random() < 0.5:
            how["weights"] = rng.uniform(0.1, 1, n)
    else:
        at = low + rng.random(m) * span
        if m and rng.random() < 0.5:
            at[: m // 2] = rng.choice(c, m // 2)
    if rng.random() < 0.3:
        at = np.sort(at)
    if not is_area and rng.random() < 0.3 and "period" in how:
        c = rng.permutation(c)
    elif rng.random() < 0.4:
        c = c[::-1].copy()
    if rng.random() < 0.3:
        at = at[::-1].copy()
    if not is_area and rng.random() < 0.3 and "period" not in how:  # whole numbers, some of them ties
        c, at = np.arange(n) * 2 * (1 if c[-1] >= c[0] else -1), rng.integers(-3, 2 * n + 3, m)
    x = rng.standard_normal((*rng.integers(1, 4, rng.integers(0, 3)), n))
    return x, at, c, how
