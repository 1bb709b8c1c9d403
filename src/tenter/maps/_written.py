"""Maps as text for PyTorch's operators, whose graphs contain text and are stored on disk."""

from functools import lru_cache
from typing import Any

import numpy as np

from tenter._arrays.errors import refuse
from tenter.maps import AxisMap, Copy, Gather, Window

KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Copy, Window, Gather)}


def written(m: AxisMap) -> str:
    """Returns the kind and each field: a number, or a table in base 64. The text is cached with the map."""
    words: str | None = m.__dict__.get("_written")
    if words is None:
        words = m.__dict__["_written"] = ",".join([type(m).__name__, *map(_field, m._values())])
    return words


def _field(value: Any) -> str:
    if isinstance(value, np.ndarray):
        from base64 import b64encode  # which few programs need

        table = value.astype(value.dtype.newbyteorder("<")).tobytes()
        return ("f" if value.dtype == np.float64 else "i") + b64encode(table).decode()
    return "" if value is None else str(value)


@lru_cache(maxsize=64)
def read(words: str) -> AxisMap:
    """Reads a map from text. Its constructor checks the fields."""
    kind, *fields = words.split(",")
    try:
        found: AxisMap = KINDS[kind](*map(_value, fields))
    except (KeyError, ValueError, TypeError):
        refuse(ValueError, "map", "what an axis map was written as", repr(words[:60]))
    return found


def _value(word: str) -> Any:
    if word[:1] in ("f", "i"):
        from base64 import b64decode

        table = np.frombuffer(b64decode(word[1:], validate=True), "<f8" if word[0] == "f" else "<i8")
        return table.astype(np.float64 if word[0] == "f" else np.int64)
    return int(word) if word else None
