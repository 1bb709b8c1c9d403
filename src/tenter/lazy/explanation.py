"""How lazy arrays describe themselves: in a line, as a page for notebooks, and by what they saved."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from tenter._arrays.library import dtype_name, of
from tenter.lazy.stretched import Stretched
from tenter.maps import AxisMap
from tenter.maps._drawing import drawing
from tenter.maps._html import n_bytes, table

# Calls that a lazy array records.
MOST_EVENTS = 32


class Event(NamedTuple):
    """A call on a lazy array.

    held: elements that were computed
    of: elements that the result stands for
    notes: anything else, such as why maps were applied
    """

    name: str
    held: int
    of: int
    notes: tuple[str, ...]


def line(s: Stretched) -> str:
    """A lazy array in one line.

    >>> import tenter
    >>> tenter.lazy.repeat_interleave(np.ones((3, 2)), [1, 3, 2], dim=0)
    LazyArray(float64[6, 2]; dim 0: Copy(3 -> 6: counts [1, 3, 2]))
    """
    maps = "".join([f"; dim {d}: {m}" for d, m in enumerate(s.maps) if m is not None])
    return f"LazyArray({_array(s.base, s.shape)}{maps or '; no maps'})"


def html(s: Stretched) -> str:
    """Returns the description for notebooks, with a drawing of each map."""
    rows = [("stands for", f"{_array(s.base, s.shape)}, {n_bytes(_bytes(s, s.size))}"), ("holds", _held(s))]
    rows += [(f"dim {d}", str(m)) for d, m in enumerate(s.maps) if m is not None]
    return table("LazyArray", rows) + "".join([drawing(m) for m in s.maps if m is not None])


def text(s: Stretched, events: Iterable[Event]) -> str:
    """Returns what is held and saved, then a line for each call."""
    whole = _bytes(s, s.size)
    lines = [line(s), f"  stands for {n_bytes(whole)}, holds {_held(s)}"]
    for event in events:
        done = f"{event.held:,} element{'' if event.held == 1 else 's'}"
        done += f" for {event.of:,}" if event.held != event.of else ""
        lines.append(f"  {event.name}: {done}" + "".join([f"; {note}" for note in event.notes]))
    return "\n".join(lines)


def _held(s: Stretched) -> str:
    tables = sum(_table_bytes(m) for m in s.maps if m is not None)
    return f"{_array(s.base, s.base.shape)}, {n_bytes(_bytes(s, _size(s.base)))}, and {n_bytes(tables)} of maps"


def _array(x: Any, shape: Any) -> str:
    return f"{dtype_name(x)}[{', '.join(map(str, shape))}]"


def _size(x: Any) -> int:
    n = 1
    for length in x.shape:
        n *= int(length)
    return n


def _bytes(s: Stretched, n: int) -> int:
    return n * of(s.base).itemsize(s.base)


def _table_bytes(m: AxisMap) -> int:
    """Returns the bytes of the tables that exist."""
    held = (m.__dict__.get(name) for name in ("offsets", "start", "offset", "weight", "index"))
    return sum(memoryview(values).nbytes for values in held if isinstance(values, (bytes, memoryview)))
