"""The public functions that take arrays, with their names."""

import importlib
import inspect

from tenter.ragged import Plan


def functions():
    for module in ("tenter", "tenter.image", "tenter.lazy", "tenter.ragged"):
        names = importlib.import_module(module).__all__
        for name in names:
            f = getattr(importlib.import_module(module), name)
            if inspect.isfunction(f) and name not in (
                "explain",
                "get_num_threads",
                "set_num_threads",
                "show_config",
                "from_arrow",
                "to_arrow",
            ):
                yield f"{module}.{name}".removeprefix("tenter."), f
    for name in ("repeat", "pad", "unpad", "sum", "mean", "max", "min", "softmax", "ranges"):
        yield f"Plan.{name}", getattr(Plan([2, 0, 3]), name)
