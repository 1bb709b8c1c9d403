"""Matrix products: `(A x) w = A (x w)` for the maps of rows, columns and leading dims."""

import operator
from collections.abc import Callable
from typing import Any

from tenter.lazy.elementwise import aligned, elementwise, linear_in
from tenter.lazy.stretched import Stretched, applied, is_float, stand_in, stretched, whole
from tenter.maps import AxisMap

# The number of dims of the operands; None for any.
RANKS = {"matmul": None, "mm": (2, 2), "bmm": (3, 3), "mv": (2, 1)}


def product(name: str, f: Callable[..., Any], a: Stretched, b: Stretched, notes: list[str]) -> Stretched | None:
    """Returns the product. None if the operands have no elements or do not match: then the library raises its error."""
    ranks = (len(a.maps), len(b.maps))
    if 0 in ranks or RANKS[name] not in (None, ranks) or (name == "bmm" and a.shape[0] != b.shape[0]):
        return None
    if 0 in a.shape + b.shape:
        return None
    if a.shape[-1] != b.shape[-2 if ranks[1] > 1 else 0]:
        f(stand_in(a), stand_in(b))  # raises the library's own error
        return None
    left, right = _side_by_side(a, b, notes)
    shape = _broadcast(left, right)
    if shape is None:
        return None

    def why(m: AxisMap, mapped: list[int]) -> str | None:
        if not all(is_float((left, right)[k].base) for k in mapped):
            return "weighted sums of integers are rounded"
        return linear_in("mul", m, mapped, [left, right], [], [0, 1])

    (x, w), maps = aligned([left, right], shape, why, notes)
    x = x[..., 0, :] if ranks[0] > 1 else x[0, 0]
    w = w[..., 0, :, :].swapaxes(-1, -2) if ranks[1] > 1 else w[0, 0]
    absent = {len(maps) - 3 + k for k in (0, 1) if ranks[k] == 1}  # dims that a vector does not have
    return stretched(operator.matmul(x, w), [m for d, m in enumerate(maps[:-1]) if d not in absent])


def _side_by_side(a: Stretched, b: Stretched, notes: list[str]) -> tuple[Stretched, Stretched]:
    """Returns the operands as (..., rows, 1, summed) and (..., 1, columns, summed). The last dim has no map."""
    row = a if len(a.maps) > 1 else _inserted(a, 0)
    column = _transposed(b if len(b.maps) > 1 else _inserted(b, 1))
    left, right = _inserted(row, len(row.maps) - 1), _inserted(column, len(column.maps) - 2)
    notes.extend("the dim that the product sums over is materialized" for s in (left, right) if s.maps[-1] is not None)
    return applied(left, [len(left.maps) - 1]), applied(right, [len(right.maps) - 1])


def _broadcast(left: Stretched, right: Stretched) -> list[int] | None:
    """Returns the shape to which both operands broadcast; None if they do not."""
    n_dims = max(len(left.maps), len(right.maps))
    shapes = [tuple([1] * (n_dims - len(s.maps))) + s.shape for s in (left, right)]
    if any(m not in (1, n) and n != 1 for n, m in zip(*shapes)):
        return None
    return [n if m in (1, n) else m for n, m in zip(*shapes)]


def linear(x: Stretched, weight: Any, bias: Any, notes: list[str]) -> Any:
    """PyTorch's linear layer."""
    made = product("matmul", operator.matmul, x, whole(weight.mT), notes) if weight.ndim == 2 else None
    return made if made is None or bias is None else elementwise("add", operator.add, (made, bias), {}, notes)


def _inserted(s: Stretched, d: int) -> Stretched:
    """Returns s with a dim of length 1 before dim d."""
    return s._replace(base=s.base[(slice(None),) * d + (None,)], maps=(*s.maps[:d], None, *s.maps[d:]))


def _transposed(s: Stretched) -> Stretched:
    """Returns s with its last two dims exchanged."""
    return s._replace(base=s.base.swapaxes(-1, -2), maps=(*s.maps[:-2], s.maps[-1], s.maps[-2]))
