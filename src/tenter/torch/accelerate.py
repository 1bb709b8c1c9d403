"""PyTorch's functions replaced by tenter's, for a while or for good.

Replaced are names: attributes of `torch`, `torch.Tensor` and `torch.nn.functional`, and the same functions wherever a
loaded module has imported them to. The compiler sees the replacement as ordinary Python and traces through it.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812, its name everywhere
from torch.overrides import handle_torch_function, has_torch_function_unary

from tenter import ops
from tenter.frontends import torch as frontend
from tenter.frontends.torch import library as library  # its operators, for graphs that were saved with them
from tenter.frontends.torch import memory
from tenter.frontends.torch.private import NO_RULES
from tenter.torch import report

_lock = threading.Lock()
_depth = 0
_undo: list[tuple[Any, str, Any]] = []


@contextlib.contextmanager
def accelerate() -> Iterator[report.Report]:
    """Serves `torch.repeat_interleave`, `Tensor.repeat_interleave`, `Tensor.repeat`, `torch.tile`, `Tensor.tile`,
    `F.interpolate`, `F.upsample*` and `nn.Upsample*` by tenter, gradients included, in code that stays as it is.

    A context manager and a decorator. What tenter does not serve (other devices, other layouts, arguments that it
    refuses) PyTorch does as before, or refuses in its own words; the report that the context yields counts both. Only
    bad counts and totals of repeat_interleave raise tenter's ValueError, as PyTorch may crash on them. The replacement
    holds for all threads of the process. Compiled code does what held when it was compiled.

    >>> import torch
    >>> with accelerate() as report:
    ...     torch.tile(torch.tensor([1, 2]), (2,))
    tensor([1, 2, 1, 2])
    >>> report.served
    {'tile': 1}
    """
    counts = report.Report()
    install()
    try:
        yield counts
    finally:
        uninstall()
        counts.stop()


def install() -> None:
    """Serves by tenter from now on what `accelerate` serves; each call needs one of `uninstall`.

    >>> import torch
    >>> install()
    >>> torch.tile(torch.tensor([1, 2]), (2,))
    tensor([1, 2, 1, 2])
    >>> uninstall()
    """
    global _depth
    with _lock:
        _depth += 1
        if _depth > 1:
            return
        for holder, name, value in _replacements():
            _undo.append((holder, name, getattr(holder, name)))
            setattr(holder, name, value)
        memory.watch = report.kernel_ran


def uninstall() -> None:
    """Takes one `install` back; raises RuntimeError if there is none.

    >>> uninstall()
    Traceback (most recent call last):
    RuntimeError: uninstall: expected an install before it, got none
    """
    global _depth
    with _lock:
        if _depth == 0:
            raise RuntimeError("uninstall: expected an install before it, got none")
        _depth -= 1
        if _depth == 0:
            memory.watch = None
            while _undo:
                holder, name, original = _undo.pop()
                setattr(holder, name, original)


# ---- what stands in for what


def _repeat_interleave(*args: Any, **kwargs: Any) -> Any:
    return _served("repeat_interleave", _interleave, _ORIGINAL["repeat_interleave"], args, kwargs)


def _tensor_repeat_interleave(*args: Any, **kwargs: Any) -> Any:
    return _served("repeat_interleave", _interleave, _ORIGINAL["Tensor.repeat_interleave"], args, kwargs)


def _repeat(*args: Any, **kwargs: Any) -> Any:
    return _served("repeat", _sized, _ORIGINAL["Tensor.repeat"], args, kwargs)


def _tile(*args: Any, **kwargs: Any) -> Any:
    return _served("tile", _tiled, _ORIGINAL["tile"], args, kwargs)


def _tensor_tile(*args: Any, **kwargs: Any) -> Any:
    return _served("tile", _tiled, _ORIGINAL["Tensor.tile"], args, kwargs)


def _interpolate(*args: Any, **kwargs: Any) -> Any:
    return _served("interpolate", _resampled, _ORIGINAL["interpolate"], args, kwargs)


def _upsample(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None
) -> Any:
    return _interpolate(input, size, scale_factor, mode, align_corners)


def _upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    return _interpolate(input, size, scale_factor, mode="nearest")


def _upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    return _interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


# PyTorch's signatures, spelled out for tenter's.


def _interleave(input: Any, repeats: Any = None, dim: Any = None, *, output_size: Any = None, axis: Any = None) -> Any:
    return ops.repeat_interleave(input, repeats, axis if dim is None else dim, output_size=output_size)


def _sized(input: Any, *sizes: Any, repeats: Any = None) -> Any:
    return ops.repeat(input, *(sizes if repeats is None else (repeats,)))


def _tiled(input: Any, *sizes: Any, dims: Any = None) -> Any:
    return ops.tile(input, *(sizes if dims is None else (dims,)))


def _resampled(
    input: Any, size: Any = None, scale_factor: Any = None, mode: Any = "nearest", align_corners: Any = None,
    recompute_scale_factor: Any = None, antialias: Any = False,
) -> Any:  # fmt: skip
    return ops.interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)


def _served(
    function: str, ours: Callable[..., Any], theirs: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Ours, or theirs where ours refuses: then the result or the error is PyTorch's own."""
    x = args[0] if args else kwargs.get("input", kwargs.get("repeats"))
    if not isinstance(x, torch.Tensor):
        return theirs(*args, **kwargs)
    reason = frontend.problem(x) or _own_rules(x)
    if torch.compiler.is_compiling():  # counted when it runs
        return ours(*args, **kwargs) if reason is None else _TRACEABLE.get(theirs, theirs)(*args, **kwargs)
    if reason is None:
        try:
            report.inside.call = True
            result = ours(*args, **kwargs)
            report.serve(function)
            return result
        except (TypeError, ValueError, IndexError, MemoryError) as error:
            if function == "repeat_interleave" and isinstance(error, ValueError):
                raise  # counts that are wrong can end PyTorch's process, or go unseen
            reason = str(error).split("\n")[0]
        finally:
            report.inside.call = False
    report.pass_on(function, reason)
    if has_torch_function_unary(x):  # by its own name, not by the one that has been taken
        return handle_torch_function(theirs, (x,), *args, **kwargs)
    return theirs(*args, **kwargs)


