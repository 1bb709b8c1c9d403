"""Small sizes: from one element to about a MiB, each operation beside its peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from benchmarks import curves
from benchmarks.curves import Workload
from benchmarks.machine import Settings
from benchmarks.results import Point
from benchmarks.summaries import Met
from benchmarks.workloads import FLOAT32, Case, interleave, numpy, picture, resize, whole

SIDES = tuple(2**k for k in range(10))  # of a square of float32: 4 bytes to 1 MiB
PEERS = ("PyTorch", "NumPy", "OpenCV", "Pillow")


def workloads() -> Iterator[Workload]:
    for name, (make, bytes_each) in OPERATIONS.items():
        for side in SIDES:
            at = side * side * bytes_each
            yield Workload(name, "tenter", at, partial(known, make, side), 9 * at)


def known(make: Callable[[int], Case], side: int) -> Case:
    """With the peers of the plot."""
    case = make(side)
    return case._replace(peers={name: peer for name, peer in case.peers.items() if name in PEERS})


# From the side of a square to a case, and the bytes of one element of its input.
OPERATIONS: dict[str, tuple[Callable[[int], Case], int]] = {
    "repeat_interleave, 2 each": (lambda n: interleave("", (n * n,), 0, 2).make(), 4),
    "repeat_interleave, counts 0..8": (lambda n: interleave("", (n * n,), 0, None).make(), 4),
    "repeat by (2, 2)": (lambda n: whole("repeat", (n, n), (2, 2)).make(), 4),
    "tile by (2, 2)": (lambda n: whole("tile", (n, n), (2, 2)).make(), 4),
    "interpolate, nearest, to twice": (lambda n: resize("nearest", (1, 1, n, n), (2 * n, 2 * n)).make(), 4),
    "interpolate, bilinear, to twice": (lambda n: resize("bilinear", (1, 1, n, n), (2 * n, 2 * n)).make(), 4),
    "interpolate, bicubic, to twice": (lambda n: resize("bicubic", (1, 1, n, n), (2 * n, 2 * n)).make(), 4),
    "numpy.repeat, 2 each": (lambda n: numpy("repeat", "", (n * n,), FLOAT32, repeats=2).make(), 4),
    "numpy.repeat, counts 0..8": (lambda n: numpy("repeat", "", (n * n,), FLOAT32).make(), 4),
    "numpy.tile by (2, 2)": (lambda n: numpy("tile", "", (n, n), FLOAT32, reps=(2, 2)).make(), 4),
    "uint8 image, bilinear, to twice": (lambda n: picture(n, n, 2 * n, antialias=False, array=True).make(), 3),
}


def run(settings: Settings) -> list[Point]:
    return curves.run(workloads(), settings)


def met(found: list[Point]) -> Iterator[Met]:
    for p in found:
        for library, c in p.forward.contests.items():
            if not c.failed:
                yield Met(f"{p.panel}, small sizes", f"input of {curves.size(p.at)}", library, c.ratio)


def markdown(found: list[Point], picture: str) -> list[str]:
    parts = ["## Small sizes", f"![Microseconds a call against size of the input]({picture})"]
    return [*parts, *(["\n".join(bad)] if (bad := curves.failures(found)) else [])]
