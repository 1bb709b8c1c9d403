"""A DataLoader that decodes, crops and resizes to 224, mirrors, normalizes and batches: images per second.

`python -m benchmarks loader` writes docs/measured/loader.md. Every library gets the same decoder (Pillow), and parts of
the same distribution. Decoding alone does nothing after it, so the difference is what a library takes. Libraries that
are not installed have no row.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from benchmarks import peers
from benchmarks.crops import photograph
from benchmarks.machine import cores, now, processor, when
from benchmarks.summaries import Met, slower
from benchmarks.table import lined
from tenter.torch import transforms
from tenter.torch.parts import random_part

PAGE = Path("docs/measured/loader.md")
PICTURES, ROUNDS, BATCH = 256, 5, 16
OURS, ALONE = "tenter", "decoding alone"
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


def with_opencv(image: Any) -> torch.Tensor:
    import cv2

    top, left, height, width, flip = drawn(image.height, image.width)
    made = cv2.resize(np.asarray(image)[top : top + height, left : left + width], (SIZE, SIZE))
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
    OURS: ("tenter", lambda: transforms.RandomResizedCrop(SIZE, SCALE, RATIO, flip=0.5, mean=MEAN, std=STD)),
    "Pillow and NumPy": ("PIL", lambda: with_pillow),
    "torchvision, Pillow's images": ("torchvision", lambda: torchvision("PIL")),
    "torchvision, tensors": ("torchvision", lambda: torchvision("tensor")),
    "albumentations †": ("albumentations", Albumentations),
    "OpenCV and NumPy †": ("cv2", lambda: with_opencv),
    "kornia-rs and NumPy †": ("kornia_rs", lambda: with_kornia),
    ALONE: ("PIL", lambda: alone),
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


#: The passes of each library by number of workers.
Found = dict[str, dict[int, list[Pass]]]


def one_pass(paths: list[Path], transform: Callable[[Any], torch.Tensor], workers: int) -> Pass:
    """A pass after one that starts the workers."""
    loader = DataLoader(Photos(paths, transform), BATCH, num_workers=workers, persistent_workers=workers > 0)
    for _ in loader:
        pass
    begin, cpu = time.perf_counter(), time.process_time()
    n = sum(len(batch) for batch in loader)
    return Pass(n / (time.perf_counter() - begin), (time.process_time() - cpu) / n * 1e3)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    usual = "(default: %(default)s)"
    parser.add_argument("--pictures", type=int, default=PICTURES, metavar="N", help=f"JPEGs of 500 x 375 {usual}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"of which the median is shown {usual}")
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"where to write (default: {PAGE}, if nothing is cut)")


def main(chosen: argparse.Namespace) -> int:
    threads = torch.get_num_threads()
    peers.set_threads(1)  # as a worker has
    try:
        found = measured(chosen.pictures, chosen.rounds)
    finally:
        peers.set_threads(threads)
    text = page(found, chosen.pictures, chosen.rounds)
    print(text)
    usual = (chosen.pictures, chosen.rounds) == (PICTURES, ROUNDS)
    if (out := chosen.out or (PAGE if usual else None)) is not None:
        out.write_text(text)
        print(f"wrote {out}")
    return 0


def measured(number: int, rounds: int) -> Found:
    names = [name for name, (package, _) in PEERS.items() if importlib.util.find_spec(package)]
    found: Found = {name: {0: [], 1: [], 2: []} for name in names}
    with tempfile.TemporaryDirectory() as folder:
        paths = pictures(Path(folder), number, 375, 500)
        made = {name: PEERS[name][1]() for name in names}
        # In turns, so that all meet the same load of the machine. Without workers last: kornia-rs then starts threads,
        # and a worker that is forked after that waits for ever.
        for of_round in ((1, 2), (0,)):
            for _ in range(rounds):
                for workers in of_round:
                    for name in names:
                        found[name][workers].append(one_pass(paths, made[name], workers))
    return found


def ratio(found: Found, name: str, workers: int) -> float:
    """How many times tenter's images per second are a library's: the median of the rounds."""
    both = zip(found[OURS][workers], found[name][workers], strict=True)
    return median(ours.per_second / theirs.per_second for ours, theirs in both)


def page(found: Found, number: int, rounds: int) -> str:
    cpu = {name: median(one.cpu for one in of[0]) for name, of in found.items()}
    body = []
    for name, of in found.items():
        one, two = (f"{median(each.per_second for each in of[workers]):.0f}" for workers in (1, 2))
        faster = "-" if name == ALONE else f"{ratio(found, name, 2):.2f}x"
        body.append([name, f"{cpu[name]:.2f}", f"{cpu[ALONE] / cpu[name]:.0%}", one, two, faster])
    head = ["Library", "processor time, ms", "of which decoding", "images per second, one worker", "two workers"]
    met = [
        Met(f"Images per second, {said}", "all of the files", name, ratio(found, name, workers))
        for workers, said in ((1, "one worker"), (2, "two workers"))
        for name in found
        if name not in (OURS, ALONE)
    ]
    about = (
        f"{number} generated JPEG files of 500 x 375, decoded by Pillow. Random parts are resized to {SIZE} x {SIZE}, "
        f"bilinear and antialiased, mirrored, normalized and put in batches of {BATCH} by a `DataLoader`; medians of "
        f"{rounds} rounds, the libraries in turns, one thread each. Processor time is an image's, without workers. "
        f"{processor()}, {cores()} cores; {versions(found)}; {when(now())}."
    )
    parts = [
        "# Data loaders",
        "`python -m benchmarks loader` writes this page.",
        about,
        slower(met),
        lined([*head, "tenter, times faster with two"], body),
    ]
    if any("†" in name for name in found):
        parts.append("† does not antialias, so it reads fewer pixels.")
    return "\n\n".join(parts) + "\n"


def versions(names: Iterable[str]) -> str:
    packages = dict.fromkeys(["torch", *(PEERS[name][0] for name in names)])
    said = {"torch": "PyTorch", "PIL": "Pillow", "cv2": "OpenCV", "kornia_rs": "kornia-rs"}
    return ", ".join(f"{said.get(name, name)} {importlib.import_module(name).__version__}" for name in packages)
