"""Array libraries: what each says about its arrays.

A library is a module with the functions of `Library`. One that the caller has not imported is not imported here.
"""

import sys
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np

from tenter._arrays import numpy_arrays, standard_arrays
from tenter._arrays.kept import uncut
from tenter._arrays.layout import Layout, Order
from tenter._arrays.types import Array

Imported = TypeVar("Imported")


class Library(Protocol):
    """What checks, plans and kernels ask about an array; `problem` and the like return the reason, or None.

    PACKAGE: what users import. TYPES: those that are exactly an array, without rules of their own.
    """

    PACKAGE: str
    TYPES: tuple[type, ...]

    def problem(self, x: Any) -> str | None:
        """Why no kernel can serve x."""

    def short(self, x: Any) -> str | None:
        """Why x's memory is less than x says, if that is known."""

    def unreadable(self, x: Any) -> str | None:
        """Why the host can't read x's values now."""

    def unservable(self, x: Any) -> str | None:
        """Why kernels can't read x's memory now."""

    def unwritable(self, x: Any) -> str | None:
        """Why a result can't be written to x."""

    def differentiated(self, x: Any) -> str | None:
        """Why a result can't be written to memory that x's gradient does not know of."""

    def plain(self, x: Any) -> bool:
        """True if a call on x only reads its memory, writes a result's and records a gradient."""

    def recorded(self, x: Any) -> bool:
        """True if a call on x goes through the library's dispatcher or functions: values may come later."""

    def symbolic(self, x: Any) -> bool:
        """True if x's sizes may be symbols."""

    def device(self, x: Any) -> str | None:
        """The device whose kernels serve x; None for memory of the host."""

    def dtype_name(self, x: Any) -> str:
        """The dtype as `dtypes.DTYPES` names it."""

    def itemsize(self, x: Any) -> int:
        """Bytes of an element."""

    def strides(self, x: Any) -> tuple[int, ...]:
        """Strides in bytes."""

    def layout(self, x: Any) -> Layout:
        """What a plan depends on."""

    def place(self, x: Any) -> tuple[Any, ...]:
        """What a plan depends on beside shape and dtype, as a quick key."""

    def address(self, x: Any, name: str = "x") -> int:
        """The address of the first element, where all of x's elements are. name: x's, where it is refused."""

    def image_order(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> Order:
        """The order in memory of `interpolate`'s result."""

    def resolve(self, x: Any) -> Any:
        """x without flags, such as PyTorch's conj, that change what its memory means."""

    def to_numpy(self, x: Any) -> Array:
        """The values as a NumPy array, of the same memory where possible."""

    def from_numpy(self, x: Array, like: Any) -> Any:
        """The library's array of a NumPy array's memory, or a copy of it, where like is."""


def _torch() -> Library:
    from tenter._arrays import torch_tensors  # as it imports torch

    return torch_tensors


def _jax() -> Library:
    from tenter._arrays import jax_arrays  # as it imports jax

    return jax_arrays


def _dask() -> Library:
    from tenter._arrays import dask_arrays  # as it imports dask

    return dask_arrays


# In place of the package of arrays of which the shape is all that is known (`tenter._explain`).
OUTLINE = "outline"
# By the package that users import: the name of its array type there, and its module here.
OTHERS: dict[str, tuple[str, Callable[[], Library]]] = {
    "torch": ("Tensor", _torch), "jax": ("Array", _jax), "dask.array": ("Array", _dask)
}  # fmt: skip
_loaded: dict[str, Library] = {"numpy": numpy_arrays, standard_arrays.PACKAGE: standard_arrays}
# By each type that is exactly an array; a library's once it has been loaded.
_exact: dict[type, Library] = dict.fromkeys(numpy_arrays.TYPES, _loaded["numpy"])


def of(x: Any) -> Library:
    """The library that x, which is an array, is of."""
    if (known := _exact.get(type(x))) is not None:
        return known
    package = _package(x)
    if package is None:
        raise AssertionError(f"a {type(x).__name__} where an array was checked")
    if package not in _loaded:
        add(imported(OTHERS[package][1]))
    return _loaded[package]


def imported(what: Callable[[], Imported]) -> Imported:
    """What a function imports, which no fork cuts in two. PyTorch's compiler follows it, but cannot follow a lock."""
    if compiling():
        return what()
    with uncut():
        return what()


def add(its: Library) -> None:
    """From now on arrays of exactly its types are its own."""
    _loaded[its.PACKAGE] = its
    _exact.update(dict.fromkeys(its.TYPES, its))


def loaded(package: str) -> bool:
    """True if arrays of a library have been seen, or it was there before tenter."""
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


def recorded(x: Any) -> bool:
    """True if x is an array that is recorded."""
    return is_array(x) and of(x).recorded(x)


def symbolic(x: Any) -> bool:
    """True if x is an array whose sizes may be symbols."""
    return is_array(x) and of(x).symbolic(x)


def on_device(x: Any) -> bool:
    """True if x is an array on a device with kernels of its own."""
    return is_array(x) and of(x).device(x) is not None


def dtype_name(x: Any) -> str:
    return of(x).dtype_name(x)


def compiling() -> bool:
    """True while PyTorch's compiler follows the code."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_compiling()


def traced() -> bool:
    """True while PyTorch's compiler follows this very code: it alone follows exact tensors unseen by the core, which
    tells all other followers itself. Takes half the time of `compiling`."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_dynamo_compiling()


def surely(condition: Any) -> bool:
    """True if a condition on sizes is known to hold. One on data that a tracer does not have is left to the kernels."""
    if not compiling() and (isinstance(condition, (bool, np.bool_)) or is_array(condition)):
        return bool(condition)  # an array, where torch.jit.trace has sizes that are tensors
    from tenter._arrays import torch_private

    return torch_private.surely(condition)
