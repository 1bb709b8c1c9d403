"""Compiled compositions: repeats and nearest modes with views before and after them, whose indices Inductor joins.

A call takes seconds, so few are drawn; `--only compiled` makes no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import tenter

from .arrays import drawn
from .call import Call, named
from .draw import Draw
from .oracle import Wrong

# All from a matrix to a matrix.
VIEWS = (
    "({}).T", "({}).flip(0)", "({}).flip(1)", "({}).T.flatten()[None]", "({}).flatten().flip(0)[None]", "({})[1:, :-1]",
    "({})[::2]", "({}).roll((1, -2), (0, 1))", "({}).flatten()[:, None]", "torch.cat([{0}, ({0}).flip(1)])", "({}) + 1",
    "torch.nn.functional.pad(({})[None, None], (1, 0, 0, 1), 'circular')[0, 0]",
)  # fmt: skip
OURS = (
    "tenter.repeat_interleave({}, {r}, {d})", "tenter.repeat_interleave({}, {r})[None]", "tenter.repeat({}, {r}, 2)",
    "tenter.tile({}, {r})", "tenter.interpolate(({})[None, None], scale_factor={s})[0, 0]",
    "tenter.interpolate(({})[None, None], scale_factor={s}, mode='nearest-exact')[0, 0]",
    "tenter.interpolate(({})[None, None], size=(3, 5))[0, 0]",
)  # fmt: skip


def run(f: Callable[[Any], Any], x: Any, dynamic: bool | None) -> Any:
    torch._dynamo.reset()
    with torch._inductor.config.patch(force_disable_caches=True, compile_threads=1):
        return torch.compile(f, dynamic=dynamic, fullgraph=True)(x)


def composition(r: Draw) -> Call:
    shape = (r.int(3, 9), r.int(3, 9))
    x = named("x", drawn(r, shape, r.pick(("float64", "float32", "int64", "uint8")), "torch"))
    text = "x"
    for kind in r.pick(("vov", "vvov", "vovv", "vovov", "oov")):
        text = r.pick(VIEWS if kind == "v" else OURS).format(text, r=r.int(2, 4), d=r.int(0, 1), s=r.pick((2, 4)))

    def check(y: Any) -> None:
        f = eval(f"lambda x: {text}", {"torch": torch, "tenter": tenter})
        if not torch.equal(y.nan_to_num(), f(x.value).nan_to_num()):
            raise Wrong("values", f"{y}, eager {f(x.value)}")

    source = f"y = compiled.run(lambda x: {text}, x, {r.pick((True, True, False))})"
    return Call("", source, {x.name: x}, check, fresh=False, repeats=False)


KINDS: dict[str, tuple[Any, float]] = {"compiled": (composition, 0.01)}
