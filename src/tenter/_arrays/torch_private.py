"""PyTorch's private names, each tested before it is used. Inductor's private names are in `_torch/inductor.py`.

If a name is missing or behaves differently, a slower public way replaces it. The tests take two milliseconds, as they
import nothing. Tests of torch.func, which is large, wait until a transform is active (`_torch/autograd.py`).
"""

import contextlib
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import torch
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from tenter._arrays import oldest_versions

oldest_versions.check("PyTorch", torch.__version__)


def unfollowed(f: Callable[[], Any]) -> Any:
    """Runs f in a new thread. There no modes, transforms and tracers are active. Where tenter is first called
    under one, tensors made here would otherwise be fake or traced. f should not import anything, because the calling
    thread may hold import locks."""
    found: list[Any] = []
    thread = Thread(target=lambda: found.append(f()))  # not an executor: threads that fork hold its lock
    thread.start()
    thread.join()
    return found[0]


def holds(question: Callable[[], bool]) -> bool:
    """Returns the answer of a test. False also if a name is missing or takes other arguments."""
    try:
        return bool(question())
    except Exception:
        return False


# ---- what follows a call


class _Dispatched(TorchDispatchMode):
    pass


class _Called(TorchFunctionMode):
    pass


@contextlib.contextmanager
def _transform() -> Any:
    torch._C._functorch._grad_increment_nesting()
    try:
        yield
    finally:
        torch._C._functorch._grad_decrement_nesting()


def _tells(name: str, context: Callable[[], Any]) -> bool:
    """True if the function of that name returns True within the context and False outside."""
    asked = getattr(torch._C, name)
    outside = bool(asked())
    with context():
        return bool(asked()) and not outside


def _tells_levels() -> bool:
    """True if the level of forward-mode differentiation can be read. It is one number for all threads, so another
    thread may already have opened a level."""
    if forward_ad._current_level >= 0:
        return True
    with forward_ad.dual_level():
        return forward_ad._current_level >= 0


# The sets of dispatch keys of PyTorch 2.6 compare by identity, their numbers by content.
_compares = holds(lambda: torch._C.DispatchKeySet.__eq__ is not object.__eq__)


def _numbered_keys(x: torch.Tensor) -> object:
    return torch._C._dispatch_keys(x).raw_repr()


def _tells_keys() -> bool:
    """True if one comparison of dispatch keys tells an ordinary dense tensor from all others: on a device, of a
    subclass with its own dispatch, batched, functional, conj, neg, zero, sparse or nested."""
    keys = torch._C._dispatch_keys if _compares else _numbered_keys
    plain, other = torch.empty(0, device="cpu"), torch.empty(0, dtype=torch.complex64, device="cpu")
    return keys(plain) == keys(other) and keys(plain) != keys(other.conj())


_QUESTIONS: dict[str, Callable[[], bool]] = {
    "_are_functorch_transforms_active": lambda: _tells("_are_functorch_transforms_active", _transform),
    "_len_torch_dispatch_stack": lambda: _tells("_len_torch_dispatch_stack", _Dispatched),
    "_is_torch_function_mode_enabled": lambda: _tells("_is_torch_function_mode_enabled", _Called),
    "_is_any_autocast_enabled": lambda: _tells(
        "_is_any_autocast_enabled", lambda: torch.autocast("cpu", torch.bfloat16)
    ),
    "_get_tracing_state": lambda: torch._C._get_tracing_state() is None,
    "_dispatch_keys": _tells_keys,
    "_current_level": _tells_levels,
}
_told: dict[str, bool] = unfollowed(lambda: {name: holds(question) for name, question in _QUESTIONS.items()})
# If one of them fails its test, all tensors go through the registered operators.
all_known = all(_told.values())


def _follower(name: str, otherwise: Callable[..., Any] = lambda: True) -> Callable[..., Any]:
    return getattr(torch._C, name) if _told[name] else otherwise


functorch_active: Callable[[], bool] = _follower("_are_functorch_transforms_active")
dispatch_modes: Callable[[], int] = _follower("_len_torch_dispatch_stack")
function_modes: Callable[[], bool] = _follower("_is_torch_function_mode_enabled")
# For any device type. (PyTorch's public function takes as long as a whole tenter call.)
autocast: Callable[[], bool] = _follower("_is_any_autocast_enabled")
tracing: Callable[[], object] = _follower("_get_tracing_state", torch.jit.is_tracing)  # type: ignore[attr-defined]
dispatch_keys: Callable[[torch.Tensor], object] = (
    _follower("_dispatch_keys", lambda x: object()) if _compares or not _told["_dispatch_keys"] else _numbered_keys
)


def forward_mode() -> bool:
    """True while a level of forward-mode differentiation is open."""
    return not _told["_current_level"] or forward_ad._current_level >= 0


def _ordinary_keys() -> tuple[object, object]:
    outside = dispatch_keys(torch.empty(0, device="cpu"))
    with torch.inference_mode():
        return outside, dispatch_keys(torch.empty(0, device="cpu"))


# The keys of an ordinary dense CPU tensor, outside and inside inference mode.
ORDINARY, ORDINARY_INFERENCE = unfollowed(_ordinary_keys)


def _cuda_keys() -> list[object]:
    """Returns the keys of ordinary dense CUDA tensors. They are assembled by hand, as the machine may have no CUDA
    device."""
    keys, of = torch._C.DispatchKey, torch._C.DispatchKeySet
    inference = of(keys.CUDA) | of(keys.AutocastCUDA)
    both = [inference | of(keys.AutogradCUDA) | of(keys.ADInplaceOrView), inference]
    return list(both) if _compares else [found.raw_repr() for found in both]


ORDINARY_CUDA = _cuda_keys() if _told["_dispatch_keys"] and holds(lambda: len(_cuda_keys()) == 2) else []


