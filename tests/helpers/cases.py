"""The one table: axis maps, operations and dtypes that the laws run over. Sizes that hurt: 0 and 1, odd and even, ties,
ratios that are no integers, both directions, lengths around vector widths."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maps_of import resample
from tenter.maps import AxisMap, Copy, Gather, Window

INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]

PAIRS = [
    (1, 1),
    (1, 5),
    (5, 1),
    (2, 3),
    (3, 2),
    (4, 8),
    (7, 7),
    (8, 6),
    (6, 8),
    (17, 5),
    (5, 17),
    (31, 33),
    (64, 16),
    (100, 37),
]
MODES = [
    ("nearest", False, False), ("nearest-exact", False, False), ("area", False, False),
    ("linear", False, False), ("linear", True, False), ("linear", False, True), ("linear", True, True),
    ("cubic", False, False), ("cubic", True, False), ("cubic", False, True), ("cubic", True, True),
    ("lanczos", False, True),
]  # fmt: skip
COUNTS = [[], [0], [3], [1, 3, 2], [0, 0, 5, 0], [1] * 20, [0] * 7, [2, 0, 1] * 11, [40, 1, 0, 33, 2]]


class MapCase(NamedTuple):
    name: str
    map: AxisMap


def map_cases() -> list[MapCase]:
    cases = [MapCase(f"counts{len(c)}-{sum(c)}", Copy.repeats(c)) for c in COUNTS]
    cases += [MapCase(f"every{n}x{r}", Copy.repeat_each(n, r)) for n in (0, 1, 5, 17) for r in (0, 1, 2, 3, 5)]
    cases += [MapCase(f"cycle{n}x{r}", Copy.tile(n, r)) for n in (0, 1, 5, 17) for r in (0, 1, 2, 5)]
    for kind, corners, antialias in MODES:
        for n_in, n_out in PAIRS:
            m = resample(kind, n_in, n_out, None, corners, antialias)
            cases.append(MapCase(f"{kind}{'-corners' * corners}{'-antialias' * antialias}{n_in}to{n_out}", m))
        for scale in (0.3, 0.77, 1.3, 2.5):
            n_out = max(1, int(9 * scale))
            m = resample(kind, 9, n_out, scale, corners, antialias)
            cases.append(MapCase(f"{kind}{'-corners' * corners}{'-antialias' * antialias}9by{scale}", m))
    rows = Window(6, 4, [0, 2, 2, 5], [0, 2, 2, 6, 7], [0.5, -1.0, 2.0, 3.0, 4.0, 0.25, 1.0])
    cases.append(MapCase("window-with-empty-row", rows))
    cases.append(MapCase("window-of-ones", Window(5, 4, [0, 1, 2, 3], [0, 2, 4, 6, 8])))
    cases.append(MapCase("window-in-blocks", Window(12, 8, [0, 2, 2, 4], [0, 2, 2, 5, 6], np.arange(6.0), block=2)))
    cases.append(MapCase("window-without-rows", Window(3, 0, [], [0], [])))
    cases.append(MapCase("window-of-nothing", Window(0, 2, [0, 0], [0, 0, 0], [])))
    cases.append(MapCase("window-of-ones-with-gaps", Window(5, 2, [0, 2], [0, 2, 4])))
    cases.append(MapCase("window-of-ones-that-widen", Window(4, 3, [0, 0, 2], [0, 1, 2, 4])))
    cases.append(MapCase("counts-in-blocks", Copy(6, 8, offsets=[0, 1, 1, 4], block=2)))
    cases.append(MapCase("gather-that-leaves-out", Gather(7, 2, [0, 1, 2], [3, 1], [1.0, 2.0])))
    cases.append(MapCase("gather", Gather(4, 3, [0, 2, 2, 5], [3, 0, 1, 1, 2], [1.0, 2.0, -1.0, 0.5, 4.0])))
    return cases


MAPS = map_cases()


class OpCase(NamedTuple):
    """An operation and its arguments after x, for tenter; `torch` names PyTorch's spelling where it differs."""

    op: str
    shape: tuple[int, ...]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}


def op_cases() -> list[OpCase]:
    shapes: list[tuple[int, ...]] = [(), (1,), (5,), (0,), (3, 4), (2, 3, 17), (2, 1, 3, 4), (4, 33)]
    cases = []
    for shape in shapes:
        for r in (0, 1, 2, 3, 7):
            cases.append(OpCase("repeat_interleave", shape, (r,)))
            cases.append(OpCase("repeat_interleave", shape, (r, -1)))
        for dim in range(len(shape)):
            counts = [(3 * i + dim) % 4 for i in range(shape[dim])]
            cases.append(OpCase("repeat_interleave", shape, (counts, dim)))
            cases.append(OpCase("repeat_interleave", shape, (2, dim)))
        n = len(shape)
        for sizes in [
            (2,) * n,
            (1,) * n,
            (3, *range(1, n + 1)),
            (2, 2, *(1,) * n),
            (0,) * max(n, 1),
            tuple(range(n, 0, -1)),
        ]:
            cases.append(OpCase("repeat", shape, sizes))
        for dims in [(2,), (2, 3), (1, 1, 2), (0,), (3,) * max(n, 1)]:
            cases.append(OpCase("tile", shape, (dims,)))
        cases.append(OpCase("expand", shape, (4, *((-1,) * n))))
        cases.append(OpCase("expand", shape, (2, *shape)))
    spatial = {
        1: [((1, 2, 9), (5,)), ((2, 17, 6), (17,)), ((1, 1, 1), (4,)), ((3, 1, 40), (13,))],
        2: [
            ((1, 3, 7, 9), (5, 20)),
            ((2, 4, 16, 5), (33, 3)),
            ((1, 1, 1, 8), (3, 8)),
            ((2, 20, 6, 6), (4, 9)),
            ((1, 2, 5, 6), (8, 3)),
            ((1, 2, 4, 5), (1, 7)),
        ],
        3: [((1, 2, 3, 5, 4), (5, 2, 9)), ((2, 3, 6, 4, 17), (3, 8, 20))],
    }
    names = {"linear": {1: "linear", 2: "bilinear", 3: "trilinear"}, "cubic": {2: "bicubic"}}
    for kind, corners, antialias in MODES:
        for rank, sizes in spatial.items():
            mode = names.get(kind, dict.fromkeys((1, 2, 3), kind)).get(rank)
            for shape, size in sizes if mode else []:
                kwargs: dict[str, Any] = {"size": size, "mode": mode, "antialias": antialias}
                if corners:
                    kwargs["align_corners"] = True
                cases.append(OpCase("interpolate", shape, (), kwargs))
                scaled = dict(kwargs, scale_factor=1.7)
                del scaled["size"]
                cases.append(OpCase("interpolate", shape, (), scaled))
    stays, grows = (1, 2, 4, 5), (1, 2, 7, 9)
    for mode, corners, antialias in [(names.get(m, {2: m})[2], c, a) for m, c, a in MODES if m != "lanczos"]:
        scaled = {"scale_factor": 1.15, "mode": mode, "antialias": antialias}  # a scale that keeps the length
        if not corners:
            cases.append(OpCase("interpolate", stays, (), scaled))
        if not corners and not antialias and mode != "area":
            for again in (None, False, True):
                scaled = {"scale_factor": 1.37, "mode": mode, "antialias": False, "recompute_scale_factor": again}
                cases.append(OpCase("interpolate", grows, (), scaled))
    return cases


OPS = op_cases()


def values(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    """Random values that use the dtype's range, small enough that sums stay finite."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if kind == "c" else x).astype(dtype)
