"""Matrix products: `(A x) w = A (x w)` for the maps of rows, columns and the dims in front."""

import operator
from collections.abc import Callable
from typing import Any

from tenter.lazy.elementwise import aligned, elementwise, linear_in
from tenter.lazy.stretched import Stretched, applied, is_float, stand_in, stretched, whole
from tenter.maps import AxisMap

# How many dims the operands have; any for matmul.
RANKS = {"matmul": None, "mm": (2, 2), "bmm": (3, 3), "mv": (2, 1)}


def product(name: str, f: Callable[..., Any], a: Stretched, b: Stretched, notes: list[str]) -> Stretched | None:
    """None where the operands have no elements or are none of a product: the library says what is wrong with them."""
    ranks = (len(a.maps), len(b.maps))
    if 0 in ranks or RANKS[name] not in (None, ranks) or (name == "bmm" and a.shape[0] != b.shape[0]):
        return None
    if 0 in a.shape + b.shape:
        return None
    if a.shape[-1] != b.shape[-2 if ranks[1] > 1 else 0]:
        f(stand_in(a), stand_in(b))  # for the library's own error
        return None
    row = a if ranks[0] > 1 else _inserted(a, 0)
    column = _turned(b if ranks[1] > 1 else _inserted(b, 1))
    # Beside one another: (..., rows, 1, summed) and (..., 1, columns, summed).
    left, right = _inserted(row, len(row.maps) - 1), _inserted(column, len(column.maps) - 2)
    notes.extend("the dim that the product sums over is materialized" for s in (left, right) if s.maps[-1] is not None)
    left, right = (applied(s, [len(s.maps) - 1]) for s in (left, right))

    def why(m: AxisMap, mapped: list[int]) -> str | None:
        if not all(is_float((left, right)[k].base) for k in mapped):
            return "weighted sums of integers are rounded"
        return linear_in("mul", m, mapped, [left, right], [], [0, 1])

    n_front = max(len(left.maps), len(right.maps))
    front = [tuple([1] * (n_front - len(s.maps))) + s.shape for s in (left, right)]
    shape = [n if m in (1, n) else m for n, m in zip(*front)]
    if any(m not in (1, n) and n != 1 for n, m in zip(*front)):
        return None
    (x, w), maps = aligned([left, right], shape, why, notes)
    x = x[..., 0, :] if ranks[0] > 1 else x[0, 0]
    w = w[..., 0, :, :].swapaxes(-1, -2) if ranks[1] > 1 else w[0, 0]
    absent = {len(maps) - 3 + k for k in (0, 1) if ranks[k] == 1}  # of a vector
    return stretched(operator.matmul(x, w), [m for d, m in enumerate(maps[:-1]) if d not in absent])


def linear(x: Stretched, weight: Any, bias: Any, notes: list[str]) -> Any:
    """PyTorch's linear layer."""
    made = product("matmul", operator.matmul, x, whole(weight.mT), notes) if weight.ndim == 2 else None
    return made if made is None or bias is None else elementwise("add", operator.add, (made, bias), {}, notes)


def _inserted(s: Stretched, d: int) -> Stretched:
    """With a dim of length 1 before dim d."""
    return s._replace(base=s.base[(slice(None),) * d + (None,)], maps=(*s.maps[:d], None, *s.maps[d:]))


def _turned(s: Stretched) -> Stretched:
    """With the last two dims exchanged."""
    return s._replace(base=s.base.swapaxes(-1, -2), maps=(*s.maps[:-2], s.maps[-1], s.maps[-2]))
