"""Sentences about a call: what the operation does, and what its rows read."""

from tenter._explain.facts import Facts
from tenter._rules import splines
from tenter._specs.resize import Interpolate, Resize
from tenter.maps import AxisMap, Gather
from tenter.maps._entries import LONGEST_ROW, row
from tenter.maps._html import n_bytes

SENTENCES = {
    "repeat_interleave": "Each element comes several times in a row.",
    "numpy.repeat": "Each element comes several times in a row.",
    "repeat": "The whole array comes several times, one after the other.",
    "tile": "The whole array comes several times, one after the other.",
    "numpy.tile": "The whole array comes several times, one after the other.",
    "expand": "Lengths of 1 look longer: one element in memory is read again and again.",
}
OF_KINDS = {
    "nearest": "Each output is one input, the one under its left edge.",
    "nearest-exact": "Each output is one input, the one under its center.",
    "linear": "Each output mixes the two inputs around it; the nearer one has more weight.",
    "cubic": "Each output mixes the four inputs around it; weights may be below 0.",
    "area": "Each output is the mean of the inputs that it covers.",
    "overlap": "Each output is the mean of the inputs that it covers.",
}
OF_KINDS |= {
    name: f"Each output is on the curve of order {order} through all inputs; far ones have little weight."
    for name, order in splines.ORDERS.items()
}
WIDENED = "Each output averages all inputs that it covers, weighted by distance."
# Rows of a map that are written out: all if there are at most ROWS, else the first FIRST and the last.
ROWS, FIRST = 12, 5
# Terms of a sum that are written out.
TERMS = 16


def sentence(facts: Facts) -> str:
    spec = facts.made.spec
    if isinstance(spec, Interpolate):
        spec = spec.resize()
    if facts.name not in SENTENCES and not isinstance(spec, Resize):
        return "A lazy array stores its input and maps; a map is applied when elements are read."
    if facts.positions:
        return "Each position comes as many times in a row as its count says."
    if not isinstance(spec, Resize):
        return SENTENCES[facts.name]
    if not spec.rules:
        return "Nothing is resized."
    rule = spec.rules[0]
    shrinks = any(n > m for n, m in zip([facts.made.x.shape[a] for a in spec.axes], spec.size))
    if rule.antialias and shrinks:
        return WIDENED
    return OF_KINDS.get(str(rule.kind), f"Each output mixes the inputs around it by the filter {rule.kind}.")


def name_of_input(facts: Facts) -> str:
    return "repeats" if facts.positions else "x" if facts.values else "x, its elements numbered"


def prepared(facts: Facts) -> str | None:
    """Says how x is changed before the maps are applied to it."""
    x, given = facts.made.x, facts.shape_in
    if x.flipped:
        axes = f"{'axis' if len(x.flipped) == 1 else 'axes'} {', '.join(map(str, x.flipped))}"
        return f"x is reversed first, along {axes}"
    if len(x.shape) < len(given):
        return f"x is flattened first: {list(given)} -> {list(x.shape)}"
    if len(x.shape) > len(given):
        return f"x gets dims of length 1 in front: {list(given)} -> {list(x.shape)}"
    return None


def memory(facts: Facts) -> str:
    if facts.view:
        writing = "is read-only" if facts.x.its.PACKAGE == "numpy" else "so that a write to one element shows in others"
        return f"a view: shares x's memory, {writing}; reads and writes nothing"
    if facts.notes:
        return f"held as it is; materializing reads {n_bytes(facts.reads)} and writes {n_bytes(facts.writes)}"
    bound = "" if facts.exact else "at most "
    return f"a copy in new memory: reads {bound}{n_bytes(facts.reads)}, writes {n_bytes(facts.writes)}"


def formula(m: AxisMap, o: int, result: str, source: str) -> str:
    """An output as the sum that it is.

    >>> from tenter.maps import Copy
    >>> formula(Copy.repeats([1, 2]).T, 1, "dx", "dy")
    'dx[1] = dy[1] + dy[2]'
    """
    n, taps = row(m, o, TERMS)
    left = f"{result}[{o}] = "
    if not n:
        return left + "0"
    if not taps:
        return left + f"a sum of about {n:,} of {source}"
    words = f"{_weight(taps[0][1])}{source}[{taps[0][0]}]"
    for i, w in taps[1:]:
        words += f" {'-' if w < 0 else '+'} {_weight(abs(w))}{source}[{i}]"
    return left + words + (f" + … ({n:,} terms)" if n > len(taps) else "")


def _weight(w: float) -> str:
    return "" if w == 1 else f"{w:.3g} "


def rows_shown(m: AxisMap) -> list[int | None]:
    """Returns some outputs of a map, including the last; None stands for those left out."""
    return list(range(m.n_out)) if m.n_out <= ROWS else [*range(FIRST), None, m.n_out - 1]


def transposed(m: AxisMap) -> AxisMap | None:
    """Returns the transpose; None if it needs a table of a very long axis."""
    if isinstance(m, Gather) and len(m.index) > LONGEST_ROW:
        return None
    return m.T
