"""`python -m benchmarks loader`: a DataLoader that decodes, crops and resizes to 224, mirrors, normalizes and batches.
CPU time of an image without workers, the share of it that is decoding, and images per second with one and two workers.

Every library gets the same decoder (Pillow), and parts of the same distribution. "decode alone" does nothing after it,
so the difference is what a library takes. Libraries that are not installed have no row. Nothing is written.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from benchmarks.crops import photograph
from tenter.torch import transforms
from tenter.torch.parts import random_part

SIZE, MEAN, STD = 224, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SCALE, RATIO = (0.08, 1.0), (3 / 4, 4 / 3)


def drawn(height: int, width: int) -> tuple[int, int, int, int, bool]:
    return *random_part(height, width, SCALE, RATIO), bool(torch.rand(1) < 0.5)


def normalized(pixels: Any) -> torch.Tensor:
    """As it is written without a library for it."""
    x = torch.from_numpy(np.ascontiguousarray(pixels)).permute(2, 0, 1).float().div_(255)
    return x.sub_(torch.tensor(MEAN)[:, None, None]).div_(torch.tensor(STD)[:, None, None])


def alone(image: Any) -> torch.Tensor:
    image.load()
    return torch.zeros(1)


def with_pillow(image: Any) -> torch.Tensor:
    top, left, height, width, flip = drawn(image.height, image.width)
    made = np.asarray(image.resize((SIZE, SIZE), 2, box=(left, top, left + width, top + height)))
    return normalized(made[:, ::-1] if flip else made)


def with_kornia(image: Any) -> torch.Tensor:
    import kornia_rs

    top, left, height, width, flip = drawn(image.height, image.width)
    part = np.ascontiguousarray(np.asarray(image)[top : top + height, left : left + width])
    made = kornia_rs.imgproc.resize(part, (SIZE, SIZE), "bilinear")
    return normalized(made[:, ::-1] if flip else made)


def torchvision(first: str) -> Callable[[Any], torch.Tensor]:
    from torchvision.transforms import v2

    before = [] if first == "PIL" else [v2.ToImage()]
    after = [v2.ToImage()] if first == "PIL" else []
    return v2.Compose([
        *before, v2.RandomResizedCrop(SIZE, SCALE, RATIO), v2.RandomHorizontalFlip(0.5), *after,
        v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD), v2.ToPureTensor(),
    ])  # fmt: skip


class Albumentations:
    def __init__(self) -> None:
        import albumentations as a

        crop = a.RandomResizedCrop((SIZE, SIZE), SCALE, RATIO)
        self.all = a.Compose([crop, a.HorizontalFlip(0.5), a.Normalize(MEAN, STD), a.pytorch.ToTensorV2()])

    def __call__(self, image: Any) -> torch.Tensor:
        made: torch.Tensor = self.all(image=np.asarray(image))["image"]
        return made


PEERS: dict[str, tuple[str, Callable[[], Callable[[Any], torch.Tensor]]]] = {
    "tenter": ("tenter", lambda: transforms.RandomResizedCrop(SIZE, SCALE, RATIO, flip=0.5, mean=MEAN, std=STD)),
    "Pillow": ("PIL", lambda: with_pillow),
    "torchvision v2, PIL": ("torchvision", lambda: torchvision("PIL")),
    "torchvision v2, tensor": ("torchvision", lambda: torchvision("tensor")),
    "albumentations (no antialias)": ("albumentations", Albumentations),
    "kornia-rs (no antialias)": ("kornia_rs", lambda: with_kornia),
    "decode alone": ("PIL", lambda: alone),
}


class Photos(Dataset[torch.Tensor]):
    def __init__(self, paths: list[Path], transform: Callable[[Any], torch.Tensor]) -> None:
        self.paths, self.transform = paths, transform

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, k: int) -> torch.Tensor:
        from PIL import Image

        with Image.open(self.paths[k]) as image:
            return self.transform(image)


def pictures(folder: Path, n: int, height: int, width: int) -> list[Path]:
    from PIL import Image

    paths = [folder / f"{k}.jpg" for k in range(n)]
    for k, path in enumerate(paths):
        Image.fromarray(np.roll(photograph(height, width), 37 * k, axis=1)).save(path, quality=90)
    return paths


class Pass(NamedTuple):
    """A pass over the images: how many there were per second, and milliseconds of this process for each."""

    per_second: float
    cpu: float


def one_pass(paths: list[Path], transform: Callable[[Any], torch.Tensor], workers: int) -> Pass:
    """A pass after one that starts the workers."""
    loader = DataLoader(Photos(paths, transform), 16, num_workers=workers, persistent_workers=workers > 0)
    for _ in loader:
        pass
    begin, cpu = time.perf_counter(), time.process_time()
    n = sum(len(batch) for batch in loader)
    return Pass(n / (time.perf_counter() - begin), (time.process_time() - cpu) / n * 1e3)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pictures", type=int, default=256, metavar="N", help="JPEGs of 500 x 375 (256)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="of which the median is shown (5)")


def main(chosen: argparse.Namespace) -> int:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as a worker has
    try:
        return measured(chosen)
    finally:
        torch.set_num_threads(threads)


def measured(chosen: argparse.Namespace) -> int:
    names = [name for name, (package, _) in PEERS.items() if importlib.util.find_spec(package)]
    with tempfile.TemporaryDirectory() as folder:
        paths = pictures(Path(folder), chosen.pictures, 375, 500)
        made = {name: PEERS[name][1]() for name in names}
        found: dict[tuple[str, int], list[Pass]] = {}
        # In turns, so that all meet the same load of the machine. Without workers last: kornia-rs then starts threads,
        # and a worker that is forked after that waits for ever.
        for of_round in ((1, 2), (0,)):
            for _ in range(chosen.rounds):
                for workers in of_round:
                    for name in names:
                        found.setdefault((name, workers), []).append(one_pass(paths, made[name], workers))
    cpu = {name: median(one.cpu for one in found[name, 0]) for name in names}
    print("| | CPU time, ms per image | of which decoding | images per second, 1 worker | 2 workers |")
    print("|---|---|---|---|---|")
    for name in names:
        one, two = (median(each.per_second for each in found[name, workers]) for workers in (1, 2))
        print(f"| {name} | {cpu[name]:.2f} | {cpu['decode alone'] / cpu[name]:.0%} | {one:.0f} | {two:.0f} |")
    return 0
