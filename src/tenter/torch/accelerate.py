"""PyTorch's functions replaced by tenter's, for a while or for good.

Replaced are names: attributes of `torch`, `torch.Tensor` and `torch.nn.functional`, and the same functions wherever a
loaded module has imported them to. The compiler sees the replacement as ordinary Python and traces through it.
"""

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ParamSpec, TypeVar, overload

import torch
import torch.nn.functional as F  # noqa: N812, its name everywhere
from torch.overrides import handle_torch_function, has_torch_function_unary

from tenter import interleaving, interpolation, ops
from tenter._arrays import torch_tensors
from tenter._arrays.arguments import MISSING, error
from tenter._arrays.errors import Refusal
from tenter._arrays.foreign import class_name
from tenter._arrays.forks import not_forked
from tenter._arrays.torch_private import NO_RULES, exporting_to_onnx, tracing
from tenter._torch import (
    executor as executor,  # registers the operators, for graphs saved with them
    operators,
)
from tenter._torch.device import DeferredError
from tenter.torch import report
from tenter.torch.report import Report

# Who holds a name, the name, what it is bound to, what it is to be.
Replacement = tuple[Any, str, Any, Any]
Given = ParamSpec("Given")
Result = TypeVar("Result")

_depth = 0
_scripting = 0  # calls of torch.jit.script at this moment


@overload
def accelerate() -> contextlib._GeneratorContextManager[Report]: ...
@overload
def accelerate(function: Callable[Given, Result]) -> Callable[Given, Result]: ...
def accelerate(function: Any = None) -> Any:
    """Makes existing code use tenter for PyTorch's repeats and resizes, gradients included.

    It replaces `torch.repeat_interleave`, `Tensor.repeat_interleave`, `Tensor.repeat`, `torch.tile`, `Tensor.tile`,
    `F.interpolate`, `F.upsample*` and `nn.Upsample*`, in all threads of the process.

    Parameters
    ----------
    function : callable, optional
        The function to decorate; PyTorch's functions are replaced while it runs.

    Returns
    -------
    context manager or callable
        A context manager that yields a `Report`, or the decorated function.

    Raises
    ------
    TypeError
        If function is a module: call it within `with accelerate():`, decorate its `forward`, or call `install()` once.

    See Also
    --------
    install : The same from now on.
    Report : What was computed by tenter.

    Notes
    -----
    PyTorch still computes what tenter does not support: devices other than the CPU and CUDA, CUDA without Triton,
    sparse and quantized tensors, and arguments that tenter refuses. The report counts both. Only bad counts and totals
    of repeat_interleave raise tenter's ValueError, as PyTorch may crash on them.

    Examples
    --------
    >>> import torch
    >>> with accelerate() as report:
    ...     torch.tile(torch.tensor([1, 2]), (2,))
    tensor([1, 2, 1, 2])
    >>> report.computed
    {'tile': 1}
    >>> @accelerate
    ... def doubled(x):
    ...     return torch.tile(x, (2,))
    """
    if function is None:
        return _accelerated()
    if isinstance(function, (torch.nn.Module, type)) or not callable(function):
        hint = "; for a module write `with tenter.torch.accelerate():` around its calls, or tenter.torch.install() once"
        what = f"the class {class_name(function)}" if isinstance(function, type) else class_name(type(function))
        raise error(Refusal(TypeError, f"function: expected one to decorate{hint}, got {what}"), "accelerate", function)
    return _accelerated()(function)


@contextlib.contextmanager
def _accelerated() -> Iterator[Report]:
    counts = Report()
    install()
    try:
        yield counts
    finally:
        uninstall()
        counts.stop()


def install() -> None:
    """Replaces the functions that `accelerate` replaces, until `uninstall` was called as often as `install`.

    See Also
    --------
    accelerate : For a part of a program.
    uninstall : Ends it.

    Examples
    --------
    >>> import torch
    >>> install()
    >>> torch.tile(torch.tensor([1, 2]), (2,))
    tensor([1, 2, 1, 2])
    >>> uninstall()
    """
    global _depth
    with not_forked():
        _depth += 1
        if _depth == 1:
            operators.watch = report.kernel_ran
            _replace()


