"""Functions that work along some dims and treat the positions of the others alike: norms, softmax, attention.

`f(A x) = A f(x)` for the map of each other dim: for every f if A copies, for linear f if A sums. Maps of the dims that
f works along are applied first.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tenter._arrays.library import is_array, of
from tenter.lazy.elementwise import aligned
from tenter.lazy.stretched import Stretched, applied, is_float, like_tuple, stretched, whole
from tenter.maps import AxisMap

# Functions of one array along some dims: which argument names these, and the dims without it; None for all. Some
# return arrays without these dims.
DIMS: dict[str, dict[str, tuple[int, int | None]]] = {
    "torch": {
        "softmax": (1, None), "log_softmax": (1, None), "softmin": (1, None), "normalize": (2, 1), "glu": (1, -1),
        "cumsum": (1, None), "cumprod": (1, None), "logcumsumexp": (1, None), "flip": (1, None), "sort": (1, -1),
        "argsort": (1, -1), "topk": (2, -1), "chunk": (2, 0), "split": (2, 0), "tensor_split": (2, 0), "cat": (1, 0),
        "concat": (1, 0), "concatenate": (1, 0), "argmax": (1, None), "argmin": (1, None), "var": (1, None),
        "std": (1, None), "logsumexp": (1, None), "prod": (1, None), "norm": (2, None), "linalg_vector_norm": (2, None),
    },
    "numpy": {
        "cumsum": (1, None), "cumprod": (1, None), "flip": (1, None), "sort": (1, -1), "argsort": (1, -1),
        "split": (2, 0), "array_split": (2, 0), "concatenate": (1, 0), "argmax": (1, None), "argmin": (1, None),
        "var": (1, None), "std": (1, None), "prod": (1, None), "ptp": (1, None), "median": (1, None),
        "norm": (2, None),
    },
}  # fmt: skip
WORDS = ("dim", "axis", "dims")
JOINS = frozenset(("cat", "concat", "concatenate"))
LINEAR = JOINS | {"cumsum", "flip", "chunk", "split", "tensor_split", "array_split"}
ATTENTION = "scaled_dot_product_attention"
ATTENDS = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")  # its arguments
CONVOLUTIONS = {"conv1d": 3, "conv2d": 4, "conv3d": 5}  # and their dims, with a batch
# Functions of PyTorch whose other arguments say the dims, in `_dims`.
LAYERS = {ATTENTION, *CONVOLUTIONS, "layer_norm", "rms_norm", "group_norm", "batch_norm", "dropout", "embedding"}
Call = Callable[[Sequence[Any]], Any]


def is_along(name: str, package: str) -> bool:
    return name in DIMS[package] or (package == "torch" and name in LAYERS)


def along(name: str, f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], notes: list[str]) -> Any:
    """Returns f's result or results, each a `Stretched`; None if f is no such function, or if nothing stays lazy."""
    if kwargs.get("out") is not None or not args:
        return None
    given, mask, call = _taken_apart(name, f, args, kwargs)
    if not all(isinstance(a, Stretched) or is_array(a) for a in given):
        return None
    operands = [a if isinstance(a, Stretched) else whole(a) for a in given]
    dims = _dims(name, operands[0], args, kwargs)
    others = None if dims is None else _others(operands, mask, dims)
    if dims is None or others is None:
        return None
    mapped_dims = {d for s in operands for d in s.stretched_dims}
    if mapped_dims <= dims:
        notes.append(f"all is materialized: {name} works along each stretched dim")
        return None
    notes.extend(f"dim {d} is materialized: {name} works along it" for d in sorted(mapped_dims & dims))
    operands = [applied(s, dims) for s in operands]
    mask = [applied(m, range(max(len(m.maps) - 2, 0), len(m.maps))) for m in mask]
    why = _why(name, operands)
    bases, maps = aligned([*operands, *mask], operands[0].shape, lambda m, mapped: why, notes)
    n = len(operands)
    small = list(map(max, zip(*(tuple(base.shape) for base in bases[:n]))))
    try:
        found = call([*map(partial(_widened, small=small, dims=dims), bases[:n]), *bases[n:]])
    except (RuntimeError, ValueError, IndexError, ArithmeticError):
        return None  # the whole array raises the library's own error, unless an input that no output reads is to blame
    return _with_maps(found, small, [None if d in dims else m for d, m in enumerate(maps)], others)


def _why(name: str, operands: list[Stretched]) -> str | None:
    """Says why maps with weights must be applied first; None if f is linear."""
    if name not in LINEAR:
        return f"{name} is not linear, and the map interpolates"
    return None if all(is_float(s.base) for s in operands) else "weighted sums of integers are rounded"


