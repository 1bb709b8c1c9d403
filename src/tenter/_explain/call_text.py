"""A call in words. A parser reads it. It is never evaluated as code."""

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from tenter._arrays.arguments import did_you_mean
from tenter._arrays.errors import refuse
from tenter._explain.checked import OPERATIONS
from tenter._explain.outlines import Shape

# Functions whose result matters only by its shape.
SHAPES = ("shape", "Shape", "zeros", "ones", "empty")
# Characters of a call. Nobody writes longer ones, and the parser needs memory for each character.
MOST = 1 << 20


def read_call(
    text: str, values: Mapping[str, Any] | None = None
) -> tuple[Callable[..., Any], list[Any], dict[str, Any]]:
    """Returns the operation of a call and its arguments. values: what its names stand for. Anything else is refused,
    with its column."""
    if len(text) > MOST:
        refuse(ValueError, "call", f"at most {MOST:,} characters", f"{len(text):,}")
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as failed:
        refuse(ValueError, "call", "a call", f"what does not parse at column {failed.offset}: {failed.msg}")
    except (ValueError, RecursionError, MemoryError):
        refuse(ValueError, "call", "a call", "what does not parse")
    if not isinstance(node, ast.Call):
        _refuse(node, "a call such as tile([1, 2, 3], 2)")
    name = _name(node.func).removeprefix("tenter.")
    if name not in OPERATIONS:
        _refuse(node.func, f"one of {', '.join(OPERATIONS)}", tuple(OPERATIONS))
    try:
        return (OPERATIONS[name], *_arguments(node, values or {}))
    except RecursionError:
        refuse(ValueError, "call", "fewer nested lists", "too many")


def _arguments(node: ast.Call, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    for keyword in node.keywords:
        if keyword.arg is None:
            _refuse(keyword.value, "arguments one by one, without **")
    named = {str(k.arg): _argument(str(k.arg), k.value, values) for k in node.keywords}
    return [_value(a, values) for a in node.args], named


def _argument(name: str, node: ast.expr, values: Mapping[str, Any]) -> Any:
    """Returns an argument. A dtype may be a bare name, as in dtype=uint8 or dtype=np.uint8."""
    return _name(node).rpartition(".")[2] if name == "dtype" and _name(node) else _value(node, values)


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        each = [_value(n, values) for n in node.elts]
        return each if isinstance(node, ast.List) else tuple(each)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _value(node.operand, values)
        if isinstance(value, (int, float, complex)) and not isinstance(value, bool):
            return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.Call) and _name(node.func).rpartition(".")[2] in SHAPES:
        lengths, named = _arguments(node, values)
        if named.keys() - {"dtype"}:
            _refuse(node, "lengths and a dtype")
        return Shape(*lengths, **named)
    return _refuse(node, "a number, a string, a list, a tuple or shape(3, 4)")


def _name(node: ast.expr) -> str:
    """Returns a dotted name; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := _name(node.value)):
        return f"{before}.{node.attr}"
    return ""


def _refuse(node: ast.expr, expected: str, known: Sequence[str] = ()) -> NoReturn:
    got = ast.unparse(node)
    shown = got if len(got) <= 40 else got[:37] + "..."
    close = did_you_mean(shown, known)
    refuse(ValueError, "call", expected, f"{shown} at column {node.col_offset + 1}{close}")