def uninstall() -> None:
    """Undoes one call of `install`.

    Raises
    ------
    RuntimeError
        If there is none.

    See Also
    --------
    install : Begins it.

    Examples
    --------
    >>> uninstall()
    Traceback (most recent call last):
    RuntimeError: uninstall: expected an install before it, got none
    """
    global _depth
    with not_forked():
        if _depth == 0:
            raise RuntimeError("uninstall: expected an install before it, got none")
        _depth -= 1
        if _depth == 0:
            operators.watch = None
            _restore()


def _replace() -> None:
    if not _scripting:
        _put(_REPLACED + _imported())


def _restore() -> None:
    taken = [(holder, name, value, original) for holder, name, original, value in _REPLACED]
    _put(taken + _taken_since())


@contextlib.contextmanager
def _own_names() -> Iterator[None]:
    """Gives names back to PyTorch, for its script, which reads the source of what they are bound to."""
    global _scripting
    with not_forked():
        _scripting += 1
        if _depth and _scripting == 1:
            _restore()
    try:
        yield
    finally:
        with not_forked():
            _scripting -= 1
            if _depth:
                _replace()


def _put(replacements: Iterable[Replacement]) -> None:
    """Values in the place of others, unless other code has taken it."""
    for holder, name, old, new in replacements:
        if getattr(holder, name, None) is old:
            setattr(holder, name, new)


# ---- PyTorch's signatures, spelled out for tenter's


def _interleave(
    input: Any = MISSING, repeats: Any = MISSING, dim: Any = None, *, output_size: Any = None, axis: Any = None
) -> Any:
    return interleaving.repeat_interleave(input, repeats, axis if dim is None else dim, output_size=output_size)


def _sized(input: Any, *sizes: Any, repeats: Any = None) -> Any:
    return ops.repeat(input, *(sizes if repeats is None else (repeats,)))


def _tiled(input: Any, *sizes: Any, dims: Any = None) -> Any:
    return ops.tile(input, *(sizes if dims is None else (dims,)))


def _interpolated(input: Any, *args: Any, **kwargs: Any) -> Any:
    return interpolation.interpolate(input, *args, **kwargs)