def _own_rules(x: torch.Tensor) -> str | None:
    """A subclass may have something to say about PyTorch's functions, which it knows by name."""
    rules = type(x).__torch_function__
    if type(x) in frontend.KINDS or getattr(rules, "__func__", rules) in NO_RULES:
        return None
    return f"a {type(x).__name__}, which has rules of its own for PyTorch's functions"


_ORIGINAL: dict[str, Callable[..., Any]] = {
    "repeat_interleave": torch.repeat_interleave,
    "Tensor.repeat_interleave": torch.Tensor.repeat_interleave,
    "Tensor.repeat": torch.Tensor.repeat,
    "tile": torch.tile,
    "Tensor.tile": torch.Tensor.tile,
    "interpolate": F.interpolate,
}
# Methods that the compiler cannot follow once their names are taken.
_TRACEABLE: dict[Callable[..., Any], Callable[..., Any]] = {
    torch.Tensor.repeat_interleave: torch.repeat_interleave,
    torch.Tensor.tile: torch.tile,
    torch.Tensor.repeat: lambda x, *sizes: torch.ops.aten.repeat(x, sizes if isinstance(sizes[0], int) else sizes[0]),
}
_REPLACED: list[tuple[Any, str, Callable[..., Any]]] = [
    (torch, "repeat_interleave", _repeat_interleave),
    (torch, "tile", _tile),
    (torch.Tensor, "repeat_interleave", _tensor_repeat_interleave),
    (torch.Tensor, "repeat", _repeat),
    (torch.Tensor, "tile", _tensor_tile),
    (F, "interpolate", _interpolate),
    (F, "upsample", _upsample),
    (F, "upsample_nearest", _upsample_nearest),
    (F, "upsample_bilinear", _upsample_bilinear),
]
# Names that modules have bound to the same functions by `from ... import`; looked for again as more are loaded.
_bound: tuple[int, list[tuple[Any, str, Callable[..., Any]]]] = (0, [])


def _replacements() -> list[tuple[Any, str, Callable[..., Any]]]:
    """Who holds which name, and what it is to be."""
    global _bound
    originals = {getattr(holder, name): value for holder, name, value in _REPLACED if holder is not torch.Tensor}
    if _bound[0] != len(sys.modules):
        _bound = (len(sys.modules), list(_imported({id(f): value for f, value in originals.items()})))
    still = [one for one in _bound[1] if originals.get(getattr(one[0], one[1], None)) is one[2]]
    return _REPLACED + still


def _imported(stand_ins: dict[int, Callable[..., Any]]) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    for module_name, module in list(sys.modules.items()):
        if module is torch or module is F or module_name.split(".")[0] in ("tenter", "torch"):
            continue
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if id(value) in stand_ins:
                yield module, name, stand_ins[id(value)]
