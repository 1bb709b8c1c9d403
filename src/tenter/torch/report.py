"""Counts of calls that tenter computed in place of PyTorch, and of those that PyTorch computed, with reasons."""

import threading
from collections import Counter
from typing import Any

FUNCTIONS = ("repeat_interleave", "repeat", "tile", "interpolate")

MOST_REASONS = 200

# Since the process began. Compiled code counts here when it runs.
_computed: Counter[str] = Counter()
_fallbacks: Counter[tuple[str, str]] = Counter()


class Report:
    """Counts of calls since it was created: `computed[function]` by tenter, `fallbacks[function][reason]` by PyTorch.

    See Also
    --------
    accelerate : Yields one.
    report : All calls of the process.

    Notes
    -----
    Functions are repeat_interleave, repeat (`Tensor.repeat`), tile and interpolate (`F.interpolate`, `F.upsample`,
    `nn.Upsample`). In a compiled function a call counts each time that it runs (tile as repeat), or once if Inductor
    fuses it; what PyTorch computes does not count there.

    Examples
    --------
    >>> import torch, tenter.torch
    >>> with tenter.torch.accelerate() as counted:
    ...     doubled = torch.tile(torch.ones(2), (2,))
    >>> counted.computed, counted.fallbacks
    ({'tile': 1}, {})
    """

    def __init__(self) -> None:
        self._computed, self._fallbacks = Counter(_computed), Counter(_fallbacks)
        self._end: tuple[Counter[str], Counter[tuple[str, str]]] | None = None

    def stop(self) -> None:
        """Stops counting.

        Examples
        --------
        >>> Report().stop()
        """
        self._end = Counter(_computed), Counter(_fallbacks)

    @property
    def computed(self) -> dict[str, int]:
        return dict((self._end[0] if self._end else _computed) - self._computed)

    @property
    def fallbacks(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {}
        for (function, reason), n in ((self._end[1] if self._end else _fallbacks) - self._fallbacks).items():
            found.setdefault(function, {})[reason] = n
        return found

    def __str__(self) -> str:
        computed, fallbacks = self.computed, self.fallbacks
        lines = [f"{'function':<20}{'tenter':>8}{'PyTorch':>12}"]
        for f in FUNCTIONS:
            if f in computed or f in fallbacks:
                lines.append(f"{f:<20}{computed.get(f, 0):>8}{sum(fallbacks.get(f, {}).values()):>12}")
        reasons = [f"  {f}, {n} times: {r}" for f, why in fallbacks.items() for r, n in why.items()]
        return "\n".join(lines + (["computed by PyTorch:", *reasons] if reasons else []))

    __repr__ = __str__


_since_start = Report()


def report() -> Report:
    """Calls since the process began, computed by tenter and by PyTorch.

    Returns
    -------
    Report

    See Also
    --------
    accelerate : Yields a report of the calls inside it.

    Examples
    --------
    >>> import torch, tenter.torch
    >>> before = report().computed.get("tile", 0)
    >>> with tenter.torch.accelerate():
    ...     doubled = torch.tile(torch.ones(2), (2,))
    >>> report().computed["tile"] - before
    1
    """
    return _since_start


def count(function: str) -> None:
    _computed[function] += 1


class _Inside(threading.local):
    """Whether this thread is in a call that is counted already."""

    call = False


inside = _Inside()


def kernel_ran(operator: str, args: tuple[Any, ...]) -> None:
    """Counts an operator that ran by itself, out of a compiled graph, under the function that it came from."""
    if inside.call or operator not in ("repeat", "repeat_counts", "interpolate"):
        return
    each = operator == "repeat_counts" or (operator == "repeat" and args[2])
    count("repeat_interleave" if each else operator)


def fall_back(function: str, reason: str) -> None:
    if len(_fallbacks) >= MOST_REASONS and (function, reason) not in _fallbacks:
        reason = "other reasons"  # which may name ever new shapes
    _fallbacks[function, reason] += 1
