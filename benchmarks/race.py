"""Calls of which each is new: arguments drawn for every round, tenter and its peers in turns on the same ones.

What a workload draws is bound to a call before the clock starts. Then tenter's call is bound and made again: by its
plan, and after all plans have been forgotten, in turns; each right after a call that brought the input as near. Both
are bound anew, as a gradient's graph holds a result, whose memory is then as near too.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from benchmarks.check import compare
from benchmarks.measure import fill
from benchmarks.results import Contest
from tenter import _native, memory
from tenter._plans import cache
from tenter._specs import axis_maps

Call = Callable[[], Any]
Maker = Callable[[Any], Call]  # from what was drawn to a call with nothing left to bind

OURS, REPEATED, RENEWED = "tenter", "repeated", "renewed"
LEAST_ROUNDS, MOST_ROUNDS = 5, 60
MOST_PAIRS = 4  # repeated and renewed calls of a round, as long as they take less than its peers did
# Times the seconds of a workload, and seconds, after both of which it ends with fewer rounds than the least.
PATIENCE, AT_LEAST = 6, 0.5
HELD = 3  # results of each library
PLANNING = 0.02  # seconds of a call beside which it does not count how it is planned
BLOCK, MOST_CALLS = 5e-4, 64  # seconds that one timing shall last, and of how many calls at most


class Work(NamedTuple):
    """truth: what ours must give for a draw; None: unchecked. left_out: peers that are not called here, and why.
    warm: whether each library makes a call before those that are timed; where the input is larger than any cache
    that says nothing."""

    group: str
    name: str
    draw: Callable[[np.random.Generator], Any]
    ours: Maker
    peers: dict[str, Maker]
    truth: Callable[[Any], Any] | None
    check: str
    at: float = 0.0  # where on a curve
    rounds: int = MOST_ROUNDS
    share: float = 1.0  # of the seconds that a workload gets
    left_out: dict[str, str] = {}  # noqa: RUF012, a tuple's default
    warm: bool = True


@dataclass
class Drawn:
    """ours_ms: of a new call. again_ms: of the same call by its plan. new_to_repeated: of the same call once its plan
    is forgotten, to that. output: bytes of a result."""

    group: str
    name: str
    threads: int
    at: float = 0.0
    ours_ms: float = 0.0
    again_ms: float = 0.0
    new_to_repeated: float = 0.0
    output: int = 0
    error: float = 0.0
    contests: dict[str, Contest] = field(default_factory=dict)
    failed: str = ""


def drawn(found: dict[str, Any]) -> Drawn:
    return Drawn(**{**found, "contests": {name: Contest(**c) for name, c in found["contests"].items()}})


def race(work: Work, threads: int, seconds: float) -> Drawn:
    """What goes wrong in a workload does not end the run."""
    found = Drawn(work.group, work.name, threads, work.at)
    found.contests = {peer: Contest(failed=why) for peer, why in work.left_out.items()}
    rng = np.random.default_rng(0)
    try:
        check(work, work.draw(rng), found)
        if not found.failed:
            run(work, rng, seconds * work.share, found)
    except Exception as error:
        found.failed = f"{type(error).__name__}: {error}"
    return found


def check(work: Work, drawn: Any, found: Drawn) -> None:
    """Ours must be right; of a peer it is noted. This is also everyone's first call."""
    want = None if work.truth is None else work.truth(drawn)
    got = work.ours(drawn)()
    found.output = got.nbytes
    if want is not None:
        found.error, right = compare(got, want, work.check)
        if not right:
            found.failed = f"differs by {found.error:.3g}"
            return
    del got
    for name, make in work.peers.items():
        contest = found.contests[name] = Contest()
        try:
            result = make(drawn)()
            if want is not None:
                contest.peer_error, contest.peer_agrees = compare(result, want, work.check)
        except Exception as error:
            contest.failed = f"{type(error).__name__}: {error}"


def run(work: Work, rng: np.random.Generator, seconds: float, found: Drawn) -> None:
    makers = {name: make for name, make in work.peers.items() if not found.contests[name].failed}
    makers[OURS] = work.ours
    if found.output * HELD <= memory.get_limit():
        settle(work, rng, makers)
    n_calls = calls_in(work, rng)
    spent: dict[str, list[float]] = {name: [] for name in (*makers, REPEATED, RENEWED)}
    start, rounds = time.perf_counter(), 0
    while goes_on(rounds, work.rounds, time.perf_counter() - start, seconds):
        draws = [work.draw(rng) for _ in range(n_calls)]
        calls = {name: [make(one) for one in draws] for name, make in makers.items()}
        warming = work.draw(rng) if work.warm else None
        raced = time.perf_counter()
        for name in rng.permutation(list(makers)):
            if work.warm:  # as after its own calls in a program: each leaves the caches to itself
                clock([makers[name](warming)])
            spent[name].append(clock(calls[name]))
        paired, priming = time.perf_counter(), _native.tuning.seldom_calls + 2 if spent[OURS][-1] < PLANNING else 1
        for pair in range(MOST_PAIRS):
            if pair and time.perf_counter() - paired > paired - raced:
                break
            for name in (REPEATED, RENEWED) if (rounds + pair) % 2 else (RENEWED, REPEATED):
                # Its input is then as near for both; and plans are kept of calls that are made often.
                for _ in range(priming):
                    near = [work.ours(one) for one in draws]
                    clock(near)
                if name == RENEWED:
                    forget()
                spent[name].append(clock([work.ours(one) for one in draws]))
        rounds += 1
    ours, renewed = spent[OURS], Contest()
    for name in makers:
        if name != OURS:
            fill(found.contests[name], list(zip(ours, spent[name])))
    fill(renewed, list(zip(spent[RENEWED], spent[REPEATED])))
    found.ours_ms, found.again_ms = (float(np.median(spent[name])) * 1e3 for name in (OURS, REPEATED))
    found.new_to_repeated = 1 / renewed.ratio


def settle(work: Work, rng: np.random.Generator, makers: dict[str, Maker]) -> None:
    """Some results are held at once and freed, so that the rounds find memory that was in use before, as those of a
    program do that has run for a while. The pages of fresh memory would be most of the time of the first rounds, which
    are all that long calls have."""
    for make in makers.values():
        held = []
        for _ in range(HELD):
            call = make(work.draw(rng))
            held.append((call, call()))


def forget() -> None:
    """What tenter remembers of single calls; what calls that differ by sizes alone share, it keeps."""
    cache.plans.clear()
    _native.testing.forget_calls()
    axis_maps.cached_axis_map.cache_clear()


def goes_on(rounds: int, most: int, spent: float, seconds: float) -> bool:
    if rounds == 0:
        return True
    patience = max(PATIENCE * seconds, AT_LEAST)
    return rounds < most and (spent < seconds or (rounds < LEAST_ROUNDS and spent < patience))


def calls_in(work: Work, rng: np.random.Generator) -> int:
    """How many calls a timing has: a microsecond is not seen by the clock alone."""
    least = clock([work.ours(work.draw(rng))])
    if least < BLOCK:
        least = min(least, clock([work.ours(work.draw(rng))]))
    return max(1, min(MOST_CALLS, round(BLOCK / least)))


def clock(calls: list[Call]) -> float:
    """Seconds a call; the last result is freed after the clock has stopped."""
    gc.disable()
    start = time.perf_counter()
    for call in calls:
        result = call()
    stop = time.perf_counter()
    gc.enable()
    del result
    return (stop - start) / len(calls)
