"""What speed decides (native/kernels/choices.hpp): every answer gives the same bits, `explain` names the kernels that run,
and the places that decide do not become more."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from fuzz.caches import forget

import tenter
from maps_of import planned, resample
from roots import NATIVE
from sweeps import sampled
from tenter import Shape, _native
from tenter.maps import AxisMap, Copy

tuning = _native.tuning
CHOICES, KERNELS = _native.WORDS["choice"], _native.WORDS["kernel"]
DTYPES = ("float32", "float32", "float64", "float16", "uint8", "int16", "int64", "complex64")
LENGTHS = (1, 2, 3, 5, 8, 13, 17, 40, 70)

# ---- the same bits


def a_map(rng: np.random.Generator, n: int) -> AxisMap:
    """Weighted and plain sums of n inputs, of equal and of unlike lengths, growing and shrinking."""
    m = int(rng.choice([1, 2, max(1, n // 3), n + 3, 2 * n]))
    width = int(rng.choice([w for w in (1, 2, 3, 4, 5, 8) if n % w == 0]))
    return [
        lambda: resample("linear", n, m),
        lambda: resample("linear", n, m, antialias=True),
        lambda: resample("cubic", m, n).T,
        lambda: resample("area", n, m),
        lambda: Copy.repeats(rng.multinomial(n, np.full(m, 1 / m))).T,
        lambda: Copy.repeat_each(n // width, width).T,
        lambda: resample("nearest", m, n).T,
        lambda: resample("cubic", n, m),
    ][rng.integers(8)]()


def laid_out(rng: np.random.Generator, shape: list[int], dtype: str) -> np.ndarray:
    """Numbers, zeros of both signs, infinities: dims in any order, cut out of a larger array, reversed, expanded."""
    order = rng.permutation(len(shape)) if rng.random() < 0.4 else np.arange(len(shape))
    room = [shape[d] + int(rng.integers(0, 3)) * (rng.random() < 0.3) for d in order]
    x = rng.standard_normal(room) * 60
    x[rng.random(room) < 0.05] = -0.0
    x = (np.clip(np.abs(x), 0, 255) if dtype == "uint8" else x).astype(dtype)
    if x.dtype.kind in "fc" and rng.random() < 0.2:
        x[rng.random(room) < 0.02] = np.inf
    x = x[tuple(slice(shape[d]) for d in order)].transpose(np.argsort(order))
    if rng.random() < 0.2:
        x = np.flip(x, int(rng.integers(x.ndim)))
    if rng.random() < 0.15:
        d = int(rng.integers(x.ndim))
        x = np.broadcast_to(x[(slice(None),) * d + (slice(1),)], shape)
    return x


def sums(rng: np.random.Generator) -> Iterator[tuple[np.ndarray, tuple[tuple[int, AxisMap], ...]]]:
    """Arrays, and maps along some of their axes: of any shapes; of few pixels that are read; of planes that become a value; long; many short rows."""
    kind = rng.integers(8)
    if kind == 0:  # pictures made smaller
        shape = [int(rng.integers(9, 40)), int(rng.integers(20, 60)), int(rng.integers(2, 5))]
        x = laid_out(rng, shape, str(rng.choice(["float32", "uint16", "int16"])))
        rows, columns = (resample("linear", n, max(1, n // int(rng.integers(2, 5)))) for n in shape[:2])
        return x, ((0, rows), (1, columns))
    if kind == 1:  # planes of which one value stays
        shape = [*rng.integers(1, 7, 2).tolist(), int(rng.integers(100, 700))]
        return laid_out(rng, shape, str(rng.choice(DTYPES))), (
            (0, resample("area", shape[0], 1)),
            (1, resample("area", shape[1], 1)),
        )
    shape = [int(rng.choice(LENGTHS)) for _ in range(rng.integers(1, 5))]
    if kind == 4:
        shape = [*(min(n, 3) for n in shape[:-1]), int(rng.integers(200, 3000))]
    elif kind == 2:
        shape = [int(rng.integers(70, 300)), int(rng.integers(1, 4)), int(rng.integers(1, 20))]
    elif kind == 3:
        shape[-1] = int(rng.choice([1, 2, 3, 4, 6, 16, 300]))
    while np.prod(shape) > 60_000:
        shape[int(np.argmax(shape))] //= 2
    x = laid_out(rng, shape, str(rng.choice(DTYPES)))
    n = int(rng.integers(1, min(3, x.ndim) + 1))
    axes = sorted(rng.choice(x.ndim, n, replace=False).tolist())
    if rng.random() < 0.5:  # the last, or those before the last
        first = x.ndim - n - bool(x.ndim > n and rng.random() < 0.5)
        axes = list(range(first, first + n))
    return x, tuple((axis, a_map(rng, shape[axis])) for axis in axes)


def made(x: np.ndarray, maps: Any) -> tuple[bytes, Any]:
    """The bits of a result, and the kernels that made it."""
    plan = planned(x, maps)
    with np.errstate(all="ignore"):
        return plan.run(x).tobytes(), plan.steps.steps


def forced(question: int, answer: str) -> None:
    tuning.taken = tuning.left = 0
    setattr(tuning, answer, 1 << question)


# Questions whose answers no plan names: kernels ask them at each block of outputs.
INSIDE = {"permuted", "single_rows", "squares", "long_segments"}


@pytest.mark.parametrize("first, n", sampled([(0, 300), (300, 5000)], 2))
def test_every_answer_to_a_question_of_speed_gives_the_same_bits(first: int, n: int, level: str) -> None:
    others: Counter[tuple[str, str]] = Counter()  # plans of other kernels
    for seed in range(first, first + n):
        rng = np.random.default_rng(seed)
        tuning.reset()
        forget()  # maps know whether their axis is long
        if rng.random() < 0.3:  # few rows are long
            tuning.long_axis = tuning.signal_axis = 0
            tuning.tap_outputs = 16
        x, maps = sums(rng)
        want, usual = made(x, maps)
        for question, name in enumerate(CHOICES):
            for answer in ("taken", "left"):
                forced(question, answer)
                got, steps = made(x, maps)
                assert got == want, (seed, name, answer, x.dtype, x.shape, x.strides, maps, usual, steps)
                others[name, answer] += steps != usual
    met = {name for (name, _), count in others.items() if count}
    assert met >= set(CHOICES) - INSIDE, "a question that no array asks"


def test_every_answer_gives_the_same_8_bit_values(level: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(25):
        shape = [int(rng.choice(LENGTHS)) for _ in range(rng.integers(2, 5))]
        x = laid_out(rng, shape, "uint8")
        axes = (x.ndim - 2, x.ndim - 1) if rng.random() < 0.5 else (0, 1)
        size = tuple(int(rng.integers(1, 50)) for _ in axes)
        how = {"axes": axes, "like": str(rng.choice(["pillow", "torch", "opencv"])), "antialias": rng.random() < 0.7}
        how["mode"] = str(rng.choice(["linear", "cubic"]))

        def call() -> bytes:
            forget()
            return tenter.resize(x, size, **how).tobytes()

        tuning.reset()
        want = call()
        for question, name in enumerate(CHOICES):
            for answer in ("taken", "left"):
                forced(question, answer)
                assert call() == want, (name, answer, x.shape, x.strides, size, how)
    tuning.reset()
    forget()


# ---- what `explain` says


def named(lines: tuple[str, ...]) -> set[str]:
    """The kernels that an explanation names. It does not tell copies apart."""
    found = set()
    for line in lines:
        kind, _, rest = line.partition(", as ")
        if rest:
            by = re.search(r"; by ([\w ]+), as ", rest)
            found.add(by[1].replace(" ", "_") if by else kind)
    return found - {"one thread"}


@pytest.mark.parametrize("first, n", sampled([(0, 60), (60, 3000)], 2))
def test_explain_names_the_kernels_that_run(first: int, n: int) -> None:
    seen = set()
    for seed in range(first, first + n):
        rng = np.random.default_rng(seed)
        shape = [int(rng.choice(LENGTHS)) for _ in range(rng.integers(1, 5))]
        x = laid_out(rng, shape, str(rng.choice(["float32", "uint8", "float64"])))
        axes = tuple(sorted(rng.choice(x.ndim, int(rng.integers(1, min(3, x.ndim) + 1)), replace=False).tolist()))
        size = tuple(int(rng.integers(1, 90)) for _ in axes)
        mode = str(rng.choice(["linear", "cubic", "area", "nearest"]))
        how = {"axes": axes, "mode": mode, "like": str(rng.choice(["torch", "pillow"]))}
        told = named(tenter.explain(tenter.resize, x, size, **how).kernels)
        forget()
        for _ in range(3):  # checked, planned by the core, perhaps cached
            tuning.ran, tuning.notes_kernels = 0, True
            tenter.resize(x, size, **how)
            ran = {name for k, name in enumerate(KERNELS) if tuning.ran >> k & 1}
            tuning.reset()
            assert {name.replace("indexed_copy", "copy") for name in ran} == told, (seed, shape, x.strides, size, how)
        seen |= told
    assert len(seen) > 5 and seen <= set(KERNELS)


def test_explain_says_why_a_kernel_is_taken() -> None:
    for name, why in _native.KERNELS.items():
        assert name in KERNELS and why == why.strip(".").strip() and not why[0].isupper()
    lines = tenter.explain(tenter.resize, Shape(1000, 4), 2, axes=1, mode="linear").kernels
    assert "by joined rows, as rows are short, and several are summed as one" in lines[0]


def test_steps_cost_more_where_they_do_more() -> None:
    for dtype in ("float32", "uint8"):
        for maps in ((0,), (1,), (0, 1)):
            costs = []
            for n in (4, 40, 400):
                x = np.zeros((n, n), dtype)
                plan = planned(x, tuple((axis, resample("linear", n, 2 * n)) for axis in maps))
                costs.append(sum(nanoseconds for _, nanoseconds, _ in plan.steps.steps))
            assert 0 < costs[0] < costs[1] < costs[2], (dtype, maps, costs)


def test_values_of_a_column_that_are_apart_are_packed_where_they_fill_vectors(level: str) -> None:
    fills = {"v4": 64, "vnni": 64, "v3": 32}.get(level, 16) // 8
    for n in (fills, fills - 1):
        x = np.asfortranarray(np.zeros((50, n)))
        kernels = [kernel for kernel, *_ in planned(x, ((0, resample("linear", 50, 20)),)).steps.steps]
        assert (kernels[0] == "copy") == (n >= max(2, fills)), (n, kernels)


# ---- where is decided

DECIDES = "kernels/choices.cpp"
THRESHOLD = re.compile(
    r"^\s*constexpr (?:int|int64_t|double) [^;]*\b(?:least|most|min|max|few|wide|longest|short|some)_?\w* =[^;]*;", re.M
)
MOST_THRESHOLDS = 48  # outside of tuning.hpp


def test_one_file_decides_what_is_fast() -> None:
    files = {path.relative_to(NATIVE).as_posix(): path.read_text() for path in sorted(NATIVE.rglob("*.?pp"))}
    found = {name: asked for name, text in files.items() if (asked := re.findall(r"\bdecide\(Choice::(\w+)", text))}
    assert list(found) == [DECIDES] and {*found[DECIDES]} == {*CHOICES}
    assert sum(text.count("tuning.taken") for text in files.values()) == 1, "the only function that is forced"
    elsewhere = {name: THRESHOLD.findall(text) for name, text in files.items() if name != "system/tuning.hpp"}
    assert sum(map(len, elsewhere.values())) <= MOST_THRESHOLDS, elsewhere
