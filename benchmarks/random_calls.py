"""`python -m benchmarks random`: calls that nobody chose, each beside the same call of PyTorch or NumPy.

It writes docs/measured/random.md and a part of docs/performance.md. A call is a few lines of Python, printed for the
slowest. Shapes, dims, dtypes, layouts, factors, scales, modes, counts and gradients are random, and results have 40
bytes to 64 MiB. A call is timed in pairs with its peer, and some with themselves: how often these are "slower" is what
noise does. A call that seems slower is timed once more.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.nn import functional

import tenter
from benchmarks import random_report as report
from benchmarks.machine import Settings, brief, machine
from benchmarks.measure import Call, fill, in_turns, timed
from benchmarks.peers import set_threads
from benchmarks.random_report import ITSELF, Drawn, Timed
from benchmarks.results import LOSS, Contest

LEAST_BYTES, MOST_BYTES = 40, 64 << 20
SECONDS, BLOCK, LEAST, MOST = 0.03, 2e-4, 5, 25  # of the pairs of a call; of a timing; how many pairs
SELDOM, MOST_REPEATS, MOST_SCALE = 0.15, 1 << 14, 1 << 10  # how often factors may be large, and how large
ITSELF_OF = 4  # one in so many calls is timed against itself
NAMES = {"np": np, "torch": torch, "F": functional, "tenter": tenter}
SIZES = {"uint8": 1, "bool": 1, "int16": 2, "float16": 2, "bfloat16": 2, "int32": 4, "float32": 4, "int64": 8,
         "float64": 8, "complex64": 8, "complex128": 16}  # fmt: skip
COPIED = [d for d in SIZES if d != "bfloat16"]  # which NumPy has too
FLOATS = ("float32", "float32", "float32", "float64", "float16", "bfloat16")
SPATIAL = {"nearest": (1, 2, 3), "nearest-exact": (1, 2, 3), "linear": (1,), "bilinear": (2,), "trilinear": (3,),
           "bicubic": (2,), "area": (1, 2, 3)}  # fmt: skip


class Chance:
    def __init__(self, seed: int, number: int) -> None:
        self.rng = np.random.default_rng((seed, number))
        self.bytes = int(LEAST_BYTES * (MOST_BYTES / LEAST_BYTES) ** self.rng.random())  # of the result, about

    def one(self, of: Any) -> Any:
        return of[int(self.rng.integers(len(of)))]

    def between(self, lo: float, hi: float) -> float:
        """As likely in each octave."""
        return float(lo * (hi / lo) ** self.rng.random())

    def whole(self, lo: int, hi: int) -> int:
        return min(hi, int(self.between(lo, hi + 1)))

    def repeats(self) -> float:
        """How many times an array is repeated: seldom very often."""
        return self.between(2, MOST_REPEATS if self.rng.random() < SELDOM else 64)

    def scale(self) -> float:
        """How many times an axis is resized: seldom far."""
        most = MOST_SCALE if self.rng.random() < SELDOM else 4
        return self.between(1 / most, most)

    def shape(self, ndim: int, values: float) -> list[int]:
        """About so many values."""
        cuts = np.sort(self.rng.random(ndim - 1))
        shares = np.diff([0.0, *cuts, 1.0])
        return [max(1, round(float(max(values, 1.0) ** s))) for s in shares]

    def array(self, shape: list[int], dtype: str, torchs: bool, layouts: tuple[str, ...]) -> str:
        """An expression that makes x."""
        layout, order = self.one(layouts), list(range(len(shape)))
        made = list(shape)
        if layout == "transposed":
            order = [int(d) for d in self.rng.permutation(len(shape))]
            made = [shape[d] for d in order]
        elif layout == "strided":
            made[-1] *= 2
        elif layout == "part":
            made = [n + 2 for n in shape]
        elif layout == "expanded":
            made[int(self.rng.integers(len(shape)))] = 1
        as_numpy = dtype if dtype != "bfloat16" else "float32"
        x = f'(np.random.default_rng(0).random({tuple(made)}) * 99).astype("{as_numpy}")'
        if torchs:
            x = f"torch.from_numpy({x})" + ".bfloat16()" * (dtype == "bfloat16")
        if layout == "transposed" and order != sorted(order):
            back = tuple(int(d) for d in np.argsort(order))
            x += f".permute{back}" if torchs else f".transpose{back}"
        elif layout == "strided":
            x += "[..., ::2]"
        elif layout == "part":
            x += f"[{', '.join(['1:-1'] * len(shape))}]"
        elif layout == "expanded":
            x = f"{x}.expand({str(shape)[1:-1]})" if torchs else f"np.broadcast_to({x}, {tuple(shape)})"
        elif layout == "channels_last" and torchs and len(shape) == 4:
            x += ".to(memory_format=torch.channels_last)"
        return f"x = {x}"


LAYOUTS = ("contiguous",) * 6 + ("transposed", "strided", "part", "expanded")
GRADIENTS = ("torch.rand_like(z)",) * 3 + ("torch.ones(()).to(z).expand_as(z)",)  # the last as of a sum


def copied(r: Chance, gradient: bool, factor: float) -> tuple[str, list[int], bool]:
    """x, its shape, and whether it is a tensor: of a copy that grows it so many times."""
    torchs = gradient or bool(r.rng.random() < 0.6)
    dtype = r.one(FLOATS if gradient else COPIED + ["bfloat16"] * torchs)
    shape = r.shape(int(r.rng.integers(1, 5)), r.bytes / factor / SIZES[dtype])
    return r.array(shape, dtype, torchs, ("contiguous",) if gradient else LAYOUTS), shape, torchs


def interleaved(r: Chance, gradient: bool) -> Drawn:
    times = int(r.repeats())
    x, shape, torchs = copied(r, gradient, times)
    dim = int(r.rng.integers(-len(shape), 0)) if r.rng.random() < 0.5 else -1
    theirs = f"torch.repeat_interleave(x, {times}, {dim})" if torchs else f"np.repeat(x, {times}, {dim})"
    ours = f"tenter.repeat_interleave(x, {times}, {dim})"
    return drawn(r, "repeat_interleave by an int", torchs, x, ours, theirs, gradient)


def counted(r: Chance, gradient: bool) -> Drawn:
    most = r.whole(1, 16)
    x, shape, torchs = copied(r, gradient, max(0.5, most / 2))
    dim = int(r.rng.integers(len(shape)))
    dtype = r.one(("int64", "int64", "int32"))
    counts = f'counts = np.random.default_rng(1).integers(0, {most + 1}, {shape[dim]}).astype("{dtype}")'
    x += f"\n{counts}" + "\ncounts = torch.from_numpy(counts)" * torchs
    theirs = f"torch.repeat_interleave(x, counts, {dim})" if torchs else f"np.repeat(x, counts, {dim})"
    ours = f"tenter.repeat_interleave(x, counts, {dim})"
    return drawn(r, "repeat_interleave by counts", torchs, x, ours, theirs, gradient)


def tiled(r: Chance, gradient: bool) -> Drawn:
    factor = r.repeats()
    x, shape, torchs = copied(r, gradient, factor)
    times = r.shape(len(shape) + int(r.rng.integers(0, 2)), factor)
    name = r.one(("repeat", "tile"))
    if torchs:
        return drawn(
            r, name, True, x, f"tenter.{name}(x, {str(times)[1:-1]})", f"x.{name}({str(times)[1:-1]})", gradient
        )
    if name == "repeat":
        axis, n = int(r.rng.integers(len(shape))), round(factor)
        return drawn(r, "numpy.repeat", False, x, f"tenter.numpy.repeat(x, {n}, {axis})", f"np.repeat(x, {n}, {axis})")
    return drawn(r, "numpy.tile", False, x, f"tenter.numpy.tile(x, {tuple(times)})", f"np.tile(x, {tuple(times)})")


def expanded(r: Chance, gradient: bool) -> Drawn:
    factor = int(r.repeats())
    x, shape, torchs = copied(r, gradient, factor)
    sizes = ", ".join(str(n) for n in [factor, *shape])
    theirs = f"x.expand({sizes})" if torchs else f"np.broadcast_to(x, ({sizes}))"
    return drawn(r, "expand", torchs, x, f"tenter.expand(x, {sizes})", theirs, gradient)


def interpolated(r: Chance, gradient: bool) -> Drawn:
    mode = r.one(tuple(SPATIAL))
    spatial = r.one(SPATIAL[mode])
    dtype = "uint8" if not gradient and mode in ("nearest", "bilinear", "bicubic") and r.rng.random() < 0.2 else None
    dtype = dtype or r.one(FLOATS)
    scales = [r.scale()] * spatial if r.rng.random() < 0.5 else [r.scale() for _ in range(spatial)]
    room = r.bytes / SIZES[dtype] / float(np.prod(scales))  # less than 1 where the result would be larger
    scales = [s * min(1.0, room) ** (1 / spatial) for s in scales]
    shape = r.shape(2 + spatial, min(r.bytes / float(np.prod(scales)), MOST_BYTES) / SIZES[dtype])
    sizes = [max(1, round(n * s)) for n, s in zip(shape[2:], scales)]
    given = f"size={tuple(sizes)}"
    if len(set(scales)) == 1 and all(int(n * scales[0]) >= 1 for n in shape[2:]) and r.rng.random() < 0.5:
        given = f"scale_factor={scales[0]!r}"
    antialias = mode in ("bilinear", "bicubic") and r.rng.random() < 0.4
    aligned = mode in ("linear", "bilinear", "trilinear", "bicubic") and not antialias and r.rng.random() < 0.15
    names = f', {given}, mode="{mode}"' + ", antialias=True" * antialias + ", align_corners=True" * aligned
    layouts = ("contiguous",) if gradient else ("contiguous",) * 5 + ("channels_last", "part", "expanded")
    x = r.array(shape, dtype, True, layouts)
    ours, theirs = f"tenter.interpolate(x{names})", f"F.interpolate(x{names})"
    return drawn(r, mode + ", antialiased" * antialias, True, x, ours, theirs, gradient)


def drawn(r: Chance, function: str, torchs: bool, x: str, ours: str, theirs: str, gradient: bool = False) -> Drawn:
    peer = "PyTorch" if torchs else "NumPy"
    if not gradient:
        return Drawn(function, peer, x, ours, theirs)
    x += f"\nx.requires_grad_()\nz = {theirs}\ny = {ours}\ng = {r.one(GRADIENTS)}"
    name = f"gradient of {function}"
    if r.rng.random() < 0.25:  # with the call itself, as in a training loop
        by = "torch.autograd.grad({}, x, g)[0]"
        return Drawn(name, peer, x, by.format(ours), by.format(theirs))
    by = "torch.autograd.grad({}, x, g, retain_graph=True)[0]"
    return Drawn(name, peer, x, by.format("y"), by.format("z"))


MAKERS: tuple[Callable[[Chance, bool], Drawn], ...] = (interleaved, counted, tiled, tiled, expanded, interpolated,
                                                       interpolated, interpolated)  # fmt: skip


def draw(seed: int, number: int) -> Drawn:
    r = Chance(seed, number)
    make = r.one(MAKERS)
    return make(r, bool(r.rng.random() < 0.3))


def bound(call: Drawn) -> tuple[Call, Call]:
    names = dict(NAMES)
    exec(call.setup, names)
    return eval(f"lambda: {call.ours}", names), eval(f"lambda: {call.theirs}", names)


def contest(a: Call, b: Call) -> Contest:
    found = Contest()
    fill(found, in_turns(a, b, SECONDS, BLOCK, timed, least=LEAST, most=MOST))
    if found.ratio < LOSS:  # once more, and what is nearer to the other counts
        again = Contest()
        fill(again, in_turns(a, b, 2 * SECONDS, BLOCK, timed, least=2 * LEAST, most=2 * MOST))
        found = max(found, again, key=lambda c: c.ratio)
    return found


def timed_calls(chosen: argparse.Namespace) -> Iterator[Timed]:
    end = time.monotonic() + 60 * chosen.minutes if chosen.minutes else None
    number, made = 0, Counter[int]()  # by the number of threads
    while (end is None or time.monotonic() < end) and (chosen.calls is None or made.total() < chosen.calls):
        call, number = draw(chosen.seed, number), number + 1
        if chosen.only.lower() not in call.function.lower():
            continue
        threads = chosen.threads[number % len(chosen.threads)]
        set_threads(threads)
        try:
            ours, theirs = bound(call)
            if (a := ours()).shape != (b := theirs()).shape or str(a.dtype) != str(b.dtype):
                raise ValueError(f"{a.dtype}{tuple(a.shape)}, not {b.dtype}{tuple(b.shape)}")
            del a, b
        except Exception as error:
            if not refused(call):
                yield Timed(call, threads, Contest(failed=f"{type(error).__name__}: {error}"))
            continue
        made[threads] += 1
        yield Timed(call, threads, contest(ours, theirs))
        if made[threads] % ITSELF_OF == 0:
            yield Timed(call._replace(function=ITSELF, peer="tenter"), threads, contest(ours, ours))


def refused(call: Drawn) -> bool:
    """Whether the peer has no such call, as PyTorch of some dtypes."""
    names = dict(NAMES)
    try:
        exec("\n".join(line for line in call.setup.split("\n") if not line.startswith("y = ")), names)  # without ours
        eval(call.theirs, names)
    except Exception:
        return True
    return False


def add_arguments(parser: argparse.ArgumentParser, positive: Callable[[str], int]) -> None:
    parser.add_argument("--calls", type=positive, metavar="N", help="so many (default: 300, without --minutes)")
    parser.add_argument("--minutes", type=float, metavar="M", help="until so long has passed")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the choices (default: 0)")
    parser.add_argument("--threads", type=positive, action="append", metavar="N", help="may be repeated (default: 1)")
    parser.add_argument("--only", metavar="TEXT", default="", help="functions with this in their names; not written")
    parser.add_argument("--print", action="store_true", dest="printed", help="printed, not written")
    parser.add_argument(
        "--slowest", type=int, default=4, metavar="N", help="print the source of so many of each function (default: 4)"
    )


def main(chosen: argparse.Namespace) -> int:
    chosen.threads = chosen.threads or [1]
    if chosen.calls is None and chosen.minutes is None:
        chosen.calls = 300
    found: list[Timed] = []
    failed: list[Timed] = []
    before = torch.get_num_threads()
    try:
        for one in timed_calls(chosen):
            (failed if one.contest.failed else found).append(one)
    finally:
        set_threads(before)
    if not found:
        print(f"no call has {chosen.only!r} in its name", file=sys.stderr)
        return 2
    print(f"{report.shares(found)}\n\n{report.table(found)}")
    for one in report.slowest(found, chosen.slowest):
        print(f"\n{one.source()}")
    for one in failed:
        print(f"\n# {one.contest.failed}\n{one.drawn.setup}\n{one.drawn.ours}\n{one.drawn.theirs}")
    if not (chosen.only or chosen.printed):
        report.write(found, about(chosen, found))
    return int(bool(failed))


def about(chosen: argparse.Namespace, found: list[Timed]) -> str:
    """The machine, and the command that makes the same calls."""
    until = f"--minutes {chosen.minutes:g}" if chosen.minutes else f"--calls {chosen.calls}"
    threads = "".join(f" --threads {n}" for n in chosen.threads)
    made = sum(one.drawn.function != ITSELF for one in found)
    where = brief(machine(Settings(max(chosen.threads), 0, 0)))
    return f"{where} `python -m benchmarks random {until} --seed {chosen.seed}{threads}` made {made:,} calls."
