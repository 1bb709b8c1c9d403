"""Axis maps that users make, applied along one axis; their transposes, copies and pickles."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from .arrays import NUMERIC, NUMPY, TORCH, Array, bits, drawn, numbers, target
from .call import Call, check_is, named, text, written
from .draw import Draw
from .matrices import Dense, copying, in_blocks, rows
from .operations import again
from .oracle import (
    Wrong,
    check_bits,
    check_shape,
    check_values,
    exact_sums,
    is_whole,
    name_of,
    summed,
    taken,
)  # fmt: skip


class Made(NamedTuple):
    """A map as Python source, its matrix, its size in inputs and outputs; wrong: it must be refused."""

    source: str
    dense: Dense
    n_in: int
    n_out: int
    wrong: bool = False


def table(r: Draw, values: Any, floats: bool = False) -> str:
    """A list, or an array of any dtype that holds the values."""
    values = [v.item() if isinstance(v, np.generic) else v for v in values]
    how = r.pick(("list", "array", "tuple"))
    if how != "array" or not values:
        return text(values if how == "list" else tuple(values))
    if floats:
        return text(np.array(values, r.pick(("float64", ">f8"))))
    dtype = r.ints_dtype(values)
    return text(np.array(values, r.pick((dtype, np.dtype(dtype).newbyteorder(">")))))


def drawn_map(r: Draw, narrow: bool = False) -> Made:
    """narrow: sizes in dtypes of few bits, products of which wrap."""
    kind = r.pick(
        ("every", "cycle", "counts", "index_of", "width", "window", "ones", "gather"), (2, 2, 2, 1.5, 2, 4, 1, 2)
    )
    return MAKERS[kind](r, narrow)


def size(r: Draw, n: int, narrow: bool) -> str:
    if not narrow:
        return text(r.whole(n))
    fit = [t for t in ("uint8", "int8", "int16", "uint16") if n <= np.iinfo(t).max]
    return f"np.{r.pick(fit[:2] or ['int64'])}({n})"


def _every(r: Draw, narrow: bool) -> Made:
    n, k = (r.int(1, 60), r.int(2, 9)) if narrow else (r.length(), r.pick((0, 1, 2, 3, 5, 17)))
    source = f"Copy.repeat_each({size(r, n, narrow)}, {size(r, k, narrow)})"
    return Made(source, copying(np.repeat(np.arange(n), k), n), n, n * k)


def _cycle(r: Draw, narrow: bool) -> Made:
    n, k = (r.int(1, 60), r.int(2, 9)) if narrow else (r.length(), r.pick((0, 1, 2, 3, 5, 17)))
    if r.chance(0.5) and n:
        block = r.pick([b for b in range(1, n + 1) if n % b == 0])
        index = np.arange(n).reshape(-1, block).repeat(k, 0).reshape(-1)
        source = f"Copy({size(r, n, narrow)}, {size(r, n * k, narrow)}, repeat={size(r, k, narrow)}, block={size(r, block, narrow)})"
        return Made(source, copying(index, n), n, n * k)
    return Made(
        f"Copy.tile({size(r, n, narrow)}, {size(r, k, narrow)})", copying(np.tile(np.arange(n), k), n), n, n * k
    )


def _counts(r: Draw, narrow: bool) -> Made:
    n = r.int(0, 30)
    each = r.rng.integers(0, r.pick((2, 4, 30)), n)
    index = np.repeat(np.arange(n), each)
    if r.chance(0.4):
        block = r.pick((1, 2, 3))
        offsets = np.concatenate([[0], np.cumsum(each)])
        n_out = int(offsets[-1])
        source = f"Copy({size(r, n * block, narrow)}, {size(r, n_out * block, narrow)}, offsets={table(r, offsets)}, block={size(r, block, narrow)})"
        return Made(source, in_blocks(copying(index, n), block), n * block, n_out * block)
    return Made(f"Copy.repeats({table(r, each)})", copying(index, n), n, len(index))


def _index_of(r: Draw, narrow: bool) -> Made:
    n = r.int(1, 60)
    index = np.sort(r.rng.integers(0, n, r.length()))
    source = f"Copy.from_index({table(r, index)}, {size(r, n, narrow)})"
    return Made(source, copying(index, n), n, len(index))


def _width(r: Draw, narrow: bool) -> Made:
    n_out, k, block = r.int(0, 40), r.int(0, 9), r.pick((1, 1, 2, 3))
    n_in = n_out * k
    dense = in_blocks(rows(n_in, [[(o * k + j, 1.0) for j in range(k)] for o in range(n_out)], True), block)
    wrong = r.chance(0.2)
    claimed, n_out_claimed = n_in * block, n_out * block
    if wrong:  # right modulo 256, or by one
        n_out, k, block = r.int(86, 180), r.pick((2, 3)), 1
        claimed, n_out_claimed = r.pick(((n_out * k) % 256, n_out * k + 1)), n_out
        if claimed == n_out * k:
            wrong = False
        dense = rows(n_out * k, [[(o * k + j, 1.0) for j in range(k)] for o in range(n_out)], True)
    narrow = narrow or wrong
    source = f"Window({size(r, claimed, narrow)}, {size(r, n_out_claimed, narrow)}, width={size(r, k, narrow and not wrong)}, block={size(r, block, narrow and not wrong)})"
    return Made(source, dense, claimed, n_out_claimed, wrong)


def _window(r: Draw, narrow: bool, ones: bool = False) -> Made:
    n_in, n_out, block = r.length(1), r.length(), r.pick((1, 1, 1, 2, 3))
    start = np.sort(r.rng.integers(0, n_in + 1, n_out))
    widths = r.rng.integers(0, r.pick((2, 4, 9, 40)), n_out)
    stop = np.minimum(np.maximum.accumulate(start + widths) if n_out else start, n_in)
    start = np.minimum(start, stop)
    offset = np.concatenate([[0], np.cumsum(stop - start)])
    weight = np.round(r.rng.standard_normal(int(offset[-1])), 3)
    weight[r.rng.random(len(weight)) < 0.1] = r.pick((0.0, 1.0, -2.0))
    taps = [[(int(a) + j, 1.0 if ones else float(weight[int(at) + j])) for j in range(int(b - a))]
            for a, b, at in zip(start, stop, offset)]  # fmt: skip
    dense = in_blocks(rows(n_in, taps, ones)._replace(index=None), block)
    sizes = f"{size(r, n_in * block, narrow)}, {size(r, n_out * block, narrow)}"
    shown = "" if ones else f", weight={table(r, weight, True)}"
    wrong, first, ends = r.chance(0.06), start, offset
    if wrong:
        first, ends, wrong = _bent(r, start, offset, n_in)
    source = f"Window({sizes}, start={table(r, first)}, offset={table(r, ends)}{shown}, block={size(r, block, narrow)})"
    return Made(source, dense, n_in * block, n_out * block, wrong)


def _bent(r: Draw, start: np.ndarray, offset: np.ndarray, n_in: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """Tables that break an invariant."""
    start, offset = start.copy(), offset.copy()
    if not len(start):
        return start, np.array([1]), True
    how = r.pick(("start", "descend", "offset", "short"))
    if how == "start":
        start[-1] = n_in + 1 + r.int(0, 50)
    elif how == "descend":
        if len(start) < 2 or start[-1] == 0:
            return start, offset, False
        start[0] = start[-1] + 1
    elif how == "offset":
        offset[-1] += n_in + 1
    else:
        offset = offset[:-1]
    return start, offset, True


def _gather(r: Draw, narrow: bool) -> Made:
    n_in, n_out = r.length(1), r.length()
    count = r.rng.integers(0, r.pick((2, 4, 9)), n_out)
    if r.chance(0.2):
        count = np.ones(n_out, int)
    offset = np.concatenate([[0], np.cumsum(count)]).astype(int)
    index = r.rng.integers(0, n_in, int(offset[-1]))
    weight = np.ones(len(index)) if r.chance(0.3) else np.round(r.rng.standard_normal(len(index)), 3)
    taps = [[(int(index[k]), float(weight[k])) for k in range(a, b)] for a, b in itertools.pairwise(offset)]
    dense = rows(n_in, taps)._replace(ones=bool(np.all(weight == 1)))
    wrong = r.chance(0.06) and len(index) > 0
    if wrong:
        index = index.copy()
        index[r.int(0, len(index) - 1)] = r.pick((-1, n_in, n_in + 10**6))
    source = f"Gather({size(r, n_in, narrow)}, {size(r, n_out, narrow)}, {table(r, offset)}, {table(r, index)}, {table(r, weight, True)})"
    return Made(source, dense, n_in, n_out, wrong)


MAKERS = {
    "every": _every, "cycle": _cycle, "counts": _counts, "index_of": _index_of, "width": _width, "window": _window,
    "ones": lambda r, narrow: _window(r, narrow, True), "gather": _gather,
}  # fmt: skip

# What is done with a map before it is applied; transposed, or as it was.
FORMS = {
    "": False, ".T": True, ".T.T": False, ".T.T.T": True,
}  # fmt: skip


def applied(r: Draw) -> Call:
    made = drawn_map(r, r.chance(0.3))
    form = r.pick(tuple(FORMS))
    dense = made.dense.T if FORMS[form] else made.dense
    n_in, n_out = (made.n_out, made.n_in) if FORMS[form] else (made.n_in, made.n_out)
    copies = dense.index is not None and not FORMS[form] and not made.source.startswith("Window")  # which sums one
    library = r.pick(("numpy", "torch"))
    usual = (*NUMERIC, "bfloat16", "complex32") if library == "torch" else (*NUMERIC, "longdouble", "clongdouble")
    dtype = r.pick((NUMPY if library == "numpy" else TORCH) if copies and r.chance(0.5) else usual)
    other = r.shape(r.int(0, 4), max(1, r.pick((3000, 200)) // max(1, n_in)))
    axis = r.int(0, len(other))
    shape = (*other[:axis], n_in, *other[axis:])
    how = drawn(r, shape, dtype, library, "normal" if dtype == "clongdouble" else None)
    if r.chance(0.25) and len(shape) > 3:
        how = how._replace(order=(0, *range(2, len(shape)), 1))
    x = named("x", how)
    names = {"x": x}
    after = (*other[:axis], n_out, *other[axis:])
    given_axis = r.whole(axis if r.chance(0.5) else axis - len(shape))
    lines = [f"A = {made.source}{form}"]
    if r.chance(0.3):
        if r.chance(0.5):
            lines.append(f"A.apply(x, {axis})")
        lines.append(r.pick(("A = pickle.loads(pickle.dumps(A))", "A = copy.deepcopy(A)", "A = copy.copy(A)")))
    kwargs: dict[str, Any] = {}
    out = None
    if r.chance(0.2) and not made.wrong:
        out = named("out", target(r, how, after))
        names["out"], kwargs["out"] = out, out
    refuses: tuple[type[BaseException], ...] = ()
    message = Call._field_defaults["message"]
    if made.wrong:
        refuses, message = (ValueError,), "axis map: expected |(offset|index|start|weight)"
    elif r.chance(0.04):
        kwargs.pop("out", None)
        given_axis, refuses = len(shape), (IndexError,)
    source = "\n".join([*lines, "y = " + written("A.apply", [x, given_axis], kwargs)])

    def check(y: Any) -> None:
        check_is(y, out if "out" in kwargs else None)
        check_shape(y, x.value, after)
        check_map(y, x.value, axis, dense, copies)

    same = () if out is not None else again(r, how)
    return Call("", source, names, check, refuses, fresh=out is None, again=same, message=message)


def check_map(y: Any, x: Any, axis: int, dense: Dense, copies: bool) -> None:
    name = name_of(x)
    if copies or (dense.index is not None and dense.ones):
        check_bits(y, taken(x, [(axis, dense)]))
    elif is_whole(name) and dense.ones:
        want = exact_sums(numbers(x), [(axis, dense)], name)
        check_bits(bits(y).astype(want.dtype), want)
    else:
        check_values(y, summed(numbers(x), [(axis, dense)], name), name)


def gradient(r: Draw) -> Call:
    from . import gradients

    made = drawn_map(r)
    form = r.pick(tuple(FORMS))
    dense = made.dense.T if FORMS[form] else made.dense
    dtype = r.pick(gradients.FLOATS)
    other = r.shape(r.int(0, 3), max(1, 1500 // max(1, made.n_in)))
    axis = r.int(0, len(other))
    n_out, n_in = dense.weight.shape
    x = named("x", drawn(r, (*other[:axis], n_in, *other[axis:]), dtype, "torch", "normal"))
    expression = f"{made.source}{form}.apply(x, {axis})"
    call = gradients.backward(
        r, expression, {"x": x}, (*other[:axis], n_out, *other[axis:]), [(axis, dense)], tuple(x.value.shape), dtype
    )
    return call._replace(refuses=(ValueError,) if made.wrong else (), message="axis map: expected |\\w+:")


TABLES = ("offsets", "start", "offset", "weight", "index", "block_index")


def immutable(r: Draw) -> Call:
    """What kernels trust cannot be written to, however the map was come by."""
    made = drawn_map(r)._replace()
    ways = (
        "A",
        "A.T",
        "A.T.T",
        "copy.deepcopy(A)",
        "pickle.loads(pickle.dumps(A))",
        "copy.deepcopy(A).T",
        "copy.copy(A)",
    )
    x = named("x", Array("numpy", "float64", (2, made.n_in)))
    source = (
        f"A = {made.source}\nA.apply(x, 1)\nB = {r.pick(ways)}\n"
        if r.chance(0.4)
        else f"A = {made.source}\nB = {r.pick(ways)}\n"
    )
    source += f"y = [t for t in (getattr(B, name, None) for name in {TABLES}) if isinstance(t, np.ndarray)]"

    def check(y: Any) -> None:
        for t in y:
            if t.flags.writeable:
                raise Wrong("a table that can be written to", source)
            try:
                t.flags.writeable = True
            except ValueError:
                continue
            raise Wrong("a table that can be unlocked", source)

    refuses = (ValueError,) if made.wrong else ()
    return Call("", source, {"x": x}, check, refuses, message="axis map: expected |\\w+:", repeats=False)


KINDS: dict[str, tuple[Any, float]] = {
    "map.apply": (applied, 6),
    "gradient of a map": (gradient, 1.5),
    "map's tables": (immutable, 1),
}
