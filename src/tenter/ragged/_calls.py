"""Calls of this package: in fresh memory or in `out`, with errors that name the public function and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenter._arrays.arguments import error
from tenter._arrays.errors import Refusal
from tenter._execution import calls, into


def made(
    call: str, make: Callable[[], Any], quick: Callable[[Any], Any], out: Any, of_x: bool, *args: Any, **named: Any
) -> Any:  # fmt: skip
    """A result in fresh memory or in `out`.

    make: makes it in fresh memory, after all checks
    quick: writes it to `out` by the core, as in `into.by_core`
    of_x: whether the result has the dtype of an argument x
    args, named: of the public function `call`, for its errors
    """

    def find() -> Any:
        if out is None:
            return make()
        if (written := into.by_core(quick, out)) is not None:
            return written
        return (calls.copied if of_x else calls.copied_indices)(make(), out)

    return called(call, find, *args, **named, out=out)


def called(call: str, f: Callable[[], Any], *args: Any, **named: Any) -> Any:
    """f(), whose refusals name the public function and its arguments."""
    try:
        return f()
    except Refusal as refusal:
        raise error(refusal, call, *args, **named) from None


def read(call: str, of: Callable[..., Any], **args: Any) -> Any:
    """Reads another form than lengths. args: those of the public function `call`."""
    try:
        return of(**args)
    except Refusal as refusal:
        raise error(refusal, call, **args) from None
