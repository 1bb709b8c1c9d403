"""Antialiased 8-bit values have the host's bits on a device, which are Pillow's: integers are summed, and no order of
sums shows."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from cuda_helpers import some
from on_host import on_host, values
from test_device_operations import layouts

import tenter
from tenter._plans import cache
from tenter._triton import byte_tiles

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("nothing_owed")]

# Pillow's filters, by the names that tenter has for them.
FILTERS = ("nearest", "area", "linear", "hamming", "cubic", "lanczos")


def same_bits(op: str, x: torch.Tensor, size: tuple[int, ...] | None, **how: Any) -> None:
    """On a device and on the host, in values and strides."""
    how |= {} if size is None else {"size": size}
    got = getattr(tenter, op)(x, **how)
    with on_host():
        want = getattr(tenter, op)(x.cpu(), **how)
    assert got.stride() == want.stride() and torch.equal(got.cpu(), want), (op, x.shape, x.stride(), how)


def image(shape: tuple[int, ...], device: str, channels_last: bool = False, seed: int = 0) -> torch.Tensor:
    x = values(shape, torch.uint8, seed).to(device)
    return x.movedim(-3, -1).contiguous().movedim(-1, -3) if channels_last else x


SIZES = [((31, 45), (12, 17)), ((24, 64), (48, 24)), ((97, 13), (2, 40)), ((40, 36), (40, 9)), ((12, 12), (5, 12))]
CASES = list(itertools.product(FILTERS, SIZES, [1, 3, 4, 9, 40], [False, True]))
DAILY = [
    ("lanczos", SIZES[0], 3, False), ("lanczos", SIZES[0], 3, True), ("cubic", SIZES[1], 1, False),
    ("hamming", SIZES[2], 9, True), ("nearest", SIZES[0], 3, False),
]  # fmt: skip


@pytest.mark.parametrize("case", some(CASES, len(CASES), always=lambda c: c in DAILY))
def test_every_filter_of_pillow_has_the_bits_of_the_host(case: tuple, device: str) -> None:
    mode, (size, out), channels, last = case
    x = image((2, channels, *size), device, last, seed=len(mode) + channels)
    same_bits("resize", x, out, axes=(-2, -1), mode=mode, like="pillow")


OTHERS: dict[str, tuple[str, tuple[int, ...] | None, dict[str, Any]]] = {
    "interpolate": ("interpolate", (5, 9), {"mode": "bicubic", "antialias": True}),
    "corners": ("interpolate", (5, 9), {"mode": "bilinear", "antialias": True, "align_corners": True}),
    "a scale": ("interpolate", None, {"mode": "bicubic", "antialias": True, "scale_factor": 0.37}),
    "a scale that keeps one length": ("interpolate", None, {"mode": "bilinear", "antialias": True, "scale_factor": (0.5, 1.01)}),
    "no library's rules": ("resize", (5, 9), {"axes": (-2, -1), "mode": "lanczos", "antialias": True}),
    "a box": ("resize", (5, 9), {"axes": (-2, -1), "mode": "cubic", "like": "pillow", "box": [(0.3, 15.1), (2, 19.75)]}),
    "past the edges": ("resize", (5, 9), {"axes": (-2, -1), "box": [(-3, 20), (2, 25)], "antialias": True, "edge": "reflect"}),
    "a fill value": ("resize", (5, 9), {"axes": (-2, -1), "box": [(-3, 20), (2, 25)], "edge": "constant", "value": 7}),
    "one axis": ("resize", (7,), {"axes": (-1,), "mode": "lanczos", "antialias": True}),
    "the other axis": ("resize", (7,), {"axes": (-2,), "mode": "lanczos", "antialias": True}),
    "axes apart": ("resize", (1, 7), {"axes": (1, 3), "mode": "cubic", "antialias": True}),
}  # fmt: skip


@pytest.mark.parametrize("name", some(OTHERS, 1, always=lambda c: c in ("a box", "axes apart")))
def test_other_rules_have_the_bits_of_the_host(name: str, device: str) -> None:
    op, size, how = OTHERS[name]
    for last in (False, True):
        same_bits(op, image((2, 3, 18, 22), device, last), size, **how)


def test_layouts_do_not_show_in_the_bits(device: str) -> None:
    x = values((2, 3, 10, 16), torch.uint8).to(device)
    for laid in layouts(x).values():
        same_bits("resize", laid, (7, 5), axes=(-2, -1), mode="lanczos", like="pillow")


@pytest.mark.parametrize("value", [0, 255])
def test_the_largest_sums_fit(value: int, device: str) -> None:
    """Negative lobes beside pixels of the other extreme overshoot by the most that a filter can."""
    x = torch.full((1, 1, 64, 64), value, dtype=torch.uint8, device=device)
    x[..., 16:48:3] = 255 - value
    for size in ((9, 11), (64, 150)):
        same_bits("resize", x, size, axes=(-2, -1), mode="lanczos", like="pillow")


def test_products_of_matrices_have_the_bits_of_single_products(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = image((1, 3, 40, 70), device)
    for is_faster in (byte_tiles.is_faster, lambda _: False):
        monkeypatch.setattr(byte_tiles, "is_faster", is_faster)
        monkeypatch.setattr(cache, "plans", {})
        same_bits("resize", x, (9, 33), axes=(-2, -1), mode="lanczos", like="pillow")


FACTORS = [((941, 941), (10, 10)), ((1200, 900), (224, 224)), ((300, 400), (1200, 1600)), ((1, 2000), (1, 3))]


@pytest.mark.slow
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("size, out", FACTORS)
@pytest.mark.parametrize("mode", FILTERS)
def test_millions_of_pixels_have_the_bits_of_the_host(mode: str, size: Any, out: Any, last: bool, device: str) -> None:
    x = image((1, 3, *size), device, last)
    same_bits("resize", x, out, axes=(-2, -1), mode=mode, like="pillow")