def _called(
    function: str, ours: Callable[..., Any], theirs: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Ours, or theirs where ours refuses: then the result or the error is PyTorch's own."""
    x = args[0] if args else kwargs.get("input", kwargs.get("repeats"))
    if not isinstance(x, torch.Tensor):
        return handle_torch_function(theirs, (x,), *args, **kwargs) if _has_rules(x) else theirs(*args, **kwargs)
    reason = torch_tensors.problem(x) or _own_rules(x)
    if tracing():  # sizes are recorded as they are now, by PyTorch as they come
        return theirs(*args, **kwargs)
    if exporting_to_onnx():  # which has no translation of tenter's operators
        return _TRACEABLE.get(theirs, theirs)(*args, **kwargs)
    if torch.compiler.is_compiling():  # counted when it runs
        return ours(*args, **kwargs) if reason is None else _TRACEABLE.get(theirs, theirs)(*args, **kwargs)
    if reason is None:
        try:
            report.inside.call = True
            result = ours(*args, **kwargs)
            report.count(function)
            return result
        except (TypeError, ValueError, IndexError, MemoryError) as error:
            if isinstance(error, DeferredError) or (function == "repeat_interleave" and isinstance(error, ValueError)):
                raise  # counts that are wrong can end PyTorch's process, or go unseen
            reason = str(error).split("\n")[0]
        finally:
            report.inside.call = False
    report.fall_back(function, reason)
    if has_torch_function_unary(x):  # by its own name, not by the one that has been taken
        return handle_torch_function(theirs, (x,), *args, **kwargs)
    return theirs(*args, **kwargs)


def _has_rules(x: Any) -> bool:
    return hasattr(type(x), "__torch_function__")


def _own_rules(x: torch.Tensor) -> str | None:
    """A subclass may have something to say about PyTorch's functions, which it knows by name."""
    rules = type(x).__torch_function__
    if type(x) in torch_tensors.TYPES or getattr(rules, "__func__", rules) in NO_RULES:
        return None
    return f"a {class_name(type(x))}, which overrides `__torch_function__`"


def _stand_in(function: str, ours: Callable[..., Any], theirs: Callable[..., Any]) -> Callable[..., Any]:
    def replacement(*args: Any, **kwargs: Any) -> Any:
        return _called(function, ours, theirs, args, kwargs)

    # PyTorch's compiler before 2.12 asks what stands in the place of a method of tensors for its class.
    replacement.__objclass__ = torch.Tensor  # type: ignore[attr-defined]
    return replacement


# Where each name is bound, the function that a report counts, and tenter's.
_NAMES: list[tuple[Any, str, str, Callable[..., Any]]] = [
    (torch, "repeat_interleave", "repeat_interleave", _interleave),
    (torch, "tile", "tile", _tiled),
    (torch.Tensor, "repeat_interleave", "repeat_interleave", _interleave),
    (torch.Tensor, "repeat", "repeat", _sized),
    (torch.Tensor, "tile", "tile", _tiled),
    (F, "interpolate", "interpolate", _interpolated),
]
_REPLACED: list[Replacement] = [
    (holder, name, theirs := getattr(holder, name), _stand_in(function, ours, theirs))
    for holder, name, function, ours in _NAMES
]
_interpolate = _REPLACED[-1][3]


def _upsample(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None
) -> Any:
    return _interpolate(input, size, scale_factor, mode, align_corners)


def _upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    return _interpolate(input, size, scale_factor, mode="nearest")


def _upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    return _interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


_REPLACED += [
    (F, "upsample", F.upsample, _upsample),
    (F, "upsample_nearest", F.upsample_nearest, _upsample_nearest),
    (F, "upsample_bilinear", F.upsample_bilinear, _upsample_bilinear),
]


def _scripted(obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    with _own_names():
        return _script(obj, optimize, _frames_up + 1, _rcb, example_inputs)


_script = torch.jit.script
_REPLACED += [
    (module, "script", _script, _scripted)
    for name, module in list(sys.modules.items())
    if name.split(".")[:2] == ["torch", "jit"] and getattr(module, "script", None) is _script
]


def _traced_repeat(x: Any, *sizes: Any, repeats: Any = None) -> Any:
    return torch.ops.aten.repeat(x, repeats or (sizes[0] if isinstance(sizes[0], (list, tuple)) else sizes))


def _traced_tile(x: Any, *sizes: Any, dims: Any = None) -> Any:
    return _TILE(x, dims or (sizes[0] if isinstance(sizes[0], (list, tuple)) else sizes))


_TILE = torch.tile
# Methods that the compiler cannot follow once their names are taken.
_TRACEABLE: dict[Callable[..., Any], Callable[..., Any]] = {
    torch.Tensor.repeat_interleave: torch.repeat_interleave,
    torch.Tensor.tile: _traced_tile,
    torch.Tensor.repeat: _traced_repeat,
}


# ---- names that modules have bound to the same functions by `from ... import`

_loaded, _bound = 0, list[Replacement]()


def _imported() -> list[Replacement]:
    """Looked for again as more modules are loaded, and each time in the one where people try things out."""
    global _loaded, _bound
    wanted = {id(original): (original, value) for holder, _, original, value in _REPLACED if holder is not torch.Tensor}
    if _loaded != len(sys.modules):
        _loaded, _bound = len(sys.modules), list(_holding(wanted, sys.modules))
    return [*_holding(wanted, _main()), *_bound]


def _taken_since() -> list[Replacement]:
    """Those, and names that modules bound to stand-ins while these stood in."""
    wanted = {id(value): (value, original) for holder, _, original, value in _REPLACED if holder is not torch.Tensor}
    known = [(module, name, value, original) for module, name, original, value in _bound]
    return [*_holding(wanted, _main() if _loaded == len(sys.modules) else sys.modules), *known]


def _main() -> dict[str, Any]:
    return {"__main__": sys.modules.get("__main__")}


def _holding(wanted: dict[int, tuple[Any, Any]], modules: Mapping[str, Any]) -> Iterator[Replacement]:
    for module_name, module in list(modules.items()):
        if module is torch or module is F or module_name.split(".")[0] in ("tenter", "torch"):
            continue
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if id(value) in wanted:
                yield module, name, *wanted[id(value)]
