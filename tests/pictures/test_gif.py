"""GIF files: which colors a frame has, how far they are from the picture, what is drawn anew, and what it is made of."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside  # noqa: F401
from picture_helpers import Image, run
from sweeps import sampled
from tenter.cli.writing import gif

ImageDraw, ImageFilter = pytest.importorskip("PIL.ImageDraw"), pytest.importorskip("PIL.ImageFilter")
FRAMES = 3


def photograph(k: int = 0) -> Any:
    """Smooth shades, edges and some noise."""
    y, x = np.mgrid[:150, :200] / 20
    shades = np.stack((np.sin(x + k), np.cos(y - x / 2), np.sin(x * y / 9)), -1) * 90 + 128
    shades[40:90, 60 + 5 * k : 120] = (200, 40, 30)
    noise = np.random.default_rng(0).normal(0, 6, shades.shape)
    return Image.fromarray(np.clip(shades + noise, 0, 255).astype(np.uint8))


def shades(k: int) -> Any:
    pixels = np.zeros((150, 200, 3), np.uint8)
    pixels[..., 0], pixels[..., 1] = np.linspace(0, 255, 200), np.linspace(0, 255, 150)[:, None]
    pixels[20:40, 30 * k : 30 * k + 30] = 255
    return Image.fromarray(pixels)


def drawing(k: int) -> Any:
    """Flat colors on white with smooth edges."""
    image = Image.new("RGB", (800, 600), "white")
    pen = ImageDraw.Draw(image)
    for n in range(9):
        at = 60 * n + 30 * k
        pen.ellipse((at, 40 * n, at + 240, 40 * n + 200), fill=(20 * n, 255 - 20 * n, 60 * n % 255))
    return image.resize((200, 150), Image.Resampling.BICUBIC)


def still(k: int) -> Any:
    """A photograph before which a square moves."""
    image = photograph()
    ImageDraw.Draw(image).rectangle((40 * k, 20, 40 * k + 30, 50), fill=(0, 200, 10))
    return image


CONTENTS: dict[str, Callable[[int], Any]] = {
    "photograph": photograph,
    "shades": shades,
    "drawing": drawing,
    "still": still,
}


def frames_of(name: str) -> list[Any]:
    image = Image.open(name)
    found = []
    for k in range(image.n_frames):
        image.seek(k)
        found.append(image.convert("RGB"))
    return found


def far(image: Any, truth: Any, blur: float = 0) -> float:
    """The root of the mean square of differences, also of what is seen from afar."""
    a, b = (np.asarray(x.filter(ImageFilter.GaussianBlur(blur)) if blur else x).astype(float) for x in (image, truth))
    return float(np.sqrt(np.mean((a - b) ** 2)))


def by_pillow(frames: list[Any]) -> list[Any]:
    """Pillow's dithered frames."""
    how = Image.Dither.FLOYDSTEINBERG
    return [f.quantize(palette=f.quantize(256), dither=how).convert("RGB") for f in frames]


@pytest.mark.parametrize("content, count", sampled(itertools.product(CONTENTS, [1, FRAMES]), 3))
def test_frames_are_no_further_from_the_picture_than_pillows_dithered_ones(content: str, count: int) -> None:
    truth = [CONTENTS[content](k) for k in range(count)]
    truth[0].save("in.png", save_all=True, append_images=truth[1:])
    run("resize", "in.png", "out.gif", "--scale", "1")
    found = frames_of("out.gif")
    assert len(found) == count
    for ours, theirs, whole in zip(found, by_pillow(truth), truth):
        assert far(ours, whole) <= far(theirs, whole)
        assert far(ours, whole, 1.5) <= far(theirs, whole, 1.5)


@pytest.mark.parametrize("colors", [1, 2, 200, 255, 256])
@pytest.mark.parametrize("side", [40, 400])
def test_colors_that_fit_are_exact(colors: int, side: int) -> None:
    rng = np.random.default_rng(colors)
    palettes = rng.integers(0, 256, (FRAMES, colors, 3), np.uint8)
    truth = [Image.fromarray(p[np.arange(side * side).reshape(side, side) % colors]) for p in palettes]
    truth[0].save("in.png", save_all=True, append_images=truth[1:])
    run("resize", "in.png", "out.gif", "--scale", "1")
    for ours, whole in zip(frames_of("out.gif"), truth, strict=True):
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(whole))


def test_colors_of_large_areas_are_exact() -> None:
    whole = drawing(0)
    whole.save("in.png")
    run("resize", "in.png", "out.gif", "--scale", "1")
    (ours,) = frames_of("out.gif")
    assert whole.getcolors(256) is None
    for color in ((255, 255, 255), (0, 255, 0), (160, 95, 225)):
        area = np.all(np.asarray(whole) == color, -1)
        assert area.sum() > 300 and np.all(np.asarray(ours)[area] == color)


def test_what_does_not_change_does_not_flicker() -> None:
    truth = [still(k) for k in range(FRAMES)]
    truth[0].save("in.png", save_all=True, append_images=truth[1:])
    run("resize", "in.png", "out.gif", "--scale", "1")
    found = [np.asarray(frame) for frame in frames_of("out.gif")]
    for k in range(1, FRAMES):
        same = np.all(np.asarray(truth[k]) == np.asarray(truth[k - 1]), -1)
        assert same.mean() > 0.8 and np.all(found[k][same] == found[k - 1][same])


def test_equal_frames_are_one_as_long_as_both() -> None:
    truth = [photograph(), photograph(), photograph(1)]
    truth[0].save("in.webp", save_all=True, append_images=truth[1:], duration=[40, 50, 60], lossless=True)
    run("resize", "in.webp", "out.gif", "--scale", "1")
    image = Image.open("out.gif")
    durations = []
    for k in range(image.n_frames):
        image.seek(k)
        durations.append(image.info["duration"])
    assert durations == [90, 60]


def test_a_palette_is_made_of_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    found, quantize = [], Image.Image.quantize

    def noted(self: Any, *args: Any, **how: Any) -> Any:
        if how.get("palette") is None:
            found.append(self.width * self.height)
        return quantize(self, *args, **how)

    monkeypatch.setattr(Image.Image, "quantize", noted)
    photograph().resize((900, 700)).save("in.png")
    run("resize", "in.png", "out.gif", "--scale", "1")
    assert found and max(found) <= 1 << 14


def test_frames_are_made_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    both, dithered = threading.Barrier(2, timeout=60), gif._dithered

    def met(*args: Any) -> Any:
        both.wait()
        return dithered(*args)

    monkeypatch.setattr(gif, "_dithered", met)
    before = tenter.get_num_threads()
    tenter.set_num_threads(2)
    try:
        frames = [photograph(k) for k in range(2)]
        frames[0].save("in.png", save_all=True, append_images=frames[1:])
        run("resize", "in.png", "out.gif", "--scale", "1")
    finally:
        tenter.set_num_threads(before)
    assert len(frames_of("out.gif")) == 2
