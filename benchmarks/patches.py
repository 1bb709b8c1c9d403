"""`python -m benchmarks patches`: images as the patches that Qwen2-VL reads, in float32; milliseconds of processor time
an image.

In turns, one thread. PyTorch has the steps of transformers' processors for tensors, without what these check. Libraries
that are not installed have no column. The steps of the first image are recorded and drawn.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import time
from collections.abc import Callable
from html import escape
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from benchmarks import results
from benchmarks.chart_svg import FONT, LOOKS
from benchmarks.crops import photograph
from benchmarks.machine import Settings, brief, machine
from benchmarks.table import lined
from tenter.image import Budget
from tenter.torch import transforms

MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
BUDGET, PATCH, MERGE, FRAMES = Budget(1280 * 28 * 28, 56 * 56, 28), 14, 2, 2
STEPS, PICTURE = Path("docs/measured/patches.json"), Path("docs/measured/patches.svg")
Call = Callable[[list[Any]], Any]


def tenter() -> Call:
    return transforms.Patches(BUDGET, PATCH, merge=MERGE, frames=FRAMES, mean=MEAN, std=STD)


def pytorch() -> Call:
    means, stds = (torch.tensor(each)[:, None, None] * 255 for each in (MEAN, STD))

    def patches(image: Any) -> torch.Tensor:
        x = torch.from_numpy(np.asarray(image)).permute(2, 0, 1)
        size = BUDGET.sides(*x.shape[1:])
        y = (
            torch.nn.functional.interpolate(x[None], size, mode="bicubic", antialias=True)[0]
            .float()
            .sub_(means)
            .div_(stds)
        )
        rows, columns = size[0] // PATCH, size[1] // PATCH
        y = y.reshape(3, rows // MERGE, MERGE, PATCH, columns // MERGE, MERGE, PATCH).permute(1, 4, 2, 5, 0, 3, 6)
        return y[:, :, :, :, :, None].expand(-1, -1, -1, -1, -1, FRAMES, -1, -1).reshape(rows * columns, -1)

    return lambda images: torch.cat([patches(image) for image in images])


def transformers() -> Call:
    module = importlib.import_module("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl")
    processor = module.Qwen2VLImageProcessorPil()
    return lambda images: processor(images, return_tensors="pt")


PEERS: dict[str, tuple[str, Callable[[], Call]]] = {
    "tenter": ("tenter", tenter),
    "PyTorch, step by step": ("torch", pytorch),
    "transformers, Pillow's processor": ("transformers", transformers),
}


def pictures(n: int) -> list[Any]:
    """Images of unequal sides, between 320 and 1,600."""
    from PIL import Image

    random = np.random.default_rng(0)
    return [Image.fromarray(photograph(*map(int, random.integers(320, 1600, 2)))) for _ in range(n)]


def cases() -> dict[str, list[Any]]:
    from PIL import Image

    return {"1512 x 2016": [Image.fromarray(photograph(1512, 2016))], "64 of unequal sizes": pictures(64)}


def steps(image: Any, rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds of processor time of each step, by library: the difference to the steps before it."""
    size = BUDGET.sides(image.height, image.width)
    means, stds = (torch.tensor(each)[:, None, None] * 255 for each in (MEAN, STD))
    floats = transforms.Resize(size, dtype=torch.float32, mean=MEAN, std=STD)
    parts: dict[str, dict[str, Callable[[], Any]]] = {
        "tenter": {
            "read": lambda: np.asarray(image),
            "resize and normalize": lambda: floats(image),
            "write patches": lambda: ours([image]),
        },
        "PyTorch": {
            "read": lambda: np.asarray(image),
            "resize": lambda: by_torch(pixels_of(image)),
            "normalize": lambda: by_torch(pixels_of(image)).float().sub_(means).div_(stds),
            "write patches": lambda: theirs([image]),
        },
    }
    ours, theirs = tenter(), pytorch()

    def pixels_of(image: Any) -> torch.Tensor:
        return torch.from_numpy(np.asarray(image)).permute(2, 0, 1)[None]

    def by_torch(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.interpolate(x, size, mode="bicubic", antialias=True)

    times: dict[tuple[str, str], list[float]] = {(name, step): [] for name, calls in parts.items() for step in calls}
    for _ in range(rounds + 1):
        for name, step in times:
            begin = time.process_time()
            parts[name][step]()
            times[name, step].append((time.process_time() - begin) * 1e3)
    found: dict[str, dict[str, float]] = {}
    for name, calls in parts.items():
        ends = [0.0, *(median(times[name, step][1:]) for step in calls)]
        found[name] = {step: max(0.0, b - a) for step, a, b in zip(calls, ends, ends[1:])}
    return found


def drawn(found: dict[str, dict[str, float]]) -> str:
    """A bar for each library, divided into its steps."""
    wide, tall, left = 640, 34, 70
    look: dict[str, Any] = LOOKS["light"]
    scale = (wide - left - 75) / max(sum(of.values()) for of in found.values())
    colors = dict(zip(dict.fromkeys(step for of in found.values() for step in of), look["bars"][1:]))
    parts = []
    for k, (name, of) in enumerate(found.items()):
        y, x = 16 + k * tall, float(left)
        parts.append(text(4, y + 16, name, look["ink"]))
        for step, ms in of.items():
            parts.append(f'<rect x="{x:.1f}" y="{y}" width="{ms * scale:.1f}" height="22" fill="{colors[step]}"/>')
            x += ms * scale
        parts.append(text(x + 6, y + 16, f"{sum(of.values()):.1f} ms", look["ink"]))
    x = float(left)
    for step, color in colors.items():
        y = 16 + len(found) * tall
        parts.append(f'<rect x="{x:.1f}" y="{y}" width="11" height="11" fill="{color}"/>')
        parts.append(text(x + 16, y + 10, step, look["dim"]))
        x += 36 + 7 * len(step)
    height = 44 + len(found) * tall
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {height}" width="{wide}" height="{height}">'
    page = f'<rect width="{wide}" height="{height}" fill="{look["page"]}"/>'
    return "\n".join([head, page, *parts, "</svg>", ""])


def text(x: float, y: float, said: str, color: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {FONT} font-size="13" fill="{color}">{escape(said)}</text>'


def record(found: dict[str, dict[str, float]], about: str) -> None:
    STEPS.write_text(json.dumps(results.short({"about": about, "steps": found}), indent=1) + "\n", encoding="utf-8")
    PICTURE.write_text(drawn(found), encoding="utf-8")
    print(f"wrote {STEPS}\nwrote {PICTURE}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="of which the median is shown (15)")


def main(chosen: argparse.Namespace) -> int:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        made = {name: of() for name, (package, of) in PEERS.items() if importlib.util.find_spec(package)}
        body = []
        for what, images in cases().items():
            found: dict[str, list[float]] = {name: [] for name in made}
            rounds = max(3, chosen.rounds // len(images)) if len(images) > 1 else chosen.rounds
            for _ in range(rounds + 1):
                for name, call in made.items():
                    begin = time.process_time()
                    call(images)
                    found[name].append((time.process_time() - begin) * 1e3 / len(images))
            ours = found["tenter"][1:]  # the first round fills caches
            cells = [what, f"{median(ours):.2f} ms"]
            for name in list(made)[1:]:
                ratio = median(peer / own for peer, own in zip(found[name][1:], ours))
                cells.append(f"{median(found[name][1:]):.2f} ms ({ratio:.1f}x)")
            body.append(cells)
        print(lined(["images", *made], body))
        record(steps(cases()["1512 x 2016"][0], chosen.rounds), brief(machine(Settings(1, 0, 0))))
    finally:
        torch.set_num_threads(threads)
    return 0
