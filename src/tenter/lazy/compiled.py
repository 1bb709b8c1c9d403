"""Lazy arrays in code that PyTorch compiles: each call ends a graph, is made as in eager code, and another graph
begins after it."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def between_graphs(f: F) -> F:
    """f with the compiler off, also where that has given up the code around and meets f's by itself."""

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if "torch._dynamo" not in sys.modules:
            return f(*args, **kwargs)
        from tenter._execution.torch import uncompiled  # as it imports torch

        return uncompiled.call(f, *args, **kwargs)

    return cast(F, call)
