"""repeat_interleave, repeat, tile, expand, and NumPy's repeat and tile."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from . import counts, gradients
from .arrays import NUMPY, TORCH, Array, drawn, target
from .call import Call, Named, check_is, named, text, written
from .draw import Draw
from .matrices import copying
from .oracle import Maps, check_bits, check_shape, taken


def any_array(r: Draw, shape: tuple[int, ...], library: str | None = None) -> Array:
    library = library or r.pick(("numpy", "torch"))
    return drawn(r, shape, r.pick(NUMPY if library == "numpy" else TORCH), library)


def copied(x: Any, shape: tuple[int, ...], maps: Maps, front: tuple[int, ...] | None = None) -> Any:
    """The check of a call that copies x, seen in the shape `front`, by maps."""

    def check(y: Any) -> None:
        check_shape(y, x, shape)
        seen = x.reshape(front) if front is not None else x
        check_bits(y, taken(seen, maps))

    return check


def again(r: Draw, how: Array, name: str = "x") -> tuple[tuple[str, dict[str, Any]], ...]:
    """The same values, contiguous: the same bits must come out."""
    if r.chance(0.6) or (how.library == "numpy" and how.swapped):
        return ()
    x = how.made()
    plain = x.clone(memory_format=torch.contiguous_format) if how.library == "torch" else np.array(x, order="C")
    return ((f"of a contiguous {name}", {name: plain}),)


def maybe_out(r: Draw, how: Array, shape: tuple[int, ...]) -> dict[str, Named]:
    """Of some calls memory for the result."""
    return {"out": named("out", target(r, how, shape))} if 0 not in shape and r.chance(0.2) else {}


def sent(call: Call, to: dict[str, Named]) -> Call:
    """The call, whose source has what `maybe_out` gave."""
    if not to:
        return call

    def check(y: Any) -> None:
        check_is(y, to["out"])
        call.check(y)

    return call._replace(names=call.names | to, check=check, fresh=False, again=())


def sized(r: Draw, function: str, x: Named, kwargs: dict[str, Any], to: dict[str, Named]) -> str:
    """The source of a call; of many by size after others that differ from it by sizes alone, which tenter remembers."""
    if "size" not in kwargs or not r.chance(0.5):
        return "y = " + written(function, [x], kwargs | to)
    plain = {k: tuple(int(a) for a in v) if k == "axes" else v for k, v in kwargs.items()}
    if isinstance(plain["mode"], list):
        plain["mode"] = tuple(plain["mode"])
    size = plain.pop("size")
    calls = []
    for more in (1, 2, 0):
        n = tuple(int(m) + more for m in size) if isinstance(size, (tuple, list)) else int(size) + more
        calls.append(written(function, [x], {"size": n, **plain} | (to if more == 0 else {})))
    return "\n".join([*calls[:2], f"y = {calls[2]}"])


def repeat_interleave(r: Draw) -> Call:
    if r.chance(0.1):
        return _positions(r)
    ndim = r.int(0, 6)
    shape = r.shape(ndim, r.pick((3000, 60)))
    dim = None if r.chance(0.25) else r.int(-max(ndim, 1), max(ndim, 1) - 1)
    if dim is not None and ndim and r.chance(0.12):  # a length of 1 may claim any stride
        shape = tuple(1 if d == dim % ndim else n for d, n in enumerate(shape))
    how = any_array(r, shape)
    if r.chance(0.06) and not shape:
        how = Array("numpy", "float64", shape)
    x = named("x", how)
    flat = shape if ndim and dim is not None else (int(np.prod(shape)),)
    axis = 0 if dim is None else dim % max(ndim, 1)
    n = flat[axis]
    rest = max(1, int(np.prod(flat)) // max(1, n))
    if n > 1 and r.chance(0.08):
        bad, error = counts.wrong(r, n, how.library)
        if error is MemoryError and 0 in shape:  # of nothing there may be as much as anybody likes
            bad, error = [-1] * n, ValueError
        return _call(r, x, how, [Named("counts", bad, text(bad)), dim], {}, served_never, (error,))
    names: dict[str, Any] = {}
    each = n == 0 or r.chance(0.25)
    if each:
        count = r.pick((0, 1, 2, 3, 5, 9, 17, 40))
        while count * rest * n > 60000:
            count //= 2
        found, given = [count] * n, r.pick((r.whole(count), _one(count, how.library, r)))
    else:
        found = counts.values(r, n, max(1, 20000 // rest))
        given = counts.held(r, found, how.library)
    total = sum(found)
    if r.chance(0.2):
        names["output_size"] = r.whole(total)
    shape_out = (*flat[:axis], total, *flat[axis + 1 :])
    check = copied(x.value, shape_out, [(axis, copying(np.repeat(np.arange(n), found), n))], flat)
    if r.chance(0.05):
        wrong_names, error = r.pick((
            ({"output_size": total + 1}, ValueError), ({"output_size": -1}, ValueError),
            ({"output_size": float(total)}, TypeError), ({"output_size": True}, TypeError),
        ))  # fmt: skip
        return _call(r, x, how, [given, dim], wrong_names, check, (error,))
    if r.chance(0.03):
        return _call(r, x, how, [given, ndim + 1], names, check, (IndexError,))
    to = maybe_out(r, how, shape_out)
    args = [given, None if dim is None else r.whole(dim)]
    return sent(_call(r, x, how, args, names | to, check, (), again(r, how)), to)


def along_several(r: Draw) -> Call:
    """repeat_interleave by a dict of dims."""
    ndim = r.int(1, 5)
    shape = r.shape(ndim, 300)
    how = any_array(r, shape)
    x = named("x", how)
    dims = [d for d in range(ndim) if r.chance(0.6)]
    names, maps, rest, given = {"x": x}, [], 40000 // max(1, int(np.prod(shape))), {}
    for d in dims:
        n = shape[d]
        if n and r.chance(0.5):
            found, held = [min(r.int(0, 4), rest)] * n, None
        else:
            found = counts.values(r, n, n * min(3, max(1, rest)))
            held = names[f"counts{d}"] = counts.held(r, found, how.library, f"counts{d}")
        given[r.pick((d, d - ndim))] = found[0] if held is None else held
        rest //= max(1, -(-sum(found) // max(1, n)))
        maps.append((d, copying(np.repeat(np.arange(n), found), n)))
    sizes = {d: m.index.size for d, m in maps}
    check = copied(x.value, tuple(sizes.get(d, n) for d, n in enumerate(shape)), maps)
    source = ", ".join(f"{d}: {text(held)}" for d, held in given.items())
    refuses: tuple[type[BaseException], ...] = ()
    if r.chance(0.1):
        more, error = r.pick(((f"{ndim}: 2", IndexError), (f"0: 2, {-ndim}: 2", ValueError), ("'0': 2", TypeError)))
        source, refuses = f"{more}, {source}" if error is IndexError else more, (error,)
    return Call("repeat_interleave", f"y = tenter.repeat_interleave(x, {{{source}}})", names, check, refuses)


def served_never(y: Any) -> None:
    raise AssertionError


def _one(count: int, library: str, r: Draw) -> Any:
    """One count in an array."""
    shape = r.pick(((), (1,)))
    dtype = r.pick(("int64", "int32", "uint8"))
    if library == "torch" and r.chance(0.7):
        return torch.full(shape, count, dtype=getattr(torch, dtype))
    return np.full(shape, count, dtype)


def _call(
    r: Draw, x: Named, how: Array, args: list[Any], kwargs: dict[str, Any], check: Any,
    refuses: tuple[Any, ...] = (), same: Any = (),
) -> Call:  # fmt: skip
    source = "y = " + written("tenter.repeat_interleave", [x, *args], kwargs)
    names = {a.name: a for a in (x, *args) if isinstance(a, Named)}
    refuses = refuses[0] if refuses and isinstance(refuses[0], tuple) else refuses
    return Call("repeat_interleave", source, names, check, refuses, again=same)


def _positions(r: Draw) -> Call:
    n = r.length()
    found = counts.values(r, n)
    held = counts.held(r, found, r.pick(("numpy", "torch")))
    dtype = str(getattr(held.value, "dtype", "int64")).removeprefix("torch.").lstrip(">")
    narrow = dtype in ("int32", "i4")

    def check(y: Any) -> None:
        like = np.zeros(0, np.int32 if narrow else np.int64)
        like = torch.from_numpy(like) if isinstance(held.value, torch.Tensor) else like
        check_shape(y, like, (sum(found),))
        check_bits(y, np.repeat(np.arange(n), found).astype(np.int32 if narrow else np.int64))

    kwargs = {"output_size": sum(found)} if r.chance(0.3) else {}
    return Call("", "y = " + written("tenter.repeat_interleave", [held], kwargs), {held.name: held}, check)


def _tiled(r: Draw, function: str) -> Call:
    ndim = r.int(0, 5)
    shape = r.shape(ndim, r.pick((800, 60)))
    how = any_array(r, shape, "numpy" if function.startswith("tenter.numpy") else None)
    x = named("x", how)
    n = r.int(ndim if function == "tenter.repeat" else 0, min(6, ndim + 2))
    sizes = [r.pick((1, 2, 3, 0, 7), (5, 4, 2, 0.4, 1)) for _ in range(n)]
    while np.prod(sizes, dtype=float) * np.prod(shape, dtype=float) > 40000:
        sizes[int(np.argmax(sizes))] = 1
    whole = [1] * (ndim - n) + sizes
    front = (1,) * (n - ndim) + shape
    maps = [(k, copying(np.tile(np.arange(m), s), m)) for k, (m, s) in enumerate(zip(front, whole)) if s != 1]
    check = copied(x.value, tuple(m * s for m, s in zip(front, whole)), maps, front)
    refuses: tuple[type[BaseException], ...] = ()
    given: list[Any] = [r.whole(s) for s in sizes]
    if r.chance(0.07) and given and function != "tenter.numpy.tile":
        bad, error = r.pick(
            ((-1, ValueError), (1.5, TypeError), (True, TypeError), (2**70, ValueError), ("2", TypeError))
        )
        given[r.int(0, n - 1)] = bad
        refuses = (error,)
    elif r.chance(0.03) and function == "tenter.repeat" and ndim:
        given, refuses = given[: ndim - 1], (ValueError,)
    if function == "tenter.numpy.tile":
        args = [r.pick((tuple(given), given))] if n != 1 or r.chance(0.5) else [given[0]]
    else:
        is_one = r.chance(0.5) or not given
        counts_of_numpy = len(given) == np.prod(shape) > 1 or (n == ndim == 1 < np.prod(shape) and sizes[0] > 1)
        if function == "tenter.repeat" and how.library == "numpy" and counts_of_numpy:
            is_one = False
        args = [tuple(given)] if is_one else given
    if function == "tenter.numpy.tile" and n and n <= ndim and r.chance(0.3):
        axes = [r.pick((d, d - ndim)) for d in range(ndim - n, ndim)]
        order = r.some(range(n), n)
        by = {"axis": tuple(axes[k] for k in order) if n > 1 else axes[0]}
        return Call("", "y = " + written(function, [x, tuple(given[k] for k in order)], by), {"x": x}, check)
    if refuses or function.startswith("tenter.numpy"):
        return Call("", "y = " + written(function, [x, *args]), {"x": x}, check, refuses)
    to = maybe_out(r, how, tuple(m * s for m, s in zip(front, whole)))
    return sent(Call("", "y = " + written(function, [x, *args], to), {"x": x}, check, again=again(r, how)), to)


def expand(r: Draw) -> Call:
    ndim = r.int(0, 5)
    shape = tuple(1 if r.chance(0.4) else n for n in r.shape(ndim, 500))
    x = named("x", any_array(r, shape))
    front = [r.int(0, 4) for _ in range(r.int(0, 6 - ndim))]
    sizes = front + [r.pick((-1, n)) if n != 1 else r.int(0, 5) for n in shape]
    after = tuple(front) + tuple(n if s == -1 else s for n, s in zip(shape, sizes[len(front) :]))
    refuses: tuple[type[BaseException], ...] = ()
    if r.chance(0.1) and sizes:
        k = r.int(0, len(sizes) - 1)
        if k >= len(front) and shape[k - len(front)] != 1:
            sizes[k], refuses = shape[k - len(front)] + 1, (ValueError,)
    given: list[Any] = [r.whole(s) for s in sizes]

    def check(y: Any) -> None:
        check_shape(y, x.value, after)
        want = x.value.expand(after) if isinstance(x.value, torch.Tensor) else np.broadcast_to(x.value, after)
        check_bits(y, taken(want, []))

    args = [tuple(given)] if r.chance(0.4) or not given else given
    return Call("", "y = " + written("tenter.expand", [x, *args]), {"x": x}, check, refuses, fresh=False)


def numpy_repeat(r: Draw) -> Call:
    ndim = r.int(0, 5)
    shape = r.shape(ndim, 800)
    how = any_array(r, shape, "numpy")
    x = named("a", how)
    axis = None if r.chance(0.3) else r.int(-max(1, ndim), max(1, ndim) - 1)
    flat = shape if ndim and axis is not None else (int(np.prod(shape)),)
    at = 0 if axis is None else axis % max(1, ndim)
    n = flat[at]
    found = counts.values(r, n, 2000)
    given: Any = counts.held(r, found, "numpy", "repeats")
    # NumPy casts counts to int64 safely or not at all.
    wide = isinstance(given.value, np.ndarray) and given.value.dtype.newbyteorder("=") == np.uint64
    if wide or isinstance(given.value, torch.Tensor):
        given = Named("repeats", np.array(found, np.int64), text(np.array(found, np.int64)))
    maps = [(at, copying(np.repeat(np.arange(n), found), n))]
    check = copied(x.value, (*flat[:at], sum(found), *flat[at + 1 :]), maps, flat)
    names = {x.name: x, given.name: given}
    source = "y = " + written("tenter.numpy.repeat", [x, given], {} if axis is None else {"axis": axis})
    return Call("", source, names, check, again=again(r, how, "a"))


KINDS: dict[str, tuple[Any, float]] = {
    "repeat_interleave": (repeat_interleave, 5),
    "repeat_interleave of dims": (along_several, 0.8),
    "repeat": (lambda r: _tiled(r, "tenter.repeat"), 1.5),
    "tile": (lambda r: _tiled(r, "tenter.tile"), 1.5),
    "expand": (expand, 0.7),
    "numpy.repeat": (numpy_repeat, 0.8),
    "numpy.tile": (lambda r: _tiled(r, "tenter.numpy.tile"), 0.6),
    "gradient of repeats": (gradients.of_repeats, 3),
}
