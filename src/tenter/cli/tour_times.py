"""The tour's quick look at times, beside whatever else is installed."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import tenter

if TYPE_CHECKING:
    from rich.console import Console

PEERS = ("tenter", "NumPy", "Pillow", "PyTorch", "OpenCV")
ROUNDS, BUDGET = 31, 1.0

Call = Callable[[], Any]


def show_times(console: Console, photo: npt.NDArray[Any]) -> None:
    """Print a table of medians: one row per task, one column per library."""
    from rich import box
    from rich.table import Table

    torch, cv2 = _module("torch"), _module("cv2")
    rows = _copies(torch, cv2) + _pictures(photo, torch, cv2)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), width=console.width)
    table.add_column("milliseconds per call", ratio=1)
    for peer in PEERS:
        table.add_column(peer, justify="right", no_wrap=True)
    for task, calls in rows:
        times = measure(calls)
        best = min(times.values())
        cells = (_cell(times.get(peer), best) for peer in PEERS)
        table.add_row(task, *cells)
    console.print("\n[bold]One quick look at times, on this computer, now[/bold]")
    console.print(table)
    console.print(
        f"Medians of up to {ROUNDS} alternating runs of the whole call, with as many threads as each library chooses. "
        "Photo rows: the same uint8 RGB pixels, channels last, for all; results may differ by rounding. "
        "A dash: no such operation there, or not installed.",
        style="dim",
    )


def measure(calls: dict[str, Call]) -> dict[str, float]:
    """Time calls in turns, so that a busy moment hits all of them; a call that its library refuses drops out."""
    times: dict[str, list[float]] = {}
    for name, call in calls.items():
        try:
            call()
        except Exception:
            # whatever a peer raises for what it lacks: the dash says it; our own failure must show
            if name == "tenter":
                raise
        else:
            times[name] = []
    started = time.perf_counter()
    for _ in range(ROUNDS):
        for name in times:
            begin = time.perf_counter()
            calls[name]()
            times[name].append(time.perf_counter() - begin)
        if time.perf_counter() - started > BUDGET:
            break
    return {name: median(values) for name, values in times.items()}


def _copies(torch: Any, cv2: Any) -> list[tuple[str, dict[str, Call]]]:
    rng = np.random.default_rng(0)
    rows = rng.random((20_000, 64), dtype=np.float32)
    counts = rng.integers(0, 5, len(rows))
    image = rng.random((1000, 1000), dtype=np.float32)
    ragged: dict[str, Call] = {
        "tenter": lambda: tenter.repeat_interleave(rows, counts, dim=0),
        "NumPy": lambda: np.repeat(rows, counts, axis=0),
    }
    inner: dict[str, Call] = {
        "tenter": lambda: tenter.repeat_interleave(image, 3, dim=1),
        "NumPy": lambda: np.repeat(image, 3, axis=1),
    }
    tiled: dict[str, Call] = {
        "tenter": lambda: tenter.tile(image, (2, 3)),
        "NumPy": lambda: np.tile(image, (2, 3)),
    }
    if torch:
        t_rows, t_counts, t_image = torch.from_numpy(rows), torch.from_numpy(counts), torch.from_numpy(image)
        ragged["PyTorch"] = lambda: torch.repeat_interleave(t_rows, t_counts, dim=0)
        inner["PyTorch"] = lambda: torch.repeat_interleave(t_image, 3, dim=1)
        tiled["PyTorch"] = lambda: torch.tile(t_image, (2, 3))
    if cv2:
        tiled["OpenCV"] = lambda: cv2.repeat(image, 2, 3)
    return [
        ("repeat_interleave: 20,000 rows of 64 float32, 0 to 4 times each", ragged),
        ("repeat_interleave: 1000 x 1000 float32, each column 3 times", inner),
        ("tile: 1000 x 1000 float32, 2 down and 3 across", tiled),
    ]


def _pictures(photo: npt.NDArray[Any], torch: Any, cv2: Any) -> list[tuple[str, dict[str, Call]]]:
    from PIL.Image import Resampling

    height, width = photo.shape[:2]
    half, double = (height // 2, width // 2), (2 * height, 2 * width)
    # tenter's and PyTorch's mode, antialias, size, Pillow's filter, OpenCV's; None where the library has no such filter
    tasks: list[tuple[str, bool, tuple[int, int], Any, str | None]] = [
        ("bilinear", True, half, Resampling.BILINEAR, None),
        ("bicubic", True, half, Resampling.BICUBIC, None),
        ("lanczos", True, half, Resampling.LANCZOS, None),
        ("area", False, half, Resampling.BOX, "INTER_AREA"),
        ("nearest-exact", False, double, Resampling.NEAREST, "INTER_NEAREST_EXACT"),
        ("bilinear", False, double, Resampling.BILINEAR, "INTER_LINEAR"),
        ("bicubic", False, double, None, "INTER_CUBIC"),
    ]
    rows = []
    for mode, antialias, size, filter_, flag in tasks:
        name = f"photo: {mode}{', antialias' if antialias else ''}, {width} x {height} to {size[1]} x {size[0]}"
        rows.append((name, _one_picture(photo, mode, antialias, size, filter_, flag, torch, cv2)))
    return rows


def _one_picture(
    photo: npt.NDArray[Any],
    mode: str,
    antialias: bool,
    size: tuple[int, int],
    filter_: Any,
    flag: str | None,
    torch: Any,
    cv2: Any,
) -> dict[str, Call]:
    from PIL import Image

    planes = photo.transpose(2, 0, 1)[None]
    turned = (size[1], size[0])
    calls: dict[str, Call] = {"tenter": lambda: tenter.interpolate(planes, size=size, mode=mode, antialias=antialias)}
    if mode == "nearest-exact":
        calls["NumPy"] = lambda: photo.repeat(2, 0).repeat(2, 1)
    if filter_ is not None:
        image = Image.fromarray(photo)
        calls["Pillow"] = lambda: image.resize(turned, filter_)
    if torch:
        tensor = torch.from_numpy(photo).permute(2, 0, 1)[None]
        resize = torch.nn.functional.interpolate
        calls["PyTorch"] = lambda: resize(tensor, size=size, mode=mode, antialias=antialias)
    if cv2 and flag is not None:
        calls["OpenCV"] = lambda: cv2.resize(photo, turned, interpolation=getattr(cv2, flag))
    return calls


def _module(name: str) -> Any:
    """Import a peer if it is installed and works."""
    try:
        return importlib.import_module(name)
    except Exception:
        # a peer with a broken install (missing system library, wrong NumPy) is as good as absent
        return None


def _cell(seconds: float | None, best: float) -> str:
    if seconds is None:
        return "[dim]-[/dim]"
    text = f"{1000 * seconds:.2f}"
    return f"[bold]{text}[/bold]" if seconds == best else text
