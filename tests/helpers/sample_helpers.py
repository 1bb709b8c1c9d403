"""A sample, transforms by name, and the pixels of what they give."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tenter.torch import transforms
from torchvision_stand_in import tv_tensors

Image = pytest.importorskip("PIL.Image")
tv = tv_tensors()
NOISE = np.random.default_rng(0).integers(0, 256, (40, 52, 3), np.uint8)
TENSOR = torch.from_numpy(NOISE).permute(2, 0, 1).contiguous()
PHOTO = Image.fromarray(NOISE)
LABELS = (NOISE[..., 0] > 127).astype(np.uint8)
# Of every transform, by its arguments after the size.
MADE = {
    "grown": lambda **how: transforms.Resize((71, 90), **how),
    "shrunk": lambda **how: transforms.Resize((20, 26), **how),
    "uneven": lambda **how: transforms.Resize((17, 77), **how),
    "cut": lambda **how: transforms.RandomResizedCrop((25, 30), **how),
    "mirrored": lambda **how: transforms.RandomResizedCrop((20, 61), flip=1.0, **how),
    "center": lambda **how: transforms.ResizeCenterCrop((24, 31), 33, **how),
    "thumbnail": lambda **how: transforms.Thumbnail((26, 26), **how),
    "padded": lambda **how: transforms.Letterbox((26, 30), **how),
}


def plain(x):
    return x.as_subclass(torch.Tensor)


def pixels(x):
    """Of an image or a mask: (H, W), its first channel."""
    if isinstance(x, torch.Tensor):
        return plain(x).reshape(-1, *x.shape[-2:])[0].numpy()
    x = np.asarray(x)
    return x[..., 0] if x.ndim == 3 else x
