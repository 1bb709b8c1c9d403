"""JPEGs that Pillow has opened and not decoded: `draft` decodes them smaller, and nothing else does."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from tenter.image import Fill, Fit, resize

Image = pytest.importorskip("PIL.Image")
ImageOps = pytest.importorskip("PIL.ImageOps")
HIGH, WIDE = 320, 480
#: how far a drafted result may be: at most, and as a root mean square
MOST, MEAN = 12, 2.5


def photograph() -> Any:
    """Smooth shades with some noise."""
    y, x = np.mgrid[:HIGH, :WIDE] / 40
    shades = np.stack((np.sin(x), np.cos(y - x / 2), np.sin(x * y / 9)), -1) * 90 + 128
    return np.clip(shades + np.random.default_rng(0).normal(0, 4, shades.shape), 0, 255).astype(np.uint8)


def encoded(type_: str = "JPEG", mode: str = "RGB", height: int = HIGH, width: int = WIDE, **options: Any) -> bytes:
    file = io.BytesIO()
    Image.fromarray(photograph()[:height, :width]).convert(mode).save(file, type_, **options)
    return file.getvalue()


def opened(data: bytes) -> Any:
    return Image.open(io.BytesIO(data))


def numbers(image: Any) -> Any:
    return np.asarray(image).astype(int)


def assert_near(drafted: Any, whole: Any, case: Any = None) -> None:
    far = np.abs(numbers(drafted) - numbers(whole))
    assert 0 < far.max() <= MOST and np.sqrt((far**2).mean()) <= MEAN, (case, far.max(), np.sqrt((far**2).mean()))


DRAFTED = [
    (Fit(40), {}), (Fill(30), {}), ((None, 60), {}), ((20, 40), {}), ((16, None), {}), (Fit(20), {"mode": "lanczos"}),
    (Fit(20), {"mode": "cubic"}), (Fit(30), {"like": "torch", "antialias": True}), (Fit(100), {}), (Fit(120), {}),
]  # fmt: skip
NOT_DRAFTED = [
    (Fit(121), {}), (Fit(30), {"mode": "area"}), (Fit(30), {"mode": "nearest-exact"}), (Fit(30), {"antialias": False}),
    (None, {"scale": 0.1}), (Fit(30), {"box": ((0, 160), (0, 480))}), (Fit(30), {"linear_light": True}),
    (Fit(30), {"like": "torch"}),
]  # fmt: skip


def test_a_drafted_result_is_close_and_the_image_stays_as_it_is() -> None:
    for mode in ("RGB", "L"):
        data = encoded(mode=mode, quality=92)
        for size, how in DRAFTED:
            image = opened(data)
            drafted, whole = resize(image, size, draft=True, **how), resize(opened(data), size, **how)
            assert drafted.size == whole.size and drafted.mode == mode
            assert_near(drafted, whole, (size, how))
            assert image.tile and image.size == (WIDE, HIGH)
            np.testing.assert_array_equal(numbers(image), numbers(opened(data)))


def test_without_draft_it_does_not_matter_whether_an_image_is_decoded() -> None:
    data = encoded()
    for size, how in DRAFTED + NOT_DRAFTED:
        loaded = opened(data)
        loaded.load()
        for image in (opened(data), loaded):
            np.testing.assert_array_equal(numbers(resize(image, size, **how)), numbers(resize(loaded, size, **how)))
        np.testing.assert_array_equal(
            numbers(resize(loaded, size, draft=True, **how)), numbers(resize(loaded, size, **how))
        )


def test_what_may_not_be_decoded_smaller_is_decoded_whole() -> None:
    data = encoded()
    cases = [(data, size, how) for size, how in NOT_DRAFTED]
    cases += [(encoded("PNG"), Fit(30), {})]
    for given, size, how in cases:
        drafted, whole = resize(opened(given), size, draft=True, **how), resize(opened(given), size, **how)
        np.testing.assert_array_equal(numbers(drafted), numbers(whole), str((size, how)))
    small = opened(data)
    small.draft("RGB", (WIDE // 2, HIGH // 2))
    before = small.size
    assert resize(small, Fit(20), draft=True).size == (20, 13) and small.size == before
    x = photograph()
    np.testing.assert_array_equal(resize(x, Fit(30), draft=True), resize(x, Fit(30)))
    with pytest.raises(TypeError, match="draft: expected a bool"):
        resize(opened(data), Fit(20), draft="fast")


def test_lists_of_images_are_drafted_too() -> None:
    files = [encoded(), encoded(height=319, width=477), encoded(height=30)]
    for size in ((20, 30), Fill(20)):
        drafted, whole = (resize([*map(opened, files)], size, draft=draft) for draft in (True, False))
        alone = [resize(opened(data), size, draft=True) for data in files]
        np.testing.assert_array_equal(drafted, np.stack([np.asarray(image) for image in alone]))
        assert_near(drafted[:2], whole[:2])
        np.testing.assert_array_equal(drafted[2], whole[2])


@pytest.mark.parametrize("height, width", [(319, 479), (313, 478), (320, 475), (306, 480)])
def test_sides_that_the_decoder_does_not_divide_keep_their_place(height: int, width: int) -> None:
    """The last pixel stands for fewer: without its share, all others would move."""
    data = encoded(height=height, width=width, quality=95)
    for size in (Fit(24), (18, 24), Fill(20), (None, 100)):
        drafted, whole = (resize(opened(data), size, draft=draft) for draft in (True, False))
        assert drafted.size == whole.size
        assert_near(drafted, whole, size)
        ends = (numbers(image)[[0, -1]].astype(float).mean() for image in (drafted, whole))
        assert abs(float(np.subtract(*ends))) < 0.5
    pytest.importorskip("torch")
    from tenter.torch.transforms import Thumbnail

    assert_near(Thumbnail(24, draft=True)(opened(data)), Thumbnail(24)(opened(data)))


def test_a_jpeg_with_others_after_it_is_drafted_too() -> None:
    file, first = io.BytesIO(), Image.fromarray(photograph())
    first.save(file, "MPO", save_all=True, append_images=[Image.new("RGB", (WIDE, HIGH))])
    image = opened(file.getvalue())
    assert image.format == "MPO"
    assert_near(resize(image, Fit(40), draft=True), resize(opened(file.getvalue()), Fit(40)))
    image.seek(1)
    np.testing.assert_array_equal(resize(image, Fit(40), draft=True), 0)


def test_thumbnails_are_drafted_where_they_are_asked_for() -> None:
    torch = pytest.importorskip("torch")
    from tenter.torch.transforms import Thumbnail

    data, mask = encoded(), Image.new("L", (WIDE, HIGH), 3)
    for interpolation, differs in (("bilinear", True), ("bicubic", True), ("lanczos", True), ("box", False)):
        usual, draft = (Thumbnail(40, interpolation, masks="mask", draft=d) for d in (False, True))
        image = opened(data)
        found, whole = draft({"image": image, "mask": mask}), usual({"image": opened(data), "mask": mask})
        assert found["image"].size == whole["image"].size == (40, 27) and bool(image.tile) == differs
        if differs:
            assert_near(found["image"], whole["image"], interpolation)
        else:
            np.testing.assert_array_equal(numbers(found["image"]), numbers(whole["image"]))
        narrow = Thumbnail(40, interpolation, antialias=False, draft=True)
        np.testing.assert_array_equal(
            numbers(narrow(opened(data))), numbers(Thumbnail(40, interpolation, False)(opened(data)))
        )
        floats = Thumbnail(40, interpolation, draft=True, dtype=torch.float32)(opened(data))
        assert floats.shape == (3, 27, 40) and "draft=True" in repr(draft) and "draft" not in repr(usual)


def test_a_drafted_result_is_turned_as_the_image_says() -> None:
    pytest.importorskip("torch")
    from tenter.torch.transforms import Thumbnail

    exif = Image.Exif()
    exif[274] = 6
    data = encoded(exif=exif)
    upright = ImageOps.exif_transpose(opened(data))
    for made in (Thumbnail(40, draft=True)(opened(data)), resize(opened(data), Fit(40), draft=True)):
        assert made.size == (40, 27)
        turned = ImageOps.exif_transpose(made)
        assert turned.size == (27, 40) == resize(upright, Fit(40)).size
        assert_near(turned, resize(upright, Fit(40)))
