"""The calls that the tour shows, each run at that moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import tenter

if TYPE_CHECKING:
    from rich.console import Console

#: what the calls below may name
INPUTS: dict[str, Any] = {
    "x": np.array([1, 2, 3]),
    "y": np.array([[1, 2], [3, 4]]),
    "kv": np.arange(60).reshape(3, 2, 5, 2),
    "arange": np.arange,
    "repeat_interleave": tenter.repeat_interleave,
    "repeat": tenter.repeat,
    "tile": tenter.tile,
    "expand": tenter.expand,
    "interpolate": tenter.interpolate,
    "signal": np.array([[[0.0, 4.0, 8.0]]]),
}
INTRODUCTION = """x = array([1, 2, 3])    y = array([[1, 2], [3, 4]])
kv: 3 sequences, 2 key/value heads, 5 tokens, 2 features
signal = array([[[0.0, 4.0, 8.0]]])"""

SECTIONS: dict[str, list[tuple[str, str]]] = {
    "repeat_interleave: each element some times in a row": [
        ("", "repeat_interleave(x, 2)"),
        ("flattened without dim", "repeat_interleave(y, 2)"),
        ("along a dim", "repeat_interleave(y, 3, dim=1)"),
        ("a count per row", "repeat_interleave(y, [1, 2], dim=0)"),
        ("the total, checked", "repeat_interleave(y, [1, 2], dim=0, output_size=3)"),
        ("", "repeat_interleave([10, 20, 30], [1, 3, 2])"),
        ("", "repeat_interleave([[1, 2, 3]], [1, 2, 3], dim=1)"),
        ("counts alone give positions", "repeat_interleave([1, 2, 3])"),
        ("labels per sentence to labels per token", "repeat_interleave([0, 1], [3, 5])"),
        ("beam ids", "repeat_interleave(arange(3), 4)"),
        ("grouped-query attention: heads shared", "repeat_interleave(kv, 4, dim=1).shape"),
        ("head h is K/V head h // 4", "repeat_interleave(kv, 4, dim=1)[0, :, 0, 0] // 10"),
        ("two counts for three columns", "repeat_interleave([[1, 2, 3]], [1, 2], dim=1)"),
    ],
    "repeat, tile: the whole array some times": [
        ("", "repeat(x, 2)"),
        ("", "repeat(y, 2, 3)"),
        ("more sizes than dims: new leading dims", "repeat(x, 3, 4, 2).shape"),
        ("fewer sizes than dims", "repeat(y, 2)"),
        ("NumPy's repeat has another meaning", "repeat(x, 2, axis=0)"),
        ("tile pads the shorter with ones", "tile(y, (2,))"),
    ],
    "expand: a view, no memory": [
        ("", "expand(x, 2, 3)"),
        ("-1 keeps a size", "expand([[1], [2]], -1, 3)"),
        ("each row is the same memory", "expand(x, 1000, 3).strides"),
        ("read-only, for writing would hit every row", "expand(x, 2, 3).flags.writeable"),
    ],
    "interpolate: resample": [
        ("nearest", "interpolate(signal, size=6)[0, 0]"),
        ("", "interpolate(signal, size=6, mode='linear')[0, 0]"),
        ("ends kept at ends", "interpolate(signal, size=5, mode='linear', align_corners=True)[0, 0]"),
    ],
}


def show_examples(console: Console) -> None:
    """Print each call with the result that it gives now."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    console.print("[bold]tenter[/bold] stretches arrays along their axes.\n")
    console.print(INTRODUCTION, markup=False)
    for title, calls in SECTIONS.items():
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), width=console.width)
        table.add_column("call", ratio=11, style="cyan", overflow="fold")
        table.add_column("result", ratio=10, overflow="fold")
        for note, call in calls:
            answer, fine = result_of(call)
            shown = Text(call) if not note else Text.assemble(call, (f"\n# {note}", "dim"))
            table.add_row(shown, Text(answer, style="" if fine else "red"))
        console.print(f"\n[bold]{title}[/bold]")
        console.print(table)


def result_of(call: str) -> tuple[str, bool]:
    """Run a call as it is shown, so that the two cannot differ; return its result or error, and whether it worked."""
    try:
        result = eval(call, dict(INPUTS))
    except (TypeError, ValueError, IndexError) as error:
        return f"{type(error).__name__}: {error}", False
    return str(result.tolist() if isinstance(result, np.ndarray) else result), True