@contextlib.contextmanager
def untraced() -> Iterator[None]:
    """Interrupts torch.jit.trace, whose lengths are tensors and warn where they are compared. If PyTorch has changed,
    the trace goes on."""
    state = tracing()
    if not hasattr(torch._C, "_set_tracing_state") or not _told["_get_tracing_state"]:
        yield
        return
    torch._C._set_tracing_state(None)
    try:
        yield
    finally:
        torch._C._set_tracing_state(state)


def exporting_to_onnx() -> bool:
    """True while torch.onnx.export traces the code. (PyTorch's compiler takes the public function for a constant.)"""
    flags = sys.modules.get("torch.onnx._internal.exporter._flags")
    if flags is None:
        return False
    return bool(flags._is_onnx_exporting) if hasattr(flags, "_is_onnx_exporting") else torch.onnx.is_in_onnx_export()


# The `__torch_function__` of subclasses that do not override it.
_default: Any = torch.Tensor.__torch_function__
NO_RULES = (_default.__func__, getattr(torch._C, "_disabled_torch_function_impl", None))


# ---- CUDA devices


def _exchange_device(device: int) -> int:
    before = torch.cuda.current_device()
    torch.cuda.set_device(device)
    return before


def _current_stream(device: int) -> int:
    return torch.cuda.current_stream(device).cuda_stream


# exchange_device makes a device current and returns the previous one. current_stream returns a device's current stream
# as a number.
exchange_device: Callable[[int], int] = getattr(torch.cuda, "_maybe_exchange_device", _exchange_device)
current_stream: Callable[[int], int] = getattr(torch._C, "_cuda_getCurrentRawStream", _current_stream)

# ---- the compiler


def _marks_constants() -> bool:
    """True if PyTorch's compiler knows the mark that its public function sets. The compiler is not imported for
    this."""
    spec = find_spec("torch._dynamo")
    assert spec is not None and spec.origin is not None
    return "._dynamo_marked_constant = True" in Path(spec.origin).with_name("decorators.py").read_text()


_marks = holds(_marks_constants)


def constant(function: Any) -> None:
    """Marks a function whose results are constants of a compiled graph. It does what
    torch.compiler.assume_constant_result does, without importing the compiler."""
    if _marks:
        function._dynamo_marked_constant = True
    else:
        torch.compiler.assume_constant_result(function)


def _gives_objects() -> bool:
    spec = find_spec("torch._dynamo")
    assert spec is not None and spec.origin is not None
    functions = Path(spec.origin).with_name("variables") / "functions.py"
    return "isinstance(x, UserDefinedObjectVariable)" in functions.read_text()


# True if a function that is marked so may take objects of any class, for instance maps.
gives_objects = holds(_gives_objects)


def _no_context() -> bool:
    return torch._guards.TracingContext.try_get() is None


_context = torch._guards.TracingContext.try_get if unfollowed(lambda: holds(_no_context)) else lambda: None


def in_compiler() -> bool:
    """True while the compiler runs the functions of a graph that it is building."""
    return _context() is not None


def surely(condition: Any) -> bool:
    """True if a condition on symbols is known to hold."""
    from torch.fx.experimental import symbolic_shapes  # a slow import

    known = getattr(symbolic_shapes, "guard_or_false", _guarded)
    return bool(known(condition))


def _guarded(condition: Any) -> bool:
    """`guard_or_false` of PyTorch 2.7 and newer. The compiler follows no errors of conditions. It knows a function that
    takes sizes for larger than 1."""
    from torch.fx.experimental import symbolic_shapes

    if torch.compiler.is_dynamo_compiling() and hasattr(symbolic_shapes, "guard_size_oblivious"):
        return bool(symbolic_shapes.guard_size_oblivious(condition))
    unknown = getattr(symbolic_shapes, "free_unbacked_symbols", lambda condition: True)
    return statically(condition) if unknown(condition) else bool(condition)


# Before 2.8 the compiler does not follow the question below; kernels then check what is too large.
FOLLOWED = not oldest_versions.older(torch.__version__, (2, 8))


def statically(condition: Any) -> bool:
    """Like `surely`, without adding a guard."""
    from torch.fx.experimental import symbolic_shapes

    known = getattr(symbolic_shapes, "statically_known_true", lambda condition: False)
    return bool(known(condition))


def unknown_size() -> type[Exception]:
    """Returns the error that PyTorch raises if a condition depends on a size that is only known at run time."""
    from torch.fx.experimental import symbolic_shapes

    return getattr(symbolic_shapes, "GuardOnDataDependentSymNode", RuntimeError)


def new_symbol() -> Any:
    """Returns a size that is only known at run time, for use in an operator's fake kernel; None if there are no
    symbols. (PyTorch's public function returns one only if its compiler is configured for operators whose output sizes
    depend on data.)"""
    context = torch.library.get_ctx()
    create = getattr(getattr(context, "_shape_env", None), "create_unbacked_symint", None)
    if create is not None:
        return create()
    try:
        return context.new_dynamic_size()
    except RuntimeError:
        return None


# ---- DTensors


def caches_by_all_arguments(operator: Any) -> bool:
    """Makes PyTorch cache the shapes of DTensors' results by all arguments of an operator. By default its key contains
    ints and ignores lists of ints, such as sizes. Returns False if that cannot be configured."""
    try:
        from torch.distributed.tensor import DTensor
        from torch.distributed.tensor._op_schema import RuntimeSchemaInfo

        propagator = DTensor._op_dispatcher.sharding_propagator
        propagator.op_to_schema_info[operator] = RuntimeSchemaInfo(1, needs_pytree=True)
    except (ImportError, AttributeError, TypeError):
        return False
    return True
