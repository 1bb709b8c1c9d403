"""Gradients on PyTorch: what backward gives, against the transposed matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import counts
from .arrays import drawn, numbers
from .call import Call, Named, named, text, written
from .draw import Draw
from .matrices import LARGEST, copying
from .oracle import Maps, check_shape, check_values, summed

FLOATS = ("float32", "float64", "float16", "bfloat16", "complex64", "complex128")


def backward(
    r: Draw, expression: str, names: dict[str, Named], shape_out: tuple[int, ...], maps: Maps, seen: tuple[int, ...],
    dtype: str, slack: float = 0.0,
) -> Call:  # fmt: skip
    """The gradient of `expression` of x; maps: the matrices of the operation on x in the shape `seen`."""
    grad = named("grad", drawn(r, shape_out, dtype, "torch", r.pick(("normal", "special"), (5, 1))))
    x = names["x"].value
    seen_out = list(seen)
    for axis, d in maps:
        seen_out[axis] = len(d.weight)

    def check(y: Any) -> None:
        check_shape(y, x, tuple(x.shape))
        if any(d.weight.size > LARGEST for _, d in maps):
            return
        g = numbers(grad.value).reshape(seen_out)
        want = summed(g, [(axis, d.T) for axis, d in maps], dtype)
        whole = (*x.shape, 2) if g.dtype.kind == "c" else x.shape
        want = want._replace(values=want.values.reshape(whole), size=want.size.reshape(whole))
        check_values(y, want, dtype, slack)

    source = f"x = x.detach().requires_grad_()\ny = {expression}\ny, = torch.autograd.grad(y, x, grad)"
    return Call("", source, {**names, "grad": grad}, check)


def of_repeats(r: Draw) -> Call:
    dtype = r.pick(FLOATS)
    ndim = r.int(1, 5)
    shape = r.shape(ndim, 400)
    if r.chance(0.45):
        axis = r.int(0, ndim - 1)
        n, rest = shape[axis], max(1, int(np.prod(shape)) // max(1, shape[axis]))
        x = named("x", drawn(r, shape, dtype, "torch", "normal"))
        if n and r.chance(0.6):
            found = counts.values(r, n, max(1, min(1500, 10000 // rest)))
            given = counts.held(r, found, "torch")
        else:
            found = [r.int(0, 5)] * n
            given = Named("counts", (found or [2])[0], text((found or [2])[0]))
        maps = [(axis, copying(np.repeat(np.arange(n), found), n))]
        out = (*shape[:axis], sum(found), *shape[axis + 1 :])
        source = written("tenter.repeat_interleave", [x, given, axis])
        return backward(r, source, {"x": x, "counts": given}, out, maps, shape, dtype)
    x = named("x", drawn(r, shape, dtype, "torch", "normal"))
    extra = r.int(0, 1)
    sizes = [r.pick((1, 2, 3, 5, 0), (4, 3, 2, 1, 0.3)) for _ in range(ndim + extra)]
    while max(sizes) > 1 and np.prod(sizes, dtype=float) * np.prod(shape, dtype=float) > 20000:
        sizes[int(np.argmax(sizes))] = 1
    front = (1,) * extra + shape
    maps = [(k, copying(np.tile(np.arange(m), s), m)) for k, (m, s) in enumerate(zip(front, sizes)) if s != 1]
    source = written(r.pick(("tenter.repeat", "tenter.tile")), [x, tuple(sizes)])
    return backward(r, source, {"x": x}, tuple(m * s for m, s in zip(front, sizes)), maps, front, dtype)
