"""Names that PyTorch has not made public; all of tenter's are here.

Where one of those that tell what follows a call is missing, no tensor is plain and all go through the registered
operators. Without the others the import fails, which is better than gradients that are lost.
"""

import contextlib
import inspect
import sys
from collections.abc import Callable
from threading import Thread
from typing import Any

import torch
from torch.autograd import forward_ad

_FOLLOWERS = (
    "_are_functorch_transforms_active",
    "_len_torch_dispatch_stack",
    "_is_torch_function_mode_enabled",
    "_get_tracing_state",
)
all_known = all(hasattr(torch._C, name) for name in (*_FOLLOWERS, "_dispatch_keys"))
_followers = [getattr(torch._C, name, lambda: True) for name in _FOLLOWERS]
functorch_active: Callable[[], bool] = _followers[0]
dispatch_modes: Callable[[], int] = _followers[1]
function_modes: Callable[[], bool] = _followers[2]
tracing: Callable[[], object] = _followers[3]
dispatch_keys: Callable[[torch.Tensor], object] = torch._C._dispatch_keys if all_known else lambda x: object()


def unfollowed(f: Callable[[], Any]) -> Any:
    """f() in a thread, which has none of the modes, transforms and tracers that may follow the one that first calls
    tenter: with them tensors would be fake or recorded. f should import nothing, as this thread may hold import locks.
    """
    found: list[Any] = []
    thread = Thread(target=lambda: found.append(f()))  # an executor's lock is held by threads that fork
    thread.start()
    thread.join()
    return found[0]


def _plain_keys() -> tuple[object, object]:
    outside = dispatch_keys(torch.empty(0, device="cpu"))
    with torch.inference_mode():
        return outside, dispatch_keys(torch.empty(0, device="cpu"))


# The keys of a strided CPU tensor that is nothing more. One comparison tells off devices, subclasses with a dispatch
# of their own, batched, functional, conj, neg and zero tensors, sparse and nested ones.
PLAIN, PLAIN_INFERENCE = unfollowed(_plain_keys)

# Of CUDA devices: makes one the current one and returns which was; its current stream, as a number.
exchange_device: Callable[[int], int] = torch.cuda._maybe_exchange_device


def current_stream(device: int) -> int:
    return torch._C._cuda_getCurrentRawStream(device)


def _cuda_keys() -> list[object]:
    """The same of CUDA tensors, put together, as there may be no device to have one on."""
    if not all_known:
        return []
    keys, of = torch._C.DispatchKey, torch._C.DispatchKeySet
    inference = of(keys.CUDA) | of(keys.AutocastCUDA)
    return [inference | of(keys.AutogradCUDA) | of(keys.ADInplaceOrView), inference]


PLAIN_CUDA = _cuda_keys()


def exporting_to_onnx() -> bool:
    """True while torch.onnx.export follows the code. (PyTorch's public function is a constant to its compiler.)"""
    flags = sys.modules.get("torch.onnx._internal.exporter._flags")
    return flags is not None and bool(flags._is_onnx_exporting)


# What a subclass without rules of its own for PyTorch's functions has in their place.
_default: Any = torch.Tensor.__torch_function__
NO_RULES = (_default.__func__, getattr(torch._C, "_disabled_torch_function_impl", None))


def forward_mode() -> bool:
    """True while a level of forward-mode differentiation is open."""
    return forward_ad._current_level >= 0  # type: ignore[no-any-return]


below_autograd = torch._C._AutoDispatchBelowAutograd


@contextlib.contextmanager
def recording() -> Any:
    """Inside a Function's forward, which switches gradients off: on again, for the transforms outside this one."""
    with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True):
        yield


def apply_of(function: Any) -> Callable[..., Any]:
    """A Function's apply without the Python around it, which costs as much as a small kernel, and refuses torch.func:
    below the dispatcher, where an operator is called once per level, recording that level is all there is to do."""
    for name in _READ_BY_APPLY:
        if name not in vars(function) and hasattr(function, name):
            setattr(function, name, inspect.getattr_static(function, name))
    apply: Callable[..., Any] = super(torch.autograd.Function, function).apply  # type: ignore[misc]
    return apply


# Attributes that apply reads of a Function, by strings that are new each time, which no cache of attributes holds:
# Python looks through all the bases then, unless the Function itself has them.
_READ_BY_APPLY = ("setup_context", "clear_saved_tensors_on_access", "boxed_grads_call")


def in_place_of_backward(function: Any, method: Any) -> None:
    """What PyTorch's engine calls, as a method of ctx, in place of the Python that finds and calls a Function's
    backward. (Its compiler follows the backward.)"""
    function._backward_cls.apply = method


def before_compiled_backward(function: Any, prepare: Callable[[Any], None]) -> None:
    """Calls prepare(ctx) before PyTorch's compiler follows a Function's backward."""
    key = function._compiled_autograd_key

    def prepared(ctx: Any) -> Any:
        prepare(ctx)
        return key(ctx)

    function._compiled_autograd_key = staticmethod(prepared)


def single_level() -> Any:
    """Lets a Function be applied to one level of torch.func."""
    from torch._functorch import utils

    return utils.enable_single_level_autograd_function()


def unwrap_batched(x: torch.Tensor) -> tuple[torch.Tensor, int | None]:
    """The tensor under the innermost vmap, and the dim that it maps over if it does."""
    from torch._functorch.pyfunctorch import retrieve_current_functorch_interpreter

    level = retrieve_current_functorch_interpreter().level()
    return torch._C._functorch._unwrap_batched(x, level)


def below_vmap() -> Any:
    return torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.FuncTorchBatched))


def below_autocast() -> Any:
    return torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCUDA))


# Whether autocast is on, for any kind of device. (PyTorch's public function takes as long as a call here.)
autocast: Callable[[], bool] = getattr(torch._C, "_is_any_autocast_enabled", lambda: True)


def constant(function: Any) -> None:
    """Its results are constants of a compiled graph: torch.compiler.assume_constant_result, without the compiler."""
    function._dynamo_marked_constant = True


def new_symbol() -> Any:
    """Inside an operator's fake kernel: a size that is known when it runs. None where there are no symbols."""
    environment = getattr(torch.library.get_ctx(), "_shape_env", None)
    return None if environment is None else environment.create_unbacked_symint()


def remember_by_all_arguments(operator: Any) -> None:
    """PyTorch remembers the shapes of DTensors' results by the arguments that it is told of here. What it finds by
    itself are ints: it would take lists of them, the sizes, for all the same."""
    from torch.distributed.tensor import DTensor
    from torch.distributed.tensor._op_schema import RuntimeSchemaInfo

    propagator = DTensor._op_dispatcher.sharding_propagator
    propagator.op_to_schema_info[operator] = RuntimeSchemaInfo(1, needs_pytree=True)


def in_compiler() -> bool:
    """True while the compiler runs the functions of a graph that it makes."""
    return torch._guards.TracingContext.try_get() is not None
