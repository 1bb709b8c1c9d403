"""The check of `value`, the fill value outside a resized array and in padding."""

import math
from typing import Any

import numpy as np

from tenter._arrays.arguments import describe, instead
from tenter._arrays.dtypes import DTYPES
from tenter._arrays.errors import refuse
from tenter._arrays.library import dtype_name


def check_value(value: Any, x: Any, is_read: bool = True) -> None:
    """is_read: whether an edge reads the value."""
    name = dtype_name(x)
    if name == "bool" and isinstance(value, (bool, np.bool_)):
        value = int(value)
    if isinstance(value, (bool, np.bool_)) or not issubclass(type(value), (int, float, complex, np.number)):
        refuse(TypeError, "value", "a number", instead(value))
    if value == 0:
        return
    if not is_read:
        refuse(ValueError, "value", "0, unless edge is constant or extrapolate", describe(value))
    if not holds(name, value):
        refuse(ValueError, "value", f"a value of {name}", describe(value))


def holds(name: str, value: Any) -> bool:
    """True if a dtype can represent the value, maybe rounded."""
    is_complex = isinstance(value, (complex, np.complexfloating))
    if name == "object":
        return True
    if name == "bool":
        return value in (0, 1) and not is_complex
    if name not in DTYPES:
        return False
    dtype = DTYPES[name]
    if dtype.kind in "iu":
        least = 0 if dtype.kind == "u" else -dtype.largest - 1
        return not is_complex and least <= value <= dtype.largest and value == int(value)
    if is_complex and dtype.kind != "c":
        return False
    parts = (value.real, value.imag) if is_complex else (value,)
    # As Python's numbers: NumPy would convert the largest value to a value's own dtype, where it may overflow.
    plain = (abs(part.item() if isinstance(part, np.generic) else part) for part in parts)
    return not any(dtype.largest < part < math.inf for part in plain)
