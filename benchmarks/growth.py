"""How time grows: with the size of the result, the scale factor, the number of dims, the threads."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import curves
from benchmarks.curves import Workload
from benchmarks.machine import Settings, cores
from benchmarks.results import Point
from benchmarks.workloads import Row, interleave, resize, whole

PANELS = ELEMENTS, SCALE, DIMS, THREADS = "size of the result", "scale factor", "dims", "threads"
LARGEST = 2**30  # bytes of the largest result
SCALES = (0.125, 0.25, 0.5, 0.75, 1.5, 2, 3, 4, 6, 8)
IN_BITS, FACTOR_BITS = 18, 6  # of the number of elements, and of how many times more come out, whatever the dims


def workloads() -> Iterator[Workload]:
    yield from by_elements()
    yield from by_scale()
    yield from by_dims()
    yield from by_threads()


def by_elements() -> Iterator[Workload]:
    """Float32, 2^10 to 2^30 bytes, s * s elements. Counts are 4 on average, so that result is about as large."""
    sides = [2**k for k in range(4, 15) if 4 * 4**k <= LARGEST]
    for s in sides:
        yield work(ELEMENTS, "repeat_interleave, counts", 4 * s * s, interleave("", (s * s // 4,), 0, None), 4 * s * s)
    for s in sides:
        yield work(ELEMENTS, "repeat", 4 * s * s, whole("repeat", (s // 4, s // 4), (4, 4)), 4 * s * s)
    for mode in ("bilinear", "bicubic"):
        for s in sides:
            row = resize(mode, (1, 4, s // 4, s // 4), (s // 2, s // 2))
            yield work(ELEMENTS, mode, 4 * s * s, row, 4 * s * s)


def by_scale() -> Iterator[Workload]:
    for mode, antialias in (("nearest", False), ("bilinear", False), ("bicubic", False), ("bilinear", True)):
        for scale in SCALES:
            side = round(512 * scale)
            row = resize(mode, (1, 3, 512, 512), (side, side), antialias=antialias)
            yield work(SCALE, f"{mode}{', antialiased' * antialias}", scale, row, 12 * side * side)


def by_dims() -> Iterator[Workload]:
    output = 4 * 2 ** (IN_BITS + FACTOR_BITS)
    for d in range(1, 7):
        yield work(DIMS, "repeat", d, whole("repeat", split(IN_BITS, d), split(FACTOR_BITS, d)), output)
    for d in range(1, 7):
        row = interleave("", split(IN_BITS, d), d // 2, 2**FACTOR_BITS)
        yield work(DIMS, "repeat_interleave, middle dim", d, row, output)
    for d, mode in enumerate(("linear", "bilinear", "trilinear"), 1):
        shape = split(IN_BITS - 2, d)  # and four channels: PyTorch's positions are right to 2^24 outputs of a dim
        size = tuple(n * r for n, r in zip(shape, split(FACTOR_BITS, d)))
        yield work(DIMS, "linear kinds", d, resize(mode, (1, 4, *shape), size), output)


def by_threads() -> Iterator[Workload]:
    rows = {
        "repeat_interleave, counts": interleave("", (1_000_000,), 0, None),
        "repeat": whole("repeat", (1024, 1024), (4, 4)),
        "bilinear": resize("bilinear", (8, 64, 128, 128), (256, 256)),
        "bicubic": resize("bicubic", (8, 64, 128, 128), (256, 256)),
    }
    counts = [2**k for k in range(8) if 2**k <= cores()]
    for name, row in rows.items():
        for threads in counts:
            yield work(THREADS, name, threads, row, 2**27)._replace(threads=threads)


def split(bits: int, dims: int) -> tuple[int, ...]:
    """That many powers of two, as even as can be, whose product has so many bits."""
    return tuple(2 ** (bits // dims + (k < bits % dims)) for k in range(dims))


def work(panel: str, name: str, at: float, row: Row, output: int) -> Workload:
    return Workload(panel, name, at, row.make, output)


def run(settings: Settings) -> list[Point]:
    return curves.run(workloads(), settings)


def markdown(found: list[Point], picture: str) -> list[str]:
    parts = ["## Growth", f"![Time against size of the result, scale factor, dims and threads]({picture})"]
    return [*parts, *(["\n".join(bad)] if (bad := curves.failures(found)) else [])]
