"""The command `tenter explain`: a call in words, read by a parser and never evaluated as code."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import tenter
from tenter._arrays.arguments import did_you_mean
from tenter.cli.output import check_output, write_beside
from tenter.cli.refusal import Refusal

TEXT = """Explain a call without making its result: which outputs read which inputs, what is copied, which kernel runs,
and how PyTorch, NumPy, einops and JAX spell it.

CALL is a call of repeat_interleave, repeat, tile, expand, interpolate, resize, numpy.repeat or numpy.tile, in quotes:

  tenter explain "repeat_interleave([[1, 2], [3, 4]], [1, 2], dim=0)"
  tenter explain "resize(shape(1080, 1920, 3), (540, 960), axes=(0, 1))"

Its arguments are numbers, strings, lists and tuples; x may be shape(3, 4) or zeros(3, 4), of which no element is made.
It is read, and never evaluated as code."""

OPERATIONS: dict[str, Callable[..., Any]] = {
    "repeat_interleave": tenter.repeat_interleave,
    "repeat": tenter.repeat,
    "tile": tenter.tile,
    "expand": tenter.expand,
    "interpolate": tenter.interpolate,
    "resize": tenter.resize,
    "numpy.repeat": tenter.numpy.repeat,
    "numpy.tile": tenter.numpy.tile,
}
# What makes an array of which the shape is all that counts.
SHAPES = ("shape", "Shape", "zeros", "ones", "empty")
# Characters of a call: more are no call that a person wrote, and the parser takes memory for each.
MOST = 1 << 20


def explain_command(args: argparse.Namespace) -> int:
    """Carry out `tenter explain`."""
    operation, values, named = read_call(args.call)
    asked = [(path, kind) for path, kind in ((args.svg, "svg"), (args.html, "html")) if path is not None]
    targets = [check_output(path, None, args.force) for path, _ in asked]
    found = tenter.explain(operation, *values, **named)
    for target, (_, kind) in zip(targets, asked):
        _write(target, args.force, found.svg() if kind == "svg" else found.html())
    if not asked:
        print(found)
    return 0


def _write(target: Path, force: bool, text: str) -> None:
    def write(file: BinaryIO) -> None:
        file.write(text.encode())

    write_beside(target, force, write)


def add_arguments(explain: argparse.ArgumentParser) -> None:
    """Add the arguments of `tenter explain` to its parser."""
    explain.add_argument("call", metavar="CALL", help='such as "tile([1, 2, 3], 2)"')
    explain.add_argument("--svg", metavar="FILE.svg", help="write a figure instead of text")
    explain.add_argument("--html", metavar="FILE.html", help="write a page instead of text")
    explain.add_argument("--force", action="store_true", help="overwrite existing files")


def read_call(text: str) -> tuple[Callable[..., Any], list[Any], dict[str, Any]]:
    """The operation of a call and its arguments. Raises Refusal, with the column, for anything else."""
    if len(text) > MOST:
        raise Refusal(f"CALL: expected at most {MOST:,} characters, got {len(text):,}")
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as failed:
        raise Refusal(
            f"CALL: expected a call, got what does not parse at column {failed.offset}: {failed.msg}"
        ) from None
    except (ValueError, RecursionError, MemoryError):
        raise Refusal("CALL: expected a call, got what does not parse") from None
    if not isinstance(node, ast.Call):
        raise _refusal(node, "a call such as tile([1, 2, 3], 2)")
    name = _name(node.func).removeprefix("tenter.")
    if name not in OPERATIONS:
        raise _refusal(node.func, f"one of {', '.join(OPERATIONS)}", tuple(OPERATIONS))
    try:
        return (OPERATIONS[name], *_arguments(node))
    except RecursionError:
        raise Refusal("CALL: expected fewer nested lists") from None


def _arguments(node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
    for keyword in node.keywords:
        if keyword.arg is None:
            raise _refusal(keyword.value, "arguments one by one, without **")
    return [_value(a) for a in node.args], {str(k.arg): _argument(str(k.arg), k.value) for k in node.keywords}


def _argument(name: str, node: ast.expr) -> Any:
    """dtype may be a bare name, as in dtype=uint8 or dtype=np.uint8."""
    return _name(node).rpartition(".")[2] if name == "dtype" and _name(node) else _value(node)


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        values = [_value(n) for n in node.elts]
        return values if isinstance(node, ast.List) else tuple(values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _value(node.operand)
        if isinstance(value, (int, float, complex)) and not isinstance(value, bool):
            return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.Call) and _name(node.func).rpartition(".")[2] in SHAPES:
        lengths, named = _arguments(node)
        if named.keys() - {"dtype"}:
            raise _refusal(node, "lengths and a dtype")
        return tenter.Shape(*lengths, **named)
    raise _refusal(node, "a number, a string, a list, a tuple or shape(3, 4)")


def _name(node: ast.expr) -> str:
    """A dotted name; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := _name(node.value)):
        return f"{before}.{node.attr}"
    return ""


def _refusal(node: ast.expr, expected: str, known: Sequence[str] = ()) -> Refusal:
    got = ast.unparse(node)
    shown = got if len(got) <= 40 else got[:37] + "..."
    close = did_you_mean(shown, known)
    return Refusal(f"CALL: expected {expected}, got {shown} at column {node.col_offset + 1}{close}")
