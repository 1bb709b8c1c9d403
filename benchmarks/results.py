"""What was measured, as values; JSON holds the same fields under the same names."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

BANDWIDTH = "copy bandwidth"
#: a peer is faster if the ratio of times is below this; above, it is noise
LOSS = 0.95


@dataclass
class Target:
    """The ratio a row should reach against a peer, or the share of the copy bandwidth; None in a direction without a
    target. why: what keeps a row below the usual one."""

    peer: str
    forward: float | None
    backward: float | None = None
    why: str = ""


@dataclass
class Contest:
    """Against one peer. ratio: median over pairs of peer time / our time; spread: interquartile range / median."""

    ratio: float = 0.0
    spread: float = 0.0
    pairs: int = 0
    ours_ms: float = 0.0
    peer_ms: float = 0.0
    peer_error: float = 0.0
    peer_agrees: bool = True
    failed: str = ""


@dataclass
class Direction:
    """Forward or backward."""

    ours_ms: float = 0.0
    error: float = 0.0
    of_bandwidth: float | None = None
    contests: dict[str, Contest] = field(default_factory=dict)
    failed: str = ""


def reached(of: Direction | None, peer: str) -> float | None:
    """What a target of that name is compared with; None where there is nothing."""
    if of is None or of.failed:
        return None
    if peer == BANDWIDTH:
        return of.of_bandwidth
    contest = of.contests.get(peer)
    return None if contest is None or contest.failed else contest.ratio


@dataclass
class Result:
    """A row of the table. moved: bytes of all inputs and of the result, each once; of its gradient as many."""

    group: str
    name: str
    forward: Direction
    backward: Direction | None = None
    targets: list[Target] = field(default_factory=list)
    moved: int = 0


@dataclass
class Point:
    """A point of a curve: the curve's panel and name, where the point lies, what a call takes there."""

    panel: str
    name: str
    at: float
    forward: Direction


@dataclass
class Footprint:
    """Bytes: of the result, and what each library's peak of resident memory was above it."""

    name: str
    output: int = 0
    extra: dict[str, int] = field(default_factory=dict)
    failed: str = ""


def direction(found: dict[str, Any]) -> Direction:
    return Direction(**{**found, "contests": {name: Contest(**c) for name, c in found["contests"].items()}})


def result(found: dict[str, Any]) -> Result:
    backward = found["backward"] and direction(found["backward"])
    targets = [Target(**t) for t in found["targets"]]
    moved = found.get("moved", 0)
    return Result(found["group"], found["name"], direction(found["forward"]), backward, targets, moved)


def point(found: dict[str, Any]) -> Point:
    return Point(**{**found, "forward": direction(found["forward"])})


def footprint(found: dict[str, Any]) -> Footprint:
    return Footprint(**found)


def text(data: Any, indent: str = "") -> str:
    """JSON with a line for each record of a list, and five digits of a float."""
    inner = f"{indent} "
    if isinstance(data, dict) and any(isinstance(value, (dict, list)) for value in data.values()):
        lines = [f"{json.dumps(key)}: {text(value, inner)}" for key, value in data.items()]
        ends = "{}"
    elif isinstance(data, list) and any(isinstance(value, dict) for value in data):
        lines, ends = [json.dumps(short(value)) for value in data], "[]"
    else:
        return json.dumps(short(data))
    return f"{ends[0]}\n{inner}{f',{chr(10)}{inner}'.join(lines)}\n{indent}{ends[1]}"


def short(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: short(value) for key, value in data.items()}
    if isinstance(data, list):
        return list(map(short, data))
    return float(f"{data:.5g}") if isinstance(data, float) else data
