"""How bad input is refused. A private function raises `Refusal`, and the public function turns it into an error that
shows the call."""

from typing import NoReturn


class Refusal(Exception):
    """Bad input that was found below a public function. `refuse` makes it from an exception type and a message. The
    class has no __init__ because PyTorch's compiler only follows exceptions without one."""


def refuse(kind: type[Exception], argument: str, expected: str, got: str) -> NoReturn:
    raise Refusal(kind, f"{argument}: expected {expected}, got {got}")


def refuse_short(argument: str, got: str) -> NoReturn:
    """Refuses a tensor whose storage is too small. got: the result of `Library.short`."""
    refuse(ValueError, argument, "a tensor whose storage holds its elements", got)
