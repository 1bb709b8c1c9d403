"""Calls with PyTorch's compiler off. Imported once that has been loaded, as it is large."""

from collections.abc import Callable
from typing import Any

import torch


def _call(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs)


call: Any = torch.compiler.disable(_call)
# What the compiler gives as its reason, under fullgraph=True; an argument of `disable` since PyTorch 2.7.
call._torchdynamo_disable_msg = (
    "tenter.lazy: expected code without fullgraph=True, as lazy arrays are not part of compiled graphs"
)
