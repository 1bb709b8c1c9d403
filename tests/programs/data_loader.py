"""A DataLoader's workers, forked after parallel work in the parent: data_loader.py ROUNDS"""

from __future__ import annotations

import sys

import torch
from torch.utils.data import DataLoader, Dataset

import tenter


class Pictures(Dataset):
    def __len__(self) -> int:
        return 64

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        generator = torch.Generator().manual_seed(i)
        picture = torch.rand(1, 3, 300 + i, 400, generator=generator)
        ids = tenter.repeat_interleave(torch.arange(5), torch.tensor([i, 1, 0, 2, 3]), output_size=i + 6)
        return tenter.interpolate(picture, (224, 224), mode="bilinear", antialias=True)[0], ids.sum()


if __name__ == "__main__":
    torch.set_num_threads(2)
    x = torch.randn(1, 8, 600, 600)
    for _ in range(int(sys.argv[1])):
        # PyTorch's and ours, with gradients, before each fork.
        leaf = x.clone().requires_grad_()
        (tenter.interpolate(leaf, scale_factor=2, mode="bicubic") ** 2).sum().backward()
        torch.nn.functional.interpolate(x, scale_factor=2, mode="bicubic")
        torch.randn(1500, 1500) @ torch.randn(1500, 1500)
        data = Pictures()
        want = [data[i] for i in range(64)]
        loader = DataLoader(data, batch_size=8, num_workers=2, multiprocessing_context="fork", timeout=60)
        got = [b for batch in loader for b in zip(*batch)]
        assert len(got) == 64 and all(torch.equal(a[0], b[0]) and a[1] == b[1] for a, b in zip(got, want))
    print("done")
