"""The gallery: its page and pictures are those that the command makes, and its sentences are true of them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from roots import DOCS

for package in ("torch", "cv2", "scipy", "skimage", "zarr", "tifffile", "dask"):
    pytest.importorskip(package)
from PIL import Image  # noqa: E402

sys.path.append(str(DOCS))
import gallery  # noqa: E402


@pytest.fixture(scope="module")
def made() -> Any:
    return list(gallery.results())


@pytest.fixture
def found(made: Any) -> dict[str, list[Any]]:
    """What the code of each panel gives, in order."""
    return {panel.name: [pixels.astype(float) for pixels in tiles.values()] for panel, tiles in made}


def apart(a: Any, b: Any) -> float:
    return float(np.abs(a - b).max())


def crispness(pixels: Any) -> float:
    return float(np.hypot(*np.gradient(pixels.mean(-1))).mean())


def test_the_page_and_its_pictures_are_those_that_the_command_makes(made: Any) -> None:
    assert (DOCS / "gallery.md").read_text() == gallery.page([panel for panel, _ in made])
    drawn = gallery.drawn(made)
    held = sorted((DOCS / "gallery").iterdir())
    assert [path.name for path in held] == sorted(f"{name}.webp" for name in drawn)
    assert sum(path.stat().st_size for path in held) < 1_500_000
    for path in held:
        with Image.open(path) as image:
            pair = [np.asarray(i.convert("RGB"), int)[gallery.LABEL :] for i in (image, drawn[path.stem])]
        assert np.abs(pair[0] - pair[1]).mean() < 2, path.name  # some are compressed with loss


def test_antialiased_tiles_agree_with_pillow_and_others_are_noisy(found: Any) -> None:
    tenter, pillow, antialiased, *skipping = found["antialias"]
    assert apart(tenter, pillow) == 0 and apart(tenter, antialiased) <= 1
    assert min(map(crispness, skipping)) > 1.2 * crispness(tenter)


def test_modes_stand_in_order_of_crispness(found: Any) -> None:
    order = [*map(crispness, found["modes"])]
    assert order == sorted(order)


def test_enlarged_tiles_follow_pillow_or_opencv(found: Any) -> None:
    linear, cubic, lanczos, pillow, opencv, like = found["enlarging"]
    assert apart(cubic, pillow) == 0 and apart(like, opencv) <= 1 < apart(cubic, opencv)
    assert crispness(linear) < crispness(cubic) < crispness(lanczos) and crispness(pillow) < crispness(opencv)


def test_splines_are_those_of_scipy_and_a_spline_without_prefilter_blurs(found: Any) -> None:
    ours, scipy, blurred = (pixels[..., None] for pixels in found["splines"])
    assert apart(ours, scipy) < 1e-3 and crispness(blurred) < 0.9 * crispness(ours)


def test_black_leaks_where_alpha_weights_nothing(found: Any) -> None:
    ours, pillow, opencv = found["alpha"]
    assert apart(ours, pillow) == 0
    edge = (ours[..., 3] > 30) & (ours[..., 3] < 220)
    assert opencv[edge, :3].mean() < 0.7 * ours[edge, :3].mean()


def test_light_stays_where_it_is_averaged_as_light(found: Any) -> None:
    from skimage import data

    def light(pixels: Any) -> float:
        v = pixels / 255
        return float(np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4).mean())

    linear, plain, opencv = map(light, found["light"])
    before = light(data.hubble_deep_field()[80:560, 420:900])
    assert abs(linear / before - 1) < 0.02 and max(plain, opencv) < 0.8 * before
    assert 0.19 < light(np.array(128.0)) < 0.22


def test_labels_are_those_that_a_pixel_covers(found: Any) -> None:
    blocks = gallery.coins().reshape(48, 6, 48, 6).swapaxes(1, 2).reshape(48, 48, 36)
    strange = [int((pixels[..., None] != blocks).all(-1).sum()) for pixels in found["labels"]]
    assert strange[0] == 0 and min(strange[1:]) > 20


def test_the_levels_of_a_pyramid_are_averages(found: Any) -> None:
    ours, every, dask = found["pyramid"]
    assert apart(ours, dask) <= 2 and crispness(every) > 1.3 * crispness(ours)


def test_gaps_do_not_spread_where_they_are_left_out(found: Any) -> None:
    ours, *others = (np.isnan(pixels).mean() for pixels in found["gaps"])
    assert ours == 0 and min(others) > 0.1
