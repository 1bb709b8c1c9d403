"""Types of a lazy array's operators, attributes and methods. Lazy arrays over NumPy give NumPy arrays or lazy ones, and
those over tensors give tensors or lazy ones. Numbers count as arrays, as in NumPy's own types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from tenter._arrays.signatures import Element
    from tenter.lazy.array import LazyArray

    OfNumpy: TypeAlias = NDArray[Any] | LazyArray[NDArray[Any]]
    OfTorch: TypeAlias = Tensor | LazyArray[Tensor]
    Operand: TypeAlias = complex | np.generic | NDArray[Any] | Tensor | LazyArray[Any] | list[Any] | tuple[Any, ...]


class Operator(Protocol):
    """A binary operator. The dtypes of both operands decide the result's."""

    @overload
    def __get__(self, s: LazyArray[Tensor], kind: type) -> Callable[[Operand], OfTorch]: ...
    @overload
    def __get__(self, s: LazyArray[NDArray[Any]], kind: type) -> Callable[[Operand], OfNumpy]: ...


class Unary(Protocol):
    @overload
    def __get__(self, s: LazyArray[Tensor], kind: type) -> Callable[[], OfTorch]: ...
    @overload
    def __get__(self, s: LazyArray[NDArray[Any]], kind: type) -> Callable[[], OfNumpy]: ...


class InPlace(Protocol):
    """An in-place operator of a read-only array."""

    def __get__(self, s: LazyArray[Any], kind: type) -> Callable[[Operand], NoReturn]: ...


class Two(Protocol):
    """Quotient and remainder."""

    @overload
    def __get__(self, s: LazyArray[Tensor], kind: type) -> Callable[[Operand], tuple[OfTorch, OfTorch]]: ...
    @overload
    def __get__(self, s: LazyArray[NDArray[Any]], kind: type) -> Callable[[Operand], tuple[OfNumpy, OfNumpy]]: ...


class Method(Protocol):
    """A method of the array library, which knows its own arguments."""

    @overload
    def __get__(self, s: LazyArray[Tensor], kind: type) -> Callable[..., OfTorch]: ...
    @overload
    def __get__(self, s: LazyArray[NDArray[Any]], kind: type) -> Callable[..., OfNumpy]: ...


class Dtype(Protocol):
    @overload
    def __get__(self, s: LazyArray[Tensor], kind: type) -> torch.dtype: ...
    @overload
    def __get__(self, s: LazyArray[NDArray[Element]], kind: type) -> np.dtype[Element]: ...


class Sizes(Protocol):
    """PyTorch's method `size`."""

    @overload
    def __call__(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def __call__(self, dim: int) -> int: ...


class Size(Protocol):
    @overload
    def __get__(self, s: LazyArray[Tensor], kind: type) -> Sizes: ...
    @overload
    def __get__(self, s: LazyArray[NDArray[Any]], kind: type) -> int: ...


class Item(Protocol):
    def __call__(self) -> bool | int | float | complex: ...


class Listed(Protocol):
    def __call__(self) -> list[Any] | complex: ...


class Attributes:
    """Attributes that checkers cannot see, because `__getattr__` finds them or they differ by library, and the methods
    used most. For all others, use `materialize`."""

    if TYPE_CHECKING:
        dtype: Dtype
        size: Size
        device: torch.device | str
        requires_grad: bool
        itemsize: int
        is_cuda: bool
        is_cpu: bool
        item: Item
        tolist: Listed
        sum: Method
        mean: Method
        prod: Method
        max: Method
        min: Method
        any: Method
        all: Method
        std: Method
        var: Method
        cumsum: Method
        argmax: Method
        argmin: Method
        round: Method
        clip: Method
        abs: Method
        exp: Method
        sqrt: Method
        reshape: Method
        flatten: Method
        transpose: Method
        permute: Method
        squeeze: Method
        unsqueeze: Method
        take: Method
        dot: Method
        matmul: Method
        astype: Method
        to: Method
        half: Method
        double: Method
        long: Method
        detach: Method
        cpu: Method
