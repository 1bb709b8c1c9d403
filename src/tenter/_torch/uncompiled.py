"""Calls with PyTorch's compiler disabled. Imported after the compiler, which is large."""

import inspect
from collections.abc import Callable
from typing import Any

import torch


def _call(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs)


# The compiler shows this reason under fullgraph=True; before PyTorch 2.7 it takes none.
_REASON = "tenter.lazy: expected code without fullgraph=True, as lazy arrays are not part of compiled graphs"
_takes_reason = "reason" in inspect.signature(torch.compiler.disable).parameters
call: Any = torch.compiler.disable(_call, **({"reason": _REASON} if _takes_reason else {}))
