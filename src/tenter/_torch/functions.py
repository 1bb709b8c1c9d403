"""autograd Functions without the Python code around them, by private names of PyTorch (see
`_arrays/torch_private.py`)."""

import inspect
from collections.abc import Callable
from typing import Any

import torch

from tenter._arrays.torch_private import holds, unfollowed


class _Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.detach() * 2

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        return grads[0] * 2


def _gradient(apply: Callable[..., Any]) -> float:
    x = torch.ones((), device="cpu", requires_grad=True)
    apply(x).backward()
    return 0.0 if x.grad is None else float(x.grad)


def _bare_apply(function: Any) -> Callable[..., Any]:
    return super(torch.autograd.Function, function).apply  # type: ignore[misc, no-any-return]


def _in_place_of_backward(function: Any, method: Any) -> None:
    function._backward_cls.apply = method


def _replaces_backward() -> bool:
    class Replaced(_Twice):
        pass

    _in_place_of_backward(Replaced, lambda ctx, g: g * 3)
    return _gradient(Replaced.apply) == 3


def _below_autograd() -> bool:
    with torch._C._AutoDispatchBelowAutograd():
        return not (torch.ones(1, device="cpu", requires_grad=True) * 2).requires_grad


_applies_bare, _replaces, goes_below = unfollowed(
    lambda: [
        holds(question)
        for question in (lambda: _gradient(_bare_apply(_Twice)) == 2, _replaces_backward, _below_autograd)
    ]
)


def below_autograd(f: Callable[..., Any], *args: Any) -> Any:
    """Runs f(*args) below autograd in the dispatcher."""
    if goes_below:
        with torch._C._AutoDispatchBelowAutograd():
            return f(*args)
    with torch.inference_mode():
        y = f(*args)
    return y.clone() if isinstance(y, torch.Tensor) else y  # inference tensors have no gradients


def apply_of(function: Any) -> Callable[..., Any]:
    """Returns a Function's apply without the Python code around it, which costs as much as a small kernel."""
    if not _applies_bare:
        return function.apply  # type: ignore[no-any-return]
    for name in _READ_BY_APPLY:
        if name not in vars(function) and hasattr(function, name):
            setattr(function, name, inspect.getattr_static(function, name))
    return _bare_apply(function)


# apply reads these attributes of a Function by newly made strings, which no attribute cache contains. Python then looks
# through all the bases, unless the Function itself has the attributes.
_READ_BY_APPLY = ("setup_context", "clear_saved_tensors_on_access", "boxed_grads_call")


def in_place_of_backward(function: Any, method: Any) -> None:
    """Makes PyTorch's engine call `method` of ctx. By default Python finds and calls a Function's backward. (The
    compiler still follows the backward.)"""
    if _replaces:
        _in_place_of_backward(function, method)


def before_compiled_backward(function: Any, prepare: Callable[[Any], None]) -> None:
    """Calls prepare(ctx) before PyTorch's compiler follows a Function's backward."""
    key = getattr(function, "_compiled_autograd_key", None)
    if key is None:
        return

    def prepared(ctx: Any) -> Any:
        prepare(ctx)
        return key(ctx)

    function._compiled_autograd_key = staticmethod(prepared)


def apply_to_one_level(function: Any) -> Callable[..., Any]:
    """Returns a Function's apply for one level of torch.func. An operator is called once for each level. PyTorch makes
    such Functions of those that it splits into levels."""
    base = getattr(torch.autograd.function, "_SingleLevelFunction", torch.autograd.Function)
    methods = {name: vars(function)[name] for name in ("forward", "backward", "jvp")}
    single = type(function.__name__, (base,), methods)

    def apply(*args: Any) -> Any:
        from torch._functorch.utils import enable_single_level_autograd_function

        with enable_single_level_autograd_function():
            return single.apply(*args)  # type: ignore[attr-defined]

    return apply
