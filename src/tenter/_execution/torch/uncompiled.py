"""Calls with PyTorch's compiler off. Imported once that has been loaded, as it is large."""

from collections.abc import Callable
from typing import Any

import torch


def _call(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs)


# The reason is what the compiler says under fullgraph=True.
call: Any = torch.compiler.disable(
    _call, reason="tenter.lazy: expected code without fullgraph=True, as lazy arrays are not part of compiled graphs"
)
