"""What each array library says about its arrays.

A library is a module with the functions of `Library`. A library that the caller has not imported is not imported here.
"""

import sys
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np

from tenter._arrays import numpy_arrays, standard_arrays
from tenter._arrays.forks import not_forked
from tenter._arrays.layout import Layout, Order
from tenter._arrays.oldest_versions import older
from tenter._arrays.types import Array

Imported = TypeVar("Imported")


class Library(Protocol):
    """Facts about an array for checks, plans and kernels. `problem` and the like return a reason in words, or None.

    PACKAGE: what users import
    TYPES: exactly these types are arrays that follow the library's rules; a subclass may have its own
    """

    PACKAGE: str
    TYPES: tuple[type, ...]

    def problem(self, x: Any) -> str | None:
        """Says why no kernel can process x."""

    def short(self, x: Any) -> str | None:
        """Says why x's storage is smaller than its shape requires, if that is known."""

    def unreadable(self, x: Any) -> str | None:
        """Says why the host cannot read x's values now."""

    def unservable(self, x: Any) -> str | None:
        """Says why kernels cannot read x's memory now."""

    def unwritable(self, x: Any) -> str | None:
        """Says why a result cannot be written to x."""

    def differentiated(self, x: Any) -> str | None:
        """Says why x's result cannot be written to `out`: a gradient would be recorded, which knows nothing of
        `out`."""

    def is_ordinary(self, x: Any) -> bool:
        """True if a call on x only reads its memory, writes the result's, and records a gradient."""

    def traced(self, x: Any) -> bool:
        """True if a call on x goes through the library's dispatcher or functions. Its values may not be known yet."""

    def device(self, x: Any) -> str | None:
        """Returns the device whose kernels process x; None for host memory."""

    def dtype_name(self, x: Any) -> str:
        """Returns the dtype's name in `dtypes.DTYPES`."""

    def itemsize(self, x: Any) -> int:
        """Returns the bytes of an element."""

    def strides(self, x: Any) -> tuple[int, ...]:
        """Returns the strides in bytes."""

    def layout(self, x: Any) -> Layout:
        """Returns the layout that a plan depends on."""

    def place(self, x: Any) -> tuple[Any, ...]:
        """Returns what a plan depends on except shape and dtype, as a quick key."""

    def address(self, x: Any, name: str = "x") -> int:
        """Returns the address of the first element. Refuses an x whose storage is too small. name: x's name in that
        message."""

    def image_order(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> Order:
        """Returns the memory order of `interpolate`'s result."""

    def resolve(self, x: Any) -> Any:
        """Returns x without flags that change what its memory means, such as PyTorch's conj."""

    def to_numpy(self, x: Any) -> Array:
        """Returns the values as a NumPy array, without a copy where possible."""

    def from_numpy(self, x: Array, like: Any) -> Any:
        """Returns the library's array of a NumPy array's values, on the device of `like`, without a copy where
        possible. Nothing else may refer to x."""


def _torch() -> Library:
    from tenter._arrays import torch_tensors  # imports torch

    return torch_tensors


def _jax() -> Library:
    from tenter._arrays import jax_arrays  # imports jax

    return jax_arrays


def _dask() -> Library:
    from tenter._arrays import dask_arrays  # imports dask

    return dask_arrays


# The "package" of arrays that are known by their shape alone (`tenter._explain`).
OUTLINE = "outline"
# For each package that users import: the name of its array type, and its module here.
OTHERS: dict[str, tuple[str, Callable[[], Library]]] = {
    "torch": ("Tensor", _torch), "jax": ("Array", _jax), "dask.array": ("Array", _dask)
}  # fmt: skip
_loaded: dict[str, Library] = {"numpy": numpy_arrays, standard_arrays.PACKAGE: standard_arrays}
# The library of each array type in `TYPES`. A library is added when it is first needed.
_exact: dict[type, Library] = dict.fromkeys(numpy_arrays.TYPES, _loaded["numpy"])


def of(x: Any) -> Library:
    """Returns the library of an array."""
    if (known := _exact.get(type(x))) is not None:
        return known
    package = _package(x)
    if package is None:
        raise AssertionError(f"a {type(x).__name__} where an array was checked")
    if package not in _loaded:
        add(imported(OTHERS[package][1]))
    return _loaded[package]


def imported(what: Callable[[], Imported]) -> Imported:
    """Returns what a function imports. No fork may interrupt it. PyTorch's compiler follows this function and cannot
    follow a lock."""
    if compiling():
        return what()
    with not_forked():
        return what()


def add(its: Library) -> None:
    """Registers a library for exactly its types."""
    _loaded[its.PACKAGE] = its
    _exact.update(dict.fromkeys(its.TYPES, its))


def loaded(package: str) -> bool:
    """True if a library is registered: NumPy and the Array API always, others once their arrays have been seen."""
    return package in _loaded


def _package(x: Any) -> str | None:
    if isinstance(x, np.ndarray):
        return "numpy"
    for package, (kind, _) in OTHERS.items():
        module = sys.modules.get(package)
        if module is not None and isinstance(x, getattr(module, kind, ())):
            return package
    return standard_arrays.PACKAGE if standard_arrays.is_standard(x) else None


def is_array(x: Any) -> bool:
    return type(x) in _exact or _package(x) is not None


def traced(x: Any) -> bool:
    """True if x is an array that is traced."""
    return is_array(x) and of(x).traced(x)


def on_device(x: Any) -> bool:
    """True if x is an array on a device that has kernels."""
    return is_array(x) and of(x).device(x) is not None


def dtype_name(x: Any) -> str:
    return of(x).dtype_name(x)


def compiling() -> bool:
    """True while PyTorch's compiler follows the code."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_compiling()


def confuses_functions() -> bool:
    """True if PyTorch's compiler may take a function for another one of the same code, with other values that it closes
    over. From 2.13 on, asking for a function's id makes it look."""
    torch = sys.modules.get("torch")
    return torch is not None and older(torch.__version__, (2, 13))


def recording() -> bool:
    """True while torch.jit.trace records the code."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.jit.is_tracing()


def in_dynamo() -> bool:
    """True while PyTorch's compiler follows this very code. Only Dynamo follows calls on ordinary tensors without the
    core noticing; the core detects everything else itself. This takes half the time of `compiling`."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_dynamo_compiling()


def surely(condition: Any) -> bool:
    """True if a condition on sizes is known to hold. A condition on data that a tracer does not have is left to the
    kernels."""
    if not compiling() and (isinstance(condition, (bool, np.bool_)) or is_array(condition)):
        return bool(condition)  # torch.jit.trace has sizes that are tensors
    from tenter._arrays import torch_private

    return torch_private.surely(condition)
