"""`python -m benchmarks patches`: images as the patches that Qwen2-VL reads, in float32; milliseconds of processor time
an image.

In turns, one thread. PyTorch has the steps of transformers' processors for tensors, without what these check. Libraries
that are not installed have no column. Nothing is written.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import torch

from benchmarks.crops import photograph
from benchmarks.table import lined
from tenter.image import Budget
from tenter.torch import transforms

MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
BUDGET, PATCH, MERGE, FRAMES = Budget(1280 * 28 * 28, 56 * 56, 28), 14, 2, 2
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
    finally:
        torch.set_num_threads(threads)
    return 0
