"""Trains a small U-Net to take noise out of pictures: `python examples/train_images.py`.

The script makes a folder of JPEGs, which a DataLoader reads with workers. tenter crops, resizes, mirrors and normalizes
them in one call (`tenter.torch.transforms`) and enlarges the features of the decoder (`tenter.torch.Upsample`). Two
processes train it by DistributedDataParallel with gloo, compiled, and in bfloat16 if the processor computes with it.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import torch
    import torch.distributed as dist
    from PIL import Image, ImageDraw
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader, Dataset, DistributedSampler

    from tenter.torch import Upsample
    from tenter.torch.transforms import RandomResizedCrop
except ModuleNotFoundError as missing:
    sys.exit(f'train_images.py: {missing.name} is not installed: pip install ".[torch,cli]"')

MEAN, STD = (0.5, 0.5, 0.5), (0.25, 0.25, 0.25)


def make_photos(folder: Path, n: int) -> None:
    """Discs and bars of random colors, as JPEGs of different sizes."""
    rng = np.random.default_rng(0)
    for k in range(n):
        width, height = (int(side) for side in rng.integers(160, 320, 2))
        photo = Image.new("RGB", (width, height), tuple(rng.integers(0, 256, 3).tolist()))
        draw = ImageDraw.Draw(photo)
        for shape in (draw.ellipse, draw.rectangle) * 4:
            left, top = rng.integers(0, width), rng.integers(0, height)
            box = (int(left), int(top), int(left + rng.integers(10, 120)), int(top + rng.integers(10, 120)))
            shape(box, fill=tuple(rng.integers(0, 256, 3).tolist()))
        photo.save(folder / f"{k:04}.jpg", quality=90)


class Photos(Dataset[torch.Tensor]):
    """Random parts of the pictures of a folder."""

    def __init__(self, folder: Path, size: int) -> None:
        self.paths = sorted(folder.glob("*.jpg"))
        self.transform = RandomResizedCrop(size, scale=(0.3, 1.0), flip=0.5, mean=MEAN, std=STD)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, k: int) -> torch.Tensor:
        with Image.open(self.paths[k]) as photo:
            return self.transform(photo.convert("RGB"))


def block(n_in: int, n_out: int) -> nn.Module:
    return nn.Sequential(nn.Conv2d(n_in, n_out, 3, padding=1), nn.GroupNorm(4, n_out), nn.SiLU())


class UNet(nn.Module):
    """Two steps down and two up."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.first, self.second, self.third = block(3, width), block(width, 2 * width), block(2 * width, 4 * width)
        self.down = nn.MaxPool2d(2)
        self.up = Upsample(scale_factor=2, mode="bilinear")
        self.fourth, self.fifth = block(6 * width, 2 * width), block(3 * width, width)
        self.last = nn.Conv2d(width, 3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first = self.first(x)
        second = self.second(self.down(first))
        third = self.third(self.down(second))
        fourth = self.fourth(torch.cat([self.up(third), second], 1))
        fifth = self.fifth(torch.cat([self.up(fourth), first], 1))
        return x + self.last(fifth)


def loss_of(model: nn.Module, clean: torch.Tensor, amp: bool) -> torch.Tensor:
    with torch.autocast("cpu", torch.bfloat16, enabled=amp):
        found = model(clean + torch.randn_like(clean) / 2)
    return nn.functional.mse_loss(found.float(), clean)


def train(rank: int, how: argparse.Namespace, folder: str, port: int) -> None:
    """One of the processes."""
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    dist.init_process_group("gloo", rank=rank, world_size=how.processes)
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // how.processes))
    torch.manual_seed(rank)
    photos = Photos(Path(folder), how.size)
    sampler = DistributedSampler(photos)
    loader = DataLoader(photos, how.batch, sampler=sampler, num_workers=how.workers, drop_last=True)
    net = torch.compile(UNet(), backend=how.backend)
    if rank == 0:  # compiles; the other processes find its code in PyTorch's cache
        print("compiling", flush=True)
        loss_of(net, torch.zeros(how.batch, 3, how.size, how.size), how.amp).backward()
        net.zero_grad()
    dist.barrier()
    model = DistributedDataParallel(net)
    optimizer = torch.optim.AdamW(model.parameters(), 2e-3)
    for epoch in range(how.epochs):
        sampler.set_epoch(epoch)
        total = torch.zeros(2)
        for clean in loader:
            loss = loss_of(model, clean, how.amp)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += torch.tensor([loss.item(), 1])
        dist.all_reduce(total)
        if rank == 0:
            print(f"epoch {epoch + 1}: error {total[0] / total[1]:.4f}", flush=True)
    dist.destroy_process_group()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=int, default=64, help="how many pictures are made (64)")
    parser.add_argument("--size", type=int, default=64, help="of the crops, a multiple of 4 (64)")
    parser.add_argument("--batch", type=int, default=8, help="pictures per process and step (8)")
    parser.add_argument("--epochs", type=int, default=3, help="(3)")
    parser.add_argument("--processes", type=int, default=2, help="that train together (2)")
    parser.add_argument("--workers", type=int, default=1, help="of each process's loader (1)")
    parser.add_argument("--backend", default="inductor", help="of torch.compile: inductor, aot_eager or eager")
    parser.add_argument(
        "--amp",
        action=argparse.BooleanOptionalAction,
        default=torch.backends.cpu.get_cpu_capability() == "AVX512",
        help="autocast to bfloat16 (yes where the processor has AVX-512; elsewhere convolutions take 50 times as long)",
    )
    return parser.parse_args()


def main() -> None:
    how = arguments()
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        make_photos(Path(folder), how.photos)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        torch.multiprocessing.spawn(train, (how, folder, port), how.processes)


if __name__ == "__main__":
    main()
