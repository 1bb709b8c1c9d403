"""Arguments of operators that lie: of each type, values that no caller should pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .arrays import TORCH, Array, drawn, readable, shrunk
from .call import Named, named
from .draw import Draw

# None of them asks for an amount of memory that the machine may have.
HUGE = (2**40, 2**62, 2**63 - 1)
RUBBISH = (
    "", ";", ",", ",,,,,,,,,", "linear", "nearest,half_pixel,,,,floor,exact,replicate,,0.0",
    "linear,half_pixel,,,,floor,exact,replicate,,nan", "linear,half_pixel,1/0,,,floor,exact,replicate,,0.0",
    "linear,half_pixel,-2,,,floor,exact,replicate,,0.0", "filter 99,half_pixel,,,,floor,exact,replicate,,0.0",
    "filter 0,half_pixel,,,,floor,exact,wrap,1,0.0", "lanczos3,align_corners,,1,0,floor,exact,wrap,1,0.0",
    "cubic,half_pixel,,0,1/3,floor,exact,constant,,1e300", "area,asymmetric,1e5,,,floor,torch,replicate,,0.0",
    "nearest,left,,,,up,exact,replicate,,0.0", "gaussian,half_pixel,,-9999999999999999,9999999999999999,floor,exact,wrap,,0",
    "cubic,half_pixel,9" + "9" * 500 + ",,,floor,exact,replicate,,0.0", "é,\0,\n", "overlap,half_pixel,,0,1/7,ceil,scipy,wrap,,0.0",
    "linear,half_pixel,1/9007199254740992,,,floor,exact,replicate,1,0.0", "None,None,None,None,None,None,None,None,None,None",
)  # fmt: skip


def told(r: Draw, args: list[Any]) -> list[Any]:
    """The arguments, one of them changed."""
    args = list(args)
    k = r.int(0, len(args) - 1)
    args[k] = _lie(r, args[k])
    return args


def _lie(r: Draw, value: Any) -> Any:
    if isinstance(value, Named):
        return _tensor(r, value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return r.pick((-1, value + 1, value - 1, -(2**63), 10**6, *HUGE))
    if isinstance(value, str):
        return _words(r, value)
    if isinstance(value, list) and value and isinstance(value[0], float):
        return r.pick(([], value[:-1], [*value, 1.0], [0.0] * len(value), [-1.0] * len(value), [float("nan")] * len(value),
                       [float("inf")] * len(value), [1e-300] * len(value), [1e300] * len(value)))  # fmt: skip
    if isinstance(value, list):
        return _ints(r, list(value))
    return r.pick((0, -1, 5)) if value is None and r.chance(0.3) else value


def _ints(r: Draw, value: list[int]) -> list[int]:
    how = r.pick(("empty", "shorter", "longer", "one", "reversed"), (1, 1, 1, 5, 0.5))
    if how == "empty" or not value:
        return [] if value else [1]
    if how == "shorter":
        return value[:-1]
    if how == "longer":
        return [*value, r.pick((1, 2, -1))]
    if how == "reversed":
        return value[::-1]
    at = r.int(0, len(value) - 1)
    value[at] = r.pick((-1, 0, value[at] + 1, value[at] - 1, value[at] * 2, -(2**63), *HUGE))
    return value


def _words(r: Draw, value: str) -> str:
    if "," not in value:
        return str(r.pick(("", "nearest", "nearest-exact", "linear", "cubic", "area", "lanczos", "bilinear", "x")))
    if r.chance(0.5):
        return str(r.pick(RUBBISH))
    lines = value.split(";")
    if r.chance(0.3):
        return ";".join(lines[:-1] if r.chance(0.5) else [*lines, lines[0]])
    words = lines[0].split(",")
    words[r.int(0, len(words) - 1)] = r.pick(
        ("", "1", "-1", "1/3", "nan", "inf", "1e400", "9" * 30, "wrap", "é", "corners")
    )
    return ";".join([",".join(words), *lines[1:]])


def _tensor(r: Draw, value: Named) -> Named:
    x = value.value
    if not readable(x):
        return value
    if x.dtype == torch.int64 and x.ndim == 1 and r.chance(0.6):
        return _running(r, value)
    how = r.pick(("dtype", "rank", "small", "empty", "lengths"))
    name = str(x.dtype).removeprefix("torch.")
    if how == "small" and x.numel() > 1:
        size = r.pick((0, 1, x.itemsize))
        return Named(value.name, shrunk(x, size), f"shrunk({value.recipe}, {size})")
    if how == "dtype":
        return named(value.name, drawn(r, tuple(x.shape), r.pick(TORCH), "torch", "normal"))
    shape = list(x.shape)
    if how == "rank":
        shape = r.pick(([], [3], [*shape, 2], shape[1:]))
    elif shape:
        shape[r.int(0, len(shape) - 1)] = 0 if how == "empty" else r.int(1, 9)
    return named(value.name, drawn(r, tuple(shape), name, "torch", "normal"))


def _running(r: Draw, value: Named) -> Named:
    """Offsets, or counts, that promise what does not hold."""
    found = value.value.tolist()
    n = len(found)
    how = r.pick(("descend", "exceed", "first", "longer", "shorter", "dtype", "negative", "far"))
    dtype = "int64"
    if how == "longer" or n < 2:
        found.append((found[-1] if found else 0) + 1)
    elif how == "descend":
        at = r.int(1, n - 1)
        found[at] = found[at] + r.pick((1, 50, 2**40))
    elif how == "exceed":
        found[-1] += r.pick((1, 1000, 2**40))
    elif how == "far":
        found[r.int(0, n - 1)] = 2**62
    elif how == "first":
        found[0] = r.pick((1, -1, -(2**62)))
    elif how == "shorter":
        found = found[:-1]
    elif how == "negative":
        found[r.int(0, n - 1)] = -r.int(1, 2**40)
    else:
        dtype = r.pick(("int32", "uint8", "float64", "uint64"))
        found = [min(max(v, 0), 255) for v in found]
    return named(value.name, Array("torch", dtype, np.shape(found), found, guard=r.pick((None, "after"))))
