"""A call as a value: Python source, what it names, and what must come of it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import torch

from .arrays import Array
from .oracle import Wrong

HEAD = """import copy, pickle
from fractions import Fraction
import numpy as np, torch, tenter, tenter.torch
from tenter.conventions import Convention
from tenter.filters import Filter
from tenter.maps import Copy, Gather, Window
from tests.helpers import object_cases, storage_cases
from tests.fuzz import chunked, compiled, patches, processes, races, samples, volumes
from tests.fuzz.arrays import Array, shrunk"""


class Named(NamedTuple):
    """A value that the source names, and Python that makes it."""

    name: str
    value: Any
    recipe: str


class Call(NamedTuple):
    """source: statements that leave the result in y. check: raises Wrong for a result that is not right. refuses: classes
    of errors of which it must raise one. lies: it may raise any error of tenter's form instead. fresh: y is memory of its
    own. again: other values for names with which the same bits come out. message: what an error must read like.
    large: its arrays take the paths of large ones as they are."""

    kind: str
    source: str
    names: dict[str, Named]
    check: Callable[[Any], None]
    refuses: tuple[type[BaseException], ...] = ()
    lies: bool = False
    fresh: bool = True
    again: tuple[tuple[str, dict[str, Any]], ...] = ()
    message: str = r"\w[\w. ]*: expected [^\n]+, got [^\n]+\n  in [\w.]+\("
    repeats: bool = True  # may it be made more than once?
    large: bool = False

    def body(self) -> str:
        """Python that makes the call again, after HEAD."""
        return "\n".join([*(f"{n.name} = {n.recipe}" for n in self.names.values()), self.source])

    def text(self) -> str:
        """A whole program of it, for the root of the repository."""
        return "\n".join([HEAD, self.body(), "print(y)"])


def named(name: str, how: Array) -> Named:
    return Named(name, how.made(), f"{how!r}.made()")


def literal(name: str, value: Any) -> Named:
    return Named(name, value, text(value))


def text(v: Any) -> str:
    """Python that makes a value."""
    if isinstance(v, Named):
        return v.name
    if isinstance(v, Fraction):
        return f"Fraction({v.numerator}, {v.denominator})"
    if isinstance(v, np.generic):
        return f"np.{type(v).__name__}({v.item()!r})"
    if isinstance(v, np.ndarray):
        return f"np.array({v.tolist()!r}, {str(v.dtype)!r})"
    if isinstance(v, torch.Tensor):
        return f"torch.tensor({v.tolist()!r}, dtype={v.dtype})"
    if isinstance(v, float) and v != v:
        return "float('nan')"
    if isinstance(v, float) and abs(v) == float("inf"):
        return f"float('{v}')"
    if type(v) is tuple:
        return f"({', '.join(map(text, v))}{',' if len(v) == 1 else ''})"
    if type(v) is list:
        return f"[{', '.join(map(text, v))}]"
    return repr(v)


def written(function: str, args: list[Any], named: dict[str, Any] | None = None) -> str:
    """The source of a call."""
    shown = [text(a) for a in args] + [f"{k}={text(v)}" for k, v in (named or {}).items()]
    return f"{function}({', '.join(shown)})"


def check_is(y: Any, out: Named | None) -> None:
    """The result of a call with `out` is that."""
    if out is not None and y is not out.value:
        raise Wrong("out", "the result is not out")


def any_result(y: Any) -> None:
    """For calls whose result may be anything."""
