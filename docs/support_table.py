"""Rewrites the table of docs/support.md: the dtypes that each operation takes, for each array library.

`python docs/support_table.py`; with --check it writes nothing, and fails if the page differs.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import marks
import numpy as np

import tenter

PAGE = Path(__file__).resolve().parent / "support.md"
START, END = "<!-- table -->", "<!-- /table -->"
DTYPES = ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "bfloat16",
          "float32", "float64", "complex64", "complex128")  # fmt: skip
OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "repeat_interleave, a number": lambda x: tenter.repeat_interleave(x, 2, dim=2),
    "repeat_interleave, counts": lambda x: tenter.repeat_interleave(x, [1, 0, 2], dim=1),
    "repeat, tile": lambda x: tenter.tile(tenter.repeat(x, 1, 1, 2, 1), 2),
    "expand": lambda x: tenter.expand(x, 4, 3, 4, 6),
    "interpolate, nearest modes": lambda x: tenter.interpolate(x, (3, 9), mode="nearest-exact"),
    "interpolate, linear modes, area": lambda x: tenter.interpolate(x, (3, 9), mode="bilinear"),
    "interpolate, bicubic, antialias": lambda x: tenter.interpolate(x, (3, 9), mode="bicubic", antialias=True),
    "resize, nearest modes": lambda x: tenter.resize(x, (3, 9), axes=(2, 3), mode="nearest-exact"),
    "resize, other modes": lambda x: tenter.resize(x, (3, 9), axes=(2, 3), mode="lanczos", like="pillow"),
    "image.resize, linear light": lambda x: light(x),
    "ragged.segment_sum": lambda x: tenter.ragged.segment_sum(x[0, 0, ...], [1, 0, 3]),
}


def light(x: Any) -> Any:
    """Of floats up to 1, as the light of others is refused."""
    x = x / 128 if "float" in str(x.dtype) else x
    return tenter.image.resize(x, (3, 9), layout="NCHW", linear_light=True)


def value(dtype: str) -> np.ndarray[Any, Any]:
    made = (
        np.arange(72, dtype=np.float64).reshape(1, 3, 4, 6) % 2
        if dtype == "bool"
        else np.arange(72.0).reshape(1, 3, 4, 6)
    )
    return made.astype("float32" if dtype == "bfloat16" else dtype)


def of_numpy(dtype: str) -> Any:
    return None if dtype == "bfloat16" else value(dtype)


def of_torch(dtype: str) -> Any:
    import torch

    return torch.from_numpy(value(dtype)).to(getattr(torch, dtype))


def of_jax(dtype: str) -> Any:
    import jax

    return jax.numpy.asarray(value(dtype), dtype=dtype)


def of_standard(dtype: str) -> Any:
    import array_api_strict

    return array_api_strict.asarray(value(dtype)) if hasattr(array_api_strict, dtype) else None


def of_dask(dtype: str) -> Any:
    import dask.array

    return None if dtype == "bfloat16" else dask.array.from_array(value(dtype), chunks=(1, 2, 2, 3))


LIBRARIES: dict[str, Callable[[str], Any]] = {
    "NumPy": of_numpy,
    "PyTorch on the CPU": of_torch,
    "JAX": of_jax,
    "Array API standard (array-api-strict)": of_standard,
    "Dask": of_dask,
}


def plain(x: Any) -> np.ndarray[Any, Any]:
    """A result as numbers of double precision."""
    if type(x).__module__.startswith("torch"):
        x = x.cfloat() if x.is_complex() else x.double()
    x = x.compute() if hasattr(x, "compute") else x
    return np.asarray(x).astype(np.complex128 if "complex" in str(x.dtype) else np.float64)


def outcome(make: Callable[[str], Any], name: str, dtype: str) -> str:
    """yes, the first line of the error, or wrong; a dash for a dtype that the library lacks."""
    x, operation = make(dtype), OPERATIONS[name]
    if x is None:
        return "-"
    try:
        made = operation(x)
    except Exception as error:
        line = str(error).splitlines()[0]
        return f"{type(error).__name__}: {line}"
    if type(made) is not type(x) or str(made.dtype) != str(x.dtype):
        return "wrong"
    if "light" in name:  # whose white depends on the dtype
        return "yes"
    want = plain(operation(value(dtype).astype(np.complex128 if "complex" in dtype else np.float64)))
    whole = dtype.lstrip("u").startswith("int")
    if whole:
        want = np.clip(want, np.iinfo(dtype).min, np.iinfo(dtype).max)
    most = 1.0 if whole else 0.3 if dtype in ("float16", "bfloat16") else 1e-3
    return "yes" if np.allclose(plain(made), want, atol=most, rtol=0.01) else "wrong"


def table(libraries: Sequence[str] = tuple(LIBRARIES)) -> tuple[list[str], list[str]]:
    """The lines of the table, and the errors that it refers to."""
    notes: list[str] = []
    columns = []
    with in_64_bits() if "JAX" in libraries else contextlib.nullcontext():
        for library in libraries:
            columns.append([library, "---", *(column(LIBRARIES[library], name, notes) for name in OPERATIONS)])
    rows = zip(["", "---", *OPERATIONS], *columns, strict=True)
    return [f"| {' | '.join(row)} |" for row in rows], notes


def column(make: Callable[[str], Any], name: str, notes: list[str]) -> str:
    """all, none, or the dtypes that the operation takes or does not take, whichever are fewer."""
    found = {dtype: said for dtype in DTYPES if (said := outcome(make, name, dtype)) != "-"}
    assert "wrong" not in found.values(), (name, found)
    taken = [dtype for dtype, said in found.items() if said == "yes"]
    refused = [dtype for dtype in found if dtype not in taken]
    marks = "".join(dict.fromkeys(mark(found[dtype], notes) for dtype in refused))
    if not refused:
        return "all"
    if not taken:
        return f"none{marks}"
    return f"all except {', '.join(refused)}{marks}" if len(refused) < len(taken) else f"{', '.join(taken)}{marks}"


@contextlib.contextmanager
def in_64_bits() -> Iterator[None]:
    """JAX's 64-bit dtypes."""
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)


def mark(error: str, notes: list[str]) -> str:
    text = re.sub(r", got .*", "", error).replace("|", "/")
    if text not in notes:
        notes.append(text)
    return f"<sup>{notes.index(text) + 1}</sup>"


def page() -> str:
    lines, notes = table()
    return "\n".join([*lines, "", *(f"{n}. `{note}`" for n, note in enumerate(notes, 1))])


if __name__ == "__main__":
    sys.exit(marks.write(PAGE, START, END, page))
