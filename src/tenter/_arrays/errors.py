"""How bad input is refused: an exception that a public function turns into an error that shows the call."""

from typing import NoReturn


class Refusal(Exception):
    """Bad input found below a public function; made by `refuse` of an exception's type and a message.

    It has no __init__, as PyTorch's compiler follows exceptions without one.
    """


def refuse(kind: type[Exception], argument: str, expected: str, got: str) -> NoReturn:
    raise Refusal(kind, f"{argument}: expected {expected}, got {got}")


def refuse_short(argument: str, got: str) -> NoReturn:
    """got: as `Library.short` has it."""
    refuse(ValueError, argument, "a tensor with memory of its own", got)
