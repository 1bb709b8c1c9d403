"""Objects that hold an array and are not one: labeled containers, files, images, buffers. Their packages are not
imported here."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tenter._arrays import limits
from tenter._arrays.errors import refuse
from tenter._arrays.types import Array


def class_name(kind: type) -> str:
    """Returns a class's name as its users import it: pandas.Series, numpy.ma.MaskedArray, list."""
    module, name = kind.__module__, kind.__qualname__
    if module == "builtins":
        return name
    package = module.partition(".")[0]
    public = package if getattr(sys.modules.get(package), name, None) is kind else module
    return f"{public}.{name}"


def holds_an_array(x: object) -> bool:
    """True if NumPy can get an array from x by one of three protocols."""
    kind = type(x)
    buffers = memoryview, getattr(sys.modules.get("array"), "array", memoryview)
    return hasattr(kind, "__array__") or hasattr(kind, "__dlpack__") or isinstance(x, buffers)


def of_range(name: str, x: range) -> Array | list[int]:
    limits.memory((len(x),), 8, name)
    fits = all(abs(end) <= limits.INT64_MAX for end in (*x[:1], *x[-1:]))
    return np.arange(x.start, x.stop, x.step) if fits else list(x)


def taken(name: str, x: Any) -> Array:
    """Returns the array that x holds, without a copy where its package allows that."""
    try:
        found = (
            np.asarray(x) if not hasattr(type(x), "__dlpack__") or hasattr(type(x), "__array__") else np.from_dlpack(x)
        )
    except Exception as failed:  # each package raises its own errors
        says = (str(failed).strip().splitlines() or [type(failed).__name__])[0]
        refuse(TypeError, name, "an array that NumPy can read", f"{class_name(type(x))}, which says: {says}")
    if found.dtype == object:
        refuse(TypeError, name, "an array of numbers", f"{class_name(type(x))} of Python's objects")
    return np.asarray(found)


def instead(x: Any) -> str | None:
    """Says what to pass in place of a container that would lose its labels, or that is not in memory."""
    for kind in type(x).__mro__:
        line = _LINES.get(kind.__module__.partition(".")[0])
        if line is not None:
            return line(x) if callable(line) else line
    return "np.asarray(x) without its labels" if hasattr(type(x), "iloc") else None


def _of_pandas(x: Any) -> str | None:
    if hasattr(type(x), "columns"):
        return "np.asarray(x) without its labels"
    if hasattr(type(x), "iloc") or hasattr(type(x), "get_indexer"):
        return "np.asarray(x) without its labels (for repeats, x.repeat(counts) keeps them)"
    return None  # a pandas array, which has no labels


def _of_tenter(x: Any) -> str | None:
    return "x.materialize(), or the function of tenter.lazy" if hasattr(type(x), "materialize") else None


def _of_xarray(x: Any) -> str:
    dims = [str(d) for d in getattr(x, "dims", ())]
    if hasattr(type(x), "data_vars"):
        return "x.map(f), with f for one array of it"
    of_dask = getattr(x, "chunks", None) is not None
    allowed = ", dask='allowed'" if of_dask else ""
    kind, without = ("Dask", "x.data") if of_dask else ("NumPy", "np.asarray(x)")
    return (
        f"xarray.apply_ufunc(f, x, input_core_dims=[{dims}], output_core_dims=[{dims}], "
        f"exclude_dims=set({dims}){allowed}), with f for a {kind} array, or {without} without its labels"
    )


def _of_dask(x: Any) -> str:
    return "x.to_dask_array(lengths=True), or x.compute()" if hasattr(type(x), "to_dask_array") else "x.compute()"


def _read_by(f: str) -> str:
    return f"dask.array.{f}(x), which reads it a chunk at a time, or x[:], which reads all of it"


# What to say about a class, by its package.
_LINES: dict[str, str | Callable[[Any], str | None]] = {
    "PIL": "np.asarray(x), or tenter.image.resize, which takes images",
    "dask": _of_dask,
    "h5py": _read_by("from_array"),
    "pandas": _of_pandas,
    "tenter": _of_tenter,
    "tensorstore": "x.read().result()",
    "xarray": _of_xarray,
    "zarr": _read_by("from_zarr"),
}
