"""Lazy arrays in code that PyTorch compiles. Each call ends a graph, runs as in eager code, and starts another
graph."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def between_graphs(f: F) -> F:
    """Returns f with the compiler disabled. That holds even if the compiler has given up the surrounding code and
    compiles f by itself."""

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if "torch._dynamo" not in sys.modules:
            return f(*args, **kwargs)
        from tenter._torch import uncompiled  # imports torch

        return uncompiled.call(f, *args, **kwargs)

    return cast(F, call)