def _others(operands: list[Stretched], mask: list[Stretched], dims: set[int]) -> list[int] | None:
    """Returns the dims that f does not work along; None if there are no such dims, or arrays of unequal lengths."""
    n = len(operands[0].maps)
    if not all(0 <= d < n for d in dims) or any(len(s.maps) != n for s in operands):
        return None
    others = [d for d in range(n) if d not in dims]
    unequal = any(len({s.shape[d] for s in operands}) > 1 for d in others)
    return None if unequal or any(len(m.maps) > n for m in mask) else others


def _taken_apart(
    name: str, f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], list[Stretched], Call]:
    """Returns the arrays that f works along, the mask of an attention as a list, and f as a function of both."""
    if name in JOINS and isinstance(args[0], (tuple, list)) and args[0]:
        return list(args[0]), [], lambda bases: f(list(bases), *args[1:], **kwargs)
    if name != ATTENTION:
        return [args[0]], [], lambda bases: f(*bases, *args[1:], **kwargs)
    given = dict(zip(ATTENDS, args)) | kwargs
    operands, mask = [given.pop(word, None) for word in ATTENDS[:3]], given.pop("attn_mask", None)
    masks = [] if mask is None else [mask if isinstance(mask, Stretched) else whole(mask)]
    return operands, masks, lambda bases: f(*bases, **given)


def _dims(name: str, s: Stretched, args: Sequence[Any], kwargs: dict[str, Any]) -> set[int] | None:
    """Returns the dims that f works along; None if these arguments do not say it, or f is another function."""
    others = [*args[1:], *kwargs.values()]
    if name != ATTENTION and any(isinstance(value, Stretched) for value in others):
        return None
    package = of(s.base).PACKAGE
    if name not in DIMS[package]:
        return _dims_of_layer(name, len(s.maps), args, kwargs) if package == "torch" else None
    if any(is_array(value) for value in others):
        return None  # as `where=`, which has the shape of the whole array
    place, usual = DIMS[package][name]
    named = [kwargs[word] for word in WORDS if word in kwargs]
    by_place = args[1:] if name == "flip" and len(args) > 1 else args[place : place + 1]
    dims = named[0] if named else by_place[0] if len(by_place) == 1 else by_place or usual
    dims = dims if isinstance(dims, (tuple, list)) else (dims,)
    whole_numbers = all(isinstance(d, (int, np.integer)) and not isinstance(d, bool) for d in dims)
    return {int(d) + len(s.maps) * (d < 0) for d in dims} if whole_numbers and dims else None


def _dims_of_layer(name: str, n: int, args: Sequence[Any], kwargs: dict[str, Any]) -> set[int] | None:
    def argument(place: int, usual: Any, *words: str) -> Any:
        given = [kwargs[word] for word in words if word in kwargs]
        return given[0] if given else args[place] if len(args) > place else usual

    if name in ("layer_norm", "rms_norm"):
        normalized = argument(1, (), "normalized_shape")
        return set(range(n - len(normalized), n)) if normalized else None
    if name == "group_norm" or CONVOLUTIONS.get(name) == n:
        return set(range(1, n))
    if name == ATTENTION:
        drops = argument(4, 0, "dropout_p")
        return None if drops else set(range(n - (3 if kwargs.get("enable_gqa") else 2), n))
    if name == "dropout" and not kwargs.get("inplace"):
        return None if argument(2, True, "training", "train") and argument(1, 0.5, "p") else set()
    if name == "batch_norm":
        return None if argument(5, False, "training") else {1}
    return set() if name == "embedding" and kwargs.get("max_norm") is None and len(args) == 2 else None


def _widened(base: Any, small: Sequence[int], dims: set[int]) -> Any:
    """Returns a view in which a dim that one position stands for is as long as those of the other arrays: these
    functions do not broadcast."""
    shape = tuple([n if d in dims else small[d] for d, n in enumerate(base.shape)])
    if shape == tuple(base.shape):
        return base
    return np.broadcast_to(base, shape) if isinstance(base, np.ndarray) else base.expand(shape)


def _with_maps(found: Any, small: Sequence[int], maps: Sequence[AxisMap | None], others: Sequence[int]) -> Any:
    """Returns the results with their maps. Each has all dims, those that f does not work along, or one more at its end.
    None if their lengths say that f is another function."""
    results = found if isinstance(found, (tuple, list)) else (found,)
    made = []
    for y in results:
        shape = tuple(getattr(y, "shape", ()))
        keeps = len(shape) == len(maps) or (len(shape) == len(maps) + 1 and len(others) == len(maps))
        at = list(others) if not keeps and len(shape) == len(others) else list(range(len(maps)))
        if len(shape) < len(at) or any(maps[d] is not None and shape[k] != small[d] for k, d in enumerate(at)):
            return None
        made.append(stretched(y, [*(maps[d] for d in at), *(None,) * (len(shape) - len(at))]))
    return like_tuple(found, made) if isinstance(found, (tuple, list)) else made[0]
