"""Values whose fields are set once, as in a frozen dataclass. Four of these, whose methods are compiled from text, and
`dataclasses` itself took a tenth of tenter's import."""

from typing import Any, ClassVar, NoReturn


class Immutable:
    """`__match_args__` names the fields, in the order of the constructor's arguments."""

    __match_args__: ClassVar[tuple[str, ...]] = ()

    def _set(self, **fields: Any) -> None:
        """Sets fields of a new object."""
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _values(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self.__match_args__])

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete field {name!r}")
