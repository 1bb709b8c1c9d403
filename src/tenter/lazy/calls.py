"""Dispatch of a call of NumPy, PyTorch or Python on lazy arrays, which are `Stretched` here in arguments and
results."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tenter._arrays.errors import refuse
from tenter._arrays.library import is_array, of
from tenter.lazy.along import along, is_along
from tenter.lazy.elementwise import elementwise, is_elementwise
from tenter.lazy.products import RANKS, linear, product
from tenter.lazy.reductions import is_reduction, reduction
from tenter.lazy.reshaping import NAMES, reshaped
from tenter.lazy.stretched import Stretched, materialized, moved, stand_in, whole

Function = Callable[..., Any]
MOST_LEVELS = 64
# Functions that reorder dims or add some.
MOVES = frozenset((
    "transpose", "permute", "swapaxes", "swapdims", "moveaxis", "movedim", "t", "T", "mT", "unsqueeze", "expand_dims",
))  # fmt: skip
# Functions that only read shape and dtype. Names that end in _like are others.
QUERIES = frozenset((
    "shape", "ndim", "size", "numel", "nelement", "dim", "ndimension", "element_size", "is_floating_point",
    "is_complex", "iscomplexobj", "isrealobj", "result_type",
))  # fmt: skip
# NumPy's functions and methods that write to their first argument. PyTorch's end in an underscore.
WRITES = frozenset(("copyto", "place", "put", "putmask", "fill_diagonal", "put_along_axis"))
METHODS = frozenset(("fill", "sort", "partition", "put", "itemset", "resize", "setflags", "setfield", "byteswap"))


def by_position(f: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns the arguments of a call with the first one by position: np.sum(a=s) as np.sum(s)."""
    if args or not kwargs:
        return args, kwargs
    try:
        first = next(iter(inspect.signature(f).parameters), "")
    except ValueError:
        first = "input"  # as PyTorch's functions without a signature name it
    if first not in kwargs:
        return args, kwargs
    return (kwargs[first],), {name: value for name, value in kwargs.items() if name != first}


def perform(name: str, f: Function, args: tuple[Any, ...], kwargs: dict[str, Any], notes: list[str]) -> Any:
    """Returns f's results. They are `Stretched` if f could run on the inputs of the maps. notes: receives the reasons
    if it could not."""
    plain = name.strip("_")
    if plain in QUERIES or plain.endswith("_like"):
        return f(*_each(args, stand_in), **_each(kwargs, stand_in))
    made = _on_inputs(name, f, args, kwargs, notes)
    if made is not None:
        return made
    if not notes or not notes[-1].startswith("all "):
        notes.append(f"all is materialized: {name} of these arguments is not done on the input")
    return f(*_each(args, materialized), **_each(kwargs, materialized))


def _on_inputs(name: str, f: Function, args: tuple[Any, ...], kwargs: dict[str, Any], notes: list[str]) -> Any:
    """Returns f's results, computed on the inputs of the maps; None if that is not possible."""
    lazies = [value for value in leaves((args, kwargs)) if isinstance(value, Stretched)]
    package, plain = of(lazies[0].base).PACKAGE, name.strip("_")
    if plain in MOVES and args and isinstance(args[0], Stretched):
        return moved(f, args[0], args[1:], kwargs)
    if is_elementwise(plain, f, args, kwargs, package):
        return elementwise(plain, f, _arrays(args) if package == "numpy" else args, kwargs, notes)
    if is_reduction(plain) and _is_first_alone(args, lazies):
        return reduction(plain, f, args[0], args[1:], kwargs, notes)
    if plain in RANKS and len(args) == 2 and not kwargs and all(map(_is_operand, args)):
        a, b = (a if isinstance(a, Stretched) else whole(a) for a in args)
        return product(plain, f, a, b, notes)
    if plain == "linear" and _is_first_alone(args, lazies) and len(args) == 3 and not kwargs:
        return linear(*args, notes)
    return _past_other_dims(plain, f, args, kwargs, notes, lazies)


def _past_other_dims(
    name: str, f: Function, args: tuple[Any, ...], kwargs: dict[str, Any], notes: list[str], lazies: list[Stretched]
) -> Any:
    """The result of a function that leaves some dims as they are."""
    package = of(lazies[0].base).PACKAGE
    if name in NAMES[package] and _is_first_alone(args, lazies):
        return reshaped(name, f, args[0], args[1:], kwargs, notes)
    if is_along(name, package):
        return along(name, f, args, kwargs, notes)
    notes.append(f"all is materialized: {name} is none of the functions that are known here")
    return None


def _arrays(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([np.asarray(a) if type(a) in (list, tuple) else a for a in args])


def _is_first_alone(args: tuple[Any, ...], lazies: list[Stretched]) -> bool:
    return bool(args) and isinstance(args[0], Stretched) and len(lazies) == 1


def _is_operand(value: Any) -> bool:
    return isinstance(value, Stretched) or is_array(value)


def writes(name: str, f: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """True if a call would write to a lazy array."""
    if any(isinstance(value, Stretched) for word in ("out", "dst") for value in leaves(kwargs.get(word))):
        return True
    if not args or not isinstance(args[0], Stretched):
        return False
    if isinstance(args[0].base, np.ndarray):
        return name in WRITES or (name in METHODS and f is getattr(np.ndarray, name, None))
    return bool(kwargs.get("inplace")) or (
        name.endswith("_") and (not name.endswith("__") or (name.startswith("__i") and name != "__invert__"))
    )


def leaves(tree: Any, level: int = 0) -> Iterator[Any]:
    """Yields the values in tuples, lists and dicts, nested at most as deep as an array can have dims."""
    if level > MOST_LEVELS:
        refuse(ValueError, "an operand", f"lists of at most {MOST_LEVELS} levels", "more")
    if isinstance(tree, Stretched) or not isinstance(tree, (tuple, list, dict)):
        yield tree
        return
    for branch in tree.values() if isinstance(tree, dict) else tree:
        yield from leaves(branch, level + 1)


def _each(tree: Any, change: Callable[[Stretched], Any]) -> Any:
    """Returns the tree with `Stretched` values changed."""
    if isinstance(tree, Stretched):
        return change(tree)
    if isinstance(tree, dict):
        return {key: _each(value, change) for key, value in tree.items()}
    if type(tree) in (tuple, list):
        return type(tree)([_each(value, change) for value in tree])
    return tree
