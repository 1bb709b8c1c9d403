"""Calls with PyTorch's compiler disabled. Imported after the compiler, which is large."""

from collections.abc import Callable
from typing import Any

import torch


def _call(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs)


# The compiler shows this reason under fullgraph=True.
call: Any = torch.compiler.disable(
    _call, reason="tenter.lazy: expected code without fullgraph=True, as lazy arrays are not part of compiled graphs"
)
